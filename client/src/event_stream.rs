//! Parses server-sent events from bytes that arrive in pieces of any size.

/// A parser of incoming events.
#[derive(Debug, Default)]
pub(crate) struct EventStream {
    /// The bytes of an incomplete line.
    bytes: Vec<u8>,
    /// The number of those bytes already searched for the end of the line.
    read: usize,
    event: Event,
}

/// An event with data.
#[derive(Debug, Default, Eq, PartialEq)]
pub(crate) struct Event {
    /// The type of the event; empty if the event has none.
    pub(crate) kind: String,
    pub(crate) data: String,
}

impl EventStream {
    /// Adds received bytes.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.bytes.drain(..std::mem::take(&mut self.read));
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the next complete event, if there is one.
    pub(crate) fn take(&mut self) -> Option<Event> {
        while let Some(line) = self.line() {
            if let Some(event) = self.read(&line) {
                return Some(event);
            }
        }
        None
    }

    /// Returns the size of the incomplete event, in bytes.
    pub(crate) fn waiting(&self) -> usize {
        self.bytes.len() - self.read + self.event.data.len()
    }

    /// Adds a line. Returns the event that the line completes.
    fn read(&mut self, line: &str) -> Option<Event> {
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            return (!event.data.is_empty()).then_some(event);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event.kind),
            "data" => {
                if !self.event.data.is_empty() {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            // A comment, or a field of a later version.
            _ => {}
        }
        None
    }

    fn line(&mut self) -> Option<String> {
        let rest = &self.bytes[self.read..];
        let end = rest.iter().position(|byte| *byte == b'\n')?;
        let line = &rest[..end];
        self.read += end + 1;
        Some(String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_however_their_bytes_arrive() {
        let text = ": alive\n\nevent: other\ndata: 0\n\nid: 7\nevent: state\r\ndata: {\"ü\":\n\
                    data:1}\r\n\r\nevent: state\ndata: 2\n\ndata: 3\n\nevent: state\ndata: cut";
        let expected = [("other", "0"), ("state", "{\"ü\":\n1}"), ("state", "2"), ("", "3")];
        for size in [1, 2, 3, 7, text.len()] {
            let read = read(text.as_bytes(), size);
            let read: Vec<_> = read.iter().map(|e| (e.kind.as_str(), e.data.as_str())).collect();
            assert_eq!(read, expected, "{size}");
        }
    }

    fn read(bytes: &[u8], size: usize) -> Vec<Event> {
        let mut events = EventStream::default();
        let mut read = Vec::new();
        for chunk in bytes.chunks(size) {
            events.add(chunk);
            read.extend(std::iter::from_fn(|| events.take()));
        }
        read
    }
}
