//! The place of the backend's installation, of this machine or of this user, beside a device's own folders.

use std::path::PathBuf;

use link_installer::{
    layout::Layout,
    service::{BackendUnit, Scope, Wish},
    shared::SharedFile,
};
use link_platform::{paths::Roots, user_manager};

use crate::{context::Context, shared_files};

/// The folders of a backend's installation, and the service manager that starts it.
pub(crate) struct Place {
    pub(crate) layout: Layout,
    pub(crate) config: PathBuf,
    pub(crate) scope: Option<Scope>,
}

/// Returns the place of the installed backend, or of a future installation.
pub(crate) fn layout(context: &Context) -> Layout {
    Place::find(context, Wish::Detached).layout
}

impl Place {
    /// Finds the place. With `LINK_HOME`, every file is in that folder. Otherwise root uses the machine's folders, and
    /// any other user their own.
    pub(crate) fn find(context: &Context, wish: Wish) -> Self {
        let is_root = !context.environment.has_own_home && user_manager::is_root();
        Self::of(context, wish, is_root)
    }

    /// Returns the place of this user's own backend. The user may be root.
    pub(crate) fn of_user(context: &Context, wish: Wish) -> Self {
        Self::of(context, wish, false)
    }

    fn of(context: &Context, wish: Wish, is_root: bool) -> Self {
        let (roots, own) = (&context.roots, context.environment.has_own_home);
        let scope = if is_root { Scope::System } else { Scope::User };
        let roots = match (own, is_root) {
            (true, _) => {
                let home = roots.data.parent().unwrap_or(&roots.data);
                Roots {
                    data: home.join("backend"),
                    state: home.join("backend-data"),
                    config: home.join("backend-config"),
                    bin: roots.bin.clone(),
                }
            }
            (false, true) => Roots {
                data: "/usr/local/lib/link-backend".into(),
                state: "/var/lib/link-backend".into(),
                config: "/etc/link-backend".into(),
                bin: "/usr/local/bin".into(),
            },
            (false, false) => Roots {
                data: roots.data.with_file_name("link-backend"),
                state: roots.state.with_file_name("link-backend"),
                config: roots.config.with_file_name("link-backend"),
                bin: roots.bin.clone(),
            },
        };
        let wanted = match wish {
            Wish::Best => !own,
            Wish::Managed => true,
            Wish::Detached => false,
        };
        Self {
            config: roots.config.join("backend.toml"),
            layout: Layout::backend(roots),
            scope: (wanted && scope.answers()).then_some(scope),
        }
    }

    /// Returns the manual pages and completions of `link-backend`.
    pub(crate) fn shared(&self, context: &Context) -> Vec<SharedFile> {
        shared_files::of_backend(&self.layout.roots().data, context.environment.has_own_home)
    }

    pub(crate) fn unit(&self, scope: Scope) -> BackendUnit {
        BackendUnit { scope, program: self.layout.command_target(), config: self.config.clone() }
    }

    pub(crate) fn by_hand(&self) -> String {
        let command = self.layout.commands();
        format!("{} serve --config {}", command[0].display(), self.config.display())
    }

    /// Returns the configuration that a first installation writes.
    pub(crate) fn default_config(&self) -> String {
        let data = self.layout.roots().state.display().to_string();
        format!(
            "# The configuration of link-backend; `link-backend config schema` lists every key, and\n\
             # `link-backend config check` says what is wrong. Restart the service after a change.\n\
             \n\
             data = {data:?}\n\
             listen = \"127.0.0.1:8000\"\n\
             # The address that people and devices use; put a TLS proxy there.\n\
             # public_url = \"https://link.example.org\"\n\
             \n\
             [metrics]\n\
             listen = \"127.0.0.1:9464\"\n\
             \n\
             # [database]\n\
             # url_file = \"/etc/link-backend/database-url\"\n"
        )
    }
}
