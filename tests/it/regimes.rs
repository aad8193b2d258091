//! Presets of law, and what Appendix A keeps in a store.

mod clauses;
mod explained;
mod imports;
mod leaving;
mod reads;

use std::collections::BTreeMap;
use std::sync::Arc;

use grainstore::codec::{Map, Value};
use grainstore::interchange::{Format, WriteOptions};
use grainstore::ledger::MemoryDisk;
use grainstore::policy::{Purpose, Regime};
use grainstore::query::ExportReport;
use grainstore::store::Authorization;
use grainstore::{ContentAddress, Draft, Filter, Options, Store, store};

use crate::store::at;

const TEST: Authorization<'_> = Authorization {
    reason: "a test",
    authority: "its author",
};

fn memory() -> Store {
    Store::in_memory(Options::default()).unwrap()
}

/// A store under a preset; what is sealed there is ada's.
fn under(preset: &str) -> Store {
    let store = Store::in_memory(crate::sealing::options()).unwrap();
    store.admin().unwrap().vault().add(&["ada"]).unwrap();
    store.admin().unwrap().unlock("ada").unwrap();
    let regime = Regime::preset(preset).unwrap();
    store
        .admin()
        .unwrap()
        .set_regimes(vec![regime], TEST)
        .unwrap();
    store
}

fn note(text: &str) -> Draft {
    Draft::event(text)
}

/// The clause that forbade it.
fn clause<T: std::fmt::Debug>(outcome: Result<T, store::Error>) -> String {
    match outcome.unwrap_err() {
        store::Error::Violation(breach) => breach.name(),
        other => other.to_string(),
    }
}

#[test]
fn every_preset_can_be_read_and_cites_its_law() {
    for name in Regime::PRESETS {
        let regime = Regime::preset(name).unwrap();
        assert_eq!(regime.name(), name);
        assert_eq!(Regime::parse(regime.text()).unwrap(), regime);
        let mut ids: Vec<_> = regime.clauses().iter().map(|one| one.id.as_str()).collect();
        assert!(ids.len() >= 4, "{name}");
        ids.sort_unstable();
        let len = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), len, "{name}: an id comes twice");
        for clause in regime.clauses() {
            assert!(!clause.cites.is_empty() && !clause.says.is_empty());
            assert_ne!(clause.requires, Default::default(), "{name}/{}", clause.id);
        }
    }
    assert_eq!(Regime::preset("none"), None);
}

#[test]
fn a_document_that_is_not_understood_is_refused() {
    let head =
        "name = \"own\"\ntitle = \"ours\"\n[[clause]]\nid = \"a\"\ncites = \"b\"\nsays = \"c\"\n";
    for rest in [
        "requires = { fields = [\"user_id\"] }\nwhne = {}",
        "requires = { feilds = [\"user_id\"] }",
        "requires = { fields = [\"user_id\"] }\nwhen = { types = [\"fact sheet\"] }",
        "requires = { retention_years = \"many\" }",
        "",
    ] {
        let refused = Regime::parse(&format!("{head}{rest}")).unwrap_err();
        assert_eq!(refused.code(), "ERR_POLICY", "{rest}");
    }
    assert!(Regime::parse(&format!("{head}requires = {{ review = true }}")).is_ok());
}

#[test]
fn what_a_regime_forbids_to_store_is_refused_and_recorded() {
    let about = |tags: &[&str]| tags.iter().fold(note("x"), |draft, tag| draft.tag(*tag));
    let basis = |draft: Draft| draft.set("processing_basis", "contract");
    let ada = "did:web:ada.example";
    let cases = [
        ("gdpr", note("x").user("ada"), "lawful-basis"),
        ("gdpr", about(&["pii:email"]), "tagged-data-has-a-subject"),
        ("gdpr", basis(about(&["phi:mrn"])), "special-categories"),
        ("hipaa", basis(about(&["profile:healthcare"])), "phi-tagged"),
        ("hipaa", about(&["phi:mrn"]).author(ada), "phi-basis"),
        ("hipaa", basis(about(&["phi:anything"])), "phi-author"),
        ("sox", about(&["profile:finance"]), "author"),
        ("sox", about(&["reg:sox"]).author(ada), "signed"),
        ("ccpa", about(&["profile:consumer"]), "consumer"),
        ("ccpa", note("x").user("ada"), "purpose"),
        ("lgpd", note("x").user("ada"), "legal-basis"),
        ("lgpd", basis(note("x").user("ada")), "records"),
        (
            "pci",
            about(&["pci:cvv", "reg:pci-dss"]),
            "sensitive-authentication-data",
        ),
        (
            "pci",
            about(&["pci:track2"]),
            "sensitive-authentication-data",
        ),
        ("pci", about(&["pci:pan"]), "in-scope"),
        ("pci", about(&["pci:pan", "reg:pci-dss"]), "author"),
    ];
    for (preset, draft, id) in cases {
        let store = under(preset);
        let entries = store.maintenance().unwrap().stats().unwrap().entries;
        assert_eq!(clause(store.put(draft.clone())), format!("{preset}/{id}"));
        let batch = store.put_batch([note("fine"), draft.clone()]).unwrap_err();
        assert_eq!(batch.code(), "ERR_POLICY_DENIED");
        assert_eq!(
            store.maintenance().unwrap().stats().unwrap().entries,
            entries + 2,
            "two denials"
        );
        assert!(
            memory().put(draft).is_ok(),
            "{preset}/{id} without a regime"
        );
        assert!(store.put(note("nothing personal")).is_ok());
    }
}

#[test]
fn a_regime_asks_for_reasons_reviews_and_retention() {
    let (options, clock) = at(1_000);
    let store = Store::in_memory(options).unwrap();
    let regime = Regime::preset("sox").unwrap();
    store
        .admin()
        .unwrap()
        .set_regimes(vec![regime], TEST)
        .unwrap();
    let record = |text: &str| {
        let draft = note(text).tag("profile:finance");
        draft.author("did:web:ada.example").set("fin:amount", 5)
    };
    let address = store.put(record("paid")).unwrap();
    let new = record("paid twice").derived_from(address);
    let refused = store.supersede(&address, new.clone(), None);
    assert_eq!(clause(refused), "sox/changes");
    assert_eq!(clause(store.contradict(&address, Some(" "))), "sox/changes");
    let entries = store.maintenance().unwrap().stats().unwrap().entries;
    let new = store
        .supersede(&address, new, Some("a second bill"))
        .unwrap();
    let more = store.maintenance().unwrap().stats().unwrap().entries - entries;
    assert_eq!(more, 3, "the grain, its status and the review");

    let deletion = Authorization {
        reason: "asked",
        authority: "the office",
    };
    let years = |n: i64| n * 366 * 86_400_000;
    clock.set(years(7));
    store.admin().unwrap().accept_clock(TEST).unwrap();
    let denied = store.admin().unwrap().delete(&new, deletion).unwrap_err();
    assert!(denied.to_string().contains("retention"), "{denied}");
    clock.set(years(7) + 1_000);
    // A clock that leapt is believed when somebody says so (ruling I21).
    store.admin().unwrap().accept_clock(TEST).unwrap();
    store.admin().unwrap().delete(&new, deletion).unwrap();
}

#[test]
fn the_retention_of_a_finance_grain_counts_in_every_store() {
    // OMS A.3: fin:retention_years.
    let (options, clock) = at(0);
    let store = Store::in_memory(options).unwrap();
    let bill = note("a bill")
        .tag("profile:finance")
        .set("fin:retention_years", 2);
    let bill = store.put(bill).unwrap();
    let deletion = Authorization {
        reason: "asked",
        authority: "the office",
    };
    clock.set(366 * 86_400_000);
    store.admin().unwrap().accept_clock(TEST).unwrap();
    assert!(store.admin().unwrap().delete(&bill, deletion).is_err());
    clock.set(2 * 366 * 86_400_000);
    store.admin().unwrap().accept_clock(TEST).unwrap();
    assert!(store.admin().unwrap().delete(&bill, deletion).is_ok());
}

#[test]
fn regimes_stay_in_force_when_a_store_is_opened_again_until_others_replace_them() {
    let disk = MemoryDisk::default();
    let open = || Store::open_on(Arc::new(disk.clone()), Options::default()).unwrap();
    let presets = ["gdpr", "pci"].map(|name| Regime::preset(name).unwrap());
    open()
        .admin()
        .unwrap()
        .set_regimes(presets.into(), TEST)
        .unwrap();
    assert_eq!(
        clause(open().put(note("x").user("ada"))),
        "gdpr/lawful-basis"
    );
    assert_eq!(clause(open().put(note("x").tag("pci:pan"))), "pci/in-scope");
    let own = "name = \"own\"\ntitle = \"ours\"\n\n[[clause]]\nid = \"no-goals\"\ncites = \"us\"\n\
        says = \"no goals in the lab\"\nwhen = { types = [\"goal\"], namespaces = [\"lab\"] }\n\
        requires = { never_stored = true }\n";
    open()
        .admin()
        .unwrap()
        .set_regimes(vec![Regime::parse(own).unwrap()], TEST)
        .unwrap();
    let store = open();
    assert_eq!(
        store
            .admin()
            .unwrap()
            .regimes()
            .iter()
            .next()
            .unwrap()
            .text(),
        own
    );
    assert!(store.put(note("x").user("ada")).is_ok());
    let goal = |namespace: &str| store.put(Draft::goal("rule the world").namespace(namespace));
    assert_eq!(clause(goal("lab:1")), "own/no-goals");
    assert!(goal("labs").is_ok());
    let nobody = Authorization {
        authority: " ",
        ..TEST
    };
    let refused = store
        .admin()
        .unwrap()
        .set_regimes(Vec::new(), nobody)
        .unwrap_err();
    assert_eq!(refused.code(), "ERR_AUTHORITY");
    store
        .admin()
        .unwrap()
        .set_regimes(Vec::new(), TEST)
        .unwrap();
    assert!(goal("lab:2").is_ok());
}

#[test]
fn every_clause_of_a_preset_is_enforced() {
    for name in Regime::PRESETS {
        let regime = Regime::preset(name).unwrap();
        assert_eq!(regime.gaps().count(), 0, "{name}");
    }
}

#[test]
fn what_a_clause_wants_sealed_is_never_stored_in_the_clear() {
    let basis = |draft: Draft| {
        let draft = draft.author("did:web:desk.example");
        draft.set("processing_basis", "contract")
    };
    let health = || basis(note("x").tag("phi:mrn"));
    let mut context = Map::new();
    context.insert("hc:patient_id", "patient-7");
    let patient = move || basis(note("y").set("context", context.clone()));
    for (preset, draft, name) in [
        ("gdpr", basis(note("x")), "gdpr/encrypted"),
        ("hipaa", health(), "hipaa/phi-encrypted"),
        ("hipaa", patient(), "hipaa/patient-id"),
        ("ccpa", basis(note("x").tag("pii:email")), "ccpa/security"),
    ] {
        let store = under(preset);
        let of_bob = draft.clone().user("bob");
        assert_eq!(clause(store.put(of_bob.clone())), name);
        if preset == "hipaa" {
            assert_eq!(clause(store.put(draft.clone())), name, "of nobody");
        }
        let (file, _) = {
            let side = memory();
            side.put(of_bob).unwrap();
            export_bytes(&side, Format::Jsonl, Purpose::Transfer)
        };
        let imported = store.import(imports::read(&file, Format::Jsonl));
        assert_eq!(imported.unwrap().refused.len(), 1);
        let stored = store.put(draft.user("ada")).unwrap();
        assert!(store.get(&stored).unwrap().is_some());
        let report = store.admin().unwrap().policy_report().unwrap();
        let mut clauses = report.clauses.iter();
        let told = clauses.find(|one| one.name == name).unwrap();
        assert_eq!((told.broken_by, told.missing), (0, None));
    }
}

/// Exports a store of these grains, and returns what was written and the report.
fn export_bytes(store: &Store, format: Format, purpose: Purpose) -> (Vec<u8>, ExportReport) {
    let options = WriteOptions {
        purpose,
        ..WriteOptions::default()
    };
    let filter = Filter::new().with_superseded();
    let mut file = Vec::new();
    let exported = store
        .admin()
        .unwrap()
        .export(format, &filter, &options, &mut file)
        .unwrap();
    (file, exported)
}

fn export(store: &Store, format: Format, purpose: Purpose) -> (String, ExportReport) {
    let (file, exported) = export_bytes(store, format, purpose);
    (String::from_utf8_lossy(&file).into_owned(), exported)
}

fn loss(exported: &ExportReport) -> BTreeMap<String, u64> {
    let loss = exported.loss.iter();
    loss.map(|(field, count)| (field.to_owned(), count))
        .collect()
}

const FORMATS: [Format; 5] = [
    Format::Jsonl,
    Format::Mg,
    Format::Pam,
    Format::Aimem,
    Format::OmiJsonl,
];

/// A belief, which every format can write.
fn fact(object: &str) -> Draft {
    Draft::belief("ada", "said", object).confidence(1.0)
}

#[test]
fn privileged_grains_leave_only_under_a_hold() {
    // OMS A.2.
    for format in FORMATS {
        let store = memory();
        let opinion = |text: &str, claim: &str| {
            fact(text)
                .tag("profile:legal")
                .set("legal:privilege", claim)
        };
        store.put(opinion("secret-a", "attorney_client")).unwrap();
        let context = Map::from_iter([("legal:privilege", "work_product")]);
        let inside = fact("secret-b")
            .tag("profile:legal")
            .set("context", context);
        store.put(inside).unwrap();
        store.put(opinion("public-c", "none")).unwrap();
        let policy = Map::from_iter([("mode", "hold")]);
        let held = opinion("held-d", "attorney_client").set("invalidation_policy", policy);
        store.put(held).unwrap();
        let (file, exported) = export(&store, format, Purpose::Transfer);
        assert!(!file.contains("secret-"), "{format}");
        assert!(
            file.contains("public-c") && file.contains("held-d"),
            "{format}"
        );
        assert_eq!(
            loss(&exported)["withheld: privilege (OMS A.2)"],
            2,
            "{format}"
        );
    }
}

#[test]
fn personal_data_of_finance_and_consumers_leaves_only_with_a_basis() {
    // OMS A.3, A.6.
    let consent = consent_of("did:web:ada.example", "");
    let [consent, absent] = [consent.address(), ContentAddress::of(b"absent")];
    let [consent, absent] = [consent, absent].map(|it| it.to_string());
    let cases = [
        ("profile:finance", Some(absent.as_str()), false),
        ("profile:consumer", Some(absent.as_str()), false),
        ("profile:finance", None, false),
        ("profile:finance", Some("legitimate_interests"), false),
        ("profile:finance", Some("contract"), true),
        ("profile:finance", Some(consent.as_str()), true),
        ("profile:consumer", None, false),
        ("profile:consumer", Some("con:ccpa_opted_out"), false),
        ("profile:consumer", Some("legitimate_interests"), true),
        ("profile:consumer", Some(consent.as_str()), true),
        ("profile:science", None, true),
    ];
    for (profile, basis, leaves) in cases {
        for personal in ["user", "pii:email", ""] {
            let store = memory();
            let mut draft = fact("the datum").tag(profile);
            draft = match personal {
                "user" => draft.user("ada"),
                "" => draft,
                tag => draft.tag(tag),
            };
            if let Some(basis) = basis {
                draft = draft.set("processing_basis", basis);
            }
            store.put(draft).unwrap();
            store.put(consent_of("did:web:ada.example", "")).unwrap();
            let (_, exported) = export(&store, Format::Jsonl, Purpose::Transfer);
            let leaves = leaves || personal.is_empty();
            assert_eq!(
                exported.grains == 2,
                leaves,
                "{profile} {basis:?} {personal}"
            );
            assert_eq!(exported.loss.is_empty(), leaves);
        }
    }
}

/// A consent of a person to a shop, with further members.
fn consent_of(person: &str, more: &str) -> grainstore::Grain {
    let json = format!(
        r#"{{"type":"consent","subject_did":"{person}","grantee_did":"did:web:shop.example",
            "scope":["store"],"is_withdrawal":false,"created_at":1{more}}}"#
    );
    let draft = Draft::from_json(&json).unwrap();
    draft.finish(Default::default()).unwrap()
}

#[test]
fn a_consent_documents_the_basis_of_an_export_if_it_is_here_and_applies() {
    // OMS A.3, A.6: "applicable consent documented".
    const ADA: &str = "did:web:ada.example";
    let withdrawal = |of: &grainstore::Grain| {
        let draft = Draft::consent(ADA, "did:web:shop.example", ["store"]);
        let draft = draft.set("is_withdrawal", true);
        draft.set("prior_consent", of.address())
    };
    let mut judged = 0;
    let not_one = fact("a fact").created_at(grainstore::Time::from_ms(1));
    let not_one = not_one.finish(Default::default()).unwrap();
    for profile in ["profile:finance", "profile:consumer"] {
        let consents = [
            (consent_of(ADA, ""), true),
            (consent_of(&format!("{ADA}#key-1"), ""), true),
            (consent_of("did:web:bob.example", ""), false),
            (consent_of(ADA, r#","valid_to":5"#), false),
            (not_one.clone(), false),
        ];
        for (consent, applies) in consents {
            let store = memory();
            let datum = fact("the datum").tag(profile).user(ADA);
            let datum = datum.set("processing_basis", consent.address());
            let datum = store.put(datum).unwrap();
            let leaves = || leaving::leaves(&store, "the datum", Purpose::Transfer);
            assert!(!leaves(), "before the consent is here: {consent:?}");
            store.put(consent.clone()).unwrap();
            assert_eq!(leaves(), applies, "{consent:?}");
            let asked = store::Asked::named("export").unwrap();
            let admin = store.admin().unwrap();
            let told = admin.explain_policy(&datum, asked, &Default::default());
            assert_eq!(told.unwrap().is_allowed, applies);
            if applies {
                store.put(withdrawal(&consent)).unwrap();
                assert!(!leaves(), "after it was withdrawn: {consent:?}");
            }
            judged += 1;
        }
    }
    assert_eq!(judged, 10);
    // Nor does a consent of another document it once an agent has written another name on it.
    let store = memory();
    let bobs = store.put(consent_of("did:web:bob.example", "")).unwrap();
    let datum = fact("the datum").tag("profile:finance").user(ADA);
    store.put(datum.set("processing_basis", bobs)).unwrap();
    let agent = store.as_actor(&"did:web:agent.example".parse().unwrap());
    let more = format!(r#","prior_consent":"{bobs}""#);
    let renewed = Draft::from_json(&consent_of(ADA, &more).to_json()).unwrap();
    agent.supersede(&bobs, renewed, Some("renewed")).unwrap();
    assert!(!leaving::leaves(&store, "the datum", Purpose::Transfer));
}

#[test]
fn what_a_consumer_opted_out_of_is_not_sold() {
    // OMS A.6.
    let store = memory();
    let datum = |text: &str, out: bool| {
        let draft = fact(text).tag("profile:consumer").user("ada");
        draft
            .set("processing_basis", "consent")
            .set("con:ccpa_opted_out", out)
    };
    store.put(datum("likes tea", true)).unwrap();
    store.put(datum("likes jam", false)).unwrap();
    let (_, given) = export(&store, Format::Jsonl, Purpose::Transfer);
    assert_eq!((given.grains, given.loss.is_empty()), (2, true));
    let (file, sold) = export(&store, Format::Jsonl, Purpose::Sale);
    assert_eq!(sold.grains, 1);
    assert!(!file.contains("likes tea"));
    assert_eq!(loss(&sold)["withheld: opted_out (OMS A.6)"], 1);
}

#[test]
fn of_two_values_of_a_profiles_field_the_stricter_counts() {
    // Ruling P3: at the top level and in `context`, whichever of the two says more.
    let store = memory();
    let context = |name: &str, value: Value| Map::from_iter([(name, value)]);
    let twice = |text: &str, name: &str, values: [Value; 2]| {
        let [top, inner] = values;
        fact(text)
            .set(name, top)
            .set("context", context(name, inner))
    };
    let (secret, open) = (Value::from("attorney_client"), Value::from("none"));
    for (text, values) in [
        ("top secret", [secret.clone(), open.clone()]),
        ("inner secret", [open.clone(), secret]),
        ("no matter", [open.clone(), open]),
    ] {
        store.put(twice(text, "legal:privilege", values)).unwrap();
    }
    for (text, values) in [
        ("top sold", [true.into(), false.into()]),
        ("inner sold", [false.into(), true.into()]),
    ] {
        store
            .put(twice(text, "con:ccpa_opted_out", values))
            .unwrap();
    }
    for format in FORMATS {
        let (file, exported) = export(&store, format, Purpose::Transfer);
        assert!(!file.contains("secret"), "{format}");
        assert_eq!(exported.grains, 3, "{format}");
        let (file, exported) = export(&store, format, Purpose::Sale);
        assert!(!file.contains("sold"), "{format}");
        assert_eq!(
            loss(&exported)["withheld: opted_out (OMS A.6)"],
            2,
            "{format}"
        );
    }
    let report = store.admin().unwrap().policy_report().unwrap();
    assert_eq!(report.counts["opted out of sale"], 2);
    for values in [[7.into(), 0.into()], [0.into(), 7.into()]] {
        let kept = twice("bills", "fin:retention_years", values).tag("profile:finance");
        let kept = store
            .put(kept.created_at(grainstore::Time::from_ms(1_790_000_000_000)))
            .unwrap();
        let denied = store.admin().unwrap().delete(&kept, TEST).unwrap_err();
        assert!(denied.to_string().contains("retention"), "{denied}");
    }
}

#[test]
fn what_names_a_withheld_grain_is_counted() {
    let store = memory();
    let secret = fact("secret")
        .tag("profile:legal")
        .set("legal:privilege", "work_product");
    let secret = store.put(secret).unwrap();
    store.put(note("a summary").derived_from(secret)).unwrap();
    let json = format!(
        r#"{{"type":"event","content":"see there","created_at":1,
            "related_to":[{{"hash":"{secret}","relation_type":"elaborates"}}]}}"#
    );
    store.put(Draft::from_json(&json).unwrap()).unwrap();
    for format in [Format::Jsonl, Format::Mg] {
        let (_, exported) = export(&store, format, Purpose::Transfer);
        assert_eq!(exported.grains, 2, "{format}");
        let loss = loss(&exported);
        assert_eq!(loss["derived_from of what is withheld"], 1, "{loss:?}");
        assert_eq!(loss["related_to of what is withheld"], 1, "{loss:?}");
    }
}

#[test]
fn what_a_regime_keeps_in_the_store_stays_there() {
    let store = under("pci");
    let card = fact("4111")
        .user("ada")
        .tag("pci:pan")
        .tag("reg:pci-dss")
        .author("did:web:ada.example");
    store.put(card).unwrap();
    store.put(fact("paid by card")).unwrap();
    let (file, exported) = export(&store, Format::Jsonl, Purpose::Transfer);
    assert!(!file.contains("4111") && file.contains("paid by card"));
    assert_eq!(loss(&exported)["withheld: pci/no-copies"], 1);
}

#[test]
fn the_report_counts_what_is_there_and_names_what_is_missing() {
    let store = memory();
    store.put(note("x").user("ada")).unwrap();
    store.put(note("y").user("ada").tag("phi:mrn")).unwrap();
    store.put(note("z").tag("pii:email").user("bob")).unwrap();
    let basis = note("w").user("bob").set("processing_basis", "contract");
    store.put(basis).unwrap();
    let regime = Regime::preset("gdpr").unwrap();
    store
        .admin()
        .unwrap()
        .set_regimes(vec![regime], TEST)
        .unwrap();
    assert!(store.put(note("refused").user("eve")).is_err());

    let report = store.admin().unwrap().policy_report().unwrap();
    let counts = [
        "grains",
        "persons",
        "personal",
        "health information",
        "refusals",
    ];
    assert_eq!(counts.map(|name| report.counts[name]), [4, 2, 4, 1, 1]);
    let clause = |name: &str| {
        let found = report.clauses.iter().find(|clause| clause.name == name);
        let found = found.unwrap();
        (found.broken_by, found.missing)
    };
    assert_eq!(clause("gdpr/lawful-basis"), (3, None));
    assert_eq!(clause("gdpr/encrypted"), (4, None));
    // Every row of Appendix D is there, and every count it names is counted.
    let of = |law: &str| report.articles.iter().filter(|one| one.law == law).count();
    assert_eq!([of("GDPR"), of("HIPAA"), of("CCPA")], [6, 4, 4]);
    for article in &report.articles {
        let counted = article.shown_by.iter();
        assert!(
            counted.clone().all(|name| report.counts.contains_key(name)),
            "{article:?}"
        );
    }
}

#[test]
fn the_coverage_of_an_article_has_a_word() {
    let articles = memory().admin().unwrap().policy_report().unwrap().articles;
    let words: std::collections::BTreeSet<_> =
        articles.iter().map(|article| article.held.name()).collect();
    let all = ["enforced", "in part", "out of scope"];
    assert_eq!(words.into_iter().collect::<Vec<_>>(), all);
}

#[test]
fn a_namespace_that_is_not_in_nfc_is_under_its_regime_at_once_and_after_reopening() {
    let disk = MemoryDisk::default();
    let open = || Store::open_on(Arc::new(disk.clone()), Options::default()).unwrap();
    let regime = Regime::parse(
        "name = \"own\"\ntitle = \"ours\"\n[[clause]]\nid = \"a\"\ncites = \"b\"\nsays = \"c\"\n\
        when = { namespaces = [\"cafe\u{301}\"] }\nrequires = { never_stored = true }",
    );
    let store = open();
    store
        .admin()
        .unwrap()
        .set_regimes(vec![regime.unwrap()], TEST)
        .unwrap();
    let assert_refused = |store: &Store| {
        for namespace in ["caf\u{e9}", "cafe\u{301}", "caf\u{e9}:menu"] {
            let refused = store.put(note("x").namespace(namespace));
            assert_eq!(clause(refused), "own/a", "{namespace}");
        }
    };
    assert_refused(&store);
    drop(store);
    assert_refused(&open());
}
