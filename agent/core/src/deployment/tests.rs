//! Deployments from the first byte to their single result.

use proptest::prelude::*;

use super::*;
use crate::tests::{command_id, deploy, told};

// Holds: S3.1-5, S6-4
#[test]
fn a_download_is_told_in_steps_and_handed_over_when_it_is_whole() {
    let mut bench = Bench::default();
    assert_eq!(bench.begin(1), ["download 1", "tell Downloading 0"]);
    assert_eq!(bench.progress(1, 49), NOTHING);
    assert_eq!(bench.progress(1, 50), ["tell Downloading 50"]);
    assert_eq!(bench.progress(1, 60), NOTHING);
    assert_eq!(bench.end(1, Ok(())), ["tell Configuring 1000"]);
    assert_eq!(bench.ready, [command_id(1)]);
    assert_eq!(bench.states(), [DeploymentState::Configuring]);
}

#[test]
fn an_engine_that_is_brought_first_is_part_of_the_progress() {
    let mut bench = Bench::default();
    bench.begin(1);
    assert_eq!(bench.engine(1, 0, 4000), NOTHING);
    assert_eq!(bench.deployments.progress()[0].engine.as_deref(), Some("b9789"));
    assert_eq!(bench.engine(1, 2500, 4000), ["tell Downloading 2500"]);
    assert_eq!(bench.engine(1, 4000, 4000), ["tell Downloading 4000"]);
    assert_eq!(bench.deployments.progress()[0].engine, None);
    assert_eq!(bench.progress(1, 500), ["tell Downloading 4500"]);
    assert_eq!(bench.end(1, Ok(())), ["tell Configuring 5000"]);
    assert_eq!(bench.engine(9, 1, 2), NOTHING);
}

#[test]
fn an_engine_that_does_not_come_takes_no_part_in_the_progress() {
    let mut bench = Bench::default();
    bench.begin(1);
    bench.engine(1, 2000, 4000);
    bench.progress(1, 900);
    let progress = bench.deployments.progress()[0].progress;
    assert_eq!((progress.bytes_done, progress.bytes_total), (900, 1000));
    assert_eq!(bench.end(1, Ok(())), ["tell Configuring 1000"]);
}

// Holds: S3.1-3, S3.1-4
#[test]
fn a_download_that_fails_ends_with_its_reason() {
    let mut bench = Bench::default();
    bench.begin(1);
    let reason = "the file is shorter than announced: 400 of 1000 bytes";
    let failed = Err(DownloadFailure::Failed(reason.to_owned()));
    assert_eq!(bench.end(1, failed), [format!("c1 failed: {reason}")]);
    assert!(bench.ready.is_empty());
}

// Holds: S3.1-2
#[test]
fn a_cancel_stops_the_download_at_once_and_ends_with_the_deployment() {
    let mut bench = Bench::default();
    bench.begin(1);
    assert_eq!(bench.cancel(8, 1), (true, vec!["cancel download 1".to_owned()]));
    assert_eq!(bench.cancel(9, 1), (true, vec![]), "it stops already");
    assert_eq!(bench.end(1, Err(DownloadFailure::Cancelled)), ["c1 cancelled: by a user"]);
    assert_eq!(bench.deployments.forget(command_id(1)), [command_id(8), command_id(9)]);
}

#[test]
fn a_file_that_comes_after_the_cancel_is_discarded_unless_a_pipeline_uses_it() {
    for (in_use, effects) in [(false, vec!["discard the file"]), (true, vec![])] {
        let mut bench = Bench { in_use, ..Bench::default() };
        bench.begin(1);
        bench.cancel(8, 1);
        let ended = bench.end(1, Ok(()));
        assert_eq!(ended, [effects, vec!["c1 cancelled: by a user"]].concat());
        assert!(bench.ready.is_empty());
    }
}

#[test]
fn a_deployment_that_is_being_configured_or_is_over_cannot_be_cancelled() {
    let mut bench = Bench::default();
    bench.begin(1);
    bench.end(1, Ok(()));
    assert_eq!(bench.cancel(8, 1), (false, vec![]));
    assert_eq!(bench.deployments.forget(command_id(1)), []);
    assert_eq!(bench.cancel(8, 1), (false, vec![]));
}

#[test]
fn what_an_earlier_try_still_says_is_ignored() {
    let mut bench = Bench::default();
    bench.begin(1);
    bench.deployments.forget(command_id(1));
    assert_eq!(bench.begin(1), ["download 2", "tell Downloading 0"]);
    assert_eq!(bench.progress(1, 900), NOTHING);
    assert_eq!(bench.end(1, Ok(())), NOTHING);
    assert_eq!(bench.states(), [DeploymentState::Downloading]);
}

proptest! {
    /// For any events in any order, each deployment ends once: it is handed over or has one result.
    #[test]
    fn every_deployment_ends_once(steps in prop::collection::vec((0_u8..6, 1_u64..4, 0_u64..1200), 0..80)) {
        let mut bench = Bench::default();
        let mut begun = std::collections::BTreeMap::new();
        let mut attempts = 0;
        for (step, number, bytes) in steps {
            let attempt = begun.get(&number).copied();
            match (step, attempt) {
                (0, None) => {
                    attempts += 1;
                    begun.insert(number, attempts);
                    bench.begin(number);
                }
                (1, _) => drop(bench.progress_of(number, attempt.unwrap_or(99), bytes)),
                (2, _) => drop(bench.cancel(50 + number, number)),
                (3, Some(attempt)) => {
                    let before = bench.ready.len();
                    let lines = bench.end_of(number, attempt, if bytes < 600 { Ok(()) } else {
                        Err(DownloadFailure::Failed("cut".to_owned()))
                    });
                    let ends = lines.iter().filter(|line| line.starts_with('c') && line.contains(": "));
                    prop_assert_eq!(ends.count() + bench.ready.len() - before, 1);
                    bench.deployments.forget(command_id(number));
                    begun.remove(&number);
                }
                (4, _) => prop_assert!(bench.end_of(number, 99, Ok(())).is_empty()),
                (_, _) => {}
            }
            prop_assert_eq!(bench.deployments.progress().len(), begun.len());
        }
    }
}

const NOTHING: [&str; 0] = [];

#[derive(Default)]
struct Bench {
    deployments: Deployments,
    ready: Vec<CommandId>,
    in_use: bool,
}

impl Bench {
    fn begin(&mut self, number: u64) -> Vec<String> {
        let mut turn = Turn::default();
        self.deployments.begin(command_id(number), deploy(number, number), &mut turn);
        told(&turn)
    }

    fn progress(&mut self, attempt: u64, bytes: u64) -> Vec<String> {
        self.progress_of(1, attempt, bytes)
    }

    fn progress_of(&mut self, number: u64, attempt: u64, bytes: u64) -> Vec<String> {
        let mut turn = Turn::default();
        self.deployments.progressed(download(number, attempt), bytes, &mut turn);
        told(&turn)
    }

    fn engine(&mut self, attempt: u64, bytes_done: u64, bytes_total: u64) -> Vec<String> {
        let mut turn = Turn::default();
        let engine = EnginePart { build: "b9789".to_owned(), bytes_done, bytes_total };
        self.deployments.engine_progressed(download(1, attempt), engine, &mut turn);
        told(&turn)
    }

    fn end(&mut self, attempt: u64, outcome: Result<(), DownloadFailure>) -> Vec<String> {
        self.end_of(1, attempt, outcome)
    }

    fn end_of(
        &mut self,
        number: u64,
        attempt: u64,
        outcome: Result<(), DownloadFailure>,
    ) -> Vec<String> {
        let (mut turn, in_use) = (Turn::default(), self.in_use);
        let ready = self.deployments.download_ended(
            download(number, attempt),
            outcome,
            |_| in_use,
            &mut turn,
        );
        self.ready.extend(ready.map(|(command, ..)| command));
        told(&turn)
    }

    fn cancel(&mut self, command: u64, number: u64) -> (bool, Vec<String>) {
        let (mut turn, id) = (Turn::default(), deploy(number, number).deployment_id);
        let found = self.deployments.cancel(command_id(command), id, "by a user", &mut turn);
        (found, told(&turn))
    }

    fn states(&self) -> Vec<DeploymentState> {
        self.deployments.progress().iter().map(|progress| progress.state).collect()
    }
}

fn download(number: u64, attempt: u64) -> DownloadId {
    DownloadId { deployment_id: deploy(number, number).deployment_id, attempt }
}
