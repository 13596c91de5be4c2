//! Tests the reading of forms and of the length of audio, above all where headers lie.

use proptest::prelude::*;

use super::*;

const FORM: &str = "multipart/form-data; boundary=XyZ";
const SECOND: u32 = 16_000;

#[test]
fn a_form_is_read_as_clients_write_it() {
    let body = form(&[
        ("name=\"model\"", b"whisper-1"),
        ("name=\"file\"; filename=\"a;name=model\\\"; \r.wav\"", &plain(SECOND)),
        ("name=unquoted", b"yes"),
        ("name=\"model\"", b"the second one does not count"),
    ]);
    for content_type in [
        FORM,
        "Multipart/Form-Data;charset=utf-8; BOUNDARY=\"XyZ\"",
        "multipart/form-data ;boundary=XyZ ; x=y",
    ] {
        let field = |name| form_field(content_type, &body, name);
        assert_eq!(field("model").as_deref(), Some("whisper-1"), "{content_type}");
        assert_eq!(field("unquoted").as_deref(), Some("yes"));
        assert_eq!(field("absent"), None);
        assert_eq!(duration_of_upload(content_type, &body), Some(Duration::from_secs(1)));
    }
    let preamble = [b"a preamble\r\n".as_slice(), &body].concat();
    assert_eq!(form_field(FORM, &preamble, "model").as_deref(), Some("whisper-1"));
}

#[test]
fn a_field_in_front_is_the_first_of_its_name() {
    let body = form(&[("name=\"translate\"", b"false"), ("name=\"file\"", &plain(SECOND))]);
    let front = field_in_front(FORM, "translate", "true").unwrap();
    for body in [body.clone(), [b"a preamble\r\n".as_slice(), &body].concat()] {
        let body = [front.clone(), body].concat();
        assert!(form_field(FORM, &body, "translate").unwrap().starts_with("true"));
        assert_eq!(duration_of_upload(FORM, &body), Some(Duration::from_secs(1)));
    }
    assert_eq!(field_in_front("application/json", "translate", "true"), None);
}

#[test]
fn a_form_that_is_cut_or_wrong_has_nothing() {
    let whole = form(&[("name=\"file\"", &plain(SECOND)), ("name=\"model\"", b"x")]);
    let last = whole.len() - b"--XyZ--\r\n".len();
    for end in (0..60).chain(last - 5..last) {
        assert_eq!(form_field(FORM, &whole[..end], "model"), None, "cut at {end}");
    }
    for content_type in [
        "",
        "multipart/form-data",
        "multipart/form-data; boundary=",
        "multipart/form-data; boundary=Other",
        "application/json; boundary=XyZ",
        &format!("multipart/form-data; boundary={}", "a".repeat(71)),
    ] {
        assert_eq!(form_field(content_type, &whole, "model"), None, "{content_type}");
        assert_eq!(duration_of_upload(content_type, &whole), None, "{content_type}");
    }
    let long = vec![b'a'; FIELD_LIMIT + 1];
    assert_eq!(form_field(FORM, &form(&[("name=\"model\"", &long)]), "model"), None);
    assert!(form_field(FORM, &form(&[("name=\"model\"", &long[1..])]), "model").is_some());
    assert_eq!(form_field(FORM, &form(&[("name=\"model\"", b"\xFF")]), "model"), None);
    let head = format!("name=\"model\"\r\nx: {}", "a".repeat(HEAD_LIMIT));
    assert_eq!(form_field(FORM, &form(&[(&head, b"x")]), "model"), None);
    let many = vec![("name=\"other\"", b"x".as_slice()); PARTS_LIMIT];
    let many = form(&[many, vec![("name=\"model\"", b"x")]].concat());
    assert_eq!(form_field(FORM, &many, "model"), None);
}

#[test]
fn a_header_that_lies_yields_no_more_than_the_bytes_hold() {
    let samples = [0; 32_000];
    let chunk = |size: u32, samples: &[u8]| [b"data", &size.to_le_bytes()[..], samples].concat();
    let format = |kind: u16, channels: u16, rate: u32, block: u16, bits: u16| {
        let words = [kind.to_le_bytes(), channels.to_le_bytes()].concat();
        let sizes = [block.to_le_bytes(), bits.to_le_bytes()].concat();
        [b"fmt \x10\0\0\0", &words[..], &rate.to_le_bytes(), &[0xFF; 4], &sizes].concat()
    };
    let good = format(1, 1, SECOND, 2, 16);
    let odd = b"LIST\x03\0\0\0odd\0".to_vec();
    let second = Some(Duration::from_secs(1));
    for (what, chunks, expected) in [
        ("the truth", vec![good.clone(), chunk(32_000, &samples)], second),
        ("a size of a pipe", vec![good.clone(), chunk(u32::MAX, &samples)], second),
        ("half a size", vec![good.clone(), chunk(16_000, &samples)], second.map(|it| it / 2)),
        ("no samples", vec![good.clone(), chunk(9, &[])], Some(Duration::ZERO)),
        ("a chunk between", vec![good.clone(), odd, chunk(32_000, &samples)], second),
        ("no format", vec![chunk(32_000, &samples)], None),
        ("no data", vec![good.clone()], None),
        ("a chunk without end", vec![b"LIST\xFF\xFF\xFF\xFF".to_vec(), good.clone()], None),
        ("a short format", vec![b"fmt \x02\0\0\0\x01\0".to_vec(), chunk(2, &samples)], None),
        ("no rate", vec![format(1, 1, 0, 2, 16), chunk(32_000, &samples)], None),
        ("no channels", vec![format(1, 0, SECOND, 0, 16), chunk(32_000, &samples)], None),
        ("a frame of no bytes", vec![format(1, 1, SECOND, 0, 0), chunk(9, &samples)], None),
        ("a frame of one byte", vec![format(1, 1, SECOND, 1, 16), chunk(9, &samples)], None),
        ("a code", vec![format(0x55, 1, SECOND, 2, 16), chunk(9, &samples)], None),
    ] {
        let file = [b"RIFF\xFF\xFF\xFF\xFFWAVE".to_vec(), chunks.concat()].concat();
        assert_eq!(upload(&file), expected, "{what}");
    }
    for (what, claimed, block, expected) in [
        ("the truth", 16_000, 4096, second),
        ("the most of a field", 0xF_FFFF_FFFF, 4096, Some(Duration::from_millis(2_560))),
        ("blocks of nothing", 16_000, 0, Some(Duration::ZERO)),
        ("an unknown length", 0, 4096, None),
    ] {
        assert_eq!(upload(&lossless(claimed, block, SECOND)), expected, "{what}");
    }
    assert_eq!(upload(&lossless(16_000, 4096, 0)), None, "no rate");
    // The description claims a billion frames.
    let mut described = frames(2);
    described[36..44].copy_from_slice(b"Xing\0\0\0\x0F");
    described[44..48].copy_from_slice(&1_000_000_000_u32.to_be_bytes());
    assert_eq!(upload(&described), Some(Duration::from_millis(24)));
}

#[test]
fn frames_of_mp3_are_added_up() {
    let of = |count: u32| Some(count * Duration::from_millis(24));
    assert_eq!(upload(&frames(100)), of(100));
    // A frame that is cut does not count, and neither does a tag at the end.
    let cut = frames(100);
    assert_eq!(upload(&cut[..cut.len() - 1]), of(99));
    assert_eq!(upload(&[frames(9), b"TAG".to_vec(), vec![b' '; 125]].concat()), of(9));
    let tag = |size: [u8; 4]| [b"ID3\x04\0\0".to_vec(), size.to_vec(), vec![0xFF; 300]].concat();
    assert_eq!(upload(&[tag([0, 0, 2, 44]), frames(9)].concat()), of(9));
    assert_eq!(upload(&[tag([0x7F; 4]), frames(9)].concat()), None);
    assert_eq!(upload(&[vec![0; SYNC_LIMIT], frames(9)].concat()), None);
    for other in [b"".as_slice(), b"OggS", b"\xFF\xFB\x94\0", &[0xFF; 5000], &[0; 5000]] {
        assert_eq!(upload(other), None);
    }
}

proptest! {
    #[test]
    fn no_upload_panics(
        content_type in ".*",
        start in prop::sample::select(vec![&b"RIFF"[..], b"RIFF\0\0\0\0WAVEfmt ", b"fLaC", b"ID3", b"\xFF\xFB", b""]),
        noise in prop::collection::vec(any::<u8>(), 0..300),
        name in ".{0,8}",
    ) {
        let file = [start, &noise].concat();
        let _length = upload(&file);
        let body = form(&[("name=\"file\"", &file)]);
        let _length = duration_of_upload(&content_type, &body);
        let _field = form_field(FORM, &noise, &name);
    }

    #[test]
    fn no_changed_byte_lengthens_a_file_beyond_its_bytes(at in 0_usize..60, to: u8) {
        let mut wave = plain(SECOND);
        if let Some(byte) = wave.get_mut(at) {
            *byte = to;
        }
        // A changed rate may be as low as one sample in a second, so samples are compared.
        let rate = u32::from_le_bytes(*wave[24..].first_chunk().unwrap());
        let most = Duration::from_secs_f64(wave.len() as f64 / f64::from(rate.max(1)));
        prop_assert!(upload(&wave).unwrap_or_default() <= most);
        let mut sound = frames(20);
        sound[at] = to;
        prop_assert!(upload(&sound).unwrap_or_default() <= 20 * Duration::from_millis(144));
    }

    #[test]
    fn a_field_returns_as_it_was_sent(text in "[^\r]{0,64}") {
        let body = form(&[("name=\"file\"", b"x"), ("name=\"model\"", text.as_bytes())]);
        prop_assert_eq!(form_field(FORM, &body, "model"), Some(text));
    }
}

fn upload(file: &[u8]) -> Option<Duration> {
    duration_of_upload(FORM, &form(&[("name=\"file\"; filename=\"x\"", file)]))
}

fn form(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (parameters, content) in parts {
        let head = format!("--XyZ\r\nContent-Disposition: form-data; {parameters}\r\n\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--XyZ--\r\n");
    body
}

/// One channel of 16 bits.
fn plain(samples: u32) -> Vec<u8> {
    let rate = SECOND.to_le_bytes();
    let head = [b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0", &rate[..], b"\0\0\0\0\x02\0\x10\0"];
    let size = (2 * samples).to_le_bytes();
    [&head.concat()[..], b"data", &size, &vec![0; 2 * samples as usize]].concat()
}

/// A FLAC file of 100 bytes, one channel of 16 bits.
fn lossless(samples: u64, block: u16, rate: u32) -> Vec<u8> {
    let packed = u64::from(rate) << 44 | 15 << 36 | samples;
    let blocks = [block.to_be_bytes(), block.to_be_bytes()].concat();
    let info = [&blocks[..], &[0; 6], &packed.to_be_bytes(), &[0; 16]].concat();
    [b"fLaC\x80\0\0\x22", &info[..], &[0; 58]].concat()
}

/// Frames of 128 kilobits and 48,000 samples in a second: 384 bytes and 24 ms each.
fn frames(count: usize) -> Vec<u8> {
    let mut frame = vec![0; 384];
    frame[..4].copy_from_slice(&[0xFF, 0xFB, 0x94, 0]);
    frame.repeat(count)
}
