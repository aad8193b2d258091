CREATE TABLE agent_sessions (session_id TEXT PRIMARY KEY, created_at TIMESTAMP, updated_at TIMESTAMP);
CREATE TABLE agent_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, message_data TEXT, created_at TIMESTAMP);
INSERT INTO agent_sessions VALUES ('s1', '2026-05-01 08:00:00', '2026-05-01 08:00:00');
INSERT INTO agent_messages (session_id, message_data, created_at) VALUES ('s1', '{"role": "user", "content": "use pnpm"}', '2026-05-01 08:00:00');
