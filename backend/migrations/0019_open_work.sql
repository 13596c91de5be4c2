-- A sweep visits what is open or due, and a purge visits what may be deleted, however much history there is.

-- Deployments that have not ended, by their command.
CREATE INDEX deployments_open ON deployments (command_id)
    WHERE state IN ('queued', 'downloading', 'configuring');
DROP INDEX deployments_queued;

-- The newest deployment of a model on a device: the current one.
ALTER TABLE deployments ADD COLUMN newest BOOLEAN NOT NULL DEFAULT FALSE;
UPDATE deployments SET newest = TRUE WHERE NOT EXISTS (SELECT 1 FROM deployments n
    WHERE n.device_id = deployments.device_id AND n.model_id = deployments.model_id
    AND n.deployment_id > deployments.deployment_id);
CREATE UNIQUE INDEX deployments_newest ON deployments (device_id, model_id) WHERE newest;
CREATE INDEX deployments_ended ON deployments (updated_ms) WHERE NOT newest;

-- Commands of which a device may still say something, in their order and by their expiry.
CREATE INDEX commands_unfinished ON commands (device_id, seq)
    WHERE state IN ('queued', 'delivered', 'superseded') OR (state = 'acknowledged' AND result IS NULL);
DROP INDEX commands_waiting;
CREATE INDEX commands_unanswered ON commands (expires_ms)
    WHERE state IN ('queued', 'delivered', 'superseded');
DROP INDEX commands_expiry;
DROP INDEX commands_withdrawn;

CREATE INDEX system_samples_age ON system_samples (reported_ms);
