//! The section `content` of the configuration file: the location of model files.

use std::{collections::BTreeMap, path::PathBuf};

use link_protocol::secret::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    config::{
        fault::{CONTENT_SECRET_KEY, Fault, Place, variable},
        read::{parsed, size, web_address},
    },
    content::{Addressing, BucketConfig, Home},
};

/// The length limits of a bucket's name and of a prefix, in characters.
const NAME_LIMIT: usize = 255;

/// The storage of model files.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct ContentSection {
    /// The kind of storage: a folder in the data folder, or a bucket of an S3-compatible store.
    pub store: ContentStore,
    /// MiB that uploads leave free on the disk for the database and other files. It does not apply to a bucket.
    #[serde(deserialize_with = "size")]
    pub reserve_mib: u32,
    /// The address of the store, such as `https://s3.eu-central-1.amazonaws.com`.
    #[serde(deserialize_with = "web_address", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", regex(pattern = "^https?://"))]
    pub endpoint: Option<String>,
    /// The region for the signatures of requests. Most self-hosted stores accept any region.
    #[serde(deserialize_with = "region")]
    #[schemars(regex(pattern = "^[A-Za-z0-9-]+$"))]
    pub region: String,
    /// The name of an existing bucket.
    #[serde(deserialize_with = "bucket", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", regex(pattern = "^[A-Za-z0-9._-]+$"))]
    pub bucket: Option<String>,
    /// The prefix of the names of all objects, such as `link/`. Other objects in the bucket are ignored.
    #[serde(deserialize_with = "prefix")]
    #[schemars(regex(pattern = "^([A-Za-z0-9_.-]+/)*$"))]
    pub prefix: String,
    /// The position of the bucket's name in an address: in the path, or before the host.
    pub addressing: Addressing,
    /// The name of the access key. Its secret is in `secret_key_file`.
    #[serde(deserialize_with = "access_key", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", regex(pattern = "^[!-~]+$"))]
    pub access_key: Option<String>,
    /// A private file with the secret of the access key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_key_file: Option<PathBuf>,
}

/// The kinds of storage.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum ContentStore {
    #[default]
    Folder,
    S3,
}

impl Default for ContentSection {
    fn default() -> Self {
        Self {
            store: ContentStore::Folder,
            reserve_mib: 512,
            endpoint: None,
            region: "us-east-1".to_owned(),
            bucket: None,
            prefix: String::new(),
            addressing: Addressing::Path,
            access_key: None,
            secret_key_file: None,
        }
    }
}

impl ContentSection {
    /// Returns the disk space that uploads leave free, in bytes.
    #[must_use]
    pub fn reserve_bytes(&self) -> u64 {
        u64::from(self.reserve_mib) * 1024 * 1024
    }

    /// Returns the location of model files.
    ///
    /// # Errors
    /// A fault for each missing key of a bucket.
    pub(super) fn home(
        &self,
        secret_key: Option<Secret>,
        places: &BTreeMap<String, Place>,
    ) -> Result<Home, Vec<Fault>> {
        if self.store == ContentStore::Folder {
            return Ok(Home::Folder);
        }
        let (endpoint, bucket) = (self.endpoint.clone(), self.bucket.clone());
        let needs = |key: &str, what: &str| Fault {
            key: key.to_owned(),
            place: places.get("content.store").cloned().unwrap_or(Place::Default),
            said: format!("`content.store` is `s3`, which needs {what}"),
        };
        let secret_at = format!("its secret: a private file, or {}", variable(CONTENT_SECRET_KEY));
        match (endpoint, bucket, self.access_key.clone(), secret_key) {
            (Some(endpoint), Some(bucket), Some(access_key), Some(secret_key)) => {
                let config = BucketConfig {
                    endpoint,
                    region: self.region.clone(),
                    bucket,
                    prefix: self.prefix.clone(),
                    addressing: self.addressing,
                    access_key,
                    secret_key,
                };
                let said = |error| Fault {
                    said: format!("{error}; is `content.addressing` right?"),
                    ..needs("content.bucket", "")
                };
                config.check().map_err(|error| vec![said(error)])?;
                Ok(Home::Bucket(Box::new(config)))
            }
            (endpoint, bucket, access_key, secret_key) => {
                let faults = [
                    (endpoint.is_none(), "content.endpoint", "the address of the store"),
                    (bucket.is_none(), "content.bucket", "the name of the bucket"),
                    (access_key.is_none(), "content.access_key", "the name of the access key"),
                    (secret_key.is_none(), "content.secret_key_file", secret_at.as_str()),
                ];
                let missing = faults.into_iter().filter(|(missing, ..)| *missing);
                Err(missing.map(|(_, key, what)| needs(key, what)).collect())
            }
        }
    }
}

fn region<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let fits = |text: &str| is_made_of(text, |byte| byte == b'-');
    let read = |text: &str| fits(text).then(|| text.to_owned());
    parsed(deserializer, "a region such as eu-central-1", read)
}

fn bucket<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let read = |text: &str| is_segment(text).then(|| text.to_owned());
    parsed(deserializer, "a bucket of letters, digits, `.`, `_` and `-`", read).map(Some)
}

/// Checks that a prefix ends with `/` and has no parts such as `..`.
fn prefix<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let expected = "folders of letters, digits, `.`, `_` and `-`, such as link/models/";
    let read = |text: &str| {
        let folders = text.strip_suffix('/').unwrap_or(text);
        let fits = folders.len() < NAME_LIMIT && folders.split('/').all(is_segment);
        (text.is_empty() || fits).then(|| match folders {
            "" => String::new(),
            folders => format!("{folders}/"),
        })
    };
    parsed(deserializer, expected, read)
}

fn access_key<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let fits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
    let read = |text: &str| fits(text).then(|| text.to_owned());
    parsed(deserializer, "the name of an access key", read).map(Some)
}

fn is_segment(text: &str) -> bool {
    !matches!(text, "." | "..") && is_made_of(text, |byte| matches!(byte, b'.' | b'_' | b'-'))
}

fn is_made_of(text: &str, more: impl Fn(u8) -> bool) -> bool {
    (1..=NAME_LIMIT).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || more(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(text: &str) -> Result<ContentSection, String> {
        toml::from_str(text).map_err(|error| error.message().to_owned())
    }

    const WHOLE: &str = "store = \"s3\"\nendpoint = \"https://s3.example.org\"\n\
                         bucket = \"models\"\naccess_key = \"link\"";

    #[test]
    fn a_prefix_cannot_leave_itself() {
        let read = |text: &str| section(&format!("prefix = {text:?}")).map(|found| found.prefix);
        assert_eq!(read(""), Ok(String::new()));
        assert_eq!(read("link"), Ok("link/".to_owned()));
        assert_eq!(read("a/b.c/"), Ok("a/b.c/".to_owned()));
        for bad in ["/", "/a", "../a", "a/../b", "a/./b", "a//b", "a\\b", "a b", "a?b", "a%2e", "ä"]
        {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_bucket_is_one_name() {
        for bad in ["", ".", "..", "a/b", "a b", "a?b", "http://a"] {
            assert!(section(&format!("bucket = {bad:?}")).is_err(), "{bad}");
        }
        assert_eq!(section("bucket = \"a.b-c\"").unwrap().bucket.as_deref(), Some("a.b-c"));
    }

    #[test]
    fn without_a_store_the_home_is_the_folder() {
        let home = section("").unwrap().home(None, &BTreeMap::new());
        assert_eq!(home, Ok(Home::Folder));
    }

    #[test]
    fn a_bucket_needs_an_address_a_name_and_a_key_and_all_of_it_is_said_at_once() {
        let faults = section("store = \"s3\"").unwrap().home(None, &BTreeMap::new()).unwrap_err();
        let keys: Vec<_> = faults.iter().map(|fault| fault.key.as_str()).collect();
        let wanted = ["endpoint", "bucket", "access_key", "secret_key_file"];
        assert_eq!(keys, wanted.map(|key| format!("content.{key}")));
        assert!(faults[3].said.contains("LINK_BACKEND_CONTENT_SECRET_KEY"), "{}", faults[3].said);

        let whole = section(WHOLE).unwrap();
        let home = whole.home(Some(Secret::new("hunter2")), &BTreeMap::new()).unwrap();
        assert!(!format!("{home:?}").contains("hunter2"));
        let Home::Bucket(config) = home else { panic!("{home:?}") };
        assert_eq!((config.region.as_str(), config.prefix.as_str()), ("us-east-1", ""));
    }

    #[test]
    fn a_bucket_that_cannot_stand_before_the_host_is_told() {
        let text = WHOLE.replace("models", "My_Models") + "\naddressing = \"host\"";
        let home = section(&text).unwrap().home(Some(Secret::new("s")), &BTreeMap::new());
        let faults = home.unwrap_err();
        assert!(faults[0].said.contains("content.addressing"), "{}", faults[0].said);
    }
}
