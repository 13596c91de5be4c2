//! Parses the messages of a connection with the router's own code, in the same version.
//!
//! A device is a client: it authenticates, then makes a few declarations and sends messages. All other messages of the
//! protocol are refused before the router sees them.

use link_protocol::zenoh::{BUFFER, SessionId};
use zenoh_buffers::{ZSlice, reader::HasReader as _};
use zenoh_codec::{RCodec, Zenoh080, transport::frame::FrameReader};
use zenoh_protocol::{
    common::{ZExtBody, ZExtUnknown, iext, imsg},
    core::WhatAmI,
    network::{NetworkBody, id},
    transport::{Fragment, OpenSyn, TransportBody, TransportMessage},
};

/// The maximum number of declarations, interests and undeclarations of a session. A device makes two declarations.
const DECLARATIONS: u32 = 128;

/// The part of an opening message that names the user.
const USER: u8 = 0x2;

/// The size limit of a batch, in bytes.
const LONGEST: usize = BUFFER as usize;

/// A connection sent a message that no device sends.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub(super) enum Fault {
    #[error("it does not speak as a device does")]
    OutOfTurn,
    #[error("it is not a client of the router")]
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

/// The router's messages during an admission.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Answer {
    GoOn,
    LetIn,
    Refused,
}

/// The state of the protocol on a connection.
#[derive(Debug, Default)]
pub(super) struct Wire {
    declared: u32,
}

impl Wire {
    /// Reads the first message of a connection and returns the identifier of its session.
    pub(super) fn first(batch: &ZSlice) -> Result<SessionId, Fault> {
        match read(batch)?.body {
            // Without markers of first fragments, the start of a message would be unknown.
            TransportBody::InitSyn(first) if !first.ext_patch.has_fragmentation_markers() => {
                Err(Fault::OutOfTurn)
            }
            TransportBody::InitSyn(first) if first.whatami != WhatAmI::Client => {
                Err(Fault::NoClient)
            }
            TransportBody::InitSyn(first) => Ok(SessionId::from_le_bytes(first.zid.to_le_bytes())),
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

    /// Reads the second message and returns its user. The router checks the password.
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

    /// Reads the router's answer to the first or the second message.
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

    /// Reads the messages of an admitted session and returns their number.
    pub(super) fn hear(&mut self, batch: &ZSlice) -> Result<u32, Fault> {
        let (mut rest, mut messages) = (batch.clone(), 0_u32);
        while !rest.is_empty() {
            messages += 1;
            // The order is that of the router.
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

/// Finds the user in an opening message as the router does: in the first part that can name a user.
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
        // Only routers send these messages to each other.
        NetworkBody::Declare(_) | NetworkBody::Interest(_) | NetworkBody::OAM(_) => true,
        NetworkBody::Push(_)
        | NetworkBody::Request(_)
        | NetworkBody::Response(_)
        | NetworkBody::ResponseFinal(_) => false,
    }
}

/// Tells whether a fragmented message is acceptable, by its first byte, which the first fragment holds.
fn begins_declaration(fragment: &Fragment) -> bool {
    let head = fragment.payload.as_slice().first().map(|head| imsg::mid(*head));
    fragment.ext_first.is_some()
        && !matches!(head, Some(id::PUSH | id::REQUEST | id::RESPONSE | id::RESPONSE_FINAL))
}

#[cfg(test)]
mod tests;
