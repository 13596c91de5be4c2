-- Whether a command can still change, as a column of its own. A receipt sets the state of a command, and SQLite writes an
-- index anew whenever a column of the index or of its condition is set: with the state in their conditions, each receipt
-- wrote both of these indexes.
ALTER TABLE commands ADD COLUMN unfinished BOOLEAN NOT NULL DEFAULT TRUE;
UPDATE commands SET unfinished = FALSE
    WHERE state = 'expired' OR (state = 'acknowledged' AND result IS NOT NULL);

DROP INDEX commands_unfinished;
CREATE INDEX commands_unfinished ON commands (device_id, seq) WHERE unfinished;
DROP INDEX commands_account_open;
CREATE INDEX commands_account_open ON commands (account_id, command_id) WHERE unfinished;
