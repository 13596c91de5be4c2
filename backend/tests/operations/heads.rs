//! Heads of requests on a real connection.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use crate::program::Place;

#[test]
fn a_request_of_http_1_1_names_one_host() {
    let place = Place::new();
    let running = place.serve(&[]);
    for (head, status) in [
        ("HTTP/1.1\r\nHost: link.example\r\n", 200),
        ("HTTP/1.1\r\n", 400),
        ("HTTP/1.1\r\nHost: link.example\r\nHost: other.example\r\n", 400),
        ("HTTP/1.0\r\n", 200),
    ] {
        let mut stream = TcpStream::connect(&running.address).unwrap();
        let request = format!("GET /healthz {head}Connection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let said = answer.split(' ').nth(1);
        assert_eq!(said, Some(status.to_string().as_str()), "{head:?}: {answer}");
        assert_eq!(answer.contains("exactly one Host header"), status == 400, "{answer}");
    }
}
