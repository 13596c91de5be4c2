-- What the serving proxy does for a deployed model, so that it can be deployed again as it was.
ALTER TABLE deployments ADD COLUMN proxy TEXT NOT NULL DEFAULT '{"cors":true,"telemetry":true}';
