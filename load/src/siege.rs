//! What strangers do to a listener who mean to wear it out, and what must hold afterwards.
//!
//! Pure: [`course`] says what one connection sends, [`faults`] what was not as it should be. Every
//! course is bounded, and the shell that runs them bounds their number and their time.

use std::time::Duration;

use serde::Serialize;

/// A program that is asked after a siege answers within this time.
pub const ANSWER: Duration = Duration::from_secs(1);

/// A huge body: less than the serving port takes, more than any other listener takes.
const HUGE: usize = 31 * MIB;
const MIB: usize = 1024 * 1024;
/// Requests on one connection whose answers nobody reads.
const UNREAD: usize = 2_000;
/// How long a slow head waits before its next line.
const DRIP: Duration = Duration::from_secs(1);

/// A listener that is besieged.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Target {
    Backend,
    /// The local API of the agent.
    LocalApi,
    /// The port at which the agent serves a model.
    Serving,
}

/// What a connection is there for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Shape {
    /// It says nothing.
    Idle,
    /// It sends one line of its head a second.
    SlowHead,
    /// It sends a part of its head and shuts its sending side.
    HalfOpen,
    /// It announces a body and sends a part of it.
    StalledBody,
    /// It sends as much of a body as is taken.
    HugeBody,
    /// It asks and asks and reads no answer.
    DeafReader,
    /// It guesses: a password, a token, an origin.
    Guess,
}

/// What one connection sends, and what it does then until it is closed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Course {
    pub first: Vec<u8>,
    pub then: Then,
}

/// What a connection does after its first words.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Then {
    /// Nothing.
    Wait,
    /// Shuts its sending side and waits.
    Shut,
    /// Sends `bytes` again and again, after a wait each time.
    Drip { bytes: Vec<u8>, every: Duration },
    /// Sends `bytes` so many times, as fast as they are taken, and waits.
    Pour { bytes: Vec<u8>, times: usize },
    /// Sends `bytes` so many times, as fast as they are taken, and reads nothing.
    Deaf { bytes: Vec<u8>, times: usize },
    /// Reads the answer and closes.
    Read,
}

/// What a program holds.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Held {
    /// Pages in memory, in bytes.
    pub resident: u64,
    pub descriptors: u64,
}

/// What was seen of a program.
#[derive(Clone, Debug, Serialize)]
pub struct Seen {
    pub program: &'static str,
    /// When it had just been started.
    pub cold: Held,
    /// After a siege that warmed it up.
    pub before: Held,
    pub peak: Held,
    pub after: Held,
}

/// How a listener answered after the siege.
#[derive(Clone, Debug, Serialize)]
pub struct Answered {
    pub listener: &'static str,
    /// In milliseconds; nothing when it did not answer as it should.
    pub ms: Option<u64>,
}

impl Target {
    pub const ALL: [Self; 3] = [Self::Backend, Self::LocalApi, Self::Serving];

    /// Returns the name for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Backend => "backend",
            Self::LocalApi => "local API",
            Self::Serving => "serving port",
        }
    }

    /// Returns the request by which a program shows that it works: method, path and body.
    #[must_use]
    pub const fn probe(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Backend => ("GET", "/readyz", ""),
            Self::LocalApi => ("GET", "/healthz", ""),
            Self::Serving => ("POST", CHAT, QUESTION),
        }
    }

    /// Returns a path that takes a body.
    const fn takes(self) -> &'static str {
        match self {
            Self::Backend => "/api/v1/auth/login",
            Self::LocalApi => "/update",
            Self::Serving => CHAT,
        }
    }

    /// Returns a path whose answers are large, or cost most.
    const fn gives(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Backend => ("GET", "/api/v1/openapi.json", ""),
            Self::LocalApi => ("GET", "/healthz", ""),
            Self::Serving => ("POST", CHAT, QUESTION),
        }
    }
}

const CHAT: &str = "/v1/chat/completions";
const QUESTION: &str = r#"{"messages":[{"role":"user","content":"hi"}]}"#;

impl Shape {
    /// What costs a listener most comes first: where places are few, the others would keep it out.
    pub const ALL: [Self; 7] = [
        Self::HugeBody,
        Self::DeafReader,
        Self::StalledBody,
        Self::Guess,
        Self::SlowHead,
        Self::HalfOpen,
        Self::Idle,
    ];

    /// Returns how many connections of this shape are open at a time, where most have `each`.
    #[must_use]
    pub fn connections(self, each: usize) -> usize {
        match self {
            Self::HugeBody => each.div_ceil(10),
            Self::Guess => each.div_ceil(5),
            Self::Idle | Self::SlowHead | Self::HalfOpen | Self::StalledBody | Self::DeafReader => {
                each
            }
        }
    }
}

/// Returns the course of connection `number` at the listener that `host` names.
#[must_use]
pub fn course(target: Target, shape: Shape, host: &str, number: usize) -> Course {
    let begun = format!("POST {} HTTP/1.1\r\nHost: {host}\r\n", target.takes());
    let body = |length: String| {
        format!("{begun}Content-Type: application/json\r\n{length}\r\n\r\n").into_bytes()
    };
    match shape {
        Shape::Idle => Course { first: vec![], then: Then::Wait },
        Shape::SlowHead => {
            let bytes = b"X-Slow: slow\r\n".to_vec();
            Course { first: begun.into_bytes(), then: Then::Drip { bytes, every: DRIP } }
        }
        Shape::HalfOpen => Course { first: begun.into_bytes(), then: Then::Shut },
        Shape::StalledBody => {
            let mut first = body("Content-Length: 1000".to_owned());
            first.extend(b"{\"messages\": [");
            Course { first, then: Then::Wait }
        }
        // Every second one does not say how long it is.
        Shape::HugeBody if number.is_multiple_of(2) => {
            let first = body(format!("Content-Length: {}", HUGE + MIB));
            Course { first, then: Then::Pour { bytes: vec![b' '; MIB], times: HUGE / MIB } }
        }
        Shape::HugeBody => {
            let first = body("Transfer-Encoding: chunked".to_owned());
            let chunk = [format!("{MIB:x}\r\n").into_bytes(), vec![b' '; MIB], b"\r\n".to_vec()];
            Course { first, then: Then::Pour { bytes: chunk.concat(), times: HUGE / MIB } }
        }
        Shape::DeafReader => {
            let (method, path, body) = target.gives();
            let bytes = request(method, path, host, "", body);
            Course { first: vec![], then: Then::Deaf { bytes, times: UNREAD } }
        }
        Shape::Guess => Course { first: guess(target, host, number), then: Then::Read },
    }
}

/// Returns a whole request; `more` are lines of its head.
#[must_use]
pub fn request(method: &str, path: &str, host: &str, more: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n{more}");
    format!("{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}").into()
}

fn guess(target: Target, host: &str, number: usize) -> Vec<u8> {
    const CLOSE: &str = "Connection: close\r\n";
    match target {
        Target::Backend => {
            let password = "a password that nobody has";
            let body = format!(
                "{{\"email\":\"person-{number}@example.org\",\"password\":\"{password}\"}}"
            );
            request("POST", target.takes(), host, CLOSE, &body)
        }
        Target::LocalApi => {
            let token = format!("{CLOSE}Authorization: Bearer guess-{number}\r\n");
            request("POST", target.takes(), host, &token, "{}")
        }
        Target::Serving => {
            let origin = format!("{CLOSE}Origin: https://guess-{number}.example.org\r\n");
            request("POST", CHAT, host, &origin, QUESTION)
        }
    }
}

/// Returns what is not as it was before, and who did not answer in time; nothing when all is well.
#[must_use]
pub fn faults(seen: &[Seen], answered: &[Answered]) -> Vec<String> {
    let mut faults = Vec::new();
    for Seen { program, before, after, .. } in seen {
        if !is_back(before.resident, after.resident) {
            let (before, after) = (before.resident / 1000, after.resident / 1000);
            faults.push(format!("{program}: {after} kB resident, {before} kB before"));
        }
        if !is_back(before.descriptors, after.descriptors) {
            let (before, after) = (before.descriptors, after.descriptors);
            faults.push(format!("{program}: {after} descriptors, {before} before"));
        }
    }
    for Answered { listener, ms } in answered {
        match ms {
            Some(ms) if u128::from(*ms) <= ANSWER.as_millis() => {}
            Some(ms) => faults.push(format!("{listener}: answered after {ms} ms")),
            None => faults.push(format!("{listener}: did not answer as it should")),
        }
    }
    faults
}

/// Tells whether a program has given back all but a tenth of what it had before, rounded up.
const fn is_back(before: u64, after: u64) -> bool {
    after <= before + before.div_ceil(10)
}

#[cfg(test)]
mod tests;
