CREATE TABLE store (prefix text NOT NULL, key text NOT NULL, value text NOT NULL, created_at TIMESTAMP, updated_at TIMESTAMP,
  expires_at TIMESTAMP, ttl_minutes REAL, PRIMARY KEY (prefix, key));
CREATE TABLE store_vectors (prefix text, key text, field_name text, embedding BLOB);
INSERT INTO store VALUES ('a', 'b', '{"content": "cut', '2026-05-01 08:00:00', NULL, NULL, NULL);
INSERT INTO store VALUES ('a', 'c', '{"content": "Lives in Graz"}', 'when?', NULL, NULL, NULL);
