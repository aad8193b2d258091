CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT,
  created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_scope TEXT, role TEXT, content TEXT, name TEXT, created_at DATETIME);
INSERT INTO history VALUES ('h1', 'm1', NULL, 'Uses npm', 'ADD', '2026-05-01T08:00:00+00:00', NULL, 0, NULL, NULL);
INSERT INTO history VALUES ('h2', 'm2', NULL, 'Has a dog, Řex', 'ADD', '2026-05-01T08:01:00+00:00', NULL, 0, NULL, NULL);
INSERT INTO history VALUES ('h3', 'm1', 'Uses npm', 'Uses pnpm', 'UPDATE', '2026-05-01T08:00:00+00:00', '2026-05-01T08:05:00+00:00', 0, 'ana', NULL);
INSERT INTO history VALUES ('h4', 'm1', 'Uses pnpm', 'Uses pnpm 10', 'UPDATE', '2026-05-01T08:00:00+00:00', '2026-05-01T08:06:00+00:00', 0, NULL, NULL);
INSERT INTO history VALUES ('h5', 'm2', 'Has a dog, Řex', NULL, 'DELETE', '2026-05-01T08:01:00+00:00', '2026-05-01T08:09:00+00:00', 1, NULL, NULL);
INSERT INTO messages VALUES ('x1', 'user_id=ana', 'user', 'I moved to pnpm 10', NULL, '2026-05-01T08:06:00+00:00');
INSERT INTO messages VALUES ('x2', 'user_id=ana', 'assistant', 'Noted.', NULL, '2026-05-01T08:06:01+00:00');
