-- A deployment may have values for settings of its model's plugin, as a JSON object.
ALTER TABLE deployments ADD COLUMN settings TEXT NOT NULL DEFAULT '{}';
