//! The address of a shared ledger: that of a database, with the name of a store in it.

use std::time::Duration;

use tokio_postgres::Config;

use crate::Error;

/// A parsed address.
#[derive(Debug, Clone)]
pub(super) struct Address {
    pub(super) config: Config,
    /// The name of the store in the database.
    pub(super) name: String,
}

impl Address {
    /// Parses `postgres://user@host/database?store=NAME`; the other parameters are those of PostgreSQL.
    ///
    /// # Errors
    /// [`Error::Refused`]; the text is not repeated, since it may hold a password.
    pub(super) fn parse(url: &str, password: Option<&str>) -> Result<Self, Error> {
        let (place, parameters) = url.split_once('?').unwrap_or((url, ""));
        let mut name = DEFAULT_NAME.to_owned();
        let mut rest = Vec::new();
        for parameter in parameters.split('&').filter(|text| !text.is_empty()) {
            match parameter.strip_prefix("store=") {
                Some(given) => given.clone_into(&mut name),
                None => rest.push(parameter),
            }
        }
        if name.is_empty() || !name.chars().all(is_plain) {
            return Err(Error::refused(
                "the name of a store has letters, digits, and any of - _ . :",
            ));
        }
        let url = match rest.is_empty() {
            true => place.to_owned(),
            false => format!("{place}?{}", rest.join("&")),
        };
        let parsed: Result<Config, _> = url.parse();
        let mut config =
            parsed.map_err(|_| Error::refused("this is not an address as PostgreSQL has them"))?;
        if let Some(password) = password.filter(|_| config.get_password().is_none()) {
            config.password(password);
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_application_name().is_none() {
            config.application_name("grainstore");
        }
        Ok(Self { config, name })
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_.:".contains(c)
}

/// The name of a store for which an address gives none.
const DEFAULT_NAME: &str = "main";

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_store_beside_the_parameters_of_the_database() {
        let url = "postgres://bot:secret@db.example:5433/memory?store=tenant-7&sslmode=require";
        let address = Address::parse(url, Some("unused")).unwrap();
        assert_eq!(address.name, "tenant-7");
        assert_eq!(address.config.get_dbname(), Some("memory"));
        assert_eq!(address.config.get_password(), Some(&b"secret"[..]));
        assert_eq!(
            address.config.get_ssl_mode(),
            tokio_postgres::config::SslMode::Require
        );
        assert!(!format!("{address:?}").contains("secret"));

        let plain = Address::parse("postgres://localhost/memory", Some("given")).unwrap();
        assert_eq!(
            (plain.name.as_str(), plain.config.get_password()),
            ("main", Some(&b"given"[..]))
        );
    }

    #[test]
    fn an_address_that_is_none_is_refused_without_its_text() {
        for url in [
            "postgres://h/d?store=",
            "postgres://h/d?store=a%2Fb",
            "postgres://h:secret/d",
        ] {
            let refused = Address::parse(url, None).unwrap_err().to_string();
            assert!(!refused.contains("secret"), "{refused}");
        }
    }
}
