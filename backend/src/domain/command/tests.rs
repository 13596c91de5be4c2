//! The command state machine: its table, and invariants over arbitrary sequences of events.

use jiff::ToSpan as _;
use link_protocol::{
    backend_api::command as outside,
    command::{RepairServing, StopServing},
    counter::{Epoch, Seq},
    id::{ModelId, PipelineId},
};
use proptest::prelude::*;
use uuid::Uuid;

use super::*;

const HOUR: i64 = 60 * 60;

// Holds: S3.3-1
#[test]
fn a_command_is_delivered_acknowledged_and_done() {
    let mut record = repair(1);
    record.deliver(at(0));
    assert_eq!((record.state, record.attempt), (State::Delivered, 1));
    record.receipt(ReceiptKind::Stored, at(1)).unwrap();
    assert_eq!((record.state, record.next_delivery_at), (State::Acknowledged, None));
    assert_eq!(record.report(succeeded(&record), at(2)), Ok(Reported::First));
    assert_eq!(record.report(failed(&record), at(3)), Ok(Reported::Repeated));
    assert_eq!(record.info().result.unwrap().status, CommandResult::Succeeded);
    assert_eq!(record.info().state, outside::CommandState::Processed);
}

#[test]
fn the_wait_for_a_receipt_doubles_up_to_five_minutes() {
    let waits: Vec<u64> = (1..=7).map(|attempt| redelivery_delay(attempt).as_secs()).collect();
    assert_eq!(waits, [15, 30, 60, 120, 240, 300, 300]);
    assert_eq!(redelivery_delay(u32::MAX).as_secs(), 300);
}

// Holds: S3.3-2, S4.1-9, S8-1
#[test]
fn only_an_unacknowledged_command_expires_and_only_after_24_hours() {
    let mut record = repair(1);
    assert!(!record.sweep(at(24 * HOUR)));
    assert!(record.sweep(at(24 * HOUR + 1)));
    assert_eq!(record.info().state, outside::CommandState::Expired);
    assert_eq!(record.receipt(ReceiptKind::Stored, at(24 * HOUR + 2)), Err(TooLate));
    assert_eq!(record.report(succeeded(&record), at(24 * HOUR + 2)), Err(TooLate));

    let mut record = repair(1);
    record.receipt(ReceiptKind::Stored, at(24 * HOUR)).unwrap();
    assert!(!record.sweep(at(48 * HOUR)));
    assert_eq!(record.state, State::Acknowledged);
}

#[test]
fn a_receipt_after_the_expiry_is_too_late_even_before_the_sweep() {
    let mut record = repair(1);
    record.deliver(at(0));
    assert_eq!(record.receipt(ReceiptKind::Stored, at(24 * HOUR + 1)), Err(TooLate));
    assert_eq!(record.state, State::Expired);
}

#[test]
fn a_result_without_a_receipt_acknowledges() {
    let mut record = repair(1);
    record.deliver(at(0));
    assert_eq!(record.report(succeeded(&record), at(5)), Ok(Reported::First));
    assert_eq!(record.state, State::Acknowledged);
}

#[test]
fn a_poll_answers_with_everything_once_one_is_due() {
    let mut records = vec![repair(2), repair(1)];
    assert_eq!(due(&records, at(0)), [1, 0]);
    for record in &mut records {
        record.deliver(at(0));
    }
    assert_eq!(due(&records, at(14)), [0_usize; 0]);
    assert_eq!(next_due(&records, at(14)), Some(at(15)));
    records[0].deliver(at(10));
    assert_eq!(due(&records, at(15)), [1, 0], "the second is due, the first goes with it");
    records[1].receipt(ReceiptKind::Duplicate, at(16)).unwrap();
    assert_eq!(due(&records, at(16)), [0_usize; 0]);
}

#[test]
fn a_poll_answers_with_at_most_one_batch() {
    let records: Vec<_> = (1..=60).map(repair).collect();
    assert_eq!(due(&records, at(0)).len(), BATCH);
}

#[test]
fn a_place_in_the_journal_stands_for_a_lost_receipt() {
    let (mut delivered, mut queued) = (repair(3), repair(4));
    delivered.deliver(at(0));
    assert!(!delivered.journaled(Seq(2), at(1)));
    assert!(delivered.journaled(Seq(3), at(1)));
    assert_eq!(delivered.state, State::Acknowledged);
    assert!(!queued.journaled(Seq(9), at(1)), "what was never delivered is in no journal");
}

#[test]
fn a_command_that_the_device_lost_is_delivered_again() {
    let mut record = repair(3);
    record.deliver(at(0));
    record.receipt(ReceiptKind::Stored, at(1)).unwrap();
    let listed = [Inflight { command_id: record.id, attempt: 1, running: true }];
    record.hello(&listed, Seq(3), at(60));
    assert_eq!(record.next_delivery_at, None);

    record.hello(&[], Seq(2), at(61));
    assert_eq!(due(std::slice::from_ref(&record), at(61)), [0]);
    record.deliver(at(61));
    assert_eq!((record.state, record.attempt), (State::Acknowledged, 2));
    record.receipt(ReceiptKind::Stored, at(62)).unwrap();
    assert_eq!(due(std::slice::from_ref(&record), at(1000)), [0_usize; 0]);
}

#[test]
fn a_command_lost_beyond_its_expiry_ends_as_failed() {
    let mut record = repair(3);
    record.deliver(at(0));
    record.receipt(ReceiptKind::Stored, at(1)).unwrap();
    record.hello(&[], Seq(3), at(25 * HOUR));
    assert_eq!(record.result, None, "its result may be on the way");
    record.hello(&[], Seq(0), at(25 * HOUR));
    assert_eq!(record.result.as_ref().unwrap().report.status, CommandResult::Failed);
    assert!(record.is_final());
}

#[test]
fn a_registration_starts_the_deliveries_again() {
    let mut record = repair(1);
    record.deliver(at(0));
    record.restart(at(5));
    assert_eq!((record.state, record.attempt), (State::Queued, 1));
    assert!(!record.journaled(Seq(7), at(1)));
    assert_eq!(due(std::slice::from_ref(&record), at(5)), [0]);
}

#[test]
fn an_envelope_reads_back_as_the_command_and_tells_the_time_left() {
    let mut record = repair(7);
    record.deliver(at(10));
    let envelope = record.envelope(Epoch(3), at(10));
    assert_eq!(envelope.command().unwrap(), record.command);
    assert_eq!((envelope.seq, envelope.epoch, envelope.attempt), (Seq(7), Epoch(3), 1));
    assert_eq!(envelope.r#type, "REPAIR_SERVING");
    assert_eq!(envelope.ttl_ms, 86_390_000);
    assert_eq!(record.envelope(Epoch(3), at(100 * HOUR)).ttl_ms, 0);
}

// Holds: S3.3-1, S3.3-2
#[test]
fn a_superseded_command_stays_sent_and_says_by_what_until_it_is_acknowledged() {
    let (newer, mut record) = (repair(2).id, repair(1));
    record.deliver(at(0));
    assert!(record.supersede(Some(newer), at(5)) && !record.supersede(Some(newer), at(6)));
    let info = record.info();
    assert_eq!((info.state, info.superseded_by), (outside::CommandState::Sent, Some(newer)));
    let told = info.result.unwrap();
    assert_eq!((told.status, told.reported_at), (outside::OutcomeStatus::Superseded, at(5)));
    assert_eq!(told.output, format!("superseded by {newer}"));
    assert!(due(std::slice::from_ref(&record), at(3600)).is_empty(), "it is not delivered again");
    assert!(record.is_told() && !record.is_final());

    record.receipt(ReceiptKind::Stored, at(60)).unwrap();
    let info = record.info();
    assert_eq!((info.state, info.superseded_by), (outside::CommandState::Processed, Some(newer)));
    assert_eq!(info.result.unwrap().status, outside::OutcomeStatus::Superseded);
    record.report(succeeded(&record), at(61)).unwrap();
    let info = record.info();
    assert_eq!(
        info.result.unwrap().status,
        CommandResult::Succeeded,
        "it took effect all the same"
    );
    assert_eq!(info.superseded_by, Some(newer));
}

#[test]
fn a_superseded_command_expires_after_24_hours_and_a_result_alone_acknowledges_it() {
    let (newer, mut record) = (repair(2).id, repair(1));
    record.supersede(Some(newer), at(5));
    let mut reported = record.clone();
    assert_eq!(reported.report(succeeded(&record), at(9)), Ok(Reported::First));
    assert_eq!(reported.state, State::Acknowledged);
    assert!(!record.sweep(at(24 * HOUR)) && record.sweep(at(24 * HOUR + 1)));
    let info = record.info();
    assert_eq!((info.state, info.superseded_by), (outside::CommandState::Expired, Some(newer)));
    assert_eq!(record.receipt(ReceiptKind::Stored, at(24 * HOUR + 2)), Err(TooLate));

    let mut acknowledged = repair(1);
    acknowledged.receipt(ReceiptKind::Stored, at(1)).unwrap();
    assert!(!acknowledged.supersede(Some(newer), at(2)));
}

#[test]
fn a_superseded_command_is_acknowledged_by_a_hello_that_lists_it_and_never_delivered_again() {
    let (newer, mut record) = (repair(2).id, repair(1));
    record.deliver(at(0));
    record.supersede(Some(newer), at(5));
    record.hello(&[], Seq(0), at(6));
    assert!(!record.is_deliverable(at(6)));
    let listed = [Inflight { command_id: record.id, attempt: 1, running: false }];
    record.hello(&listed, Seq(1), at(7));
    assert_eq!(record.state, State::Acknowledged);
    record.hello(&[], Seq(1), at(8));
    assert!(!record.is_deliverable(at(8)), "the device lost it; the newer one counts");
}

#[derive(Clone, Debug)]
enum Event {
    Deliver,
    Receipt(u8),
    Report(bool),
    Sweep,
    Supersede,
    Journaled(u64),
    Hello { listed: bool, last_seq: u64 },
    Restart,
}

fn events() -> impl Strategy<Value = Vec<(Event, i64)>> {
    let event = prop_oneof![
        3 => Just(Event::Deliver),
        2 => (0..4_u8).prop_map(Event::Receipt),
        1 => any::<bool>().prop_map(Event::Report),
        1 => Just(Event::Sweep),
        1 => Just(Event::Supersede),
        1 => (0..6_u64).prop_map(Event::Journaled),
        2 => (any::<bool>(), 0..6_u64)
            .prop_map(|(listed, last_seq)| Event::Hello { listed, last_seq }),
        1 => Just(Event::Restart),
    ];
    // Clocks jump, so a step may be negative.
    proptest::collection::vec((event, -100..20 * HOUR), 0..40)
}

fn apply(record: &mut CommandRecord, event: &Event, now: Timestamp) {
    match event {
        Event::Deliver => record.deliver(now),
        Event::Receipt(kind) => {
            let kinds = [
                ReceiptKind::Stored,
                ReceiptKind::Duplicate,
                ReceiptKind::Done,
                ReceiptKind::Expired,
            ];
            record.receipt(kinds[usize::from(*kind)], now).unwrap_or(());
        }
        Event::Report(good) => {
            let report = if *good { succeeded(record) } else { failed(record) };
            record.report(report, now).map(|_reported| ()).unwrap_or(());
        }
        Event::Sweep => {
            record.sweep(now);
        }
        Event::Supersede => {
            record.supersede(Some(repair(9).id), now);
        }
        Event::Journaled(last_seq) => {
            record.journaled(Seq(*last_seq), now);
        }
        Event::Hello { listed, last_seq } => {
            let entry = Inflight { command_id: record.id, attempt: 1, running: false };
            let inflight = if *listed { vec![entry] } else { vec![] };
            record.hello(&inflight, Seq(*last_seq), now);
        }
        Event::Restart => record.restart(now),
    }
}

proptest! {
    #[test]
    fn every_sequence_keeps_the_invariants(events in events()) {
        let mut record = repair(3);
        let mut clock = 0;
        for (event, step) in events {
            clock = (clock + step).max(0);
            let before = record.clone();
            apply(&mut record, &event, at(clock));
            prop_assert!(record.attempt >= before.attempt, "the attempt shrank: {event:?}");
            if before.state == State::Acknowledged {
                prop_assert_eq!(record.state, State::Acknowledged);
            }
            if before.withdrawn.is_some() {
                prop_assert_eq!(record.withdrawn, before.withdrawn);
                prop_assert!(!record.is_deliverable(at(clock)), "withdrawn and delivered: {event:?}");
            }
            if before.is_final() {
                prop_assert_eq!(&record, &before, "final is final: {:?}", event);
            }
            if before.result.is_some() {
                prop_assert_eq!(&record.result, &before.result);
            }
            if record.result.is_some() {
                prop_assert_eq!(record.state, State::Acknowledged);
            }
            if record.is_final() {
                prop_assert_eq!(record.next_delivery_at, None);
                prop_assert!(due(std::slice::from_ref(&record), at(clock)).is_empty());
            }
        }
    }

    #[test]
    fn an_open_command_is_always_delivered_in_the_end(steps in proptest::collection::vec(0..400_i64, 1..20)) {
        let mut record = repair(1);
        let mut clock = 0;
        for step in steps {
            clock += step;
            record.deliver(at(clock));
        }
        prop_assert!(!due(std::slice::from_ref(&record), at(clock + 300)).is_empty());
    }
}

fn repair(seq: u64) -> CommandRecord {
    let model = ModelId::from_uuid(Uuid::from_u128(1));
    let command = Command::RepairServing(RepairServing {
        pipeline_id: PipelineId::of(model),
        model_id: model,
        allowlist: link_protocol::allowlist::Allowlist::new([]),
        port: None,
    });
    let id = CommandId::from_uuid(Uuid::from_u128(u128::from(seq)));
    let device = DeviceId::from_uuid(Uuid::from_u128(9));
    CommandRecord::new(id, device, Seq(seq), command, format!("repair:{seq}"), at(0))
}

#[test]
fn a_stop_waits_a_day_too() {
    let model = ModelId::from_uuid(Uuid::from_u128(1));
    let stop = StopServing { pipeline_id: PipelineId::of(model), model_id: model };
    let template = repair(1);
    let record = CommandRecord::new(
        template.id,
        template.device,
        Seq(1),
        Command::StopServing(stop),
        "stop".to_owned(),
        at(0),
    );
    assert_eq!(record.expires_at, at(24 * HOUR));
}

fn succeeded(record: &CommandRecord) -> CommandReport {
    CommandReport {
        command_id: record.id,
        status: CommandResult::Succeeded,
        output: "done".to_owned(),
        attempt: record.attempt,
    }
}

fn failed(record: &CommandRecord) -> CommandReport {
    CommandReport { status: CommandResult::Failed, ..succeeded(record) }
}

/// Returns the time `seconds` after an arbitrary start.
fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_790_000_000).unwrap() + seconds.seconds()
}
