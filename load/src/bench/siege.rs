//! A siege: attacks every listener with every shape at once, then measures the resources that the
//! programs still hold.
//!
//! A first siege warms up the programs. After the second siege and a rest, each program may hold no
//! more than after the first siege and a rest.

#![expect(clippy::disallowed_methods, reason = "IO shell: sockets, and a run takes its time")]

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use link_load::siege::{self, Answered, Course, Held, Seen, Shape, Target, Then};
use link_platform::descriptors;
use serde::Serialize;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
    task::JoinSet,
    time::{Instant, sleep, timeout},
};

use crate::{args::Siege, bench::megabytes, machine, output};

/// The wait before an attacker reconnects.
const PAUSE: Duration = Duration::from_millis(50);
/// The maximum number of times that one attacker reconnects in a siege.
const TIMES: usize = 500;
/// The interval of measurements.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How long a listener may be busy with closing the connections of a siege.
const ENDING: Duration = Duration::from_secs(10);
/// The rest after a siege: programs release freed memory once a minute.
const REST: Duration = Duration::from_secs(65);
/// The timeout for an answer; longer than allowed, so that slow answers are still measured.
const PATIENCE: Duration = Duration::from_secs(10);
/// The receive buffer of a client that does not read.
const RECEIVE_BUFFER: u32 = 4096;

#[derive(Debug, Serialize)]
struct SiegeOutcome {
    connections: usize,
    seconds: u64,
    settled_after_s: u64,
    programs: Vec<Seen>,
    answers: Vec<Answered>,
    faults: Vec<String>,
}

/// A measured program.
#[derive(Clone, Copy, Debug)]
struct Program {
    name: &'static str,
    pid: u32,
}

pub(crate) async fn run(options: Siege) -> anyhow::Result<()> {
    descriptors::raise_limit()?;
    let mut programs = vec![
        Program { name: "backend", pid: options.backend_pid },
        Program { name: "agent", pid: options.agent_pid },
    ];
    programs.extend(options.engine_pid.map(|pid| Program { name: "engine", pid }));
    let cold = look(&programs)?;
    output::say("a first siege warms the programs up");
    besiege(&options, &programs).await?;
    answers(&options).await;
    sleep(REST).await;
    let before = look(&programs)?;
    output::say("the siege");
    let peak = besiege(&options, &programs).await?;
    let began = Instant::now();
    let answers = answers(&options).await;
    // Send no requests meanwhile, because a program keeps its connections to other programs open
    // for a while.
    let after = loop {
        let after = look(&programs)?;
        let seen = seen(&programs, &cold, &before, &peak, &after);
        if siege::faults(&seen, &[]).is_empty() || began.elapsed() >= options.settle() {
            break after;
        }
        sleep(LOOK_EVERY * 10).await;
    };
    let programs = seen(&programs, &cold, &before, &peak, &after);
    let each = usize::from(options.each);
    let outcome = SiegeOutcome {
        connections: Shape::ALL.iter().map(|shape| shape.connections(each) * 3).sum(),
        seconds: options.seconds,
        settled_after_s: began.elapsed().as_secs(),
        faults: siege::faults(&programs, &answers),
        programs,
        answers,
    };
    output::finish(options.json, &outcome, &table(&outcome))?;
    anyhow::ensure!(outcome.faults.is_empty(), "after {} s: {}", outcome.settled_after_s, {
        outcome.faults.join("; ")
    });
    Ok(())
}

/// Runs every shape against every listener. Returns the peak resource use of each program.
async fn besiege(options: &Siege, programs: &[Program]) -> anyhow::Result<Vec<Held>> {
    let mut attackers = JoinSet::new();
    for target in Target::ALL {
        for shape in Shape::ALL {
            for place in 0..shape.connections(usize::from(options.each)) {
                attackers.spawn(attack(options.address(target), target, shape, place));
            }
        }
    }
    let end = Instant::now() + Duration::from_secs(options.seconds);
    let mut peak = look(programs)?;
    while Instant::now() < end {
        sleep(LOOK_EVERY).await;
        for (peak, held) in peak.iter_mut().zip(look(programs)?) {
            peak.resident = peak.resident.max(held.resident);
            peak.descriptors = peak.descriptors.max(held.descriptors);
        }
    }
    attackers.shutdown().await;
    Ok(peak)
}

/// Runs one attacker of a shape, which reconnects whenever it is disconnected.
async fn attack(address: SocketAddr, target: Target, shape: Shape, place: usize) {
    let host = address.to_string();
    for time in 0..TIMES {
        let course = siege::course(target, shape, &host, place + time);
        // An attacker expects to be disconnected.
        drop(go(address, course).await);
        sleep(PAUSE).await;
    }
}

/// Runs one course until the other side closes.
async fn go(address: SocketAddr, course: Course) -> std::io::Result<()> {
    let deaf = matches!(course.then, Then::Deaf { .. });
    let mut stream = connect(address, deaf).await?;
    stream.write_all(&course.first).await?;
    match course.then {
        Then::Wait | Then::Read => {}
        Then::Shut => stream.shutdown().await?,
        Then::Drip { bytes, every } => loop {
            stream.write_all(&bytes).await?;
            sleep(every).await;
        },
        Then::Pour { bytes, times } => {
            for _ in 0..times {
                stream.write_all(&bytes).await?;
            }
        }
        Then::Deaf { bytes, times } => {
            for _ in 0..times {
                stream.write_all(&bytes).await?;
            }
            std::future::pending::<()>().await;
        }
    }
    let mut answer = [0; 4096];
    while stream.read(&mut answer).await? > 0 {}
    Ok(())
}

async fn connect(address: SocketAddr, deaf: bool) -> std::io::Result<TcpStream> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    if deaf {
        socket.set_recv_buffer_size(RECEIVE_BUFFER)?;
    }
    socket.connect(address).await
}

fn look(programs: &[Program]) -> anyhow::Result<Vec<Held>> {
    let look = |program: &Program| {
        let resident = machine::usage(program.pid)?.resident;
        Ok(Held { resident, descriptors: machine::descriptors(program.pid)? })
    };
    programs.iter().map(look).collect()
}

fn seen(
    programs: &[Program],
    cold: &[Held],
    before: &[Held],
    peak: &[Held],
    after: &[Held],
) -> Vec<Seen> {
    let of = |(number, program): (usize, &Program)| Seen {
        program: program.name,
        cold: cold[number],
        before: before[number],
        peak: peak[number],
        after: after[number],
    };
    programs.iter().enumerate().map(of).collect()
}

/// Queries every listener on a new connection. Retries while a listener is busy with the end of a
/// siege.
async fn answers(options: &Siege) -> Vec<Answered> {
    let end = Instant::now() + ENDING;
    loop {
        let answers = probe(options).await;
        if siege::faults(&[], &answers).is_empty() || Instant::now() >= end {
            return answers;
        }
        sleep(LOOK_EVERY).await;
    }
}

async fn probe(options: &Siege) -> Vec<Answered> {
    let mut answers = Vec::new();
    for target in Target::ALL {
        let began = Instant::now();
        let well = timeout(PATIENCE, ask(options.address(target), target)).await;
        let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let ms = matches!(well, Ok(Ok(true))).then_some(took);
        answers.push(Answered { listener: target.name(), ms });
    }
    answers
}

/// Returns whether a listener answers with 200.
async fn ask(address: SocketAddr, target: Target) -> std::io::Result<bool> {
    let mut stream = connect(address, false).await?;
    let (method, path, body) = target.probe();
    let host = address.to_string();
    let request = siege::request(method, path, &host, "Connection: close\r\n", body);
    stream.write_all(&request).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(answer.starts_with(b"HTTP/1.1 200 "))
}

fn table(outcome: &SiegeOutcome) -> String {
    let SiegeOutcome { connections, seconds, settled_after_s, .. } = outcome;
    let mut text = format!(
        "{connections} connections for {seconds} s, looked at {settled_after_s} s later\n\
         {:<14}{:>8}{:>8}{:>8}{:>8} MB{:>8}{:>8}{:>8}{:>8} files\n",
        "program", "cold", "before", "peak", "after", "cold", "before", "peak", "after"
    );
    for Seen { program, cold, before, peak, after } in &outcome.programs {
        let looks = [cold, before, peak, after];
        let memory = looks.map(|held| format!("{:>8.1}", megabytes(held.resident))).concat();
        let files = looks.map(|held| format!("{:>8}", held.descriptors)).concat();
        text.push_str(&format!("{program:<14}{memory}   {files}\n"));
    }
    for Answered { listener, ms } in &outcome.answers {
        let answer = ms.map_or("no answer".to_owned(), |ms| format!("{ms} ms"));
        text.push_str(&format!("{listener:<14}{answer:>8}\n"));
    }
    text.trim_end().to_owned()
}

impl Siege {
    fn address(&self, target: Target) -> SocketAddr {
        let port = match target {
            Target::Backend => self.backend,
            Target::LocalApi => self.local_api,
            Target::Serving => self.serving,
        };
        (Ipv4Addr::LOCALHOST, port).into()
    }

    fn settle(&self) -> Duration {
        Duration::from_secs(self.settle)
    }
}
