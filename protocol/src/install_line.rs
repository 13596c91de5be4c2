//! The line that installs Link on a device and registers it with a backend. The command line, the API and so the pages
//! show this line.

use crate::key::KeyKind;

/// What the installer needs to be told.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct InstallLine<'a> {
    /// The address of the backend, without a slash at its end.
    pub base: &'a str,
    /// Whether the installer of the backend contains the backend's address.
    pub knows_address: bool,
}

impl InstallLine<'_> {
    /// Returns the line for Linux and macOS, with a key of the kind `kind`.
    #[must_use]
    pub fn shell(self, kind: KeyKind, key: &str) -> String {
        let Self { base, knows_address } = self;
        let variable = variable(kind);
        let places = if knows_address {
            String::new()
        } else {
            format!("LINK_INSTALL_URL={base}/releases LINK_BACKEND_URL={base} ")
        };
        format!("curl -fsSL {base}/install.sh | {places}{variable}={key} sh")
    }

    /// Returns the line for PowerShell on Windows, with a key of the kind `kind`.
    #[must_use]
    pub fn power_shell(self, kind: KeyKind, key: &str) -> String {
        let Self { base, knows_address } = self;
        let variable = variable(kind);
        let places = if knows_address {
            String::new()
        } else {
            format!("$env:LINK_INSTALL_URL='{base}/releases'; $env:LINK_BACKEND_URL='{base}'; ")
        };
        format!("{places}$env:{variable}='{key}'; irm {base}/install.ps1 | iex")
    }
}

/// Returns the variable that the installers read a key from.
const fn variable(kind: KeyKind) -> &'static str {
    match kind {
        KeyKind::Registration => "LINK_REGISTRATION_KEY",
        KeyKind::Fleet => "LINK_FLEET_KEY",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_installer_without_an_address_is_told_where_the_backend_is() {
        let line = InstallLine { base: "https://a.example", knows_address: true };
        let expected = "curl -fsSL https://a.example/install.sh | LINK_FLEET_KEY=k sh";
        assert_eq!(line.shell(KeyKind::Fleet, "k"), expected);
        let line = InstallLine { knows_address: false, ..line };
        let expected = "curl -fsSL https://a.example/install.sh | \
             LINK_INSTALL_URL=https://a.example/releases LINK_BACKEND_URL=https://a.example \
             LINK_REGISTRATION_KEY=k sh";
        assert_eq!(line.shell(KeyKind::Registration, "k"), expected);
    }

    #[test]
    fn powershell_sets_a_variable_in_a_statement_of_its_own() {
        let line = InstallLine { base: "https://a.example", knows_address: true };
        let expected = "$env:LINK_FLEET_KEY='k'; irm https://a.example/install.ps1 | iex";
        assert_eq!(line.power_shell(KeyKind::Fleet, "k"), expected);
        let line = InstallLine { knows_address: false, ..line };
        let expected = "$env:LINK_INSTALL_URL='https://a.example/releases'; \
             $env:LINK_BACKEND_URL='https://a.example'; $env:LINK_REGISTRATION_KEY='k'; \
             irm https://a.example/install.ps1 | iex";
        assert_eq!(line.power_shell(KeyKind::Registration, "k"), expected);
    }
}
