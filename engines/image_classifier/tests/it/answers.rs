//! What images get as an answer.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test measures how long an answer takes, and encodes images"
)]

use std::{io::Cursor, time::Instant};

use image::{DynamicImage, ImageFormat};

use crate::{
    PAGE, PATH,
    engine::{Engine, Reply, assert_failure, form},
    orientation,
};

#[test]
fn a_page_is_recognized_in_four_rotations_and_three_formats() {
    let Some(engine) = orientation() else { return };
    let page = image::load_from_memory(PAGE).unwrap();
    let turned = [
        ("0", page.clone()),
        ("90", page.rotate90()),
        ("180", page.rotate180()),
        ("270", page.rotate270()),
    ];
    for (wanted, image) in &turned {
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP] {
            let began = Instant::now();
            let reply = post(&engine, "", &encode(image, format));
            eprintln!("{wanted} {format:?}: {:?}, {:?}", began.elapsed(), reply.body["data"][0]);
            let data = reply.body["data"].as_array().unwrap();
            assert_eq!(data[0]["label"], *wanted, "{format:?}: {reply:?}");
            assert_eq!(data.len(), 4, "all labels are fewer than five");
            let scores: Vec<f64> =
                data.iter().map(|label| label["score"].as_f64().unwrap()).collect();
            assert!(scores[0] > 0.5 && scores.is_sorted_by(|one, other| one >= other));
            assert!((scores.iter().sum::<f64>() - 1.0).abs() < 1e-3);
            assert_eq!(reply.body["object"], "image.classifications");
            assert_eq!(reply.body["model"], "mine");
            assert!(reply.body["created"].as_u64().unwrap() > 1_700_000_000);
            assert_eq!(reply.body["usage"], serde_json::json!({"type": "images", "images": 1}));
        }
    }
    eprintln!("peak memory: {} MiB", engine.peak_memory() >> 20);
}

#[test]
fn a_client_chooses_how_many_labels_it_wants() {
    let Some(engine) = orientation() else { return };
    let count = |reply: &Reply| reply.body["data"].as_array().map(Vec::len);
    for (query, wanted) in
        [("", 4), ("?top_k=1", 1), ("?top_k=3", 3), ("?top_k=99999999999999999999", 4)]
    {
        assert_eq!(count(&post(&engine, query, PAGE)), Some(wanted), "{query}");
    }
    for query in ["?top_k=0", "?top_k=-1", "?top_k=two", "?top_k="] {
        assert_failure(&post(&engine, query, PAGE), 400, "invalid_top_k");
    }
    for name in ["file", "image"] {
        let (headers, body) = form(name, PAGE, ("top_k", "2"));
        assert_eq!(count(&engine.send("POST", PATH, &headers, &body)), Some(2), "{name}");
    }
    let (headers, body) = form("file", PAGE, ("top_k", "0"));
    assert_failure(&engine.send("POST", PATH, &headers, &body), 400, "invalid_top_k");
    let (headers, body) = form("attachment", b"x", ("model", "mine"));
    assert_failure(&engine.send("POST", PATH, &headers, &body), 400, "missing_file");
}

#[test]
fn bad_files_are_refused_and_the_next_good_one_is_answered() {
    let Some(engine) = orientation() else { return };
    let before = engine.peak_memory();
    let bomb = png_header(60_000, 60_000);
    assert!(bomb.len() <= 2048);
    let reply = post(&engine, "", &bomb);
    assert_failure(&reply, 413, "too_many_pixels");
    assert!(reply.body["error"]["message"].as_str().unwrap().contains("50 megapixels"));
    assert!(engine.peak_memory() - before < 16 << 20, "almost no memory");

    assert_failure(&post(&engine, "", b""), 400, "empty_file");
    assert_failure(&post(&engine, "", &PAGE[..PAGE.len() / 2]), 422, "broken_file");
    assert_failure(&post(&engine, "", b"\xff\xd8\xff\xe0rest"), 422, "broken_file");
    for unknown in [&b"GIF89a"[..], b"%PDF-1.7", b"<svg/>", b"{}"] {
        let reply = post(&engine, "", unknown);
        assert_failure(&reply, 415, "unsupported_format");
        assert!(reply.body["error"]["message"].as_str().unwrap().contains("JPEG, PNG, WebP"));
    }
    assert_eq!(post(&engine, "", PAGE).status, 200);
}

fn post(engine: &Engine, query: &str, file: &[u8]) -> Reply {
    engine.send("POST", &format!("{PATH}{query}"), "Content-Type: image/png\r\n", file)
}

fn encode(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    image.to_rgb8().write_to(&mut file, format).unwrap();
    file.into_inner()
}

/// Returns the beginning of a picture of this size, with a few bytes of its content.
fn png_header(width: u32, height: u32) -> Vec<u8> {
    let chunk = |kind: &[u8], content: &[u8]| {
        let named = [kind, content].concat();
        let sum = named.iter().fold(u32::MAX, |sum, byte| {
            (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0xedb8_8320 * (sum & 1)))
        });
        let length = u32::try_from(content.len()).unwrap();
        [&length.to_be_bytes(), &named[..], &(!sum).to_be_bytes()].concat()
    };
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 6, 0, 0, 0]].concat();
    let content = [b"\x78\x01", &[0; 1000][..]].concat();
    [b"\x89PNG\r\n\x1a\n", &chunk(b"IHDR", &header)[..], &chunk(b"IDAT", &content)].concat()
}
