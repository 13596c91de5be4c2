-- Users of the router of zenoh. A slot that is used is free again, with another password, when the
-- router is opened the next time after its device was removed or registered anew.
CREATE TABLE zenoh_slots (
    slot BIGINT PRIMARY KEY,
    -- Another turn has another password.
    turn BIGINT NOT NULL,
    used BOOLEAN NOT NULL,
    device_id TEXT UNIQUE REFERENCES devices (device_id) ON DELETE SET NULL,
    epoch BIGINT
);
CREATE INDEX zenoh_slots_free ON zenoh_slots (slot) WHERE NOT used;
