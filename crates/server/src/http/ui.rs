//! The files of the inspector, built into the program: plain HTML, CSS and JavaScript of this crate.
//!
//! They hold no content of the store: the page asks `/v1` for it, with the token of its user. The
//! policy of the page lets no script in but its own files, and no request to another host.

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Response, StatusCode, header};
use axum::routing::get;

use super::answer::plain;

const FILES: &[(&str, &str, &str)] = &[
    ("/ui/", HTML, include_str!("../../ui/index.html")),
    ("/ui/icon.svg", SVG, include_str!("../../ui/icon.svg")),
    ("/ui/style.css", CSS, include_str!("../../ui/style.css")),
    ("/ui/app.js", JS, include_str!("../../ui/app.js")),
    ("/ui/api.js", JS, include_str!("../../ui/api.js")),
    ("/ui/dom.js", JS, include_str!("../../ui/dom.js")),
    ("/ui/keys.js", JS, include_str!("../../ui/keys.js")),
    ("/ui/filters.js", JS, include_str!("../../ui/filters.js")),
    ("/ui/listing.js", JS, include_str!("../../ui/listing.js")),
    ("/ui/overview.js", JS, include_str!("../../ui/overview.js")),
    ("/ui/search.js", JS, include_str!("../../ui/search.js")),
    ("/ui/grain.js", JS, include_str!("../../ui/grain.js")),
    ("/ui/graph.js", JS, include_str!("../../ui/graph.js")),
    ("/ui/drawing.js", JS, include_str!("../../ui/drawing.js")),
    ("/ui/persons.js", JS, include_str!("../../ui/persons.js")),
    ("/ui/person.js", JS, include_str!("../../ui/person.js")),
    ("/ui/threads.js", JS, include_str!("../../ui/threads.js")),
    ("/ui/changes.js", JS, include_str!("../../ui/changes.js")),
    ("/ui/growth.js", JS, include_str!("../../ui/growth.js")),
    ("/ui/imports.js", JS, include_str!("../../ui/imports.js")),
    ("/ui/audit.js", JS, include_str!("../../ui/audit.js")),
];

/// Returns the routes of the files.
pub(super) fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let to_page = || async {
        let mut response = plain(200, "text/plain", String::new());
        *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
        let at = HeaderValue::from_static("/ui/");
        response.headers_mut().insert(header::LOCATION, at);
        response
    };
    let mut router = Router::new()
        .route("/", get(to_page))
        .route("/ui", get(to_page));
    for (path, media, text) in FILES {
        router = router.route(path, get(|| async { file(media, text) }));
    }
    router
}

fn file(media: &'static str, text: &'static str) -> Response<Body> {
    let mut response = plain(200, media, text.to_owned());
    for (name, value) in POLICIES {
        let name = HeaderName::from_static(name);
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SVG: &str = "image/svg+xml";
const JS: &str = "text/javascript; charset=utf-8";

/// No inline script or style, no other host, no frame, no form that leaves; `blob:` is for files
/// that the person saves.
const POLICIES: &[(&str, &str)] = &[
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
         img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'",
    ),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];
