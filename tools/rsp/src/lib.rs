// SPDX-License-Identifier: Apache-2.0
//! A connection between GDB and gdbstub that passes on only packets which gdbstub can serve. gdbstub
//! ends the session at any other packet, and the program then runs on without its breakpoints. Here
//! such a packet gets an answer: an empty one if it is unknown, or else an error. tests/session.rs
//! compares the filter with gdbstub by random packets.

#![forbid(unsafe_code)]

mod packet;

use std::collections::VecDeque;

use gdbstub::conn::{Connection, ConnectionExt};

pub use packet::Layout;
use packet::Verdict;

/// Size of gdbstub's packet buffer, which it announces to GDB.
const PACKET: usize = 4096;
const FRAME: usize = "$#00".len();
const INTERRUPT: u8 = 3;
const NO_ACK: &[u8] = b"QStartNoAckMode";
/// The step of the thread that `Hc` names; packet.rs has removed its address.
const STEP: &[u8] = b"s";

fn framed(body: &[u8]) -> Vec<u8> {
    let sum = body.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    [b"$", body, format!("#{sum:02x}").as_bytes()].concat()
}

/// The body of a complete packet whose checksum is right.
fn body(packet: &[u8]) -> Option<&[u8]> {
    let body = &packet[1..packet.len() - 3];
    framed(body).eq_ignore_ascii_case(packet).then_some(body)
}

pub struct Filter<C> {
    connection: C,
    layout: Layout,
    /// Whether the last `Hc` named all threads of several, which gdbstub cannot step at once.
    resumes_all: bool,
    /// The packet that is being received, from its `$`; empty between packets.
    packet: Vec<u8>,
    /// Bytes of the packet that arrived, also of one that is too long to store.
    length: usize,
    /// The number of checksum digits still to come; None before the packet's `#`.
    digits: Option<u8>,
    /// Bytes for gdbstub.
    passed: VecDeque<u8>,
    /// The last answer, for GDB's request to repeat it.
    answer: Vec<u8>,
    acknowledge: bool,
}

impl<C: ConnectionExt> Filter<C> {
    pub fn new(connection: C, layout: Layout) -> Self {
        Filter {
            connection,
            layout,
            resumes_all: false, // gdbstub resumes thread 1 before the first Hc
            packet: Vec::new(),
            length: 0,
            digits: None,
            passed: VecDeque::new(),
            answer: Vec::new(),
            acknowledge: true,
        }
    }

    fn feed(&mut self, byte: u8) -> Result<(), C::Error> {
        match byte {
            b'$' => self.start(),
            _ if self.length > 0 => return self.collect(byte),
            INTERRUPT => self.passed.push_back(byte),
            b'-' => return self.connection.write_all(&self.answer),
            _ => {} // an acknowledgement, or noise
        }
        Ok(())
    }

    /// Within a packet, `$` is escaped; another one is therefore the start of the next packet.
    fn start(&mut self) {
        self.packet = vec![b'$'];
        self.length = 1;
        self.digits = None;
    }

    fn collect(&mut self, byte: u8) -> Result<(), C::Error> {
        self.length += 1;
        if self.length <= PACKET {
            self.packet.push(byte);
        }
        match (self.digits, byte) {
            (None, b'#') => self.digits = Some(2),
            (None, _) => {}
            (Some(2), _) => self.digits = Some(1),
            (Some(_), _) => return self.finish(),
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), C::Error> {
        let (packet, length) = (std::mem::take(&mut self.packet), std::mem::take(&mut self.length));
        if length > PACKET {
            return self.reply(b"E01");
        }
        match body(&packet) {
            None if self.acknowledge => self.connection.write(b'-'),
            None => self.reply(b"E01"),
            Some(body) => self.judge(body),
        }
    }

    fn judge(&mut self, body: &[u8]) -> Result<(), C::Error> {
        match self.layout.judge(body) {
            Verdict::Unknown => self.reply(b""),
            Verdict::Malformed => self.reply(b"E01"),
            Verdict::Served(body) if self.resumes_all && body == STEP => self.reply(b"E01"),
            Verdict::Served(body) => {
                self.resumes_all = self.layout.resumes_all(&body).unwrap_or(self.resumes_all);
                self.passed.extend(framed(&body));
                // gdbstub acknowledges this packet still.
                self.acknowledge &= body != NO_ACK;
                Ok(())
            }
        }
    }

    /// Answers a packet in gdbstub's place.
    fn reply(&mut self, body: &[u8]) -> Result<(), C::Error> {
        if self.acknowledge {
            self.connection.write(b'+')?;
        }
        self.answer = framed(body);
        self.connection.write_all(&self.answer)?;
        self.connection.flush()
    }

    fn note_answer(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                b'$' => self.answer = vec![b'$'],
                _ if self.answer.is_empty() => {}
                _ => self.answer.push(*byte),
            }
        }
    }
}

impl<C: ConnectionExt> Connection for Filter<C> {
    type Error = C::Error;

    fn write(&mut self, byte: u8) -> Result<(), C::Error> {
        self.write_all(&[byte])
    }

    fn write_all(&mut self, bytes: &[u8]) -> Result<(), C::Error> {
        self.note_answer(bytes);
        self.connection.write_all(bytes)
    }

    fn flush(&mut self) -> Result<(), C::Error> {
        self.connection.flush()
    }

    fn on_session_start(&mut self) -> Result<(), C::Error> {
        self.connection.on_session_start()
    }
}

impl<C: ConnectionExt> ConnectionExt for Filter<C> {
    fn read(&mut self) -> Result<u8, C::Error> {
        loop {
            if let Some(byte) = self.passed.pop_front() {
                return Ok(byte);
            }
            let byte = self.connection.read()?;
            self.feed(byte)?;
        }
    }

    fn peek(&mut self) -> Result<Option<u8>, C::Error> {
        while self.passed.is_empty() && self.connection.peek()?.is_some() {
            let byte = self.connection.read()?;
            self.feed(byte)?;
        }
        Ok(self.passed.front().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A connection in memory: what GDB sends, and what it gets.
    struct Wire(VecDeque<u8>, Vec<u8>);

    impl Connection for Wire {
        type Error = ();

        fn write(&mut self, byte: u8) -> Result<(), ()> {
            self.1.push(byte);
            Ok(())
        }

        fn flush(&mut self) -> Result<(), ()> {
            Ok(())
        }
    }

    impl ConnectionExt for Wire {
        fn read(&mut self) -> Result<u8, ()> {
            self.0.pop_front().ok_or(())
        }

        fn peek(&mut self) -> Result<Option<u8>, ()> {
            Ok(self.0.front().copied())
        }
    }

    /// What gdbstub and GDB get.
    fn pass(sent: &[u8]) -> (String, String) {
        let layout = Layout { address: 4, registers: 4, threads: true };
        let mut filter = Filter::new(Wire(sent.iter().copied().collect(), Vec::new()), layout);
        let mut passed = Vec::new();
        while filter.peek() != Ok(None) {
            passed.push(filter.read().unwrap());
        }
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        (text(passed), text(filter.connection.1))
    }

    #[test]
    fn only_whole_and_valid_packets_pass() {
        let long = [b"$M0,1000:".as_slice(), &[b'0'; 5000], b"#00"].concat();
        let cases: [(&[u8], &str, &str); 9] = [
            (b"+$?#3f", "$?#3f", ""),
            (b"$?#00", "", "-"),
            (b"$?#3F\x03", "$?#3f\x03", ""),
            (b"$?", "", ""),
            (b"$m0,$?#3f", "$?#3f", ""),
            (b"$?#00$?#3f", "$?#3f", "-"),
            (b"$m0#9d-", "", "+$E01#a6$E01#a6"),
            (b"$unknown#10", "", "+$#00"),
            (&long, "", "+$E01#a6"),
        ];
        for (sent, to_stub, to_gdb) in cases {
            let (passed, answered) = pass(sent);
            assert_eq!((passed.as_str(), answered.as_str()), (to_stub, to_gdb), "{}", String::from_utf8_lossy(sent));
        }
        // Without acknowledgements there is no request to repeat a damaged packet.
        let (passed, answered) = pass(b"$QStartNoAckMode#b0$?#00$m0#9d");
        assert_eq!((passed.as_str(), answered.as_str()), ("$QStartNoAckMode#b0", "$E01#a6$E01#a6"));
    }

    #[test]
    fn a_step_is_of_one_thread() {
        let cases: [(&[&str], &str, usize); 6] = [
            (&["s"], "s", 0),
            (&["Hc-1", "s", "s0", "c"], "Hc-1 c", 2),
            (&["Hcp1.-1", "Hcp1.2", "s0"], "Hcp1.-1 Hcp1.2 s", 0),
            (&["Hc-1", "Hc0", "s"], "Hc-1 Hc0 s", 0),
            (&["Hc1", "Hcp1.-1", "Hg1", "Hczz", "s"], "Hc1 Hcp1.-1 Hg1", 2),
            (&["Hc-1", "vCont;s:1"], "Hc-1 vCont;s:1", 0),
        ];
        for (sent, served, errors) in cases {
            let (passed, answered) = pass(&sent.iter().flat_map(|body| framed(body.as_bytes())).collect::<Vec<_>>());
            let expected: Vec<_> = served.split(' ').flat_map(|body| framed(body.as_bytes())).collect();
            assert_eq!(passed, String::from_utf8_lossy(&expected), "{sent:?}");
            assert_eq!(answered, "+$E01#a6".repeat(errors), "{sent:?}");
        }
    }
}
