//! The secret that every request of a client carries.

use http::HeaderValue;
use subtle::ConstantTimeEq as _;

/// The secret of one launch. Its debug text does not contain it.
pub struct Secret(Vec<u8>);

/// A file that holds no secret.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum InvalidSecret {
    #[error("the file is empty")]
    Empty,
    #[error("the file has more than one line")]
    Lines,
    #[error("the line has characters other than visible ASCII")]
    Characters,
}

impl Secret {
    /// Takes the only line of a file.
    ///
    /// # Errors
    /// If there is no such line.
    pub fn parse(file: &[u8]) -> Result<Self, InvalidSecret> {
        let line = file.strip_suffix(b"\n").unwrap_or(file);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            Err(InvalidSecret::Empty)
        } else if line.contains(&b'\n') {
            Err(InvalidSecret::Lines)
        } else if line.iter().all(u8::is_ascii_graphic) {
            Ok(Self(line.to_vec()))
        } else {
            Err(InvalidSecret::Characters)
        }
    }

    /// Returns whether the value of `Authorization` carries the secret. The time tells its length at most.
    #[must_use]
    pub fn opens(&self, authorization: Option<&HeaderValue>) -> bool {
        let Some((scheme, token)) =
            authorization.and_then(|value| value.as_bytes().split_at_checked(7))
        else {
            return false;
        };
        scheme.eq_ignore_ascii_case(b"bearer ") && bool::from(token.ct_eq(&self.0))
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_secret_opens() {
        let secret = Secret::parse(b"hunter2\r\n").unwrap();
        let opens = |text: &str| secret.opens(Some(&HeaderValue::from_str(text).unwrap()));
        assert!(opens("Bearer hunter2") && opens("bearer hunter2"));
        for wrong in [
            "",
            "Bearer",
            "Bearer ",
            "Bearer hunter",
            "Bearer hunter22",
            "Basic hunter2",
            "hunter2",
        ] {
            assert!(!opens(wrong), "{wrong}");
        }
        assert!(!secret.opens(None));
        assert_eq!(format!("{secret:?}"), "Secret");
    }

    #[test]
    fn a_secret_is_one_line() {
        for (file, fault) in [
            (&b""[..], InvalidSecret::Empty),
            (b"\n", InvalidSecret::Empty),
            (b"a\nb", InvalidSecret::Lines),
            (b"a b", InvalidSecret::Characters),
            ("ü".as_bytes(), InvalidSecret::Characters),
        ] {
            assert_eq!(Secret::parse(file).err(), Some(fault), "{file:?}");
        }
    }
}
