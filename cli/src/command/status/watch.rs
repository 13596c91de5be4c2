//! `link status --watch`: the status, shown anew after each change until Ctrl-C.
//!
//! On a terminal it is drawn in place, else each change is a line. An agent that goes away is waited
//! for; one that was never there is not.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits for an agent that is away")]

use std::{
    io::{self, IsTerminal as _},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use link_client::{
    http::Failure,
    local::{LocalClient, States},
};
use link_protocol::{local_api::Healthz, shown};

use super::{Status, lifecycle, look, once, state, text, verdict};
use crate::{context::Context, error::CliError, exit_code::ExitCode, output, resolve, service};

/// How long an agent that went away is left alone at first.
const FIRST_WAIT: Duration = Duration::from_millis(250);
/// And at most.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

const LOST: &str = "the agent does not answer any more; trying again";

pub(super) async fn run(context: &Context, local: &LocalClient) -> Result<ExitCode, CliError> {
    tokio::select! {
        ended = follow(context, local) => ended,
        _interrupted = tokio::signal::ctrl_c() => Ok(ExitCode::Success),
    }
}

async fn follow(context: &Context, local: &LocalClient) -> Result<ExitCode, CliError> {
    let mut states = match local.states().await {
        Ok(states) => states,
        Err(failure @ Failure::Refused(_)) => return Err(failure.into()),
        Err(Failure::Unavailable { cause, .. }) => {
            context.output.say(&format!("there is nothing to watch: {cause}\n"));
            return once(context, local).await;
        }
    };
    let availability = service::availability(context);
    let mut screen = Screen::new(context.output.is_json());
    loop {
        let agent = states.next().await.ok().flatten();
        let lost = agent.is_none();
        let status = look(context, local, agent, availability.clone()).await?;
        let identity = resolve::identity(context)?;
        let (_, advice) = verdict(&status, identity.as_ref());
        let advice = if lost { Some(LOST.to_owned()) } else { advice };
        if !screen.show(&status, advice.as_deref())? {
            return Ok(ExitCode::Success);
        }
        if lost {
            states = again(local).await;
        }
    }
}

/// Waits until the agent is there again.
async fn again(local: &LocalClient) -> States {
    let mut wait = FIRST_WAIT;
    loop {
        tokio::time::sleep(wait).await;
        match local.states().await {
            Ok(states) => return states,
            Err(_) => wait = wait.saturating_mul(2).min(LONGEST_WAIT),
        }
    }
}

/// Where the status is shown.
enum Screen {
    Json,
    Terminal(ProgressBar),
    /// With the last line.
    Lines(String),
}

impl Screen {
    fn new(json: bool) -> Self {
        if json {
            return Self::Json;
        }
        if !io::stdout().is_terminal() {
            return Self::Lines(String::new());
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stdout());
        bar.set_style(ProgressStyle::with_template("{msg}").expect("a valid template"));
        Self::Terminal(bar)
    }

    /// Shows a status; false when nobody looks any more.
    fn show(&mut self, status: &Status, advice: Option<&str>) -> Result<bool, CliError> {
        match self {
            Self::Json => {
                let json = serde_json::to_string(status).expect("a status has only string keys");
                output::stream_stdout(&format!("{}\n", shown::json(&json)))
            }
            Self::Terminal(bar) => {
                let mut drawn = text(status);
                if let Some(advice) = advice {
                    drawn.push_str(&format!("\n\n{advice}"));
                }
                bar.set_message(shown::lines(&drawn));
                Ok(true)
            }
            Self::Lines(last) => {
                let line = shown::one_line(&line(status));
                if line == *last {
                    return Ok(true);
                }
                last.clone_from(&line);
                output::stream_stdout(&format!("{line}\n"))
            }
        }
    }
}

impl Drop for Screen {
    /// What was shown last stays.
    fn drop(&mut self) {
        match self {
            Self::Terminal(bar) => bar.abandon(),
            Self::Json | Self::Lines(_) => {}
        }
    }
}

/// The whole status in one line.
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
