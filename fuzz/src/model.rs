//! Model files: whatever a file holds, the reader says what the file is or why it is none.
//!
//! How the bytes are cut into pieces, and whether the reader is stored between two of them, changes nothing.

use link_protocol::{
    backend_api::model::ModelFacts,
    gguf::{Inspection, NotAModel},
};

/// Checks `data`, and says what it was read as.
#[must_use]
pub fn check(data: &[u8]) -> Vec<String> {
    let whole = read(data, data.len().max(1));
    for piece in [1, 7, 64] {
        assert_eq!(read(data, piece), whole, "in pieces of {piece}");
    }
    for at in [data.len() / 3, data.len() / 2] {
        assert_alike(&stored_at(data, at), &whole);
    }
    match &whole {
        Ok(facts) => assert_plausible(facts, data),
        Err(fault) => {
            assert!(!fault.to_string().is_empty() && !fault.hint().is_empty());
            assert!(fault.to_string().len() < 500, "no word of the file is told at length");
        }
    }
    vec![name(&whole).to_owned()]
}

fn read(data: &[u8], piece: usize) -> Result<ModelFacts, NotAModel> {
    let mut inspection = Inspection::default();
    for piece in data.chunks(piece) {
        if !inspection.push(piece) {
            break;
        }
    }
    inspection.finish(data.len() as u64)
}

/// Reads `data` with a reader that is stored and read again at `at`.
fn stored_at(data: &[u8], at: usize) -> Result<ModelFacts, NotAModel> {
    let mut inspection = Inspection::default();
    inspection.push(&data[..at]);
    let mut inspection = stored(&inspection);
    inspection.push(&data[at..]);
    inspection.finish(data.len() as u64)
}

fn stored(inspection: &Inspection) -> Inspection {
    let text = serde_json::to_string(inspection).expect("all keys are texts");
    serde_json::from_str(&text).expect("the text was written above")
}

/// The words of a fault are not stored.
fn assert_alike(resumed: &Result<ModelFacts, NotAModel>, whole: &Result<ModelFacts, NotAModel>) {
    if !matches!((resumed, whole), (Err(NotAModel::Garbled(_)), Err(NotAModel::Garbled(_)))) {
        assert_eq!(resumed, whole);
    }
}

fn assert_plausible(facts: &ModelFacts, data: &[u8]) {
    assert!(data.starts_with(b"GGUF"));
    assert!(facts.architecture.len() < data.len(), "the architecture stands in the file");
    // Every further byte belongs to no model, and the file is still one.
    let mut longer = data.to_vec();
    longer.push(0);
    assert!(read(&longer, longer.len()).is_ok());
}

const fn name(read: &Result<ModelFacts, NotAModel>) -> &'static str {
    match read {
        Ok(_) => "Model",
        Err(NotAModel::Short { .. }) => "Short",
        Err(NotAModel::Other(_)) => "Other",
        Err(NotAModel::Version(_)) => "Version",
        Err(NotAModel::Truncated { .. }) => "Truncated",
        Err(NotAModel::Part { .. }) => "Part",
        Err(NotAModel::Garbled(_)) => "Garbled",
    }
}
