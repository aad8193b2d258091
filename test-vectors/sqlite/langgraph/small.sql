CREATE TABLE store (prefix text NOT NULL, key text NOT NULL, value text NOT NULL, created_at TIMESTAMP, updated_at TIMESTAMP,
  expires_at TIMESTAMP, ttl_minutes REAL, PRIMARY KEY (prefix, key));
CREATE TABLE store_vectors (prefix text, key text, field_name text, embedding BLOB);
INSERT INTO store VALUES ('memories.ana', 'k1', '{"content": "Prefers pnpm"}', '2026-05-01 08:00:00', '2026-05-01 08:00:00', NULL, NULL);
