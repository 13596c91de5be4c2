//! What differs between the classifiers: the format of their files, their model, and their answer.

use serde::Serialize;

use crate::{
    network::{Cancel, Network},
    refusal::Refusal,
    upload::Upload,
};

/// A kind of classifier, with its model loaded.
pub trait Classifier: Sized + Send + 'static {
    /// The name of the program.
    const PROGRAM: &'static str;
    /// A sentence about the program, without its full stop.
    const ABOUT: &'static str;
    /// The path that classifies.
    const PATH: &'static str;
    /// The value of `object` in an answer.
    const OBJECT: &'static str;
    /// The other members of an answer.
    type Outcome: Serialize;

    /// Takes a network with its description, and checks that they fit each other.
    ///
    /// # Errors
    /// If the description is wrong, or the network is not the one that it describes.
    fn new(network: Network, settings: &[u8], labels: Option<&[u8]>) -> anyhow::Result<Self>;

    /// Returns the number of labels.
    fn labels(&self) -> usize;

    /// Classifies a file.
    ///
    /// # Errors
    /// If the file cannot be read, exceeds a bound, or `cancel` was aborted.
    fn classify(&mut self, upload: &Upload, cancel: &Cancel) -> Result<Self::Outcome, Refusal>;
}

/// An answer: an outcome with its frame.
#[derive(Serialize)]
pub(crate) struct Answer<'a, Outcome> {
    pub(crate) object: &'static str,
    pub(crate) model: &'a str,
    /// Seconds since 1970.
    pub(crate) created: u64,
    #[serde(flatten)]
    pub(crate) outcome: Outcome,
}
