//! Tests which reports the outbox sends, replaces, keeps and sets aside.

use std::time::Duration;

use link_protocol::{
    counter::Generation,
    report::{
        CommandReport, CommandResult, LifecycleReport, LifecycleStatus, ModelReport, ModelState,
        ProgressReport,
    },
};
use proptest::prelude::*;

use super::*;
use crate::tests::{command_id, deployment, model, pipeline, port};

#[test]
fn reports_go_one_at_a_time_in_the_order_in_which_they_came() {
    let mut bench = Bench::default();
    bench.push(result(1));
    bench.push(result(2));
    assert_eq!(bench.pump(0), Some(1));
    assert_eq!(bench.pump(0), None, "one is under way");
    bench.outbox.sent(1, &mut bench.changes);
    assert_eq!(bench.pump(0), Some(2));
}

#[test]
fn a_newer_report_of_the_same_thing_replaces_one_that_waits() {
    let mut bench = Bench::default();
    for report in [result(1), state(1, 1), state(2, 1), state(1, 2), lifecycle()] {
        bench.push(report);
    }
    bench.push(lifecycle());
    assert_eq!(bench.waiting(), [1, 3, 4, 6]);
    assert!(bench.changes.contains(&Change::RemoveReport(2)));
}

#[test]
fn a_report_under_way_is_not_replaced() {
    let mut bench = Bench::default();
    bench.push(state(1, 1));
    assert_eq!(bench.pump(0), Some(1));
    bench.push(state(1, 2));
    assert_eq!(bench.waiting(), [1, 2]);
}

// Holds: S6-4
#[test]
fn every_step_of_a_deployment_is_told_and_only_the_bytes_of_one_step_replace_each_other() {
    use ProgressEvent::{Completed, Configuring, Downloading};
    let mut bench = Bench::default();
    bench.push(result(9));
    for (event, bytes) in [(Downloading, 0), (Downloading, 500), (Configuring, 1000)] {
        bench.push(progress(event, bytes));
    }
    bench.push(progress(Completed, 1000));
    assert_eq!(bench.waiting(), [1, 3, 4, 5]);
}

#[test]
fn the_results_of_commands_never_replace_each_other() {
    let mut bench = Bench::default();
    (0..3).for_each(|_| bench.push(result(1)));
    assert_eq!(bench.waiting(), [1, 2, 3]);
}

// Holds: S7-6
#[test]
fn a_refused_report_is_set_aside_and_blocks_nothing() {
    let mut bench = Bench::default();
    bench.push(result(1));
    bench.push(result(2));
    assert_eq!(bench.pump(0), Some(1));
    bench.outbox.refused(1, "410 gone".to_owned(), &mut bench.changes);
    let buried = matches!(bench.changes.last(), Some(Change::BuryReport { entry, reason })
        if entry.id == 1 && reason == "410 gone");
    assert!(buried && bench.pump(0) == Some(2));
}

// Holds: S7-5, S7-6
#[test]
fn a_401_sets_a_report_aside_and_the_next_accepted_hello_offers_it_once_more() {
    let mut bench = Bench::default();
    bench.push(result(1));
    bench.push(result(2));
    assert_eq!(bench.pump(0), Some(1));
    bench.outbox.unauthorized(1, "401".to_owned(), &mut bench.changes);
    assert_eq!(bench.pump(0), Some(2), "a later report passes at once");
    bench.outbox.sent(2, &mut bench.changes);
    assert_eq!((bench.pump(3600), bench.outbox.deadline()), (None, None), "it is not tried again");
    assert!(!bench.outbox.held.is_empty());
    bench.outbox.welcomed();
    assert_eq!(bench.pump(3601), Some(1));
    bench.outbox.unauthorized(1, "401".to_owned(), &mut bench.changes);
    assert!(
        matches!(bench.changes.last(), Some(Change::BuryReport { entry, .. }) if entry.id == 1)
    );
    bench.outbox.welcomed();
    assert_eq!(bench.pump(3602), None, "a second 401 is final");
}

#[test]
fn what_a_401_has_set_aside_stays_aside_through_a_restart() {
    let mut changes = Vec::new();
    let held = OutboxEntry { unauthorized: true, ..entry(3, result(1)) };
    let outbox = Outbox::restore(vec![held, entry(5, result(2))], 5, &mut changes);
    let mut bench = Bench { outbox, changes };
    assert_eq!(bench.pump(0), Some(5));
    bench.outbox.welcomed();
    bench.outbox.sent(5, &mut bench.changes);
    assert_eq!(bench.pump(0), Some(3));
}

#[test]
fn a_newer_report_replaces_what_a_401_has_set_aside() {
    let mut bench = Bench::default();
    bench.push(state(1, 1));
    assert_eq!(bench.pump(0), Some(1));
    bench.outbox.unauthorized(1, "401".to_owned(), &mut bench.changes);
    bench.push(state(1, 2));
    bench.outbox.welcomed();
    assert_eq!(bench.waiting(), [2]);
}

#[test]
fn a_401_sets_nothing_aside_that_a_newer_report_has_replaced() {
    let mut bench = Bench::default();
    bench.push(lifecycle());
    assert_eq!(bench.pump(0), Some(1));
    bench.push(lifecycle());
    bench.outbox.unauthorized(1, "401".to_owned(), &mut bench.changes);
    assert_eq!(bench.pump(0), Some(2));
    bench.outbox.sent(2, &mut bench.changes);
    bench.outbox.welcomed();
    assert_eq!(bench.pump(0), None, "the older status would take the newer one back");
}

#[test]
fn what_cannot_be_sent_waits_longer_each_time_and_a_connection_ends_the_wait() {
    let mut bench = Bench::default();
    bench.push(result(1));
    let mut now = 0;
    for wait in [1, 2, 5, 15, 60, 60] {
        assert_eq!(bench.pump(now), Some(1));
        bench.outbox.deferred(1, seconds(now), None);
        assert_eq!(bench.outbox.deadline(), Some(seconds(now + wait)));
        assert_eq!(bench.pump(now + wait - 1), None);
        now += wait;
    }
    bench.outbox.deferred(1, seconds(now), None);
    bench.outbox.welcomed();
    assert_eq!(bench.pump(now), Some(1));
}

#[test]
fn a_backend_that_asks_to_wait_is_left_alone_for_as_long_up_to_a_minute() {
    let mut bench = Bench::default();
    bench.push(result(1));
    let mut now = 0;
    for (asked, wait) in [(30, 30), (0, 2), (86_400, 60)] {
        assert_eq!(bench.pump(now), Some(1));
        bench.outbox.deferred(1, seconds(now), Some(Duration::from_secs(asked)));
        assert_eq!(bench.outbox.deadline(), Some(seconds(now + wait)), "asked for {asked} s");
        now += wait;
    }
}

#[test]
fn the_fate_of_a_report_that_is_not_under_way_changes_nothing() {
    let mut bench = Bench::default();
    bench.push(result(1));
    bench.changes.clear();
    bench.outbox.sent(1, &mut bench.changes);
    bench.outbox.refused(1, String::new(), &mut bench.changes);
    bench.outbox.unauthorized(1, String::new(), &mut bench.changes);
    bench.outbox.deferred(1, seconds(0), None);
    assert!(bench.changes.is_empty() && bench.waiting() == [1]);
}

#[test]
fn a_restart_keeps_everything_but_the_status_of_the_process_that_ended() {
    let entries = vec![entry(4, lifecycle()), entry(7, result(1))];
    let mut changes = Vec::new();
    let outbox = Outbox::restore(entries, 0, &mut changes);
    assert_eq!(changes, [Change::RemoveReport(4)]);
    let mut bench = Bench { outbox, changes };
    bench.push(result(2));
    assert_eq!(bench.waiting(), [7, 8], "a number is not used twice");
}

proptest! {
    /// For any events: waiting reports stay in order and match the changes on disk, a command
    /// result leaves only when accepted or rejected, and only reports held since a 401 are
    /// overtaken.
    #[test]
    fn nothing_is_lost_and_nothing_overtakes(steps in prop::collection::vec((0_u8..9, 0_u64..4), 0..120)) {
        let mut bench = Bench::default();
        let (mut pushed, mut gone, mut last_sent) = (0_u64, 0_u64, 0_u64);
        for (at, (step, number)) in steps.into_iter().enumerate() {
            let now = at as u64;
            match step {
                0 => { pushed += 1; bench.push(result(number)); }
                1 => bench.push(state(number, now)),
                2 => bench.push(lifecycle()),
                3 => bench.push(progress(ProgressEvent::Downloading, now)),
                4 | 5 => {
                    if let Some(id) = bench.outbox.sending {
                        let sent = bench.outbox.queue.iter().find(|entry| entry.id == id);
                        let is_result = matches!(&sent.unwrap().report, Report::Command(_));
                        gone += u64::from(is_result);
                        if step == 4 {
                            bench.outbox.sent(id, &mut bench.changes);
                        } else {
                            bench.outbox.refused(id, String::new(), &mut bench.changes);
                        }
                    }
                }
                6 => if let Some(id) = bench.outbox.sending { bench.outbox.deferred(id, seconds(now), None); },
                7 => if let Some(id) = bench.outbox.sending {
                    let place = bench.outbox.queue.iter().position(|entry| entry.id == id).unwrap();
                    let entry = &bench.outbox.queue[place];
                    gone += u64::from(entry.unauthorized && matches!(entry.report, Report::Command(_)));
                    bench.outbox.unauthorized(id, String::new(), &mut bench.changes);
                },
                _ => bench.outbox.welcomed(),
            }
            if let Some(id) = bench.pump(now) {
                let again = bench.outbox.queue.front().is_some_and(|entry| entry.unauthorized);
                prop_assert!(again || id >= last_sent);
                last_sent = last_sent.max(id);
            }
            prop_assert!(bench.waiting().is_sorted());
            let mut kept: Vec<_> = bench.waiting();
            kept.extend(bench.outbox.held.iter().map(|entry| entry.id));
            kept.sort_unstable();
            prop_assert_eq!(&kept, &bench.on_disk());
            let kept = bench.outbox.queue.iter().chain(&bench.outbox.held);
            let results = kept.filter(|entry| matches!(entry.report, Report::Command(_)));
            prop_assert_eq!(results.count() as u64, pushed - gone);
        }
    }
}

struct Bench {
    outbox: Outbox,
    changes: Vec<Change>,
}

impl Default for Bench {
    fn default() -> Self {
        let mut changes = Vec::new();
        Self { outbox: Outbox::restore(Vec::new(), 0, &mut changes), changes }
    }
}

impl Bench {
    fn push(&mut self, report: Report) {
        self.outbox.push(report, &mut self.changes);
    }

    /// Returns the id of the report that is sent at `now`, in seconds.
    fn pump(&mut self, now: u64) -> Option<u64> {
        let mut effects = Vec::new();
        self.outbox.pump(seconds(now), &mut effects);
        assert!(effects.len() <= 1);
        effects.iter().find_map(|effect| {
            if let Effect::SendReport(entry) = effect { Some(entry.id) } else { None }
        })
    }

    fn waiting(&self) -> Vec<u64> {
        self.outbox.queue.iter().map(|entry| entry.id).collect()
    }

    fn on_disk(&self) -> Vec<u64> {
        let mut disk = std::collections::BTreeSet::new();
        for change in &self.changes {
            if let Change::PutReport(entry) = change {
                assert!(disk.insert(entry.id), "written twice");
            }
            if let Change::RemoveReport(id) = change {
                assert!(disk.remove(id), "removed twice");
            }
            if let Change::BuryReport { entry, .. } = change {
                assert!(disk.remove(&entry.id), "buried without being there");
            }
        }
        disk.into_iter().collect()
    }
}

fn entry(id: u64, report: Report) -> OutboxEntry {
    OutboxEntry { id, report, unauthorized: false }
}

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

fn result(number: u64) -> Report {
    Report::Command(CommandReport {
        command_id: command_id(number + 1),
        status: CommandResult::Succeeded,
        output: String::new(),
        attempt: 1,
    })
}

fn state(number: u64, generation: u64) -> Report {
    Report::Model(ModelReport {
        model_id: model(number),
        pipeline_id: pipeline(number),
        state: ModelState::Serving,
        is_serving: true,
        port: port(8080),
        allowlist_digest: String::new(),
        generation: Generation(generation),
        detail: None,
    })
}

fn lifecycle() -> Report {
    Report::Lifecycle(LifecycleReport {
        status: LifecycleStatus::Online,
        agent_version: semver::Version::new(1, 3, 0),
        uptime_s: 0,
        update: None,
    })
}

fn progress(event: ProgressEvent, bytes_done: u64) -> Report {
    let progress =
        ProgressReport { deployment_id: Some(deployment(1)), event, bytes_done, bytes_total: 1000 };
    Report::Progress { model_id: model(1), progress }
}
