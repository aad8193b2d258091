CREATE TABLE users (id CHAR(32) PRIMARY KEY, user_id VARCHAR, name VARCHAR);
CREATE TABLE apps (id CHAR(32) PRIMARY KEY, owner_id CHAR(32), name VARCHAR);
CREATE TABLE categories (id CHAR(32) PRIMARY KEY, name VARCHAR);
CREATE TABLE memories (id CHAR(32) PRIMARY KEY, user_id CHAR(32), app_id CHAR(32), content VARCHAR, vector VARCHAR,
  metadata JSON, state VARCHAR, created_at DATETIME, updated_at DATETIME, archived_at DATETIME, deleted_at DATETIME);
CREATE TABLE memory_categories (memory_id CHAR(32), category_id CHAR(32), PRIMARY KEY (memory_id, category_id));
CREATE TABLE memory_status_history (id CHAR(32) PRIMARY KEY, memory_id CHAR(32), old_state VARCHAR, new_state VARCHAR);
CREATE TABLE access_controls (id CHAR(32) PRIMARY KEY, effect VARCHAR);
INSERT INTO users VALUES ('u1', 'ana', NULL);
INSERT INTO apps VALUES ('a1', 'u1', 'cursor');
INSERT INTO categories VALUES ('c1', 'tooling'), ('c2', 'food');
INSERT INTO memories VALUES ('m1', 'u1', 'a1', 'Prefers pnpm', NULL, '{"source": "chat"}', 'active', '2026-05-01 08:00:00', NULL, NULL, NULL);
INSERT INTO memories VALUES ('m2', 'u1', 'a1', 'Trinkt grünen Tee', NULL, '{}', 'paused', '2026-05-01 08:00:00', NULL, NULL, NULL);
INSERT INTO memories VALUES ('m3', 'u1', 'a1', 'Used to smoke', NULL, '{}', 'archived', '2026-05-01 08:00:00', NULL, '2026-05-03 08:00:00', NULL);
INSERT INTO memories VALUES ('m4', 'u1', 'a1', 'My card is 4111', NULL, '{}', 'deleted', '2026-05-01 08:00:00', NULL, NULL, '2026-05-04 08:00:00');
INSERT INTO memory_categories VALUES ('m1', 'c1'), ('m2', 'c2'), ('m2', 'c9');
INSERT INTO memory_status_history VALUES ('s1', 'm2', 'active', 'paused');
INSERT INTO access_controls VALUES ('x1', 'deny');
