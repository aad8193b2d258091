//! `grainstore serve`: the store over HTTP, until the process is asked to end.
//!
//! The address goes to stdout once requests are taken; a line of JSON for each request to stderr.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use grainstore::ErrorCode;
use grainstore_server::http::{App, Limits, ServeError, Serving, Site, TokenFile, Traces, serve};
use serde_json::json;

use super::unit;
use crate::args::{Statements, read_key};
use crate::commands::maintenance::disk_free;
#[cfg(feature = "replica")]
use crate::commands::replica::ship_beside;
use crate::error::{CliError, Exit};
use crate::session::Session;

/// Serve the store over HTTP, and to agents over MCP at /mcp
///
/// Each caller needs a token of `grainstore token add`. Beyond this machine tokens would be sent in
/// the clear: name a certificate, or put a proxy that ends TLS before the server and say so with
/// --behind-proxy. SIGTERM and SIGINT let open requests end.
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  grainstore token add --as did:web:bot.acme.example --allow read,write
  grainstore serve
  curl -H \"Authorization: Bearer TOKEN\" http://127.0.0.1:7471/v1/openapi.json")]
pub(crate) struct Serve {
    /// Address and port to listen on; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7471")]
    listen: SocketAddr,
    /// Token file [default: server/tokens in the folder of the store]
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// Listen beyond this machine: a proxy before the server ends TLS
    #[arg(long)]
    behind_proxy: bool,
    /// Certificate and those that vouch for it, in PEM; read again when it was renewed
    #[arg(
        long,
        value_name = "FILE",
        requires = "tls_key",
        conflicts_with = "behind_proxy"
    )]
    tls_cert: Option<PathBuf>,
    /// Key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Address by which clients reach the server, as https://memory.example; requests for other hosts
    /// do not reach agents
    #[arg(long, value_name = "URL")]
    public_url: Option<Site>,
    /// Let clients in at /mcp by OAuth, once you have shown a token on a page of this server
    #[arg(long)]
    oauth: bool,
    /// Let pages of this origin ask from a browser, as https://app.example; may be repeated
    #[arg(long, value_name = "URL")]
    allow_origin: Vec<Site>,
    /// Write a unit of systemd that serves with these options, and start nothing
    #[arg(long)]
    install: bool,
    /// Serve the inspector at /ui/ too: a page to look at the store with a token
    #[arg(long)]
    ui: bool,
    /// Sign AIMEM bundles and receipts of erasures with this key: PKCS#8 in PEM, readable by its
    /// owner only
    #[arg(long, value_name = "FILE")]
    sign_key: Option<String>,
    /// Ship the store to this place too, as `grainstore replicate URL` does
    #[cfg(feature = "replica")]
    #[arg(long, value_name = "URL")]
    replicate: Option<String>,
    #[command(flatten)]
    statements: Statements,
    /// Send a span of each request, without content, to this OpenTelemetry collector (OTLP over
    /// HTTP), as http://127.0.0.1:4318
    #[arg(long, value_name = "URL")]
    otlp: Option<String>,
}

impl Serve {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        if self.install {
            let path = unit::install(session, &self.arguments(session)?)?;
            let name = path.file_name().unwrap_or_default().display();
            session
                .out
                .note(format!("start it: systemctl --user enable --now {name}"));
            return session.report_change("installed", path.display());
        }
        let key = self.sign_key.as_deref().map(read_key).transpose()?;
        let serving = self.listening()?;
        let tokens = match &self.tokens {
            Some(path) => TokenFile::at(path),
            None => TokenFile::in_store(session.store_path()),
        };
        // Read once: a file that is not one is an error now, and not of each request.
        let known = tokens
            .list()
            .map_err(|error| CliError::new(error.code(), &error))?;
        let store = session.open_to_serve()?;
        if known.is_empty() {
            let message = "no token lets anyone in yet: `grainstore token add --help`";
            session.out.note(message);
        }
        self.replicate(session)?;
        let log = log(session.out.is_quiet());
        let app = App::new(store, tokens, Limits::default(), log);
        let path = session.store_path().to_owned();
        let app = app.measuring_disk(move || disk_free(&path));
        let app = match key {
            Some(key) => app.signing_with(key),
            None => app,
        };
        let app = match self.otlp.as_deref().map(Traces::to).transpose() {
            Ok(Some(traces)) => app.with_traces(traces),
            Ok(None) => app,
            Err(error) => return Err(CliError::new(ErrorCode::Usage, &error).into()),
        };
        let app = app.with_cal(self.statements.host()?);
        let app = if self.ui { app.with_inspector() } else { app };
        let scheme = if serving.has_tls() { "https" } else { "http" };
        let url = format!("{scheme}://{}", serving.address());
        let app = self.reached(app, &url)?;
        if session.out.is_json() {
            session.out.json(&json!({ "listening": url }))?;
        } else {
            session.out.line(&url)?;
            if self.ui {
                session.out.note(format!("the inspector is at {url}/ui/"));
            }
        }
        session.out.flush()?;
        serve(app, serving).map_err(|error| told(&error))?;
        Ok(Exit::Done)
    }
}

impl Serve {
    /// Ships the store beside the requests, if that is asked for.
    #[cfg(feature = "replica")]
    fn replicate(&self, session: &Session) -> Result<(), CliError> {
        let Some(url) = &self.replicate else {
            return Ok(());
        };
        let log = log(session.out.is_quiet());
        ship_beside(session.store_path().to_owned(), url.clone(), log)
    }

    #[cfg(not(feature = "replica"))]
    fn replicate(&self, _: &Session) -> Result<(), CliError> {
        Ok(())
    }

    fn listening(&self) -> Result<Serving, CliError> {
        let serving = match (&self.tls_cert, &self.tls_key) {
            (Some(certificate), Some(key)) => Serving::with_tls(self.listen, certificate, key),
            _ => Serving::on(self.listen, self.behind_proxy),
        };
        serving.map_err(|error| {
            let in_use = matches!(&error, ServeError::Io(cause) if cause.kind() == io::ErrorKind::AddrInUse);
            let error = told(&error);
            match in_use {
                true => error.at(format!("--listen {}", self.listen)).advising(
                    "another program listens there, perhaps another `grainstore serve`; choose another port, or 0 for any that is free",
                ),
                false => error,
            }
        })
    }

    /// Tells a server by which address it is reached, and by which pages.
    fn reached(&self, app: App, url: &str) -> Result<App, CliError> {
        let app = match (&self.public_url, url.parse::<Site>()) {
            (Some(site), _) => app.at(site.clone()),
            (None, Ok(site)) if self.listen.ip().is_loopback() && !self.behind_proxy => {
                app.at(site)
            }
            (None, _) if self.oauth => {
                let message = "--oauth needs the address that clients use: --public-url";
                return Err(CliError::new(ErrorCode::Usage, message));
            }
            // A proxy, or a certificate, is for its own hosts alone.
            (None, _) => app.behind_proxy(),
        };
        let pages = self.allow_origin.iter().cloned();
        let app = pages.fold(app, App::for_pages_of);
        Ok(if self.oauth { app.with_oauth() } else { app })
    }

    /// Returns the arguments of a server with these options, with whole paths.
    fn arguments(&self, session: &Session) -> anyhow::Result<Vec<String>> {
        let whole = |path: &std::path::Path| -> anyhow::Result<String> {
            let path = std::path::absolute(path)?.into_os_string().into_string();
            let message = "a path is not UTF-8, as a unit must be";
            Ok(path.map_err(|_| CliError::new(ErrorCode::Usage, message))?)
        };
        let mut arguments = vec!["--store".to_owned(), whole(session.store_path())?];
        arguments.extend(session.model_arguments());
        arguments.extend(["serve".to_owned(), format!("--listen={}", self.listen)]);
        let key = self.sign_key.as_deref().map(std::path::Path::new);
        for (option, path) in [
            ("--tokens", self.tokens.as_deref()),
            ("--tls-cert", self.tls_cert.as_deref()),
            ("--tls-key", self.tls_key.as_deref()),
            ("--sign-key", key),
        ] {
            if let Some(path) = path {
                arguments.extend([option.to_owned(), whole(path)?]);
            }
        }
        let public = self
            .public_url
            .iter()
            .map(|url| format!("--public-url={url}"));
        let pages = self
            .allow_origin
            .iter()
            .map(|url| format!("--allow-origin={url}"));
        let traces = self.otlp.iter().map(|url| format!("--otlp={url}"));
        #[cfg(feature = "replica")]
        arguments.extend(
            self.replicate
                .iter()
                .map(|url| format!("--replicate={url}")),
        );
        let cal = self.statements.argument().map(str::to_owned);
        arguments.extend(public.chain(pages).chain(traces).chain(cal));
        for (option, is_set) in [
            ("--behind-proxy", self.behind_proxy),
            ("--oauth", self.oauth),
            ("--ui", self.ui),
        ] {
            arguments.extend(is_set.then(|| option.to_owned()));
        }
        Ok(arguments)
    }
}

/// Returns the log of a server: each line goes to stderr.
fn log(is_quiet: bool) -> impl Fn(&str) + Send + Sync + 'static {
    move |line: &str| {
        if !is_quiet {
            // A log that cannot be written stops no answer.
            drop(writeln!(io::stderr().lock(), "{line}"));
        }
    }
}

fn told(error: &ServeError) -> CliError {
    let code = match error {
        ServeError::Exposed { .. } | ServeError::Tls { .. } => ErrorCode::Usage,
        _ => ErrorCode::Io,
    };
    CliError::new(code, error)
}
