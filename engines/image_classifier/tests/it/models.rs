//! Models that cannot be served end the program with a sentence, and models with strange labels do not.
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test writes models")]

use std::{path::Path, time::Duration};

use crate::{
    PAGE, PATH, PROGRAM,
    engine::{self, Engine, archive, outcome},
};

const SETTINGS: &str = r#"{"task":"image","width":224,"height":224"#;

#[test]
fn a_model_that_cannot_be_served_is_refused_with_its_reason() {
    let Some(prepared) = engine::prepared() else { return };
    let network = std::fs::read(prepared.join("orientation.onnx")).unwrap();
    let described =
        |settings: &str| archive(&[("model.onnx", &network), ("model.json", settings.as_bytes())]);
    let labels = r#","labels":["0","90","180","270"]}"#;
    let cases: [(&str, Vec<u8>, &str); 10] = [
        ("a bare network", network.clone(), "model.json"),
        ("no labels", described(&format!("{SETTINGS}}}")), "no labels"),
        (
            "too few labels",
            described(&format!(r#"{SETTINGS},"labels":["0","90"]}}"#)),
            "outputs of the model: 4, labels: 2",
        ),
        (
            "a label with a control character",
            described(&format!(r#"{SETTINGS},"labels":["a\u0007"]}}"#)),
            "control character",
        ),
        (
            "another layout",
            described(&format!(r#"{SETTINGS},"layout":"nhwc"{labels}"#)),
            "model.json describes",
        ),
        ("a misspelt member", described(&format!(r#"{SETTINGS},"lables":[]}}"#)), "lables"),
        ("another task", described(r#"{"task":"audio"}"#), "audio"),
        (
            "no network",
            archive(&[("model.onnx", b"nonsense"), ("model.json", SETTINGS.as_bytes())]),
            "ONNX Runtime refuses",
        ),
        ("a language model", b"GGUF\x03\0\0\0".to_vec(), "language model"),
        ("nothing", Vec::new(), "empty"),
    ];
    for (what, bytes, wanted) in cases {
        let log = failure(&prepared, &bytes);
        assert!(log.contains(wanted), "{what}: {log}");
    }
}

#[test]
fn a_library_that_is_missing_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model.onnx");
    std::fs::write(&model, b"x").unwrap();
    let mut command = engine::command(PROGRAM, &model, folder.path());
    command.args(["--host", "127.0.0.1", "--port", "0", "--runtime", "/nowhere/libonnxruntime.so"]);
    let (code, log) = outcome(command.spawn().unwrap(), Duration::from_secs(30));
    assert_eq!(code, Some(1));
    assert!(log.contains("/nowhere/libonnxruntime.so"), "{log}");
}

#[test]
fn labels_are_data_even_with_markup() {
    let Some(prepared) = engine::prepared() else { return };
    let network = std::fs::read(prepared.join("orientation.onnx")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model.tar");
    let labels = "<script>alert(1)</script>\n\"quoted\\\"\nüber 🙂\n</style>\n";
    let settings = format!("{SETTINGS}}}");
    let entries: [(&str, &[u8]); 3] = [
        ("model.json", settings.as_bytes()),
        ("labels.txt", labels.as_bytes()),
        ("model.onnx", &network),
    ];
    std::fs::write(&model, archive(&entries)).unwrap();
    let engine = Engine::start(PROGRAM, &prepared, &model);
    let reply = engine.send("POST", PATH, "", PAGE);
    let data = reply.body["data"].as_array().unwrap();
    let mut found: Vec<&str> = data.iter().map(|label| label["label"].as_str().unwrap()).collect();
    let mut wanted: Vec<&str> = labels.lines().collect();
    found.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(found, wanted);
}

/// Starts the program with a model that it refuses, and returns its log.
fn failure(prepared: &Path, model: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    std::fs::write(&path, model).unwrap();
    let socket = folder.path().join("socket");
    let mut command = engine::command(PROGRAM, &path, folder.path());
    command.arg("--socket").arg(&socket);
    command.arg("--runtime").arg(prepared.join("libonnxruntime.so.1.31.1"));
    let (code, log) = outcome(command.spawn().unwrap(), Duration::from_secs(60));
    assert_eq!(code, Some(1), "{log}");
    assert!(!socket.exists(), "the socket is removed");
    log
}
