-- Token usage by device, model and time: what stays when the reports themselves are deleted. A row
-- spans an hour, later a day; it stays with the account when the device is gone.
CREATE TABLE usage_totals (
    account_id TEXT NOT NULL REFERENCES accounts (account_id) ON DELETE CASCADE,
    device_id TEXT NOT NULL,
    model_id TEXT NOT NULL,
    span_ms BIGINT NOT NULL,
    begin_ms BIGINT NOT NULL,
    inferences BIGINT NOT NULL,
    uncounted BIGINT NOT NULL,
    prompt_tokens BIGINT NOT NULL,
    completion_tokens BIGINT NOT NULL,
    duration_ms BIGINT NOT NULL,
    PRIMARY KEY (account_id, begin_ms, device_id, model_id, span_ms)
);
CREATE INDEX usage_totals_age ON usage_totals (span_ms, begin_ms);

-- What is deleted by its age.
CREATE INDEX logs_age ON logs (received_ms);
CREATE INDEX commands_age ON commands (issued_ms);
CREATE INDEX idempotency_age ON idempotency (created_ms);
