-- Who belongs to which account, and as what. A user's own `account_id` is the account that their
-- logins begin in.
CREATE TABLE members (
    account_id TEXT NOT NULL REFERENCES accounts (account_id) ON DELETE CASCADE,
    user_id TEXT NOT NULL REFERENCES users (user_id) ON DELETE CASCADE,
    role TEXT NOT NULL,
    joined_ms BIGINT NOT NULL,
    PRIMARY KEY (account_id, user_id)
);
CREATE INDEX members_user ON members (user_id);
INSERT INTO members (account_id, user_id, role, joined_ms)
    SELECT account_id, user_id, 'owner', created_ms FROM users;

CREATE TABLE invitations (
    invitation_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (account_id) ON DELETE CASCADE,
    digest TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    email TEXT,
    created_ms BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL
);
CREATE INDEX invitations_account ON invitations (account_id, invitation_id);

-- A login stands in one account. One of before the members stands in its user's.
ALTER TABLE refresh_tokens ADD COLUMN account_id TEXT;
UPDATE refresh_tokens SET account_id =
    (SELECT users.account_id FROM users WHERE users.user_id = refresh_tokens.user_id);
