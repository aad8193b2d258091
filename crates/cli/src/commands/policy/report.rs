//! The policy report as Markdown and as JSON (OMS Appendix D).
//!
//! Which articles are covered, and how, is stated by the library.

use grainstore::store::{ClauseReport, PolicyReport};
use serde_json::{Value, json};

pub(super) fn report_json(report: &PolicyReport) -> Value {
    let articles = report.articles.iter().map(|article| {
        let shown = article.shown_by.iter();
        let shown = shown.map(|name| (*name, report.counts.get(name).copied().unwrap_or(0)));
        json!({
            "law": article.law,
            "article": article.article,
            "about": article.about,
            "held": article.held.name(),
            "how": article.how,
            "counts": shown.collect::<std::collections::BTreeMap<_, _>>(),
        })
    });
    let clauses = report.clauses.iter().map(|clause| {
        json!({
            "clause": clause.name,
            "cites": clause.cites,
            "says": clause.says,
            "missing": clause.missing,
            "broken_by": clause.broken_by,
        })
    });
    json!({
        "counts": report.counts,
        "articles": articles.collect::<Vec<_>>(),
        "clauses": clauses.collect::<Vec<_>>(),
    })
}

pub(super) fn markdown(report: &PolicyReport) -> Vec<String> {
    let mut lines = vec![
        "# Policy report".to_owned(),
        String::new(),
        "| law | article | subject | coverage | implementation | counts |".to_owned(),
        "| --- | --- | --- | --- | --- | --- |".to_owned(),
    ];
    for article in &report.articles {
        let counts = article.shown_by.iter();
        let counts = counts.map(|name| {
            let count = report.counts.get(name).copied().unwrap_or(0);
            format!("{name} {count}")
        });
        lines.push(format!(
            "| {} | {} | {} | {} | {} | {} |",
            article.law,
            article.article,
            article.about,
            article.held.name(),
            article.how,
            counts.collect::<Vec<_>>().join(", ")
        ));
    }
    let stored = |(name, count): &(&&str, &u64)| **count > 0 && name.contains(", not ");
    let mut stored = report.counts.iter().filter(stored).peekable();
    if stored.peek().is_some() {
        lines.push(String::new());
        lines.push("Stored as written, without effect:".to_owned());
        lines.push(String::new());
        lines.extend(stored.map(|(name, count)| format!("- {name}: {count}")));
    }
    if !report.clauses.is_empty() {
        lines.push(String::new());
        lines.push("| clause | source | requirement | coverage | violated by |".to_owned());
        lines.push("| --- | --- | --- | --- | --- |".to_owned());
        lines.extend(report.clauses.iter().map(clause_line));
    }
    lines
}

fn clause_line(clause: &ClauseReport) -> String {
    let held = match clause.missing {
        Some(missing) => format!("not enforced: no {missing} yet"),
        None => "enforced".to_owned(),
    };
    format!(
        "| {} | {} | {} | {held} | {} |",
        clause.name, clause.cites, clause.says, clause.broken_by
    )
}
