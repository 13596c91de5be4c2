//! The contract between the agent and an engine, as tests of a plugin.
//!
//! Each clause is tested on the running engine. An engine that has ended is started again for the next clause, so that one
//! fault does not hide the others.

#![expect(
    clippy::disallowed_methods,
    reason = "IO shell: starts the engine, waits for it, and looks at its files"
)]

mod bench;
mod judge;

use std::time::{Duration, Instant};

use link_client::engine::{self, Ask, Leaving, Silent, Told};
use link_platform::fs::FileError;
use link_protocol::{plugin::Manifest, secret::Secret};
use schemars::JsonSchema;
use serde::Serialize;

pub(super) use self::bench::{Bench, Sample, Setup};

/// How long an engine may take for one sample request.
const ANSWER: Duration = Duration::from_secs(60);
/// How long an engine may take to end.
const SHUTDOWN: Duration = Duration::from_secs(5);
/// How long an engine may take to answer again after its clients left.
const RECOVERY: Duration = Duration::from_secs(5);
/// The number of concurrent requests.
const CONCURRENT: usize = 16;
/// The number of clients that leave before the answer, and of those that leave during the answer.
const LEAVING: usize = 8;
/// How often to look whether a condition holds.
const TICK: Duration = Duration::from_millis(50);

/// The outcome of a clause.
#[derive(Clone, Debug, Eq, JsonSchema, PartialEq, Serialize)]
pub(super) struct Tested {
    /// The name of the clause.
    pub(super) clause: &'static str,
    pub(super) outcome: Outcome,
    /// What was seen, for a clause that does not hold or was not tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) detail: Option<String>,
}

/// Whether a clause holds.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    Passed,
    Failed,
    Skipped,
}

/// The clauses, in the order in which they are tested.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Clause {
    Model,
    Health,
    Proof,
    RefusedSecret,
    Answers,
    Usage,
    BadRequest,
    Concurrency,
    Cancel,
    HiddenSecret,
    Shutdown,
    Files,
}

/// A clause holds, does not hold, or cannot be tested.
type Verdict = Result<(), Why>;

/// Why a clause has not passed.
#[derive(Debug)]
enum Why {
    Broken(String),
    NotTested(&'static str),
}

impl Clause {
    const ALL: [Self; 12] = [
        Self::Model,
        Self::Health,
        Self::Proof,
        Self::RefusedSecret,
        Self::Answers,
        Self::Usage,
        Self::BadRequest,
        Self::Concurrency,
        Self::Cancel,
        Self::HiddenSecret,
        Self::Shutdown,
        Self::Files,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Health => "health",
            Self::Proof => "proof",
            Self::RefusedSecret => "refused-secret",
            Self::Answers => "answers",
            Self::Usage => "usage",
            Self::BadRequest => "bad-request",
            Self::Concurrency => "concurrency",
            Self::Cancel => "cancel",
            Self::HiddenSecret => "hidden-secret",
            Self::Shutdown => "shutdown",
            Self::Files => "files",
        }
    }
}

/// Tests every clause.
///
/// # Errors
/// If the files of the test cannot be deleted.
pub(super) async fn test(mut bench: Bench<'_>) -> Result<Vec<Tested>, FileError> {
    let mut all = Vec::new();
    let mut is_startable = true;
    for clause in Clause::ALL {
        let verdict = if is_startable {
            one(&mut bench, clause).await
        } else {
            Err(Why::NotTested("the engine does not start"))
        };
        if clause == Clause::Health && verdict.is_err() {
            is_startable = false;
        }
        let (outcome, detail) = match verdict {
            Ok(()) => (Outcome::Passed, None),
            Err(Why::Broken(seen)) => (Outcome::Failed, Some(seen)),
            Err(Why::NotTested(why)) => (Outcome::Skipped, Some(why.to_owned())),
        };
        all.push(Tested { clause: clause.name(), outcome, detail });
    }
    bench.close()?;
    Ok(all)
}

async fn one(bench: &mut Bench<'_>, clause: Clause) -> Verdict {
    match clause {
        Clause::Model => return bench.takes_the_model().map_err(Why::Broken),
        Clause::Shutdown => return shutdown(bench).await,
        Clause::HiddenSecret => return hidden_secret(bench),
        Clause::Files => return bench.left_files().map_err(Why::Broken),
        Clause::Health
        | Clause::Proof
        | Clause::RefusedSecret
        | Clause::Answers
        | Clause::Usage
        | Clause::BadRequest
        | Clause::Concurrency
        | Clause::Cancel => {}
    }
    bench.run().await.map_err(Why::Broken)?;
    let verdict = match clause {
        Clause::Proof => proof(bench).await,
        Clause::RefusedSecret => refused_secret(bench).await,
        Clause::Answers => answers(bench).await,
        Clause::Usage => usage(bench).await,
        Clause::BadRequest => bad_request(bench).await,
        Clause::Concurrency => concurrency(bench).await,
        Clause::Cancel => cancel(bench).await,
        Clause::Model
        | Clause::Health
        | Clause::HiddenSecret
        | Clause::Shutdown
        | Clause::Files => Ok(()),
    };
    match bench.ended() {
        Some(how) if verdict.is_ok() => Err(Why::Broken(how)),
        Some(_) | None => verdict,
    }
}

/// The proof path answers 200 to the secret of the launch.
async fn proof(bench: &Bench<'_>) -> Verdict {
    let path = proof_path(bench.manifest())?;
    let told = get(bench, path, Some(bench.secret())).await?;
    expect(told.status == 200, || format!("`{path}` answers {} to the right secret", told.status))
}

/// Without the secret of the launch, nothing but the health path answers.
async fn refused_secret(bench: &Bench<'_>) -> Verdict {
    let path = proof_path(bench.manifest())?;
    let wrong = Secret::new("not the secret");
    for (secret, what) in [(Some(&wrong), "a wrong secret"), (None, "no secret")] {
        let told = get(bench, path, secret).await?;
        expect(told.status == 401, || format!("`{path}` answers {} to {what}", told.status))?;
        for sample in bench.samples() {
            // An engine may refuse a request and close the connection before it has read a long body.
            let empty = Sample { body: Vec::new(), ..sample.clone() };
            let told = send(bench, &empty, secret).await?;
            let path = &sample.path;
            expect(told.status == 401, || format!("`{path}` answers {} to {what}", told.status))?;
        }
    }
    Ok(())
}

/// Every sample request is answered with 200.
async fn answers(bench: &Bench<'_>) -> Verdict {
    for sample in some_samples(bench)? {
        let told = send(bench, sample, Some(bench.secret())).await?;
        let path = &sample.path;
        expect(told.status == 200, || {
            format!("`{path}` answers {} to a sample request: {}", told.status, judge::begin(&told))
        })?;
    }
    Ok(())
}

/// The answers of metered paths have the usage in the unit of the plugin.
async fn usage(bench: &Bench<'_>) -> Verdict {
    let unit = bench.manifest().adapter.usage.unit;
    let mut is_tested = false;
    for sample in some_samples(bench)?.iter().filter(|sample| sample.metered) {
        is_tested = true;
        let told = send(bench, sample, Some(bench.secret())).await?;
        judge::usage(&told, unit)
            .map_err(|missing| Why::Broken(format!("an answer of `{}` {missing}", sample.path)))?;
    }
    if is_tested { Ok(()) } else { Err(Why::NotTested("no sample request is to a metered path")) }
}

/// A body that makes no sense is answered with an error, and a path that does not exist as the fault of the client.
async fn bad_request(bench: &Bench<'_>) -> Verdict {
    for sample in some_samples(bench)? {
        for garbage in [&b"{\"messages\": [\xff\x00"[..], b"[]", b""] {
            let bad = Sample { body: garbage.to_vec(), ..sample.clone() };
            let told = send(bench, &bad, Some(bench.secret())).await?;
            let path = &sample.path;
            // An engine may take a body that it cannot parse for a fault of its own, as llama-server does.
            let is_json = serde_json::from_slice::<serde_json::Value>(garbage).is_ok();
            let refusals = if is_json { 400..500 } else { 400..600 };
            expect(refusals.contains(&told.status), || {
                format!("`{path}` answers {} to a body that makes no sense", told.status)
            })?;
        }
    }
    let told = get(bench, "/there/is/no/such/path", Some(bench.secret())).await?;
    expect((400..500).contains(&told.status), || {
        format!("a path that does not exist answers {}", told.status)
    })
}

/// Many requests at once are all answered: served, or refused because the engine is busy.
async fn concurrency(bench: &Bench<'_>) -> Verdict {
    let samples = some_samples(bench)?;
    let mut sent = Vec::new();
    for sample in samples.iter().cycle().take(CONCURRENT) {
        let (place, secret, sample) =
            (bench.place().clone(), bench.secret().clone(), sample.clone());
        sent.push(tokio::spawn(async move {
            engine::ask(&place, sample.ask(Some(&secret)), ANSWER).await
        }));
    }
    for answer in sent {
        let told = answer.await.map_err(|error| Why::Broken(error.to_string()))??;
        expect(matches!(told.status, 200 | 429 | 503), || {
            format!("one of {CONCURRENT} concurrent requests was answered {}", told.status)
        })?;
    }
    Ok(())
}

/// An engine whose clients leave before the answer is healthy, and serves the next client.
async fn cancel(bench: &Bench<'_>) -> Verdict {
    let samples = some_samples(bench)?;
    for leaving in [Leaving::AtOnce, Leaving::DuringTheAnswer] {
        for sample in samples.iter().cycle().take(LEAVING) {
            let ask = sample.ask(Some(bench.secret()));
            engine::abandon(bench.place(), ask, leaving, ANSWER).await?;
        }
    }
    let deadline = Instant::now() + RECOVERY;
    loop {
        let told = get(bench, &bench.manifest().adapter.health.path, None).await;
        match told {
            Ok(told) if told.status == 200 => break,
            Ok(_) | Err(_) if Instant::now() < deadline => tokio::time::sleep(TICK).await,
            Ok(told) => {
                let seen = format!("after clients left, the health is {}", told.status);
                return Err(Why::Broken(seen));
            }
            Err(why) => return Err(why),
        }
    }
    answers(bench).await
}

/// The secret stands in no line that the engine prints.
fn hidden_secret(bench: &Bench<'_>) -> Verdict {
    let log = bench.log();
    expect(!log.contains(bench.secret().expose()), || {
        "the engine prints the secret of its launch".to_owned()
    })
}

/// The engine ends within five seconds of being asked to.
async fn shutdown(bench: &mut Bench<'_>) -> Verdict {
    bench.run().await.map_err(Why::Broken)?;
    bench.terminate();
    let deadline = Instant::now() + SHUTDOWN;
    while bench.ended().is_none() {
        if Instant::now() >= deadline {
            bench.kill();
            let seen = format!("the engine still runs {} s after SIGTERM", SHUTDOWN.as_secs());
            return Err(Why::Broken(seen));
        }
        tokio::time::sleep(TICK).await;
    }
    Ok(())
}

fn proof_path(manifest: &Manifest) -> Result<&str, Why> {
    let path = manifest.adapter.health.proof_path.as_deref();
    path.ok_or(Why::NotTested("the adapter names no `proof_path`, so the engine has no secret"))
}

fn some_samples<'a>(bench: &'a Bench<'_>) -> Result<&'a [Sample], Why> {
    match bench.samples() {
        [] => Err(Why::NotTested("`check.toml` has no requests")),
        samples => Ok(samples),
    }
}

async fn get(bench: &Bench<'_>, path: &str, secret: Option<&Secret>) -> Result<Told, Why> {
    let path = bench.below(path);
    Ok(engine::ask(bench.place(), Ask::get(&path, secret), ANSWER).await?)
}

async fn send(bench: &Bench<'_>, sample: &Sample, secret: Option<&Secret>) -> Result<Told, Why> {
    Ok(engine::ask(bench.place(), sample.ask(secret), ANSWER).await?)
}

fn expect(holds: bool, seen: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(Why::Broken(seen())) }
}

impl From<Silent> for Why {
    fn from(silent: Silent) -> Self {
        Self::Broken(silent.to_string())
    }
}
