//! The namespace of a working directory: one for a repository, whatever worktree or clone it is.

use std::fs;
use std::path::{Path, PathBuf};

use grainstore::ContentAddress;

/// Returns the namespace of a directory: `project:` with the address of the repository's remote
/// `origin`, or with the name of the folder and a hash of its path.
pub(super) fn namespace(directory: &Path) -> String {
    let directory = fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
    let Some(git) = directory.ancestors().find_map(git_folder) else {
        return format!("{PREFIX}:{}", named_with_hash(&directory));
    };
    let config = fs::read_to_string(git.join("config")).unwrap_or_default();
    let name = match origin(&config).and_then(repository) {
        Some(name) => name,
        None if git.ends_with(".git") => named_with_hash(git.parent().unwrap_or(&git)),
        None => named_with_hash(&git),
    };
    format!("{PREFIX}:{name}")
}

/// Returns the folder with the repository that a directory is the top of: worktrees share one.
fn git_folder(directory: &Path) -> Option<PathBuf> {
    let git = directory.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    // A worktree has a file that names its own folder, and that one names the shared folder.
    let text = fs::read_to_string(&git).ok()?;
    let own = directory.join(text.strip_prefix("gitdir:")?.trim());
    let shared = match fs::read_to_string(own.join("commondir")) {
        Ok(shared) => own.join(shared.trim()),
        Err(_) => own,
    };
    fs::canonicalize(shared).ok()
}

/// Returns the address of the remote `origin` in the configuration of a repository.
fn origin(config: &str) -> Option<&str> {
    let mut lines = config.lines().map(str::trim);
    lines.find(|line| *line == "[remote \"origin\"]")?;
    let own = lines.take_while(|line| !line.starts_with('['));
    let mut urls = own.filter_map(|line| line.strip_prefix("url")?.trim_start().strip_prefix('='));
    urls.next().map(str::trim)
}

/// Returns the host and the path of a repository's address, which are the same however it is reached:
/// `https://github.com/a/b.git`, `git@github.com:a/b`. `None` for a path of this machine.
fn repository(url: &str) -> Option<String> {
    let rest = match url.split_once("://") {
        Some(("file", _)) => return None,
        Some((_, rest)) => rest.to_owned(),
        // A drive of Windows has one letter.
        None => match url
            .split_once(':')
            .filter(|(host, _)| host.len() > 1 && !host.contains('/'))
        {
            Some((host, path)) => format!("{host}/{path}"),
            None => return None,
        },
    };
    // The part before @ may be a password.
    let rest = rest
        .rsplit_once('@')
        .map_or(rest.as_str(), |(_, rest)| rest);
    let (host, path) = rest.split_once('/')?;
    let host = host.split(':').next().unwrap_or(host).to_ascii_lowercase();
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    (!path.is_empty()).then(|| format!("{host}/{}", path.replace(':', "-")))
}

fn named_with_hash(directory: &Path) -> String {
    let name = directory.file_name().map(|name| name.to_string_lossy());
    let name = name.unwrap_or_default().replace(':', "-");
    let path = directory.to_string_lossy();
    let hash = ContentAddress::of(path.as_bytes()).to_string();
    format!("{name}@{}", hash.get(..8).unwrap_or_default())
}

const PREFIX: &str = "project";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_has_one_name_however_it_is_reached() {
        for url in [
            "https://github.com/acme/app.git",
            "https://mira:secret@GitHub.com/acme/app",
            "ssh://git@github.com:22/acme/app.git/",
            "git@github.com:acme/app.git",
        ] {
            assert_eq!(
                repository(url).as_deref(),
                Some("github.com/acme/app"),
                "{url}"
            );
        }
        for url in [
            "/srv/app.git",
            "../app",
            "C:\\app",
            "file:///srv/app",
            "",
            "github.com",
        ] {
            assert_eq!(repository(url), None, "{url}");
        }
    }

    #[test]
    fn worktrees_of_a_repository_share_its_namespace() {
        let home = tempfile::tempdir().unwrap();
        let main = home.path().join("app");
        let own = main.join(".git/worktrees/fix");
        let tree = home.path().join("fix");
        fs::create_dir_all(&own).unwrap();
        fs::create_dir_all(tree.join("src")).unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        fs::write(tree.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        let local = namespace(&main);
        assert!(local.starts_with("project:app@"), "{local}");
        assert_eq!(namespace(&tree.join("src")), local);

        let config =
            "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = git@github.com:acme/app.git\n";
        fs::write(main.join(".git/config"), config).unwrap();
        assert_eq!(namespace(&tree), "project:github.com/acme/app");
        assert_eq!(namespace(&main), "project:github.com/acme/app");
        assert_ne!(namespace(home.path()), namespace(&main));
    }
}
