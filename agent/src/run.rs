//! The main loop: it passes each event to the core and carries out the effects, whose outcomes are
//! further events.
//!
//! Only this loop touches the core and the journal. Everything else uses its inbox.

#![expect(clippy::disallowed_methods, reason = "IO shell: the clock and the loop's waits")]

use std::{collections::VecDeque, mem, time::Duration};

use link_agent_core::{agent::Agent, event::Event, record::Report};
use link_installer::versions;
use link_platform::paths::Roots;
use link_protocol::{
    local_api::{ConnectionState, TransportState},
    report::{LifecycleReport, LifecycleStatus},
};

use crate::{
    assembly::{Assembly, Setup},
    control::{
        report,
        transport::{self, zenoh::Link},
    },
    guard_line::GuardLine,
    identity,
    inbox::{Input, PipelineView, View},
    state::handover,
    stop_signal::StopSignal,
};

/// The timeout of the last reports when the agent stops or makes way for another version.
const FAREWELL: Duration = Duration::from_secs(2);
/// The timeout of the result of an update while there is a connection to the backend: both retries, and slow answers.
const LAST_RESULT: Duration = Duration::from_secs(15);

/// The outcome of a run.
#[derive(Debug)]
pub(crate) enum RunOutcome {
    Stopped,
    RegisteredAnew,
    /// The device was transferred to another account.
    HandedOver,
    /// A newer version is current and must replace this process.
    MakesWay,
}

/// Runs the agent until it is asked to stop, the device is registered again or transferred, or
/// another version takes over.
pub(crate) async fn run(
    setup: &Setup<'_>,
    guard: &GuardLine,
    stop: &mut StopSignal,
) -> anyhow::Result<RunOutcome> {
    // The wait for a registration has no time limit, so the end of the guard must end the wait.
    let built = tokio::select! {
        built = Assembly::build(setup, stop) => built?,
        () = guard.left() => None,
    };
    let Some(mut assembly) = built else {
        return Ok(RunOutcome::Stopped);
    };
    guard.set_local_api(Some(assembly.local_api.door.clone()));
    let outcome = drive(&mut assembly, setup.roots, guard, stop).await?;
    tracing::info!("stopping");
    guard.set_local_api(None);
    end(assembly, setup, &outcome).await?;
    Ok(outcome)
}

/// Feeds events to the core and carries out its effects until the run ends.
async fn drive(
    assembly: &mut Assembly,
    roots: &Roots,
    guard: &GuardLine,
    stop: &mut StopSignal,
) -> anyhow::Result<RunOutcome> {
    let Assembly { started, identity, zenoh, agent, first, shell, inputs, changed, .. } = assembly;
    let path = roots.identity();
    let mut anew = std::pin::pin!(identity::changed(&path, identity));
    let mut next = VecDeque::new();
    let mut effects = Some(mem::take(first));
    let mut farewell_ends = None;
    loop {
        while let Some(effects) = effects
            .take()
            .or_else(|| next.pop_front().map(|event| agent.handle(event, started.elapsed())))
        {
            // A journal that cannot be written blocks the loop, but must not block a stop.
            tokio::select! {
                ran = shell.run_all(effects, &mut next) => ran?,
                () = stop.received() => return Ok(RunOutcome::Stopped),
            }
            changed.send_replace(());
        }
        if shell.hands_over.is_some() {
            return Ok(RunOutcome::HandedOver);
        }
        if shell.makes_way {
            // The completion of the update is reported by the version that completed it (specification, section 6). An
            // unreachable backend hears of it from the next version.
            let patience = match agent.connection() {
                ConnectionState::Connected => LAST_RESULT,
                ConnectionState::Connecting | ConnectionState::Refused => FAREWELL,
            };
            let ends = *farewell_ends.get_or_insert_with(|| tokio::time::Instant::now() + patience);
            if !agent.owes_a_result() || tokio::time::Instant::now() >= ends {
                return Ok(RunOutcome::MakesWay);
            }
        }
        let deadline = agent.deadline().and_then(|at| started.checked_add(at));
        let deadline = deadline.map(tokio::time::Instant::from_std);
        let deadline = [deadline, farewell_ends].into_iter().flatten().min();
        let input = tokio::select! {
            input = inputs.recv() => input,
            () = until(deadline) => Some(Input::Event(Event::DeadlineReached)),
            () = stop.received() => return Ok(RunOutcome::Stopped),
            () = &mut anew => return Ok(RunOutcome::RegisteredAnew),
            () = guard.left() => {
                tracing::warn!("the guard has ended, and this agent ends with it");
                return Ok(RunOutcome::Stopped);
            }
            () = guard.settled() => {
                shell.updates.refresh_files();
                let last = versions::state(shell.updates.layout()).last;
                last.map(|last| Input::Event(Event::UpdateSettled(last)))
            }
        };
        match input {
            Some(Input::Event(event)) => next.push_back(event),
            Some(Input::Hello(answer)) => drop(answer.send(agent.say_hello())),
            Some(Input::View(answer)) => drop(answer.send(view(agent, zenoh.as_ref()))),
            // Unreachable: the shell holds a sender of the inbox.
            None => {}
        }
    }
}

/// Stops every part; the handlers of reports and logs stop last.
async fn end(assembly: Assembly, setup: &Setup<'_>, outcome: &RunOutcome) -> anyhow::Result<()> {
    let Assembly { started, identity, agent_version, shell, inputs, changed, local_api, .. } =
        assembly;
    drop((inputs, changed));
    local_api.close().await;
    let hands_over = shell.hands_over;
    let journal = shell.stop().await;
    if matches!(outcome, RunOutcome::Stopped) {
        let report = Report::Lifecycle(LifecycleReport {
            status: LifecycleStatus::Stopping,
            agent_version,
            uptime_s: started.elapsed().as_secs(),
            update: None,
        });
        let farewell = report::say_farewell(&setup.config.reporting, &assembly.ways, report);
        if tokio::time::timeout(FAREWELL, farewell).await.is_err() {
            tracing::debug!("the backend was not notified of the stop in time");
        }
    }
    drop(assembly.pipelines);
    if let Some(to_epoch) = hands_over {
        journal.close().await;
        let (roots, records) = (setup.roots.clone(), setup.records);
        let carry_out = move || handover::carry_out(&roots, &identity, to_epoch);
        tokio::task::spawn_blocking(carry_out).await??;
        records.forget();
    }
    drop((assembly.reports, assembly.logs));
    Ok(())
}

fn view(agent: &Agent, zenoh: Option<&Link>) -> View {
    let state = agent.connection();
    let r#type = transport::in_use(zenoh.map(Link::is_connected), state);
    View {
        status: agent.status(),
        transport: TransportState { r#type, state },
        pipelines: agent
            .pipelines()
            .map(|view| PipelineView {
                record: view.record.clone(),
                state: view.state,
                engine_run: view.engine_run,
                detail: view.detail.map(str::to_owned),
            })
            .collect(),
        deployments: agent.deployments(),
    }
}

async fn until(deadline: Option<tokio::time::Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
