//! Which connection is closed first, and that the bounds always hold.

use proptest::{collection::vec, prelude::*};
use uuid::Uuid;

use super::*;

fn network(number: u8) -> Option<Network> {
    (number > 0).then(|| Network::host([192, 0, 2, number].into()))
}

fn device(account: u128, number: u128) -> Party {
    let (account, device) = (Uuid::from_u128(account), Uuid::from_u128(number));
    Party::Device(AccountId::from_uuid(account), DeviceId::from_uuid(device))
}

fn holding(all: usize) -> Connections {
    Connections::new(Bounds::at_most(all))
}

fn admitted(connections: &mut Connections, from: u8) -> ConnectionId {
    connections.admit(network(from)).unwrap().0
}

#[test]
fn a_quarter_of_the_files_is_kept_back() {
    assert_eq!(Bounds::of(Some(1024)).all, 768);
    assert_eq!(Bounds::of(None), Bounds::of(Some(1024)));
    assert_eq!(Bounds::of(Some(100)).all, 36);
    assert_eq!(Bounds::of(Some(10)).all, 1, "it can always be asked");
    assert_eq!(Bounds::of(Some(u64::MAX)).all, 65_536);
}

#[test]
fn the_oldest_idle_one_gives_way_and_strangers_only_after_them() {
    let mut connections = holding(3);
    let (first, second) = (admitted(&mut connections, 0), admitted(&mut connections, 0));
    let third = admitted(&mut connections, 0);
    assert_eq!(connections.ask(first, None), None);
    let (fourth, gone) = connections.admit(None).unwrap();
    assert_eq!(gone, Some(second), "the first asks");
    connections.ask(third, None);
    connections.ask(fourth, None);
    let (fifth, gone) = connections.admit(None).unwrap();
    assert_eq!(gone, Some(first), "who has asked for the longest time");
    connections.rest(third);
    let (_, gone) = connections.admit(None).unwrap();
    assert_eq!(gone, Some(fifth), "the third was answered a moment ago");
}

#[test]
fn who_is_known_never_gives_way_and_a_full_house_takes_nobody() {
    let mut connections = holding(2);
    for number in 0..2_u128 {
        let id = admitted(&mut connections, 0);
        connections.ask(id, None);
        connections.know(id, device(number, 1));
    }
    assert_eq!(connections.admit(None), None);
}

#[test]
fn a_network_beyond_its_share_gives_way_to_itself() {
    let mut connections = holding(8);
    let honest = admitted(&mut connections, 2);
    let hostile: Vec<_> = (0..2).map(|_| admitted(&mut connections, 1)).collect();
    let (_, gone) = connections.admit(network(1)).unwrap();
    assert_eq!(gone, Some(hostile[0]), "{honest:?} is older and of another network");
}

#[test]
fn behind_a_proxy_a_network_is_known_by_what_is_asked() {
    let mut connections = holding(8);
    let ids: Vec<_> = (0..4).map(|_| admitted(&mut connections, 0)).collect();
    assert_eq!(connections.ask(ids[0], network(1)), None);
    assert_eq!(connections.ask(ids[1], network(1)), None);
    assert_eq!(connections.ask(ids[2], network(2)), None);
    assert_eq!(connections.ask(ids[3], network(1)), Some(ids[0]));
    assert_eq!(connections.rest(ids[1]), None, "the proxy itself has no share");
}

#[test]
fn a_party_is_known_on_a_bounded_number_of_connections() {
    let mut connections = holding(100);
    let ids: Vec<_> = (0..=OF_A_DEVICE).map(|_| admitted(&mut connections, 0)).collect();
    for id in &ids {
        connections.ask(*id, None);
        connections.know(*id, device(1, 1));
    }
    while connections.len() < 100 {
        let id = admitted(&mut connections, 0);
        connections.ask(id, None);
    }
    let (_, gone) = connections.admit(None).unwrap();
    assert_eq!(gone, ids.last().copied(), "the one that was too many");
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Admit(u8),
    Ask(usize, u8),
    Know(usize, u128, u128),
    Rest(usize),
    End(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..5_u8).prop_map(Step::Admit),
        2 => (0..40_usize, 0..5_u8).prop_map(|(id, from)| Step::Ask(id, from)),
        2 => (0..40_usize, 0..3_u128, 0..4_u128).prop_map(|(id, a, d)| Step::Know(id, a, d)),
        1 => (0..40_usize).prop_map(Step::Rest),
        1 => (0..40_usize).prop_map(Step::End),
    ]
}

proptest! {
    #[test]
    fn whatever_happens_every_bound_holds_and_who_is_known_stays(
        all in 1..24_usize,
        steps in vec(step(), 0..200),
    ) {
        let mut connections = holding(all);
        let mut ids: Vec<ConnectionId> = Vec::new();
        for step in steps {
            let known: Vec<_> = known(&connections);
            let (own, gone) = match step {
                Step::Admit(from) => match connections.admit(network(from)) {
                    Some((id, gone)) => {
                        ids.push(id);
                        (Some(id), gone)
                    }
                    None => {
                        prop_assert!(connections.yielding.is_empty());
                        (None, None)
                    }
                },
                Step::Ask(at, from) => match ids.get(at) {
                    Some(id) => (Some(*id), connections.ask(*id, network(from))),
                    None => continue,
                },
                Step::Know(at, account, number) => {
                    let Some(id) = ids.get(at) else { continue };
                    connections.know(*id, device(account, number));
                    (Some(*id), None)
                }
                Step::Rest(at) => match ids.get(at) {
                    Some(id) => (Some(*id), connections.rest(*id)),
                    None => continue,
                },
                Step::End(at) => {
                    let Some(id) = ids.get(at) else { continue };
                    connections.end(*id);
                    (Some(*id), None)
                }
            };
            prop_assert!(gone.is_none() || gone != own);
            for id in known.iter().filter(|id| Some(**id) != own) {
                prop_assert!(connections.held.contains_key(id), "{id:?} was known");
            }
            check(&connections)?;
        }
    }
}

fn known(connections: &Connections) -> Vec<ConnectionId> {
    let is_known = |held: &Held| matches!(held.standing, Standing::Known(_));
    connections.held.iter().filter(|(_, held)| is_known(held)).map(|(id, _)| *id).collect()
}

fn check(connections: &Connections) -> Result<(), TestCaseError> {
    let bounds = connections.bounds;
    prop_assert!(connections.len() <= bounds.all);
    prop_assert!(connections.of_network.values().all(|count| *count <= bounds.each_network));
    prop_assert!(connections.of_party.values().all(|count| *count <= OF_A_DEVICE));
    prop_assert!(connections.of_account.values().all(|count| *count <= bounds.each_account));
    let of_networks: usize = connections.of_network.values().sum();
    prop_assert!(of_networks <= connections.yielding.len());
    let of_parties: usize = connections.of_party.values().sum();
    prop_assert_eq!(connections.yielding.len() + of_parties, connections.len());
    Ok(())
}
