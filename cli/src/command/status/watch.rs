//! `link status --watch`: the status after each change, until Ctrl-C.
//!
//! On a terminal the status is redrawn in place, otherwise each change is printed as a line. If the
//! agent stops answering, the command waits for it. If no agent answers at the start, the command
//! ends.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits for an agent that is away")]

use std::{
    io::{self, IsTerminal as _},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use link_client::{http::Failure, local::LocalClient};
use link_protocol::{exit_code::ExitCode, local_api::Healthz, shown};

use super::{Here, Status, lifecycle, look, once, state, text, verdict};
use crate::{
    context::Context,
    error::CliError,
    local_backend::start_command,
    output::{self, View},
    resolve, service,
};

/// The first delay before a lost agent is contacted again.
const FIRST_WAIT: Duration = Duration::from_millis(250);
/// The maximum of this delay.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

const LOST: &str = "the agent no longer answers; retrying";

pub(super) async fn run(context: &Context, local: &LocalClient) -> Result<ExitCode, CliError> {
    tokio::select! {
        // Listens before the first line is shown: a reader may press Ctrl-C at once.
        biased;
        _interrupted = tokio::signal::ctrl_c() => Ok(ExitCode::Success),
        ended = follow(context, local) => ended,
    }
}

async fn follow(context: &Context, local: &LocalClient) -> Result<ExitCode, CliError> {
    let mut states = match local.states().await {
        Ok(states) => Some(states),
        Err(failure @ Failure::Refused(_)) => return Err(failure.into()),
        Err(Failure::Unavailable { cause, .. }) => {
            context.output.say(&format!("there is nothing to watch: {cause}\n"));
            return once(context, local).await;
        }
    };
    let availability = service::availability(context, start_command(context));
    let mut screen = Screen::new(context.output.is_json());
    let mut wait = FIRST_WAIT;
    loop {
        let agent = match &mut states {
            Some(states) => states.next().await.ok().flatten(),
            None => None,
        };
        let is_here = agent.is_some();
        let status = look(context, local, agent, availability.clone()).await?;
        let advice = if is_here {
            verdict(&status, resolve::identity(context)?.as_ref(), Here::look(context)).1
        } else {
            Some(LOST.to_owned())
        };
        if !screen.show(&status, advice.as_deref(), &context.view())? {
            return Ok(ExitCode::Success);
        }
        if is_here {
            wait = FIRST_WAIT;
        } else {
            tokio::time::sleep(wait).await;
            wait = wait.saturating_mul(2).min(LONGEST_WAIT);
            states = local.states().await.ok();
        }
    }
}

/// The place where the status is printed, and the last printed status.
struct Screen {
    style: Style,
    last: String,
}

enum Style {
    Json,
    Terminal(ProgressBar),
    Lines,
}

impl Screen {
    fn new(json: bool) -> Self {
        let style = if json {
            Style::Json
        } else if io::stdout().is_terminal() {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stdout());
            bar.set_style(ProgressStyle::with_template("{msg}").expect("a valid template"));
            Style::Terminal(bar)
        } else {
            Style::Lines
        };
        Self { style, last: String::new() }
    }

    /// Shows a status unless it looks like the previous one. Returns false if the reader has closed
    /// the output.
    fn show(
        &mut self,
        status: &Status,
        advice: Option<&str>,
        view: &View,
    ) -> Result<bool, CliError> {
        let shown = match &self.style {
            Style::Json => document(status),
            Style::Terminal(_) => {
                let advice = advice.map(|advice| format!("\n\n{advice}")).unwrap_or_default();
                shown::lines(&format!("{}{advice}", text(status, view)))
            }
            Style::Lines => shown::one_line(&line(status)),
        };
        if shown == self.last {
            return Ok(true);
        }
        let still_read = match &self.style {
            Style::Terminal(bar) => {
                bar.set_message(shown.clone());
                true
            }
            Style::Json | Style::Lines => output::stream_stdout(&format!("{shown}\n"))?,
        };
        self.last = shown;
        Ok(still_read)
    }
}

impl Drop for Screen {
    /// Leaves the last status on the terminal.
    fn drop(&mut self) {
        match &self.style {
            Style::Terminal(bar) => bar.abandon(),
            Style::Json | Style::Lines => {}
        }
    }
}

/// Returns the whole status as one line of JSON.
fn document(status: &Status) -> String {
    shown::json(&serde_json::to_string(status).expect("a status has only string keys"))
}

/// Returns the essential status on one line.
fn line(status: &Status) -> String {
    match &status.agent {
        Some(agent) => summary(agent),
        None => LOST.to_owned(),
    }
}

fn summary(agent: &Healthz) -> String {
    let mut parts = vec![format!("{}{}", lifecycle(agent.status), super::connection(agent))];
    parts.extend(agent.models.iter().map(|model| format!("{}: {}", model.alias, state(model))));
    parts.extend(agent.deployments.iter().map(super::deploying));
    parts.join(", ")
}
