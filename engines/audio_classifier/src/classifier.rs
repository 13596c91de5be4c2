//! The audio classifier: sound is decoded, resampled, cut and classified piece by piece.
//!
//! A file is decoded twice: first to the end without a network, so that a damaged or long file costs no inference.

use anyhow::{Context as _, bail, ensure};
use link_plugin_classifier::{
    classifier::Classifier,
    labels::Labels,
    network::{Cancel, Network, Tensor},
    refusal::Refusal,
    settings::audio::{AudioSettings, Kind},
    upload::Upload,
};
use serde::Serialize;

use crate::{
    decode::Sound,
    resample::Resampler,
    segments::{Segment, Segments, Share, rounded},
    windows::Cutter,
};

/// Windows that a network of the kind `sequence` reads at a time: 16 s of speech at 16 kHz.
const FRAMES: usize = 512;

/// A network for sound, with its description.
pub(crate) struct AudioClassifier {
    network: Network,
    settings: AudioSettings,
    labels: Labels,
    /// The name of the input and the output of a network of the kind `window`.
    ports: [String; 2],
    /// The sizes of the state of a network of the kind `sequence`.
    state: Vec<usize>,
}

/// The members of an answer.
#[derive(Serialize)]
pub(crate) struct Outcome {
    /// Seconds.
    duration: f64,
    data: Vec<Segment>,
    summary: Vec<Share>,
    usage: Usage,
}

#[derive(Serialize)]
struct Usage {
    r#type: &'static str,
    seconds: f64,
}

/// The state of a recurrent network between two windows.
#[derive(Clone, Debug, Default)]
struct State {
    hidden: Vec<f32>,
    cell: Vec<f32>,
}

impl Classifier for AudioClassifier {
    const PROGRAM: &'static str = "link-audio-classifier";
    const ABOUT: &'static str = "Classifies sound with an ONNX network";
    const PATH: &'static str = "/v1/audio/classifications";
    const OBJECT: &'static str = "audio.classifications";
    type Outcome = Outcome;

    fn new(network: Network, settings: &[u8], labels: Option<&[u8]>) -> anyhow::Result<Self> {
        let mut settings = AudioSettings::parse(settings)?;
        let labels = Labels::choose(settings.labels.take(), labels)?;
        let (ports, state) = match settings.kind {
            Kind::Sequence => (<[String; 2]>::default(), state_of(&network)?),
            Kind::Window => {
                let ([input], [output]) = (network.inputs(), network.outputs()) else {
                    bail!("a network of the kind `window` has one input and one output");
                };
                ([input.name.clone(), output.name.clone()], Vec::new())
            }
        };
        let mut classifier = Self { network, settings, labels, ports, state };
        // A first run says how many outputs there are, whatever the network declares.
        let silence = vec![0.0; classifier.input()];
        let mut state = classifier.silent_state();
        let scores = classifier.scores(&silence, &mut state, &Cancel::new())?;
        classifier.labels.fit(scores.len())?;
        Ok(classifier)
    }

    fn labels(&self) -> usize {
        self.labels.count()
    }

    fn classify(&mut self, upload: &Upload, cancel: &Cancel) -> Result<Outcome, Refusal> {
        let mut sound = Sound::open(upload.file.clone())?;
        while sound.next()?.is_some() {
            cancel.check()?;
        }
        let duration = sound.seconds();
        let segments = self.segments(Sound::open(upload.file.clone())?, cancel)?;
        let (data, summary) = segments.finish(&self.labels, duration);
        let duration = rounded(duration);
        let usage = Usage { r#type: "duration", seconds: duration };
        Ok(Outcome { duration, data, summary, usage })
    }
}

impl AudioClassifier {
    fn segments(&mut self, mut sound: Sound, cancel: &Cancel) -> Result<Segments, Refusal> {
        let AudioSettings { window, context, hop, sample_rate, threshold, .. } = self.settings;
        let mut segments = Segments::new(self.labels.count(), window, hop, sample_rate, threshold);
        let mut cutter = Cutter::new(window, context, hop);
        let mut resampler = None;
        let mut state = self.silent_state();
        let (mut resampled, mut batch) = (Vec::new(), Vec::new());
        let most = match self.settings.kind {
            Kind::Sequence => FRAMES,
            Kind::Window => 1,
        };
        let mut is_over = false;
        while !is_over {
            resampled.clear();
            match sound.next()? {
                Some(piece) => {
                    let resampler = match &mut resampler {
                        Some(resampler) => resampler,
                        none @ None => {
                            none.insert(Resampler::new(piece.rate as usize, sample_rate)?)
                        }
                    };
                    resampler.push(&piece.samples, &mut resampled)?;
                    cutter.push(&resampled);
                }
                None => {
                    is_over = true;
                    if let Some(resampler) = &mut resampler {
                        resampler.finish(&mut resampled)?;
                    }
                    cutter.push(&resampled);
                    cutter.finish();
                }
            }
            cancel.check()?;
            while let Some(samples) = cutter.next() {
                batch.extend_from_slice(samples);
                if batch.len() == most * self.input() {
                    self.add(&mut batch, &mut state, &mut segments, cancel)?;
                }
            }
        }
        self.add(&mut batch, &mut state, &mut segments, cancel)?;
        Ok(segments)
    }

    /// Classifies the windows of `batch`, and empties it.
    fn add(
        &mut self,
        batch: &mut Vec<f32>,
        state: &mut State,
        segments: &mut Segments,
        cancel: &Cancel,
    ) -> Result<(), Refusal> {
        if batch.is_empty() {
            return Ok(());
        }
        let scores = self.scores(batch, state, cancel)?;
        batch.clear();
        // The number of labels was checked when the model was loaded.
        scores.chunks_exact(self.labels.count()).try_for_each(|scores| segments.push(scores))
    }

    /// Returns the scores of the windows in `samples`, one after the other, and replaces the state.
    fn scores(
        &mut self,
        samples: &[f32],
        state: &mut State,
        cancel: &Cancel,
    ) -> Result<Vec<f32>, Refusal> {
        let shape = [samples.len() / self.input(), self.input()];
        match self.settings.kind {
            Kind::Sequence => {
                let inputs = [
                    Tensor { name: "input", shape: &shape, numbers: samples },
                    Tensor { name: "h", shape: &self.state, numbers: &state.hidden },
                    Tensor { name: "c", shape: &self.state, numbers: &state.cell },
                ];
                let outputs = self.network.run(&inputs, &["speech_probs", "hn", "cn"], cancel)?;
                let [scores, hidden, cell] = <[Vec<f32>; 3]>::try_from(outputs)
                    .map_err(|_| Refusal::failed("The network has other outputs."))?;
                if hidden.len() != state.hidden.len() || cell.len() != state.cell.len() {
                    return Err(Refusal::failed("The state of the network changed its size."));
                }
                *state = State { hidden, cell };
                Ok(scores)
            }
            Kind::Window => {
                let input = Tensor { name: &self.ports[0], shape: &shape, numbers: samples };
                let mut outputs = self.network.run(&[input], &[&self.ports[1]], cancel)?;
                let mut scores = outputs.pop().unwrap_or_default();
                self.settings.activation.apply(&mut scores);
                Ok(scores)
            }
        }
    }

    /// Returns the samples of a window with its context.
    fn input(&self) -> usize {
        self.settings.context + self.settings.window
    }

    fn silent_state(&self) -> State {
        let silence = vec![0.0; self.state.iter().product()];
        State { hidden: silence.clone(), cell: silence }
    }
}

/// Returns the sizes of the state of a sequence.
fn state_of(network: &Network) -> anyhow::Result<Vec<usize>> {
    let find = |name: &str| network.inputs().iter().find(|port| port.name == name);
    for output in ["speech_probs", "hn", "cn"] {
        ensure!(
            network.outputs().iter().any(|port| port.name == output),
            "a network of the kind `sequence` has the outputs speech_probs, hn and cn, not {:?}",
            network.outputs()
        );
    }
    let (Some(_), Some(hidden), Some(_)) = (find("input"), find("h"), find("c")) else {
        bail!("a network of the kind `sequence` has the inputs input, h and c");
    };
    let shape = hidden.shape.as_ref().context("the state is not made of 32-bit numbers")?;
    let sizes: Vec<usize> =
        shape.iter().map(|size| usize::try_from(*size).unwrap_or(1).max(1)).collect();
    let total = sizes.iter().try_fold(1_usize, |product, size| product.checked_mul(*size));
    ensure!(total.is_some_and(|total| total <= 1 << 20), "the state is larger than 2^20 numbers");
    Ok(sizes)
}
