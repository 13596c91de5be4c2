-- Uploads into a bucket that are not whole yet: where each stands, and the parts that the store has. A row outlives
-- its model until the store has ended the upload.
CREATE TABLE bucket_uploads (
    model_id TEXT PRIMARY KEY,
    object_key TEXT NOT NULL,
    upload_id TEXT NOT NULL,
    offset_bytes BIGINT NOT NULL,
    state TEXT NOT NULL,
    touched_ms BIGINT NOT NULL
);

CREATE TABLE bucket_parts (
    model_id TEXT NOT NULL REFERENCES bucket_uploads (model_id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    tag TEXT NOT NULL,
    PRIMARY KEY (model_id, number)
);
