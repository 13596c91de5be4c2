//! The command line; its doc comments are the help text.

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
    /// Keep devices online and print the backend's resource use
    Hold(Hold),
    /// Cut all connections at once and measure until every device has said hello and polls again
    Storm(Storm),
    /// Request repairs of random devices and measure the time until each acknowledgement
    Commands(Commands),
    /// Send reports as fast as the backend accepts them
    Reports(Reports),
    /// Attack the listeners of this machine, then check which resources its programs still hold
    Siege(Siege),
    /// Check the record of a run
    Check(Check),
    /// One process of a fleet: reads orders from standard input, writes tallies to standard output
    #[command(hide = true)]
    Worker(Worker),
}

/// The devices of a run.
#[derive(Clone, Debug, Args)]
pub(crate) struct Devices {
    /// The backend's address; simulated devices do not support TLS
    #[arg(long, value_name = "URL")]
    pub(crate) backend: String,
    /// The transport of the devices
    #[arg(long, value_enum, default_value_t = Over::Http)]
    pub(crate) over: Over,
    /// The file of the devices' identities; missing ones are registered and added
    #[arg(long, value_name = "FILE")]
    pub(crate) identities: PathBuf,
    /// The number of devices
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub(crate) devices: usize,
    /// The number of processes that run the devices; each runs up to 8,000
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) processes: usize,
    /// A file whose first line is the fleet key that registers new devices
    #[arg(long, value_name = "FILE", env = "LINK_LOAD_FLEET_KEY_FILE")]
    pub(crate) fleet_key_file: Option<PathBuf>,
    /// Milliseconds that a device takes to carry out a command
    #[arg(long, default_value_t = 0, value_name = "MS")]
    pub(crate) work_ms: u64,
    #[command(flatten)]
    pub(crate) faults: Faults,
    /// Seconds until all devices must be online
    #[arg(long, default_value_t = 300, value_name = "S")]
    pub(crate) patience: u64,
    /// A file for the events that devices see, one JSON text per line; each further process appends
    /// its number to the name
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Print the result as one JSON text
    #[arg(long)]
    pub(crate) json: bool,
}

/// A transport.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub(crate) enum Over {
    /// Long polls over HTTP
    Http,
    /// A session with the router that the backend names
    Zenoh,
}

impl Over {
    /// Returns the transport's name on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Zenoh => "zenoh",
        }
    }
}

/// Faults that the devices inject, each a probability between 0 and 1.
#[derive(Clone, Debug, Args)]
pub(crate) struct Faults {
    /// Deliveries that arrive twice
    #[arg(long, default_value_t = 0.0, value_name = "SHARE", value_parser = share)]
    pub(crate) duplicate: f64,
    /// Receipts that are not sent
    #[arg(long, default_value_t = 0.0, value_name = "SHARE", value_parser = share)]
    pub(crate) lose_receipts: f64,
    /// Results whose answer is ignored, so that the device sends them again
    #[arg(long, default_value_t = 0.0, value_name = "SHARE", value_parser = share)]
    pub(crate) lose_answers: f64,
    /// Polls after which the device restarts
    #[arg(long, default_value_t = 0.0, value_name = "SHARE", value_parser = share)]
    pub(crate) restart: f64,
    /// The seed of the random faults
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) seed: u64,
}

/// The account that submits commands.
#[derive(Clone, Debug, Args)]
pub(crate) struct Login {
    /// The e-mail address of the account that owns the devices
    #[arg(long)]
    pub(crate) email: String,
    /// A file whose first line is the password of that account
    #[arg(long, value_name = "FILE")]
    pub(crate) password_file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Hold {
    #[command(flatten)]
    pub(crate) devices: Devices,
    /// How long to hold the devices, in seconds, once all are online
    #[arg(long, default_value_t = 60, value_name = "S")]
    pub(crate) seconds: u64,
    /// The process id of the backend on this machine; prints its memory and CPU time
    #[arg(long, value_name = "PID")]
    pub(crate) pid: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct Storm {
    #[command(flatten)]
    pub(crate) devices: Devices,
    /// The number of consecutive storms
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) times: u32,
    /// The process id of the backend on this machine; prints its memory and CPU time
    #[arg(long, value_name = "PID")]
    pub(crate) pid: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct Commands {
    #[command(flatten)]
    pub(crate) devices: Devices,
    #[command(flatten)]
    pub(crate) login: Login,
    /// Concurrent requests
    #[arg(long, default_value_t = 32, value_name = "N")]
    pub(crate) callers: usize,
    /// How many devices get the model and requests [default: all]
    #[arg(long, value_name = "N")]
    pub(crate) targets: Option<usize>,
    /// The maximum rate of requests per second [default: unlimited]
    #[arg(long, value_name = "N")]
    pub(crate) rate: Option<u32>,
    /// How long to send requests, in seconds
    #[arg(long, default_value_t = 20, value_name = "S")]
    pub(crate) seconds: u64,
    /// The process id of the backend on this machine; prints its memory and CPU time
    #[arg(long, value_name = "PID")]
    pub(crate) pid: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct Reports {
    #[command(flatten)]
    pub(crate) devices: Devices,
    /// The kind of report
    #[arg(long, value_enum, default_value_t = Kind::Log)]
    pub(crate) kind: Kind,
    /// Connections, each of which sends one report after another
    #[arg(long, default_value_t = 32, value_name = "N")]
    pub(crate) senders: usize,
    /// How long to send reports, in seconds
    #[arg(long, default_value_t = 20, value_name = "S")]
    pub(crate) seconds: u64,
    /// The process id of the backend on this machine; prints its memory and CPU time
    #[arg(long, value_name = "PID")]
    pub(crate) pid: Option<u32>,
}

/// A kind of report that a device sends unasked.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub(crate) enum Kind {
    /// A log record
    Log,
    /// The state of the agent
    Lifecycle,
    /// A sample of the machine
    System,
}

/// The siege of the listeners on 127.0.0.1.
#[derive(Debug, Args)]
pub(crate) struct Siege {
    /// The port of the backend
    #[arg(long, value_name = "PORT")]
    pub(crate) backend: u16,
    /// The port of the agent's local API
    #[arg(long, value_name = "PORT")]
    pub(crate) local_api: u16,
    /// The port on which the agent serves a model
    #[arg(long, value_name = "PORT")]
    pub(crate) serving: u16,
    /// The process id of the backend
    #[arg(long, value_name = "PID")]
    pub(crate) backend_pid: u32,
    /// The process id of the agent
    #[arg(long, value_name = "PID")]
    pub(crate) agent_pid: u32,
    /// The process id of the model's engine, which is measured too
    #[arg(long, value_name = "PID")]
    pub(crate) engine_pid: Option<u32>,
    /// Connections of most attack shapes at each listener; costly shapes use fewer
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=500))]
    pub(crate) each: u16,
    /// How long each of the two sieges takes, in seconds
    #[arg(long, default_value_t = 20, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=300))]
    pub(crate) seconds: u64,
    /// How long the programs may take to release resources, in seconds
    #[arg(long, default_value_t = 90, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=600))]
    pub(crate) settle: u64,
    /// Print the result as one JSON text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The records of one run; they are checked together
    #[arg(required = true, value_name = "FILE")]
    pub(crate) records: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Worker {
    #[command(flatten)]
    pub(crate) devices: Devices,
    /// The index of this process's first identity in the file
    #[arg(long)]
    pub(crate) first: usize,
    /// Report when each command was acknowledged
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
