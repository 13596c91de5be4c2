//! One process of a fleet. It ends when its standard input closes, so no process is left behind.

use std::{io, sync::Arc, time::Duration};

use anyhow::Context as _;
use link_load::{
    fleet::{Behaviour, Fleet, LONGEST_WAIT},
    identities,
    record::Record,
    shared::Faults,
    transport::{http::Http, zenoh::Zenoh},
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Stdout},
    time::MissedTickBehavior,
};

use crate::{
    args::{Over, Worker},
    worker::Order,
};

/// The interval of reporting new acknowledgements.
const TELL_EVERY: Duration = Duration::from_millis(20);
/// The number of these intervals after which the tally is sent even without an acknowledgement.
const QUIET_TURNS: u32 = 10;

pub(crate) async fn run(options: Worker) -> anyhow::Result<()> {
    let devices = options.devices;
    let mut identities = identities::read(&devices.identities)?;
    anyhow::ensure!(
        identities.len() >= options.first + devices.devices,
        "`{}` has too few identities",
        devices.identities.display()
    );
    let identities = identities.drain(options.first..options.first + devices.devices).collect();
    let record = match &devices.record {
        Some(path) => Record::to_file(path)
            .with_context(|| format!("failed to make the record `{}`", path.display()))?,
        None => Record::default(),
    };
    let record = Arc::new(record);
    let behaviour = Behaviour {
        work: Duration::from_millis(devices.work_ms),
        faults: Faults {
            duplicate: devices.faults.duplicate,
            lose_receipt: devices.faults.lose_receipts,
            lose_answer: devices.faults.lose_answers,
            restart: devices.faults.restart,
        },
        seed: devices.faults.seed,
        flaw: None,
        longest_wait: LONGEST_WAIT,
        keeps_acknowledgements: options.acknowledgements,
    };
    let http = Http::new(&devices.backend)?;
    let kept = Arc::clone(&record);
    let fleet = match devices.over {
        Over::Http => Fleet::start(identities, &http, behaviour, kept),
        Over::Zenoh => Fleet::start(identities, &Zenoh::new(http), behaviour, kept),
    };
    let mut orders = BufReader::new(tokio::io::stdin()).lines();
    let mut output = tokio::io::stdout();
    let mut ticks = tokio::time::interval(TELL_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut quiet = QUIET_TURNS;
    loop {
        tokio::select! {
            order = orders.next_line() => match order.context("failed to read an order")? {
                None => break,
                Some(line) => match serde_json::from_str(&line).context("not an order")? {
                    Order::Cut => fleet.cut(),
                    Order::Stop => break,
                },
            },
            _ = ticks.tick() => {
                quiet += 1;
                let due = quiet >= QUIET_TURNS;
                if options.acknowledgements || due {
                    let tally = fleet.tally();
                    if due || !tally.acknowledgements.is_empty() {
                        quiet = 0;
                        tell(&mut output, &tally).await.context("standard output is closed")?;
                    }
                }
            }
        }
    }
    drop(fleet);
    record.finish().context("the record is incomplete")
}

async fn tell(output: &mut Stdout, tally: &link_load::fleet::Tally) -> io::Result<()> {
    let mut line = serde_json::to_vec(tally)?;
    line.push(b'\n');
    output.write_all(&line).await?;
    output.flush().await
}
