-- What a model's file says of itself, as JSON, and when the upload of one that is not whole was last seen.
ALTER TABLE models ADD COLUMN facts TEXT;
ALTER TABLE models ADD COLUMN upload_ms BIGINT;
