-- Personal access tokens, by their SHA-256. They go with the membership that they are of.
CREATE TABLE personal_tokens (
    token_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    digest TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL,
    last_used_ms BIGINT,
    FOREIGN KEY (account_id, user_id) REFERENCES members (account_id, user_id) ON DELETE CASCADE
);
CREATE INDEX personal_tokens_member ON personal_tokens (account_id, user_id, token_id);
