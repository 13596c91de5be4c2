//! The shell around one simulated device: hello, long polls, receipts, results.
//!
//! It handles connections like an agent: it retries a broken connection with the agent's waits,
//! verifies a command before reading it, and reports results while a poll waits.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits between retries")]

use std::{sync::Arc, time::Duration};

use link_protocol::{agent_api::Poll, envelope::ReceiptKind, limits, signing::Signed};
use tokio::{sync::watch, time::Instant};

use crate::{
    clock,
    device::Simulated,
    history::What,
    shared::{Shared, Standing},
    transport::{Answer, Link, Lost, Transport},
};

/// The wait after the backend has answered that it does not know the device, as in the agent.
const TURNED_AWAY_WAIT: Duration = Duration::from_secs(30);

/// Runs one device until the fleet stops.
pub(crate) async fn live<T: Transport>(
    mut device: Simulated,
    transport: T,
    shared: Arc<Shared>,
    mut cuts: watch::Receiver<u64>,
) {
    let (mut failures, mut settled) = (0, None);
    loop {
        let mut standing = Standing::new(&shared, *cuts.borrow_and_update(), &mut settled);
        let ended = tokio::select! {
            lost = connected(&mut device, &transport, &shared, &mut standing, &mut failures) => lost,
            changed = cuts.changed() => match changed {
                Ok(()) => Lost::Broken("cut on purpose".to_owned()),
                // The fleet has stopped.
                Err(_) => return,
            },
        };
        drop(standing);
        shared.lost(&ended);
        let wait = match ended {
            Lost::Broken(_) => {
                failures += 1;
                back_off(failures, shared.longest_wait)
            }
            Lost::Refused(_) => jittered(TURNED_AWAY_WAIT),
        };
        tokio::time::sleep(wait).await;
        if cuts.has_changed().is_err() {
            return;
        }
    }
}

async fn connected<T: Transport>(
    device: &mut Simulated,
    transport: &T,
    shared: &Shared,
    standing: &mut Standing<'_>,
    failures: &mut u32,
) -> Lost {
    let talk = async {
        let link = transport.connect(&device.identity).await?;
        shared.count(|count| &count.connects);
        let welcome = link.hello(&device.hello()).await?;
        shared.count(|count| &count.hellos);
        standing.greeted();
        take(device, &welcome.commands, &link, shared).await?;
        loop {
            tell_results(device, &link, shared).await?;
            standing.polls();
            let poll = wait_for_commands(device, &link, shared).await?;
            shared.count(|count| &count.polls);
            *failures = 0;
            take(device, &poll.commands, &link, shared).await?;
            if shared.happens(shared.faults.restart) {
                device.restart(clock::now_us());
                return Err(Lost::Broken("the device starts again".to_owned()));
            }
        }
    };
    let ended: Result<std::convert::Infallible, Lost> = talk.await;
    match ended {
        Err(lost) => lost,
    }
}

/// Polls, and carries out the commands that become due meanwhile.
async fn wait_for_commands<L: Link>(
    device: &mut Simulated,
    link: &L,
    shared: &Shared,
) -> Result<Poll, Lost> {
    let mut polling = std::pin::pin!(link.poll(device.last_seq(), limits::POLL_WAIT));
    loop {
        let work = device
            .next_work()
            .map(|due| Instant::now() + Duration::from_micros(due.saturating_sub(clock::now_us())));
        tokio::select! {
            poll = &mut polling => return poll,
            () = until(work) => tell_results(device, link, shared).await?,
        }
    }
}

/// Verifies, stores and answers deliveries.
async fn take<L: Link>(
    device: &mut Simulated,
    commands: &[Signed],
    link: &L,
    shared: &Shared,
) -> Result<(), Lost> {
    let times = if shared.happens(shared.faults.duplicate) { 2 } else { 1 };
    for signed in (0..times).flat_map(|_| commands) {
        let Ok(envelope) = signed.open(&device.identity.backend_keys) else {
            shared.count(|count| &count.untrusted);
            continue;
        };
        shared.count(|count| &count.deliveries);
        let id = device.identity.device_id;
        shared.record.note(id, Simulated::delivered(&envelope));
        let receipt = device.deliver(&envelope, clock::now_us());
        let (command, kind) = (receipt.command_id, receipt.receipt);
        let answer = if shared.happens(shared.faults.lose_receipt) {
            None
        } else {
            Some(link.receipt(&receipt).await)
        };
        let taken = matches!(answer, Some(Ok(Answer::Taken)));
        shared.record.note(id, What::Receipted { command, receipt: kind, taken });
        match answer {
            Some(Ok(Answer::Taken | Answer::Sent)) => shared.acknowledged(command, clock::now_us()),
            Some(Ok(Answer::Refused(_))) => {
                shared.count(|count| &count.refused);
                if kind == ReceiptKind::Stored {
                    device.withdraw(command);
                }
            }
            Some(Err(lost)) => return Err(lost),
            None => {}
        }
    }
    Ok(())
}

/// Carries out the due commands and reports every result that the backend lacks.
async fn tell_results<L: Link>(
    device: &mut Simulated,
    link: &L,
    shared: &Shared,
) -> Result<(), Lost> {
    let id = device.identity.device_id;
    for command in device.work(clock::now_us()) {
        shared.count(|count| &count.effects);
        shared.record.note(id, What::Effected { command });
    }
    for report in device.untold() {
        let (command, status) = (report.command_id, report.status);
        // Record the result before sending it: if the sending is cancelled, only the answer is
        // lost, not the record.
        shared.record.note(id, What::Resulted { command, status, taken: false });
        let answer = link.result(&report).await;
        let ignored = shared.happens(shared.faults.lose_answer);
        if matches!(answer, Ok(Answer::Taken)) && !ignored {
            shared.record.note(id, What::Resulted { command, status, taken: true });
        }
        match answer? {
            _ if ignored => {}
            Answer::Taken | Answer::Sent => {
                shared.count(|count| &count.results);
                device.told(command);
            }
            Answer::Refused(_) => {
                shared.count(|count| &count.refused);
                device.told(command);
            }
        }
    }
    Ok(())
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

fn back_off(failures: u32, longest: Duration) -> Duration {
    let seconds = 1_u64 << failures.saturating_sub(1).min(6);
    jittered(Duration::from_secs(seconds).min(longest))
}

/// Varies a wait at random by up to a fifth.
fn jittered(wait: Duration) -> Duration {
    wait.mul_f64(rand::random_range(0.8..1.2))
}
