//! Vectors on their way in and out: of a file, and of the store.

use std::fmt;

use crate::codec::ContentAddress;
use crate::grain::Time;

use crate::interchange::{Error, ForeignId, Place};

/// A vector of one of the memories of a file, or of one that is stored already.
///
/// ```
/// use grainstore::interchange::{Format, ImportFile, VectorOf};
///
/// let file = br#"{"schema": "portable-ai-memory-embeddings", "schema_version": "1.0",
///     "embeddings": [{"id": "v", "memory_id": "m", "model": "tiny", "dimensions": 2,
///     "created_at": "2026-01-15T10:30:00Z", "vector": [0.5, 1]}]}"#;
/// let file = ImportFile::of_bytes(file, Some(Format::PamEmbeddings), &Default::default())?;
/// file.vectors.each(&mut |vector| {
///     assert_eq!(vector.numbers, [0.5, 1.0]);
///     matches!(vector.of, VectorOf::Named(id) if id.id() == "m")
/// })?;
/// # Ok::<(), grainstore::interchange::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignVector {
    /// The record that it belongs to.
    pub of: VectorOf,
    /// The name of the model.
    pub model: String,
    /// The numbers, in the precision of models.
    pub numbers: Vec<f32>,
    /// The other members of its entry in the file, as JSON in ASCII.
    pub record: String,
    /// Where in the file it stands.
    pub place: Place,
}

/// The vectors of a file, of which a few are in memory at a time.
///
/// ```
/// use grainstore::interchange::ForeignVectors;
///
/// assert!(ForeignVectors::default().is_empty());
/// ```
#[derive(Default)]
pub struct ForeignVectors(Option<Box<dyn VectorSource>>);

/// Validated vectors that are read when they are asked for.
pub(crate) trait VectorSource: Send + Sync {
    /// Returns how many there are.
    fn len(&self) -> u64;

    /// Passes them to `take` one by one, until it returns `false`.
    fn each(&self, take: &mut dyn FnMut(ForeignVector) -> bool) -> Result<(), Error>;
}

impl ForeignVectors {
    pub(crate) fn new(source: impl VectorSource + 'static) -> Self {
        Self(Some(Box::new(source)))
    }

    /// Returns how many there are.
    pub fn len(&self) -> u64 {
        self.0.as_ref().map_or(0, |vectors| vectors.len())
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Passes them to `take` one by one, until it returns `false`.
    ///
    /// # Errors
    /// `ERR_IO`, also of a file that is not what it was when it was validated.
    pub fn each(&self, take: &mut dyn FnMut(ForeignVector) -> bool) -> Result<(), Error> {
        self.0.as_ref().map_or(Ok(()), |vectors| vectors.each(take))
    }
}

impl fmt::Debug for ForeignVectors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForeignVectors")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

/// A vector in the store.
///
/// ```
/// use grainstore::Time;
/// use grainstore::interchange::StoredVector;
///
/// let vector = StoredVector {
///     model: "tiny".into(),
///     numbers: vec![0.5, 1.0],
///     record: None,
///     at: Time::from_ms(0),
/// };
/// assert_eq!(vector.numbers.len(), 2);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct StoredVector {
    /// The name of the model.
    pub model: String,
    /// The numbers.
    pub numbers: Vec<f32>,
    /// The other members of its entry in the file that it came from.
    pub record: Option<String>,
    /// The time at which it was stored.
    pub at: Time,
}

/// The record that a vector belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VectorOf {
    /// A grain of the same file, under the address that it was read as.
    Grain(ContentAddress),
    /// The record of this id, imported before.
    Named(ForeignId),
}
