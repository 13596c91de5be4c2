//! The index of engines: the published builds, the machines that they are for, and their checksums.
//!
//! Devices run the programs in the index, so it is signed like a release: with a release key, or with a key that the
//! owner of the machine has added. The archive of a build is beside the index under its file name, and may be available
//! at a URL too.

use std::{collections::HashSet, fmt};

use serde::{Deserialize, Serialize};

pub use crate::build_name::is_build_name;
use crate::{command::Sha256Hex, file_name::FileName, limits, signed_document::Document};

/// The file name of the signed index, beside the archives of the builds.
pub const INDEX_FILE: &str = "engines.json";

/// The published builds of engines.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct EngineIndex {
    pub builds: Vec<EngineBuild>,
}

/// One build of an engine.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct EngineBuild {
    /// The engine, such as `llama-server`.
    pub engine: String,
    /// The name of the build in a plugin's manifest, such as `b9789`.
    pub build: String,
    /// `linux`, `macos` or `windows`.
    pub system: String,
    /// The processor architecture, such as `x86_64`.
    pub processor: String,
    /// The accelerators that the build supports. The build runs on a machine that has one of them.
    pub accelerators: Vec<Accelerator>,
    /// The required features of the processor, such as `avx2`.
    #[serde(default)]
    pub needs: Vec<String>,
    /// The file name of the archive (`.tar.gz`), beside the index.
    pub file: FileName,
    /// Another location of the archive, which may be absent beside the index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    pub size_bytes: u64,
    /// The total size of the files in the archive, in bytes.
    pub unpacked_bytes: u64,
    pub sha256: Sha256Hex,
    /// The licence of the build, as an SPDX expression.
    pub licence: String,
    /// How the publisher obtained the build, such as a package and its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obtained: Option<String>,
    /// Whether the publisher has run the build with a model. A build for another machine than the publisher's has not run.
    #[serde(default)]
    pub ran: bool,
}

/// The hardware on which an engine computes.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Accelerator {
    /// The processor, which every machine has.
    Cpu,
    Vulkan,
    Rocm,
    Cuda,
    Metal,
    /// An accelerator that this version does not know. No machine counts as having it.
    #[serde(other)]
    Other,
}

impl fmt::Display for Accelerator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cpu => "the processor",
            Self::Vulkan => "Vulkan",
            Self::Rocm => "ROCm",
            Self::Cuda => "CUDA",
            Self::Metal => "Metal",
            Self::Other => "an accelerator unknown to this version",
        })
    }
}

impl Document for EngineIndex {
    const KIND: &'static str = "engine_index";
    const SCHEMA: u32 = 1;

    fn check(&self) -> Result<(), String> {
        if self.builds.len() > limits::ENGINE_INDEX_BUILDS {
            return Err(format!("it lists more than {} builds", limits::ENGINE_INDEX_BUILDS));
        }
        let mut files = HashSet::new();
        for build in &self.builds {
            build.check()?;
            if !files.insert(build.file.as_str().to_lowercase()) {
                return Err(format!("`{}` is listed twice", build.file.as_str()));
            }
        }
        Ok(())
    }
}

impl EngineBuild {
    fn check(&self) -> Result<(), String> {
        let file = self.file.as_str();
        if !is_build_name(&self.build) {
            return Err(format!("`{file}`: `build` is not the name of a build"));
        }
        let words = [&self.engine, &self.system, &self.processor, &self.licence];
        let is_word = |word: &str| {
            let length = 1..=limits::ENGINE_INDEX_WORD;
            length.contains(&word.len()) && word.chars().all(|c| c.is_ascii_graphic() || c == ' ')
        };
        let words = words.into_iter().chain(&self.needs).chain(&self.obtained);
        if !words.into_iter().all(|word| is_word(word)) {
            return Err(format!("`{file}`: a word is empty, too long or not plain ASCII"));
        }
        if !file.ends_with(".tar.gz") {
            return Err(format!("`{file}` is no .tar.gz archive"));
        }
        if self.size_bytes > limits::ENGINE_SIZE || self.unpacked_bytes > limits::ENGINE_SIZE {
            return Err(format!("`{file}` is larger than {} bytes", limits::ENGINE_SIZE));
        }
        match &self.url {
            Some(url) if !url.starts_with("https://") => {
                Err(format!("`{file}`: `url` is not an https address"))
            }
            Some(_) | None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        signed_document::{Issue, RefusedDocument},
        signing::{Signed, SigningKey, Untrusted},
    };

    #[test]
    fn an_index_that_was_tampered_with_in_any_member_is_refused() {
        let key = SigningKey::from_seed(&[1; 32]);
        let issue =
            Issue::new(7, jiff::Timestamp::UNIX_EPOCH, EngineIndex { builds: vec![build()] });
        let signed = issue.seal(&key).unwrap();
        let read = |signed: &Signed| {
            let file = serde_json::to_vec(signed).unwrap();
            Issue::<EngineIndex>::read(&file, &[key.verifying().clone()], None)
        };
        assert_eq!(read(&signed), Ok(issue));
        for (member, from, to) in [
            ("kind", "engine_index", "model_catalogue"),
            ("schema", "\"schema\":1", "\"schema\":2"),
            ("serial", "\"serial\":7", "\"serial\":8"),
            ("issued_at", "1970", "2070"),
            ("engine", "llama-server", "other-server"),
            ("build", "b9789\"", "b9790\""),
            ("system", "linux", "macos"),
            ("processor", "x86_64", "x86_65"),
            ("accelerators", "cpu", "cuda"),
            ("needs", "avx2", "avx3"),
            ("file", "one.tar.gz", "two.tar.gz"),
            ("url", "a.example", "b.example"),
            ("size_bytes", "100", "101"),
            ("unpacked_bytes", "400", "401"),
            ("sha256", "0000", "0001"),
            ("licence", "MIT", "BSD"),
        ] {
            let envelope = signed.envelope.replacen(from, to, 1);
            assert_ne!(envelope, signed.envelope, "{member}");
            let refused = read(&Signed { envelope, ..signed.clone() });
            let expected = RefusedDocument::Untrusted(Untrusted::BadSignature);
            assert_eq!(refused, Err(expected), "{member}");
        }
    }

    #[test]
    fn an_index_names_plain_archives_over_https_and_no_build_that_leaves_its_folder() {
        let refused = |change: &dyn Fn(&mut EngineBuild)| {
            let mut build = build();
            change(&mut build);
            EngineIndex { builds: vec![build] }.check().unwrap_err()
        };
        for name in ["", "..", ".hidden", "a/b", "current", "b 1"] {
            let said = refused(&|build| name.clone_into(&mut build.build));
            assert!(said.contains("not the name of a build"), "{said}");
        }
        for url in ["http://a.example/x.tar.gz", "file:///etc/passwd", "ftp://a.example/x"] {
            let said = refused(&|build| build.url = Some(url.to_owned()));
            assert!(said.contains("not an https address"), "{said}");
        }
        assert!(refused(&|build| build.file = "x.zip".parse().unwrap()).contains(".tar.gz"));
        assert!(refused(&|build| build.size_bytes = u64::MAX).contains("larger than"));
        assert!(refused(&|build| build.licence = String::new()).contains("a word is empty"));
        assert!(refused(&|build| build.needs = vec!["\u{1b}[2J".to_owned()]).contains("a word"));
        assert!(refused(&|build| build.obtained = Some("\n".to_owned())).contains("a word"));
        let twice = EngineIndex { builds: vec![build(), build()] };
        assert_eq!(twice.check().unwrap_err(), "`one.tar.gz` is listed twice");
    }

    #[test]
    fn a_build_of_an_earlier_index_has_not_run() {
        let mut earlier = serde_json::to_value(build()).unwrap();
        earlier.as_object_mut().unwrap().remove("ran");
        let read: EngineBuild = serde_json::from_value(earlier).unwrap();
        assert_eq!((read.ran, read.obtained), (false, None));
    }

    #[test]
    fn an_accelerator_of_a_later_version_is_read_and_fits_no_machine() {
        let read: Vec<Accelerator> = serde_json::from_str(r#"["cpu","quantum"]"#).unwrap();
        assert_eq!(read, [Accelerator::Cpu, Accelerator::Other]);
    }

    fn build() -> EngineBuild {
        EngineBuild {
            engine: "llama-server".to_owned(),
            build: "b9789".to_owned(),
            system: "linux".to_owned(),
            processor: "x86_64".to_owned(),
            accelerators: vec![Accelerator::Cpu],
            needs: vec!["avx2".to_owned()],
            file: "one.tar.gz".parse().unwrap(),
            url: Some("https://a.example/one.tar.gz".to_owned()),
            size_bytes: 100,
            unpacked_bytes: 400,
            sha256: "0".repeat(64).parse().unwrap(),
            licence: "MIT".to_owned(),
            obtained: None,
            ran: false,
        }
    }
}
