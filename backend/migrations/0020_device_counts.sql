-- The twin of a registration is found by its key pair, not among all devices of its key.
DROP INDEX devices_key;
CREATE INDEX devices_key ON devices (registered_with, public_key);

-- The devices of an account, counted in the transaction that adds or removes one.
ALTER TABLE accounts ADD COLUMN devices BIGINT NOT NULL DEFAULT 0;
UPDATE accounts SET devices =
    (SELECT COUNT(*) FROM devices WHERE devices.account_id = accounts.account_id);
