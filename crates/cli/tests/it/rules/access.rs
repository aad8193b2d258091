//! `--as`, `--in`, `--role`, `--cleared`: the command with the restricted rights of an agent.

use crate::command::Home;

const BOT: [&str; 4] = ["--as", "did:web:bot.example", "--in", "acme:bot"];

#[test]
fn an_agent_does_not_vouch_for_its_own_delegation() {
    let home = Home::new();
    home.ok(&["init"]);
    let wide = r#"{"type":"goal","description":"all","goal_state":"active","created_at":1,
        "subject":"did:web:a.example","author_did":"did:web:a.example","namespace":"acme:bot",
        "relation":"mg:delegates_to","object":"did:web:bot.example"}"#;
    std::fs::write(home.path("in.jsonl"), wide.replace('\n', " ")).unwrap();
    assert_eq!(home.run(&["import", "in.jsonl"]).code, 0);
    let address = home.ok(&["list"]);
    let verify = ["status", address.trim(), "--verification", "verified"];
    let refused = home.run(&[&["--json"][..], &verify, &BOT].concat());
    assert_eq!(refused.code, 3, "{refused:?}");
    assert_eq!(refused.json()["error"]["code"], "ERR_ACCESS_DENIED");
    assert_eq!(home.run(&verify).code, 0);
}

#[test]
fn a_command_confined_to_a_namespace_writes_and_sees_only_that() {
    let home = Home::new();
    let line = |text: &str| format!("{{\"type\":\"event\",\"content\":\"{text}\"}}\n");
    let put = home.run_with(&[&["put", "-"][..], &BOT].concat(), line("tea for all"));
    assert_eq!(put.code, 0, "{put:?}");
    let own = put.stdout.trim().to_owned();
    let other = home.put(&line("tea in secret")).remove(0);

    let shown = home.run(&[&["get", &own, "--json"][..], &BOT].concat());
    let shown = &shown.json_lines()[0]["grain"];
    assert_eq!(shown["author_did"], "did:web:bot.example");
    assert_eq!(shown["namespace"], "acme:bot");
    let history = home.run(&["history", &own, "--json"]);
    let version = &history.json_lines()[0]["versions"][0];
    assert_eq!(version["stored_by"], "did:web:bot.example");

    for command in [
        &["get", &other][..],
        &["exists", &other],
        &["status", &other],
    ] {
        assert_eq!(home.run(&[command, &BOT].concat()).code, 1, "{command:?}");
    }
    let found = home.run(&[&["search", "tea", "--json"][..], &BOT].concat());
    assert_eq!(found.json_lines()[0]["total"], 1);
    let listed = home.ok(&[&["list"][..], &BOT].concat());
    assert_eq!(listed.trim(), own);

    let elsewhere = r#"{"type":"event","content":"x","namespace":"acme:pay"}"#;
    let denied = home.run_with(&[&["put", "-", "--json"][..], &BOT].concat(), elsewhere);
    assert_eq!(denied.code, 3, "{denied:?}");
    assert_eq!(denied.json_lines()[0]["error"]["code"], "ERR_ACCESS_DENIED");
    let reader = ["put", "-", "--role", "reader"];
    assert_eq!(home.run_with(&reader, line("x")).code, 3);
}
