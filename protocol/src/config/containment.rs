//! What the owner of a device lets the engines of a plugin do, beyond what every engine needs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    fault::Faults,
    reader::{Leaf, Node, Object},
};

/// What the engines of one plugin may do, beyond what every engine needs.
#[derive(Clone, Debug, Default, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct ContainmentConfig {
    /// Whether an engine reaches every file of the agent's user.
    pub all_files: bool,
    /// Files and folders that an engine reads and runs, in addition to its own: absolute paths.
    pub read: Vec<String>,
    /// Files and folders that an engine changes, in addition to its own: absolute paths.
    pub write: Vec<String>,
    /// Whether an engine may open connections.
    pub connect: bool,
    /// The memory of an engine with all its processes, in MiB, without the pages of mapped files. Default: twice the
    /// size of the model and 8 GiB, but at most nine tenths of the machine's memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub memory_mib: Option<u64>,
}

/// An absolute path.
#[derive(Debug, serde::Deserialize)]
#[serde(try_from = "String")]
struct AbsolutePath(String);

impl TryFrom<String> for AbsolutePath {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let drive = |text: &str| text.get(1..3) == Some(":\\");
        if text.starts_with('/') || drive(&text) { Ok(Self(text)) } else { Err("it is relative") }
    }
}

impl Leaf for AbsolutePath {
    const EXPECTED: &'static str = "an absolute path";
}

/// A number of MiB that is not zero.
#[derive(Debug, serde::Deserialize)]
#[serde(try_from = "u64")]
struct Mebibytes(u64);

impl TryFrom<u64> for Mebibytes {
    type Error = &'static str;

    fn try_from(number: u64) -> Result<Self, Self::Error> {
        if (1..=1 << 40).contains(&number) { Ok(Self(number)) } else { Err("it is out of range") }
    }
}

impl Leaf for Mebibytes {
    const EXPECTED: &'static str = "a whole number of MiB, at least 1";
}

pub(super) fn read_all(
    node: &Node<'_>,
    faults: &mut Faults,
) -> BTreeMap<String, ContainmentConfig> {
    let plugins = node.entries(faults).into_iter();
    plugins
        .map(|(plugin, node)| (plugin.to_owned(), ContainmentConfig::read(&node, faults)))
        .collect()
}

impl ContainmentConfig {
    fn read(node: &Node<'_>, faults: &mut Faults) -> Self {
        let Some(mut object) = Object::open(node, faults) else { return Self::default() };
        let path = |node: &Node<'_>, faults: &mut Faults| {
            node.leaf(faults).map(|path: AbsolutePath| path.0)
        };
        let mut paths = |name, faults: &mut Faults| {
            object.child(name).map(|node| node.list(faults, path)).unwrap_or_default()
        };
        let (read, write) = (paths("read", faults), paths("write", faults));
        let config = Self {
            all_files: object.optional("all_files", faults).unwrap_or_default(),
            read,
            write,
            connect: object.optional("connect", faults).unwrap_or_default(),
            memory_mib: object.optional("memory_mib", faults).map(|number: Mebibytes| number.0),
        };
        object.close(faults);
        config
    }
}
