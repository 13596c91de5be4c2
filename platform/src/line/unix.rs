//! A pair of connected sockets.

use std::{
    io,
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::net::UnixStream as StdStream,
    },
    process::Stdio,
};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    net::UnixStream,
};

use crate::process::{Program, TiedChild};

pub(super) const WORKS: bool = true;

/// Not split into halves: dropping one half would close its direction for the next process image
/// too.
#[derive(Debug)]
pub(super) struct Line(Lines<BufReader<UnixStream>>);

impl Line {
    fn new(stream: StdStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self(BufReader::new(UnixStream::from_std(stream)?).lines()))
    }

    pub(super) async fn next(&mut self) -> Option<String> {
        self.0.next_line().await.ok().flatten()
    }

    pub(super) async fn tell(&mut self, text: &str) {
        let stream = self.0.get_mut().get_mut();
        let _nobody_reads = stream.write_all(format!("{text}\n").as_bytes()).await;
    }
}

pub(super) fn start(program: &Program) -> io::Result<(TiedChild, Line)> {
    let (ours, theirs) = StdStream::pair()?;
    let child = TiedChild::start_reading(program, Stdio::from(OwnedFd::from(theirs)))?;
    Ok((child, Line::new(ours)?))
}

pub(super) fn of_parent() -> Option<Line> {
    let stdin = io::stdin().as_fd().try_clone_to_owned().ok()?;
    Line::new(StdStream::from(stdin)).ok()
}
