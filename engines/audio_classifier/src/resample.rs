//! Converts sound from one sample rate to another, in pieces.
//!
//! Together, the pieces have as many samples as the sound needs at the new rate, without a delay at the beginning.

use link_plugin_classifier::refusal::Refusal;
use rubato::{Fft, FixedSync, Resampler as _, audioadapter_buffers::direct::InterleavedSlice};

/// Samples that are resampled at a time.
const CHUNK: usize = 1024;

/// Mono sound on its way from one rate to another.
pub(crate) struct Resampler {
    /// Nothing if the rates are equal.
    fft: Option<Fft<f32>>,
    from: u64,
    to: u64,
    /// Samples that do not fill a chunk yet.
    waiting: Vec<f32>,
    chunk: Vec<f32>,
    /// Samples of the output that are the delay of the filter.
    delay: usize,
    taken: u64,
    given: u64,
}

impl Resampler {
    /// Creates a resampler between two rates in samples in a second, neither of which is 0.
    ///
    /// # Errors
    /// If there is none for these rates.
    pub(crate) fn new(from: usize, to: usize) -> Result<Self, Refusal> {
        let fft = if from == to {
            None
        } else {
            let fft = Fft::new(from, to, CHUNK, 1, FixedSync::Input);
            Some(fft.map_err(|_| Refusal::broken_file("The sample rate of the file is unusual."))?)
        };
        let delay = fft.as_ref().map_or(0, rubato::Resampler::output_delay);
        let chunk = fft.as_ref().map_or(0, rubato::Resampler::output_frames_max);
        Ok(Self {
            fft,
            from: from as u64,
            to: to as u64,
            waiting: Vec::new(),
            chunk: vec![0.0; chunk],
            delay,
            taken: 0,
            given: 0,
        })
    }

    /// Resamples `samples` into `output`. Some of them may wait for more.
    ///
    /// # Errors
    /// If the resampler fails.
    pub(crate) fn push(&mut self, samples: &[f32], output: &mut Vec<f32>) -> Result<(), Refusal> {
        self.taken += samples.len() as u64;
        if self.fft.is_none() {
            self.given += samples.len() as u64;
            output.extend_from_slice(samples);
            return Ok(());
        }
        self.waiting.extend_from_slice(samples);
        let mut done = 0;
        while self.waiting.len() - done >= CHUNK {
            self.resample(done, output)?;
            done += CHUNK;
        }
        self.waiting.drain(..done);
        Ok(())
    }

    /// Resamples what waits, so that the output is as long as the sound.
    ///
    /// # Errors
    /// If the resampler fails.
    pub(crate) fn finish(&mut self, output: &mut Vec<f32>) -> Result<(), Refusal> {
        let wanted = (self.taken * self.to).div_ceil(self.from);
        while self.given < wanted {
            self.waiting.resize(CHUNK, 0.0);
            self.resample(0, output)?;
            self.waiting.clear();
        }
        let surplus = usize::try_from(self.given - wanted).unwrap_or(usize::MAX);
        output.truncate(output.len().saturating_sub(surplus));
        self.given = wanted;
        Ok(())
    }

    /// Resamples the chunk of `waiting` that begins at `from`.
    fn resample(&mut self, from: usize, output: &mut Vec<f32>) -> Result<(), Refusal> {
        let Some(fft) = &mut self.fft else { return Ok(()) };
        let failed = || Refusal::failed("The sound could not be resampled.");
        let frames = self.chunk.len();
        let input = InterleavedSlice::new(&self.waiting[from..from + CHUNK], 1, CHUNK);
        let target = InterleavedSlice::new_mut(&mut self.chunk, 1, frames);
        let (input, mut target) = (input.map_err(|_| failed())?, target.map_err(|_| failed())?);
        let (_read, written) =
            fft.process_into_buffer(&input, &mut target, None).map_err(|_| failed())?;
        let skipped = self.delay.min(written);
        self.delay -= skipped;
        self.given += (written - skipped) as u64;
        output.extend_from_slice(&self.chunk[skipped..written]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::f32::consts::TAU;

    use super::*;

    #[test]
    fn the_sound_keeps_its_length_and_its_tone() {
        for from in [8_000, 11_025, 16_000, 22_050, 44_100, 44_101, 48_000, 96_000] {
            let sound: Vec<f32> =
                (0..from).map(|at| 0.5 * (TAU * 440.0 * at as f32 / from as f32).sin()).collect();
            for piece in [1000, 4096] {
                let resampled = resample(&sound, from, 16_000, piece);
                assert_eq!(resampled.len(), 16_000, "from {from}");
                let worst = resampled
                    .iter()
                    .enumerate()
                    .skip(500)
                    .take(15_000)
                    .map(|(at, sample)| {
                        (sample - 0.5 * (TAU * 440.0 * at as f32 / 16_000.0).sin()).abs()
                    })
                    .fold(0.0, f32::max);
                // The filter may shift the sound by half a sample.
                assert!(worst < 0.1, "from {from}: {worst}");
            }
        }
    }

    #[test]
    fn a_single_sample_is_kept() {
        assert_eq!(resample(&[0.0], 48_000, 16_000, 1).len(), 1);
        assert_eq!(resample(&[0.0], 8_000, 16_000, 1).len(), 2);
        assert_eq!(resample(&[], 8_000, 16_000, 1).len(), 0);
    }

    fn resample(sound: &[f32], from: usize, to: usize, piece: usize) -> Vec<f32> {
        let mut resampler = Resampler::new(from, to).unwrap();
        let mut output = Vec::new();
        for piece in sound.chunks(piece) {
            resampler.push(piece, &mut output).unwrap();
        }
        resampler.finish(&mut output).unwrap();
        output
    }
}
