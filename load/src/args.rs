//! The command line; its text is the help.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Simulated devices over real sockets, against a real backend.
#[derive(Debug, Parser)]
#[command(name = "link-load", version, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) action: Action,
}

const EXAMPLES: &str = "\
Examples:
  link-load hold --backend http://127.0.0.1:8000 --fleet-key-file key --identities devices \\
    --devices 10000 --processes 2 --seconds 120 --pid 4711
  link-load storm --backend http://127.0.0.1:8000 --identities devices --devices 10000 --processes 2
  link-load commands --backend http://127.0.0.1:8000 --identities devices --devices 1000 \\
    --email ada@example.org --password-file password --callers 32 --seconds 30
  link-load hold --over zenoh --backend http://127.0.0.1:8000 --identities devices --devices 1500
  link-load check record.jsonl
  link-load siege --backend 8000 --backend-pid 4711 --local-api 20505 --serving 8080 --agent-pid 4712

The account that the fleet key belongs to must be allowed as many devices (`link-backend serve
--device-limit`). Each process holds up to 8,000 devices and needs that many open files.";

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Keep devices online and print what that costs the backend.
    Hold(Hold),
    /// Cut every connection at once and measure until all devices said hello and poll again.
    Storm(Storm),
    /// Ask random devices for repairs; measure until each is acknowledged.
    Commands(Commands),
    /// Send reports as fast as they are taken.
    Reports(Reports),
    /// Wear the listeners of this machine out, and look at what its programs hold afterwards.
    Siege(Siege),
    /// Check a record that a run wrote.
    Check(Check),
    /// One process of a fleet: orders on the standard input, tallies on the standard output.
    #[command(hide = true)]
    Worker(Worker),
}

/// The devices of a run.
#[derive(Clone, Debug, Args)]
pub(crate) struct Devices {
    /// Where the backend listens; simulated devices speak no TLS.
    #[arg(long, value_name = "URL")]
    pub(crate) backend: String,
    /// How the devices reach it.
    #[arg(long, value_enum, default_value_t = Over::Http)]
    pub(crate) over: Over,
    /// The file that keeps the devices' identities; what it lacks is registered and added.
    #[arg(long, value_name = "FILE")]
    pub(crate) identities: PathBuf,
    /// How many devices.
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub(crate) devices: usize,
    /// How many processes share them; each holds up to 8,000.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) processes: usize,
    /// A file whose first line is the fleet key that registers new devices.
    #[arg(long, value_name = "FILE", env = "LINK_LOAD_FLEET_KEY_FILE")]
    pub(crate) fleet_key_file: Option<PathBuf>,
    /// Milliseconds that a device takes to carry a command out.
    #[arg(long, default_value_t = 0, value_name = "MS")]
    pub(crate) work_ms: u64,
    #[command(flatten)]
    pub(crate) faults: Faults,
    /// Seconds that the devices may take to be online.
    #[arg(long, default_value_t = 300, value_name = "S")]
    pub(crate) patience: u64,
    /// A file for what the devices see, one JSON text a line; each further process adds its number.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Print one JSON text at the end.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A transport.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub(crate) enum Over {
    /// Long polls.
    Http,
    /// A session with the router that the backend names.
    Zenoh,
}

impl Over {
    /// Returns the word that the command line has for it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Zenoh => "zenoh",
        }
    }
}

/// Faults that the devices make on purpose, each a share between 0 and 1.
#[derive(Clone, Debug, Args)]
pub(crate) struct Faults {
    /// Deliveries that arrive twice.
    #[arg(long, default_value_t = 0.0, value_name = "SHARE", value_parser = share)]
    pub(crate) duplicate: f64,
    /// Receipts that are not sent.
    #[arg(long, default_value_t = 0.0, value_name = "SHARE", value_parser = share)]
    pub(crate) lose_receipts: f64,
    /// Results whose answer is ignored, so that they are sent again.
    #[arg(long, default_value_t = 0.0, value_name = "SHARE", value_parser = share)]
    pub(crate) lose_answers: f64,
    /// Polls after which the device starts again.
    #[arg(long, default_value_t = 0.0, value_name = "SHARE", value_parser = share)]
    pub(crate) restart: f64,
    /// Of these chances.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) seed: u64,
}

/// Who submits commands.
#[derive(Clone, Debug, Args)]
pub(crate) struct Login {
    /// The e-mail address of the account that owns the devices.
    #[arg(long)]
    pub(crate) email: String,
    /// A file whose first line is its password.
    #[arg(long, value_name = "FILE")]
    pub(crate) password_file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Hold {
    #[command(flatten)]
    pub(crate) devices: Devices,
    /// How long, once all are online.
    #[arg(long, default_value_t = 60, value_name = "S")]
    pub(crate) seconds: u64,
    /// The process id of the backend, on this machine: its memory and CPU time are printed.
    #[arg(long, value_name = "PID")]
    pub(crate) pid: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct Storm {
    #[command(flatten)]
    pub(crate) devices: Devices,
    /// How many storms, one after another.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) times: u32,
    /// The process id of the backend, on this machine: its memory and CPU time are printed.
    #[arg(long, value_name = "PID")]
    pub(crate) pid: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct Commands {
    #[command(flatten)]
    pub(crate) devices: Devices,
    #[command(flatten)]
    pub(crate) login: Login,
    /// Requests that are under way at one time.
    #[arg(long, default_value_t = 32, value_name = "N")]
    pub(crate) callers: usize,
    /// Devices that have the model and are asked; all when absent.
    #[arg(long, value_name = "N")]
    pub(crate) targets: Option<usize>,
    /// Requests per second at most; as many as are taken when absent.
    #[arg(long, value_name = "N")]
    pub(crate) rate: Option<u32>,
    /// How long.
    #[arg(long, default_value_t = 20, value_name = "S")]
    pub(crate) seconds: u64,
    /// The process id of the backend, on this machine: its memory and CPU time are printed.
    #[arg(long, value_name = "PID")]
    pub(crate) pid: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct Reports {
    #[command(flatten)]
    pub(crate) devices: Devices,
    /// What is reported.
    #[arg(long, value_enum, default_value_t = Kind::Log)]
    pub(crate) kind: Kind,
    /// Connections that send one report after another.
    #[arg(long, default_value_t = 32, value_name = "N")]
    pub(crate) senders: usize,
    /// How long.
    #[arg(long, default_value_t = 20, value_name = "S")]
    pub(crate) seconds: u64,
    /// The process id of the backend, on this machine: its memory and CPU time are printed.
    #[arg(long, value_name = "PID")]
    pub(crate) pid: Option<u32>,
}

/// A report that a device sends by itself.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub(crate) enum Kind {
    /// A log record.
    Log,
    /// The state of the agent.
    Lifecycle,
    /// A sample of the machine.
    System,
}

/// Every listener is one of 127.0.0.1.
#[derive(Debug, Args)]
pub(crate) struct Siege {
    /// The port of the backend.
    #[arg(long, value_name = "PORT")]
    pub(crate) backend: u16,
    /// The port of the agent's local API.
    #[arg(long, value_name = "PORT")]
    pub(crate) local_api: u16,
    /// The port at which the agent serves a model.
    #[arg(long, value_name = "PORT")]
    pub(crate) serving: u16,
    /// The process id of the backend.
    #[arg(long, value_name = "PID")]
    pub(crate) backend_pid: u32,
    /// The process id of the agent.
    #[arg(long, value_name = "PID")]
    pub(crate) agent_pid: u32,
    /// The process id of the model's engine, which is looked at too.
    #[arg(long, value_name = "PID")]
    pub(crate) engine_pid: Option<u32>,
    /// Connections of most shapes of attack at each listener; fewer of those that cost the attacker more.
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=500))]
    pub(crate) each: u16,
    /// How long each of the two sieges takes.
    #[arg(long, default_value_t = 20, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=300))]
    pub(crate) seconds: u64,
    /// How long the programs may take to give back what they took.
    #[arg(long, default_value_t = 90, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=600))]
    pub(crate) settle: u64,
    /// Print one JSON text at the end.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Records of one run; all of them are checked together.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) records: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Worker {
    #[command(flatten)]
    pub(crate) devices: Devices,
    /// The first identity of the file that is this process's.
    #[arg(long)]
    pub(crate) first: usize,
    /// Tell when each command was acknowledged.
    #[arg(long)]
    pub(crate) acknowledgements: bool,
}

fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| "a share is a number such as 0.1".to_owned())?;
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err("a share is between 0 and 1".into()) }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_share_is_between_nothing_and_all() {
        assert_eq!(share("0.5"), Ok(0.5));
        for bad in ["-0.1", "1.1", "NaN", "x"] {
            assert!(share(bad).is_err(), "{bad}");
        }
    }
}
