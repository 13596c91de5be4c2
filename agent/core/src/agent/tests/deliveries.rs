//! Deliveries that must not be carried out: invalid commands, and commands older than the current
//! state.

use link_protocol::{command::RepairServing, counter::Seq};
use serde_json::value::RawValue;

use super::*;
use crate::tests::{allowlist, config, update};

// Holds: S2.5-2, S2.5-3, S6-2b, S7-7, S7-8, S7-9, S9-8
#[test]
fn an_invalid_command_fails_or_is_rejected_and_nothing_of_its_payload_is_told() {
    let command = Command::DeployModel(deploy(1, 1));
    let payload = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
    let with = |from: &str, to: &str| {
        let good = envelope(1, &command);
        assert!(good.payload.get().contains(from));
        Envelope { payload: payload(&good.payload.get().replacen(from, to, 1)), ..good }
    };
    let other = pipeline(66).to_string();
    let of_type = |name: &str| Envelope { r#type: name.to_owned(), ..envelope(1, &command) };
    let of = |text: &str| Envelope { payload: payload(text), ..envelope(1, &command) };
    let other_lane =
        Envelope { lane: link_protocol::command::Lane::Control, ..envelope(1, &command) };
    let other_pipeline = with(
        &format!("\"pipeline_id\":\"{}\"", pipeline(1)),
        &format!("\"pipeline_id\":\"{other}\""),
    );
    let renamed = |command: Command| {
        let good = envelope(1, &command);
        let own = format!("\"pipeline_id\":\"{}\"", pipeline(1));
        let text = good.payload.get().replacen(&own, &format!("\"pipeline_id\":\"{other}\""), 1);
        assert_ne!(text, good.payload.get());
        Envelope { payload: payload(&text), ..good }
    };
    for (broken, field) in [
        (of_type("REMOVE_MODEL"), "type: removed, `UNINSTALL_MODEL` replaces it"),
        (of_type("canary"), "no name of a type"),
        (of(r#"{"canary": 1}"#), "is missing"),
        (of("\"canary\""), "payload"),
        (other_lane, "lane"),
        (with("tiny.gguf", "../canary"), "payload.model.file_name"),
        (with("\"tiny.gguf\"", "7"), "payload.model.file_name"),
        (with("\"port\":8080", "\"port\":0"), "payload.config.port"),
        (other_pipeline, "identifiers"),
        (renamed(Command::UpdateModel(deploy(1, 1))), "identifiers"),
        (renamed(Command::UpdatePipeline(update(config(1)))), "identifiers"),
    ] {
        let mut bench = Bench::online();
        let effects = bench.receive_all(vec![bench.key.seal(&broken)]);
        // A payload that contradicts its envelope, or names an unsafe file, is rejected; one that breaks its contract in
        // another way has failed.
        let payload = broken.payload.get();
        let is_rejected = payload.contains(&other) || payload.contains("../canary");
        let status = if is_rejected { "rejected" } else { "failed" };
        let result = format!("c1 {status}: Invalid command payload");
        assert_eq!(results(&effects), [result], "{broken:?}");
        assert!(words(&effects).contains(&"receipt c1 Stored".to_owned()));
        let text = format!("{effects:?}");
        assert!(!text.contains("canary") && !text.contains(&other), "{text}");
        assert!(!text.contains("Download"));
        let fault = effects.iter().find_map(|effect| {
            let Effect::Log(Note::Invalid { command, fault }) = effect else { return None };
            Some((command, fault))
        });
        let (command, fault) = fault.expect("the log here says more");
        let said = format!("{command} {}: {}", fault.kind, fault.field);
        assert!(said.starts_with("cmd_") && said.contains(field), "{said}");
    }
}

#[test]
fn an_older_repair_that_arrives_late_does_not_undo_the_newer_one() {
    let mut bench = Bench::serving();
    bench.seq += 2;
    let (older, newer) = (bench.seq - 1, bench.seq);
    let origins = |name: &str| RepairServing {
        allowlist: allowlist(&[&format!("https://{name}.example")]),
        ..repair(1, None)
    };
    bench.receive(&envelope(newer, &Command::RepairServing(origins("newer"))));
    let before = bench.agent.pipelines().next().unwrap().record.clone();
    assert_eq!(before.config.allowlist, origins("newer").allowlist);
    let effects = bench.receive(&envelope(older, &Command::RepairServing(origins("older"))));
    assert_eq!(*bench.agent.pipelines().next().unwrap().record, before, "{effects:?}");
    let entry =
        bench.snapshot().commands.into_iter().find(|entry| entry.seq == Seq(older)).unwrap();
    let result = entry.result.unwrap();
    assert_eq!(result.status, CommandResult::Cancelled, "{result:?}");
    assert!(result.output.contains("the newer command"), "{result:?}");
}
