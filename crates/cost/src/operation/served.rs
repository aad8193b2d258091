//! A recall as an agent asks it of `serve`, by a token: from the request to the bytes of its answer. The
//! router is called in the process, so that no connection is counted.

use std::hint::black_box;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::http::{Request, header};
use grainstore::Time;
use grainstore_server::http::{App, Grant, Limits, Operation, TokenFile};
use tokio::runtime;
use tower::ServiceExt;

use super::{Rounds, questions};
use crate::Result;
use crate::fixture::{Fixture, Seeded};

/// The recalls of [`questions::recall`].
pub(super) fn recall(fixture: &Fixture, rounds: Rounds) -> Result<()> {
    let tokens = TokenFile::at(fixture.tokens());
    let grant = Grant::new("did:web:bot.example", [Operation::Read]);
    let token = tokens.add(grant, None, Time::from_ms(0), &Seeded::default())?;
    let bearer = format!("Bearer {}", token.text);
    let store = fixture.questioned()?;
    let app = Arc::new(App::new(store, tokens, Limits::default(), |line| {
        black_box(line);
    }));
    let router = app.router();
    let runtime = runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    for _ in rounds {
        for question in questions::recalled() {
            let request = Request::post("/v1/recall")
                .header(header::AUTHORIZATION, &bearer)
                .header(header::CONTENT_TYPE, "application/json")
                .body(Body::from(format!(r#"{{"question":"{question}"}}"#)))?;
            let answer = runtime.block_on(async {
                let answer = router.clone().oneshot(request).await?;
                let status = answer.status();
                let body = to_bytes(answer.into_body(), usize::MAX).await?;
                Result::Ok((status, body))
            })?;
            if !answer.0.is_success() {
                return Err(format!("the server answered {}", answer.0).into());
            }
            black_box(answer.1);
        }
    }
    Ok(())
}
