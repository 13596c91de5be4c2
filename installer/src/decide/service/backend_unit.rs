//! The text of the unit that starts the backend: hardened and with its own user for the whole machine, or for one user.
//! Pure.

use std::path::{Path, PathBuf};

use super::unit::quoted;

/// The service manager that starts the backend.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Scope {
    /// The service manager of the machine. The service has a user of its own.
    System,
    /// The service manager of the user who installs the backend.
    User,
}

/// The user of the system service, and the name of its data folder.
pub(crate) const SERVICE_USER: &str = "link-backend";

/// The values of the unit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BackendUnit {
    pub scope: Scope,
    /// The path of the backend's program.
    pub program: PathBuf,
    pub config: PathBuf,
}

/// Restricts the service: it can write only in its own folder, and cannot gain privileges.
const HARDENED: &str = "\
    User=link-backend\n\
    StateDirectory=link-backend\n\
    StateDirectoryMode=0700\n\
    NoNewPrivileges=yes\n\
    CapabilityBoundingSet=\n\
    ProtectSystem=strict\n\
    ProtectHome=yes\n\
    ProtectProc=invisible\n\
    ProtectClock=yes\n\
    ProtectHostname=yes\n\
    ProtectControlGroups=yes\n\
    ProtectKernelLogs=yes\n\
    ProtectKernelModules=yes\n\
    ProtectKernelTunables=yes\n\
    PrivateDevices=yes\n\
    PrivateTmp=yes\n\
    RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK\n\
    RestrictNamespaces=yes\n\
    RestrictRealtime=yes\n\
    RestrictSUIDSGID=yes\n\
    LockPersonality=yes\n\
    MemoryDenyWriteExecute=yes\n\
    SystemCallArchitectures=native\n\
    SystemCallFilter=@system-service\n";

impl BackendUnit {
    /// Returns the text. None if a path cannot be written in a unit.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        let word = |path: &Path| quoted(path.to_str()?);
        let (program, config) = (word(&self.program)?, word(&self.config)?);
        let (edit, hardened, target) = match self.scope {
            Scope::System => ("systemctl edit link-backend", HARDENED, "multi-user.target"),
            Scope::User => ("systemctl --user edit link-backend", "", "default.target"),
        };
        Some(format!(
            "# Made by the Link installer. Edited, it is kept; a drop-in is the better place:\n\
             #   {edit}\n\
             [Unit]\n\
             Description=Link backend\n\
             StartLimitIntervalSec=0\n\
             After=network-online.target postgresql.service\n\
             Wants=network-online.target\n\
             \n\
             [Service]\n\
             Type=notify\n\
             ExecStart={program} serve --config {config}\n\
             Restart=always\n\
             RestartSec=2\n\
             WatchdogSec=60\n\
             TimeoutStartSec=300\n\
             TimeoutStopSec=60\n\
             LimitNOFILE=65536\n\
             UMask=0077\n\
             {hardened}\
             \n\
             [Install]\n\
             WantedBy={target}\n"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(scope: Scope) -> BackendUnit {
        BackendUnit {
            scope,
            program: "/opt/a b/current/link-backend".into(),
            config: "/etc/100%/backend.toml".into(),
        }
    }

    #[test]
    fn paths_are_quoted_and_only_the_service_of_the_machine_has_a_user_of_its_own() {
        let (system, user) =
            (unit(Scope::System).text().unwrap(), unit(Scope::User).text().unwrap());
        let start = "ExecStart=\"/opt/a b/current/link-backend\" serve --config \
                     \"/etc/100%%/backend.toml\"\n";
        assert!(system.contains(start) && user.contains(start), "{system}");
        for line in ["User=link-backend", "NoNewPrivileges=yes", "ProtectSystem=strict"] {
            assert!(system.lines().any(|found| found == line), "{line}");
            assert!(!user.contains(line), "a user's systemd cannot do that");
        }
        assert!(user.ends_with("WantedBy=default.target\n"));
        let mut odd = unit(Scope::User);
        odd.config = "/etc/a\nb".into();
        assert_eq!(odd.text(), None);
    }
}
