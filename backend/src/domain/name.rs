//! Names that people choose for models, devices, keys and tags.

use crate::domain::refusal::Refusal;

/// The longest name of a model or a device, in characters.
pub const LONGEST: usize = 100;

/// Trims `text` and returns it.
///
/// # Errors
/// [`Refusal::Invalid`] if the text is empty, is longer than [`LONGEST`] or has control characters.
pub fn checked(what: &str, text: &str) -> Result<String, Refusal> {
    let name = optional(what, text)?;
    if name.is_empty() {
        return Err(Refusal::invalid(format!("{what}: must have 1 to {LONGEST} characters")));
    }
    Ok(name)
}

/// Trims `text`, which may be empty, and returns it.
///
/// # Errors
/// [`Refusal::Invalid`] if the text is longer than [`LONGEST`] or has control characters.
pub fn optional(what: &str, text: &str) -> Result<String, Refusal> {
    let name = text.trim();
    if name.chars().count() > LONGEST || name.chars().any(char::is_control) {
        let rule =
            format!("{what}: must have at most {LONGEST} characters and no control characters");
        return Err(Refusal::Invalid(rule));
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_to_a_hundred_visible_characters() {
        assert_eq!(checked("name", "  Tiny ").unwrap(), "Tiny");
        assert!(checked("name", &"é".repeat(100)).is_ok());
        for bad in ["", "   ", "a\nb", &"x".repeat(101)] {
            assert!(checked("name", bad).is_err(), "{bad:?}");
        }
        assert_eq!(optional("name", "").unwrap(), "");
    }
}
