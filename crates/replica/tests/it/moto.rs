//! A copy in a bucket of a server that speaks S3: moto, which `.ci/tools moto` installs.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use grainstore_replica::Bucket;

use super::store::{Copied, delete, put};

struct Moto {
    process: Child,
    port: u16,
}

impl Moto {
    fn start() -> Self {
        let free = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let process = Command::new(root.join("target/moto/bin/moto_server"))
            .args(["-H", "127.0.0.1", "-p", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let moto = Self { process, port };
        let listens = (0..600).any(|_| {
            std::thread::sleep(Duration::from_millis(100));
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        assert!(listens, "moto does not listen");
        moto.create_bucket("bucket");
        moto
    }

    fn create_bucket(&self, name: &str) {
        let mut connection = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let request = format!(
            "PUT /{name} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
        connection.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        assert!(answer.contains(" 200 "), "{answer}");
    }

    fn bucket(&self, prefix: &str) -> Bucket {
        let endpoint = format!("http://127.0.0.1:{}", self.port);
        let variables = [
            ("AWS_ENDPOINT", endpoint.as_str()),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", "key"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Bucket::open(&format!("s3://bucket/{prefix}"), variables).unwrap()
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

#[test]
#[ignore = "needs moto"]
fn a_bucket_of_s3_has_the_ledger_byte_for_byte() {
    let moto = Moto::start();
    let copied = Copied {
        bucket: moto.bucket("some/prefix"),
        ..Copied::new()
    };
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    runtime.block_on(async {
        let store = copied.store();
        let addresses: Vec<_> = (0..100).map(|n| put(&store, n)).collect();
        let mut shipper = copied.shipper().await.unwrap();
        shipper.pass().await.unwrap();
        copied.fetch("copy").await.unwrap();
        copied.assert_same("copy");
        for nth in 0..70 {
            put(&store, 1_000 + nth);
            shipper.pass().await.unwrap();
        }
        delete(&store, &addresses[50]);
        let shipped = shipper.pass().await.unwrap();
        assert_eq!(shipped.waits, 0);
        assert!(shipped.erased > 0);
        shipper.check().await.unwrap();
        drop(shipper);
        copied.shipper().await.unwrap();
        copied.fetch("copy").await.unwrap();
        copied.assert_same("copy");
        copied.fetch("other").await.unwrap();
        copied.assert_same("other");
    });
}
