//! More connections than a server takes, and none left of the descriptors that it may have: who comes too
//! much is told so, and the others go on.

use std::fs;
use std::io::Write;
use std::net::TcpStream;

use crate::command::Home;
use crate::faces::serve::{Served, answer};

/// Asks who it is, on a connection.
fn ask(served: &Served, stream: &mut TcpStream) -> Option<(u16, String)> {
    let request = format!(
        "GET /v1/token HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n\r\n",
        served.token
    );
    // One that is turned away may be closed before.
    stream.write_all(request.as_bytes()).ok()?;
    answer(stream)
}

/// Opens connections until one is turned away, and returns those before.
fn crowd(served: &Served, most: usize) -> Vec<TcpStream> {
    let mut open = Vec::new();
    loop {
        let mut stream = served.connect();
        match ask(served, &mut stream).unwrap() {
            (200, _) => open.push(stream),
            (status, told) => {
                assert_eq!(status, 503, "{told}");
                assert!(
                    told.contains("ERR_BUSY") && told.contains("retry_after"),
                    "{told}"
                );
                return open;
            }
        }
        assert!(open.len() <= most, "nobody is turned away");
    }
}

#[test]
fn who_finds_no_connection_or_no_descriptor_is_told_to_come_again_and_the_others_go_on() {
    let home = Home::new();
    let served = Served::with(&home, "read", &[]);
    ask(&served, &mut served.connect()).unwrap();
    // What a server has open that answers nobody.
    let own = fs::read_dir(format!("/proc/{}/fd", served.id()))
        .unwrap()
        .count();
    drop(served);
    // Half of the descriptors are for connections: they end first, or what the server has open anyway
    // leaves fewer.
    for descriptors in [2 * own + 8, own + 6] {
        let served = Served::within(&home, descriptors);
        let mut open = crowd(&served, descriptors);
        let (most, found) = (descriptors.div_ceil(2), open.len());
        assert_eq!(
            found == most,
            descriptors > 2 * own,
            "{found} of {descriptors}"
        );
        // The next ones, too.
        for _ in 0..3 {
            open.extend(crowd(&served, 1));
        }
        for stream in &mut open {
            assert_eq!(ask(&served, stream).unwrap().0, 200);
        }
        drop(open);
        // Once they are gone, there is room.
        let mut tries = std::iter::repeat_with(|| ask(&served, &mut served.connect()));
        let is_let_in = tries
            .by_ref()
            .take(1_000)
            .any(|told| told.is_some_and(|it| it.0 == 200));
        assert!(is_let_in, "{descriptors}");
    }
}
