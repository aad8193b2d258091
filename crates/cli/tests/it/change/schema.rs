//! `schema`: what `put` takes, for each type.

use crate::command::Home;

#[test]
fn every_type_has_a_schema_with_an_example_that_put_takes() {
    let home = Home::new();
    let all = home.run(&["schema", "--json"]).json();
    let types = all["oneOf"].as_array().unwrap();
    assert_eq!(types.len(), 10);
    for schema in types {
        let of = schema["title"].as_str().unwrap();
        let examples = schema["examples"].as_array().unwrap();
        assert!(!examples.is_empty(), "{of}");
        for example in examples {
            home.put(&example.to_string());
            for name in schema["required"].as_array().unwrap() {
                let name = name.as_str().unwrap();
                let mut without = example.clone();
                assert!(
                    without.as_object_mut().unwrap().remove(name).is_some(),
                    "{of}: {name}"
                );
                let ran = home.run_with(&["put", "-"], without.to_string());
                assert_eq!(ran.code, 2, "{of} without {name}: {ran:?}");
            }
            for (name, _) in example.as_object().unwrap() {
                assert!(schema["properties"].get(name).is_some(), "{of}: {name}");
            }
        }
        let alone = home.run(&["schema", of, "--json"]).json();
        assert_eq!(&alone, schema);
    }
    let people = home.ok(&["schema", "goal"]);
    assert!(people.contains("\n  \"title\": \"goal\""), "{people}");
    assert_eq!(home.run(&["schema", "gaol"]).code, 2);
}
