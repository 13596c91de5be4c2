//! The statement about the archive of a plugin: which plugin it holds, and the checksum of the archive.
//!
//! A plugin names a program that devices run, so its archive is signed like an engine index: with a release key, or with
//! a key that the owner of the machine has added. The statement is a file beside the archive.

use semver::Version;
use serde::{Deserialize, Serialize};

use crate::{
    command::Sha256Hex,
    limits::{PLUGIN_ARCHIVE_SIZE, SIGNED_DOCUMENT_LIMIT},
    plugin::is_id,
    signed_document::Document,
};

/// The end of the name of the file with the statement. The beginning is the name of the archive.
pub const SIGNATURE_SUFFIX: &str = ".signature.json";
/// The size limit of that file, in bytes.
pub const SIGNATURE_LIMIT: u64 = SIGNED_DOCUMENT_LIMIT as u64;

/// What a publisher states about the archive of a plugin.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct PluginArchive {
    /// The id of the plugin.
    pub plugin: String,
    pub version: Version,
    pub size_bytes: u64,
    pub sha256: Sha256Hex,
}

/// Returns the file name of a plugin's archive.
#[must_use]
pub fn archive_name(plugin: &str, version: &Version) -> String {
    format!("{plugin}-{version}.tar.gz")
}

impl Document for PluginArchive {
    const KIND: &'static str = "plugin_archive";
    const SCHEMA: u32 = 1;

    fn check(&self) -> Result<(), String> {
        if !is_id(&self.plugin) {
            return Err("`plugin` is not a plugin id".to_owned());
        }
        if self.size_bytes > PLUGIN_ARCHIVE_SIZE {
            return Err(format!("the archive is larger than {PLUGIN_ARCHIVE_SIZE} bytes"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        engine_index::EngineIndex,
        signed_document::{Issue, RefusedDocument},
        signing::SigningKey,
    };

    #[test]
    fn a_statement_names_a_plugin_and_an_archive_within_bounds() {
        let seal = |statement| Issue::new(1, jiff::Timestamp::UNIX_EPOCH, statement).seal(&key());
        for plugin in ["", "..", "a/b", "Echo", ".new"] {
            let refused = seal(PluginArchive { plugin: plugin.to_owned(), ..statement() });
            assert!(matches!(refused, Err(RefusedDocument::Faulty(_))), "{plugin}");
        }
        let large = PluginArchive { size_bytes: PLUGIN_ARCHIVE_SIZE + 1, ..statement() };
        assert!(matches!(seal(large), Err(RefusedDocument::Faulty(_))));
    }

    #[test]
    fn an_index_of_engines_is_no_statement_about_a_plugin() {
        let index = Issue::new(1, jiff::Timestamp::UNIX_EPOCH, EngineIndex { builds: Vec::new() });
        let file = serde_json::to_vec(&index.seal(&key()).unwrap()).unwrap();
        let read = Issue::<PluginArchive>::read(&file, &[key().verifying().clone()], None);
        assert_eq!(read, Err(RefusedDocument::NotTheDocument));
    }

    fn statement() -> PluginArchive {
        PluginArchive {
            plugin: "echo".to_owned(),
            version: Version::new(0, 1, 0),
            size_bytes: 100,
            sha256: Sha256Hex::from_digest(&[0; 32]),
        }
    }

    fn key() -> SigningKey {
        SigningKey::from_seed(&[1; 32])
    }
}
