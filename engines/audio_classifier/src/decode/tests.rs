//! Files as they should be, and files that attack their reader.

use super::*;

#[test]
fn channels_are_mixed() {
    let bytes = wav(16_000, 2, &[1000, 3000, -1000, -3000]);
    let (samples, seconds) = decode(&bytes).unwrap();
    assert_eq!(samples, [2000.0 / 32768.0, -2000.0 / 32768.0]);
    assert!((seconds - 2.0 / 16_000.0).abs() < 1e-9);
    assert_eq!(mix(&[f32::NAN, 9.0, f32::INFINITY, -9.0], 1), [0.0, 1.0, 0.0, -1.0]);
}

#[test]
fn an_mp3_and_a_flac_are_decoded() {
    let (samples, _) = decode(&silent_mp3(10)).unwrap();
    assert!(samples.len() >= 9 * 1152 && samples.iter().all(|sample| *sample == 0.0));
    let (samples, seconds) = decode(&silent_flac(10, Some(10))).unwrap();
    assert_eq!(samples.len(), 10 * FLAC_BLOCK);
    assert!((seconds - (10 * FLAC_BLOCK) as f64 / 8000.0).abs() < 1e-9);
}

#[test]
fn other_formats_are_named() {
    for file in [&b"\0\0\0\x20ftypM4A "[..], b"MThd", b"text", b"\xff\xd8\xff"] {
        let refusal = decode(file).unwrap_err();
        assert_eq!((refusal.status.as_u16(), refusal.code), (415, "unsupported_format"));
        assert!(refusal.message.contains(FORMATS));
    }
}

#[test]
fn a_wav_whose_header_lies_is_refused() {
    let honest = wav(16_000, 1, &[1; 1000]);
    let lies = |at: usize, bytes: &[u8]| {
        let mut file = honest.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        decode(&file).map_or_else(|refusal| refusal.status.as_u16(), |_| 200)
    };
    assert_eq!(lies(0, b"RIFF"), 200);
    for (what, at, bytes, status) in [
        ("no channels", 22, &0_u16.to_le_bytes()[..], 422),
        ("many channels", 22, &u16::MAX.to_le_bytes(), 422),
        ("no rate", 24, &0_u32.to_le_bytes(), 422),
        ("a rate of 1", 24, &1_u32.to_le_bytes(), 422),
        ("the highest rate", 24, &u32::MAX.to_le_bytes(), 422),
        ("no bits", 34, &0_u16.to_le_bytes(), 422),
        ("more samples than there are", 40, &1_000_000_u32.to_le_bytes(), 422),
        ("a compression of its own", 20, &0x1234_u16.to_le_bytes(), 415),
    ] {
        assert_eq!(lies(at, bytes), status, "{what}");
    }
    for bytes in [4, 12, 20, 36, 44, 45, 1000] {
        assert!(decode(&honest[..bytes]).is_err(), "{bytes} bytes");
    }
}

#[test]
fn a_truncated_mp3_is_refused() {
    let whole = silent_mp3(20);
    for bytes in [4, 100, 417 * 3 + 100, whole.len() - 1] {
        assert_eq!(decode(&whole[..bytes]).unwrap_err().status, 422, "{bytes} bytes");
    }
}

#[test]
fn a_truncated_flac_is_refused() {
    let whole = silent_flac(20, Some(20));
    for bytes in [4, 30, 42, whole.len() / 2] {
        assert_eq!(decode(&whole[..bytes]).unwrap_err().status, 422, "{bytes} bytes");
    }
}

#[test]
fn six_hours_are_refused_at_once_if_the_file_says_so_and_otherwise_after_two() {
    let blocks = 6 * 3600 * 8000 / FLAC_BLOCK;
    let said = Sound::open(silent_flac(blocks, Some(blocks)).into());
    assert_eq!(said.err().map(|refusal| refusal.code), Some("too_long"));

    let unsaid = silent_flac(blocks, None);
    assert!(unsaid.len() < 1_000_000, "hours in few bytes");
    let mut sound = Sound::open(unsaid.into()).unwrap();
    let refusal = loop {
        match sound.next() {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the end of six hours"),
            Err(refusal) => break refusal,
        }
    };
    assert_eq!((refusal.status.as_u16(), refusal.code), (413, "too_long"));
    assert!(sound.seconds() < 7300.0);
}

const MAGICS: &[&[u8]] = &[
    b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0",
    b"fLaC\0\0\0\x22",
    b"OggS\0\x02",
    b"ID3\x04\0\0\0\0\0\0",
    b"\xff\xfb\x90\0",
];

proptest::proptest! {
    #[test]
    fn no_bytes_panic_the_decoder(
        magic in proptest::sample::select(MAGICS.to_vec()),
        rest in proptest::collection::vec(proptest::num::u8::ANY, 0..600),
    ) {
        let _outcome = decode(&[magic, &rest].concat());
    }
}

/// Returns all samples of a file, and its seconds.
fn decode(file: &[u8]) -> Result<(Vec<f32>, f64), Refusal> {
    let mut sound = Sound::open(Bytes::copy_from_slice(file))?;
    let mut samples = Vec::new();
    while let Some(piece) = sound.next()? {
        samples.extend(piece.samples);
    }
    Ok((samples, sound.seconds()))
}

fn wav(rate: u32, channels: u16, samples: &[i16]) -> Vec<u8> {
    let data: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
    let bytes = u32::try_from(data.len()).unwrap();
    let mut file = b"RIFF".to_vec();
    file.extend((36 + bytes).to_le_bytes());
    file.extend(b"WAVEfmt \x10\0\0\0\x01\0");
    file.extend(channels.to_le_bytes());
    file.extend(rate.to_le_bytes());
    file.extend((rate * u32::from(channels) * 2).to_le_bytes());
    file.extend((channels * 2).to_le_bytes());
    file.extend(b"\x10\0data");
    file.extend(bytes.to_le_bytes());
    file.extend(data);
    file
}

/// Returns frames without any bits of sound: 128 kbit/s, 44.1 kHz, mono.
fn silent_mp3(frames: usize) -> Vec<u8> {
    let mut frame = vec![0; 417];
    frame[..4].copy_from_slice(&[0xff, 0xfb, 0x90, 0xc0]);
    frame.repeat(frames)
}

const FLAC_BLOCK: usize = 65_535;

/// Returns blocks with one constant sample each: 8 kHz, mono, 16 bits. The header says that it has `said` blocks.
fn silent_flac(blocks: usize, said: Option<usize>) -> Vec<u8> {
    let samples = (said.unwrap_or(0) * FLAC_BLOCK) as u64;
    let mut file = b"fLaC\x80\0\0\x22\xff\xff\xff\xff\0\0\0\0\0\0".to_vec();
    file.extend(((8000_u64 << 44) | (15 << 36) | samples).to_be_bytes());
    file.extend([0; 16]);
    for number in 0..blocks {
        // Fixed block size, 16 bits of size, rate of the header; mono, 16 bits.
        let mut frame = vec![0xff, 0xf8, 0x70, 0x08];
        let text = char::from_u32(u32::try_from(number).unwrap()).unwrap();
        frame.extend(text.encode_utf8(&mut [0; 4]).as_bytes());
        frame.extend(0xfffe_u16.to_be_bytes());
        frame.push(crc(&frame, 0x07, 8) as u8);
        frame.extend([0, 0, 0]);
        let sum = crc(&frame, 0x8005, 16);
        frame.extend(sum.to_be_bytes());
        file.extend(frame);
    }
    file
}

fn crc(bytes: &[u8], polynomial: u16, bits: u32) -> u16 {
    let (top, mask) = (1_u32 << (bits - 1), (1_u32 << bits) - 1);
    let mut sum = 0_u32;
    for byte in bytes {
        sum ^= u32::from(*byte) << (bits - 8);
        for _ in 0..8 {
            let carry = sum & top != 0;
            sum = (sum << 1) & mask;
            if carry {
                sum ^= u32::from(polynomial);
            }
        }
    }
    sum as u16
}
