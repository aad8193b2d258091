//! `grainstore serve --install`: a unit of systemd that may do no more than a server needs.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use grainstore::ErrorCode;

use crate::config::folder_of_user;
use crate::error::CliError;
use crate::session::Session;

/// Writes the unit of the user, and returns its path.
///
/// # Errors
/// `ERR_USAGE` where there is another unit of this name; `ERR_IO`.
pub(super) fn install(session: &Session, arguments: &[String]) -> anyhow::Result<PathBuf> {
    let missing = || {
        CliError::new(
            ErrorCode::Usage,
            "a user without a home directory has no units",
        )
    };
    let folder = folder_of_user("XDG_CONFIG_HOME", ".config");
    let folder = folder.ok_or_else(missing)?.join("systemd/user");
    let path = folder.join(NAME);
    let store = std::path::absolute(session.store_path())?;
    let text = unit(&crate::program()?, arguments, &store)?;
    let failed = |error: io::Error| CliError::of(&error).at(path.display());
    match fs::read_to_string(&path) {
        Ok(old) if old == text => return Ok(path),
        Ok(_) => {
            let message = format!("{} is there, with other options", path.display());
            let error = CliError::new(ErrorCode::Usage, message);
            return Err(error
                .advising("remove it first, or change it by hand")
                .into());
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error).into()),
    }
    let write = || {
        fs::create_dir_all(&folder)?;
        // The folder of the store is what the unit may write: it must be there.
        fs::create_dir_all(&store)?;
        let mut file = fs::File::options()
            .write(true)
            .create_new(true)
            .open(&path)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    };
    write().map_err(failed)?;
    Ok(path)
}

/// Returns the text of the unit.
fn unit(program: &Path, arguments: &[String], store: &Path) -> Result<String, CliError> {
    let text = |path: &Path| {
        let message = "a path is not UTF-8, as a unit must be";
        let text = path.to_str().map(str::to_owned);
        text.ok_or_else(|| CliError::new(ErrorCode::Usage, message))
    };
    let program = [text(program)?];
    let words: Vec<_> = program
        .iter()
        .chain(arguments)
        .map(|word| quoted(word))
        .collect();
    let store = quoted(&text(store)?);
    Ok(format!(
        "# Written by grainstore serve --install.\n\
         [Unit]\nDescription=grainstore, the memory of AI agents\n\
         Documentation=man:grainstore-serve(1)\nAfter=network.target\n\n\
         [Service]\nExecStart={}\nRestart=on-failure\nRestartSec=2\nTimeoutStopSec=30\n\
         LimitNOFILE=65536\nReadWritePaths={store}\n{HARDENING}\n\
         [Install]\nWantedBy=default.target\n",
        words.join(" "),
    ))
}

/// Returns a word of a command line of systemd: no specifier, variable or quote in it counts.
fn quoted(word: &str) -> String {
    let mut safe = String::from("\"");
    for c in word.chars() {
        match c {
            '"' | '\\' => safe.extend(['\\', c]),
            '%' => safe.push_str("%%"),
            '$' => safe.push_str("$$"),
            c if c.is_control() => safe.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => safe.push(c),
        }
    }
    safe.push('"');
    safe
}

/// No new rights, no other files to write, no devices, no calls but those of services.
const HARDENING: &str = "\
NoNewPrivileges=yes
ProtectSystem=strict
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
CapabilityBoundingSet=
UMask=0077
";

const NAME: &str = "grainstore.service";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_a_unit_means_itself() {
        assert_eq!(quoted("a b"), "\"a b\"");
        assert_eq!(
            quoted("50%h $HOME \"x\" \\\n"),
            "\"50%%h $$HOME \\\"x\\\" \\\\\\x0a\""
        );
    }
}
