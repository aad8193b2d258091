CREATE TABLE memories (id INTEGER PRIMARY KEY, content_hash TEXT UNIQUE, content TEXT, tags TEXT, memory_type TEXT, metadata TEXT,
  created_at REAL, updated_at REAL, created_at_iso TEXT, updated_at_iso TEXT, deleted_at REAL, superseded_by TEXT);
CREATE TABLE memory_graph (source_hash TEXT, target_hash TEXT, similarity REAL);
INSERT INTO memories VALUES (1, 'e3', 'Prefers pnpm', 'tooling,habit', 'preference', '{"by": "ana"}', 1777622400.25, 1777622500.5, NULL, NULL, NULL, NULL);
INSERT INTO memories VALUES (2, 'e4', 'Trinkt grünen Tee ☕', NULL, NULL, NULL, NULL, NULL, '2026-05-01T08:00:00Z', NULL, NULL, NULL);
INSERT INTO memories VALUES (3, 'e5', 'Uses npm', '', 'note', '{}', 1777622400.0, NULL, NULL, NULL, NULL, 'e3');
INSERT INTO memories VALUES (4, 'e6', 'gone', '', 'note', '{}', 1777622400.0, NULL, NULL, NULL, 1777622600.0, NULL);
INSERT INTO memory_graph VALUES ('e3', 'e4', 0.5);
