//! The place of a copy: objects under names that prove them, with retries of what fails in passing.
//!
//! Nothing here rests on a conditional put, or on a list that shows what was just written.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};

use crate::manifest::{MANIFESTS, Manifest, ManifestName};
use crate::{Error, Hash};

/// A place for a copy: a bucket with a prefix, or a directory.
///
/// ```
/// use std::sync::Arc;
/// use grainstore_replica::Bucket;
///
/// let memory = Arc::new(object_store::memory::InMemory::new());
/// let bucket = Bucket::new(memory, "memory:///");
/// assert_eq!(bucket.url(), "memory:///");
/// ```
#[derive(Debug, Clone)]
pub struct Bucket {
    objects: Arc<dyn ObjectStore>,
    url: String,
}

impl Bucket {
    /// Takes an object storage of the caller's; errors and files name it by `url`.
    pub fn new(objects: Arc<dyn ObjectStore>, url: impl Into<String>) -> Self {
        let url = url.into();
        Self { objects, url }
    }

    /// Opens the place that a URL names: `file:///directory`, and, with the feature `cloud`,
    /// `s3://bucket/prefix`, `gs://bucket/prefix`, `az://container/prefix`. `variables` are those of
    /// the environment, of which each service has its own: `AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT`.
    ///
    /// # Errors
    /// `ERR_USAGE` for another URL; `ERR_STORAGE_IO`.
    pub fn open(
        url: &str,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, Error> {
        let wrong = |reason: String| Error::Url {
            url: url.to_owned(),
            reason,
        };
        let parsed = url::Url::parse(url).map_err(|error| wrong(error.to_string()))?;
        let shown = url.trim_end_matches('/');
        if parsed.scheme() == "file" {
            let path = parsed.to_file_path();
            let path = path.map_err(|()| wrong("not the path of a directory".to_owned()))?;
            return Self::in_directory(&path, shown);
        }
        let (objects, prefix) = remote(&parsed, variables).map_err(wrong)?;
        Ok(Self::new(
            Arc::new(PrefixStore::new(objects, prefix)),
            shown,
        ))
    }

    fn in_directory(path: &std::path::Path, url: &str) -> Result<Self, Error> {
        std::fs::create_dir_all(path).map_err(|error| Error::file("create", path, error))?;
        let objects = object_store::local::LocalFileSystem::new_with_prefix(path);
        let objects = objects.map_err(|source| Error::Objects {
            action: "open",
            name: path.display().to_string(),
            source,
        })?;
        Ok(Self::new(Arc::new(objects.with_fsync(true)), url))
    }

    /// Returns the URL that names it.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Writes an object. One of the same name has the same bytes.
    pub(crate) async fn put(&self, name: &str, bytes: Vec<u8>) -> Result<(), Error> {
        let path = Path::from(name);
        let payload = PutPayload::from(bytes);
        let put = || self.objects.put(&path, payload.clone());
        retried(put)
            .await
            .map(drop)
            .map_err(|source| Error::Objects {
                action: "write",
                name: name.to_owned(),
                source,
            })
    }

    /// Reads an object and proves it by the hash that is its name; `None` if there is none.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED` for other bytes, and for more than `max`; `ERR_STORAGE_IO`.
    pub(crate) async fn get(
        &self,
        name: &str,
        hash: &Hash,
        max: u64,
    ) -> Result<Option<Vec<u8>>, Error> {
        let path = Path::from(name);
        let read = async || {
            let found = self.objects.get(&path).await?;
            match found.meta.size > max {
                true => Ok(None),
                false => found.bytes().await.map(Some),
            }
        };
        let bytes = match retried(read).await {
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Ok(None) => return Err(Error::damaged(name, &"it is too long")),
            Ok(Some(bytes)) => bytes,
            Err(source) => {
                let name = name.to_owned();
                let action = "read";
                return Err(Error::Objects {
                    action,
                    name,
                    source,
                });
            }
        };
        match Hash::of(&bytes) == *hash {
            true => Ok(Some(bytes.into())),
            false => Err(Error::damaged(name, &"its bytes are not those of its name")),
        }
    }

    /// Returns whether there is an object of a name.
    pub(crate) async fn has(&self, name: &str) -> Result<bool, Error> {
        let path = Path::from(name);
        match retried(|| self.objects.head(&path)).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(source) => Err(Error::Objects {
                action: "look for",
                name: name.to_owned(),
                source,
            }),
        }
    }

    /// Removes an object, if it is there.
    pub(crate) async fn remove(&self, name: &str) -> Result<(), Error> {
        let path = Path::from(name);
        match retried(|| self.objects.delete(&path)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(source) => Err(Error::Objects {
                action: "remove",
                name: name.to_owned(),
                source,
            }),
        }
    }

    /// Returns the last parts of the names in a folder. A list may lack what was just written.
    pub(crate) async fn names(&self, folder: &str) -> Result<BTreeSet<String>, Error> {
        let prefix = Path::from(folder);
        let list = || {
            let found = self.objects.list(Some(&prefix));
            found.map_ok(|meta| meta.location).try_collect::<Vec<_>>()
        };
        let found = retried(list).await.map_err(|source| Error::Objects {
            action: "list",
            name: folder.to_owned(),
            source,
        })?;
        let names = found.iter().filter_map(Path::filename);
        Ok(names.map(str::to_owned).collect())
    }

    /// Returns the names of the manifests, the newest last.
    pub(crate) async fn manifest_names(&self) -> Result<Vec<ManifestName>, Error> {
        let names = self.names(MANIFESTS).await?;
        let names = names.iter().filter_map(|name| ManifestName::parse(name));
        let mut names: Vec<_> = names.collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Reads a manifest; `None` if it is not there.
    pub(crate) async fn manifest(&self, name: &ManifestName) -> Result<Option<Manifest>, Error> {
        let path = name.to_string();
        let Some(bytes) = self.get(&path, &name.hash, MANIFEST_MAX).await? else {
            return Ok(None);
        };
        let manifest = Manifest::parse(&path, &bytes)?;
        match manifest.number == name.number {
            true => Ok(Some(manifest)),
            false => Err(Error::damaged(&path, &"its number is not that of its name")),
        }
    }

    /// Returns the newest whole manifest. One that is torn was never acknowledged.
    ///
    /// # Errors
    /// `ERR_BACKUP_DIVERGED` if two manifests have its number; `ERR_STORAGE_IO`.
    pub(crate) async fn newest(&self) -> Result<Option<Named>, Error> {
        let mut found = None;
        for _ in 0..ATTEMPTS {
            let is_whole;
            (found, is_whole) = self.newest_listed().await?;
            // Of a manifest that is gone since the list was made there is a newer one.
            if is_whole {
                break;
            }
        }
        Ok(found)
    }

    /// Returns the newest manifest of one list, and whether all that are newer there could be read.
    async fn newest_listed(&self) -> Result<(Option<Named>, bool), Error> {
        let mut names = self.manifest_names().await?;
        let mut is_whole = true;
        while let Some(last) = names.last().copied() {
            let mut whole = Vec::new();
            while let Some(name) = names.pop_if(|name| name.number == last.number) {
                match self.manifest(&name).await {
                    Ok(Some(manifest)) => whole.push((name, manifest)),
                    Ok(None) => is_whole = false,
                    Err(Error::Damaged { name, reason }) => {
                        tracing::warn!(%name, %reason, "a manifest is passed over");
                    }
                    Err(error) => return Err(error),
                }
            }
            if whole.len() > 1 {
                return Err(Error::Forked {
                    number: last.number,
                    reason: "there are two of this number",
                });
            }
            if let Some(found) = whole.pop() {
                return Ok((Some(found), is_whole));
            }
        }
        Ok((None, is_whole))
    }
}

/// A manifest with its name.
pub(crate) type Named = (ManifestName, Manifest);

#[cfg(feature = "cloud")]
fn remote(
    url: &url::Url,
    variables: impl IntoIterator<Item = (String, String)>,
) -> Result<(Box<dyn ObjectStore>, Path), String> {
    // Another crate may have chosen one before.
    drop(rustls::crypto::ring::default_provider().install_default());
    object_store::parse_url_opts(url, variables).map_err(|error| error.to_string())
}

#[cfg(not(feature = "cloud"))]
fn remote(
    _url: &url::Url,
    _variables: impl IntoIterator<Item = (String, String)>,
) -> Result<(Box<dyn ObjectStore>, Path), String> {
    Err("this build knows file:// alone".to_owned())
}

/// Repeats an operation that failed and may succeed.
async fn retried<T, F>(mut operation: impl FnMut() -> F) -> object_store::Result<T>
where
    F: Future<Output = object_store::Result<T>>,
{
    let mut pause = FIRST_PAUSE;
    for _ in 1..ATTEMPTS {
        match operation().await {
            Err(error) if is_passing(&error) => {
                tracing::debug!(%error, "again");
                tokio::time::sleep(pause).await;
                pause *= 2;
            }
            done => return done,
        }
    }
    operation().await
}

const fn is_passing(error: &object_store::Error) -> bool {
    matches!(error, object_store::Error::Generic { .. })
}

const ATTEMPTS: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// A manifest has lists of parts for what is long, and the entries of erasures that wait.
const MANIFEST_MAX: u64 = 256 << 20;
