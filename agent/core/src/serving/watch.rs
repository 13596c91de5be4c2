//! Health checks of serving engines, and when to kill one.
//!
//! An engine may compute for minutes, and while more requests wait than it has threads, it does not
//! answer health checks. A busy engine therefore gets far more time than an idle one.

use std::collections::BTreeMap;

use link_protocol::{
    id::PipelineId,
    limits::{ENGINE_LOOK_INTERVAL, ENGINE_SILENT_LOOKS, ENGINE_WORKING_LOOKS},
    report::ModelState,
};

use super::Pipelines;
use crate::{
    effect::{Effect, Turn},
    run::Run,
};

/// The result of one health check.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Sign {
    /// The engine answers.
    Answers,
    /// The engine does not answer but uses the processor, or its processor use is unknown.
    Works,
    /// The engine neither answers nor uses the processor.
    Silent,
}

/// The failed health checks of each engine since its last answer.
#[derive(Debug, Default)]
pub(super) struct Watch(BTreeMap<PipelineId, Missed>);

#[derive(Clone, Copy, Debug)]
struct Missed {
    run: Run,
    all: u32,
    /// The number of latest checks in a row that found the engine idle.
    silent: u32,
}

impl Pipelines {
    /// Handles a health check of a serving engine.
    pub(crate) fn engine_looked(&mut self, id: PipelineId, run: Run, sign: Sign, turn: &mut Turn) {
        let serves = self.all.get(&id).is_some_and(|pipeline| {
            let view = pipeline.view();
            view.engine_run == Some(run) && view.state == ModelState::Serving
        });
        if serves && let Some(looks) = self.watch.give_up(id, run, sign) {
            let seconds = ENGINE_LOOK_INTERVAL.as_secs() * u64::from(looks);
            let reason = format!("the engine did not answer for {seconds} s and was killed");
            turn.effects.push(Effect::KillEngine { pipeline_id: id, run, reason });
        }
        if !serves {
            self.watch.0.remove(&id);
        }
    }
}

impl Watch {
    /// Records a check; returns the number of failed checks if the engine must be killed.
    fn give_up(&mut self, id: PipelineId, run: Run, sign: Sign) -> Option<u32> {
        let mut missed = self.0.remove(&id).filter(|missed| missed.run == run).unwrap_or(Missed {
            run,
            all: 0,
            silent: 0,
        });
        match sign {
            Sign::Answers => return None,
            Sign::Works => missed.silent = 0,
            Sign::Silent => missed.silent += 1,
        }
        missed.all += 1;
        if missed.silent >= ENGINE_SILENT_LOOKS || missed.all >= ENGINE_WORKING_LOOKS {
            return Some(missed.all);
        }
        self.0.insert(id, missed);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{pipeline, record, told};

    #[test]
    fn an_engine_that_does_nothing_is_ended_and_starts_again() {
        let mut serving = Serving::new();
        for _ in 1..ENGINE_SILENT_LOOKS {
            assert_eq!(serving.looked(1, Sign::Silent), [""; 0]);
        }
        assert_eq!(serving.looked(1, Sign::Silent), ["kill engine 1"]);
        // From here on this is a crash.
        let ended =
            serving.turn(|all, turn| all.engine_ended(pipeline(1), Run(1), "it ended", turn));
        assert!(ended.last().is_some_and(|last| last == "tell NotServing"), "{ended:?}");
        assert_eq!(serving.looked(1, Sign::Silent), [""; 0]);
    }

    #[test]
    fn an_engine_that_answers_now_and_then_or_works_is_left_alone() {
        let mut serving = Serving::new();
        for _ in 0..100 {
            for _ in 1..ENGINE_SILENT_LOOKS {
                assert_eq!(serving.looked(1, Sign::Silent), [""; 0]);
            }
            assert_eq!(serving.looked(1, Sign::Answers), [""; 0]);
        }
        for _ in 1..ENGINE_WORKING_LOOKS {
            assert_eq!(serving.looked(1, Sign::Works), [""; 0]);
        }
        assert_eq!(serving.looked(1, Sign::Works), ["kill engine 1"]);
    }

    #[test]
    fn looks_at_another_run_count_for_nothing() {
        let mut serving = Serving::new();
        for _ in 0..10 * ENGINE_SILENT_LOOKS {
            assert_eq!(serving.looked(7, Sign::Silent), [""; 0]);
        }
    }

    struct Serving(Pipelines);

    impl Serving {
        fn new() -> Self {
            let mut turn = Turn::default();
            let mut serving = Self(Pipelines::restore(vec![record(1, true)], &mut turn));
            serving.turn(|all, turn| {
                all.port_reserved(pipeline(1), Run(1), "8080".parse().unwrap(), Ok(()), turn);
                all.engine_ready(pipeline(1), Run(1), turn);
            });
            serving
        }

        fn looked(&mut self, run: u64, sign: Sign) -> Vec<String> {
            self.turn(|all, turn| all.engine_looked(pipeline(1), Run(run), sign, turn))
        }

        fn turn(&mut self, act: impl FnOnce(&mut Pipelines, &mut Turn)) -> Vec<String> {
            let mut turn = Turn::default();
            act(&mut self.0, &mut turn);
            told(&turn)
        }
    }
}
