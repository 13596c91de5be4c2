-- The member who answers for a key: who created it, or took it over. The audit log tells it of the
-- keys of before, as far as it goes back.
ALTER TABLE enrolment_keys ADD COLUMN created_by TEXT;
UPDATE enrolment_keys SET created_by = (
    SELECT MAX(audit.actor) FROM audit WHERE audit.action = 'key.create'
    AND audit.actor_kind = 'user' AND audit.subject = enrolment_keys.key_id);
UPDATE enrolment_keys SET created_by = (
    SELECT MAX(personal_tokens.user_id) FROM audit
    JOIN personal_tokens ON personal_tokens.token_id = audit.actor
    WHERE audit.action = 'key.create' AND audit.actor_kind = 'token'
    AND audit.subject = enrolment_keys.key_id)
    WHERE created_by IS NULL;
CREATE INDEX enrolment_keys_creator ON enrolment_keys (account_id, created_by);
