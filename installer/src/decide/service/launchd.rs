//! The text of the launchd agent of a user on macOS. Pure.
//!
//! It starts the guard at login and ends it at logout: launchd offers no more without an administrator. The guard has 30
//! seconds to end its agent. The type of the process is `Interactive`, because a person waits for the answers of a model:
//! macOS throttles the processor and the disk access of other types, and of the engines below them.

use std::path::{Path, PathBuf};

use super::xml::escaped;

/// The label of the launchd agent, and the name of its file in `~/Library/LaunchAgents`.
pub const LABEL: &str = "dev.link.agent";

/// The values of the launchd agent.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LaunchAgent {
    /// The guard's path.
    pub program: PathBuf,
    /// The file for the output of the guard.
    pub log: PathBuf,
    /// Environment of the guard. Never a secret: every user can read the file.
    pub environment: Vec<(String, String)>,
}

impl LaunchAgent {
    /// Returns the text, to be written as UTF-8. None if a path is not absolute, or if XML cannot hold a path or a
    /// value.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        let (program, log) = (absolute(&self.program)?, absolute(&self.log)?);
        let mut environment = String::new();
        for (name, value) in &self.environment {
            let (name, value) = (escaped(name)?, escaped(value)?);
            environment.push_str(&format!("    <key>{name}</key>\n    <string>{value}</string>\n"));
        }
        Some(format!(
            r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>{LABEL}</string>
  <key>ProgramArguments</key>
  <array>
    <string>{program}</string>
  </array>
  <key>EnvironmentVariables</key>
  <dict>
{environment}  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <true/>
  <key>ThrottleInterval</key>
  <integer>10</integer>
  <key>ProcessType</key>
  <string>Interactive</string>
  <key>ExitTimeOut</key>
  <integer>30</integer>
  <key>LimitLoadToSessionType</key>
  <array>
    <string>Aqua</string>
    <string>Background</string>
  </array>
  <key>StandardOutPath</key>
  <string>{log}</string>
  <key>StandardErrorPath</key>
  <string>{log}</string>
  <key>Umask</key>
  <integer>63</integer>
</dict>
</plist>
"#
        ))
    }
}

/// Escapes a path. None if it is not absolute.
fn absolute(path: &Path) -> Option<String> {
    escaped(path.to_str().filter(|path| path.starts_with('/'))?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use roxmltree::{Document, Node, ParsingOptions};

    use super::*;
    use crate::decide::service::xml::tests::{any_text, can_stand};

    #[test]
    fn the_agents_file_is_this_text() {
        let agent = LaunchAgent {
            program: "/Users/a b/<&>\"'/link-guard".into(),
            log: "/Users/a b/link.log".into(),
            environment: vec![("LINK_HOME".to_owned(), "/Users/a b/100%".to_owned())],
        };
        assert_eq!(agent.text().unwrap(), include_str!("golden/dev.link.agent.plist"));
    }

    /// What the document type of a property list says, of the elements that this one has.
    #[test]
    fn the_agents_file_fits_its_document_type() {
        let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
        let text = include_str!("golden/dev.link.agent.plist");
        let document = Document::parse_with_options(text, options).unwrap();
        let root = document.root_element();
        assert_eq!((root.tag_name().name(), root.attribute("version")), ("plist", Some("1.0")));
        assert_eq!(root.children().filter(Node::is_element).count(), 1);
        for node in root.descendants().skip(1).filter(Node::is_element) {
            let children: Vec<_> = node.children().filter(Node::is_element).collect();
            match node.tag_name().name() {
                "dict" => {
                    let is_key = |at: usize| children[at].has_tag_name("key");
                    assert!(children.len().is_multiple_of(2));
                    assert!((0..children.len()).all(|at| is_key(at) == at.is_multiple_of(2)));
                }
                "array" => assert!(children.iter().all(|child| !child.has_tag_name("key"))),
                "true" | "false" => assert!(children.is_empty() && node.text().is_none()),
                "integer" => assert!(children.is_empty() && word(node).parse::<i64>().is_ok()),
                "key" | "string" => assert!(children.is_empty()),
                other => panic!("{other} is no element of a property list"),
            }
        }
    }

    #[test]
    fn a_relative_path_makes_no_file() {
        let agent = |program: &str, log: &str| LaunchAgent {
            program: program.into(),
            log: log.into(),
            environment: vec![],
        };
        assert_eq!(agent("link-guard", "/log").text(), None);
        assert_eq!(agent("/link-guard", "log").text(), None);
    }

    proptest! {
        #[test]
        fn every_path_and_value_comes_back_as_it_was(
            program in any_text(),
            log in any_text(),
            variables in proptest::collection::vec((any_text(), any_text()), 0..3),
        ) {
            let agent = LaunchAgent {
                program: format!("/{program}").into(),
                log: format!("/{log}").into(),
                environment: variables.clone(),
            };
            let words = variables.iter().flat_map(|(name, value)| [name, value]);
            let fits = words.chain([&program, &log]).all(|word| can_stand(word));
            let text = agent.text();
            prop_assert_eq!(text.is_some(), fits);
            if let Some(text) = text {
                let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
                let document = Document::parse_with_options(&text, options).unwrap();
                let file = document.root_element().first_element_child().unwrap();
                let program = [format!("/{program}")];
                prop_assert_eq!(words_of(value(file, "ProgramArguments")), program);
                for key in ["StandardOutPath", "StandardErrorPath"] {
                    prop_assert_eq!(word(value(file, key)), format!("/{log}"));
                }
                let flat: Vec<_> =
                    variables.into_iter().flat_map(|(name, value)| [name, value]).collect();
                prop_assert_eq!(words_of(value(file, "EnvironmentVariables")), flat);
            }
        }
    }

    /// Returns the value of `key` in a dictionary.
    fn value<'a>(dictionary: Node<'a, 'a>, key: &str) -> Node<'a, 'a> {
        let mut keys = dictionary.children().filter(|node| node.has_tag_name("key"));
        let found = keys.find(|node| word(*node) == key).unwrap();
        found.next_sibling_element().unwrap()
    }

    fn words_of(list: Node<'_, '_>) -> Vec<String> {
        list.children().filter(Node::is_element).map(word).collect()
    }

    fn word(node: Node<'_, '_>) -> String {
        node.text().unwrap_or_default().to_owned()
    }
}
