CREATE VIEW memories AS SELECT * FROM other;
CREATE VIEW other AS SELECT * FROM memories;
CREATE TABLE history_of (id TEXT);
