//! `link chat`: asks a model that is served on this machine.

use std::io::{self, IsTerminal as _, Read as _};

use link_client::{chat::ChatClient, http::Failure, local::LocalClient};
use link_platform::facts;
use link_protocol::{command::Alias, exit_code::ExitCode, local_api::PipelineEntry};
use schemars::JsonSchema;
use serde::Serialize;

use super::other_use::{OtherUse, Terminal};
use crate::{
    args::{Chat, Question},
    backend_login,
    chat::{self, Answered, Conversation, Ended, Left},
    context::Context,
    document::Component,
    error::CliError,
    error_code::ErrorCode,
    local_backend, prompt, resolve,
};

/// The answer of a model to one question.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Answer<'a> {
    /// The alias of the model.
    #[schemars(with = "Component<Alias>")]
    model: &'a Alias,
    answer: &'a Answered,
}

/// The size limit of a question from standard input, in bytes.
const QUESTION_LIMIT: u64 = 4 * 1024 * 1024;

pub(super) async fn run(context: &Context, arguments: Chat) -> Result<ExitCode, CliError> {
    if let Some(named) = &arguments.device {
        ensure_this_device(context, named, arguments.model.as_deref()).await?;
    }
    let entries = LocalClient::of(&context.roots)
        .models()
        .await
        .map_err(|failure| agent_away(context, failure))?;
    let entry = match &arguments.model {
        Some(name) => served(&entries, name)?,
        None => chosen(context, &entries)?,
    };
    if let Some(other) = other_use(entry).await {
        return Err(other.refusal());
    }
    talk(context, entry, arguments.question).await
}

/// Explains why the agent of this machine does not answer.
fn agent_away(context: &Context, failure: Failure) -> CliError {
    let is_away = matches!(failure, Failure::Unavailable { .. });
    let error = CliError::from(failure);
    if is_away {
        error.hint(format!("start the agent with `{}`", local_backend::start_command(context)))
    } else {
        error
    }
}

/// Returns what the model is for, if it does not chat. A port that does not say so is asked as one that chats.
pub(super) async fn other_use(entry: &PipelineEntry) -> Option<OtherUse> {
    let offer = ChatClient::new(entry.port, entry.alias.clone()).offer().await.ok()?;
    OtherUse::of(entry, &offer, Terminal::of(facts::os()))
}

/// Asks the given question, or holds a conversation until the user leaves.
///
/// # Errors
/// If the model cannot be reached.
pub(super) async fn talk(
    context: &Context,
    entry: &PipelineEntry,
    question: Question,
) -> Result<ExitCode, CliError> {
    let client = ChatClient::new(entry.port, entry.alias.clone());
    let mut conversation = Conversation::new(question.system.clone(), question.sampling());
    let Some(text) = asked(&question)? else {
        if context.output.is_json() {
            return Err(CliError::usage("--json needs a question")
                .hint("give the question as an argument or on standard input"));
        }
        let name = entry.alias.to_string();
        let left = chat::interactive(context, &client, &name, &mut conversation).await?;
        if left == Left::StopModel {
            LocalClient::of(&context.roots).stop(entry.pipeline_id).await?;
            context.output.say(&format!("stopped serving `{name}`"));
        }
        return Ok(ExitCode::Success);
    };
    let answered = chat::once(context, &client, &mut conversation, text).await?;
    if context.output.is_json() {
        let document = Answer { model: &entry.alias, answer: &answered };
        context.output.data(&document, |_| String::new())?;
    } else if answered.ended == Ended::Length {
        context.output.say(&format!("({})", chat::CUT_OFF));
    }
    Ok(match answered.ended {
        Ended::Whole | Ended::Length => ExitCode::Success,
        Ended::Stopped => ExitCode::Interrupted,
    })
}

/// Refuses any device but this machine's own, because models answer only on the loopback address.
async fn ensure_this_device(
    context: &Context,
    named: &str,
    model: Option<&str>,
) -> Result<(), CliError> {
    let own = resolve::identity(context)?.map(|identity| identity.device_id);
    if own.is_some_and(|own| own.to_string() == named) {
        return Ok(());
    }
    let backend = backend_login::logged_in(context)?;
    let device = resolve::device(context, &backend, Some(named)).await?;
    if own == Some(device) {
        return Ok(());
    }
    let name = backend.device(device).await?.name;
    let message = format!("models answer on 127.0.0.1 of `{name}` alone");
    Err(CliError::new(ExitCode::Failed, ErrorCode::OtherDevice, message)
        .hint(format!("run `link chat {}` on that machine", model.unwrap_or("MODEL"))))
}

/// Returns the entry that is served under `name`.
fn served<'a>(entries: &'a [PipelineEntry], name: &str) -> Result<&'a PipelineEntry, CliError> {
    let named = entries.iter().find(|entry| entry.alias.as_str() == name);
    match named {
        Some(entry) if entry.is_serving => Ok(entry),
        Some(_) => {
            let message = format!("`{name}` is not served on this device");
            Err(CliError::new(ExitCode::Failed, ErrorCode::NotServing, message)
                .hint(format!("serve it and chat with `link run {name}`")))
        }
        None => {
            let served = entries.iter().filter(|entry| entry.is_serving);
            let names: Vec<_> = served.map(|entry| entry.alias.to_string()).collect();
            let message = format!("no model is called `{name}` on this device");
            let hint = if names.is_empty() {
                format!("deploy it and chat with `link run {name}`")
            } else {
                format!("served here: {}", quoted(&names))
            };
            Err(CliError::new(ExitCode::Failed, ErrorCode::UnknownName, message).hint(hint))
        }
    }
}

/// Returns the model to ask if none was named: the only one that is served, or the one that a person chooses.
fn chosen<'a>(
    context: &Context,
    entries: &'a [PipelineEntry],
) -> Result<&'a PipelineEntry, CliError> {
    let served: Vec<_> = entries.iter().filter(|entry| entry.is_serving).collect();
    match served.as_slice() {
        [only] => Ok(only),
        [] => {
            let message = "no model is served on this device";
            Err(CliError::new(ExitCode::Failed, ErrorCode::NotServing, message).hint(
                "deploy one and chat with `link run MODEL`; `link model list` shows the models",
            ))
        }
        several => {
            let names: Vec<_> = several.iter().map(|entry| entry.alias.to_string()).collect();
            if context.output.is_json() || !prompt::can_choose() {
                let message = format!("which model? served here: {}", quoted(&names));
                return Err(CliError::usage(message)
                    .hint(format!("name one of them, such as `link chat {}`", names[0])));
            }
            Ok(several[prompt::choose("Model", &names)?])
        }
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Returns the question: the arguments, then the piped input. None on a terminal without arguments.
fn asked(question: &Question) -> Result<Option<String>, CliError> {
    let words = question.words.join(" ");
    if io::stdin().is_terminal() {
        return Ok(Some(words).filter(|words| !words.trim().is_empty()));
    }
    let mut piped = String::new();
    let read = io::stdin().lock().take(QUESTION_LIMIT + 1).read_to_string(&mut piped);
    read.map_err(|error| {
        CliError::new(ExitCode::Failed, ErrorCode::Input, format!("failed to read stdin: {error}"))
    })?;
    if piped.len() as u64 > QUESTION_LIMIT {
        return Err(CliError::usage("the question on standard input is larger than 4 MiB"));
    }
    let text = [words.trim(), piped.trim()].into_iter().filter(|text| !text.is_empty());
    let text = text.collect::<Vec<_>>().join("\n\n");
    if text.is_empty() {
        return Err(CliError::usage("the question is empty")
            .hint("give it as an argument or on standard input"));
    }
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_found_by_the_name_that_it_is_served_under() {
        let entry = |alias: &str, is_serving| PipelineEntry {
            pipeline_id: "pip_00000000000000000000000000000007".parse().unwrap(),
            alias: alias.parse().unwrap(),
            port: 8080.try_into().unwrap(),
            host: "127.0.0.1".to_owned(),
            is_serving,
        };
        let entries = [entry("tiny", true), entry("resting", false)];
        assert_eq!(served(&entries, "tiny").unwrap().alias.as_str(), "tiny");
        let error = served(&entries, "resting").unwrap_err();
        assert_eq!(error.hint.as_deref(), Some("serve it and chat with `link run resting`"));
        let error = served(&entries, "other").unwrap_err();
        assert_eq!(error.hint.as_deref(), Some("served here: `tiny`"));
    }
}
