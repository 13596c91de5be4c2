//! Tests hand-written histories that obey or violate each rule.

use link_protocol::{counter::Seq, id::ModelId};
use uuid::Uuid;

use super::*;

#[test]
fn a_run_in_which_everything_went_well_has_no_violation() {
    assert_eq!(check(&good()), []);
}

#[test]
fn faults_that_are_allowed_are_no_violation() {
    let mut events = good();
    // A repeated delivery that is answered as a duplicate; a lost receipt; an unanswered request
    // that was carried out; and another that superseded a command already in the journal.
    events.extend([
        at(20, delivered(1, 1)),
        at(21, receipted(1, ReceiptKind::Done, false)),
        at(30, What::Unanswered),
        at(31, delivered(2, 2)),
        at(32, What::Effected { command: id(2) }),
        at(40, What::Accepted { command: id(3) }),
        at(41, delivered(3, 3)),
        at(42, receipted(3, ReceiptKind::Stored, false)),
        at(43, observed(3, CommandState::Expired, None)),
        at(44, What::Effected { command: id(3) }),
        at(50, What::Accepted { command: id(4) }),
        at(51, observed(4, CommandState::Sent, None)),
    ]);
    assert_eq!(check(&events), []);
}

#[test]
fn every_kind_of_violation_is_found() {
    let device = device();
    let command = id(1);
    let told = CommandResult::Failed;
    let effect = What::Effected { command };
    let second = || vec![at(20, accepted(2)), at(24, observed(2, CommandState::Sent, None))];
    let cases: Vec<(Vec<Event>, Violation)> = vec![
        (with([at(20, What::Missing { command })]), Violation::Lost { device, command }),
        (without("observed"), Violation::NotObserved { device, command }),
        (
            vec![at(1, accepted(1)), at(2, observed(1, CommandState::Processed, None))],
            Violation::ProcessedUndelivered { device, command },
        ),
        (without("accepted"), Violation::Unasked { device, command }),
        (
            vec![
                at(1, accepted(1)),
                at(2, observed(1, CommandState::Expired, None)),
                at(20_000_000, delivered(1, 1)),
            ],
            Violation::DeliveredExpired { device, command },
        ),
        (with([at(20, delivered(1, 9))]), Violation::SequenceReused { device, command }),
        (with([at(20, effect.clone())]), Violation::EffectedTwice { device, command }),
        (without("delivered"), Violation::EffectedUndelivered { device, command }),
        (
            with(
                second()
                    .into_iter()
                    .chain([at(2, delivered(2, 2)), at(3, What::Effected { command: id(2) })]),
            ),
            Violation::OutOfOrder { device, command },
        ),
        (
            with([at(3, receipted(1, ReceiptKind::Expired, true))]),
            Violation::EffectedExpired { device, command },
        ),
        (
            vec![
                at(1, accepted(1)),
                at(2, deploys(1, 1, false)),
                at(3, accepted(2)),
                at(4, deploys(2, 2, true)),
                at(5, What::Effected { command: id(2) }),
                at(6, effect.clone()),
                at(7, observed(1, CommandState::Processed, None)),
                at(8, observed(2, CommandState::Processed, None)),
            ],
            Violation::EffectedCancelled { device, command },
        ),
        (
            vec![
                at(1, accepted(1)),
                at(2, delivered(1, 1)),
                at(3, resulted(1, CommandResult::Cancelled, true)),
                at(4, effect),
                at(5, observed(1, CommandState::Processed, Some(CommandResult::Cancelled))),
            ],
            Violation::EffectedCancelled { device, command },
        ),
        (
            with([at(20, resulted(1, CommandResult::Failed, false))]),
            Violation::TwoResults { device, command },
        ),
        (
            with([at(20, observed(1, CommandState::Processed, Some(told)))]),
            Violation::WrongResult { device, command, told },
        ),
        (
            with([at(20, observed(1, CommandState::Processed, None))]),
            Violation::ResultLost { device, command },
        ),
        (without("effected"), Violation::SuccessWithoutEffect { device, command }),
    ];
    for (events, expected) in cases {
        let found = check(&events);
        assert_eq!(found, std::slice::from_ref(&expected), "{expected}: {events:#?}");
    }
}

#[test]
fn an_event_is_one_line_of_json() {
    let text = serde_json::to_string(&at(7, delivered(1, 3))).unwrap();
    assert_eq!(
        text,
        "{\"at_us\":7,\"device\":\"dev_00000000000000000000000000000009\",\"event\":\"delivered\",\
         \"command\":\"cmd_00000000000000000000000000000001\",\"seq\":3,\
         \"lane\":\"model:mdl_00000000000000000000000000000005\",\"attempt\":1,\"cancels\":false}"
    );
    assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), at(7, delivered(1, 3)));
}

fn good() -> Vec<Event> {
    vec![
        at(1, accepted(1)),
        at(2, delivered(1, 1)),
        at(4, receipted(1, ReceiptKind::Stored, true)),
        at(5, What::Effected { command: id(1) }),
        at(6, resulted(1, CommandResult::Succeeded, true)),
        at(10, observed(1, CommandState::Processed, Some(CommandResult::Succeeded))),
    ]
}

fn with(more: impl IntoIterator<Item = Event>) -> Vec<Event> {
    good().into_iter().chain(more).collect()
}

fn without(kind: &str) -> Vec<Event> {
    let is_kind =
        |event: &Event| serde_json::to_value(event).unwrap()["event"].as_str() == Some(kind);
    good().into_iter().filter(|event| !is_kind(event)).collect()
}

fn at(at_us: u64, what: What) -> Event {
    Event { at_us, device: device(), what }
}

fn accepted(number: u128) -> What {
    What::Accepted { command: id(number) }
}

fn delivered(number: u128, seq: u64) -> What {
    let lane = Lane::Model(ModelId::from_uuid(Uuid::from_u128(5)));
    let command = id(number);
    What::Delivered { command, seq: Seq(seq), lane, attempt: 1, deployment: None, cancels: false }
}

fn deploys(number: u128, seq: u64, cancels: bool) -> What {
    let lane =
        if cancels { Lane::Control } else { Lane::Model(ModelId::from_uuid(Uuid::from_u128(5))) };
    let deployment = Some(DeploymentId::from_uuid(Uuid::from_u128(6)));
    What::Delivered { command: id(number), seq: Seq(seq), lane, attempt: 1, deployment, cancels }
}

fn receipted(number: u128, receipt: ReceiptKind, taken: bool) -> What {
    What::Receipted { command: id(number), receipt, taken }
}

fn resulted(number: u128, status: CommandResult, taken: bool) -> What {
    What::Resulted { command: id(number), status, taken }
}

fn observed(number: u128, state: CommandState, result: Option<CommandResult>) -> What {
    What::Observed { command: id(number), state, result }
}

fn id(number: u128) -> CommandId {
    CommandId::from_uuid(Uuid::from_u128(number))
}

fn device() -> DeviceId {
    DeviceId::from_uuid(Uuid::from_u128(9))
}
