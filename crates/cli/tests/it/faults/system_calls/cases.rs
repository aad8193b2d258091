//! The commands that are disturbed, each on a copy of the same store and the files beside it.
//!
//! A case names what the command acknowledges by its exit.

use std::fs;
use std::path::Path;

use crate::command::{Home, belief, event};

/// A directory with a store, an earlier backup of it and files to read.
pub(super) struct Template {
    home: Home,
    /// Every grain but those that a case deletes.
    pub(super) kept: Vec<String>,
    victim: String,
    due: Vec<String>,
    /// Grains that were stored when the backup was made.
    pub(super) backed_up: Vec<String>,
    imported: Vec<String>,
}

/// One command.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) args: Vec<String>,
    pub(super) stdin: String,
    /// The store it works on.
    pub(super) store: &'static str,
    pub(super) effect: Effect,
}

/// The meaning of a success of the command.
pub(super) enum Effect {
    /// These grains are stored.
    Stores(Vec<String>),
    /// These grains are gone, and this word with them.
    Deletes(Vec<String>, &'static str),
    /// This grain is superseded.
    Supersedes(String),
    /// This directory is a store with these grains.
    Copies(&'static str, Vec<String>),
    /// This file holds so many lines.
    Writes(&'static str, usize),
    /// The store holds the same.
    Nothing,
}

impl Template {
    pub(super) fn new() -> Self {
        let home = Home::new();
        let lines = |from: u64, to: u64| -> String {
            (from..to)
                .map(|n| event(&format!("tea number {n}"), n))
                .collect()
        };
        let mut kept = home.put(&lines(1, 20));
        let victim = home.put(&event("the password is swordfish", 90)).remove(0);
        let grant = consent("false", "");
        let grant = home.put(&grant).remove(0);
        let resting: String = (0..3)
            .map(|n| {
                let line = belief("ada", "says swordfish", &format!("{n}"));
                let basis = format!(",\"processing_basis\":\"{grant}\"}}\n");
                line.replace("}\n", &basis)
            })
            .collect();
        let due = home.put(&resting);
        home.ok(&["backup", "old"]);
        let mut backed_up = kept.clone();
        let withdrawal = consent("true", &format!(",\"prior_consent\":\"{grant}\""));
        kept.extend(home.put(&withdrawal));
        backed_up.push(grant.clone());
        kept.push(grant);
        kept.extend(home.put(&lines(20, 24)));
        // The file that is imported, made by another store.
        let input = lines(100, 104);
        let other = home.run_with(&["--store", "other", "put", "-"], &input);
        let imported = other.stdout.lines().map(str::to_owned).collect();
        home.ok(&[
            "--store", "other", "export", "--format", "mg", "-o", "in.mg",
        ]);
        fs::remove_dir_all(home.path("other")).unwrap();
        let first = &kept[0];
        let newer = event("tea, newer", 200)
            .replace("}\n", &format!(",\"derived_from\":[\"{first}\"]}}\n"));
        home.write("newer.json", newer);
        Self {
            home,
            kept,
            victim,
            due,
            backed_up,
            imported,
        }
    }

    /// Returns a copy of the directory.
    pub(super) fn copy(&self) -> Home {
        let home = Home::new();
        copy(&self.home.path("."), &home.path("."));
        home
    }
}

impl Case {
    pub(super) fn all(of: &Template) -> Vec<Self> {
        const WHY: &[&str] = &["--yes", "--reason", "asked", "--authority", "the office"];
        let lines: String = (300..303).map(|n| event(&format!("new {n}"), n)).collect();
        let stored = || {
            let home = Home::new();
            home.put(&lines)
        };
        let case = |name, args: &[&str], effect| Self {
            name,
            args: args.iter().map(|word| (*word).to_owned()).collect(),
            stdin: lines.clone(),
            store: "memory.grains",
            effect,
        };
        let everything = || [&of.kept[..], &of.due, std::slice::from_ref(&of.victim)].concat();
        // Grains that rest on a withdrawn consent are not exported.
        let exported = of.copy().ok(&["export", "--format", "jsonl"]);
        let exported = exported.matches('\n').count();
        vec![
            case("put", &["put", "-"], Effect::Stores(stored())),
            Self {
                store: "fresh",
                ..case(
                    "put into a new store",
                    &["--store", "fresh", "put", "-"],
                    Effect::Stores(stored()),
                )
            },
            case(
                "import",
                &["import", "in.mg"],
                Effect::Stores(of.imported.clone()),
            ),
            case(
                "delete",
                &[&["delete", &of.victim], WHY].concat(),
                Effect::Deletes(vec![of.victim.clone()], "is swordfish"),
            ),
            case(
                "consent run",
                &[&["consent", "run"], WHY].concat(),
                Effect::Deletes(of.due.clone(), "says swordfish"),
            ),
            case(
                "supersede",
                &["supersede", &of.kept[0], "newer.json"],
                Effect::Supersedes(of.kept[0].clone()),
            ),
            case("compact", &["compact"], Effect::Nothing),
            case("repair", &["check", "--repair"], Effect::Nothing),
            case(
                "backup",
                &["backup", "new"],
                Effect::Copies("new", everything()),
            ),
            case(
                "backup again",
                &["backup", "old"],
                Effect::Copies("old", everything()),
            ),
            case(
                "restore",
                &["restore", "old", "restored"],
                Effect::Copies("restored", of.backed_up.clone()),
            ),
            case(
                "export",
                &["export", "--format", "jsonl", "-o", "out.jsonl"],
                Effect::Writes("out.jsonl", exported),
            ),
        ]
    }

    /// Returns the grains that are there whatever happens.
    pub(super) fn kept(&self, of: &Template) -> Vec<String> {
        if self.store == "fresh" {
            return Vec::new();
        }
        let deleted: &[String] = match &self.effect {
            Effect::Deletes(gone, _) => gone,
            _ => &[],
        };
        let all = [&of.kept[..], &of.due, std::slice::from_ref(&of.victim)].concat();
        all.into_iter()
            .filter(|one| !deleted.contains(one))
            .collect()
    }
}

fn consent(is_withdrawal: &str, more: &str) -> String {
    format!(
        "{{\"type\":\"consent\",\"subject_did\":\"did:web:ada.example\",\
         \"grantee_did\":\"did:web:bot.example\",\"scope\":[\"store\"],\"created_at\":1,\
         \"is_withdrawal\":{is_withdrawal}{more}}}\n"
    )
}

/// Copies a directory and what is in it.
pub(super) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for item in fs::read_dir(from).unwrap() {
        let item = item.unwrap();
        let target = to.join(item.file_name());
        if item.file_type().unwrap().is_dir() {
            copy(&item.path(), &target);
        } else {
            fs::copy(item.path(), target).unwrap();
        }
    }
}
