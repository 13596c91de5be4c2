//! Which format a file has, and whether an MP3 ends in the middle of a frame. Pure.

/// The formats that are read.
pub(crate) const FORMATS: &str = "WAV, FLAC, MP3, OGG (Vorbis)";

/// A format of sound.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Format {
    Wav,
    Flac,
    Mp3,
    Ogg,
}

/// Recognizes a file by its first bytes.
pub(crate) fn format(file: &[u8]) -> Option<Format> {
    if file.starts_with(b"RIFF") && file.get(8..12) == Some(b"WAVE") {
        Some(Format::Wav)
    } else if file.starts_with(b"fLaC") {
        Some(Format::Flac)
    } else if file.starts_with(b"OggS") {
        Some(Format::Ogg)
    } else if file.starts_with(b"ID3") || frame_bytes(file).is_some() {
        Some(Format::Mp3)
    } else {
        None
    }
}

/// Returns whether the last frame of an MP3 is incomplete. A decoder would ignore the rest of a file that was cut.
pub(crate) fn is_cut(file: &[u8]) -> bool {
    let Some(mut rest) = after_tag(file) else { return true };
    while let Some(bytes) = frame_bytes(rest) {
        match rest.get(bytes..) {
            Some(after) => rest = after,
            None => return true,
        }
    }
    // Fewer bytes than a header, which begin one.
    rest.len() < 4 && rest.first() == Some(&0xff)
}

/// Returns what follows an ID3v2 tag; nothing if the file ends in it.
fn after_tag(file: &[u8]) -> Option<&[u8]> {
    if !file.starts_with(b"ID3") {
        return Some(file);
    }
    let size = file.get(6..10)?.iter().fold(0, |size, byte| size << 7 | usize::from(byte & 0x7f));
    file.get(10 + size..)
}

/// Returns the length of the MPEG audio frame of layer III that begins here.
fn frame_bytes(file: &[u8]) -> Option<usize> {
    const MPEG1: [usize; 15] = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
    const MPEG2: [usize; 15] = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
    let &[first, second, third, _] = file.first_chunk::<4>()?;
    let (version, layer) = ((second >> 3) & 3, (second >> 1) & 3);
    if first != 0xff || second >> 5 != 7 || layer != 1 {
        return None;
    }
    // 2.5, nothing, 2, 1: the divisor of the sample rates, the bit rates, and samples in eighths of a frame.
    let (divisor, rates, eighths) = match version {
        0 => (4, MPEG2, 72),
        2 => (2, MPEG2, 72),
        3 => (1, MPEG1, 144),
        _ => return None,
    };
    let kilobits = *rates.get(usize::from(third >> 4))?;
    let rate = *[44_100, 48_000, 32_000].get(usize::from((third >> 2) & 3))? / divisor;
    let padding = usize::from((third >> 1) & 1);
    (kilobits > 0).then(|| eighths * kilobits * 1000 / rate + padding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_recognized_by_its_first_bytes() {
        for (file, wanted) in [
            (&b"RIFF\0\0\0\0WAVEfmt "[..], Some(Format::Wav)),
            (b"RIFF\0\0\0\0WEBP", None),
            (b"fLaC", Some(Format::Flac)),
            (b"OggS", Some(Format::Ogg)),
            (b"ID3\x04", Some(Format::Mp3)),
            (b"\xff\xfb\x90\x00", Some(Format::Mp3)),
            (b"\xff\xf3\x40\x00", Some(Format::Mp3)),
            (b"\xff\xd8\xff\xe0", None),
            (b"\xff", None),
            (b"", None),
        ] {
            assert_eq!(format(file), wanted, "{file:?}");
        }
    }

    #[test]
    fn a_frame_has_the_length_that_its_header_says() {
        for (header, bytes) in [
            ([0xff, 0xfb, 0x90, 0x00], Some(417)),
            ([0xff, 0xfb, 0x92, 0x00], Some(418)),
            ([0xff, 0xfb, 0x94, 0x00], Some(384)),
            ([0xff, 0xf3, 0x40, 0x00], Some(104)),
            ([0xff, 0xe3, 0x48, 0x00], Some(288)),
            ([0xff, 0xfb, 0x00, 0x00], None),
            ([0xff, 0xfb, 0xf0, 0x00], None),
            ([0xff, 0xfb, 0x9c, 0x00], None),
            ([0xff, 0xeb, 0x90, 0x00], None),
        ] {
            assert_eq!(frame_bytes(&header), bytes, "{header:x?}");
        }
    }

    #[test]
    fn a_file_that_ends_in_a_frame_was_cut() {
        let mut frame = vec![0; 417];
        frame[..4].copy_from_slice(&[0xff, 0xfb, 0x90, 0x00]);
        let whole = frame.repeat(3);
        assert!(!is_cut(&whole));
        for bytes in [1, 3, 4, 416, 418, 420, 1250] {
            assert!(is_cut(&whole[..bytes]), "{bytes}");
        }
        let tagged = [&b"ID3\x04\0\0\0\0\x01\x00"[..], &[0; 128], &whole].concat();
        assert!(!is_cut(&tagged));
        assert!(is_cut(&tagged[..9]) && is_cut(&tagged[..100]) && is_cut(&tagged[..1000]));
        assert!(!is_cut(&[&whole[..], b"TAG", &[0; 125]].concat()), "a tag at the end");
    }
}
