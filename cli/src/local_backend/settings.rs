//! The configuration of a backend of `link up`: the few lines that this program reads and edits. All other lines stay
//! as they are. Pure.

use std::path::Path;

/// The text of the configuration.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Settings {
    text: String,
}

const HEAD: &str = "\
# The configuration of link-backend, made by `link up` for a backend of one person on one machine.
# `link-backend config schema` lists every key. `link up` corrects `listen` where another program has
# the port, and `data` after the home has moved. Run `link down` and `link up` after a change.

";

impl Settings {
    /// Creates the settings of a backend with its data in `data`.
    pub(crate) fn new(data: &Path, port: u16) -> Self {
        let data = quoted(&data.display().to_string());
        let listen = quoted(&address(port));
        let owner = "owner_proof = \"file\"";
        Self { text: format!("{HEAD}data = {data}\nlisten = {listen}\n{owner}\n") }
    }

    /// Creates the settings from the text of a file.
    pub(crate) const fn of(text: String) -> Self {
        Self { text }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether the backend writes the file with its owner's proof.
    pub(crate) fn is_for_one_person(&self) -> bool {
        self.value("owner_proof").as_deref() == Some("file")
    }

    /// Returns the port, if the backend listens on the loopback address.
    pub(crate) fn port(&self) -> Option<u16> {
        self.value("listen")?.strip_prefix("127.0.0.1:")?.parse().ok()
    }

    /// Returns the address of the backend.
    pub(crate) fn url(&self) -> Option<String> {
        self.port().map(|port| format!("http://{}", address(port)))
    }

    /// Returns the folder of all its data.
    pub(crate) fn data(&self) -> Option<String> {
        self.value("data")
    }

    /// Returns the same settings with another port.
    pub(crate) fn with_port(&self, port: u16) -> Self {
        self.with("listen", &address(port))
    }

    /// Returns the same settings with another folder.
    pub(crate) fn with_data(&self, data: &Path) -> Self {
        self.with("data", &data.display().to_string())
    }

    /// Returns the value of a top-level key, which stands before the first table.
    fn value(&self, key: &str) -> Option<String> {
        let line = self.text.lines().take_while(|line| !is_table(line)).find_map(|line| {
            let (name, value) = line.split_once('=')?;
            (name.trim() == key).then(|| value.trim())
        })?;
        // A quoted string has the same form in TOML and JSON.
        let mut values = serde_json::Deserializer::from_str(line).into_iter::<String>();
        values.next()?.ok()
    }

    fn with(&self, key: &str, value: &str) -> Self {
        let mut in_head = true;
        let mut text = String::with_capacity(self.text.len());
        for line in self.text.lines() {
            in_head &= !is_table(line);
            let is_it = in_head && line.split_once('=').is_some_and(|(name, _)| name.trim() == key);
            let line = if is_it { format!("{key} = {}", quoted(value)) } else { line.to_owned() };
            text.push_str(&line);
            text.push('\n');
        }
        Self { text }
    }
}

fn is_table(line: &str) -> bool {
    line.trim_start().starts_with('[')
}

fn address(port: u16) -> String {
    format!("127.0.0.1:{port}")
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_is_read_back() {
        let settings = Settings::new(Path::new("/home/a \"b\"/link"), 8001);
        assert!(settings.is_for_one_person());
        assert_eq!(settings.port(), Some(8001));
        assert_eq!(settings.data().as_deref(), Some("/home/a \"b\"/link"));
    }

    #[test]
    fn only_the_line_that_is_meant_changes() {
        let text = "data = \"/a\" # mine\nlisten = \"127.0.0.1:8000\"\n\n[metrics]\nlisten = \"127.0.0.1:1\"\n";
        let settings = Settings::of(text.to_owned());
        assert_eq!(settings.data().as_deref(), Some("/a"));
        let moved = settings.with_port(8002);
        assert_eq!(moved.text(), text.replace("8000", "8002"));
        assert_eq!(moved.with_data(Path::new("/b")).data().as_deref(), Some("/b"));
    }

    #[test]
    fn a_server_is_not_of_one_person() {
        let server =
            Settings::of("listen = \"0.0.0.0:8000\"\n[x]\nowner_proof = \"file\"\n".to_owned());
        assert!(!server.is_for_one_person());
        assert_eq!(server.port(), None);
    }
}
