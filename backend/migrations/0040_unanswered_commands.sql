-- SQLite builds a table for each list of three values or more in the condition of an index, at every change of a row:
-- three times for each command. These are the same commands: those that are queued, delivered or superseded.
DROP INDEX commands_unanswered;
CREATE INDEX commands_unanswered ON commands (expires_ms) WHERE state <> 'acknowledged' AND state <> 'expired';
