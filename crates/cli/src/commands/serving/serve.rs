//! `grainstore serve`: the store over HTTP, until the process is asked to end.
//!
//! The address goes to stdout once requests are taken; a line of JSON for each request to stderr.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use grainstore::ErrorCode;
use grainstore_server::http::{App, Limits, ServeError, Serving, TokenFile, Traces, serve};
use serde_json::json;

use crate::args::read_key;
use crate::error::{CliError, Exit};
use crate::session::Session;

/// Serve the store over HTTP, and to agents over MCP at /mcp
///
/// Each caller needs a token of `grainstore token add`. Beyond this machine tokens would be sent in
/// the clear: put a proxy that ends TLS before the server, and say so with --behind-proxy. SIGTERM
/// and SIGINT let open requests end.
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
    /// Serve the inspector at /ui/ too: a page to look at the store with a token
    #[arg(long)]
    ui: bool,
    /// Sign AIMEM bundles and receipts of erasures with this key: PKCS#8 in PEM, readable by its
    /// owner only
    #[arg(long, value_name = "FILE")]
    sign_key: Option<String>,
    /// Send a span of each request, without content, to this OpenTelemetry collector (OTLP over
    /// HTTP), as http://127.0.0.1:4318
    #[arg(long, value_name = "URL")]
    otlp: Option<String>,
}

impl Serve {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let key = self.sign_key.as_deref().map(read_key).transpose()?;
        let serving = Serving::on(self.listen, self.behind_proxy).map_err(|error| told(&error))?;
        let tokens = match self.tokens {
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
        let is_quiet = session.out.is_quiet();
        let log = move |line: &str| {
            if !is_quiet {
                // A log that cannot be written stops no answer.
                drop(writeln!(io::stderr().lock(), "{line}"));
            }
        };
        let app = App::new(store, tokens, Limits::default(), log);
        let app = match key {
            Some(key) => app.signing_with(key),
            None => app,
        };
        let app = match self.otlp.as_deref().map(Traces::to).transpose() {
            Ok(Some(traces)) => app.with_traces(traces),
            Ok(None) => app,
            Err(error) => return Err(CliError::new(ErrorCode::Usage, &error).into()),
        };
        let app = if self.ui { app.with_inspector() } else { app };
        let url = format!("http://{}", serving.address());
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

fn told(error: &ServeError) -> CliError {
    let code = match error {
        ServeError::Exposed { .. } => ErrorCode::Usage,
        _ => ErrorCode::Io,
    };
    CliError::new(code, error)
}
