//! Tests which handovers take effect, and that all others leave the device unchanged.

use link_protocol::{
    counter::{Epoch, Seq},
    handover::Handover,
};

use super::*;

#[test]
fn a_handover_of_the_backend_is_all_that_its_welcome_leads_to() {
    let mut bench = Bench::serving();
    let given = bench.welcomed_with(handover(2));
    assert_eq!(given, ["hand over to epoch 2"], "nothing is told to the account that receives");
    // Several transfers while the device was offline amount to one handover.
    assert_eq!(Bench::serving().welcomed_with(handover(7)), ["hand over to epoch 7"]);
}

#[test]
fn what_comes_with_a_handover_is_not_taken() {
    let mut bench = Bench::online();
    let command = Command::DeployModel(deploy(1, 1));
    let next = Envelope { epoch: Epoch(2), ..envelope(1, &command) };
    let commands = [envelope(1, &command), next].map(|one| bench.key.seal(&one)).to_vec();
    let handover = Some(handover(2).seal(&bench.key));
    let welcome = Welcome { server_time: moment(), epoch: Epoch(2), commands, handover };
    let effects = words(&bench.handle(Event::Welcomed(welcome)));
    assert_eq!(
        (effects, bench.agent.hello().last_seq),
        (vec!["hand over to epoch 2".to_owned()], Seq(0))
    );
}

/// The process ended before the identity was written: the device is in the old epoch, with any part
/// of the old state left on disk.
#[test]
fn a_handover_that_was_interrupted_is_believed_again() {
    for left in
        [Snapshot { pipelines: vec![record(1, true)], ..Snapshot::default() }, Snapshot::default()]
    {
        let mut bench = Bench::new(left);
        bench.welcomed_with(handover(2));
        bench.restart();
        assert_eq!(bench.welcomed_with(handover(2)), ["hand over to epoch 2"]);
    }
}

/// A router or a network can repeat, forge and mix up handovers.
#[test]
fn a_handover_that_is_forged_repeated_or_of_another_device_changes_nothing() {
    let key = SigningKey::from_seed(&[1; 32]);
    let stranger = SigningKey::from_seed(&[9; 32]);
    let of_another_device = Handover::new(id("dev_", 2), Epoch(2), moment());
    let mut altered = handover(1).seal(&key);
    altered.envelope = altered.envelope.replace("\"to_epoch\":1", "\"to_epoch\":9");
    let mut renamed = handover(2).seal(&stranger);
    renamed.kid.clone_from(&key.verifying().kid);
    let command = key.seal(&Envelope { epoch: Epoch(2), ..envelope(1, &update_agent()) });
    for (signed, why) in [
        (of_another_device.seal(&key), "the handover is for another device"),
        (handover(1).seal(&key), "the handover names an epoch that has already begun"),
        (handover(0).seal(&key), "the handover names an epoch that has already begun"),
        (handover(2).seal(&stranger), "the handover is not trusted: signed with a key"),
        (renamed, "the handover is not trusted: the signature does not fit"),
        (altered, "the handover is not trusted: the signature does not fit"),
        (command, "the handover is not trusted: the signed text is not a handover"),
    ] {
        let (mut bench, mut without) = (Bench::serving(), Bench::serving());
        let welcome =
            Welcome { server_time: moment(), epoch: Epoch(1), commands: vec![], handover: None };
        let usual = without.handle(Event::Welcomed(welcome.clone()));
        let welcome = Welcome { handover: Some(signed), ..welcome };
        let mut effects = bench.handle(Event::Welcomed(welcome));
        let told = effects.iter().position(|effect| {
            matches!(effect, Effect::Log(Note::Refused { reason } | Note::Untrusted { reason })
                if reason.starts_with(why))
        });
        effects.remove(told.unwrap_or_else(|| panic!("{why}: {effects:?}")));
        assert_eq!(effects, usual, "{why}");
        assert_eq!(bench.agent.connection(), ConnectionState::Connected);
    }
}

impl Bench {
    /// The effects of a welcome that carries `handover`.
    fn welcomed_with(&mut self, handover: Handover) -> Vec<String> {
        let handover = Some(handover.seal(&self.key));
        let welcome =
            Welcome { server_time: moment(), epoch: Epoch(2), commands: vec![], handover };
        words(&self.handle(Event::Welcomed(welcome)))
    }
}

fn handover(to_epoch: u64) -> Handover {
    Handover::new(device_id(), Epoch(to_epoch), moment())
}
