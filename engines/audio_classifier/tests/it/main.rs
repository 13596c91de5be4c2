//! The program as the agent starts it, with a real network that knows whether somebody speaks.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test reads a recording and writes models"
)]

#[path = "../../../classifier/tests/it/engine.rs"]
mod engine;

use std::{
    f32::consts::TAU,
    path::Path,
    time::{Duration, Instant},
};

use engine::{Engine, Reply, archive, assert_failure, form, outcome};

const PROGRAM: &str = env!("CARGO_BIN_EXE_link-audio-classifier");
const PATH: &str = "/v1/audio/classifications";

#[test]
fn speech_is_found_in_a_recording() {
    let Some((engine, prepared)) = voice() else { return };
    for name in ["jfk.wav", "jfk.mp3"] {
        let began = Instant::now();
        let file = std::fs::read(prepared.join(name)).unwrap();
        let reply = post(&engine, &file);
        eprintln!("{name}: {:?}, {}", began.elapsed(), reply.body["summary"]);
        assert_eq!(reply.status, 200, "{reply:?}");
        assert_eq!(reply.body["object"], "audio.classifications");
        assert_eq!(reply.body["model"], "mine");
        let duration = reply.body["duration"].as_f64().unwrap();
        assert!((duration - 11.0).abs() < 0.15, "{duration}");
        assert_eq!(
            reply.body["usage"],
            serde_json::json!({"type": "duration", "seconds": duration})
        );
        let summary = &reply.body["summary"][0];
        assert_eq!(summary["label"], "speech");
        assert!(summary["share"].as_f64().unwrap() > 0.5, "{summary}");
        let segments = reply.body["data"].as_array().unwrap();
        assert!((2..20).contains(&segments.len()), "pauses part the segments: {segments:?}");
        let mut end = -1.0;
        for segment in segments {
            let times = (segment["start"].as_f64().unwrap(), segment["end"].as_f64().unwrap());
            assert!(times.0 > end && times.1 > times.0 && times.1 <= duration, "{segments:?}");
            assert!((0.5..=1.0).contains(&segment["score"].as_f64().unwrap()));
            end = times.1;
        }
    }
    let (headers, body) =
        form("file", &std::fs::read(prepared.join("jfk.wav")).unwrap(), ("model", "x"));
    assert_eq!(engine.send("POST", PATH, &headers, &body).status, 200);
    eprintln!("peak memory: {} MiB", engine.peak_memory() >> 20);
}

#[test]
fn no_speech_is_found_in_noise_silence_and_a_tone() {
    let Some((engine, _)) = voice() else { return };
    let mut seed = 1_u32;
    let mut noise = move || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        0.1 * ((seed >> 16) as f32 / 32_768.0 - 1.0)
    };
    for (rate, channels) in [(16_000, 1), (44_100, 2)] {
        let tone = |at: usize| 0.3 * (TAU * 440.0 * (at / channels) as f32 / rate as f32).sin();
        let length = 8 * rate * channels;
        for (what, samples) in [
            ("noise", (0..length).map(|_| noise()).collect::<Vec<f32>>()),
            ("silence", vec![0.0; length]),
            ("a tone", (0..length).map(tone).collect()),
        ] {
            let reply = post(&engine, &wav(rate, channels, &samples));
            assert_eq!(reply.status, 200, "{what}: {reply:?}");
            assert_eq!(reply.body["duration"], 8.0, "{what}");
            assert_eq!(reply.body["data"], serde_json::json!([]), "{what} at {rate} Hz");
            assert_eq!(reply.body["summary"], serde_json::json!([]), "{what} at {rate} Hz");
        }
    }
}

#[test]
fn bad_files_are_refused_and_the_next_good_one_is_answered() {
    let Some((engine, prepared)) = voice() else { return };
    let speech = std::fs::read(prepared.join("jfk.wav")).unwrap();
    let mp3 = std::fs::read(prepared.join("jfk.mp3")).unwrap();
    let mut lying = speech.clone();
    let size = lying.windows(4).position(|word| word == b"data").unwrap() + 4;
    lying[size..size + 4].copy_from_slice(&0x7fff_ffff_u32.to_le_bytes());
    let mut channels = speech.clone();
    channels[22..24].copy_from_slice(&u16::MAX.to_le_bytes());
    for (what, file, status, code) in [
        ("nothing", &b""[..], 400, "empty_file"),
        ("text", b"hello", 415, "unsupported_format"),
        ("half an MP3", &mp3[..mp3.len() / 2], 422, "broken_file"),
        ("half a WAV", &speech[..speech.len() / 2], 422, "broken_file"),
        ("a WAV that claims two gigabytes", &lying, 413, "too_long"),
        ("a WAV that claims 65535 channels", &channels, 422, "broken_file"),
        ("a header alone", &speech[..44], 422, "broken_file"),
        ("a magic alone", b"OggS", 422, "broken_file"),
    ] {
        let reply = post(&engine, file);
        assert!(
            reply.status == status || (status == 413 && reply.status == 422),
            "{what}: {reply:?}"
        );
        assert_failure(
            &reply,
            reply.status,
            if reply.status == status { code } else { "broken_file" },
        );
    }
    let before = engine.peak_memory();
    let began = Instant::now();
    let reply = post(&engine, &silent_hours(6));
    assert_failure(&reply, 413, "too_long");
    assert!(reply.body["error"]["message"].as_str().unwrap().contains("2 hours"));
    eprintln!("six hours: {:?}, {} MiB", began.elapsed(), (engine.peak_memory() - before) >> 20);
    assert!(engine.peak_memory() - before < 64 << 20, "bounded memory");
    assert_eq!(post(&engine, &speech).status, 200);
}

#[test]
fn a_model_that_cannot_be_served_is_refused_with_its_reason() {
    let Some(prepared) = engine::prepared() else { return };
    let network = std::fs::read(prepared.join("voice.onnx")).unwrap();
    let with =
        |settings: &str| archive(&[("model.onnx", &network), ("model.json", settings.as_bytes())]);
    let sequence =
        r#"{"task":"audio","kind":"sequence","sample_rate":16000,"window":512,"context":64"#;
    for (what, model, wanted) in [
        ("a bare network", network.clone(), "model.json"),
        ("an image model", std::fs::read(prepared.join("orientation.tar")).unwrap(), "model.json"),
        (
            "two labels",
            with(&format!(r#"{sequence},"labels":["a","b"]}}"#)),
            "outputs of the model: 1, labels: 2",
        ),
        (
            "another kind",
            with(&sequence.replace("sequence", "window").replace("64", r#"64,"labels":["a"]}"#)),
            "`window`",
        ),
        ("another context", with(&sequence.replace("64", r#"32,"labels":["a"]}"#)), "failed"),
    ] {
        let log = failure(&prepared, &model);
        assert!(log.contains(wanted), "{what}: {log}");
    }
}

#[test]
fn a_bare_network_describes_itself_and_classifies_windows() {
    let Some(prepared) = engine::prepared() else { return };
    let labels: Vec<String> = (0..16).map(|number| format!("l{number}")).collect();
    let settings = serde_json::json!({
        "task": "audio", "kind": "window", "sample_rate": 4000, "window": 16, "hop": 16, "labels": labels,
    });
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model.onnx");
    std::fs::write(&model, identity(16, &settings.to_string())).unwrap();
    let engine = Engine::start(PROGRAM, &prepared, &model);
    // A score is the sample at the place of its label: 3 in two windows, 5 in the second, 7 in the fourth.
    let mut samples = [0.0; 60];
    for (at, score) in [(3, 0.75), (16 + 3, 0.85), (16 + 5, 0.6), (32, 0.49), (48 + 7, 1.0)] {
        samples[at] = score;
    }
    let reply = post(&engine, &wav(4000, 1, &samples));
    let found: Vec<_> = reply.body["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|segment| {
            format!(
                "{} {} {} {}",
                segment["label"], segment["start"], segment["end"], segment["score"]
            )
        })
        .collect();
    assert_eq!(found, ["\"l3\" 0.0 0.008 0.8", "\"l5\" 0.004 0.008 0.6", "\"l7\" 0.012 0.015 1.0"]);
    assert_eq!(
        reply.body["summary"][0],
        serde_json::json!({"label": "l3", "seconds": 0.008, "share": 0.533})
    );
}

/// Returns a network whose outputs are its inputs, in ONNX, with a description in its metadata.
fn identity(size: u8, description: &str) -> Vec<u8> {
    fn field(number: u8, content: &[u8]) -> Vec<u8> {
        let mut bytes = vec![number << 3 | 2];
        let mut length = content.len();
        while length > 127 {
            bytes.push((length & 127) as u8 | 128);
            length >>= 7;
        }
        bytes.push(length as u8);
        bytes.extend(content);
        bytes
    }
    let number = |number: u8, value: u8| vec![number << 3, value];
    let dimension = |size| field(1, &number(1, size));
    let shape = [dimension(1), dimension(size)].concat();
    let tensor = field(1, &[number(1, 1), field(2, &shape)].concat());
    let port = |name: &[u8]| [field(1, name), field(2, &tensor)].concat();
    let node = [field(1, b"x"), field(2, b"y"), field(4, b"Identity")].concat();
    let graph =
        [field(1, &node), field(2, b"g"), field(11, &port(b"x")), field(12, &port(b"y"))].concat();
    let metadata = [field(1, b"link"), field(2, description.as_bytes())].concat();
    [number(1, 8), field(7, &graph), field(8, &number(2, 13)), field(14, &metadata)].concat()
}

/// Starts the program with the network for voices; nothing if it is not prepared.
fn voice() -> Option<(Engine, std::path::PathBuf)> {
    let prepared = engine::prepared()?;
    Some((Engine::start(PROGRAM, &prepared, &prepared.join("voice.tar")), prepared))
}

fn post(engine: &Engine, file: &[u8]) -> Reply {
    engine.send("POST", PATH, "Content-Type: audio/wav\r\n", file)
}

fn failure(prepared: &Path, model: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    std::fs::write(&path, model).unwrap();
    let mut command = engine::command(PROGRAM, &path, folder.path());
    command.args(["--host", "127.0.0.1", "--port", "0", "--runtime"]);
    command.arg(prepared.join("libonnxruntime.so.1.31.1"));
    let (code, log) = outcome(command.spawn().unwrap(), Duration::from_secs(60));
    assert_eq!(code, Some(1), "{log}");
    log
}

/// Returns sound with 16 bits for each sample.
fn wav(rate: usize, channels: usize, samples: &[f32]) -> Vec<u8> {
    let data: Vec<u8> =
        samples.iter().flat_map(|sample| ((sample * 32_767.0) as i16).to_le_bytes()).collect();
    let number = |number: usize| u32::try_from(number).unwrap().to_le_bytes();
    let mut file = b"RIFF".to_vec();
    file.extend(number(36 + data.len()));
    file.extend(b"WAVEfmt \x10\0\0\0\x01\0");
    file.extend(&number(channels)[..2]);
    file.extend(number(rate));
    file.extend(number(rate * channels * 2));
    file.extend(&number(channels * 2)[..2]);
    file.extend(b"\x10\0data");
    file.extend(number(data.len()));
    file.extend(data);
    file
}

/// Returns hours of silence whose header does not say how long they last: one frame of MP3 after the other, with 8
/// thousand bits and 8 thousand samples in a second.
fn silent_hours(hours: usize) -> Vec<u8> {
    let mut frame = [0; 72];
    frame[..4].copy_from_slice(&[0xff, 0xe3, 0x18, 0xc0]);
    frame.repeat(hours * 3600 * 8000 / 576)
}
