-- One wish for many devices. Kept for a time after it has ended; the account's own.
CREATE TABLE operations (
    operation_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (account_id) ON DELETE CASCADE,
    -- What is done, as JSON.
    work TEXT NOT NULL,
    selection TEXT,
    -- Who asked for it, or retried it last; users and tokens may be gone by now.
    user_id TEXT NOT NULL,
    token_id TEXT,
    address TEXT,
    created_ms BIGINT NOT NULL,
    -- When no item was pending or sent any more.
    ended_ms BIGINT
);
CREATE INDEX operations_account ON operations (account_id, operation_id);
CREATE INDEX operations_running ON operations (account_id) WHERE ended_ms IS NULL;
CREATE INDEX operations_age ON operations (ended_ms) WHERE ended_ms IS NOT NULL;

-- The wish for each device, which outlives the device and its command.
CREATE TABLE operation_devices (
    operation_id TEXT NOT NULL REFERENCES operations (operation_id) ON DELETE CASCADE,
    device_id TEXT NOT NULL,
    name TEXT NOT NULL,
    new_name TEXT,
    state TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    due_ms BIGINT NOT NULL,
    command_id TEXT,
    deployment_id TEXT,
    code TEXT,
    detail TEXT,
    changed_ms BIGINT NOT NULL,
    PRIMARY KEY (operation_id, device_id)
);
CREATE INDEX operation_devices_state ON operation_devices (operation_id, state, device_id);
CREATE INDEX operation_devices_pending ON operation_devices (operation_id, due_ms, device_id)
    WHERE state = 'pending';
CREATE INDEX operation_devices_sent ON operation_devices (operation_id, device_id)
    WHERE state = 'sent';
