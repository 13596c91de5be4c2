//! The agent's end of the line to its guard. The agent signals that it is alive, answers on request
//! whether its local API works, and receives the guard's decisions.

use std::{pin::Pin, sync::Arc, time::Duration};

use link_platform::line::Line;
use link_protocol::guard_line::{BEAT, FromAgent, FromGuard};
use semver::Version;
use tokio::{
    sync::{Notify, mpsc, oneshot, watch},
    time::MissedTickBehavior,
};

use crate::local_api::OwnDoor;

/// The timeout for sending a message to the guard.
const PATIENCE: Duration = Duration::from_secs(2);

/// The line to the guard. A manually started agent has none, and then every method does nothing.
#[derive(Debug)]
pub(crate) struct GuardLine {
    local_api: watch::Sender<Option<OwnDoor>>,
    settled: Arc<Notify>,
    left: Arc<Notify>,
    replacing: mpsc::Sender<oneshot::Sender<()>>,
}

impl GuardLine {
    /// Starts signalling, if there is a guard. Must be called within a runtime.
    pub(crate) fn start() -> Self {
        let (local_api, door) = watch::channel(None);
        let (replacing, requests) = mpsc::channel(1);
        let [settled, left] = [(); 2].map(|()| Arc::new(Notify::new()));
        if let Some(line) = Line::of_parent() {
            tokio::spawn(run(line, door, requests, settled.clone(), left.clone()));
        }
        Self { local_api, settled, left, replacing }
    }

    /// Sets how to query the local API; `None` if it does not listen.
    pub(crate) fn set_local_api(&self, door: Option<OwnDoor>) {
        self.local_api.send_replace(door);
    }

    /// Returns once the guard has decided to keep the version on trial.
    pub(crate) async fn settled(&self) {
        self.settled.notified().await;
    }

    /// Returns once the guard has ended. Some systems, such as macOS, do not end the agent with its guard, and a leftover agent
    /// would prevent the next guard from starting its own.
    pub(crate) async fn left(&self) {
        self.left.notified().await;
    }

    /// Tells the guard that another version replaces this process now.
    pub(crate) async fn tell_replacing(&self) {
        let (done, sent) = oneshot::channel();
        let send = async {
            let _no_guard = self.replacing.send(done).await;
            let _no_guard = sent.await;
        };
        let _no_guard = tokio::time::timeout(PATIENCE, send).await;
    }
}

/// The pending answer to a health query of the guard.
type Asked = Pin<Box<dyn Future<Output = Option<Version>> + Send>>;

async fn run(
    mut line: Line,
    local_api: watch::Receiver<Option<OwnDoor>>,
    mut replacing: mpsc::Receiver<oneshot::Sender<()>>,
    settled: Arc<Notify>,
    left: Arc<Notify>,
) {
    let Ok(version) = env!("CARGO_PKG_VERSION").parse::<Version>() else { return };
    let mut beat = tokio::time::interval(BEAT);
    // A machine that wakes from a long sleep does not make up for the beats.
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut asked: Option<Asked> = None;
    loop {
        tokio::select! {
            _ = beat.tick() => {
                let local_port = local_api.borrow().as_ref().map(|door| door.port);
                send(&mut line, &FromAgent::Alive { version: version.clone(), local_port }).await;
            }
            request = replacing.recv() => {
                let Some(done) = request else { return };
                send(&mut line, &FromAgent::Replacing).await;
                let _agent_waits = done.send(());
            }
            answered = outcome(&mut asked) => {
                if let Some(version) = answered {
                    send(&mut line, &FromAgent::Answered { version }).await;
                }
            }
            heard = line.next() => {
                let Some(text) = heard else { return left.notify_one() };
                match serde_json::from_str(&text) {
                    Ok(FromGuard::Committed) => settled.notify_one(),
                    Ok(FromGuard::Healthz) => ask(&mut asked, || {
                        let door = local_api.borrow().clone()?;
                        Some(Box::pin(async move { door.version().await }))
                    }),
                    // Ignore a message that only a newer guard sends.
                    Err(_) => {}
                }
            }
        }
    }
}

/// Begins to `answer` a question, unless an answer is pending, which then answers this question too: to begin anew would
/// give up every answer that takes longer than the guard's next question.
fn ask(asked: &mut Option<Asked>, answer: impl FnOnce() -> Option<Asked>) {
    if asked.is_none() {
        *asked = answer();
    }
}

/// Waits for the answer to a pending question. Cancel-safe.
async fn outcome(asked: &mut Option<Asked>) -> Option<Version> {
    let Some(answer) = asked else { return std::future::pending().await };
    let answered = answer.await;
    *asked = None;
    answered
}

async fn send(line: &mut Line, what: &FromAgent) {
    if let Ok(text) = serde_json::to_string(what) {
        line.tell(&text).await;
    }
}

#[cfg(test)]
mod tests {
    use link_platform::process::Program;

    use super::*;

    #[tokio::test]
    async fn an_agent_hears_that_its_guard_has_ended() {
        // The other end of the line is a program that ends at once.
        let program = Program { path: "true".into(), args: vec![], env: vec![], log: None };
        let (_child, line) = Line::start(&program).unwrap();
        let (_local_api, door) = watch::channel(None);
        let (_replacing, requests) = mpsc::channel(1);
        let [settled, left] = [(); 2].map(|()| Arc::new(Notify::new()));
        tokio::spawn(run(line, door, requests, settled, left.clone()));
        tokio::time::timeout(Duration::from_secs(10), left.notified()).await.unwrap();
    }

    #[tokio::test]
    async fn an_answer_that_takes_longer_than_the_next_question_arrives() {
        let mut asked = None;
        let (questions, mut later) = watch::channel(0);
        // The answer to the first question comes after the third one; another answer would never come.
        ask(&mut asked, || {
            Some(Box::pin(async move {
                later.wait_for(|count| *count == 3).await.ok()?;
                Some(Version::new(1, 2, 3))
            }))
        });
        for count in 1..=3 {
            questions.send_replace(count);
            ask(&mut asked, || Some(Box::pin(std::future::pending())));
        }
        let answered = tokio::time::timeout(Duration::from_secs(10), outcome(&mut asked)).await;
        assert_eq!(answered.unwrap(), Some(Version::new(1, 2, 3)));
        assert!(asked.is_none(), "the next question is asked anew");
    }
}
