//! `link commands`: the commands sent to devices, and their outcomes.

use link_client::backend::BackendClient;
use link_protocol::{
    backend_api::command::{CommandExplanation, CommandInfo, CommandState},
    command::CommandKind,
    id::CommandId,
};

use crate::{
    args::CommandsCommand,
    backend_login,
    context::Context,
    error::CliError,
    names::Names,
    output::{Cell, View},
    resolve,
};

pub(super) async fn run(context: &Context, command: CommandsCommand) -> Result<(), CliError> {
    let backend = backend_login::logged_in(context)?;
    match command {
        CommandsCommand::List { device, kind, open, limit } => {
            let device = match device {
                Some(named) => Some(resolve::device(context, &backend, Some(&named)).await?),
                None => None,
            };
            let most = usize::try_from(limit).unwrap_or(usize::MAX);
            let commands = backend.commands(device, kind, open, most).await?;
            let names = if context.output.is_json() {
                Names::default()
            } else {
                Names::of_devices(&backend).await
            };
            let view = context.view();
            context.output.data(&commands, |commands| table(commands, &names, &view))
        }
        CommandsCommand::Show { command } => {
            let id = id(&backend, &command).await?;
            let view = context.view();
            context.output.data(&backend.command(id).await?, |command| show(command, &view))
        }
        CommandsCommand::Explain { command } => {
            let id = id(&backend, &command).await?;
            context.output.data(&backend.explain_command(id).await?, explain)
        }
    }
}

/// Returns the id of the command that `text` names: a complete id, or the beginning of one of the
/// newest ids.
async fn id(backend: &BackendClient, text: &str) -> Result<CommandId, CliError> {
    if let Ok(id) = text.parse() {
        return Ok(id);
    }
    let newest = backend.commands(None, None, false, 200).await?;
    resolve::by_prefix(
        resolve::Kind::Command,
        text,
        newest.into_iter().map(|command| command.command_id),
    )
}

fn table(commands: &[CommandInfo], names: &Names, view: &View) -> String {
    if commands.is_empty() {
        return "no commands".to_owned();
    }
    let rows = commands.iter().map(|command| {
        let CommandInfo { command_id, r#type, device_id, created_at, .. } = command;
        let (kind, state) = (kind(*r#type).into(), state(command).into());
        [Cell::Time(*created_at), kind, state, names.cell(device_id), Cell::id(command_id)]
    });
    view.table(["TIME", "COMMAND", "STATE", "DEVICE", "ID"], rows)
}

fn show(command: &CommandInfo, view: &View) -> String {
    let CommandInfo { command_id, r#type, device_id, created_at, expires_at, .. } = command;
    let mut text = format!(
        "Command   {}\nId        {command_id}\nDevice    {device_id}\nState     {}\n\
         Created   {}\nExpires   {}\n",
        kind(*r#type),
        state(command),
        view.time(*created_at),
        view.time(*expires_at),
    );
    if let Some(model) = command.model_id {
        text.push_str(&format!("Model     {model}\n"));
    }
    if let Some(port) = command.port {
        text.push_str(&format!("Port      {port}\n"));
    }
    if let Some(newer) = command.superseded_by {
        text.push_str(&format!("Newer     replaced by {newer}\n"));
    }
    if let Some(result) = &command.result {
        let reported = view.time(result.reported_at);
        text.push_str(&format!("Result    {}, reported {reported}\n", result.status));
        if !result.output.is_empty() {
            text.push_str(&format!("Output    {}\n", result.output));
        }
    }
    text
}

fn explain(explanation: &CommandExplanation) -> String {
    let CommandExplanation { command, deliveries, happened, why, next, .. } = explanation;
    let what = format!("{} to {}", kind(command.r#type), command.device_id);
    let why = if why.is_empty() { String::new() } else { format!("Why:  {why}\n") };
    format!("{what}, {}\n\n{happened}\n{why}Next: {next}", delivered(*deliveries))
}

fn delivered(times: u32) -> String {
    match times {
        0 => "not delivered yet".to_owned(),
        1 => "delivered once".to_owned(),
        more => format!("delivered {more} times"),
    }
}

fn state(command: &CommandInfo) -> String {
    match (&command.result, command.state) {
        (Some(result), _) => result.status.to_string(),
        (None, CommandState::Sent) => "sent".to_owned(),
        (None, CommandState::Processed) => "acknowledged".to_owned(),
        (None, CommandState::Expired) => "expired".to_owned(),
    }
}

fn kind(kind: CommandKind) -> String {
    kind.as_str().to_lowercase().replace('_', " ")
}
