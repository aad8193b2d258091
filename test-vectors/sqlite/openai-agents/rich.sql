CREATE TABLE agent_sessions (session_id TEXT PRIMARY KEY, created_at TIMESTAMP, updated_at TIMESTAMP);
CREATE TABLE agent_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, message_data TEXT, created_at TIMESTAMP);
INSERT INTO agent_sessions VALUES ('s1', '2026-05-01 08:00:00', '2026-05-01 08:00:00');
INSERT INTO agent_messages (session_id, message_data, created_at) VALUES ('s1', '{"role": "user", "content": "wie groß?"}', '2026-05-01 08:00:00');
INSERT INTO agent_messages (session_id, message_data, created_at) VALUES ('s2', '{"role": "user", "content": "anderes"}', '2026-05-01 08:00:00');
INSERT INTO agent_messages (session_id, message_data, created_at) VALUES ('s1', '{"type": "function_call", "call_id": "c1", "name": "wc", "arguments": "{\"path\": \"a\"}"}', '2026-05-01 08:00:01');
INSERT INTO agent_messages (session_id, message_data, created_at) VALUES ('s1', '{"type": "function_call_output", "call_id": "c1", "output": "7"}', '2026-05-01 08:00:02');
INSERT INTO agent_messages (session_id, message_data, created_at) VALUES ('s1', '{"id": "m1", "type": "message", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "Sieben.", "annotations": []}]}', '2026-05-01 08:00:03');
INSERT INTO agent_messages (session_id, message_data, created_at) VALUES ('s1', '{"type": "web_search_call"}', '2026-05-01 08:00:04');
