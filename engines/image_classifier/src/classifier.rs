//! The image classifier: one network, one image, scores for all labels.

use anyhow::{Context as _, bail, ensure};
use link_plugin_classifier::{
    classifier::Classifier,
    labels::Labels,
    network::{Cancel, Network, Tensor},
    refusal::Refusal,
    scores::{DEFAULT_TOP_K, Scored, top_k},
    settings::image::{ImageSettings, Layout},
    upload::Upload,
};
use serde::Serialize;

use crate::{decode::decode, prepare::numbers};

/// A network for images, with its description.
pub(crate) struct ImageClassifier {
    network: Network,
    input: String,
    output: String,
    settings: ImageSettings,
    labels: Labels,
}

/// The members of an answer.
#[derive(Serialize)]
pub(crate) struct Outcome {
    data: Vec<Scored>,
    usage: Usage,
}

#[derive(Serialize)]
struct Usage {
    r#type: &'static str,
    images: u32,
}

impl Classifier for ImageClassifier {
    const PROGRAM: &'static str = "link-image-classifier";
    const ABOUT: &'static str = "Classifies images with an ONNX network";
    const PATH: &'static str = "/v1/images/classifications";
    const OBJECT: &'static str = "image.classifications";
    type Outcome = Outcome;

    fn new(network: Network, settings: &[u8], labels: Option<&[u8]>) -> anyhow::Result<Self> {
        let mut settings = ImageSettings::parse(settings)?;
        let labels = Labels::choose(settings.labels.take(), labels)?;
        let ([input], [output]) = (network.inputs(), network.outputs()) else {
            bail!("the network of an image classifier has one input and one output");
        };
        let (input, output, declared) =
            (input.name.clone(), output.name.clone(), input.shape.clone());
        let declared = declared.context("the network does not read 32-bit numbers")?;
        let mut classifier = Self { network, input, output, settings, labels };
        let wanted = classifier.shape();
        ensure!(
            declared.len() == wanted.len()
                && declared.iter().zip(wanted).all(|(declared, wanted)| {
                    *declared < 0 || usize::try_from(*declared) == Ok(wanted)
                }),
            "the network reads {declared:?} numbers, and model.json describes {wanted:?}"
        );
        // A first run says how many outputs there are, whatever the network declares.
        let numbers = vec![0.0; wanted.iter().product()];
        let outputs = classifier.scores(&numbers, &Cancel::new())?.len();
        classifier.labels.fit(outputs)?;
        Ok(classifier)
    }

    fn labels(&self) -> usize {
        self.labels.count()
    }

    fn classify(&mut self, upload: &Upload, cancel: &Cancel) -> Result<Outcome, Refusal> {
        let image = decode(&upload.file)?;
        cancel.check()?;
        let scores = self.scores(&numbers(image, &self.settings), cancel)?;
        let wanted = upload.top_k.unwrap_or(DEFAULT_TOP_K);
        let usage = Usage { r#type: "images", images: 1 };
        Ok(Outcome { data: top_k(&scores, &self.labels, wanted), usage })
    }
}

impl ImageClassifier {
    fn scores(&mut self, numbers: &[f32], cancel: &Cancel) -> Result<Vec<f32>, Refusal> {
        let shape = self.shape();
        let input = Tensor { name: &self.input, shape: &shape, numbers };
        let mut outputs = self.network.run(&[input], &[&self.output], cancel)?;
        let mut scores = outputs.pop().unwrap_or_default();
        self.settings.activation.apply(&mut scores);
        Ok(scores)
    }

    /// Returns the sizes of the input.
    fn shape(&self) -> [usize; 4] {
        let (width, height) = (self.settings.width, self.settings.height);
        match self.settings.layout {
            Layout::Nchw => [1, 3, height, width],
            Layout::Nhwc => [1, height, width, 3],
        }
    }
}
