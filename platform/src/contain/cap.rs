//! Bounds what a program prints: so many bytes per second after a burst, and so many bytes in a line. Pure.
//!
//! Whatever comes in, at most [`BURST`] and [`RATE`] for each second come out, plus one remark for each [`AGAIN`] bytes of
//! them or for each line that was cut. Remarks say how many bytes are missing.

use std::{io::Write as _, time::Duration};

/// How much a program may print at once, in bytes.
const BURST: u64 = 1024 * 1024;
/// How much a program may print per second in the long run, in bytes.
const RATE: u64 = 64 * 1024;
/// How much must have been saved up before a program that printed too much is heard again.
const AGAIN: u64 = BURST / 4;
/// The longest line, in bytes.
const LINE: usize = 16 * 1024;

/// The bound of one program.
#[derive(Debug)]
pub(super) struct Cap {
    /// How much may be printed now, in bytes.
    saved: u64,
    /// Up to when the savings are counted.
    at: Duration,
    /// The length of the unfinished line.
    column: usize,
    /// How many bytes of the unfinished line were dropped because of its length.
    cut: u64,
    /// How many bytes were dropped because there were too many.
    dropped: u64,
}

impl Cap {
    pub(super) const fn new() -> Self {
        Self { saved: BURST, at: Duration::ZERO, column: 0, cut: 0, dropped: 0 }
    }

    /// Returns what is to be written of `bytes`, which were printed at `now`.
    pub(super) fn pass(&mut self, bytes: &[u8], now: Duration) -> Vec<u8> {
        self.save(now);
        let mut out = Vec::new();
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.dropped > 0 && self.column == 0 && self.saved >= AGAIN {
                self.remark_dropped(&mut out);
            }
            if self.dropped > 0 || self.saved < line.len() as u64 {
                self.drop_line(line, &mut out);
            } else {
                self.keep_line(line, &mut out);
            }
        }
        out
    }

    /// Returns what is to be written at the end.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        self.end_line(&mut out);
        if self.dropped > 0 {
            self.remark_dropped(&mut out);
        }
        out
    }

    fn save(&mut self, now: Duration) {
        let passed = now.saturating_sub(self.at);
        let more = passed.as_millis().saturating_mul(u128::from(RATE)) / 1000;
        if more > 0 {
            self.saved = self.saved.saturating_add(u64::try_from(more).unwrap_or(BURST)).min(BURST);
            self.at = now;
        }
    }

    fn keep_line(&mut self, line: &[u8], out: &mut Vec<u8>) {
        let (text, ends) = split_end(line);
        let kept = text.len().min(LINE - self.column);
        out.extend_from_slice(&text[..kept]);
        self.column += kept;
        self.cut += (text.len() - kept) as u64;
        self.saved -= kept as u64;
        if ends {
            self.saved = self.saved.saturating_sub(1);
            self.cut_remark(out);
            out.push(b'\n');
            self.column = 0;
        }
    }

    /// Drops a line, and the rest of one of which something was kept.
    fn drop_line(&mut self, line: &[u8], out: &mut Vec<u8>) {
        self.dropped += line.len() as u64;
        self.end_line(out);
    }

    fn end_line(&mut self, out: &mut Vec<u8>) {
        if self.column > 0 {
            self.cut_remark(out);
            out.push(b'\n');
            self.column = 0;
        }
    }

    fn cut_remark(&mut self, out: &mut Vec<u8>) {
        if self.cut > 0 {
            say(out, &format!(" [link: {} more bytes of this line were dropped]", self.cut));
            self.cut = 0;
        }
    }

    fn remark_dropped(&mut self, out: &mut Vec<u8>) {
        let dropped = std::mem::take(&mut self.dropped);
        let rate = RATE / 1024;
        say(out, &format!("[link: {dropped} bytes were dropped, above {rate} KiB per second]\n"));
    }
}

/// Splits a line from its end.
fn split_end(line: &[u8]) -> (&[u8], bool) {
    line.strip_suffix(b"\n").map_or((line, false), |text| (text, true))
}

fn say(out: &mut Vec<u8>, text: &str) {
    out.write_all(text.as_bytes()).expect("writing to memory cannot fail");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_a_sound_program_prints_passes_unchanged() {
        let mut cap = Cap::new();
        let mut out = Vec::new();
        for (second, part) in [b"one\ntw".as_slice(), b"o\n\n", b"three"].iter().enumerate() {
            out.extend(cap.pass(part, Duration::from_secs(second as u64)));
        }
        out.extend(cap.finish());
        assert_eq!(out, b"one\ntwo\n\nthree\n");
    }

    #[test]
    fn a_flood_is_dropped_and_counted_and_the_program_is_heard_again() {
        let mut cap = Cap::new();
        let flood = b"flood\n".repeat(1 << 20);
        let burst = cap.pass(&flood, Duration::ZERO);
        assert!(burst.len() as u64 <= BURST, "{}", burst.len());
        assert!(burst.len() as u64 > BURST - 16);
        assert_eq!(cap.pass(b"too soon\n", Duration::from_millis(10)), b"");
        let later = cap.pass(b"later\n", Duration::from_secs(60));
        let lost = flood.len() - burst.len() + b"too soon\n".len();
        let said = format!("[link: {lost} bytes were dropped, above 64 KiB per second]\nlater\n");
        assert_eq!(String::from_utf8(later).unwrap(), said);
    }

    #[test]
    fn a_line_without_end_is_cut_and_says_how_much_is_missing() {
        let mut cap = Cap::new();
        let mut out = Vec::new();
        for _ in 0..30 {
            out.extend(cap.pass(&[b'a'; 1024], Duration::ZERO));
        }
        assert_eq!(out.len(), LINE);
        out.extend(cap.pass(b"b\nnext\n", Duration::ZERO));
        let text = String::from_utf8(out).unwrap();
        let missing = 30 * 1024 - LINE + 1;
        let end = format!(" [link: {missing} more bytes of this line were dropped]\nnext\n");
        assert!(text.ends_with(&end), "{}", &text[LINE..]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn no_program_gets_more_than_its_bound_and_no_byte_is_lost_uncounted(
            parts in prop::collection::vec((0_u64..20_000, 0_usize..400_000, any::<bool>(), 1_usize..40_000), 0..12)
        ) {
            let mut cap = Cap::new();
            let (mut now, mut out, mut given) = (Duration::ZERO, Vec::new(), 0);
            for (pause, length, ends, line) in parts {
                now += Duration::from_millis(pause);
                let mut bytes = vec![b'x'; length];
                bytes.iter_mut().skip(line).step_by(line + 1).for_each(|byte| *byte = b'\n');
                if let Some(last) = bytes.last_mut().filter(|_| ends) {
                    *last = b'\n';
                }
                given += bytes.iter().filter(|byte| **byte == b'x').count() as u64;
                out.extend(cap.pass(&bytes, now));
            }
            out.extend(cap.finish());
            let text = String::from_utf8(out).unwrap();
            let kept = text.bytes().filter(|byte| *byte == b'x').count() as u64;
            prop_assert!(kept <= BURST + RATE * (now.as_secs() + 1));
            let missing: u64 = text.split("[link: ").skip(1)
                .map(|rest| rest.split(' ').next().unwrap().parse::<u64>().unwrap()).sum();
            prop_assert!(kept + missing >= given, "{kept} and {missing} of {given}");
            let longest = text.lines().map(|line| line.bytes().filter(|byte| *byte == b'x').count()).max();
            prop_assert!(longest.unwrap_or(0) <= LINE);
        }
    }
}
