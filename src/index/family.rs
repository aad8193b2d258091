/// What a key is about. The number is the first byte of the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Family {
    /// Subject, relation, object.
    Spo = 1,
    /// Subject, object, relation.
    Sop = 2,
    /// Relation, subject, object.
    Pso = 3,
    /// Relation, object, subject.
    Pos = 4,
    /// Object, subject, relation.
    Osp = 5,
    /// Object, relation, subject.
    Ops = 6,
    /// The type byte.
    Type = 7,
    /// A namespace and each of its `:` ancestors (OMS 28.2).
    Namespace = 8,
    /// `created_at`, ordered.
    CreatedAt = 9,
    /// `valid_from`, ordered.
    ValidTime = 10,
    /// When the grain became active here, ordered (ruling I20).
    SystemTime = 11,
    /// `session_id`.
    Session = 12,
    /// `run_id`.
    Run = 13,
    /// `user_id`.
    User = 14,
    /// One of the `structural_tags`.
    Tag = 15,
    /// A grain that this one is derived from.
    DerivedFrom = 16,
    /// A grain that this one is related to.
    RelatedTo = 17,
    /// The consent this one rests on.
    ProcessingBasis = 18,
    /// A superseding grain; the rows are of the grains it superseded.
    Lineage = 19,
    /// A grain; the rows are of the other entries that name it.
    Mentions = 20,
    /// A foreign identifier; the rows are of alias entries.
    ForeignId = 21,
    /// A grain's row; the rows are of its status entries.
    Status = 22,
}
