//! Models of classifiers: whatever an archive or a `model.json` holds, the reader accepts it within its bounds or says why not.
//!
//! Not a module of `lib.rs`: the agent's tests replay that one, and the agent depends on no plugin.

use link_plugin_classifier::{
    labels::Labels,
    limits::{LABEL_CHARACTERS, SIDE_FILE_BYTES},
    package,
    settings::{audio::AudioSettings, image::ImageSettings},
};

/// Checks `data` as a `model.json`, and says what it was read as.
#[must_use]
pub(crate) fn check_settings(data: &[u8]) -> Vec<String> {
    let mut reached = Vec::new();
    match ImageSettings::parse(data) {
        Ok(settings) => {
            assert!((1..=4096).contains(&settings.width) && (1..=4096).contains(&settings.height));
            for channel in 0..3 {
                let white =
                    (255.0 * settings.scale - settings.mean[channel]) / settings.std[channel];
                assert!(white.is_finite(), "no pixel becomes an infinite number");
            }
            assert_plain(settings.labels.as_ref());
            reached.push("Image".to_owned());
        }
        Err(fault) => assert!(!fault.to_string().is_empty()),
    }
    match AudioSettings::parse(data) {
        Ok(settings) => {
            assert!(settings.context <= settings.window && settings.window <= 1_920_000);
            assert!((1..=settings.window).contains(&settings.hop), "windows go forward");
            assert!((0.0..=1.0).contains(&settings.threshold));
            assert_plain(settings.labels.as_ref());
            reached.push("Audio".to_owned());
        }
        Err(fault) => assert!(!fault.to_string().is_empty()),
    }
    if reached.is_empty() {
        reached.push("Refused".to_owned());
    }
    reached
}

/// Checks `data` as the file of a model, and says what it was read as.
#[must_use]
pub(crate) fn check_archive(data: &[u8]) -> Vec<String> {
    let name = match package::read(data) {
        Ok(package) => {
            let held = [Some(&package.network), package.settings.as_ref(), package.labels.as_ref()];
            let bytes: usize = held.into_iter().flatten().map(Vec::len).sum();
            assert!(bytes <= data.len(), "nothing is made up");
            for side in [&package.settings, &package.labels].into_iter().flatten() {
                assert!(side.len() as u64 <= SIDE_FILE_BYTES);
            }
            if package.settings.is_some() { "Archive" } else { "Network" }
        }
        Err(fault) => {
            let words = fault.to_string();
            assert!(!words.is_empty() && words.len() < 1000, "no name is told at length");
            assert!(!words.chars().any(char::is_control), "no name reaches a terminal as it is");
            "Refused"
        }
    };
    vec![name.to_owned()]
}

fn assert_plain(labels: Option<&Labels>) {
    let Some(labels) = labels else { return };
    assert!(labels.count() > 0);
    for index in 0..labels.count() {
        let label = labels.get(index);
        assert!(!label.is_empty() && !label.chars().any(char::is_control));
        assert!(label.chars().count() <= LABEL_CHARACTERS);
    }
}
