//! `link-backend` and `link-agent`, on a machine with a configuration file of the backend.

use super::example::{Example, example};

/// The configuration of a backend in the folder `data`.
pub(super) const CONFIGURE: &str = "mkdir -p .config/link-backend
    printf 'data = \"%s/data\"\\nlisten = \"127.0.0.1:0\"\\n' \"$PWD\" > backend.toml
    cp backend.toml .config/link-backend/; cp password.txt password-file";

pub(super) const SERVER: &[Example] = &[
    example("link-backend serve --data /var/lib/link --listen 0.0.0.0:8000")
        .shows("listening")
        .interrupted(),
    example("link-backend serve --config /etc/link-backend/backend.toml")
        .shows("listening")
        .interrupted(),
    example("link-backend serve --data ./data").shows("listening").interrupted(),
    example("link-backend serve --data ./data --listen 127.0.0.1:0 --address-file ./address")
        .shows("listening")
        .interrupted(),
    example("link-backend config show").after("[ -s address ]").shows("/data"),
    example("link-backend config check --config ./backend.toml").shows("has no faults"),
    example("link-backend create-account ada@example.org")
        .typed(&[("Password: ", "<password.txt"), ("Once more: ", "<password.txt")])
        .shows("acc_"),
    example("link-backend create-account ada@example.org --data ./data < password-file")
        .given(&[("ada@", "echo eve@")])
        .shows("acc_"),
    example("link-backend create-account bob@example.org --name acme")
        .typed(&[("Password: ", "<password.txt"), ("Once more: ", "<password.txt")])
        .shows("acc_"),
    example("link-backend reset-password ada@example.org")
        .typed(&[("Password: ", "<password.txt"), ("Once more: ", "<password.txt")])
        .shows("ada@example.org has another password"),
    example("link-backend reset-password ada@example.org --data ./data < password-file")
        .shows("ada@example.org has another password"),
    example("link-backend migrate --dry-run").shows("the tables are up to date"),
    example("link-backend migrate").shows("the tables are up to date"),
    example("link-backend doctor"),
    example("link-backend doctor --json").shows("\"check\""),
    example("link-backend backup /backup/link.tar").shows("link.tar"),
    example("link-backend backup /backup/link-$(date +%F).tar").shows(".tar"),
    example("link-backend backup ./link.tar --data ./data --json")
        .after("rm link.tar")
        .shows("link.tar"),
    example("link-backend restore link.tar --data ./new").shows("new"),
    example("link-backend restore link.tar --force").shows("data"),
    example("link-backend releases pull ./release-folder --trust ./release-key.pub")
        .shows("now serving release 1.4.0"),
    example("link-backend releases pull https://releases.example/stable")
        .shows("now serving release 1.4.0"),
    example("link-agent").after("link stop").shows("the command channel is ready").interrupted(),
    example("LINK_HOME=/tmp/scratch link-agent").shows("local API on").interrupted(),
    example("link-agent --check-config"),
    example("link-agent --config-schema").shows("\"$schema\""),
];
