-- What the summary of an account counts of a report, as columns of their own, which each report fills. A backend fills them at its
-- start for the reports of earlier versions, which have none yet.
-- The used share of the disk in whole percent; -1 if the device reports no disk.
ALTER TABLE system_samples ADD COLUMN disk_percent BIGINT;
-- Whether a reported model is `served`, or was `given_up`.
ALTER TABLE model_states ADD COLUMN service TEXT;
