-- What became of the last update of the agent, as JSON; a device that told of none has none.
ALTER TABLE devices ADD COLUMN last_update TEXT;
