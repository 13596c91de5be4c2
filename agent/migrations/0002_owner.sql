-- Which device the journal belongs to.
CREATE TABLE owner (device_id TEXT NOT NULL);
