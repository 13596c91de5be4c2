//! Texts and versions from a device, cut when they are read. So a malicious device cannot make a list or an event larger than the
//! backend can hold or a reader can take.

use semver::Version;
use serde::{Deserialize as _, Deserializer};

use crate::limits;

/// Reads a text for people of at most [`limits::REPORT_TEXT_LENGTH`] characters.
///
/// # Errors
/// If it is no text.
pub(crate) fn text<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    String::deserialize(from).map(|text| cut(text, limits::REPORT_TEXT_LENGTH))
}

/// Like [`text`], for a text that may be absent.
///
/// # Errors
/// Those of [`text`].
pub(crate) fn optional_text<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<String>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    Ok(text.map(|text| cut(text, limits::REPORT_TEXT_LENGTH)))
}

/// Reads an identifier or a digest of at most [`limits::REPORT_WORD_LENGTH`] characters.
///
/// # Errors
/// If it is no text.
pub(crate) fn word<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    String::deserialize(from).map(|text| cut(text, limits::REPORT_WORD_LENGTH))
}

/// Reads a version. Of one with more than [`limits::VERSION_LENGTH`] characters, the three numbers are left.
///
/// # Errors
/// If it is no version.
pub(crate) fn version<'de, D: Deserializer<'de>>(from: D) -> Result<Version, D::Error> {
    Version::deserialize(from).map(|version| {
        if is_short(&version) {
            version
        } else {
            Version::new(version.major, version.minor, version.patch)
        }
    })
}

/// Returns whether a version has at most [`limits::VERSION_LENGTH`] characters.
#[must_use]
pub fn is_short(version: &Version) -> bool {
    version.pre.len() + version.build.len() <= limits::VERSION_LENGTH
        && version.to_string().len() <= limits::VERSION_LENGTH
}

/// Returns the first `most` characters of a text.
fn cut(mut text: String, most: usize) -> String {
    if let Some((end, _next)) = text.char_indices().nth(most) {
        text.truncate(end);
    }
    text
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Report {
        #[serde(deserialize_with = "text")]
        output: String,
        #[serde(default, deserialize_with = "optional_text")]
        detail: Option<String>,
        #[serde(deserialize_with = "word")]
        digest: String,
        #[serde(deserialize_with = "version")]
        version: Version,
    }

    #[test]
    fn what_a_device_says_is_cut_and_what_is_honest_stays() {
        let long = "ü".repeat(1_000_000);
        let plain = "a".repeat(1_000_000);
        let report = json!({
            "output": long, "detail": long, "digest": long, "version": format!("1.2.3-{plain}"),
        });
        let Report { output, detail, digest, version } = serde_json::from_value(report).unwrap();
        assert_eq!(output.chars().count(), limits::REPORT_TEXT_LENGTH);
        assert_eq!(detail.unwrap(), output);
        assert_eq!(digest.chars().count(), limits::REPORT_WORD_LENGTH);
        assert_eq!(version, Version::new(1, 2, 3));

        let digest = format!("sha256:{}", "0".repeat(64));
        let version = "1.4.0-beta.2+build.20261129";
        let report = json!({ "output": "done", "digest": digest, "version": version });
        let read: Report = serde_json::from_value(report).unwrap();
        assert_eq!((read.output.as_str(), read.detail), ("done", None));
        assert_eq!((read.digest, read.version.to_string()), (digest, version.to_owned()));
    }
}
