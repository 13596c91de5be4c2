-- Times are milliseconds since 1970 (BIGINT), identifiers and JSON are TEXT, digests are
-- hexadecimal SHA-256. One text for every database.

CREATE TABLE accounts (
    account_id TEXT PRIMARY KEY,
    created_ms BIGINT NOT NULL
);

CREATE TABLE users (
    user_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (account_id) ON DELETE CASCADE,
    email TEXT NOT NULL UNIQUE,
    password_hash TEXT NOT NULL,
    created_ms BIGINT NOT NULL
);

CREATE TABLE refresh_tokens (
    digest TEXT PRIMARY KEY,
    family TEXT NOT NULL,
    user_id TEXT NOT NULL REFERENCES users (user_id) ON DELETE CASCADE,
    expires_ms BIGINT NOT NULL,
    used BOOLEAN NOT NULL
);
CREATE INDEX refresh_tokens_family ON refresh_tokens (family);
CREATE INDEX refresh_tokens_expiry ON refresh_tokens (expires_ms);

CREATE TABLE enrolment_keys (
    key_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (account_id) ON DELETE CASCADE,
    digest TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    expires_ms BIGINT,
    max_devices BIGINT,
    devices BIGINT NOT NULL,
    tags TEXT NOT NULL,
    revoked BOOLEAN NOT NULL
);
CREATE INDEX enrolment_keys_account ON enrolment_keys (account_id, key_id);

CREATE TABLE devices (
    device_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (account_id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    token_digest TEXT NOT NULL UNIQUE,
    epoch BIGINT NOT NULL,
    public_key TEXT NOT NULL,
    registered_with TEXT NOT NULL REFERENCES enrolment_keys (key_id),
    tags TEXT NOT NULL,
    agent_version TEXT NOT NULL,
    platform TEXT NOT NULL,
    status TEXT NOT NULL,
    greeted_epoch BIGINT,
    last_seen_ms BIGINT,
    registered_ms BIGINT NOT NULL,
    -- The sequence number of the newest command: gap-free, whatever becomes of the commands.
    last_seq BIGINT NOT NULL
);
CREATE INDEX devices_account ON devices (account_id, device_id);
CREATE INDEX devices_key ON devices (registered_with);

CREATE TABLE models (
    model_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (account_id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    file_name TEXT NOT NULL,
    url TEXT,
    sha256 TEXT,
    size_bytes BIGINT,
    plugin TEXT NOT NULL,
    shared BOOLEAN NOT NULL,
    uploaded BOOLEAN NOT NULL,
    created_ms BIGINT NOT NULL
);
CREATE INDEX models_account ON models (account_id, model_id);

CREATE TABLE deployments (
    deployment_id TEXT PRIMARY KEY,
    model_id TEXT NOT NULL REFERENCES models (model_id) ON DELETE CASCADE,
    device_id TEXT NOT NULL REFERENCES devices (device_id) ON DELETE CASCADE,
    command_id TEXT NOT NULL,
    alias TEXT NOT NULL,
    port BIGINT NOT NULL,
    state TEXT NOT NULL,
    reason TEXT,
    bytes_done BIGINT NOT NULL,
    bytes_total BIGINT NOT NULL,
    allowlist TEXT NOT NULL,
    removed BOOLEAN NOT NULL,
    created_ms BIGINT NOT NULL,
    updated_ms BIGINT NOT NULL
);
CREATE INDEX deployments_device ON deployments (device_id, model_id, deployment_id);
CREATE INDEX deployments_model ON deployments (model_id);
CREATE INDEX deployments_queued ON deployments (created_ms) WHERE state = 'queued';

CREATE TABLE commands (
    command_id TEXT PRIMARY KEY,
    device_id TEXT NOT NULL REFERENCES devices (device_id) ON DELETE CASCADE,
    seq BIGINT NOT NULL,
    command TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    state TEXT NOT NULL,
    attempt BIGINT NOT NULL,
    result TEXT,
    reported_ms BIGINT,
    issued_ms BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL,
    next_delivery_ms BIGINT,
    UNIQUE (device_id, seq)
);
-- One wish waits once.
CREATE UNIQUE INDEX commands_wish ON commands (device_id, idempotency_key)
    WHERE state IN ('queued', 'delivered');
CREATE INDEX commands_waiting ON commands (device_id, seq) WHERE next_delivery_ms IS NOT NULL;
CREATE INDEX commands_expiry ON commands (expires_ms) WHERE state IN ('queued', 'delivered');

CREATE TABLE model_states (
    device_id TEXT NOT NULL REFERENCES devices (device_id) ON DELETE CASCADE,
    model_id TEXT NOT NULL REFERENCES models (model_id) ON DELETE CASCADE,
    epoch BIGINT NOT NULL,
    generation BIGINT NOT NULL,
    report TEXT NOT NULL,
    reported_ms BIGINT NOT NULL,
    PRIMARY KEY (device_id, model_id)
);

CREATE TABLE telemetry (
    device_id TEXT NOT NULL REFERENCES devices (device_id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    inference_id TEXT NOT NULL,
    model_id TEXT NOT NULL,
    report TEXT NOT NULL,
    received_ms BIGINT NOT NULL,
    PRIMARY KEY (device_id, number),
    UNIQUE (device_id, inference_id)
);

CREATE TABLE logs (
    device_id TEXT NOT NULL REFERENCES devices (device_id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    message TEXT NOT NULL,
    severity TEXT NOT NULL,
    category TEXT NOT NULL,
    received_ms BIGINT NOT NULL,
    PRIMARY KEY (device_id, number)
);

CREATE TABLE idempotency (
    account_id TEXT NOT NULL REFERENCES accounts (account_id) ON DELETE CASCADE,
    idempotency_key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    reference TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    PRIMARY KEY (account_id, idempotency_key)
);

CREATE TABLE settings (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

-- Seeds of signing keys. The file that holds them is private to the backend's user.
CREATE TABLE seeds (
    name TEXT PRIMARY KEY,
    seed TEXT NOT NULL
);
