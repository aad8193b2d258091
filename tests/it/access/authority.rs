//! The edges of delegated authority (OMS 6.11): several delegations of one author, several namespaces
//! of one delegation, the longest chain, and what does not hand a task back.

use super::delegation::delegation;
use super::*;

fn by(author: &str, namespace: &str) -> Draft {
    note("x").author(did(author).as_str()).namespace(namespace)
}

const TWO: &str = r#","authorized_namespaces":["acme:chat","acme:pay"],"delegation_depth":0"#;

#[test]
fn a_delegation_covers_each_of_its_namespaces_and_needs_no_author() {
    let store = memory();
    let unsigned = delegation("a", "b", TWO).set("author_did", grainstore::codec::Value::Nil);
    store.put(unsigned).unwrap();
    for namespace in ["acme:chat", "acme:pay", "acme:pay:eu"] {
        assert!(store.put(by("b", namespace)).is_ok(), "{namespace}");
    }
    assert_eq!(code(store.put(by("b", "acme:mail"))), "ERR_ACCESS_DENIED");
}

#[test]
fn a_belief_delegates_too_and_each_of_its_tools_may_be_used() {
    let store = memory();
    let json = r#"{"type":"belief","subject":"did:web:a.example","relation":"mg:delegates_to",
        "object":"did:web:b.example","confidence":1,"created_at":1,"delegation_depth":0,
        "authorized_tools":["search","mail"]}"#;
    store.put(Draft::from_json(json).unwrap()).unwrap();
    let used = |tool: &str| {
        let action = Draft::action(tool, grainstore::codec::Map::new(), 1, false);
        store.put(action.author(did("b").as_str())).is_ok()
    };
    assert_eq!(["search", "mail", "wipe"].map(used), [true, true, false]);
}

#[test]
fn a_handle_delegates_nothing_that_lies_partly_outside_it() {
    let store = memory();
    let handle = store.as_actor(&did("a")).in_namespace("acme:chat");
    let goal = |names: &str| {
        let more = format!(r#","authorized_namespaces":[{names}],"delegation_depth":0"#);
        delegation("a", "b", &more).namespace("acme:chat")
    };
    for names in [
        r#""acme:chat","acme:pay""#,
        r#""acme:pay","acme:chat""#,
        r#""*""#,
    ] {
        assert_eq!(
            code(handle.put(goal(names))),
            "ERR_ACCESS_DENIED",
            "{names}"
        );
    }
    assert!(handle.put(goal(r#""acme:chat","acme:chat:room""#)).is_ok());
}

#[test]
fn a_refusal_names_the_closest_miss_in_whatever_order_the_delegations_came() {
    let elsewhere = || delegation("a", "b", r#","authorized_namespaces":["acme:pay"]"#);
    let suspended = || delegation("c", "b", "").set("goal_state", "suspended");
    for order in [[elsewhere(), suspended()], [suspended(), elsewhere()]] {
        let store = memory();
        store.put_batch(order).unwrap();
        let refused = store.put(by("b", "acme:chat")).unwrap_err();
        assert!(
            refused.to_string().contains("delegation_scope"),
            "{refused}"
        );
    }
}

#[test]
fn sixteen_delegations_lead_to_an_authority_and_seventeen_do_not() {
    for (length, leads) in [(15, true), (16, true), (17, false)] {
        let store = memory();
        let chain = (0..length).map(|n| delegation(&format!("n{n}"), &format!("n{}", n + 1), ""));
        store.put_batch(chain.collect::<Vec<_>>()).unwrap();
        let put = store.put(by(&format!("n{length}"), "acme"));
        assert_eq!(put.is_ok(), leads, "{length}");
    }
}

#[test]
fn only_a_finished_goal_of_the_delegatee_that_names_the_delegation_hands_it_back() {
    let ended = |make: &dyn Fn(ContentAddress, ContentAddress) -> Draft| {
        let store = memory();
        let more = r#","authorized_namespaces":["acme:chat"],"delegation_depth":0"#;
        let delegated = store.put(delegation("a", "b", more)).unwrap();
        let other = store.put(note("another source")).unwrap();
        store
            .put(make(delegated, other).namespace("acme:chat"))
            .unwrap();
        store.put(by("b", "acme:chat")).is_err()
    };
    let goal = |state: &str, author: &str| {
        let goal = Draft::goal("it is done").set("goal_state", state);
        goal.author(did(author).as_str())
    };
    assert!(ended(&|it, _| goal("satisfied", "b").derived_from(it)));
    assert!(ended(&|it, other| goal("failed", "b")
        .derived_from(other)
        .derived_from(it)));
    assert!(!ended(&|it, _| goal("active", "b").derived_from(it)));
    assert!(!ended(&|it, _| goal("satisfied", "c").derived_from(it)));
    assert!(!ended(&|it, _| goal("active", "c").derived_from(it)));
    assert!(!ended(
        &|_, other| goal("satisfied", "b").derived_from(other)
    ));
}
