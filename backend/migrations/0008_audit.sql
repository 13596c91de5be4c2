-- Who did what. Kept for a time; the account's own.
CREATE TABLE audit (
    entry_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (account_id) ON DELETE CASCADE,
    at_ms BIGINT NOT NULL,
    -- `user`, `token`, `device` or `system`, and its id; users and tokens may be gone by now.
    actor_kind TEXT NOT NULL,
    actor TEXT,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    address TEXT,
    outcome TEXT NOT NULL,
    detail TEXT NOT NULL
);
CREATE INDEX audit_account ON audit (account_id, entry_id);
CREATE INDEX audit_age ON audit (at_ms);
