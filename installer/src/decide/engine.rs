//! The builds of an engine that a machine tries, in order. Pure.
//!
//! The builds follow the plugin's order, its default first. Among the archives of one build, those for an accelerator
//! of the machine come before those for its processor. A build that cannot run here is skipped, and the reason is
//! recorded.

use link_protocol::{
    engine_index::{Accelerator, EngineBuild},
    plugin::Engine,
};

/// Facts about the machine.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Machine {
    pub system: &'static str,
    pub processor: &'static str,
    /// The features of the processor. None if the system does not report them.
    pub features: Option<Vec<&'static str>>,
    /// The processor and the accelerators of the machine.
    pub accelerators: Vec<Accelerator>,
}

/// The engine of a plugin.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Wanted {
    /// The engine, such as `llama-server`.
    pub engine: String,
    /// The program of a build.
    pub executable: String,
    /// The builds that the plugin accepts, in its order.
    pub builds: Vec<String>,
}

impl Wanted {
    /// Puts the default build of a manifest before the other accepted builds.
    #[must_use]
    pub fn of(engine: &Engine) -> Self {
        let Engine { name, executable, default_build, accepted_builds } = engine;
        let others = accepted_builds.iter().filter(|build| *build != default_build).cloned();
        let builds = std::iter::once(default_build.clone()).chain(others).collect();
        Self { engine: name.clone(), executable: executable.clone(), builds }
    }
}

/// The builds to try, and the skipped ones.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Choice<'a> {
    /// The builds, in the order in which they are tried.
    pub tries: Vec<&'a EngineBuild>,
    /// The skipped builds, each with its reason.
    pub passed_over: Vec<String>,
}

/// No build of the index can be tried here.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Unfit {
    #[error(
        "the index has none of the builds of `{}` that would do ({}); it has {}",
        .wanted.engine, .wanted.builds.join(", "), listed(.found)
    )]
    NotAccepted { wanted: Wanted, found: Vec<String> },
    #[error("no build of the index runs here: {}", .0.join("; "))]
    Nothing(Vec<String>),
}

/// Chooses the builds of `builds` that `machine` tries, in order.
///
/// # Errors
/// [`Unfit`] if no build can be tried.
pub fn choose<'a>(
    builds: &'a [EngineBuild],
    wanted: &Wanted,
    machine: &Machine,
) -> Result<Choice<'a>, Unfit> {
    let of_engine = || builds.iter().filter(|build| build.engine == wanted.engine);
    let (mut tries, mut passed_over) = (Vec::new(), Vec::new());
    for name in &wanted.builds {
        let mut fitting = Vec::new();
        for build in of_engine().filter(|build| build.build == *name) {
            match fit(build, machine) {
                Ok(accelerator) => fitting.push((accelerator, build)),
                Err(reason) => passed_over.push(format!("{name} {reason}")),
            }
        }
        fitting.sort_by_key(|(accelerator, _)| std::cmp::Reverse(*accelerator));
        tries.extend(fitting.into_iter().map(|(_, build)| build));
    }
    if !tries.is_empty() {
        return Ok(Choice { tries, passed_over });
    }
    if !passed_over.is_empty() {
        return Err(Unfit::Nothing(passed_over));
    }
    let mut found: Vec<_> = of_engine().map(|build| build.build.clone()).collect();
    found.sort();
    found.dedup();
    Err(Unfit::NotAccepted { wanted: wanted.clone(), found })
}

/// Returns the fastest hardware of this machine that a build can use, or the reason why the build cannot run here.
fn fit(build: &EngineBuild, machine: &Machine) -> Result<Accelerator, String> {
    if (build.system.as_str(), build.processor.as_str()) != (machine.system, machine.processor) {
        return Err(format!("is for {} on {}", build.system, build.processor));
    }
    let lacking =
        |need: &&String| machine.features.as_ref().is_some_and(|has| !has.contains(&need.as_str()));
    if let Some(need) = build.needs.iter().find(lacking) {
        return Err(format!("needs {need}, which this processor does not have"));
    }
    let has = |accelerator: &&Accelerator| machine.accelerators.contains(*accelerator);
    let best = build.accelerators.iter().filter(has).max().copied();
    best.ok_or_else(|| {
        let names: Vec<_> = build.accelerators.iter().map(ToString::to_string).collect();
        format!("computes with {} alone, which this machine does not have", names.join(" or "))
    })
}

fn listed(builds: &[String]) -> String {
    if builds.is_empty() { "none of that engine".to_owned() } else { builds.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_of_the_manifest_comes_first_and_then_the_other_builds_in_their_order() {
        let index =
            [build("b1", "cpu"), build("b2", "cpu"), build("b3", "cpu"), build("b9", "cpu")];
        let wanted = wanted("llama-server", "b2", &["b3".into(), "b2".into(), "b1".into()]);
        let choice = choose(&index, &wanted, &machine(&[])).unwrap();
        assert_eq!(names(&choice), ["b2", "b3", "b1"]);
        assert!(choice.passed_over.is_empty());
    }

    #[test]
    fn an_accelerator_that_the_machine_has_comes_before_its_processor() {
        let index = [build("b1", "cpu"), build("b1", "vulkan"), build("b1", "cuda")];
        let wanted = wanted("llama-server", "b1", &[]);
        let tried = |machine: &Machine| {
            let choice = choose(&index, &wanted, machine).unwrap();
            choice.tries.iter().map(|build| build.licence.clone()).collect::<Vec<_>>()
        };
        assert_eq!(tried(&machine(&[])), ["cpu"]);
        assert_eq!(tried(&machine(&[Accelerator::Vulkan])), ["vulkan", "cpu"]);
        let both = machine(&[Accelerator::Vulkan, Accelerator::Cuda]);
        assert_eq!(tried(&both), ["cuda", "vulkan", "cpu"]);
    }

    #[test]
    fn what_cannot_run_here_is_passed_over_with_the_reason() {
        let avx512 = EngineBuild { needs: vec!["avx512f".into()], ..build("b1", "cpu") };
        let mac = EngineBuild { system: "macos".into(), ..build("b2", "cpu") };
        let wanted = wanted("llama-server", "b1", &["b2".into(), "b3".into()]);
        let index = [avx512.clone(), mac, build("b3", "cpu")];
        let choice = choose(&index, &wanted, &machine(&[])).unwrap();
        assert_eq!(names(&choice), ["b3"]);
        let reasons =
            ["b1 needs avx512f, which this processor does not have", "b2 is for macos on x86_64"];
        assert_eq!(choice.passed_over, reasons);
        let unfit = choose(&index[..2], &wanted, &machine(&[])).unwrap_err();
        assert_eq!(unfit, Unfit::Nothing(reasons.map(str::to_owned).to_vec()));
        let silent = Machine { features: None, ..machine(&[]) };
        assert_eq!(names(&choose(&[avx512], &wanted, &silent).unwrap()), ["b1"]);
        let cuda = choose(&[build("b1", "cuda")], &wanted, &machine(&[])).unwrap_err().to_string();
        assert!(cuda.contains("b1 computes with CUDA alone"), "{cuda}");
    }

    #[test]
    fn without_an_accepted_build_the_refusal_names_those_that_would_do() {
        let wanted = wanted("llama-server", "b9789", &["b8808".into()]);
        let other = EngineBuild { engine: "whisper-server".into(), ..build("b9789", "cpu") };
        let refused =
            |index: &[EngineBuild]| choose(index, &wanted, &machine(&[])).unwrap_err().to_string();
        let said = refused(&[build("b2", "cpu"), build("b1", "cpu"), build("b1", "cuda"), other]);
        assert_eq!(
            said,
            "the index has none of the builds of `llama-server` that would do (b9789, b8808); it has b1, b2"
        );
        assert!(refused(&[]).ends_with("it has none of that engine"));
    }

    fn names<'a>(choice: &Choice<'a>) -> Vec<&'a str> {
        choice.tries.iter().map(|build| build.build.as_str()).collect()
    }

    fn machine(more: &[Accelerator]) -> Machine {
        Machine {
            system: "linux",
            processor: "x86_64",
            features: Some(vec!["avx2"]),
            accelerators: [&[Accelerator::Cpu], more].concat(),
        }
    }

    fn build(name: &str, accelerator: &str) -> EngineBuild {
        EngineBuild {
            engine: "llama-server".to_owned(),
            build: name.to_owned(),
            system: "linux".to_owned(),
            processor: "x86_64".to_owned(),
            accelerators: vec![serde_json::from_value(accelerator.into()).unwrap()],
            needs: vec!["avx2".to_owned()],
            file: format!("{name}-{accelerator}.tar.gz").parse().unwrap(),
            url: None,
            size_bytes: 1,
            unpacked_bytes: 1,
            sha256: "0".repeat(64).parse().unwrap(),
            licence: accelerator.to_owned(),
            obtained: None,
            ran: false,
        }
    }

    fn wanted(engine: &str, default: &str, accepted: &[String]) -> Wanted {
        Wanted::of(&Engine {
            name: engine.to_owned(),
            executable: engine.to_owned(),
            default_build: default.to_owned(),
            accepted_builds: accepted.to_vec(),
        })
    }
}
