-- A page of a list is read from one index, in its order: commands and deployments know their account.
ALTER TABLE commands ADD COLUMN account_id TEXT;
UPDATE commands SET account_id =
    (SELECT devices.account_id FROM devices WHERE devices.device_id = commands.device_id);
CREATE INDEX commands_account ON commands (account_id, command_id);
CREATE INDEX commands_account_open ON commands (account_id, command_id)
    WHERE state IN ('queued', 'delivered') OR (state = 'acknowledged' AND result IS NULL);

ALTER TABLE deployments ADD COLUMN account_id TEXT;
UPDATE deployments SET account_id =
    (SELECT devices.account_id FROM devices WHERE devices.device_id = deployments.device_id);
CREATE INDEX deployments_account ON deployments (account_id, deployment_id);
CREATE INDEX deployments_account_newest ON deployments (account_id, deployment_id) WHERE newest;
CREATE INDEX deployments_of_device ON deployments (device_id, deployment_id);
DROP INDEX deployments_model;
CREATE INDEX deployments_model ON deployments (model_id, account_id, deployment_id);
CREATE INDEX deployments_model_newest ON deployments (model_id, account_id, deployment_id)
    WHERE newest;
