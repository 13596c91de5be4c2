-- Which command took the place of one that was not acknowledged yet, and when it was taken back.
ALTER TABLE commands ADD COLUMN superseded_by TEXT;
ALTER TABLE commands ADD COLUMN withdrawn_ms BIGINT;
UPDATE commands SET withdrawn_ms = issued_ms WHERE state = 'superseded';
CREATE INDEX commands_withdrawn ON commands (expires_ms) WHERE state = 'superseded';
