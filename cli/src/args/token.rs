//! `link token`.

use clap::Subcommand;
use link_protocol::permission::Permission;

use crate::args::Moment;

/// `link token …`.
#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Create a personal access token for scripts; the token is shown only once
    #[command(after_help = create_examples())]
    Create {
        /// Name of the token in lists
        #[arg(long, value_name = "NAME")]
        name: String,
        /// Scope of the token; may be given several times
        #[arg(long = "scope", value_name = "SCOPE", required = true)]
        scopes: Vec<Permission>,
        /// Expiry, such as `30d` or `2027-01-31` [default: in 90 days]
        #[arg(long, value_name = "TIME")]
        expires_at: Option<Moment>,
    },
    /// List your tokens in this account, without their secrets
    #[command(after_help = "Example:\n  link token list")]
    List,
    /// Revoke a token: every later request with it is refused
    #[command(after_help = "Examples:\n  link token revoke tok_…\n  link token revoke ci")]
    Revoke {
        /// Token, by name, by id or by the beginning of its id
        token: String,
    },
}

fn create_examples() -> String {
    let scopes = Permission::ALL.iter().filter(|permission| permission.can_be_scope());
    let scopes: String = scopes.map(|scope| format!("\n  {scope}")).collect();
    format!(
        "Examples:
  link token create --name ci --scope devices:read --scope serving:operate
  link token create --name ci --scope models:write --expires-at 30d

A script passes the token in LINK_ACCESS_TOKEN, or logs in with `link login --token-file FILE`. The token
never permits more than your current role.

Scopes:{scopes}"
    )
}
