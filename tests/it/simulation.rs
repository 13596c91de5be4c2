//! The agent's core against a simulated backend, with many random schedules of faults.
//!
//! One seed determines everything: the requests of users, lost, late, repeated or forged messages,
//! the deaths of processes, the holders of ports, and the course of engines and downloads. The
//! backend's side uses its real state machine and real signatures. At the end comes a quiet phase,
//! in which everything must come to rest. The core has no way to read the device's wall clock.
//!
//! `LINK_SIM_SEEDS` sets the number of schedules, and `LINK_SIM_SEED` runs a single one.

mod backend;
mod checks;
mod device;
mod disk;
mod forgery;
mod mutants;
mod network;
mod random;
mod shell;
mod tally;
mod user;
mod world;

use self::{mutants::Mutant, tally::Tally};

/// The number of schedules of a default run.
const SEEDS: u64 = 1_000;

/// The number of schedules within which a broken core must be caught.
const CAUGHT_WITHIN: u64 = 2_000;

// Holds: S3.1-4, S3.2-5, S3.3-1, S3.4-1, S6-3
#[test]
fn nothing_is_lost_or_done_twice_whatever_goes_wrong() {
    let seeds = match setting("LINK_SIM_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..setting("LINK_SIM_SEEDS").unwrap_or(SEEDS),
    };
    let tally = run_all(seeds).unwrap_or_else(|why| panic!("{why}"));
    println!("{tally}");
    if tally.schedules >= SEEDS {
        for how in [
            "RepairServing succeeded",
            "DeployModel cancelled",
            "invalid failed",
            "UninstallModel succeeded",
            "UpdateModel succeeded",
            "UpdateAgent succeeded",
            "backend: Expired",
            "backend: Superseded",
            "deployment: Completed",
            "deployment: Cancelled",
            "deployment: Failed",
        ] {
            assert!(tally.count(how) > 100, "the schedules never see `{how}`:\n{tally}");
        }
        assert!(tally.count("engine: given up") > 10, "no engine hangs:\n{tally}");
    }
}

#[test]
fn a_core_that_is_broken_on_purpose_is_caught() {
    for mutant in Mutant::ALL {
        let caught =
            (0..CAUGHT_WITHIN).find_map(|seed| Some((seed, world::run(seed, mutant).err()?)));
        let (seed, why) = caught.unwrap_or_else(|| panic!("{mutant:?} is not caught"));
        let first = why.lines().next().unwrap_or_default();
        println!("{mutant:?}: seed {seed}: {}", first.chars().take(160).collect::<String>());
    }
}

/// Runs the schedules on all processors. Each processor stops at its first failure.
fn run_all(seeds: std::ops::Range<u64>) -> Result<Tally, String> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    std::thread::scope(|scope| {
        let share = |worker: u64| {
            let mut mine = seeds.clone().filter(move |seed| seed % workers == worker);
            scope.spawn(move || {
                mine.try_fold(Tally::default(), |mut sum, seed| {
                    sum.add(&world::run(seed, Mutant::None)?);
                    Ok::<_, String>(sum)
                })
            })
        };
        let running: Vec<_> = (0..workers).map(share).collect();
        let mut sum = Tally::default();
        for worker in running {
            sum.add(&worker.join().expect("a worker does not panic")?);
        }
        Ok(sum)
    })
}

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}
