-- Where a user has logged in from: what others try in the user's name does not count there.
CREATE TABLE login_hosts (
    user_id TEXT NOT NULL REFERENCES users (user_id) ON DELETE CASCADE,
    host TEXT NOT NULL,
    last_ms BIGINT NOT NULL,
    PRIMARY KEY (user_id, host)
);
