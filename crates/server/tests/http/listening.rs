//! Connections: where a server listens, clients that are slow, and an end in the middle of requests.

use grainstore_server::http::{ServeError, Serving};

#[test]
fn a_server_listens_beyond_this_machine_only_behind_a_proxy() {
    for at in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let told = Serving::on(at.parse().unwrap(), false).unwrap_err();
        assert!(matches!(told, ServeError::Exposed { .. }), "{told}");
        assert!(told.to_string().contains("--behind-proxy"), "{told}");
    }
    assert!(Serving::on("127.0.0.1:0".parse().unwrap(), false).is_ok());
    assert!(Serving::on("0.0.0.0:0".parse().unwrap(), true).is_ok());
}
