//! Tests which manifests are refused, and what an engine is started with.

use std::{convert::Infallible, path::Path};

use proptest::prelude::*;

use super::*;
use crate::task::Task;

const PROJECT: &str = include_str!("../../../plugins/language_model/plugin.toml");
const ADAPTER: &str = include_str!("../../../plugins/language_model/adapter.toml");

/// Either the fault of a plugin or a file that is missing.
#[derive(Debug)]
struct Refused(String);

impl From<InvalidPlugin> for Refused {
    fn from(invalid: InvalidPlugin) -> Self {
        Self(crate::error_chain::chain(&invalid))
    }
}

impl From<Infallible> for Refused {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

fn read(project: &str, adapter: &str) -> Result<Manifest, String> {
    let text = |file: &str| {
        assert_eq!(file, "adapter.toml", "the entry point names the file");
        Ok::<_, Refused>(adapter.to_owned())
    };
    Manifest::read(project, text).map_err(|Refused(why)| why)
}

// Holds: S8-11
#[test]
fn text_and_speech_pin_their_engine_builds() {
    let text = read(PROJECT, ADAPTER).unwrap().engine;
    assert_eq!(text.default_build, "b9789");
    assert!(text.accepted_builds.contains(&"b8808".to_owned()));
    let speech = include_str!("../../../plugins/audio_transcriber/plugin.toml");
    let adapter = include_str!("../../../plugins/audio_transcriber/adapter.toml");
    let speech = read(speech, adapter).unwrap().engine;
    assert_eq!((&*speech.name, &*speech.default_build), ("whisper-server", "v1.8.4"));
}

#[test]
fn text_generation_opens_no_control_path() {
    let manifest = read(PROJECT, ADAPTER).unwrap();
    assert_eq!(manifest.id, "language_model");
    for closed in ["/props", "/slots", "/metrics", "/models/load", "/health", "/tokenize"] {
        assert!(manifest.adapter.served(closed).is_none(), "{closed}");
    }
    assert!(manifest.adapter.served("/v1/chat/completions").unwrap().metered);
    assert!(manifest.adapter.model.fits(b"GGUF\x03") && !manifest.adapter.model.fits(b"GGU"));
}

#[test]
fn an_engine_listens_where_it_is_told_and_its_secret_is_no_argument() {
    let common = "--model /models/tiny.gguf --alias tiny --api-key-file /state/run/1.key \
                  --ctx-size 4096 --no-webui";
    assert_eq!(
        line(Some("/state/run/1.sock"), &[("threads", 1)]),
        format!("{common} --host /state/run/1.sock --threads 1")
    );
    assert_eq!(line(None, &[]), format!("{common} --host 127.0.0.1 --port 18080"));
}

#[test]
fn a_value_that_a_setting_does_not_take_is_refused_with_the_bounds_and_the_plugin() {
    let manifest = read(PROJECT, ADAPTER).unwrap();
    let check = |settings: &str| {
        let settings: Settings = serde_json::from_str(settings).unwrap();
        manifest.check_settings(&settings).map_err(|refused| refused.to_string())
    };
    assert_eq!(check(r#"{"context":256,"threads":1024}"#), Ok(()));
    let takes = "of the plugin `language_model` takes a whole number from";
    for (settings, said) in [
        (r#"{"context":255}"#, format!("the setting `context` {takes} 256 to 4194304, not 255")),
        (r#"{"threads":0}"#, format!("the setting `threads` {takes} 1 to 1024, not 0")),
        (r#"{"threads":"many"}"#, format!("the setting `threads` {takes} 1 to 1024, not many")),
        (
            r#"{"model":"x"}"#,
            "the plugin `language_model` has no setting `model`; it has context, threads"
                .to_owned(),
        ),
    ] {
        assert_eq!(check(settings), Err(said));
    }
}

#[test]
fn a_model_serves_the_paths_of_what_it_is_for() {
    let adapter = read(PROJECT, ADAPTER).unwrap().adapter;
    let paths = |task| {
        let served = adapter.serve.iter().filter(|served| served.is_for(task));
        served.map(|served| served.path.as_str()).collect::<Vec<_>>()
    };
    let chat = ["/v1/chat/completions", "/v1/completions", "/v1/responses"];
    assert_eq!(paths(Some(Task::Chat)), chat);
    assert_eq!(paths(Some(Task::Embeddings)), ["/v1/embeddings"]);
    assert_eq!(paths(Some(Task::Rerank)), ["/v1/rerank"]);
    assert_eq!(paths(None).len(), 5);
    let without = ADAPTER.replace("metadata = \"gguf\"", "");
    let refused = read(PROJECT, &without).unwrap_err();
    assert!(refused.contains("`model.metadata` must be named"), "{refused}");

    let mut values = Values { task: Some(Task::Embeddings), ..Values::default() };
    values.settings = read(PROJECT, ADAPTER).unwrap().settle(|_name| None).unwrap();
    let words = adapter.launch.arguments(&values);
    let last: Vec<_> =
        words.iter().rev().take(5).rev().map(|word| word.to_string_lossy()).collect();
    assert_eq!(last.join(" "), "--embeddings --batch-size 4096 --ubatch-size 4096");
}

fn line(socket: Option<&str>, configured: &[(&str, u64)]) -> String {
    let manifest = read(PROJECT, ADAPTER).unwrap();
    let configured: BTreeMap<_, _> =
        configured.iter().map(|(name, number)| (*name, Scalar::Number(*number))).collect();
    let mut values = Values {
        settings: manifest.settle(|name| configured.get(name)).unwrap(),
        ..Values::default()
    };
    values.paths.insert("model", "/models/tiny.gguf".into());
    values.paths.insert("secret_file", "/state/run/1.key".into());
    values.texts.insert("alias", "tiny".to_owned());
    match socket {
        Some(socket) => drop(values.paths.insert("socket", socket.into())),
        None => drop(values.texts.insert("port", "18080".to_owned())),
    }
    let words = manifest.adapter.launch.arguments(&values);
    words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_value_becomes_one_argument_and_is_not_expanded_again() {
    let adapter = read(PROJECT, ADAPTER).unwrap().adapter;
    let mut values = Values::default();
    values.paths.insert("model", Path::new("/models/$(reboot) {alias}; x.gguf").into());
    values.texts.insert("alias", "{model}".to_owned());
    let words = adapter.launch.arguments(&values);
    assert_eq!(words[1], "/models/$(reboot) {alias}; x.gguf");
    assert_eq!(words[3], "{model}");
}

#[test]
fn a_project_file_is_refused_with_its_fault() {
    for (from, to, expected) in [
        ("schema = 1", "schema = 2", "has schema 2, and this version reads schema 1"),
        ("schema = 1", "schema = 1\nmore = 1", "is not readable"),
        ("id = \"language_model\"", "id = \"../up\"", "`id` must be 1 to 48"),
        ("id = \"language_model\"", "id = \"other\"", "does not belong to the plugin `other`"),
        ("link.plugins", "other.plugins", "names no adapter in the entry points `link.plugins`"),
        ("adapter.toml", "/etc/passwd", "`/etc/passwd` is not a file of the plugin's folder"),
        ("adapter.toml", "../adapter.toml", "is not a file of the plugin's folder"),
        ("adapter.toml", "plugin.toml", "is not a file of the plugin's folder"),
        ("executable = \"llama-server\"", "executable = \"/bin/sh\"", "`engine.executable` must"),
        ("name = \"llama-server\"", "name = \"..\"", "`engine.name` must be a file name"),
        ("default_build = \"b9789\"", "default_build = \"b1\"", "one of `engine.accepted_builds`"),
        ("\"b8808\"", "\"current\"", "`engine.accepted_builds` must be up to 64 names"),
        ("description = \"Serves", "description = \"\\u001b[31mServes", "`description` must be"),
    ] {
        assert!(PROJECT.contains(from), "{from}");
        let error = read(&PROJECT.replacen(from, to, 1), ADAPTER).unwrap_err();
        assert!(error.contains(expected), "{from} to {to}: {error}");
    }
}

#[test]
fn an_adapter_is_refused_with_its_fault() {
    for (from, to, expected) in [
        ("\"{model}\"", "\"{modle}\"", "`{modle}` stands for nothing"),
        ("\"{model}\"", "\"{socket}\"", "`{socket}` has a value only where"),
        ("\"{model}\"", "\"x\"", "`launch.arguments` must be a list that names {model}"),
        ("\"{model}\"", "\"{model\"", "has no partner"),
        ("\"{model}\"", "\"{{model}}\"", "has no partner"),
        ("\"{model}\"", "\"/etc/passwd\"", "is an absolute path"),
        ("\"{model}\"", "\"--x=/etc/passwd\"", "is an absolute path"),
        ("\"{port}\"", "\"80\"", "`launch.on_port` must be a list that names {port}"),
        ("[\"--host\", \"{socket}\"]", "[]", "`launch.on_socket` must be a list that names"),
        ("threads = [", "other = [", "`launch.optional` must be arguments for settings"),
        // A setting without a default has a value only in its own arguments.
        ("\"{context}\"", "\"{threads}\"", "`{threads}` stands for nothing"),
        ("default = 4096", "default = 1", "`default` is not among the values"),
        ("min = 1\n", "min = 2000\n", "`min` is above `max`"),
        ("[settings.threads]", "[settings.model]", "the setting `model` is unusable"),
        ("\"integer\"\ndescription = \"context", "\"shell\"\ndescription = \"context", "readable"),
        ("path = \"/health\"", "path = \"/v1/completions\"", "without the paths of `health`"),
        ("from_build = \"b8808\"", "from_build = \"../b1\"", "`serve.from_build` must be"),
        ("path = \"/v1/completions\"", "path = \"/v1/../x\"", "`serve` must be 1 to 64 paths"),
        (
            "path = \"/v1/completions\"",
            "path = \"/v1/chat/completions\"",
            "in which each path stands once",
        ),
        ("unit = \"tokens\"", "unit = \"money\"", "is not readable"),
        ("bytes = \"GGUF\"", "bytes = \"hex:xy\"", "`model.magic` must be"),
        ("bytes = \"GGUF\"", "bytes = \"\"", "`model.magic` must be"),
        (
            "[health]",
            "[launch.environment]\nLD_PRELOAD = \"x\"\n[health]",
            "`launch.environment` must be",
        ),
    ] {
        assert!(ADAPTER.contains(from), "{from}");
        let error = read(PROJECT, &ADAPTER.replacen(from, to, 1)).unwrap_err();
        assert!(error.contains(expected), "{from} to {to}: {error}");
    }
}

#[test]
fn a_choice_takes_its_words_and_no_others() {
    let text =
        "type = \"choice\"\ndescription = \"x\"\nchoices = [\"en\", \"de\"]\ndefault = \"de\"";
    let setting: Setting = toml::from_str(text).unwrap();
    assert_eq!(setting.check(), Ok(()));
    assert_eq!(setting.default_value().unwrap().to_string(), "de");
    assert!(setting.accept(&Scalar::Text("en".to_owned())).is_some());
    for other in ["fr", "en; reboot", "$(reboot)", "--host"] {
        assert_eq!(setting.accept(&Scalar::Text(other.to_owned())), None, "{other}");
    }
    for bad in ["$(reboot)", "a;b", "--host", "", "a b", "{model}"] {
        let choices = text.replace("\"en\"", &format!("\"{bad}\""));
        let setting: Setting = toml::from_str(&choices).unwrap();
        assert_eq!(setting.check(), Err(InvalidSetting::Choices), "{bad}");
    }
}

#[test]
fn magic_bytes_are_text_or_hexadecimal_at_an_offset() {
    let text = "format = \"x\"\nextensions = []\nmagic = [{ bytes = \"hex:6c6d6767\" }, \
                { offset = 257, bytes = \"ustar\" }]";
    let files: ModelFiles = toml::from_str(text).unwrap();
    assert_eq!(files.head_len(), 262);
    assert!(files.fits(b"lmgg\0") && !files.fits(b"GGUF"));
    let mut archive = vec![0; 262];
    archive[257..].copy_from_slice(b"ustar");
    assert!(files.fits(&archive) && !files.fits(&archive[..261]));
}

proptest! {
    #[test]
    fn no_text_panics(project in ".*", adapter in ".*", word in "[{}a-z/=]{0,12}") {
        let _refused = read_any(&project, &adapter);
        let _refused = read_any(PROJECT, &adapter);
        let _refused = read_any(PROJECT, &ADAPTER.replace("{model}", &word));
    }
}

fn read_any(project: &str, adapter: &str) -> Result<Manifest, String> {
    let text = |_file: &str| Ok::<_, Refused>(adapter.to_owned());
    Manifest::read(project, text).map_err(|Refused(why)| why)
}
