-- The type of a command, as a column of its own: a list of the commands of one type is read from one index.
ALTER TABLE commands ADD COLUMN kind TEXT NOT NULL DEFAULT '';
UPDATE commands SET kind = CASE
    WHEN command LIKE '{"type":"DEPLOY_MODEL"%' THEN 'DEPLOY_MODEL'
    WHEN command LIKE '{"type":"UPDATE_MODEL"%' THEN 'UPDATE_MODEL'
    WHEN command LIKE '{"type":"CANCEL_DEPLOY"%' THEN 'CANCEL_DEPLOY'
    WHEN command LIKE '{"type":"START_SERVING"%' THEN 'START_SERVING'
    WHEN command LIKE '{"type":"STOP_SERVING"%' THEN 'STOP_SERVING'
    WHEN command LIKE '{"type":"REPAIR_SERVING"%' THEN 'REPAIR_SERVING'
    WHEN command LIKE '{"type":"UPDATE_PIPELINE"%' THEN 'UPDATE_PIPELINE'
    WHEN command LIKE '{"type":"UNINSTALL_MODEL"%' THEN 'UNINSTALL_MODEL'
    WHEN command LIKE '{"type":"UPDATE_AGENT"%' THEN 'UPDATE_AGENT'
    ELSE '' END;
CREATE INDEX commands_account_kind ON commands (account_id, kind, command_id);
