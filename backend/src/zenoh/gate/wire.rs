//! What a connection says, read as the router reads it: with the same code of the same version.
//!
//! A device is a client: it says who it is, is let in, and from then on declares a handful of things
//! and sends messages. What else the protocol of routers knows is refused before the router sees it.

use link_protocol::zenoh::BUFFER;
use zenoh_buffers::{ZSlice, reader::HasReader as _};
use zenoh_codec::{RCodec, Zenoh080, transport::frame::FrameReader};
use zenoh_protocol::{
    common::{ZExtBody, ZExtUnknown, iext, imsg},
    core::WhatAmI,
    network::{NetworkBody, id},
    transport::{Fragment, OpenSyn, TransportBody, TransportMessage},
};

/// What a session may declare, ask to be told and take back, in all its life. A device declares two
/// things.
const DECLARATIONS: u32 = 128;

/// The part of an opening that names the user.
const USER: u8 = 0x2;

/// The largest batch, in bytes.
const LONGEST: usize = BUFFER as usize;

/// A connection said something that no device says.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub(super) enum Fault {
    #[error("it does not speak as a device does")]
    OutOfTurn,
    #[error("it is no client of the router")]
    NoClient,
    #[error("it cannot be read")]
    Unreadable,
    #[error("it names no user")]
    NoUser,
    #[error("it is longer than {LONGEST} bytes")]
    TooLong,
    #[error("it declared more than {DECLARATIONS} things")]
    TooManyDeclarations,
}

/// What the router says while it lets somebody in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Answer {
    GoOn,
    LetIn,
    Refused,
}

/// What was said on a connection so far.
#[derive(Debug, Default)]
pub(super) struct Wire {
    declared: u32,
}

impl Wire {
    /// Reads the first word of a connection.
    pub(super) fn first(batch: &ZSlice) -> Result<(), Fault> {
        match read(batch)?.body {
            // Without the marks of first fragments it would not be known where a message begins.
            TransportBody::InitSyn(first) if !first.ext_patch.has_fragmentation_markers() => {
                Err(Fault::OutOfTurn)
            }
            TransportBody::InitSyn(first) if first.whatami != WhatAmI::Client => {
                Err(Fault::NoClient)
            }
            TransportBody::InitSyn(_) => Ok(()),
            TransportBody::InitAck(_)
            | TransportBody::OpenSyn(_)
            | TransportBody::OpenAck(_)
            | TransportBody::Close(_)
            | TransportBody::KeepAlive(_)
            | TransportBody::Frame(_)
            | TransportBody::Fragment(_)
            | TransportBody::OAM(_)
            | TransportBody::Join(_) => Err(Fault::OutOfTurn),
        }
    }

    /// Reads the second word, and returns the user whom it names. The router checks the password.
    pub(super) fn opening(batch: &ZSlice) -> Result<String, Fault> {
        match read(batch)?.body {
            TransportBody::OpenSyn(opening) => user(opening).ok_or(Fault::NoUser),
            TransportBody::InitSyn(_)
            | TransportBody::InitAck(_)
            | TransportBody::OpenAck(_)
            | TransportBody::Close(_)
            | TransportBody::KeepAlive(_)
            | TransportBody::Frame(_)
            | TransportBody::Fragment(_)
            | TransportBody::OAM(_)
            | TransportBody::Join(_) => Err(Fault::OutOfTurn),
        }
    }

    /// Reads what the router answers to a first or a second word.
    pub(super) fn answer(batch: &ZSlice) -> Answer {
        match read(batch).map(|message| message.body) {
            Ok(TransportBody::InitAck(_)) => Answer::GoOn,
            Ok(TransportBody::OpenAck(_)) => Answer::LetIn,
            Ok(
                TransportBody::InitSyn(_)
                | TransportBody::OpenSyn(_)
                | TransportBody::Close(_)
                | TransportBody::KeepAlive(_)
                | TransportBody::Frame(_)
                | TransportBody::Fragment(_)
                | TransportBody::OAM(_)
                | TransportBody::Join(_),
            )
            | Err(_) => Answer::Refused,
        }
    }

    /// Reads what a session says after that, and returns how many messages it was.
    pub(super) fn hear(&mut self, batch: &ZSlice) -> Result<u32, Fault> {
        let (mut rest, mut messages) = (batch.clone(), 0_u32);
        while !rest.is_empty() {
            messages += 1;
            // In the order in which the router tries it.
            if let Some(frame) = frame(&mut rest) {
                for message in frame {
                    messages += 1;
                    self.count(is_declaration(&message.body))?;
                }
                continue;
            }
            let message: TransportMessage =
                Zenoh080::new().read(&mut rest).map_err(|_| Fault::Unreadable)?;
            match message.body {
                TransportBody::Fragment(fragment) => self.count(begins_declaration(&fragment))?,
                TransportBody::KeepAlive(_) | TransportBody::Close(_) => {}
                TransportBody::InitSyn(_)
                | TransportBody::InitAck(_)
                | TransportBody::OpenSyn(_)
                | TransportBody::OpenAck(_)
                | TransportBody::Frame(_)
                | TransportBody::OAM(_)
                | TransportBody::Join(_) => return Err(Fault::OutOfTurn),
            }
        }
        Ok(messages)
    }

    fn count(&mut self, is_declaration: bool) -> Result<(), Fault> {
        self.declared += u32::from(is_declaration);
        if self.declared > DECLARATIONS { Err(Fault::TooManyDeclarations) } else { Ok(()) }
    }
}

/// Returns the length of the batch that follows `prefix`.
pub(super) fn length(prefix: [u8; 2]) -> Result<usize, Fault> {
    let length = usize::from(u16::from_le_bytes(prefix));
    if length > LONGEST { Err(Fault::TooLong) } else { Ok(length) }
}

fn frame(rest: &mut ZSlice) -> Option<FrameReader<'_, ZSlice>> {
    Zenoh080::new().read(rest).ok()
}

fn read(batch: &ZSlice) -> Result<TransportMessage, Fault> {
    Zenoh080::new().read(&mut batch.clone()).map_err(|_| Fault::Unreadable)
}

/// Finds the user in an opening, as the router does: in the first part that can name one.
fn user(opening: OpenSyn) -> Option<String> {
    let codec = Zenoh080::new();
    let parts = opening.ext_auth?.value;
    let parts: Vec<ZExtUnknown> = codec.read(&mut parts.reader()).ok()?;
    let part = parts.into_iter().find(|part| part.id & iext::ID_MASK == USER)?;
    let ZExtBody::ZBuf(named) = part.body else { return None };
    let name: Vec<u8> = codec.read(&mut named.reader()).ok()?;
    String::from_utf8(name).ok()
}

const fn is_declaration(message: &NetworkBody) -> bool {
    match message {
        // What routers tell each other is nothing that a device has to say.
        NetworkBody::Declare(_) | NetworkBody::Interest(_) | NetworkBody::OAM(_) => true,
        NetworkBody::Push(_)
        | NetworkBody::Request(_)
        | NetworkBody::Response(_)
        | NetworkBody::ResponseFinal(_) => false,
    }
}

/// A message in pieces is told by its first byte, which the first piece has.
fn begins_declaration(fragment: &Fragment) -> bool {
    let head = fragment.payload.as_slice().first().map(|head| imsg::mid(*head));
    fragment.ext_first.is_some()
        && !matches!(head, Some(id::PUSH | id::REQUEST | id::RESPONSE | id::RESPONSE_FINAL))
}

#[cfg(test)]
mod tests;
