//! The time at the start of each line that a program prints, so that its log can be read beside others. Pure.

use jiff::Timestamp;

/// What is known of the last line.
#[derive(Debug)]
pub(super) struct Stamp {
    is_at_start: bool,
}

impl Stamp {
    pub(super) const fn new() -> Self {
        Self { is_at_start: true }
    }

    /// Returns `bytes`, which were printed at `now`, with the time before each line that begins in them.
    pub(super) fn pass(&mut self, bytes: &[u8], now: Timestamp) -> Vec<u8> {
        let time = format!("{now:.3} ");
        let mut out = Vec::with_capacity(bytes.len() + time.len());
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.is_at_start && line != b"\n" {
                out.extend_from_slice(time.as_bytes());
            }
            out.extend_from_slice(line);
            self.is_at_start = line.ends_with(b"\n");
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contain::without_time;

    #[test]
    fn each_line_has_the_time_at_which_it_began() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let mut stamp = Stamp::new();
        let mut out = stamp.pass(b"one\n\ntw", at(0));
        out.extend(stamp.pass(b"o\nthree", at(1)));
        let text = String::from_utf8(out).unwrap();
        let wanted = [
            "1970-01-01T00:00:00.000Z one",
            "",
            "1970-01-01T00:00:00.000Z two",
            "1970-01-01T00:00:01.000Z three",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), wanted);
        assert_eq!(wanted.map(without_time), ["one", "", "two", "three"]);
    }
}
