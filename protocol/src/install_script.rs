//! Writes the addresses of a release host or a backend into the installers, so that the line that downloads an installer
//! needs no address for it (specification, section 4.4).
//!
//! An address from the environment takes precedence. An address with characters that are special to a shell is not
//! written.

/// The first line of `install.sh`. The addresses are inserted after it.
const SHEBANG: &str = "#!/bin/sh\n";
/// The line of `install.ps1` that the addresses replace.
const PLACE: &str = "  # Whoever serves this script puts its addresses here.\n";

/// Where an installer finds a release.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Releases<'a> {
    /// The folder with the release of the backend at this address.
    OfBackend(&'a str),
    /// The folders of the channels below this address.
    Below(&'a str),
}

impl<'a> Releases<'a> {
    /// Returns the address, if it may be written into a script, without a slash at its end.
    fn base(self) -> Option<&'a str> {
        let (Self::OfBackend(base) | Self::Below(base)) = self;
        plain(base)
    }

    /// Returns `install.sh` with the addresses.
    #[must_use]
    pub fn shell(self, script: &str) -> String {
        let Some(base) = self.base() else { return script.to_owned() };
        let (place, backend) = match self {
            Self::OfBackend(_) => (
                format!("LINK_INSTALL_URL='{base}/releases'"),
                format!(
                    ": \"${{LINK_BACKEND_URL:={base}}}\"; export LINK_INSTALL_URL LINK_BACKEND_URL\n"
                ),
            ),
            Self::Below(_) => (format!("LINK_REPO_URL='{base}'"), String::new()),
        };
        let told = format!(
            "{SHEBANG}[ -n \"${{LINK_INSTALL_URL:-}}${{LINK_REPO_URL:-}}\" ] || {place}\n{backend}"
        );
        script.replacen(SHEBANG, &told, 1)
    }

    /// Returns `install.ps1` with the addresses.
    #[must_use]
    pub fn power_shell(self, script: &str) -> String {
        let Some(base) = self.base() else { return script.to_owned() };
        let (place, backend) = match self {
            Self::OfBackend(_) => (
                format!("$env:LINK_INSTALL_URL = '{base}/releases'"),
                format!(
                    "  if (-not $env:LINK_BACKEND_URL) {{ $env:LINK_BACKEND_URL = '{base}' }}\n"
                ),
            ),
            Self::Below(_) => (format!("$env:LINK_REPO_URL = '{base}'"), String::new()),
        };
        let told = format!(
            "  if (-not $env:LINK_INSTALL_URL -and -not $env:LINK_REPO_URL) {{ {place} }}\n{backend}"
        );
        script.replacen(PLACE, &told, 1)
    }
}

/// Returns the address without a slash at its end, if it has no characters that are special to a shell.
#[must_use]
pub fn plain(address: &str) -> Option<&str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/[]".contains(c);
    address.chars().all(is_plain).then(|| address.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHELL: &str = include_str!("../../scripts/install.sh");
    const POWER_SHELL: &str = include_str!("../../scripts/install.ps1");

    #[test]
    fn an_installer_is_told_a_backend_that_a_shell_cannot_read_otherwise() {
        let script = Releases::OfBackend("https://link.example/").shell(SHELL);
        assert!(script.starts_with("#!/bin/sh\n[ -n "), "{}", &script[..80]);
        assert!(script.contains("LINK_INSTALL_URL='https://link.example/releases'"));
        assert!(script.contains(": \"${LINK_BACKEND_URL:=https://link.example}\""));
        for bad in ["https://a.example/$(id)", "https://a.example/';id;'", "https://a.example/`id`"]
        {
            assert_eq!(Releases::OfBackend(bad).shell(SHELL), SHELL, "{bad}");
            assert_eq!(Releases::Below(bad).power_shell(POWER_SHELL), POWER_SHELL, "{bad}");
        }
    }

    #[test]
    fn an_installer_is_told_a_host_with_channels() {
        let script = Releases::Below("https://host.example").shell(SHELL);
        assert!(script.contains("|| LINK_REPO_URL='https://host.example'\n"));
        assert!(!script.contains("LINK_BACKEND_URL:="));
        let script = Releases::Below("https://host.example").power_shell(POWER_SHELL);
        assert!(script.contains("{ $env:LINK_REPO_URL = 'https://host.example' }\n"));
    }

    #[test]
    fn the_installer_for_windows_is_told_the_address_once_and_inside_its_function() {
        assert_eq!(POWER_SHELL.matches(PLACE).count(), 1);
        let script = Releases::OfBackend("https://link.example/").power_shell(POWER_SHELL);
        assert!(script.contains("{ $env:LINK_INSTALL_URL = 'https://link.example/releases' }\n"));
        assert!(script.contains("{ $env:LINK_BACKEND_URL = 'https://link.example' }\n"));
        let (before, _) = script.split_once("if (-not $env:LINK_INSTALL_URL").unwrap();
        assert!(
            before.contains("\nfunction Install-Link {\n"),
            "nothing runs outside of the function"
        );
        for name in ["LINK_REPO_URL", "LINK_INSTALL_URL", "LINK_BACKEND_URL"] {
            assert!(before.contains(&format!("'{name}'")), "the session gets its value back");
        }
        assert!(!script.contains(PLACE));
    }
}
