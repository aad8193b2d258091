//! Which file of `src/` imports from which: `use` declarations and paths written in the code.
//!
//! A name is followed through re-exports to the file that defines it, so that a `mod.rs` which
//! passes names on is no import of anything. Test modules do not count, and neither do macros.

use std::collections::{BTreeMap, BTreeSet};

use super::files;
use super::limits::assert_few;

/// A module by the names that lead to it from the root of the crate.
pub(super) type Module = Vec<String>;

#[test]
fn an_import_circle_has_few_files() {
    let edges = Tree::of_src().edges();
    let circle = largest_circle(&edges);
    let files: Vec<_> = circle.iter().map(|module| module.join("::")).collect();
    assert_few("files in the largest import circle", &files);
}

/// The largest set of modules each of which reaches each other one by imports.
fn largest_circle(edges: &BTreeMap<Module, BTreeSet<Module>>) -> BTreeSet<&Module> {
    let reached: BTreeMap<&Module, BTreeSet<&Module>> = edges
        .keys()
        .map(|module| {
            let mut reached = BTreeSet::new();
            let mut pending = vec![module];
            while let Some(next) = pending.pop() {
                let targets = edges.get(next).into_iter().flatten();
                pending.extend(targets.filter(|target| reached.insert(*target)));
            }
            (module, reached)
        })
        .collect();
    let circles = reached.iter().map(|(module, targets)| {
        let reaches_back = |target: &&&Module| reached[**target].contains(module);
        targets.iter().filter(reaches_back).copied().collect()
    });
    circles.max_by_key(BTreeSet::len).unwrap_or_default()
}

/// The modules of a crate, each in a file of its own.
pub(super) struct Tree {
    modules: BTreeMap<Module, Names>,
}

/// The names that a module imports and the paths that it writes.
#[derive(Default)]
struct Names {
    imports: BTreeMap<String, Vec<String>>,
    paths: BTreeSet<Vec<String>>,
}

impl Tree {
    pub(super) fn of_src() -> Self {
        let files = files("src", "rs");
        Self::new(files.iter().map(|file| (&*file.path, &*file.text)))
    }

    /// Makes the tree of files by their paths, such as `src/store/mod.rs`.
    fn new<'a>(files: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let mut modules = BTreeMap::new();
        let mut tests = BTreeSet::new();
        for (path, text) in files {
            let path = path.trim_start_matches("src/").trim_end_matches(".rs");
            let mut module: Module = path.split('/').map(str::to_owned).collect();
            module.pop_if(|last| last == "mod" || last == "lib");
            let code = without_comments(text);
            let tokens = tokens(&code);
            let (tokens, declared) = without_tests(&tokens);
            tests.extend(declared.into_iter().map(|name| {
                let child: Module = module.iter().cloned().chain([name]).collect();
                child
            }));
            modules.insert(module, Names::of(&tokens));
        }
        modules.retain(|module, _| !tests.contains(module));
        Self { modules }
    }

    /// Returns from which modules each module imports.
    pub(super) fn edges(&self) -> BTreeMap<Module, BTreeSet<Module>> {
        let edges = self.modules.iter().map(|(module, names)| {
            let mut targets: BTreeSet<Module> = names
                .paths
                .iter()
                .filter_map(|path| self.resolve(module, path, 0))
                .collect();
            targets.remove(module);
            (module.clone(), targets)
        });
        edges.collect()
    }

    /// Returns the module that defines the end of a path, unless it is outside the crate.
    fn resolve(&self, from: &[String], path: &[String], depth: usize) -> Option<Module> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.below(Vec::new(), rest, depth),
            "self" => self.below(from.to_vec(), rest, depth),
            "super" => {
                let (_, parent) = from.split_last()?;
                let rest_from_parent = rest.first().is_some_and(|next| next == "super");
                match rest_from_parent {
                    true => self.resolve(parent, rest, depth),
                    false => self.below(parent.to_vec(), rest, depth),
                }
            }
            _ => {
                let is_child = self.modules.contains_key(&child(from, first));
                is_child.then(|| self.below(from.to_vec(), path, depth))?
            }
        }
    }

    /// Walks a path down from a module, through what modules on the way import from elsewhere.
    fn below(&self, module: Module, path: &[String], depth: usize) -> Option<Module> {
        let Some((first, rest)) = path.split_first() else {
            return Some(module);
        };
        let child = child(&module, first);
        if self.modules.contains_key(&child) {
            return self.below(child, rest, depth);
        }
        let imported = self.modules.get(&module)?.imports.get(first);
        match imported {
            // The limit ends a name that is imported in a circle.
            Some(imported) if depth < 16 => {
                let path: Vec<_> = imported.iter().chain(rest).cloned().collect();
                self.resolve(&module, &path, depth + 1)
            }
            _ => Some(module),
        }
    }
}

fn child(module: &[String], name: &str) -> Module {
    module.iter().cloned().chain([name.to_owned()]).collect()
}

impl Names {
    fn of(tokens: &[&str]) -> Self {
        let mut names = Self::default();
        let mut at = 0;
        while at < tokens.len() {
            let before = at.checked_sub(1).map_or("", |before| tokens[before]);
            if tokens[at] == "use" && is_start(before) {
                let is_passed_on = before == "pub" || before == ")";
                at = names.read_use(tokens, at + 1, &[], is_passed_on);
            } else if is_name(tokens[at]) && !["::", ".", "in"].contains(&before) {
                let mut path = vec![tokens[at].to_owned()];
                while tokens.get(at + 1) == Some(&"::")
                    && tokens.get(at + 2).is_some_and(|next| is_name(next))
                {
                    path.push(tokens[at + 2].to_owned());
                    at += 2;
                }
                if path.len() > 1 {
                    names.paths.insert(path);
                }
            }
            at += 1;
        }
        names
    }

    /// Reads one tree of a `use` declaration; returns where it ends.
    ///
    /// A name that is passed on is none that the module itself uses.
    fn read_use(
        &mut self,
        tokens: &[&str],
        mut at: usize,
        before: &[String],
        is_passed_on: bool,
    ) -> usize {
        let mut path = before.to_vec();
        let mut name = None;
        loop {
            match tokens.get(at).copied() {
                Some("::") => {}
                Some("as") => {
                    at += 1;
                    name = tokens.get(at).map(|name| (*name).to_owned());
                }
                Some("{") => {
                    while !matches!(tokens.get(at), Some(&"}") | None) {
                        at = self.read_use(tokens, at + 1, &path, is_passed_on);
                    }
                    return at + 1;
                }
                Some("*") => name = Some("*".into()),
                Some("self") if !path.is_empty() => {}
                Some(word) if is_name(word) => path.push(word.to_owned()),
                _ => break,
            }
            at += 1;
        }
        if path.len() > before.len() || name.is_some() || tokens.get(at - 1) == Some(&"self") {
            if !is_passed_on {
                self.paths.insert(path.clone());
            }
            if let Some(name) = name.or_else(|| path.last().cloned()) {
                self.imports.insert(name, path);
            }
        }
        at
    }
}

fn is_start(before: &str) -> bool {
    ["", ";", "}", "{", "]", "pub", ")"].contains(&before)
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Splits code into words, `::` and single characters.
pub(super) fn tokens(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let len = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        if !first.is_whitespace() {
            tokens.push(&rest[..len]);
        }
        rest = &rest[len..];
    }
    tokens
}

/// Takes away what stands behind `#[cfg(test)]`; returns the modules that are declared so.
fn without_tests<'a>(tokens: &[&'a str]) -> (Vec<&'a str>, Vec<String>) {
    const MARK: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let (mut kept, mut declared) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < tokens.len() {
        if !tokens[at..].starts_with(&MARK) {
            kept.push(tokens[at]);
            at += 1;
            continue;
        }
        let item = &tokens[at..];
        let end = item.iter().position(|token| [";", "{"].contains(token));
        let end = end.unwrap_or(item.len() - 1);
        if let Some(name) = item[..end].iter().position(|token| *token == "mod") {
            declared.push(item[name + 1].to_owned());
        }
        at += end + 1;
        let mut depth = usize::from(item[end] == "{");
        while depth > 0 && at < tokens.len() {
            depth += usize::from(tokens[at] == "{");
            depth -= usize::from(tokens[at] == "}");
            at += 1;
        }
    }
    (kept, declared)
}

/// Takes away comments and what is inside string and character literals.
pub(super) fn without_comments(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let literal = raw_string(rest).or_else(|| match first {
            '"' => Some(quoted(rest, '"')),
            '\'' if rest[1..].starts_with('\\') => Some(quoted(rest, '\'')),
            '\'' => {
                let len = 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
                rest[len..].starts_with('\'').then_some(len + 1)
            }
            _ => None,
        });
        let len = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(len) = literal {
            code.push_str("\"\"");
            len
        } else {
            code.push(first);
            first.len_utf8()
        };
        rest = &rest[len..];
    }
    code
}

/// How long the raw string is with which a text begins, if it does.
fn raw_string(text: &str) -> Option<usize> {
    let body = text.strip_prefix("br").or_else(|| text.strip_prefix('r'))?;
    let hashes = body.len() - body.trim_start_matches('#').len();
    body[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let start = text.len() - body.len() + hashes + 1;
    let len = text[start..].find(&end).map(|len| start + len + end.len());
    Some(len.unwrap_or(text.len()))
}

/// How long the literal is with which a text begins.
fn quoted(text: &str, end: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == end => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

#[test]
fn imports_are_followed_through_re_exports_to_the_files_that_define_them() {
    let tree = Tree::new(
        [
            ("src/lib.rs", "mod a; mod b; pub use b::deep::Thing;"),
            (
                "src/a.rs",
                "use crate::{Thing, b::{self, other}}; fn f() { b::g() }",
            ),
            (
                "src/b/mod.rs",
                "mod deep; mod other; pub(crate) use deep::{Thing as Renamed};",
            ),
            (
                "src/b/deep.rs",
                "use super::other; use super::super::a::X; use std::fmt;",
            ),
            (
                "src/b/other.rs",
                "// use crate::a;\nconst A: &str = \"crate::a::X\"; #[cfg(test)] mod tests {\
                 use super::*; use crate::a; } fn f<'a>(_: super::Renamed, _: char) { '\"'; }",
            ),
        ]
        .into_iter(),
    );
    let edges = tree.edges();
    let of = |module: &str| -> Vec<String> {
        let module: Module = module.split("::").map(str::to_owned).collect();
        edges[&module]
            .iter()
            .map(|target| target.join("::"))
            .collect()
    };
    assert_eq!(of("a"), ["b", "b::deep", "b::other"]);
    assert_eq!(of("b"), [""; 0], "what is passed on is not used");
    assert_eq!(of("b::deep"), ["a", "b::other"]);
    assert_eq!(of("b::other"), ["b::deep"]);
    assert_eq!(largest_circle(&edges).len(), 3);
}
