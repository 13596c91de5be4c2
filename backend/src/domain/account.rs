//! Accounts and the people in them: the rules for e-mail addresses, account names and passwords.

use link_protocol::{
    account_name::AccountName,
    id::{AccountId, UserId},
};

use crate::domain::refusal::Refusal;

/// The shortest password, in characters.
pub const PASSWORD_SHORTEST: usize = 12;
/// The longest password, in characters.
pub const PASSWORD_LONGEST: usize = 200;

/// Stored instead of a hash for a person without a password. No password matches it.
pub const NO_PASSWORD: &str = "!";

/// The account name for an e-mail address without a letter or a digit before the `@`.
const UNNAMED: &str = "account";

/// A person who can log in.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UserRecord {
    pub id: UserId,
    pub account: AccountId,
    pub email: Email,
    /// A PHC string, or [`NO_PASSWORD`].
    pub password_hash: String,
}

/// A normalized e-mail address: trimmed and in lower case.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Email(String);

impl Email {
    /// Parses an address. Case and surrounding white space are ignored.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] if `text` is no e-mail address.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let email = text.trim().to_lowercase();
        let fits = email.len() <= 254
            && !email.chars().any(|c| c.is_control() || c.is_whitespace())
            && email.split_once('@').is_some_and(|(local, domain)| {
                !local.is_empty() && !domain.is_empty() && !domain.contains('@')
            });
        if fits {
            Ok(Self(email))
        } else {
            Err(Refusal::invalid("email: must have the form `name@host`"))
        }
    }

    /// Returns the address.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns the `number`th candidate for the name of the account of a person with the address
/// `email`: the part before the `@`, followed by the number unless it is 1.
#[must_use]
pub fn name_for(email: &str, number: u32) -> AccountName {
    let local = email.split('@').next().unwrap_or_default().to_lowercase();
    let plain = local.replace(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit(), "-");
    let end = if number < 2 { String::new() } else { format!("-{number}") };
    let room = AccountName::LONGEST - end.len();
    let stem: String = plain.trim_matches('-').chars().take(room).collect();
    let stem = if stem.is_empty() { UNNAMED } else { &stem };
    format!("{stem}{end}").parse().expect("lower-case letters, digits and dashes in bounds")
}

/// Checks that a new account may have the name `name`.
///
/// # Errors
/// [`Refusal::Invalid`] if another account has this name.
pub fn check_name(name: &AccountName, is_taken: bool) -> Result<(), Refusal> {
    if is_taken {
        return Err(Refusal::Invalid(format!("name: another account is called `{name}`")));
    }
    Ok(())
}

/// Checks a new password.
///
/// # Errors
/// [`Refusal::Invalid`] if the password is too short or too long.
pub fn check_password(password: &str) -> Result<(), Refusal> {
    if (PASSWORD_SHORTEST..=PASSWORD_LONGEST).contains(&password.chars().count()) {
        Ok(())
    } else {
        Err(Refusal::invalid(format!(
            "password: has {PASSWORD_SHORTEST} to {PASSWORD_LONGEST} characters"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_named_after_its_first_person() {
        for (email, number, name) in [
            ("ada@example.org", 1, "ada"),
            ("ada@example.org", 12, "ada-12"),
            ("Ada.Lovelace+link@example.org", 1, "ada-lovelace-link"),
            ("??@example.org", 1, "account"),
            ("é@example.org", 3, "account-3"),
            ("", 1, "account"),
        ] {
            assert_eq!(name_for(email, number).as_str(), name);
        }
        let long = format!("{}@example.org", "x".repeat(60));
        assert_eq!(name_for(&long, u32::MAX).as_str().len(), AccountName::LONGEST);
    }

    #[test]
    fn a_name_belongs_to_one_account() {
        let name: AccountName = "lab".parse().unwrap();
        assert_eq!(check_name(&name, false), Ok(()));
        let refused = check_name(&name, true).unwrap_err().to_string();
        assert!(refused.contains("another account is called `lab`"), "{refused}");
    }

    #[test]
    fn an_address_is_compared_in_one_spelling() {
        assert_eq!(Email::parse(" Ada@Example.ORG ").unwrap().as_str(), "ada@example.org");
        for bad in ["", "ada", "@example.org", "ada@", "a b@example.org", "a@b@c"] {
            assert!(Email::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_password_has_12_to_200_characters() {
        for (length, fits) in [(11, false), (12, true), (200, true), (201, false)] {
            assert_eq!(check_password(&"p".repeat(length)).is_ok(), fits, "{length}");
        }
    }
}
