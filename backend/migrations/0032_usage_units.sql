-- Models for audio and images count seconds and images instead of tokens.
ALTER TABLE usage_totals ADD COLUMN audio_ms BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_totals ADD COLUMN images BIGINT NOT NULL DEFAULT 0;
