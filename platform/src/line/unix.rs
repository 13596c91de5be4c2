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
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
};

use crate::process::{Program, TiedChild};

#[derive(Debug)]
pub(super) struct Line {
    reader: Lines<BufReader<OwnedReadHalf>>,
    writer: OwnedWriteHalf,
}

impl Line {
    fn new(stream: StdStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        let (reader, writer) = UnixStream::from_std(stream)?.into_split();
        Ok(Self { reader: BufReader::new(reader).lines(), writer })
    }

    pub(super) async fn next(&mut self) -> Option<String> {
        self.reader.next_line().await.ok().flatten()
    }

    pub(super) async fn tell(&mut self, text: &str) {
        let _nobody_reads = self.writer.write_all(format!("{text}\n").as_bytes()).await;
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
