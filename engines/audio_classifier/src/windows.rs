//! From samples to the windows that a network reads. Pure.
//!
//! Window `n` covers the samples from `n × hop`, and begins with the `context` samples before them; before the sound
//! there is silence. Every sample is in a window: the last one is filled up with silence.

/// Cuts sound into windows, piece by piece.
#[derive(Clone, Debug)]
pub(crate) struct Cutter {
    window: usize,
    context: usize,
    hop: usize,
    /// The context of the next window, then the samples from its beginning.
    samples: Vec<f32>,
    /// The beginning of the next window's context in `samples`.
    start: usize,
    cut: u64,
}

impl Cutter {
    /// Creates a cutter; all sizes are in samples. `hop` is from 1 to `window`.
    pub(crate) fn new(window: usize, context: usize, hop: usize) -> Self {
        Self { window, context, hop, samples: vec![0.0; context], start: 0, cut: 0 }
    }

    /// Adds samples.
    pub(crate) fn push(&mut self, samples: &[f32]) {
        self.samples.drain(..self.start);
        self.start = 0;
        self.samples.extend_from_slice(samples);
    }

    /// Ends the sound.
    pub(crate) fn finish(&mut self) {
        let held = self.samples.len() - self.start - self.context;
        let covered = if self.cut == 0 { 0 } else { self.window - self.hop };
        if held > covered {
            // Whole windows may wait before the last one.
            let missing = held.saturating_sub(self.window).div_ceil(self.hop) * self.hop;
            let end = self.start + self.context + self.window + missing;
            self.samples.resize(end, 0.0);
        }
    }

    /// Returns the next whole window with its context: `context + window` samples.
    pub(crate) fn next(&mut self) -> Option<&[f32]> {
        let end = self.start + self.context + self.window;
        let start = self.start;
        let found = self.samples.get(start..end)?;
        self.start += self.hop;
        self.cut += 1;
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_follow_each_other_with_their_context() {
        for (samples, window, context, hop, wanted) in [
            (0, 4, 0, 4, &[][..]),
            (1, 4, 0, 4, &["1000"]),
            (4, 4, 0, 4, &["1234"]),
            (5, 4, 0, 4, &["1234", "5000"]),
            (9, 4, 2, 4, &["001234", "345678", "789000"]),
            (4, 4, 0, 2, &["1234"]),
            (5, 4, 0, 2, &["1234", "3450"]),
            (6, 4, 0, 2, &["1234", "3456"]),
            (7, 4, 1, 2, &["01234", "23456", "45670"]),
            (3, 4, 4, 1, &["00001230"]),
            (6, 4, 0, 1, &["1234", "2345", "3456"]),
        ] {
            for piece in 1..=samples.max(1) {
                let found = cut(samples, piece, Cutter::new(window, context, hop));
                assert_eq!(found, wanted, "{samples} samples in pieces of {piece}");
            }
        }
    }

    fn cut(samples: u8, piece: u8, mut cutter: Cutter) -> Vec<String> {
        let sound: Vec<f32> = (1..=samples).map(f32::from).collect();
        let mut windows = Vec::new();
        for piece in sound.chunks(piece.into()) {
            cutter.push(piece);
            take(&mut cutter, &mut windows);
        }
        cutter.finish();
        take(&mut cutter, &mut windows);
        windows
    }

    fn take(cutter: &mut Cutter, windows: &mut Vec<String>) {
        while let Some(window) = cutter.next() {
            windows.push(window.iter().map(ToString::to_string).collect());
        }
    }
}
