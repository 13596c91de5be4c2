//! `link member`.

use clap::{Args, Subcommand, ValueEnum};
use jiff::Timestamp;

use crate::args::Backend;

/// `link member …`.
#[derive(Debug, Subcommand)]
pub enum MemberCommand {
    /// List the members of the account, and who is invited
    #[command(after_help = "Example:\n  link member list")]
    List,
    /// Make an invitation; its token is shown this once and is good for one member
    #[command(after_help = INVITE_EXAMPLES)]
    Invite {
        /// What the member may do
        #[arg(long, value_enum)]
        role: RoleArg,
        /// Only a user of this e-mail may accept [default: whoever has the token]
        #[arg(long, value_name = "EMAIL")]
        email: Option<String>,
        /// When it stops working, such as 2027-01-31T00:00:00Z [default: in seven days]
        #[arg(long, value_name = "TIME")]
        expires_at: Option<Timestamp>,
    },
    /// Accept an invitation and log in to its account
    #[command(after_help = ACCEPT_EXAMPLES)]
    Accept(Accept),
    /// Give a member another role
    #[command(after_help = "Example:\n  link member role bob@example.com operator")]
    Role {
        /// Member, by e-mail or id
        member: String,
        /// What the member may do from now on
        #[arg(value_enum)]
        role: RoleArg,
    },
    /// Remove a member, withdraw an invitation, or leave the account
    #[command(after_help = REMOVE_EXAMPLES)]
    Remove {
        /// Member by e-mail or id, or invitation by id
        member: String,
        /// What becomes of the registration and fleet keys that the member created [default: asked,
        /// and without a terminal or with --yes they are revoked]
        #[arg(long, value_enum, value_name = "WHAT")]
        keys: Option<LeftKeysArg>,
        /// Do not ask
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
    /// Make a new user with this e-mail [default: who is logged in joins]
    #[arg(long, value_name = "EMAIL")]
    pub email: Option<String>,
    /// Read the new user's password from the next line of stdin
    #[arg(long, requires = "email")]
    pub password_stdin: bool,
    #[command(flatten)]
    pub backend: Backend,
}

/// What becomes of the keys of a member who goes.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum LeftKeysArg {
    /// No device registers with them afterwards
    Revoke,
    /// They stay good, and you answer for them
    TakeOver,
}

/// What a member may do.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum RoleArg {
    /// Everything; an account has at least one
    Owner,
    /// Everything but what concerns owners
    Admin,
    /// Deploy, serve, repair, update and tag
    Operator,
    /// See devices, models and deployments
    Viewer,
}

const INVITE_EXAMPLES: &str = "\
Examples:
  link member invite --role operator
  link member invite --role admin --email bob@example.com --expires-at 2027-01-31T00:00:00Z

Send the token to the person; they run `link member accept`.";

const ACCEPT_EXAMPLES: &str = "\
Examples:
  link member accept --email bob@example.com --backend https://link.example
  link member accept --token-file token.txt      as the one who is logged in
  link member accept --token-file token.txt --email bob@example.com --password-stdin < password.txt

`link account list` shows your accounts afterwards, and `link account use` goes from one to another.";

const REMOVE_EXAMPLES: &str = "\
Examples:
  link member remove bob@example.com
  link member remove bob@example.com --keys take-over --yes
  link member remove inv_…
  link member remove me@example.com --yes";
