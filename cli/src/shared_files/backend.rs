//! The manual pages and completions of `link-backend`, which `link` installs with it.
//!
//! `cargo xtask generate` creates them from the definition of that program, which this crate may
//! not import. A test in `xtask` finds files that are missing in these lists.

use clap_complete::Shell;

/// The name of the program.
pub(super) const NAME: &str = "link-backend";

macro_rules! committed {
    ($folder:literal, $name:literal) => {
        include_bytes!(concat!("../../../", $folder, "/", $name)) as &[u8]
    };
}

macro_rules! pages {
    ($($name:literal)+) => { &[$(($name, committed!("man", $name)),)+] };
}

macro_rules! completions {
    ($($shell:ident $name:literal)+) => {
        &[$((Shell::$shell, $name, committed!("completions", $name)),)+]
    };
}

/// The name and the contents of each page.
pub const PAGES: &[(&str, &[u8])] = pages! {
    "link-backend.1"
    "link-backend-backup.1"
    "link-backend-config.1"
    "link-backend-config-check.1"
    "link-backend-config-schema.1"
    "link-backend-config-show.1"
    "link-backend-create-account.1"
    "link-backend-doctor.1"
    "link-backend-migrate.1"
    "link-backend-releases.1"
    "link-backend-releases-pull.1"
    "link-backend-reset-password.1"
    "link-backend-restore.1"
    "link-backend-serve.1"
};

/// The shell, the name of the committed file, and its contents.
pub const COMPLETIONS: &[(Shell, &str, &[u8])] = completions! {
    Bash "link-backend.bash"
    Zsh "_link-backend"
    Fish "link-backend.fish"
    PowerShell "_link-backend.ps1"
};
