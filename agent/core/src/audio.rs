//! The length of uploaded audio, from the headers of the uploaded file.
//!
//! An engine that transcribes tells the length only in one of its answers' formats, so the request is read instead. All
//! numbers in a file are claims: a length is never more than the bytes that are really there can hold at the claimed
//! rate, and a file that is not understood has no length. The upload is only read, and no part of it is copied.

#[cfg(test)]
mod tests;

use std::time::Duration;

/// The longest head of a part of a form, in bytes.
const HEAD_LIMIT: usize = 4 * 1024;
/// The most parts of a form that are read.
const PARTS_LIMIT: usize = 64;
/// The longest boundary of a form, in bytes (RFC 2046).
const BOUNDARY_LIMIT: usize = 70;
/// The longest text field, in bytes.
const FIELD_LIMIT: usize = 256;
/// How far behind its tag the first frame of an MP3 file is searched for, in bytes.
const SYNC_LIMIT: usize = 4 * 1024;
/// The size of the smallest frame of a FLAC file, in bytes: header, checksums, and one silent channel.
const FLAC_FRAME: u64 = 10;

/// Returns the length of the audio in the part `file` of a form, for WAV, FLAC and MP3.
#[must_use]
pub fn duration_of_upload(content_type: &str, body: &[u8]) -> Option<Duration> {
    let file = part(content_type, body, "file")?;
    if file.starts_with(b"RIFF") {
        wav(file)
    } else if file.starts_with(b"fLaC") {
        flac(file)
    } else {
        mp3(file)
    }
}

/// Returns a text field of a form, if it has at most 256 bytes.
#[must_use]
pub fn form_field(content_type: &str, body: &[u8], name: &str) -> Option<String> {
    let field = part(content_type, body, name).filter(|field| field.len() <= FIELD_LIMIT)?;
    std::str::from_utf8(field).ok().map(str::to_owned)
}

/// Returns the bytes that put a text field in front of a form. Engines take the first of several fields with one name.
#[must_use]
pub fn field_in_front(content_type: &str, name: &str, value: &str) -> Option<Vec<u8>> {
    let delimiter = delimiter(content_type)?;
    let head = format!("\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
    Some([&delimiter[2..], head.as_bytes()].concat())
}

/// Returns the content of the first part with this name. The part must be complete.
fn part<'a>(content_type: &str, body: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let delimiter = delimiter(content_type)?;
    // The first delimiter may stand at the very beginning, where no line ends before it.
    let mut rest = match body.strip_prefix(&delimiter[2..]) {
        Some(rest) => rest,
        None => split(body, &delimiter)?.1,
    };
    for _ in 0..PARTS_LIMIT {
        let head = &rest[..rest.len().min(HEAD_LIMIT)];
        let end = find(head, b"\r\n\r\n")?;
        let (head, content) = (&head[..end], &rest[end + 4..]);
        // Behind the last delimiter stand two dashes, behind all others the end of the line.
        let head = head.strip_prefix(b"\r\n")?;
        let (content, after) = split(content, &delimiter)?;
        if is_named(head, name) {
            return Some(content);
        }
        rest = after;
    }
    None
}

/// Returns what separates the parts of a form: the end of a line, two dashes, and the boundary.
fn delimiter(content_type: &str) -> Option<Vec<u8>> {
    let (media_type, _) = content_type.split_once(';')?;
    if !media_type.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let boundary = parameter(content_type.as_bytes(), "boundary")?;
    if !(1..=BOUNDARY_LIMIT).contains(&boundary.len()) {
        return None;
    }
    Some([b"\r\n--", boundary].concat())
}

/// Returns whether the head of a part names it `name`.
fn is_named(head: &[u8], name: &str) -> bool {
    let mut lines = head.split(|byte| *byte == b'\n');
    lines.any(|line| {
        let colon = line.iter().position(|byte| *byte == b':');
        let Some((header, value)) = colon.and_then(|colon| line.split_at_checked(colon)) else {
            return false;
        };
        header.eq_ignore_ascii_case(b"content-disposition")
            && parameter(value, "name") == Some(name.as_bytes())
    })
}

/// Returns a parameter of a header's value, such as `file` of `form-data; name="file"`.
fn parameter<'a>(value: &'a [u8], wanted: &str) -> Option<&'a [u8]> {
    let (mut quoted, mut escaped) = (false, false);
    let ends = |byte: &u8| {
        quoted ^= *byte == b'"' && !escaped;
        escaped = quoted && *byte == b'\\' && !escaped;
        *byte == b';' && !quoted
    };
    value.split(ends).skip(1).find_map(|parameter| {
        let equals = parameter.iter().position(|byte| *byte == b'=')?;
        let (key, value) = (parameter[..equals].trim_ascii(), parameter[equals + 1..].trim_ascii());
        let unquoted = value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\""));
        key.eq_ignore_ascii_case(wanted.as_bytes()).then_some(unquoted.unwrap_or(value))
    })
}

/// Returns what stands before and behind the first `needle`.
fn split<'a>(bytes: &'a [u8], needle: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = find(bytes, needle)?;
    Some((&bytes[..at], &bytes[at + needle.len()..]))
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    let first = *needle.first()?;
    let mut from = 0;
    loop {
        from += bytes.get(from..)?.iter().position(|byte| *byte == first)?;
        if bytes[from..].starts_with(needle) {
            return Some(from);
        }
        from += 1;
    }
}

/// The length of a WAV file whose samples all have the same size.
fn wav(file: &[u8]) -> Option<Duration> {
    let mut rest = file.get(8..)?.strip_prefix(b"WAVE")?;
    let mut format = None;
    loop {
        let (head, behind) = rest.split_at_checked(8)?;
        let size = usize::try_from(u32::from_le_bytes(*head[4..].first_chunk()?)).ok()?;
        let chunk = &behind[..size.min(behind.len())];
        match &head[..4] {
            b"fmt " => format = Some(wav_format(chunk)?),
            b"data" => {
                let (rate, frame) = format?;
                return length(chunk.len() as u64 / frame, rate);
            }
            _ => {}
        }
        // Chunks begin at even offsets.
        rest = behind.get(size.checked_add(size % 2)?..)?;
    }
}

/// Returns the sample rate of a WAV file, and the size of one sample of all channels in bytes.
fn wav_format(chunk: &[u8]) -> Option<(u32, u64)> {
    const PCM: u16 = 1;
    const FLOAT: u16 = 3;
    const A_LAW: u16 = 6;
    const MU_LAW: u16 = 7;
    const EXTENSIBLE: u16 = 0xFFFE;
    let word = |at: usize| Some(u16::from_le_bytes(*chunk.get(at..)?.first_chunk()?));
    let (kind, channels, block, bits) = (word(0)?, word(2)?, word(12)?, word(14)?);
    let rate = u32::from_le_bytes(*chunk.get(4..)?.first_chunk()?);
    let frame = u64::from(channels) * u64::from(bits.div_ceil(8));
    let is_plain = matches!(kind, PCM | FLOAT | A_LAW | MU_LAW | EXTENSIBLE);
    (is_plain && frame > 0 && frame == u64::from(block)).then_some((rate, frame))
}

/// The length of a FLAC file, which states it at its beginning.
fn flac(file: &[u8]) -> Option<Duration> {
    let info: &[u8; 34] = file.get(8..)?.first_chunk()?;
    let is_info = file[4] & 0x7F == 0 && file[5..8] == [0, 0, 34];
    let block = u64::from(u16::from_be_bytes([info[2], info[3]]));
    // 20 bits of the rate, 8 of channels and sample size, 36 of the number of samples.
    let packed = u64::from_be_bytes(*info[10..].first_chunk()?);
    let (rate, samples) = (u32::try_from(packed >> 44).ok()?, packed & 0xF_FFFF_FFFF);
    let most = (file.len() as u64 / FLAC_FRAME).saturating_mul(block);
    (is_info && samples > 0).then(|| length(samples.min(most), rate))?
}

/// The length of an MP3 file: the sum of its frames, without the frame that only describes the others.
fn mp3(file: &[u8]) -> Option<Duration> {
    let tag = match file.first_chunk::<10>() {
        // The size has seven bits in each byte.
        Some([b'I', b'D', b'3', _, _, _, size @ ..]) => {
            10 + size.iter().fold(0, |sum, byte| sum << 7 | usize::from(byte & 0x7F))
        }
        _ => 0,
    };
    let file = file.get(tag..)?;
    let is_start = |at: &usize| {
        let next = |frame: Frame| frame.read_next(&file[*at..]).is_some();
        Frame::read(&file[*at..]).is_some_and(next)
    };
    let start = (0..file.len().min(SYNC_LIMIT)).find(is_start)?;
    let mut rest = &file[start..];
    let first = Frame::read(rest)?;
    let describes = |word: &[u8]| rest.get(4 + first.side..).is_some_and(|at| at.starts_with(word));
    let mut frames = if describes(b"Xing") || describes(b"Info") { 0 } else { 1 };
    rest = &rest[first.size..];
    while let Some(frame) = Frame::read(rest).filter(|frame| frame.rate == first.rate) {
        frames += 1;
        rest = &rest[frame.size..];
    }
    length(frames * first.samples, first.rate)
}

/// A frame of an MP3 file.
struct Frame {
    rate: u32,
    samples: u64,
    size: usize,
    /// The size of the side information, behind which a description of the file stands.
    side: usize,
}

impl Frame {
    /// Reads the frame at the beginning of `bytes`, if it is complete.
    fn read(bytes: &[u8]) -> Option<Self> {
        const RATES: [u32; 3] = [44_100, 48_000, 32_000];
        const KILOBITS: [usize; 14] =
            [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
        const KILOBITS_OF_VERSION_2: [usize; 14] =
            [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
        let [0xFF, kind, second, third] = *bytes.first_chunk()? else { return None };
        // 0 is version 2.5, 2 is version 2, 3 is version 1; the layer is the third.
        let (version, is_layer_3) = (kind >> 3 & 3, kind & 0xE6 == 0xE2);
        let is_first = version == 3;
        let table = if is_first { KILOBITS } else { KILOBITS_OF_VERSION_2 };
        let kilobits = table.get(usize::from(second >> 4).checked_sub(1)?)?;
        let shift = [2, 0, 1, 0][usize::from(version)];
        let rate = RATES.get(usize::from(second >> 2 & 3))? >> shift;
        let samples = if is_first { 1152 } else { 576 };
        let padding = usize::from(second >> 1 & 1);
        let size = samples / 8 * kilobits * 1000 / usize::try_from(rate).ok()? + padding;
        let side = match (is_first, third >> 6 == 3) {
            (true, false) => 32,
            (true, true) | (false, false) => 17,
            (false, true) => 9,
        };
        let is_frame = is_layer_3 && version != 1 && size <= bytes.len();
        is_frame.then_some(Self { rate, samples: samples as u64, size, side })
    }

    /// Reads the frame behind this one. Behind the last frame there may be nothing.
    fn read_next(&self, bytes: &[u8]) -> Option<()> {
        let next = &bytes[self.size..];
        (next.is_empty() || Self::read(next).is_some_and(|frame| frame.rate == self.rate))
            .then_some(())
    }
}

/// Returns how long `samples` last at `rate` samples in a second.
fn length(samples: u64, rate: u32) -> Option<Duration> {
    let whole = Duration::from_secs(samples.checked_div(u64::from(rate))?);
    let rest = samples % u64::from(rate);
    Some(whole + Duration::from_nanos(rest * 1_000_000_000 / u64::from(rate)))
}
