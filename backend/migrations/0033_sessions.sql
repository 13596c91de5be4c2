-- The sessions of people: one row for each login. A browser has the digests of its cookie and of the secret of its pages; a
-- program has refresh tokens, whose family is the id of the session.
CREATE TABLE sessions (
    session_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    login TEXT NOT NULL,
    agent TEXT NOT NULL,
    address TEXT,
    created_ms BIGINT NOT NULL,
    used_ms BIGINT NOT NULL,
    ends_ms BIGINT NOT NULL,
    digest TEXT UNIQUE,
    previous_digest TEXT UNIQUE,
    csrf_digest TEXT,
    rotated_ms BIGINT,
    is_confirmed BOOLEAN NOT NULL DEFAULT TRUE,
    FOREIGN KEY (account_id, user_id) REFERENCES members (account_id, user_id) ON DELETE CASCADE
);
CREATE INDEX sessions_user ON sessions (user_id, used_ms);
CREATE INDEX sessions_ends ON sessions (ends_ms);
INSERT INTO sessions (session_id, account_id, user_id, login, agent, created_ms, used_ms, ends_ms)
    SELECT t.family, t.account_id, t.user_id, 'login', '', MIN(t.expires_ms) - 2592000000,
        MAX(t.expires_ms) - 2592000000, MAX(t.expires_ms)
    FROM refresh_tokens t
    JOIN members m ON m.account_id = t.account_id AND m.user_id = t.user_id
    GROUP BY t.family, t.account_id, t.user_id;
