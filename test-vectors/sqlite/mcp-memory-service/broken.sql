CREATE TABLE memories (id INTEGER PRIMARY KEY, content_hash TEXT UNIQUE, content TEXT, tags TEXT, memory_type TEXT, metadata TEXT,
  created_at REAL, updated_at REAL, created_at_iso TEXT, updated_at_iso TEXT, deleted_at REAL, superseded_by TEXT);
CREATE TABLE memory_graph (source_hash TEXT, target_hash TEXT, similarity REAL);
INSERT INTO memories VALUES (1, 'e3', NULL, '', NULL, '{', 1777622400.0, NULL, NULL, NULL, NULL, NULL);
INSERT INTO memories VALUES (2, NULL, 'Lives in Graz', ',,', NULL, '{', 1e999, NULL, NULL, NULL, NULL, NULL);
