CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT,
  created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT);
INSERT INTO history VALUES ('h1', 'm1', NULL, 'Prefers pnpm', 'ADD', '2026-05-01T08:00:00Z', NULL, 0, NULL, NULL);
CREATE VIEW messages AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
  SELECT 'x' AS id, 's' AS session_scope, 'user' AS role, i AS content, NULL AS created_at FROM n;
CREATE TRIGGER t AFTER INSERT ON history BEGIN SELECT load_extension('x'); END;
