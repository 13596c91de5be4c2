//! `link member`.

use clap::{Args, Subcommand, ValueEnum};

use crate::args::{Backend, Moment};

/// `link member …`.
#[derive(Debug, Subcommand)]
pub enum MemberCommand {
    /// List the members of the account and the open invitations
    #[command(after_help = "Example:\n  link member list")]
    List,
    /// Create an invitation for one person; its token is shown only once
    #[command(after_help = INVITE_EXAMPLES)]
    Invite {
        /// Role of the new member
        #[arg(long, value_enum)]
        role: RoleArg,
        /// Only a user with this e-mail may accept [default: anyone with the token]
        #[arg(long, value_name = "EMAIL")]
        email: Option<String>,
        /// Expiry, such as `30d` or `2027-01-31` [default: in seven days]
        #[arg(long, value_name = "TIME")]
        expires_at: Option<Moment>,
    },
    /// Accept an invitation and log in to its account
    #[command(after_help = ACCEPT_EXAMPLES)]
    Accept(Accept),
    /// Change the role of a member
    #[command(after_help = "Example:\n  link member role bob@example.com operator")]
    Role {
        /// Member, by e-mail or id
        member: String,
        /// New role of the member
        #[arg(value_enum)]
        role: RoleArg,
    },
    /// Remove a member, withdraw an invitation, or leave the account
    #[command(after_help = REMOVE_EXAMPLES)]
    Remove {
        /// Member, by e-mail or id, or invitation, by id
        member: String,
        /// What to do with the registration and fleet keys that the member created [default:
        /// prompt; without a terminal, or with --yes, revoke]
        #[arg(long, value_enum, value_name = "WHAT")]
        keys: Option<LeftKeysArg>,
        /// Do not ask for confirmation
        #[arg(long, short)]
        yes: bool,
    },
}

/// `link member accept`.
#[derive(Args, Debug)]
pub struct Accept {
    /// File that holds the invitation's token; `-` reads it from the first line of stdin
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<String>,
    /// E-mail of a new user to create [default: the logged-in user joins]
    #[arg(long, value_name = "EMAIL")]
    pub email: Option<String>,
    /// Read the new user's password from the next line of stdin
    #[arg(long, requires = "email")]
    pub password_stdin: bool,
    #[command(flatten)]
    pub backend: Backend,
}

/// What to do with the keys of a departing member.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum LeftKeysArg {
    /// Revoke the keys: no device can register with them afterwards
    Revoke,
    /// Keep the keys valid; you become responsible for them
    TakeOver,
}

/// Roles of members.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum RoleArg {
    /// Everything; an account has at least one owner
    Owner,
    /// Everything except changes to owners
    Admin,
    /// Deploy, serve, repair, update and tag
    Operator,
    /// See devices, models and deployments
    Viewer,
}

const INVITE_EXAMPLES: &str = "\
Examples:
  link member invite --role operator
  link member invite --role admin --email bob@example.com --expires-at 30d

Send the token to the person; they run `link member accept`.";

const ACCEPT_EXAMPLES: &str = "\
Examples:
  link member accept --email bob@example.com --backend https://link.example
  link member accept --token-file token.txt      as the logged-in user
  link member accept --token-file token.txt --email bob@example.com --password-stdin < password.txt

Afterwards, `link account list` shows your accounts, and `link account use` switches between them.";

const REMOVE_EXAMPLES: &str = "\
Examples:
  link member remove bob@example.com
  link member remove bob@example.com --keys take-over --yes
  link member remove inv_…
  link member remove you@example.com --yes      leave the account";
