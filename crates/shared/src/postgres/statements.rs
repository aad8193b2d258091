//! Every statement that a sequence sends. Each stands for itself: no transaction is held over a network
//! round trip, READ COMMITTED is enough, and no extension is needed. The versions that a statement
//! expects stand in it, and a row that another node changed meanwhile is judged as it is then.
//!
//! Each key begins with the store id, so stores never meet in one row.

/// The tables, for the one who creates the first store.
pub(super) const TABLES: [&str; 3] = [
    "CREATE TABLE IF NOT EXISTS grainstore_stores (
        store bytea PRIMARY KEY,
        name text NOT NULL UNIQUE,
        manifest bytea NOT NULL,
        origin bytea NOT NULL,
        entries bigint NOT NULL,
        leaf bytea NOT NULL,
        bytes bigint NOT NULL,
        bodies text,
        turn bytea,
        turn_until timestamptz)",
    "CREATE TABLE IF NOT EXISTS grainstore_frames (
        store bytea NOT NULL,
        first bigint NOT NULL,
        entries bigint NOT NULL,
        ends bigint NOT NULL,
        version bigint NOT NULL,
        frame bytea NOT NULL,
        PRIMARY KEY (store, first))",
    "CREATE UNIQUE INDEX IF NOT EXISTS grainstore_frames_ends ON grainstore_frames (store, ends)",
];

/// `$1` name.
pub(super) const IDENTITY: &str =
    "SELECT store, manifest, origin, bodies FROM grainstore_stores WHERE name = $1";

/// `$1` store, `$2` name, `$3` manifest, `$4` leaf before the first entry, `$5` place of long frames or nothing.
pub(super) const CREATE: &str = "INSERT INTO grainstore_stores
        (store, name, manifest, origin, entries, leaf, bytes, bodies)
    VALUES ($1, $2, $3, $4, 0, $4, 0, nullif($5, ''))
    ON CONFLICT DO NOTHING
    RETURNING entries";

/// `$1` store.
pub(super) const HEAD: &str = "SELECT entries, leaf FROM grainstore_stores WHERE store = $1";

/// The commit: `$1` store, `$2` and `$3` the expected head, `$4` and `$5` the new one, `$6` the frame,
/// `$7` node. Without a row in the answer nothing was changed.
pub(super) const APPEND: &str = "WITH moved AS (
        UPDATE grainstore_stores
        SET entries = $4, leaf = $5, bytes = bytes + octet_length($6)
        WHERE store = $1 AND entries = $2 AND leaf = $3
            AND (turn IS NULL OR turn = $7 OR turn_until < now())
        RETURNING bytes)
    INSERT INTO grainstore_frames (store, first, entries, ends, version, frame)
    SELECT $1, $2, $4 - $2, moved.bytes, 0, $6 FROM moved
    RETURNING first";

/// `$1` store, `$2` an entry of the first frame, `$3` bytes at most.
pub(super) const READ: &str = "WITH last AS (
        SELECT first + entries AS until, ends, ends - octet_length(frame) AS begins
        FROM grainstore_frames WHERE store = $1 AND first <= $2
        ORDER BY first DESC LIMIT 1)
    SELECT f.first, f.version, f.frame FROM grainstore_frames f, last
    WHERE f.store = $1 AND last.until > $2
        AND f.ends > last.begins AND f.ends <= greatest(last.ends, last.begins + $3)
    ORDER BY f.ends";

/// `$1` store, `$2` first entry, `$3` the version that was read, `$4` the bytes.
pub(super) const REPLACE: &str = "UPDATE grainstore_frames
    SET frame = $4, version = version + 1
    WHERE store = $1 AND first = $2 AND version = $3 AND octet_length(frame) = octet_length($4)
    RETURNING version";

/// `$1` store, `$2` node, `$3` the lease in milliseconds.
pub(super) const TAKE_TURN: &str = "UPDATE grainstore_stores
    SET turn = $2, turn_until = now() + $3 * interval '1 millisecond'
    WHERE store = $1 AND (turn IS NULL OR turn = $2 OR turn_until < now())
    RETURNING entries, leaf";

/// `$1` store, `$2` node.
pub(super) const END_TURN: &str = "UPDATE grainstore_stores
    SET turn = NULL WHERE store = $1 AND turn = $2
    RETURNING entries";

/// A turn need not outlive a crash of the server: the head decides.
pub(super) const TURNS_ARE_NOT_DURABLE: &str = "SET synchronous_commit = off";

/// Without these two a node asks twice a second.
pub(super) const LISTEN: &str = "LISTEN grainstore";
pub(super) const NOTIFY: &str = "NOTIFY grainstore";

/// Whether a commit waits for a standby.
pub(super) const WAITS: &str = "SELECT current_setting('synchronous_standby_names') <> ''
    AND current_setting('synchronous_commit') NOT IN ('off', 'local')";
