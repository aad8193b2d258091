//! Several servers on one directory, some of them killed: the histories of their clients are those of one
//! register for each address, and each answer holds all that was acknowledged when it was asked.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, RwLock};
use std::thread;
use std::time::Duration;

use grainstore::codec::Profile;
use grainstore::{ContentAddress, Draft, Time};
use serde_json::{Value, json};

use crate::command::Home;
use crate::faces::serve::Served;
use crate::linear::clients::{Client, Size, run};
use crate::linear::history::{Reads, violations};
use crate::linear::register::{Answer, Ask};

/// A server that another takes the place of when it is killed.
type Place = Arc<RwLock<Served>>;

/// The names of the grains of the history, and their numbers.
#[derive(Default)]
struct Names {
    addresses: HashMap<usize, String>,
    numbers: HashMap<String, usize>,
}

struct OfServer {
    place: Place,
    names: Arc<Mutex<Names>>,
}

/// Returns the grain of a number, which has one address wherever it is put.
fn grain(number: usize) -> Draft {
    let time = Time::from_ms(1_700_000_000_000);
    let grain = Draft::event(format!("number {number}")).created_at(time);
    grain.author("did:web:bot.acme.example")
}

impl OfServer {
    fn path(&self, number: usize, rest: &str) -> String {
        format!(
            "/v1/grains/{}{rest}",
            self.names.lock().unwrap().addresses[&number]
        )
    }

    fn found(&self, body: &str) -> Answer {
        let body: Value = serde_json::from_str(body).unwrap();
        let by = body["status"]["superseded_by"].as_str();
        Answer::Found(by.map(|by| self.names.lock().unwrap().numbers[by]))
    }

    /// Returns a grain in the place of another. Its name is known before it is sent.
    fn superseding(&self, old: usize, new: usize) -> Value {
        let mut names = self.names.lock().unwrap();
        let old: ContentAddress = names.addresses[&old].parse().unwrap();
        json!({ "grain": names.name(new, grain(new).derived_from(old)) })
    }
}

impl Names {
    /// Numbers a grain, and returns it as a request has it.
    fn name(&mut self, number: usize, grain: Draft) -> Value {
        let grain = grain.finish(Profile::Extended).unwrap();
        let address = grain.address().to_string();
        self.addresses.insert(number, address.clone());
        self.numbers.insert(address, number);
        let hex: String = grain
            .blob()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        json!({ "blob": hex })
    }
}

impl Client for OfServer {
    fn ask(&mut self, number: usize, ask: Ask) -> Option<Answer> {
        let why = json!({ "reason": "asked for", "authority": "the owner" });
        let (method, path, body) = match ask {
            Ask::Get => ("GET", self.path(number, ""), Value::Null),
            Ask::Put => {
                let body = self.names.lock().unwrap().name(number, grain(number));
                ("POST", "/v1/grains".to_owned(), body)
            }
            Ask::Delete => ("POST", self.path(number, "/delete"), why),
            Ask::Supersede(new) => {
                let path = self.path(number, "/supersede");
                ("POST", path, self.superseding(number, new))
            }
        };
        let answer = self.place.read().unwrap().ask(method, &path, &body);
        let (status, body) = answer?;
        Some(match (ask, status) {
            (Ask::Get, 200) => self.found(&body),
            (_, 200) => Answer::Done,
            (Ask::Put, 410) => Answer::WasErased,
            (_, 404 | 410) => Answer::Missing,
            (Ask::Supersede(_), 409) => Answer::Conflict,
            // After these the outcome is unknown.
            (_, 408 | 503) => return None,
            _ => {
                assert_eq!(status, 200, "{method} {path}: {body}");
                return None;
            }
        })
    }
}

#[test]
fn several_servers_on_one_directory_answer_as_registers() {
    let home = Home::new();
    home.ok(&["init"]);
    let size = Size {
        seed: 5,
        operations: OPERATIONS.parse().unwrap(),
    };
    let serve = || Served::with(&home, "read,write,erase", &[]);
    let places: Vec<Place> = (0..SERVERS)
        .map(|_| Arc::new(RwLock::new(serve())))
        .collect();
    let names: Arc<Mutex<Names>> = Arc::default();
    for number in 0..size.grains() {
        names.lock().unwrap().name(number, grain(number));
    }
    let clients = (0..SERVERS * 2).map(|client| {
        let of = OfServer {
            place: Arc::clone(&places[client % SERVERS]),
            names: Arc::clone(&names),
        };
        (client % SERVERS, of)
    });
    let clients = clients.collect();
    let operations = thread::scope(|scope| {
        let working = scope.spawn(|| run(clients, size, || ()));
        let mut kills = 0;
        while !working.is_finished() && kills < KILLS {
            thread::sleep(Duration::from_millis(700));
            let place = &places[kills % SERVERS];
            place.read().unwrap().signal("KILL");
            *place.write().unwrap() = serve();
            kills += 1;
        }
        working.join().unwrap()
    });
    let answered = operations
        .iter()
        .filter(|operation| operation.answered.is_some())
        .count();
    println!("{} operations, {answered} answered", operations.len());
    assert!(answered * 2 > operations.len());
    let found = violations(&operations, Reads::Fresh);
    assert!(found.is_empty(), "{}", found.join("\n"));
    drop(places);
    home.ok(&["check", "--deep"]);
}

const SERVERS: usize = 3;
const KILLS: usize = 4;
/// The operations of each client; `GRAINSTORE_HISTORY` overrides it at compile time.
const OPERATIONS: &str = match option_env!("GRAINSTORE_HISTORY") {
    Some(operations) => operations,
    None => "60",
};
