//! A table of every event in every state of an item, and a check that no sequence of events sends a request twice.

use jiff::ToSpan as _;
use link_protocol::{counter::Seq, id::ModelId, limits};
use proptest::prelude::*;
use uuid::Uuid;

use super::*;

fn id(number: u128) -> DeviceId {
    DeviceId::from_uuid(Uuid::from_u128(number))
}

fn item(state: ItemState) -> Item {
    let operation = OperationId::from_uuid(Uuid::from_u128(1));
    Item { state, ..Item::new(operation, id(1), "box".to_owned(), None, Timestamp::UNIX_EPOCH) }
}

fn model() -> ModelId {
    ModelId::from_uuid(Uuid::from_u128(2))
}

fn serve() -> Work {
    Work::Serve { model_id: model(), port: None }
}

fn stop() -> Work {
    Work::Stop { model_id: model() }
}

fn command() -> CommandId {
    CommandId::from_uuid(Uuid::from_u128(3))
}

fn events<'a>(work: &'a Work, refusal: &'a Refusal) -> [Event<'a>; 7] {
    [
        Event::Accepted(Accepted::Command(command())),
        Event::Accepted(Accepted::Done),
        Event::Refused { work, refusal },
        Event::Told(Verdict::Succeeded("done".to_owned())),
        Event::Told(Verdict::Failed(ItemFault::CommandFailed, "broken".to_owned())),
        Event::Cancelled,
        Event::Retried,
    ]
}

#[test]
fn a_table_of_every_event_in_every_state() {
    use ItemState::{Cancelled, Failed, Pending, Sent, Skipped, Succeeded};
    let (work, refusal) = (serve(), Refusal::DeviceOffline(id(1)));
    for (state, after) in [
        (Pending, [Sent, Succeeded, Failed, Pending, Pending, Cancelled, Pending]),
        (Sent, [Sent, Sent, Sent, Succeeded, Failed, Sent, Sent]),
        (Succeeded, [Succeeded; 7]),
        (Failed, [Failed, Failed, Failed, Failed, Failed, Failed, Pending]),
        (Skipped, [Skipped; 7]),
        (Cancelled, [Cancelled; 7]),
    ] {
        let now = Timestamp::UNIX_EPOCH + 1.second();
        for (event, after) in events(&work, &refusal).into_iter().zip(after) {
            let said = format!("{state} {event:?}");
            let next = item(state).handle(event, now);
            assert_eq!(next.as_ref().map_or(state, |next| next.state), after, "{said}");
            assert_eq!(next.is_some(), state != after, "{said}");
            assert!(next.is_none_or(|next| next.changed_at == now), "{said}");
        }
    }
}

#[test]
fn a_refusal_says_its_code_and_what_it_means_for_the_item() {
    use ItemState::{Failed, Pending, Skipped};
    let not_deployed = Refusal::NotDeployed { model: model(), device: id(1) };
    for (work, refusal, state, code) in [
        (serve(), Refusal::DeviceOffline(id(1)), Failed, "device-offline"),
        (serve(), not_deployed.clone(), Failed, "not-deployed"),
        (stop(), not_deployed, Skipped, "not-deployed"),
        (stop(), Refusal::NotFound("device"), Skipped, "gone"),
        (stop(), Refusal::NotFound("model"), Failed, "gone"),
        (stop(), Refusal::QueueFull(id(1)), Pending, "queue-full"),
    ] {
        let event = Event::Refused { work: &work, refusal: &refusal };
        let next = item(Pending).handle(event, Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!((next.state, next.code.as_deref()), (state, Some(code)), "{refusal:?}");
        assert_eq!((next.attempts, next.detail), (1, Some(refusal.to_string())));
    }
}

#[test]
fn a_full_queue_is_tried_again_later_and_not_for_ever() {
    let (work, refusal) = (stop(), Refusal::QueueFull(id(1)));
    let mut now = Timestamp::UNIX_EPOCH;
    let mut item = item(ItemState::Pending);
    for _ in 1..MOST_ATTEMPTS {
        item = item.handle(Event::Refused { work: &work, refusal: &refusal }, now).unwrap();
        assert_eq!((item.state, item.due_at), (ItemState::Pending, now + 30.seconds()));
        now = item.due_at;
    }
    item = item.handle(Event::Refused { work: &work, refusal: &refusal }, now).unwrap();
    assert_eq!((item.state, item.attempts), (ItemState::Failed, MOST_ATTEMPTS));
}

#[test]
fn the_state_of_an_operation_follows_from_its_items() {
    use OperationState::{Cancelled, Failed, Running, Succeeded};
    let counts = |states: &[ItemState]| {
        let mut counts = OperationCounts::default();
        for state in states {
            *counts.of_mut(*state) += 1;
        }
        counts
    };
    for (states, expected) in [
        (&[ItemState::Succeeded, ItemState::Pending][..], Running),
        (&[ItemState::Cancelled, ItemState::Sent], Running),
        (&[ItemState::Succeeded, ItemState::Skipped], Succeeded),
        (&[ItemState::Succeeded, ItemState::Failed], Failed),
        (&[ItemState::Cancelled, ItemState::Failed], Cancelled),
    ] {
        assert_eq!(state(&counts(states)), expected, "{states:?}");
    }
}

#[test]
fn a_device_that_says_nothing_more_has_failed_in_the_end() {
    let sent = item(ItemState::Sent);
    let record = crate::domain::command::CommandRecord::new(
        command(),
        id(1),
        Seq(1),
        link_protocol::command::Command::StopServing(link_protocol::command::StopServing {
            pipeline_id: link_protocol::id::PipelineId::of(model()),
            model_id: model(),
        }),
        "stop".to_owned(),
        Timestamp::UNIX_EPOCH,
    );
    let evidence = verdict::Evidence::Command(Some(&record));
    let at =
        |time: std::time::Duration| Timestamp::UNIX_EPOCH + SignedDuration::try_from(time).unwrap();
    let last = at(limits::OPERATION_PATIENCE);
    assert_eq!(verdict::of(&sent, &stop(), evidence, last), None);
    let late = verdict::of(&sent, &stop(), evidence, last + 1.second());
    assert!(matches!(late, Some(Verdict::Failed(ItemFault::Expired, _))), "{late:?}");
    let gone = verdict::of(&sent, &stop(), verdict::Evidence::Command(None), last);
    assert!(matches!(gone, Some(Verdict::Failed(ItemFault::Gone, _))), "{gone:?}");
}

proptest! {
    #[test]
    fn no_sequence_tells_a_device_twice_without_a_retry(
        sequence in proptest::collection::vec(0_usize..9, 0..60),
    ) {
        let (work, offline, full) =
            (serve(), Refusal::DeviceOffline(id(1)), Refusal::QueueFull(id(1)));
        let (mut item, mut now) = (item(ItemState::Pending), Timestamp::UNIX_EPOCH);
        let (mut told, mut retries) = (0, 0);
        for number in sequence {
            now += 1.second();
            let refusal = if number == 7 { &full } else { &offline };
            let event = match number {
                7 | 8 => Event::Refused { work: &work, refusal },
                number => events(&work, refusal)[number].clone(),
            };
            let accepts = matches!(event, Event::Accepted(_));
            let retried = matches!(event, Event::Retried);
            let Some(next) = item.handle(event, now) else { continue };
            told += u32::from(accepts);
            retries += u32::from(retried);
            prop_assert!(told <= 1 + retries);
            prop_assert!(next.attempts >= item.attempts);
            let may_change = matches!(
                item.state,
                ItemState::Pending | ItemState::Sent | ItemState::Failed
            );
            prop_assert!(may_change, "{:?} changed", item.state);
            prop_assert_eq!((&next.device, &next.name), (&item.device, &item.name));
            item = next;
        }
    }

    #[test]
    fn a_pattern_gives_every_device_a_name_of_its_own(count in 1_usize..300) {
        let devices: Vec<_> = (0..count).map(|number| device(number as u128)).collect();
        let work = Work::Rename { pattern: "lab-{n}-{name}".to_owned() };
        let mut names = request::new_names(&work, &devices).unwrap();
        prop_assert!(names.is_sorted(), "numbers have one width");
        names.dedup();
        prop_assert_eq!(names.len(), count);
    }
}

#[test]
fn a_pattern_holds_a_placeholder_and_no_other_braces() {
    let check = |pattern: &str| request::check(&Work::Rename { pattern: pattern.to_owned() });
    for good in ["{n}", "lab-{n}", "{name}-{hostname}"] {
        assert_eq!(check(good), Ok(()), "{good}");
    }
    for bad in ["", "lab", "{x}", "{n}{", "{n}\n-"] {
        assert!(check(bad).is_err(), "{bad:?}");
    }
    let work = Work::Rename { pattern: format!("{}{{n}}", "x".repeat(100)) };
    assert!(request::new_names(&work, &[device(1)]).is_err());
}

#[test]
fn devices_are_meant_by_a_selection_or_by_their_ids() {
    use link_protocol::backend_api::operation::CreateOperation;
    let wish = |select: Option<&str>, devices: Option<Vec<DeviceId>>| CreateOperation {
        work: stop(),
        select: select.map(str::to_owned),
        devices,
        dry_run: false,
    };
    let all = || (1..=3).map(device).collect::<Vec<_>>();
    let chosen = |wish| request::Chosen::of(&wish)?.among(all());
    assert_eq!(chosen(wish(Some("state=offline"), None)).unwrap().len(), 3);
    let named = chosen(wish(None, Some(vec![id(3), id(1), id(1), id(9)]))).unwrap();
    assert_eq!(named.iter().map(|one| one.device_id).collect::<Vec<_>>(), [id(1), id(3)]);
    assert!(matches!(chosen(wish(Some("tag=x"), None)), Err(Refusal::NothingSelected(_))));
    assert!(matches!(chosen(wish(None, Some(vec![]))), Err(Refusal::NothingSelected(_))));
    for bad in [wish(None, None), wish(Some("tag=x"), Some(vec![])), wish(Some("x"), None)] {
        assert!(matches!(chosen(bad), Err(Refusal::Invalid(_))));
    }
}

fn device(number: u128) -> link_protocol::backend_api::device::Device {
    let value = serde_json::json!({
        "device_id": id(number), "name": "box", "online": false, "status": "online",
        "agent_version": "1.3.0", "tags": ["lab"],
        "platform": { "os": "linux", "arch": "x86_64", "hostname": "box" },
        "registered_at": "2026-08-07T12:00:00Z", "last_seen_at": null,
    });
    serde_json::from_value(value).unwrap()
}
