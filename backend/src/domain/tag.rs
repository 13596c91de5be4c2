//! Tags: labels that select devices.

use crate::domain::{name, refusal::Refusal};

/// The maximum number of tags of a device or a key.
pub const MOST: usize = 20;

/// Trims a tag and returns it.
///
/// # Errors
/// [`Refusal::Invalid`] if the tag is no valid name, or has a character that a selector cannot
/// express.
pub fn checked(tag: &str) -> Result<String, Refusal> {
    let tag = name::checked("tags", tag)?;
    if tag.contains(',') || tag.starts_with('=') {
        return Err(Refusal::invalid("tags: must not contain `,` or begin with `=`"));
    }
    Ok(tag)
}

/// Returns `tags` with the tags of `add` and without the tags of `remove`.
///
/// # Errors
/// [`Refusal::Invalid`] if a tag is invalid, or if there would be more than [`MOST`] tags.
pub fn change(tags: &[String], add: &[String], remove: &[String]) -> Result<Vec<String>, Refusal> {
    let mut changed: Vec<String> =
        tags.iter().filter(|tag| !remove.iter().any(|gone| gone.trim() == *tag)).cloned().collect();
    for tag in add {
        let tag = checked(tag)?;
        if !changed.contains(&tag) {
            changed.push(tag);
        }
    }
    if changed.len() > MOST {
        return Err(Refusal::invalid(format!("tags: are at most {MOST}")));
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_added_once_and_removed() {
        let list = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>();
        let tags = list(&["a", "b"]);
        assert_eq!(change(&tags, &list(&["b", " c "]), &list(&["a"])), Ok(list(&["b", "c"])));
        assert!(change(&tags, &list(&["a,b"]), &[]).is_err());
        assert!(change(&tags, &list(&["=a"]), &[]).is_err());
        let many: Vec<String> = (0..20).map(|number| number.to_string()).collect();
        assert!(change(&tags, &many, &[]).is_err());
        assert_eq!(change(&many, &list(&["x"]), &list(&["0"])).map(|tags| tags.len()), Ok(20));
    }
}
