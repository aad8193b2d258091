//! `--as`, `--in`, `--role`, `--cleared`: the command with the restricted rights of an agent.

use crate::command::Home;

const BOT: [&str; 4] = ["--as", "did:web:bot.example", "--in", "acme:bot"];

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
