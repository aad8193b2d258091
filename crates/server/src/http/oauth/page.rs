//! The page on which a person lets a client in: no script, no file of another host, no frame.

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Response, header};
use grainstore::render::escaped;

use crate::http::answer::plain;

/// What the page asks about, and the fields that it sends back.
pub(super) struct Question<'a> {
    pub(super) client: &'a str,
    pub(super) redirect_uri: &'a str,
    pub(super) fields: &'a [(String, String)],
    /// What was wrong with the answer before.
    pub(super) error: Option<&'a str>,
}

pub(super) fn question(asked: &Question<'_>) -> Response<Body> {
    let mut hidden = String::new();
    for (name, value) in asked.fields {
        let (name, value) = (html(name), html(value));
        hidden.push_str(&format!(
            "<input type=hidden name=\"{name}\" value=\"{value}\">\n"
        ));
    }
    let error = asked
        .error
        .map(|error| format!("<p role=alert>{}</p>\n", html(error)));
    let host = asked.redirect_uri.split('/').nth(2).unwrap_or_default();
    page(&format!(
        "<h1>Let a client use this store?</h1>\n\
         <p><b>{}</b> asks for access. You are sent back to <b>{}</b>.</p>\n\
         <p>It may do what the token that you show may do, until you revoke that one.</p>\n{}\
         <form method=post action=/oauth/authorize>\n{hidden}\
         <p><label>A token of <code>grainstore token add</code><br>\n\
         <input type=password name=token size=60 autocomplete=off></label></p>\n\
         <p><button name=answer value=allow>Allow</button>\n\
         <button name=answer value=deny>Deny</button></p>\n</form>",
        html(asked.client),
        html(host),
        error.unwrap_or_default(),
    ))
}

/// Says why there is nothing to answer.
pub(super) fn refusal(why: &str) -> Response<Body> {
    let mut response = page(&format!("<h1>Not possible</h1>\n<p>{}</p>", html(why)));
    *response.status_mut() = axum::http::StatusCode::BAD_REQUEST;
    response
}

fn page(body: &str) -> Response<Body> {
    let text = format!(
        "<!doctype html>\n<html lang=en><head><meta charset=utf-8>\
         <meta name=viewport content=\"width=device-width\"><title>grainstore</title></head>\n\
         <body>\n{body}\n</body></html>\n"
    );
    let mut response = plain(200, "text/html; charset=utf-8", text);
    let headers = response.headers_mut();
    for (name, value) in [
        // No form-action: browsers apply it to where the answer sends the person.
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
        ),
        // Without any referrer a browser hides from the server whose page answers, too.
        (header::REFERRER_POLICY, "same-origin"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (header::X_FRAME_OPTIONS, "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

fn html(text: &str) -> String {
    let mut safe = String::new();
    for c in escaped(text).chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}
