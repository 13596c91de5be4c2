-- Logins by the device flow (RFC 8628) that wait for a person, by the SHA-256 of the device code.
CREATE TABLE device_codes (
    digest TEXT PRIMARY KEY,
    user_code TEXT NOT NULL UNIQUE,
    client_name TEXT NOT NULL,
    address TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL,
    interval_s BIGINT NOT NULL,
    polled_ms BIGINT,
    -- Who decided, and whether they refused.
    user_id TEXT REFERENCES users (user_id) ON DELETE CASCADE,
    account_id TEXT REFERENCES accounts (account_id) ON DELETE CASCADE,
    denied BOOLEAN NOT NULL
);
CREATE INDEX device_codes_expiry ON device_codes (expires_ms);

-- When a refresh token was exchanged; null for one of before.
ALTER TABLE refresh_tokens ADD COLUMN used_ms BIGINT;
