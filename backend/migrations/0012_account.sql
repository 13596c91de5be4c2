-- What other accounts know an account by: unique, and never changed. The backend names the accounts
-- of before when it starts.
ALTER TABLE accounts ADD COLUMN name TEXT;
CREATE UNIQUE INDEX accounts_name ON accounts (name);
-- The origins that the account's deployments carry besides the backend's defaults. The list that all
-- accounts had together becomes the list of each; the row of `settings` stays, and nobody reads it.
ALTER TABLE accounts ADD COLUMN origins TEXT NOT NULL DEFAULT '[]';
UPDATE accounts SET origins =
    COALESCE((SELECT value FROM settings WHERE settings.name = 'allowlist'), '[]');
