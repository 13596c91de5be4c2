-- Pipelines are kept in the session files.
DROP TABLE pipelines;
