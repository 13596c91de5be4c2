//! From a file to mono samples, piece by piece, within bounds.
//!
//! A file is in memory as it was sent; of its samples, one packet is. Sound longer than two hours is refused: at once if
//! the file says so, otherwise as soon as so much is decoded.

use std::io::{Cursor, ErrorKind};

use link_plugin_classifier::{
    Bytes,
    refusal::{Refusal, decoding},
};
use symphonia::core::{
    audio::Channels,
    codecs::audio::{AudioDecoder, AudioDecoderOptions},
    errors::Error,
    formats::{FormatOptions, FormatReader, TrackType, probe::Hint},
    io::MediaSourceStream,
    meta::MetadataOptions,
};

use crate::format::{FORMATS, Format, format, is_cut};

/// Seconds of sound.
const LONGEST: u64 = 2 * 60 * 60;
/// Samples in a second.
const RATES: std::ops::RangeInclusive<u32> = 1_000..=768_000;
/// Channels.
const CHANNELS: usize = 32;
/// Packets that cannot be decoded and are left out: an MP3 may begin with some that refer to earlier ones.
const TOLERATED: u32 = 3;

/// A file that is being decoded.
pub(crate) struct Sound {
    reader: Box<dyn FormatReader>,
    decoder: Box<dyn AudioDecoder>,
    track: u32,
    /// Samples that the file says it has.
    declared: Option<u64>,
    /// Samples that were decoded.
    decoded: u64,
    rate: Option<u32>,
    undecodable: u32,
    interleaved: Vec<f32>,
}

/// Mono samples that follow each other.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Piece {
    pub(crate) samples: Vec<f32>,
    /// Samples in a second, the same for all pieces of a file.
    pub(crate) rate: u32,
}

impl Sound {
    /// Opens a file.
    ///
    /// # Errors
    /// If the format is unknown (415), the file is damaged (422), or says that it is too long (413).
    pub(crate) fn open(file: Bytes) -> Result<Self, Refusal> {
        decoding(|| Self::try_open(file))
    }

    /// Returns the next samples, or nothing at the end.
    ///
    /// # Errors
    /// If the file is damaged or truncated (422), or too long (413).
    pub(crate) fn next(&mut self) -> Result<Option<Piece>, Refusal> {
        decoding(|| self.try_next())
    }

    /// Returns the seconds that were decoded.
    pub(crate) fn seconds(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "two hours of samples are exact")]
        self.rate.map_or(0.0, |rate| self.decoded as f64 / f64::from(rate))
    }

    fn try_open(file: Bytes) -> Result<Self, Refusal> {
        let format = format(&file).ok_or_else(|| Refusal::unknown_format(FORMATS))?;
        if format == Format::Mp3 && is_cut(&file) {
            return Err(truncated());
        }
        let stream = MediaSourceStream::new(Box::new(Cursor::new(file)), Default::default());
        let reader = symphonia::default::get_probe()
            .probe(&Hint::new(), stream, FormatOptions::default(), MetadataOptions::default())
            .map_err(refusal)?;
        let track = reader.default_track(TrackType::Audio).ok_or_else(damaged)?;
        let parameters = track.codec_params.as_ref().and_then(|codec| codec.audio());
        let parameters = parameters.ok_or_else(damaged)?;
        // Checked before a decoder reserves memory for all channels.
        let has_many = |channels: &Channels| !(1..=CHANNELS).contains(&channels.count());
        if parameters.channels.as_ref().is_some_and(has_many)
            || parameters.sample_rate.is_some_and(|rate| !RATES.contains(&rate))
        {
            return Err(damaged());
        }
        let decoder = symphonia::default::get_codecs()
            .make_audio_decoder(parameters, &AudioDecoderOptions::default())
            .map_err(refusal)?;
        // Only these two count their samples exactly.
        let is_exact = matches!(format, Format::Wav | Format::Flac);
        let declared = track.num_frames.filter(|_| is_exact);
        if let Some((declared, rate)) = declared.zip(parameters.sample_rate) {
            check_length(declared, rate)?;
        }
        let track = track.id;
        Ok(Self {
            reader,
            decoder,
            track,
            declared,
            decoded: 0,
            rate: None,
            undecodable: 0,
            interleaved: Vec::new(),
        })
    }

    fn try_next(&mut self) -> Result<Option<Piece>, Refusal> {
        loop {
            let Some(packet) = self.reader.next_packet().map_err(refusal)? else {
                return self.end().map(|()| None);
            };
            if packet.track_id != self.track {
                continue;
            }
            let buffer = match self.decoder.decode(&packet) {
                Ok(buffer) => buffer,
                Err(Error::DecodeError(_)) if self.undecodable < TOLERATED => {
                    self.undecodable += 1;
                    continue;
                }
                Err(fault) => return Err(refusal(fault)),
            };
            let (rate, channels) = (buffer.spec().rate(), buffer.spec().channels().count());
            if !RATES.contains(&rate) || !(1..=CHANNELS).contains(&channels) {
                return Err(damaged());
            }
            if *self.rate.get_or_insert(rate) != rate {
                return Err(damaged());
            }
            self.decoded += buffer.frames() as u64;
            check_length(self.decoded, rate)?;
            buffer.copy_to_vec_interleaved(&mut self.interleaved);
            let samples = mix(&self.interleaved, channels);
            if !samples.is_empty() {
                return Ok(Some(Piece { samples, rate }));
            }
        }
    }

    fn end(&self) -> Result<(), Refusal> {
        if self.decoded == 0 {
            return Err(Refusal::broken_file("The file has no sound. Send a file with sound."));
        }
        if self.declared.is_some_and(|declared| declared > self.decoded) {
            return Err(truncated());
        }
        Ok(())
    }
}

fn check_length(samples: u64, rate: u32) -> Result<(), Refusal> {
    if samples > LONGEST.saturating_mul(rate.into()) {
        let message = "The sound is longer than 2 hours. Send it in shorter files.";
        return Err(Refusal::too_large("too_long", message));
    }
    Ok(())
}

/// Mixes the channels of interleaved samples. Numbers that are none are silence.
fn mix(interleaved: &[f32], channels: usize) -> Vec<f32> {
    #[expect(clippy::cast_precision_loss, reason = "at most 32 channels")]
    let divisor = channels as f32;
    let mean = |frame: &[f32]| frame.iter().sum::<f32>() / divisor;
    interleaved
        .chunks_exact(channels)
        .map(mean)
        .map(|sample| if sample.is_finite() { sample.clamp(-1.0, 1.0) } else { 0.0 })
        .collect()
}

fn refusal(fault: Error) -> Refusal {
    match fault {
        Error::IoError(fault) if fault.kind() == ErrorKind::UnexpectedEof => truncated(),
        Error::Unsupported(_) => Refusal::unknown_format(FORMATS),
        Error::LimitError(_)
        | Error::IoError(_)
        | Error::DecodeError(_)
        | Error::SeekError(_)
        | Error::ResetRequired => damaged(),
        _ => damaged(),
    }
}

fn damaged() -> Refusal {
    Refusal::broken_file("The file is damaged. Send a whole file.")
}

fn truncated() -> Refusal {
    Refusal::broken_file("The file is truncated. Send a whole file.")
}

#[cfg(test)]
mod tests;
