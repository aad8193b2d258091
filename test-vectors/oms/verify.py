#!/usr/bin/env python3
"""Recomputes every vector in this folder with nothing but the Python standard library.

    python3 verify.py            checks grains.json and elision.json
    python3 verify.py FILE       prints the address of every grain in a JSON lines file

This is a second implementation of OMS 1.3 sections 3 to 7 and 10.1.1, written from the text and
independent of the Rust code: the vectors are right when both agree. It encodes; it does not
validate what it is given.

A vector of grains.json is {name, spec, input, encoding, flags?, ours, reading?, address, blob_hex,
note}. `flags` are header bits the input does not imply. `"ours": false` marks the address that a
rejected `reading` of the text would give: an encoder must not produce it.
"""

import hashlib
import json
import struct
import sys
import unicodedata
from datetime import datetime
from pathlib import Path

# Section 6: full name = short key. Names that are their own short key are not listed.
FIELDS = dict(pair.split("=") for pair in """
    type=t subject=s relation=r object=o confidence=c source_type=st created_at=ca
    temporal_type=tt valid_from=vf valid_to=vt system_valid_from=svf system_valid_to=svt
    context=ctx superseded_by=sb contradicted=ct importance=im author_did=adid namespace=ns
    user_id=user structural_tags=tags derived_from=df consolidation_level=cl success_count=sc
    failure_count=fc provenance_chain=pc origin_did=odid origin_namespace=ons content_refs=cr
    embedding_refs=er related_to=rt _elided=_e _disclosure_of=_do invalidation_policy=ip
    supersession_justification=sj supersession_auth=sa owner=own category=cat run_id=rid
    access_count=ac last_accessed_at=laa timestamp_ms=tms observer_did=obsdid subject_did=sdid
    session_id=sid2 entity_id=eid epistemic_status=epstat verification_status=vstatus
    requires_human_review=rhr processing_basis=pbasis identity_state=idst license=lic
    trusted_timestamp=tts invalidation_type=itype invalidation_reason=ireason
    invalidation_initiator=iinit retention_policy=rpol recall_priority=rpri
    content_blocks=cblocks model_id=mdl stop_reason=stopr token_usage=toku
    parent_message_id=pmid action_phase=aphase tool_name=tn input=inp is_error=iserr
    tool_call_id=tcid call_batch_id=cbid tool_type=ttype tool_version=tver execution_mode=emode
    stdout=out stderr=err2 exit_code=xc interpreter_id=iid error=err error_type=etype
    duration_ms=dur parent_task_id=ptid tool_description=tdesc input_schema=isch
    output_schema=osch observer_id=oid observer_type=otype frame_id=fid sync_group=sg
    observation_mode=omode observation_scope=oscope observer_model=omdl compression_ratio=ocmp
    description=desc goal_state=gs criteria=crit criteria_structured=crs priority=pri
    parent_goals=pgs state_reason=sr satisfaction_evidence=se progress=prog delegate_to=dto
    delegate_from=dfo expiry_policy=ep recurrence=rec evidence_required=evreq
    rollback_on_failure=rof allowed_transitions=atr depends_on=depg assigned_agent=asgn
    expected_output=expout output_grain=outg deadline=dline grantee_did=gdid is_withdrawal=isw
    jurisdiction=jur prior_consent=pcon witness_dids=wdids premises=prem conclusion=conc
    inference_method=imethod alternatives_considered=altc thinking_content=think
    thinking_redacted=tredact statistical_context=statctx software_environment=swenv
    parameter_set=params random_seed=rseed participating_observers=pobs threshold=thold
    agreement_count=agcnt dissent_count=discnt dissent_grains=disgrn agreed_content=agcon
    authorized_namespaces=ans authorized_types=atypes authorized_tools=atools
    delegation_depth=ddepth delegation_expiry=dexp context_grains=cgrains return_to=retdid
""".split())

# Section 4.7: the three arrays whose entries are compacted too.
NESTED = {
    "content_refs": dict(uri="u", modality="m", mime_type="mt", size_bytes="sz", checksum="ck", metadata="md"),
    "embedding_refs": dict(vector_id="vi", model="mo", dimensions="dm", modality_source="ms",
                           distance_metric="di", chunk_index="ci", chunk_text="ct",
                           chunk_strategy="cs", chunk_overlap="co"),
    "related_to": dict(hash="h", relation_type="rl", weight="w"),
}

# Appendix C: compacted inside `context`, but only under the tag profile:integration.
INTEGRATION = {"int:" + name: short for name, short in (pair.split("=") for pair in """
    base_url=ib http_method=ihm http_path=ihp path_params=ipp query_params=iqp body_params=ibp
    response_mapping=irm auth_type=iat auth_scopes=ias read_only=iro connector=ic docs_url=idu
    rate_limit=irl category=icat sunset_date=isd content_type=ict poll_interval_secs=ipis
    cursor_field=icf cursor_type=icft webhook_path=iwp webhook_secret_header=iwsh
    cron_expression=icron timezone=itz config_schema=icfg event_schema=ievt
""".split())}

TYPES = {"belief": 1, "fact": 1, "event": 2, "state": 3, "workflow": 4, "action": 5, "observation": 6,
         "goal": 7, "reasoning": 8, "consensus": 9, "consent": 10}
FLOATS = {"confidence", "importance", "progress", "compression_ratio"}
TIMES = {"created_at", "valid_from", "valid_to", "system_valid_from", "timestamp_ms", "deadline", "delegation_expiry"}
SENSITIVITY = {"phi": 3, "pii": 2, "sec": 2, "legal": 2, "reg": 1}


def content_address(blob):
    return hashlib.sha256(blob).hexdigest()


def blob(grain, encoding="msgpack", flags=None, reading=None):
    """Returns the 9 byte header and the canonical payload (section 4.9)."""
    payload = compact(grain, reading)
    body = msgpack(payload) if encoding == "msgpack" else cbor(payload, reading == "cbor-float64")
    namespace = namespace_bytes(payload.get("ns"), reading)
    seconds = min(max(payload["ca"] // 1000, 0), 2**32 - 1)  # a hint only, so it is clamped
    head = struct.pack(">BBB", 1, flag_byte(grain, encoding, flags or {}), TYPES[grain["type"]])
    return head + namespace + struct.pack(">I", seconds) + body


def flag_byte(grain, encoding, flags):
    levels = [SENSITIVITY.get(tag.split(":")[0], 0) for tag in grain.get("structural_tags", []) if ":" in tag]
    return (bool(flags.get("signed"))
            | bool(grain.get("content_refs")) << 3
            | bool(grain.get("embedding_refs")) << 4
            | (encoding == "cbor") << 5
            | flags.get("sensitivity", max(levels, default=0)) << 6)


def namespace_bytes(namespace, reading):
    if not namespace:
        stand_in = {"ns-empty-string": "", "ns-shared": "shared"}.get(reading)
        if stand_in is None:
            return b"\0\0"
        namespace = stand_in
    return hashlib.sha256(namespace.encode()).digest()[:2]


def compact(grain, reading=None):
    """Short keys, times in milliseconds, floats where the schema says float (sections 4.7, 4.8, 6)."""
    payload = {}
    for name, value in grain.items():
        if name in TIMES and isinstance(value, str):
            value = milliseconds(value)
        elif name in FLOATS and value is not None:
            value = float(value)
        elif name in NESTED and not (name == "related_to" and reading == "related-to-verbatim"):
            value = [entry(item, NESTED[name]) for item in value]
        elif name == "context" and "profile:integration" in grain.get("structural_tags", []) and grain["type"] != "state":
            value = {INTEGRATION.get(key, key): item for key, item in value.items()}
        short = "cnt" if (grain["type"], name) == ("action", "content") else FIELDS.get(name, name)
        payload[short] = value
    return canonical(payload)


def entry(item, names):
    return {names.get(k, k): float(v) if k == "weight" else v for k, v in item.items()}


def milliseconds(text):
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return (moment - datetime.fromisoformat("1970-01-01T00:00:00+00:00")) // MILLISECOND


def canonical(value):
    """NFC strings, no null in maps (sections 4.4, 4.5)."""
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if isinstance(value, list):
        return [canonical(item) for item in value]
    if isinstance(value, dict):
        return {canonical(k): canonical(v) for k, v in value.items() if v is not None}
    return value


def msgpack(value):
    """Canonical MessagePack (sections 4.1 to 4.6)."""
    if value is None:
        return b"\xc0"
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        return msgpack_int(value)
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, str):
        data = value.encode()
        return msgpack_head(len(data), 0xA0, 32, (0xD9, 0xDA, 0xDB)) + data
    if isinstance(value, list):
        return msgpack_head(len(value), 0x90, 16, (None, 0xDC, 0xDD)) + b"".join(map(msgpack, value))
    pairs = sorted((key.encode(), item) for key, item in value.items())
    body = b"".join(msgpack(key.decode()) + msgpack(item) for key, item in pairs)
    return msgpack_head(len(pairs), 0x80, 16, (None, 0xDE, 0xDF)) + body


def msgpack_head(length, fix, fix_limit, codes):
    if length < fix_limit:
        return bytes([fix | length])
    for code, form, limit in zip(codes, (">BB", ">BH", ">BI"), (2**8, 2**16, 2**32)):
        if code is not None and length < limit:
            return struct.pack(form, code, length)
    raise ValueError("too long")


def msgpack_int(value):
    if -32 <= value < 128:
        return struct.pack(">B" if value >= 0 else ">b", value)
    codes = ((0xCC, "B"), (0xCD, "H"), (0xCE, "I"), (0xCF, "Q")) if value >= 0 else (
        (0xD0, "b"), (0xD1, "h"), (0xD2, "i"), (0xD3, "q"))
    for code, form in codes:
        try:
            return bytes([code]) + struct.pack(">" + form, value)
        except struct.error:
            continue
    raise ValueError("integer out of range")


def cbor(value, float64=False):
    """Deterministic CBOR (section 16.2, RFC 8949 section 4.2.1)."""
    if value is None or isinstance(value, bool):
        return {None: b"\xf6", True: b"\xf5", False: b"\xf4"}[value]
    if isinstance(value, int):
        return cbor_head(0, value) if value >= 0 else cbor_head(1, -1 - value)
    if isinstance(value, float):
        return cbor_float(value, float64)
    if isinstance(value, str):
        data = value.encode()
        return cbor_head(3, len(data)) + data
    if isinstance(value, list):
        return cbor_head(4, len(value)) + b"".join(cbor(item, float64) for item in value)
    pairs = sorted((cbor(key), cbor(item, float64)) for key, item in value.items())
    return cbor_head(5, len(pairs)) + b"".join(key + item for key, item in pairs)


def cbor_head(major, argument):
    if argument < 24:
        return bytes([major << 5 | argument])
    for code, form, limit in zip((24, 25, 26, 27), (">BB", ">BH", ">BI", ">BQ"), (2**8, 2**16, 2**32, 2**64)):
        if argument < limit:
            return struct.pack(form, major << 5 | code, argument)
    raise ValueError("integer out of range")


def cbor_float(value, float64):
    for code, form in (() if float64 else ((0xF9, ">e"), (0xFA, ">f"))):
        try:
            data = struct.pack(form, value)
        except OverflowError:
            continue
        if struct.unpack(form, data)[0] == value:
            return bytes([code]) + data
    return b"\xfb" + struct.pack(">d", value)


def elision_hash(value):
    return "sha256:" + hashlib.sha256(msgpack(canonical(value))).hexdigest()


MILLISECOND = datetime.fromisoformat("1970-01-01T00:00:00.001") - datetime.fromisoformat("1970-01-01")


def check(folder):
    wrong = 0
    for vector in json.loads((folder / "grains.json").read_text("utf-8")):
        data = blob(vector["input"], vector["encoding"], vector.get("flags"), vector.get("reading"))
        good = content_address(data) == vector["address"] and data.hex() == vector["blob_hex"]
        wrong += not good
        mark = "ok" if good else "WRONG"
        print(f"{mark:5} {content_address(data)} {len(data):4} bytes  {vector['name']}")
    for vector in json.loads((folder / "elision.json").read_text("utf-8")):
        good = elision_hash(vector["value"]) == vector["hash"]
        wrong += not good
        print(f"{'ok' if good else 'WRONG':5} {elision_hash(vector['value'])}  {vector['name']}")
    return wrong


if __name__ == "__main__":
    if len(sys.argv) > 1:
        for line in Path(sys.argv[1]).read_text("utf-8").splitlines():
            print(content_address(blob(json.loads(line))))
    else:
        sys.exit(1 if check(Path(__file__).parent) else 0)
