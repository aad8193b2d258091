CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT,
  created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_scope TEXT, role TEXT, content TEXT, name TEXT, created_at DATETIME);
INSERT INTO history VALUES ('h1', 'm1', NULL, 'Prefers pnpm', 'ADD', 'some day', NULL, 0, NULL, NULL);
INSERT INTO history VALUES ('h2', NULL, NULL, 'no memory', 'ADD', '2026-05-01T08:00:00Z', NULL, 0, NULL, NULL);
INSERT INTO history VALUES ('h3', 'm3', NULL, NULL, 'ADD', '2026-05-01T08:00:00Z', NULL, 0, NULL, NULL);
INSERT INTO history VALUES ('h4', 'm4', NULL, x'ff00', 'ADD', '2026-05-01T08:00:00Z', NULL, 0, NULL, NULL);
INSERT INTO history VALUES ('h5', 'm5', NULL, 'Lives in Graz', 'ADD', '2026-05-01T08:00:00Z', NULL, 0, NULL, NULL);
