//! Tests files that are models, and other files that people mistake for models.

use proptest::prelude::*;

use super::*;
use crate::task::Task;

/// Builds the bytes of a small model.
fn model(pairs: &[(&str, Value<'_>)], tensors: &[(&str, u32, &[u64], u64)]) -> Vec<u8> {
    let mut file = b"GGUF\x03\0\0\0".to_vec();
    file.extend((tensors.len() as u64).to_le_bytes());
    file.extend((pairs.len() as u64).to_le_bytes());
    for (name, value) in pairs {
        put_text(&mut file, name);
        match value {
            Value::Number(number) => {
                file.extend([&[4, 0, 0, 0], &number.to_le_bytes()[..]].concat());
            }
            Value::Text(text) => {
                file.extend(8_u32.to_le_bytes());
                put_text(&mut file, text);
            }
            Value::Texts(texts) => {
                file.extend([9_u32.to_le_bytes(), 8_u32.to_le_bytes()].concat());
                file.extend((texts.len() as u64).to_le_bytes());
                texts.iter().for_each(|text| put_text(&mut file, text));
            }
            Value::Floats(count) => {
                file.extend([9_u32.to_le_bytes(), 6_u32.to_le_bytes()].concat());
                file.extend((*count as u64).to_le_bytes());
                file.extend(vec![0; count * 4]);
            }
        }
    }
    for (name, kind, shape, offset) in tensors {
        put_text(&mut file, name);
        file.extend((shape.len() as u32).to_le_bytes());
        shape.iter().for_each(|length| file.extend(length.to_le_bytes()));
        file.extend(kind.to_le_bytes());
        file.extend(offset.to_le_bytes());
    }
    file.resize(file.len().next_multiple_of(32), 0);
    file
}

enum Value<'a> {
    Number(u32),
    Text(&'a str),
    Texts(&'a [&'a str]),
    Floats(usize),
}

fn put_text(file: &mut Vec<u8>, text: &str) {
    file.extend((text.len() as u64).to_le_bytes());
    file.extend(text.as_bytes());
}

fn small() -> Vec<u8> {
    let long = "x".repeat(300);
    let pairs = [
        ("general.architecture", Value::Text("llama")),
        ("general.file_type", Value::Number(15)),
        ("tokenizer.ggml.tokens", Value::Texts(&["a", "", "ccc"])),
        ("tokenizer.ggml.scores", Value::Floats(3)),
        ("tokenizer.chat_template", Value::Text(&long)),
        ("empty", Value::Texts(&[])),
        ("llama.context_length", Value::Number(2048)),
        ("llama.block_count", Value::Number(2)),
        ("llama.embedding_length", Value::Number(64)),
        ("llama.attention.head_count", Value::Number(4)),
        ("llama.attention.head_count_kv", Value::Number(2)),
    ];
    let mut file = model(&pairs, &[("a", 0, &[4, 8], 0), ("b", 12, &[256, 2], 128)]);
    file.extend(vec![7; 128 + 288]);
    file
}

fn look(file: &[u8], piece: usize) -> Result<ModelFacts, NotAModel> {
    let mut inspection = Inspection::default();
    for piece in file.chunks(piece) {
        if !inspection.push(piece) {
            break;
        }
    }
    inspection.finish(file.len() as u64)
}

#[test]
fn a_model_says_what_it_is_however_it_is_cut_into_pieces() {
    let file = small();
    let facts = ModelFacts {
        architecture: "llama".to_owned(),
        quantization: Some("Q4_K_M".to_owned()),
        parameters: 32 + 512,
        context_length: Some(2048),
        task: Some(Task::Chat),
        // The weights, and two layers of two heads of 16 numbers of two bytes, twice, for each token.
        memory_bytes: 128 + 288 + 2 * 2 * 2 * 2 * 16 * 2048,
    };
    for piece in [1, 7, 64, 1 << 20] {
        assert_eq!(look(&file, piece), Ok(facts.clone()), "{piece}");
    }
}

#[test]
fn a_model_says_what_it_is_for() {
    for (architecture, pooling, task) in [
        ("llama", None, Task::Chat),
        ("llama", Some(0), Task::Chat),
        ("qwen3", Some(3), Task::Embeddings),
        ("qwen3", Some(4), Task::Rerank),
        ("bert", Some(1), Task::Embeddings),
        ("bert", Some(4), Task::Rerank),
        ("nomic-bert", None, Task::Embeddings),
        // Not specified, as a number without a sign.
        ("bert", Some(u32::MAX), Task::Embeddings),
        ("llama", Some(u32::MAX), Task::Chat),
    ] {
        let pairs = [("general.architecture", Value::Text(architecture))];
        let name = format!("{architecture}.pooling_type");
        let pooling = pooling.map(|pooling| (name.as_str(), Value::Number(pooling)));
        let pairs: Vec<_> = pairs.into_iter().chain(pooling).collect();
        let mut file = model(&pairs, &[("a", 0, &[4, 8], 0)]);
        file.extend(vec![7; 128]);
        let facts = look(&file, file.len()).unwrap();
        assert_eq!(facts.task, Some(task), "{architecture}");
    }
}

#[test]
fn an_inspection_goes_on_from_what_was_stored_of_it() {
    let file = small();
    let broken = [b"GGUF\x03\0\0\0".as_slice(), &[0; 16], &file[24..]].concat();
    for file in [file, broken, b"<!doctype html><title>Log in".repeat(3)] {
        let whole = look(&file, file.len());
        for at in 0..file.len() {
            let mut inspection = Inspection::default();
            inspection.push(&file[..at]);
            let stored = serde_json::to_string(&inspection).unwrap();
            let mut inspection: Inspection = serde_json::from_str(&stored).unwrap();
            inspection.push(&file[at..]);
            let resumed = inspection.finish(file.len() as u64);
            match (&whole, &resumed) {
                (Err(NotAModel::Garbled(_)), Err(NotAModel::Garbled(_))) => {}
                _ => assert_eq!(whole, resumed, "{at}"),
            }
        }
    }
}

#[test]
fn a_model_that_was_cut_anywhere_is_refused_and_says_so() {
    let file = small();
    for size in 24..file.len() {
        let refused = look(&file[..size], 1 << 20).unwrap_err();
        assert!(matches!(refused, NotAModel::Truncated { .. }), "{size}: {refused}");
        assert!(refused.hint().contains("again"));
    }
    let end = look(&file[..file.len() - 1], 99).unwrap_err();
    let (size, needed) = (file.len() - 1, file.len());
    assert_eq!(end.to_string(), format!("the model ends early: it has {size} of {needed} bytes"));
}

#[test]
fn what_people_take_for_a_model_is_named_with_what_would_do() {
    for (file, said, hint) in [
        (&b""[..], "it has 0 bytes", "again"),
        (b"abc", "it has 3 bytes", "again"),
        (b"x", "it has 1 byte", "again"),
        (b"GGU", "it has 3 bytes", "again"),
        (b"<!doctype html><html><head>....", "a web page", "the file itself"),
        (b"\n  <html>", "a web page", "the file itself"),
        (b"version https://git-lfs.github.com/spec/v1\noid", "Git LFS", "git lfs pull"),
        (b"PK\x03\x04aaaaaaaaaaaaaaaaaaaaaaaaaaa", "an archive", "unpack"),
        (b"\x40\0\0\0\0\0\0\0{\"__metadata__\":{}}aaaa", "safetensors", "convert"),
        (b"lmggaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "before GGUF", "convert"),
        (b"this is no model but long enough", "does not begin like one", "convert"),
        (b"GGUF\0\0\0\x03aaaaaaaaaaaaaaaa", "version 50331648", "newer"),
        (b"GGUF\x01\0\0\0aaaaaaaaaaaaaaaa", "version 1,", "newer"),
    ] {
        for piece in [1, 5, 1 << 20] {
            let refused = look(file, piece).unwrap_err();
            assert!(refused.to_string().contains(said), "{refused}");
            assert!(refused.hint().contains(hint), "{refused}: {}", refused.hint());
        }
    }
}

#[test]
fn numbers_without_sense_are_refused_before_anything_is_kept_for_them() {
    let head = |tensors: u64, pairs: u64| {
        [&b"GGUF\x03\0\0\0"[..], &tensors.to_le_bytes(), &pairs.to_le_bytes()].concat()
    };
    let pair = |rest: &[u8]| [&head(1, 1)[..], &1_u64.to_le_bytes(), b"k", rest].concat();
    let list = |of: u32, items: u64| {
        pair(&[&9_u32.to_le_bytes()[..], &of.to_le_bytes(), &items.to_le_bytes()].concat())
    };
    let with_architecture = [("general.architecture", Value::Text("llama"))];
    for (file, said) in [
        (head(0, 1), "no tensors"),
        (head(u64::MAX, 1), "more entries"),
        (head(1, u64::MAX), "more entries"),
        ([&head(1, 1)[..], &u64::MAX.to_le_bytes()].concat(), "name"),
        (pair(&[&8_u32.to_le_bytes()[..], &u64::MAX.to_le_bytes()].concat()), "text"),
        (pair(&77_u32.to_le_bytes()), "kind"),
        (list(4, u64::MAX), "list"),
        (list(9, 5), "kind"),
        ([list(8, 2), u64::MAX.to_le_bytes().to_vec()].concat(), "text"),
        (model(&[], &[("t", 0, &[1, 1, 1, 1, 1], 0)]), "dimensions"),
        (model(&[], &[("t", 0, &[u64::MAX, 2], 0)]), "larger"),
        (model(&[], &[("t", 0, &[u64::MAX / 2], 0)]), "larger"),
        (model(&[], &[("t", 0, &[1], u64::MAX)]), "larger"),
        ([model(&[], &[("t", 0, &[1], 0)]), vec![0; 4]].concat(), "architecture"),
        (
            [model(&[("general.alignment", Value::Number(0))], &[("t", 0, &[1], 0)]), vec![0; 4]]
                .concat(),
            "aligned",
        ),
    ] {
        let refused = look(&file, 13).unwrap_err();
        assert!(matches!(refused, NotAModel::Garbled(_)), "{refused}: {said}");
        assert!(refused.to_string().contains(said), "{refused}");
    }
    let unknown = [model(&with_architecture, &[("t", 999, &[1], 0)]), vec![0; 4]].concat();
    assert!(look(&unknown, 13).is_ok(), "a kind from after this program is left to the engine");
    let split = [("split.count", Value::Number(3))];
    let refused = look(&model(&split, &[("t", 0, &[1], 0)]), 13).unwrap_err();
    assert_eq!(refused, NotAModel::Part { parts: 3 });
}

/// An upload that takes hours keeps its inspection for as long.
#[test]
fn a_file_of_long_or_many_names_decides_nothing_about_what_is_kept() {
    let long = format!("{}.block_count", "x".repeat(60_000));
    let names: Vec<String> = (0..2_000).map(|at| format!("x{at}.context_length")).collect();
    let mut pairs: Vec<_> = (0..500).map(|_| (long.as_str(), Value::Number(1))).collect();
    pairs.extend(names.iter().map(|name| (name.as_str(), Value::Text("y"))));
    pairs.extend(names.iter().map(|name| (name.as_str(), Value::Number(1))));
    let file = model(&pairs, &[("t", 0, &[8], 0)]);
    let mut inspection = Inspection::default();
    for piece in file.chunks(100_000) {
        inspection.push(piece);
        let kept = serde_json::to_vec(&inspection).unwrap().len();
        assert!(kept < 1_000_000, "{kept} bytes");
    }
    assert!(inspection.finish(file.len() as u64).is_err(), "it names no architecture");
}

#[test]
fn little_of_a_file_is_kept_while_it_is_looked_at() {
    let texts = vec!["word"; 50_000];
    let pairs = [("tokenizer.ggml.tokens", Value::Texts(&texts))];
    let file = model(&pairs, &[("t", 0, &[1], 0)]);
    let mut inspection = Inspection::default();
    for piece in file.chunks(1 << 18) {
        inspection.push(piece);
        assert!(inspection.rest.len() < 200);
        assert!(inspection.rest.capacity() < 1 << 18, "{}", inspection.rest.capacity());
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic_and_no_cut_changes_the_answer(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        piece in 1_usize..50,
    ) {
        for begin in [&b""[..], b"GGUF\x03\0\0\0\x02\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0"] {
            let file = [begin, &bytes].concat();
            prop_assert_eq!(look(&file, piece), look(&file, 1 << 20));
        }
    }

    #[test]
    fn a_model_with_any_byte_changed_is_read_the_same_in_any_pieces(
        at in 0_usize..2000,
        byte: u8,
        piece in 1_usize..50,
    ) {
        let mut file = small();
        let at = at % file.len();
        file[at] = byte;
        prop_assert_eq!(look(&file, piece), look(&file, 1 << 20));
    }
}
