//! The completion of names: decides the kind of name that an argument needs (pure), and prints the names of that kind.
//!
//! A shell waits for the answer, so the command answers within [`PATIENCE`] or prints nothing. A failure prints no
//! message.

use std::time::Duration;

use clap::{Arg, Command, CommandFactory as _};
use link_client::backend::{BackendClient, CallError};

use crate::{args::Arguments, backend_login, context::Context, error::CliError, output, resolve};

/// Timeout for the backend. A person notices a completion that takes 300 ms.
const PATIENCE: Duration = Duration::from_millis(250);

/// The kind of a name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Account,
    Device,
    Key,
    Member,
    Model,
    Selection,
    Tag,
    Token,
}

/// Prints the names that complete the last of `words`, one per line.
///
/// # Errors
/// If stdout cannot be written.
pub(crate) async fn run(context: &Context, words: &[String]) -> Result<(), CliError> {
    let Some((kind, begun)) = wanted(&Arguments::command(), words) else { return Ok(()) };
    let Ok(backend) = backend_login::logged_in(context) else { return Ok(()) };
    let names = tokio::time::timeout(PATIENCE, names(&backend, kind)).await;
    let Ok(Ok(mut names)) = names else { return Ok(()) };
    names.retain(|name| name.starts_with(begun) && !name.contains(char::is_control));
    names.sort_unstable();
    names.dedup();
    let lines: String = names.iter().map(|name| format!("{name}\n")).collect();
    output::write_stdout(&lines)
}

async fn names(backend: &BackendClient, kind: Kind) -> Result<Vec<String>, CallError> {
    Ok(match kind {
        Kind::Device => backend.devices().await?.into_iter().map(|it| it.name).collect(),
        Kind::Model => backend.models().await?.iter().map(resolve::called).collect(),
        Kind::Member => backend.members().await?.into_iter().map(|it| it.email).collect(),
        Kind::Key => {
            let usable = backend.keys().await?.into_iter().filter(|key| !key.revoked);
            usable.map(|key| named_or_id(key.name, key.key_id)).collect()
        }
        Kind::Token => {
            let tokens = backend.personal_tokens().await?;
            tokens.into_iter().map(|it| named_or_id(it.name, it.token_id)).collect()
        }
        Kind::Account => {
            let accounts = backend.accounts().await?;
            accounts.into_iter().map(|it| it.account_id.to_string()).collect()
        }
        Kind::Tag => backend.devices().await?.into_iter().flat_map(|it| it.tags).collect(),
        Kind::Selection => {
            let states = ["online", "offline", "updating"].map(|state| format!("state={state}"));
            let tags = backend.devices().await?.into_iter().flat_map(|it| it.tags);
            tags.map(|tag| format!("tag={tag}")).chain(states).collect()
        }
    })
}

/// Returns the name, or the id of what has no name.
fn named_or_id(name: String, id: impl ToString) -> String {
    if name.is_empty() { id.to_string() } else { name }
}

/// Returns the kind of name that the last of `words` needs, and the part that was already typed.
fn wanted<'w>(root: &Command, words: &'w [String]) -> Option<(Kind, &'w str)> {
    let (last, before) = words.split_last()?;
    let mut command = root;
    let mut path = Vec::new();
    let (mut positional, mut pending): (usize, Option<&Arg>) = (0, None);
    for word in before.iter().skip(1) {
        // Bash splits `--device=x` into three words.
        if word == "=" || pending.take().is_some() {
            continue;
        }
        if word.starts_with('-') {
            pending = option(root, command, word);
        } else if let Some(next) = command.find_subcommand(word) {
            path.push(next.get_name());
            (command, positional) = (next, 0);
        } else {
            positional += 1;
        }
    }
    let (argument, begun) = match (pending, last.split_once('=')) {
        (Some(option), _) => (option, last.as_str()),
        (None, Some((name, begun))) if name.starts_with("--") => {
            (find(command, |arg| arg.get_long().is_some_and(|long| name[2..] == *long))?, begun)
        }
        (None, _) if last.starts_with('-') => return None,
        (None, _) => {
            let all: Vec<&Arg> = command.get_positionals().collect();
            let many = |arg: &&&Arg| arg.get_num_args().is_some_and(|n| n.max_values() > 1);
            let argument = all.get(positional).or_else(|| all.last().filter(many))?;
            (*argument, last.as_str())
        }
    };
    Some((kind(&path, argument)?, begun))
}

/// Returns the option `word`, if the next word is its value.
fn option<'c>(root: &'c Command, command: &'c Command, word: &str) -> Option<&'c Arg> {
    if word.contains('=') {
        return None;
    }
    let is_it = |arg: &Arg| match word.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => arg.get_short().is_some_and(|short| word == format!("-{short}")),
    };
    let found = find(command, is_it).or_else(|| find(root, is_it))?;
    found.get_action().takes_values().then_some(found)
}

fn find(command: &Command, is_it: impl Fn(&Arg) -> bool) -> Option<&Arg> {
    command.get_arguments().find(|arg| is_it(arg))
}

fn kind(path: &[&str], argument: &Arg) -> Option<Kind> {
    match (path, argument.get_id().as_str()) {
        (_, "device") => Some(Kind::Device),
        (["model", "add"] | ["model", "search"], _) => None,
        (_, "model") => Some(Kind::Model),
        (_, "select") => Some(Kind::Selection),
        (_, "tag" | "tags") => Some(Kind::Tag),
        (["key", "revoke"], "key") => Some(Kind::Key),
        (["token", "revoke"], "token") => Some(Kind::Token),
        (["account", "use"], "account") => Some(Kind::Account),
        (["member", "role" | "remove"], "member") => Some(Kind::Member),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_word_is_that_of_its_argument() {
        for (line, expected) in [
            ("link device show wo", Some((Kind::Device, "wo"))),
            ("link device tag workstation ", Some((Kind::Tag, ""))),
            ("link device tag workstation a b", Some((Kind::Tag, "b"))),
            ("link --json model deploy smo", Some((Kind::Model, "smo"))),
            ("link model deploy smollm --device ", Some((Kind::Device, ""))),
            ("link model deploy smollm --device=wo", Some((Kind::Device, "wo"))),
            ("link model deploy --port 8080 smo", Some((Kind::Model, "smo"))),
            ("link device list --select ta", Some((Kind::Selection, "ta"))),
            ("link key revoke ", Some((Kind::Key, ""))),
            ("link member role a@b.c ", None),
            ("link run smo", Some((Kind::Model, "smo"))),
            ("link device sh", None),
            ("link model deploy --po", None),
            ("link register --registration-key lrk", None),
            ("link", None),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(wanted(&Arguments::command(), &words), expected, "{line}");
        }
    }
}
