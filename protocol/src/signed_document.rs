//! A signed JSON document that is published repeatedly, with a serial number that never decreases.
//!
//! The catalogue of models is such a document. The signed text contains the kind and the schema, so no statement of a
//! release, no command and no document of another kind can be confused with it. It is verified before it is parsed. A
//! reader refuses an issue that is older than the newest one that it knows.

use jiff::Timestamp;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::signing::{Signed, SigningKey, Untrusted, VerifyingKey};

/// The content of such a document.
pub trait Document: Serialize + DeserializeOwned {
    /// The kind of the document. No two types have the same kind.
    const KIND: &'static str;
    /// The schema version. A reader refuses any other version.
    const SCHEMA: u32;

    /// Checks the rules that the type alone does not ensure.
    ///
    /// # Errors
    /// A phrase that names the faulty member and its fault.
    fn check(&self) -> Result<(), String>;
}

/// One issue of a document.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Issue<T> {
    kind: String,
    schema: u32,
    /// Increases with each issue.
    pub serial: u64,
    pub issued_at: Timestamp,
    pub document: T,
}

/// The reason why a document is refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum RefusedDocument {
    /// The signature or the signed text is missing.
    #[error("it is not signed")]
    Unsigned,
    /// The signature is invalid.
    #[error(transparent)]
    Untrusted(#[from] Untrusted),
    /// The signed text is something else, or has a later schema.
    #[error("the signed text is not what it should be")]
    NotTheDocument,
    #[error("it is older than the one that is known: number {offered}, after {known}")]
    Older { known: u64, offered: u64 },
    /// The content breaks a rule.
    #[error("it cannot be used: {0}")]
    Faulty(String),
}

impl<T: Document> Issue<T> {
    /// Creates an issue of `document`.
    pub fn new(serial: u64, issued_at: Timestamp, document: T) -> Self {
        Self { kind: T::KIND.to_owned(), schema: T::SCHEMA, serial, issued_at, document }
    }

    /// Serialises and signs the issue.
    ///
    /// # Errors
    /// [`RefusedDocument::Faulty`] if a reader would refuse the content.
    pub fn seal(&self, key: &SigningKey) -> Result<Signed, RefusedDocument> {
        self.document.check().map_err(RefusedDocument::Faulty)?;
        let text = serde_json::to_string(self);
        Ok(key.seal_text(text.map_err(|error| RefusedDocument::Faulty(error.to_string()))?))
    }

    /// Reads the file of an issue. One of the `trusted` keys must have signed it, and its serial number must not be
    /// smaller than `known`.
    ///
    /// # Errors
    /// [`RefusedDocument`] if the signature, the kind, the serial number or the content is wrong.
    pub fn read(
        file: &[u8],
        trusted: &[VerifyingKey],
        known: Option<u64>,
    ) -> Result<Self, RefusedDocument> {
        let signed: Signed =
            serde_json::from_slice(file).map_err(|_error| RefusedDocument::Unsigned)?;
        let issue: Self = serde_json::from_str(signed.verify(trusted)?)
            .map_err(|_error| RefusedDocument::NotTheDocument)?;
        if issue.kind != T::KIND || issue.schema != T::SCHEMA {
            return Err(RefusedDocument::NotTheDocument);
        }
        if let Some(known) = known.filter(|known| issue.serial < *known) {
            return Err(RefusedDocument::Older { known, offered: issue.serial });
        }
        issue.document.check().map_err(RefusedDocument::Faulty)?;
        Ok(issue)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::release::Statement;

    #[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
    struct List {
        names: Vec<String>,
    }

    impl Document for List {
        const KIND: &'static str = "list";
        const SCHEMA: u32 = 1;

        fn check(&self) -> Result<(), String> {
            match self.names.iter().any(String::is_empty) {
                true => Err("a name is empty".to_owned()),
                false => Ok(()),
            }
        }
    }

    #[test]
    fn an_issue_of_a_trusted_key_is_read_again_and_its_text_stays_as_it_is() {
        let file = file(&issue(7));
        for known in [None, Some(6), Some(7)] {
            assert_eq!(Issue::<List>::read(&file, &trusted(), known), Ok(issue(7)));
        }
        let text = serde_json::to_string(&issue(7)).unwrap();
        assert_eq!(
            text,
            r#"{"kind":"list","schema":1,"serial":7,"issued_at":"2026-10-01T00:00:00Z","document":{"names":["a"]}}"#
        );
    }

    #[test]
    fn an_older_an_unsigned_and_a_faulty_one_are_refused() {
        use RefusedDocument::{Faulty, NotTheDocument, Older, Unsigned, Untrusted as NotTrusted};
        let read = |file: &[u8], known| Issue::<List>::read(file, &trusted(), known).unwrap_err();
        let seven = file(&issue(7));
        assert_eq!(read(&seven, Some(8)), Older { known: 8, offered: 7 });
        let unsigned = serde_json::to_vec(&issue(7)).unwrap();
        assert_eq!(read(&unsigned, None), Unsigned);
        let other = serde_json::to_vec(&issue(7).seal(&SigningKey::from_seed(&[2; 32])).unwrap());
        assert_eq!(read(&other.unwrap(), None), NotTrusted(Untrusted::UnknownKey));
        let empty = Issue::new(1, issue(1).issued_at, List { names: vec![String::new()] });
        let fault = || Faulty("a name is empty".to_owned());
        assert_eq!(empty.seal(&key()), Err(fault()));
        let sealed = key().seal_text(serde_json::to_string(&empty).unwrap());
        assert_eq!(read(&serde_json::to_vec(&sealed).unwrap(), None), fault());
        for (from, to) in [
            (r#""kind":"list""#, r#""kind":"index""#),
            (r#""schema":1"#, r#""schema":2"#),
            (r#""serial":7"#, r#""serial":7,"serial":9"#),
            (r#""names":["a"]"#, r#""names":["a"],"names":["b"]"#),
        ] {
            let text = serde_json::to_string(&issue(7)).unwrap();
            assert!(text.contains(from));
            let sealed = key().seal_text(text.replacen(from, to, 1));
            assert_eq!(read(&serde_json::to_vec(&sealed).unwrap(), None), NotTheDocument, "{to}");
        }
    }

    #[test]
    fn a_statement_of_a_release_is_no_document() {
        let text = format!(
            r#"{{"kind":"list","schema":1,"counter":1,"keys":[{}]}}"#,
            serde_json::to_string(key().verifying()).unwrap()
        );
        assert!(serde_json::from_str::<Statement>(&text).is_err());
        let file = serde_json::to_vec(&key().seal_text(text)).unwrap();
        let read = Issue::<List>::read(&file, &trusted(), None);
        assert_eq!(read, Err(RefusedDocument::NotTheDocument));
    }

    proptest! {
        #[test]
        fn a_file_in_which_anything_was_changed_is_refused_and_nothing_panics(
            at in 0_usize..600,
            byte: u8,
        ) {
            let mut file = file(&issue(7));
            let at = at % file.len();
            prop_assume!(file[at] != byte);
            file[at] = byte;
            if let Ok(read) = Issue::<List>::read(&file, &trusted(), None) {
                // Changes to the spare bits at the end of a base64 text, or to spaces in JSON, leave the document the
                // same.
                prop_assert_eq!(read, issue(7));
            }
        }
    }

    fn issue(serial: u64) -> Issue<List> {
        let issued_at = "2026-10-01T00:00:00Z".parse().unwrap();
        Issue::new(serial, issued_at, List { names: vec!["a".to_owned()] })
    }

    fn file(issue: &Issue<List>) -> Vec<u8> {
        serde_json::to_vec(&issue.seal(&key()).unwrap()).unwrap()
    }

    fn key() -> SigningKey {
        SigningKey::from_seed(&[1; 32])
    }

    fn trusted() -> Vec<VerifyingKey> {
        vec![key().verifying().clone()]
    }
}
