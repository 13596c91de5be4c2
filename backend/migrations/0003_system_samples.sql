-- The latest sample of each device: how busy it was, as JSON, and when it was told.
CREATE TABLE system_samples (
    device_id TEXT PRIMARY KEY REFERENCES devices (device_id) ON DELETE CASCADE,
    report TEXT NOT NULL,
    reported_ms BIGINT NOT NULL
);
