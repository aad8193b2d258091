//! A client that speaks JSON-RPC to a server in this process, line by line.

use std::collections::VecDeque;

use grainstore::{ContentAddress, Options, Store};
use grainstore_server::Scope;
use grainstore_server::mcp::{Server, serve};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::runtime::Runtime;

/// The revisions of the protocol that the tests speak: one that asks its user by a request of the
/// server, and one without a handshake.
pub(crate) const REVISIONS: [&str; 3] = ["2024-11-05", "2025-06-18", "2025-11-25"];
pub(crate) const STATELESS: &str = "2026-07-28";

pub(crate) struct Client {
    runtime: Runtime,
    lines: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    next: u64,
    /// Answers to requests of the server, in their order.
    pub(crate) says: VecDeque<Value>,
    /// Requests of the server that were answered.
    pub(crate) asked: Vec<Value>,
    /// What every request carries, at a revision without a handshake.
    meta: Option<Value>,
}

/// Returns an empty store.
pub(crate) fn store() -> Store {
    Store::in_memory(Options::default()).unwrap()
}

impl Client {
    /// Connects without a word.
    pub(crate) fn silent(scope: Scope) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(theirs);
        runtime.spawn(serve(Server::new(scope), reader, writer));
        let (reader, writer) = tokio::io::split(ours);
        Self {
            runtime,
            lines: BufReader::new(reader),
            writer,
            next: 0,
            says: VecDeque::new(),
            asked: Vec::new(),
            meta: None,
        }
    }

    /// Connects and shakes hands, at the latest revision that does.
    pub(crate) fn new(scope: Scope) -> Self {
        Self::at(scope, REVISIONS[2], json!({}))
    }

    /// Connects to the owner's scope of a store.
    pub(crate) fn of(store: &Store) -> Self {
        Self::new(Scope::owner(store.clone()))
    }

    /// Connects and shakes hands, if the revision has a handshake.
    pub(crate) fn at(scope: Scope, revision: &str, capabilities: Value) -> Self {
        let mut client = Self::silent(scope);
        if revision == STATELESS {
            client.meta = Some(json!({
                "io.modelcontextprotocol/protocolVersion": revision,
                "io.modelcontextprotocol/clientCapabilities": capabilities,
                "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            }));
            return client;
        }
        let said = client.ask(
            "initialize",
            json!({
                "protocolVersion": revision,
                "capabilities": capabilities,
                "clientInfo": { "name": "test", "version": "1" },
            }),
        );
        assert_eq!(said["result"]["protocolVersion"], revision, "{said}");
        client
            .write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        client
    }

    /// Writes a line.
    pub(crate) fn write(&mut self, line: &str) {
        let write = async {
            self.writer.write_all(line.as_bytes()).await.unwrap();
            self.writer.write_all(b"\n").await.unwrap();
        };
        self.runtime.block_on(write);
    }

    pub(crate) fn read(&mut self) -> Value {
        let mut line = String::new();
        self.runtime
            .block_on(self.lines.read_line(&mut line))
            .unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Sends a request and returns the response; requests of the server are answered from `says`.
    pub(crate) fn ask(&mut self, method: &str, mut params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.write(&request.to_string());
        loop {
            let message = self.read();
            if message["id"] == id && message["method"].is_null() {
                return message;
            }
            if !message["method"].is_null() && !message["id"].is_null() {
                let result = self.says.pop_front().unwrap();
                let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
                self.asked.push(message);
                self.write(&answer.to_string());
            }
        }
    }

    /// Returns the result of a request.
    #[track_caller]
    pub(crate) fn result(&mut self, method: &str, params: Value) -> Value {
        let said = self.ask(method, params);
        assert!(said["error"].is_null(), "{said}");
        said["result"].clone()
    }

    /// Calls a tool and returns its result, failed or not.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.result(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        )
    }

    /// Calls a tool that must succeed, and returns its structured content.
    #[track_caller]
    pub(crate) fn ok(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{result}");
        result["structuredContent"].clone()
    }

    /// Calls a tool that must refuse, and returns the text that the model reads.
    #[track_caller]
    pub(crate) fn refused(&mut self, tool: &str, arguments: Value, code: &str) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{result}");
        assert_eq!(result["_meta"]["error"]["code"], code, "{result}");
        // A client may show it in place of the text.
        assert!(result["structuredContent"].is_null(), "{result}");
        text(&result)
    }

    /// Remembers a note and returns its address.
    pub(crate) fn note(&mut self, text: &str) -> String {
        let stored = self.ok("remember", json!({ "text": text }));
        stored["address"].as_str().unwrap().to_owned()
    }
}

/// Returns the text of a result.
pub(crate) fn text(result: &Value) -> String {
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

pub(crate) fn parsed(address: &Value) -> ContentAddress {
    address.as_str().unwrap().parse().unwrap()
}
