CREATE TABLE history (memory_id TEXT, event TEXT, old_memory TEXT,
  new_memory TEXT AS (printf('%.*c', 1000000, 'x')) VIRTUAL);
INSERT INTO history (memory_id, event) VALUES ('m1', 'ADD');
