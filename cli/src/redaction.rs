//! Removes secrets from texts that a person gives away. Pure.
//!
//! Two nets: the secrets of this machine, which are known word by word, and everything that has the form of one.

use std::collections::BTreeSet;

use link_protocol::{key::KeyKind, personal_token, retire};

/// What stands where a secret was.
const REDACTED: &str = "[redacted]";

/// The shortest known secret that is removed wherever it stands. A shorter text would also remove ordinary words.
const SHORTEST: usize = 6;

/// Words of at least this length count as random, and so as secret, unless they are a hexadecimal number.
const RANDOM: usize = 40;

/// The parts of the names of JSON members whose values are secret.
const SECRET_MEMBERS: [&str; 5] = ["token", "secret", "seed", "password", "credential"];

/// The secrets of this machine.
#[derive(Clone, Debug, Default)]
pub(crate) struct Redaction {
    /// The longest first, so that no part of a secret stays.
    known: Vec<String>,
}

impl Redaction {
    /// Takes the secrets from `files`, each of which is a JSON document or nothing but a secret, and `words`.
    pub(crate) fn of(files: &[String], words: Vec<String>) -> Self {
        let mut known = BTreeSet::new();
        for file in files {
            match serde_json::from_str(file) {
                Ok(document) => collect(&document, false, &mut known),
                Err(_) => drop(known.insert(file.trim().to_owned())),
            }
        }
        known.extend(words);
        // JSON documents contain secrets in escaped form, logs as they are.
        let escaped: Vec<_> = known.iter().filter_map(|secret| escaped(secret)).collect();
        known.extend(escaped);
        let mut known: Vec<_> = known.into_iter().filter(|one| one.len() >= SHORTEST).collect();
        known.sort_by_key(|one| std::cmp::Reverse(one.len()));
        Self { known }
    }

    /// Returns `text` without secrets.
    pub(crate) fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.known {
            text = text.replace(secret.as_str(), REDACTED);
        }
        let lines = text.split_inclusive('\n').map(|line| words(&logins(line)));
        lines.collect()
    }
}

/// Hides the name and the password in one address of a proxy, whatever characters they have.
pub(crate) fn without_login(address: &str) -> String {
    match address.rsplit_once('@') {
        None => address.to_owned(),
        Some((before, host)) => {
            let scheme = before.split_once("://").map(|(scheme, _)| format!("{scheme}://"));
            format!("{}{REDACTED}@{host}", scheme.unwrap_or_default())
        }
    }
}

/// Returns a secret as it stands within a JSON string, if that differs.
fn escaped(secret: &str) -> Option<String> {
    let quoted = serde_json::to_string(secret).ok()?;
    let inner = quoted.get(1..quoted.len() - 1)?;
    (inner != secret).then(|| inner.to_owned())
}

/// Adds the texts in members with a secret name.
fn collect(value: &serde_json::Value, is_secret: bool, known: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::String(text) => {
            if is_secret {
                known.insert(text.clone());
            }
        }
        serde_json::Value::Array(items) => {
            items.iter().for_each(|item| collect(item, is_secret, known));
        }
        serde_json::Value::Object(members) => {
            for (name, value) in members {
                let name = name.to_lowercase();
                let named = SECRET_MEMBERS.iter().any(|secret| name.contains(secret));
                collect(value, is_secret || named, known);
            }
        }
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {}
    }
}

/// Removes the name and the password in addresses such as `https://ada:secret@host`.
fn logins(line: &str) -> String {
    let mut parts = line.split("://");
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        result.push_str("://");
        let ends =
            |letter: char| letter.is_whitespace() || matches!(letter, '/' | '"' | '\'' | '?');
        let (authority, rest) = part.split_at(part.find(ends).unwrap_or(part.len()));
        match authority.rsplit_once('@') {
            Some((_, host)) => result.push_str(&format!("{REDACTED}@{host}")),
            None => result.push_str(authority),
        }
        result.push_str(rest);
    }
    result
}

/// Removes words that have the form of a secret, and the word after `Bearer`.
fn words(line: &str) -> String {
    let (mut result, mut follows_bearer) = (String::with_capacity(line.len()), false);
    let mut rest = line;
    while !rest.is_empty() {
        let length = rest.find(|letter| !is_of_word(letter)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(length);
        if !word.is_empty() {
            let is_secret =
                (follows_bearer && !word.eq_ignore_ascii_case("token")) || has_secret_form(word);
            result.push_str(if is_secret { REDACTED } else { word });
            follows_bearer = word.eq_ignore_ascii_case("bearer");
        }
        let gap = after.find(is_of_word).unwrap_or(after.len());
        let (gap, next) = after.split_at(gap);
        result.push_str(gap);
        rest = next;
    }
    result
}

const fn is_of_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-')
}

fn has_secret_form(word: &str) -> bool {
    let prefixes = [
        KeyKind::Registration.prefix(),
        KeyKind::Fleet.prefix(),
        personal_token::PREFIX,
        retire::PREFIX,
        "hf_",
        "sk-",
    ];
    let has_prefix = prefixes
        .iter()
        .any(|prefix| word.strip_prefix(prefix).is_some_and(|rest| rest.len() >= 16));
    // The head of a JWT is `{"`, whatever follows.
    let is_jwt = word.starts_with("eyJ") && word.len() >= 16;
    let is_hexadecimal = word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    let is_random = word.len() >= RANDOM && !is_hexadecimal && has_digit;
    has_prefix || is_jwt || is_random
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secrets_of_the_machine_are_removed_wherever_they_stand() {
        let identity = r#"{"device_id": "dev_1", "private_key_seed": "c2VlZA-short", "transport":
            {"password": "pa$$ word"}}"#;
        let files = [identity.to_owned(), "control-token\n".to_owned()];
        let redaction = Redaction::of(&files, vec!["from-the-environment".to_owned()]);
        let text = "dev_1 c2VlZA-short \"pa$$ word\" x=control-token; from-the-environment";
        let wanted = "dev_1 [redacted] \"[redacted]\" x=[redacted]; [redacted]";
        assert_eq!(redaction.text(text), wanted);
    }

    #[test]
    fn a_secret_that_a_document_escapes_is_removed_in_both_forms() {
        let identity = r#"{"password": "a\"b\\c\u0041"}"#;
        let redaction = Redaction::of(&[identity.to_owned()], Vec::new());
        assert_eq!(redaction.text(r#"{"password": "a\"b\\cA"}"#), r#"{"password": "[redacted]"}"#);
        assert_eq!(redaction.text(r#"refused: a"b\cA"#), "refused: [redacted]");
    }

    #[test]
    fn the_password_of_a_proxy_is_not_shown() {
        assert_eq!(without_login("http://ada:se c@ret@proxy:3128"), "http://[redacted]@proxy:3128");
        assert_eq!(without_login("ada:secret@proxy"), "[redacted]@proxy");
        assert_eq!(without_login("http://proxy:3128"), "http://proxy:3128");
    }

    #[test]
    fn what_has_the_form_of_a_secret_is_removed_although_nobody_knows_it() {
        let redaction = Redaction::default();
        let random = "Zm9vYmFy0Zm9vYmFyZm9vYmFyZm9vYmFyZm9vYmFy_-x";
        for (text, wanted) in [
            ("key lrk_0123456789abcdefABCDEF!", "key [redacted]!"),
            ("Authorization: Bearer abc.def", "Authorization: Bearer [redacted].def"),
            ("https://ada:se@cret@proxy:3128/x", "https://[redacted]@proxy:3128/x"),
            ("a=http://h/ b=http://u:p@h", "a=http://h/ b=http://[redacted]@h"),
            (random, "[redacted]"),
            ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.x", "[redacted].[redacted].x"),
        ] {
            assert_eq!(redaction.text(text), wanted);
        }
        let digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
        let id = "pip_0123456789abcdef0123456789abcdef";
        for kept in [
            digest,
            id,
            "bearer token",
            "2026-10-01T12:00:00Z  INFO a_long_but_harmless_name_of_a_function_in_a_crate",
        ] {
            assert_eq!(redaction.text(kept), kept);
        }
    }
}
