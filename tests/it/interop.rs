//! Signatures against another implementation: Python's `cryptography`.

use std::process::Command;

use grainstore::codec::Profile;
use grainstore::crypto::{Algorithm, Envelope, Offline};
use grainstore::grain::{Draft, Grain, Time};

use crate::signing::key;

fn grain() -> Grain {
    let draft = Draft::event("signed here, read there").created_at(Time::from_ms(1));
    draft.to_be_signed().finish(Profile::Extended).unwrap()
}

/// Runs the script of the other side.
fn python(arguments: &[&str]) -> String {
    let mut command = Command::new("python3");
    let output = command
        .args(["-c", SCRIPT])
        .args(arguments)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn hex(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(bytes)
}

#[test]
#[ignore = "needs python3 with cryptography"]
fn what_is_signed_here_verifies_there() {
    for algorithm in [Algorithm::Ed25519, Algorithm::P256] {
        let key = key(algorithm, 7);
        let bytes = Envelope::sign(grain().blob(), &key, &key.did(), Some(1)).unwrap();
        let public = hex(&key.verifying_key().to_bytes());
        let said = python(&["verify", &hex(&bytes), &public]);
        // It read the blob, checked the signature, and changed a byte to see it fail.
        assert_eq!(said, format!("{} {}", hex(grain().blob()), key.did()));
    }
}

#[test]
#[ignore = "needs python3 with cryptography"]
fn what_is_signed_there_verifies_here() {
    for kind in ["ed25519", "p256"] {
        let said = python(&["sign", &hex(grain().blob()), kind]);
        let (did, bytes) = said.split_once(' ').unwrap();
        let bytes = data_encoding::HEXLOWER.decode(bytes.as_bytes()).unwrap();
        let envelope = Envelope::parse(&bytes).unwrap();
        assert_eq!(envelope.address(), grain().address());
        assert_eq!(envelope.iat(), Some(1_737_000_000));
        assert_eq!(envelope.verify(&Offline).unwrap().did.as_str(), did);
    }
}

#[test]
#[ignore = "needs python3 with cryptography"]
fn keys_pass_between_both_sides() {
    for algorithm in [Algorithm::Ed25519, Algorithm::P256] {
        let key = key(algorithm, 9);
        let said = python(&["did", &key.to_pem().unwrap()]);
        assert_eq!(said, key.did().as_str());
    }
}

/// CBOR and base58 written for the purpose, so that nothing is shared with this side.
const SCRIPT: &str = r#"
import sys
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization as s
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, utils

def head(major, n):
    for info, size in ((24, 1), (25, 2), (26, 4)):
        if n < 24: return bytes([major << 5 | n])
        if n < 256 ** size: return bytes([major << 5 | info]) + n.to_bytes(size, "big")
def dump(v):
    if isinstance(v, int): return head(0, v) if v >= 0 else head(1, -1 - v)
    if isinstance(v, bytes): return head(2, len(v)) + v
    if isinstance(v, str): return head(3, len(v.encode())) + v.encode()
    if isinstance(v, list): return head(4, len(v)) + b"".join(map(dump, v))
    return head(5, len(v)) + b"".join(dump(k) + dump(w) for k, w in v.items())
def load(b, i=0):
    major, n = b[i] >> 5, b[i] & 31
    i += 1
    if n > 23:
        size = 1 << (n - 24)
        n, i = int.from_bytes(b[i:i + size], "big"), i + size
    if major < 2: return (n, -1 - n)[major], i
    if major < 4: return (b[i:i + n], b[i:i + n].decode() if major == 3 else 0)[major - 2], i + n
    items = []
    for _ in range(n * (major - 3)):
        item, i = load(b, i)
        items.append(item)
    return items if major == 4 else dict(zip(items[::2], items[1::2])), i
def did(public):
    if isinstance(public, ed25519.Ed25519PublicKey):
        raw = b"\xed\x01" + public.public_bytes(s.Encoding.Raw, s.PublicFormat.Raw)
    else:
        raw = b"\x80\x24" + public.public_bytes(s.Encoding.X962, s.PublicFormat.CompressedPoint)
    n, out = int.from_bytes(raw, "big"), ""
    while n:
        n, r = divmod(n, 58)
        out = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"[r] + out
    return "did:key:z" + out
def check(public, signature, message):
    if isinstance(public, ed25519.Ed25519PublicKey): return public.verify(signature, message)
    r, t = (int.from_bytes(p, "big") for p in (signature[:32], signature[32:]))
    public.verify(utils.encode_dss_signature(r, t), message, ec.ECDSA(hashes.SHA256()))

what, *args = sys.argv[1:]
if what == "verify":
    message, end = load(bytes.fromhex(args[0]))
    assert end * 2 == len(args[0])
    protected, unprotected, payload, signature = message
    header, key = load(protected)[0], bytes.fromhex(args[1])
    if header[1] == -8: public = ed25519.Ed25519PublicKey.from_public_bytes(key)
    else: public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), key)
    assert header[3] == "application/vnd.mg+msgpack" and unprotected == {"iat": 1}
    signed = dump(["Signature1", protected, b"", payload])
    check(public, signature, signed)
    try: check(public, signature, signed[:-1] + b"!")
    except InvalidSignature: print(payload.hex(), header[4].decode())
elif what == "sign":
    blob = bytes.fromhex(args[0])
    key = ed25519.Ed25519PrivateKey.generate() if args[1] == "ed25519" else ec.generate_private_key(ec.SECP256R1())
    name = did(key.public_key())
    alg = -8 if args[1] == "ed25519" else -7
    protected = dump({1: alg, 3: "application/vnd.mg+msgpack", 4: name.encode()})
    signed = dump(["Signature1", protected, b"", blob])
    if alg == -8: signature = key.sign(signed)
    else:
        r, t = utils.decode_dss_signature(key.sign(signed, ec.ECDSA(hashes.SHA256())))
        signature = r.to_bytes(32, "big") + t.to_bytes(32, "big")
    print(name, dump([protected, {"iat": 1737000000}, blob, signature]).hex())
else:
    print(did(s.load_pem_private_key(args[0].encode(), None).public_key()))
"#;
