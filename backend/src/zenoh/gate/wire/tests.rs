//! How the gate parses a session: batches that zenoh itself makes, and invalid bytes.

use link_platform::router_socket::RouterSocket;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use zenoh_buffers::writer::HasWriter as _;
use zenoh_codec::WCodec as _;
use zenoh_protocol::{
    core::{Reliability, Resolution, ZenohIdProto},
    network::{Declare, DeclareBody, DeclareFinal, NetworkMessage, declare},
    transport::{Frame, InitSyn, KeepAlive, Oam, fragment, init},
};

use super::*;

#[test]
fn only_a_client_gets_past_the_first_word() {
    assert!(Wire::first(&written(first_word(WhatAmI::Client))).is_ok());
    for whatami in [WhatAmI::Router, WhatAmI::Peer] {
        assert_eq!(Wire::first(&written(first_word(whatami))), Err(Fault::NoClient));
    }
    let mut old = first_word(WhatAmI::Client);
    old.ext_patch = init::ext::PatchType::NONE;
    assert_eq!(Wire::first(&written(old)), Err(Fault::OutOfTurn));
    assert_eq!(Wire::first(&written(KeepAlive)), Err(Fault::OutOfTurn));
    assert!(Wire::first(&ZSlice::from(b"GET / HTTP/1.1\r\n".to_vec())).is_err());
    assert_eq!(Wire::first(&ZSlice::empty()), Err(Fault::Unreadable));
}

#[test]
fn a_first_word_names_the_slot_of_its_session() {
    let id = SessionId::of_slot(7, 0x0102_0304_0506_0708);
    let named = InitSyn { zid: id.to_string().parse().unwrap(), ..first_word(WhatAmI::Client) };
    assert_eq!(Wire::first(&written(named)), Ok(id));
    let short = InitSyn { zid: "7".parse().unwrap(), ..first_word(WhatAmI::Client) };
    assert_eq!(Wire::first(&written(short)).map(SessionId::slot), Ok(None));
}

#[test]
fn a_second_word_names_its_user() {
    let auth = auth("s7");
    assert_eq!(user(opening(Some(auth))), Some("s7".to_owned()));
    assert_eq!(user(opening(None)), None);
    assert_eq!(Wire::opening(&written(first_word(WhatAmI::Client))), Err(Fault::OutOfTurn));
    assert_eq!(Wire::opening(&written(opening(Some(self::auth("s7"))))), Ok("s7".to_owned()));
}

#[test]
fn a_session_declares_a_bounded_number_of_things() {
    let mut wire = Wire::default();
    for _ in 0..DECLARATIONS / 2 {
        assert_eq!(wire.hear(&written(frame(2))), Ok(3));
    }
    assert_eq!(wire.hear(&written(KeepAlive)), Ok(1));
    assert_eq!(wire.hear(&written(frame(1))), Err(Fault::TooManyDeclarations));
}

#[test]
fn a_declaration_in_pieces_counts_and_a_message_in_pieces_does_not() {
    let piece = |head: u8, first: bool| Fragment {
        reliability: Reliability::Reliable,
        more: true,
        sn: 1,
        payload: ZSlice::from(vec![head, 0, 0]),
        ext_qos: fragment::ext::QoSType::DEFAULT,
        ext_first: first.then(fragment::ext::First::new),
        ext_drop: None,
    };
    let mut wire = Wire::default();
    for _ in 0..DECLARATIONS * 2 {
        assert_eq!(wire.hear(&written(piece(id::REQUEST, true))), Ok(1));
        // The bytes after the first fragment are content, even if they look like a message.
        assert_eq!(wire.hear(&written(piece(id::DECLARE, false))), Ok(1));
    }
    for _ in 0..DECLARATIONS {
        assert_eq!(wire.hear(&written(piece(id::DECLARE | 0x20, true))), Ok(1));
    }
    assert_eq!(wire.hear(&written(piece(id::INTEREST, true))), Err(Fault::TooManyDeclarations));
}

#[test]
fn what_routers_say_among_themselves_is_refused() {
    let mut wire = Wire::default();
    assert_eq!(wire.hear(&written(first_word(WhatAmI::Client))), Err(Fault::OutOfTurn));
    let oam = Oam {
        id: 1,
        body: ZExtBody::Unit,
        ext_qos: zenoh_protocol::transport::oam::ext::QoSType::DEFAULT,
    };
    assert_eq!(wire.hear(&written(TransportBody::OAM(oam))), Err(Fault::OutOfTurn));
    assert_eq!(wire.hear(&ZSlice::from(vec![0x1e, 1, 2, 3])), Err(Fault::Unreadable));
    assert_eq!(length([0, 0x40]), Ok(LONGEST));
    assert_eq!(length([1, 0x40]), Err(Fault::TooLong));
}

proptest::proptest! {
    #[test]
    fn no_bytes_break_it(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
        let batch = ZSlice::from(bytes);
        let _read = (Wire::first(&batch), Wire::opening(&batch), Wire::answer(&batch));
        let _heard = Wire::default().hear(&batch);
    }
}

/// The decompression library of zenoh has a known vulnerability (RUSTSEC-2026-0041).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_offers_to_pack_what_it_sends_is_not_taken_up_on_it() {
    let folder = tempfile::tempdir().unwrap();
    let socket = RouterSocket::new(folder.path()).unwrap();
    let mut config = zenoh::Config::default();
    for (key, value) in [
        ("mode", "\"router\"".to_owned()),
        ("scouting/multicast/enabled", "false".to_owned()),
        // Compression stays off even if the configuration enables it.
        ("transport/unicast/compression/enabled", "true".to_owned()),
        ("listen/endpoints", format!("[\"{}\"]", socket.endpoint())),
    ] {
        config.insert_json5(key, &value).unwrap();
    }
    let router = zenoh::open(config).await.unwrap();
    let mut stream = socket.connect().await.unwrap();
    let mut offer = first_word(WhatAmI::Client);
    offer.ext_compression = Some(init::ext::Compression::new());
    let offer = written(offer);
    let length = u16::try_from(offer.as_slice().len()).unwrap();
    stream.write_all(&[&length.to_le_bytes(), offer.as_slice()].concat()).await.unwrap();
    let mut prefix = [0; 2];
    stream.read_exact(&mut prefix).await.unwrap();
    let mut answer = vec![0; usize::from(u16::from_le_bytes(prefix))];
    stream.read_exact(&mut answer).await.unwrap();
    let TransportBody::InitAck(answer) = read(&ZSlice::from(answer)).unwrap().body else {
        panic!("the router answers a first word");
    };
    assert!(answer.ext_compression.is_none(), "nothing is packed");
    drop(stream);
    router.close().await.unwrap();
}

fn first_word(whatami: WhatAmI) -> InitSyn {
    InitSyn {
        version: 9,
        whatami,
        zid: ZenohIdProto::rand(),
        resolution: Resolution::default(),
        batch_size: BUFFER,
        ext_qos: None,
        ext_qos_link: None,
        ext_auth: None,
        ext_mlink: None,
        ext_lowlatency: None,
        ext_compression: None,
        ext_patch: init::ext::PatchType::CURRENT,
        ext_region_name: None,
    }
}

fn opening(ext_auth: Option<zenoh_protocol::transport::open::ext::Auth>) -> OpenSyn {
    OpenSyn {
        lease: std::time::Duration::from_secs(30),
        initial_sn: 1,
        cookie: ZSlice::from(vec![1, 2, 3]),
        ext_qos: None,
        ext_auth,
        ext_mlink: None,
        ext_lowlatency: None,
        ext_compression: None,
        ext_remote_bound: None,
    }
}

/// Names `user` with an answer to the challenge of the router.
fn auth(user: &str) -> zenoh_protocol::transport::open::ext::Auth {
    let codec = Zenoh080::new();
    let mut named = Vec::new();
    codec.write(&mut named.writer(), user.as_bytes()).unwrap();
    codec.write(&mut named.writer(), [1_u8; 32].as_slice()).unwrap();
    let part = ZExtUnknown::new(USER, false, ZExtBody::ZBuf(named.into()));
    let mut parts = Vec::new();
    codec.write(&mut parts.writer(), [part].as_slice()).unwrap();
    zenoh_protocol::transport::open::ext::Auth::new(parts.into())
}

fn frame(declarations: usize) -> Frame {
    let declaration = || NetworkMessage {
        body: NetworkBody::Declare(Declare {
            interest_id: None,
            ext_qos: declare::ext::QoSType::DECLARE,
            ext_tstamp: None,
            ext_nodeid: declare::ext::NodeIdType::DEFAULT,
            body: DeclareBody::DeclareFinal(DeclareFinal),
        }),
        reliability: Reliability::Reliable,
    };
    Frame {
        reliability: Reliability::Reliable,
        sn: 1,
        payload: (0..declarations).map(|_| declaration()).collect(),
        ext_qos: zenoh_protocol::transport::frame::ext::QoSType::DEFAULT,
    }
}

fn written(message: impl Into<TransportMessage>) -> ZSlice {
    let mut bytes = Vec::new();
    Zenoh080::new().write(&mut bytes.writer(), &message.into()).unwrap();
    ZSlice::from(bytes)
}
