-- The load of each device over time: a row holds the steps of one length in one span, as text.
CREATE TABLE device_loads (
    device_id TEXT NOT NULL REFERENCES devices (device_id) ON DELETE CASCADE,
    step_s BIGINT NOT NULL,
    begin_s BIGINT NOT NULL,
    -- The beginning of the newest step of the row.
    last_s BIGINT NOT NULL,
    steps TEXT NOT NULL,
    PRIMARY KEY (device_id, step_s, begin_s)
);
CREATE INDEX device_loads_age ON device_loads (step_s, begin_s);

-- How many inferences fell into each class of time to first token and of tokens per second.
ALTER TABLE usage_totals ADD COLUMN first_token_0 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_totals ADD COLUMN first_token_1 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_totals ADD COLUMN first_token_2 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_totals ADD COLUMN first_token_3 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_totals ADD COLUMN first_token_4 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_totals ADD COLUMN first_token_5 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_totals ADD COLUMN first_token_6 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_totals ADD COLUMN first_token_7 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_totals ADD COLUMN first_token_8 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_totals ADD COLUMN first_token_9 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_totals ADD COLUMN token_rate_0 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_totals ADD COLUMN token_rate_1 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_totals ADD COLUMN token_rate_2 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_totals ADD COLUMN token_rate_3 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_totals ADD COLUMN token_rate_4 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_totals ADD COLUMN token_rate_5 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_totals ADD COLUMN token_rate_6 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_totals ADD COLUMN token_rate_7 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_totals ADD COLUMN token_rate_8 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_totals ADD COLUMN token_rate_9 BIGINT NOT NULL DEFAULT 0;
