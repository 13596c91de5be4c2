//! The descriptions of builds: from a file, from options, or of the prepared engines.

#![expect(clippy::disallowed_methods, reason = "IO shell: reads the file of builds")]

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use link_platform::facts;
use link_protocol::engine_index::Accelerator;
use serde::Deserialize;

use crate::prepared::Prepared;

/// A build that is published.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct Described {
    /// A plugin of this checkout, or the path of its folder.
    plugin: String,
    /// The name of the build.
    pub(super) build: String,
    /// The folder of the build, which holds the program of the engine.
    pub(super) folder: PathBuf,
    #[serde(default = "system")]
    pub(super) system: String,
    #[serde(default = "processor")]
    pub(super) processor: String,
    #[serde(default = "cpu")]
    pub(super) accelerators: Vec<Accelerator>,
    #[serde(default)]
    pub(super) needs: Vec<String>,
    pub(super) licence: String,
    #[serde(default)]
    pub(super) obtained: Option<String>,
}

/// Builds for this machine of the plugin for language models, from options.
#[derive(clap::Args)]
pub(super) struct Shorthand {
    /// Build of `llama-server` for this machine, the default build first
    #[arg(long = "build", value_name = "NAME=FOLDER", value_parser = named)]
    build: Vec<(String, PathBuf)>,
    /// Accelerators that these builds use
    #[arg(long, value_name = "WORDS", value_delimiter = ',', default_value = "cpu", value_parser = accelerator)]
    accelerators: Vec<Accelerator>,
    /// Processor features that these builds need, such as avx2
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    needs: Vec<String>,
    /// Licence of these builds, as an SPDX expression
    #[arg(long, value_name = "SPDX", default_value = "MIT")]
    licence: String,
}

/// A file of builds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    build: Vec<Described>,
}

/// Reads a file of builds. Its paths are relative to the file.
pub(super) fn read(file: &Path) -> anyhow::Result<Vec<Described>> {
    let failed = || format!("failed to read `{}`", file.display());
    let text = std::fs::read_to_string(file).with_context(failed)?;
    let mut builds = toml::from_str::<File>(&text).with_context(failed)?.build;
    let beside = file.parent().unwrap_or(file);
    for build in &mut builds {
        build.folder = beside.join(&build.folder);
        if build.has_own_plugin() {
            build.plugin = beside.join(&build.plugin).to_string_lossy().into_owned();
        }
        let unknown = build.accelerators.contains(&Accelerator::Other);
        anyhow::ensure!(!unknown, "`{}`: it names an unknown accelerator", build.build);
    }
    Ok(builds)
}

impl Shorthand {
    pub(super) fn builds(&self) -> anyhow::Result<Vec<Described>> {
        let one = |(build, folder): &(String, PathBuf)| Described {
            plugin: "language_model".to_owned(),
            build: build.clone(),
            folder: folder.clone(),
            system: system(),
            processor: processor(),
            accelerators: self.accelerators.clone(),
            needs: self.needs.clone(),
            licence: self.licence.clone(),
            obtained: None,
        };
        Ok(self.build.iter().map(one).collect())
    }
}

impl Described {
    /// Describes a prepared engine in `folder`.
    pub(super) fn of(prepared: &Prepared, folder: PathBuf) -> Self {
        Self {
            plugin: prepared.plugin.to_owned(),
            build: prepared.build.to_owned(),
            folder,
            system: system(),
            processor: processor(),
            accelerators: cpu(),
            needs: prepared.needs.iter().map(ToString::to_string).collect(),
            licence: prepared.licence.to_owned(),
            obtained: Some(prepared.obtained.to_owned()),
        }
    }

    /// Returns the folder of the plugin.
    pub(super) fn plugin_folder(&self, root: &Path) -> PathBuf {
        if self.has_own_plugin() {
            self.plugin.clone().into()
        } else {
            root.join("plugins").join(&self.plugin)
        }
    }

    /// Returns whether the build is for a machine of this kind.
    pub(super) fn is_for_this_machine(&self) -> bool {
        (self.system.as_str(), self.processor.as_str()) == (facts::os(), facts::arch())
    }

    /// Returns the part of the archive's name that tells builds for other accelerators apart.
    pub(super) fn suffix(&self) -> String {
        if self.accelerators == cpu() {
            return String::new();
        }
        let word = |one: &Accelerator| {
            serde_json::to_value(one).ok()?.as_str().map(|word| format!("-{word}"))
        };
        self.accelerators.iter().filter_map(word).collect()
    }

    fn has_own_plugin(&self) -> bool {
        self.plugin.contains(['/', '\\'])
    }
}

fn system() -> String {
    facts::os().to_owned()
}

fn processor() -> String {
    facts::arch().to_owned()
}

fn cpu() -> Vec<Accelerator> {
    vec![Accelerator::Cpu]
}

fn named(text: &str) -> Result<(String, PathBuf), String> {
    let (name, folder) = text.split_once('=').ok_or("write it as NAME=FOLDER")?;
    Ok((name.to_owned(), folder.into()))
}

fn accelerator(word: &str) -> Result<Accelerator, String> {
    let read = serde_json::from_value(word.into()).map_err(|error| error.to_string())?;
    if read == Accelerator::Other {
        return Err(format!("`{word}` is not an accelerator"));
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_builds_is_read_with_its_defaults_and_its_paths_are_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("builds.toml");
        let text = "[[build]]\nplugin = \"language_model\"\nbuild = \"b1\"\nfolder = \"./one\"\nlicence = \"MIT\"\n\
                    [[build]]\nplugin = \"../echo\"\nbuild = \"1.0\"\nfolder = \"two\"\nlicence = \"MIT\"\n\
                    system = \"macos\"\nprocessor = \"aarch64\"\naccelerators = [\"cpu\", \"metal\"]\n";
        std::fs::write(&file, text).unwrap();
        let builds = read(&file).unwrap();
        assert!(builds[0].is_for_this_machine());
        assert_eq!(builds[0].folder, dir.path().join("./one"));
        assert_eq!(
            builds[0].plugin_folder(Path::new("/src")),
            Path::new("/src/plugins/language_model")
        );
        assert_eq!(builds[0].suffix(), "");
        assert!(!builds[1].is_for_this_machine());
        assert_eq!(builds[1].plugin_folder(Path::new("/src")), dir.path().join("../echo"));
        assert_eq!(builds[1].suffix(), "-cpu-metal");
    }

    #[test]
    fn a_misspelt_word_and_an_unknown_accelerator_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("builds.toml");
        let build = "[[build]]\nplugin = \"p\"\nbuild = \"b\"\nfolder = \"f\"\nlicence = \"MIT\"\n";
        for more in ["licences = \"MIT\"\n", "accelerators = [\"quantum\"]\n"] {
            std::fs::write(&file, format!("{build}{more}")).unwrap();
            assert!(read(&file).is_err(), "{more}");
        }
        assert!(accelerator("quantum").is_err());
        assert_eq!(accelerator("vulkan"), Ok(Accelerator::Vulkan));
    }
}
