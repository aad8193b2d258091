//! `--embed-cmd`: a program of the user's as a model, and what is said of one that fails.

use crate::command::{Home, Ran, event};

/// A model that knows one thing: whether a text is about a pet.
const MODEL: &str = r#"
printf '{"model":"tiny@1","dimensions":2}\n'
echo "the model is loaded" >&2
while IFS= read -r line; do
  echo "$line" >> asked.jsonl
  rest=${line#*'"texts":['}
  rest=${rest%']}'*}
  out=
  while [ -n "$rest" ]; do
    text=${rest%%'","'*}
    case $rest in *'","'*) rest=${rest#*'","'};; *) rest=;; esac
    case $text in *dog*|*beagle*|*pet*) vector='[1,0.1]';; *) vector='[0.1,1]';; esac
    out=$out${out:+,}$vector
  done
  printf '{"vectors":[%s]}\n' "$out"
done
"#;

const PROGRAM: &[&str] = &["--embed-cmd", "sh model.sh"];

fn with_memories() -> Home {
    let home = Home::new();
    home.write("model.sh", MODEL);
    home.put(&(event("Rex the beagle chewed the sofa", 1) + &event("the soup was too salty", 2)));
    home
}

fn run(home: &Home, args: &[&str]) -> Ran {
    home.run(&[PROGRAM, args].concat())
}

#[test]
fn a_search_and_a_recall_find_by_meaning_what_no_word_of_the_question_says() {
    let home = with_memories();
    assert_eq!(home.run(&["search", "any pets"]).code, 1);
    let found = run(&home, &["--json", "search", "any pets"]);
    assert_eq!(found.code, 0, "{found:?}");
    let first = &found.json()["results"][0]["grain"]["content"];
    assert_eq!(first, "Rex the beagle chewed the sofa");
    // What the program writes to stderr is shown.
    assert!(found.stderr.contains("the model is loaded"), "{found:?}");
    let known = run(&home, &["recall", "any pets?", "--format", "text"]);
    assert!(known.stdout.contains("Rex the beagle"), "{known:?}");

    // Each text was embedded once; a question says that it is one.
    let asked = std::fs::read_to_string(home.path("asked.jsonl")).unwrap();
    let asked: Vec<serde_json::Value> = asked
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let texts = |query: bool| {
        let of = asked.iter().filter(move |asked| asked["query"] == query);
        let texts = of.flat_map(|asked| asked["texts"].as_array().unwrap().clone());
        let mut texts: Vec<_> = texts
            .map(|text| text.as_str().unwrap().to_owned())
            .collect();
        texts.sort();
        texts
    };
    assert_eq!(
        texts(false),
        ["Rex the beagle chewed the sofa", "the soup was too salty"]
    );
    assert_eq!(texts(true), ["any pets", "any pets?"]);
}

#[test]
fn embed_without_a_file_embeds_what_waits_and_the_statistics_say_so() {
    let home = with_memories();
    let ran = run(&home, &["--json", "embed"]);
    assert_eq!(ran.json(), serde_json::json!({ "embedded": 2 }));
    let ran = run(&home, &["--json", "embed"]);
    assert_eq!(ran.json(), serde_json::json!({ "embedded": 0 }));
    let stats = run(&home, &["--json", "stats"]).json();
    assert_eq!(stats["embedders"][0]["model"], "tiny@1");
    assert_eq!(stats["embedders"][0]["waiting"], 0);
    assert_eq!(stats["embedders"][0]["failed"], serde_json::Value::Null);
    let address = home.addresses().remove(0);
    home.ok(&["similar", "--model", "tiny@1", &address]);
    home.run(&["--json", "embed"])
        .fails(2, "ERR_USAGE", "embed");
}

#[test]
fn a_program_that_is_no_model_is_an_error_that_says_why() {
    let home = with_memories();
    let hello = "echo '{\"model\":\"tiny@2\",\"dimensions\":2}'\n";
    let answers = |answer: &str| format!("{hello}while read -r line; do\n{answer}\ndone\n");
    for (script, wait, reason) in [
        ("exit 3".to_owned(), "60", "exit status: 3"),
        ("echo hello; read -r line".to_owned(), "60", "not JSON"),
        ("echo '{}'; read -r line".to_owned(), "60", "\"dimensions\""),
        ("read -r line".to_owned(), "0", "no answer within 0 s"),
        (answers("exit 4"), "60", "exit status: 4"),
        (
            answers("echo '{\"error\":\"out of memory\"}'"),
            "60",
            "out of memory",
        ),
        (answers("echo '{\"vectors\":3}'"), "60", "array of arrays"),
        (
            answers("echo '{\"vectors\":[[1,2,3]]}'"),
            "60",
            "a vector of 3 numbers instead of 2",
        ),
        (
            answers("echo '{\"vectors\":[[1,2],[1,2],[1,2]]}'"),
            "60",
            "3 vectors for",
        ),
    ] {
        home.write("model.sh", &script);
        let args = ["--json", "--embed-wait", wait, "search", "pets"];
        let ran = run(&home, &args);
        assert_eq!(ran.code, 2, "{script}: {ran:?}");
        let error = &ran.json()["error"];
        assert_eq!(error["code"], "ERR_EMBEDDER", "{script}: {ran:?}");
        let told = error["message"].as_str().unwrap();
        assert!(told.contains(reason), "{script}: {told}");
        assert!(!error["hint"].as_str().unwrap().is_empty(), "{ran:?}");
    }
    let ran = home.run(&["--json", "--embed-cmd", "no-such-program", "search", "a"]);
    ran.fails(2, "ERR_EMBEDDER", "--embed-cmd");
    // A command that asks no model does not start one.
    let ran = home.run(&["--embed-cmd", "no-such-program", "list"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = home.run(&["--json", "--embed", "nothing", "search", "a"]);
    ran.fails(2, "ERR_USAGE", "--embed");
}

/// Writes a model of one layer that adds nothing: a vector is the mean of the words of a text.
fn write_model(home: &Home) {
    let words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "pets", "dog", "soup"];
    let vocabulary: serde_json::Map<_, _> = words
        .iter()
        .enumerate()
        .map(|(number, word)| ((*word).to_owned(), number.into()))
        .collect();
    let config = serde_json::json!({
        "model_type": "bert", "hidden_act": "gelu", "hidden_size": 2, "intermediate_size": 2,
        "num_hidden_layers": 1, "num_attention_heads": 1, "max_position_embeddings": 8,
        "layer_norm_eps": 1e-12,
    });
    let tokenizer = serde_json::json!({
        "normalizer": { "type": "BertNormalizer", "lowercase": true },
        "model": { "type": "WordPiece", "unk_token": "[UNK]", "vocab": vocabulary },
    });
    let mut tensors = vec![
        (
            "embeddings.position_embeddings.weight".to_owned(),
            vec![8, 2],
        ),
        (
            "embeddings.token_type_embeddings.weight".to_owned(),
            vec![2, 2],
        ),
        ("embeddings.word_embeddings.weight".to_owned(), vec![7, 2]),
    ];
    let layer = [
        "attention.self.query",
        "attention.self.key",
        "attention.self.value",
        "attention.output.dense",
        "intermediate.dense",
        "output.dense",
        "attention.output.LayerNorm",
        "output.LayerNorm",
    ];
    let layer = layer.map(|name| format!("encoder.layer.0.{name}"));
    for name in layer.into_iter().chain(["embeddings.LayerNorm".to_owned()]) {
        let shape = if name.ends_with("Norm") {
            vec![2]
        } else {
            vec![2, 2]
        };
        tensors.push((format!("{name}.weight"), shape));
        tensors.push((format!("{name}.bias"), vec![2]));
    }
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    for (name, shape) in tensors {
        let from = data.len();
        for place in 0..shape.iter().product::<usize>() {
            let value = match name.as_str() {
                // Pets and dogs are alike, and soup is not.
                "embeddings.word_embeddings.weight" => [
                    0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0,
                ][place],
                name if name.ends_with("Norm.weight") => 1.0,
                _ => 0.0_f32,
            };
            data.extend(value.to_le_bytes());
        }
        let about = serde_json::json!({ "dtype": "F32", "shape": shape, "data_offsets": [from, data.len()] });
        header.insert(name, about);
    }
    let header = serde_json::Value::from(header).to_string();
    let mut weights = (header.len() as u64).to_le_bytes().to_vec();
    weights.extend(header.as_bytes());
    weights.extend(data);
    std::fs::create_dir(home.path("tiny")).unwrap();
    home.write("tiny/config.json", config.to_string());
    home.write("tiny/tokenizer.json", tokenizer.to_string());
    std::fs::write(home.path("tiny/model.safetensors"), weights).unwrap();
}

#[test]
fn an_installed_model_is_found_by_its_name_and_a_missing_one_named() {
    let home = Home::new();
    home.put(&(event("the dog", 1) + &event("the soup", 2)));
    let run = |args: &[&str]| {
        let mut command = home.command();
        command.env("XDG_DATA_HOME", home.path("data")).args(args);
        Ran::of(&command.output().unwrap())
    };
    let local = ["--json", "--embed", "local", "search", "pets"];
    let missing = run(&local);
    assert_eq!(missing.code, 2);
    assert!(
        missing.stdout.contains("no model is installed"),
        "{missing:?}"
    );
    let wrong = run(&["model", "install", "."]);
    assert!(wrong.stderr.contains("no model is in it"), "{wrong:?}");

    write_model(&home);
    let installed = run(&["model", "install", "tiny"]);
    assert_eq!(installed.stdout, "installed tiny\n");
    for model in ["local", "local=tiny"] {
        let asked = ["--json", "--embed", model, "search", "pets"];
        let found = run(&asked).json();
        assert_eq!(
            found["results"][0]["grain"]["content"], "the dog",
            "{found}"
        );
    }
    let other = run(&["--embed", "local=other", "search", "pets"]);
    assert!(other.stderr.contains("no model is called"), "{other:?}");
}
