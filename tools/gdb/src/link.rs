// SPDX-License-Identifier: Apache-2.0
//! Requests and answers over the console that the guests share (debug/include/debug_abi.h).

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

pub const VERSION: u8 = 1;
pub const DATA: usize = 32;
pub const ALL: u8 = 0xff;
const ESCAPE: u8 = 0x14;
const KEY: u8 = b'd';
const END: u8 = b'\r';
const MARK: &[u8] = b"\x1b_t";
const EVENT: u8 = 0;
const ERR_FRAME: u8 = 1;
const LONGEST: usize = 2 * (2 + DATA + 4);

/// A guest that keeps the machine busy, or a host that is, delays an answer; one that was lost is asked for again.
const AGAIN: Duration = Duration::from_millis(500);
const TRIES: u32 = 60;

/// Nothing is typed before the hypervisor says that it is there, for the firmware would lose the beginning, and the rest
/// be taken for a guest's.
const BANNER: &[u8] = b"Tessera on ";
const BOOT: Duration = Duration::from_secs(60);
const PARTING: Duration = Duration::from_millis(500);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Attach = 0,
    Detach = 1,
    Status = 2,
    Stop = 3,
    Continue = 4,
    Get = 5,
    Set = 6,
    Read = 7,
    Write = 8,
    Restart = 9,
    Off = 10,
    Exception = 11,
}

#[derive(Debug)]
pub enum Error {
    /// What the hypervisor answered.
    Refused(u8),
    /// The VM is in a pause before its next start.
    Waits,
    /// No answer at all, or none that makes sense.
    Silent,
    /// The machine has ended.
    Gone,
    Io(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let text = match self {
            Error::Refused(ERR_FRAME) => "the request was garbled",
            Error::Refused(2) => "the hypervisor knows no such operation",
            Error::Refused(3) => "the system has no VM of that name",
            Error::Refused(4) => "the VM is stopped",
            Error::Refused(5) => "the session has ended (is there another debugger?)",
            Error::Refused(6) => "the VM is running",
            Error::Refused(7) => "the VCPU is off",
            Error::Refused(8) => "no such register, or it cannot be written",
            Error::Refused(9) => "not the VM's memory",
            Error::Refused(10) => "the request has the wrong size",
            Error::Refused(_) => "refused",
            Error::Waits => "the VM waits for its restart (its key, then Ctrl-T g, starts it at once)",
            Error::Silent => "the hypervisor does not answer (was it built with the room `debug`?)",
            Error::Gone => "the machine has ended",
            Error::Io(error) => return write!(f, "{error}"),
        };
        f.write_str(text)
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Error::Io(error)
    }
}

#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    pub sequence: u8,
    pub error: u8,
    pub data: Vec<u8>,
}

fn check(bytes: &[u8]) -> u32 {
    let mut low = 0u16;
    let mut high = 0u16;
    for byte in bytes {
        low = low.wrapping_add(u16::from(*byte));
        high = high.wrapping_add(low);
    }
    u32::from(high) << 16 | u32::from(low)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |c: u8| (c as char).to_digit(16).map(|value| value as u8);
    if text.len() % 2 != 0 {
        return None;
    }
    text.chunks(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

/// What is typed for a request.
pub fn frame(sequence: u8, operation: u8, vcpu: u8, count: u8, address: u64, data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![sequence, operation, vcpu, count];
    bytes.extend(address.to_le_bytes());
    bytes.extend(data);
    bytes.extend(check(&bytes).to_le_bytes());
    let mut text = vec![ESCAPE, KEY];
    text.extend(hex(&bytes).into_bytes());
    text.push(END);
    text
}

fn answer(text: &[u8]) -> Option<Answer> {
    let bytes = unhex(text)?;
    let (body, sum) = bytes.split_at(bytes.len().checked_sub(4)?);
    if body.len() < 2 || check(body).to_le_bytes() != *sum {
        return None;
    }
    Some(Answer { sequence: body[0], error: body[1], data: body[2..].to_vec() })
}

/// Takes the answers out of what the console prints. Only what begins with the session's own mark is one: guests print
/// what they like, and an escape sequence that they leave open does not hide an answer either.
pub struct Demux {
    mark: Vec<u8>,
    /// The beginning of what may become an answer.
    held: Vec<u8>,
}

impl Demux {
    pub fn new(nonce: u64) -> Self {
        let mut mark = MARK.to_vec();
        mark.extend(hex(&nonce.to_le_bytes()).into_bytes());
        Demux { mark, held: Vec::new() }
    }

    /// Appends what `byte` completes to the console's text or to the answers.
    pub fn feed(&mut self, byte: u8, text: &mut Vec<u8>, answers: &mut Vec<Answer>) {
        let at = self.held.len();
        if at < self.mark.len() {
            if byte == self.mark[at] {
                self.held.push(byte);
                return;
            }
            // Only its first byte is an escape, so that nothing else of what was held can begin a mark.
            text.append(&mut self.held);
            if byte == self.mark[0] {
                self.held.push(byte);
            } else {
                text.push(byte);
            }
            return;
        }
        self.held.push(byte);
        let body = &self.held[self.mark.len()..];
        if let Some(digits) = body.strip_suffix(b"\x1b\\") {
            answers.extend(answer(digits));
            self.held.clear();
        } else if body.len() > LONGEST + 2 {
            self.held.clear();
        }
    }
}

/// Keys that a person types, on their way to the machine beside our requests: an escape key and what follows it are not
/// to be torn apart by one.
pub struct Keys {
    to: Arc<Mutex<File>>,
    escape: bool,
}

impl Keys {
    pub fn type_key(&mut self, key: u8) -> io::Result<()> {
        if key == ESCAPE && !self.escape {
            self.escape = true;
            return Ok(());
        }
        let keys = if self.escape { vec![ESCAPE, key] } else { vec![key] };
        self.escape = false;
        self.to.lock().expect("nobody panics with it").write_all(&keys)
    }
}

pub struct Link {
    to: Arc<Mutex<File>>,
    answers: Receiver<Answer>,
    nonce: u64,
    sequence: u8,
    event: bool,
}

fn read_console(
    mut from: File,
    mut show: impl Write,
    nonce: u64,
    found: &Sender<Answer>,
    up: &Sender<()>,
) -> io::Result<()> {
    let mut demux = Demux::new(nonce);
    let mut chunk = [0; 65536];
    let mut start: Option<Vec<u8>> = Some(Vec::new());
    loop {
        let size = from.read(&mut chunk)?;
        if size == 0 {
            return Ok(());
        }
        let (mut text, mut answers) = (Vec::new(), Vec::new());
        for byte in &chunk[..size] {
            demux.feed(*byte, &mut text, &mut answers);
        }
        for one in answers {
            let _ = found.send(one);
        }
        if let Some(seen) = &mut start {
            seen.extend(&text);
            if seen.windows(BANNER.len()).any(|window| window == BANNER) {
                let _ = up.send(());
                start = None;
            }
        }
        show.write_all(&text)?;
        show.flush()?;
    }
}

impl Link {
    /// Talks over the console whose output is `from` and whose keyboard is `to`; what is not for us goes to `show`.
    pub fn new(from: File, to: File, show: impl Write + Send + 'static) -> io::Result<Self> {
        let mut nonce = [0; 8];
        File::open("/dev/urandom")?.read_exact(&mut nonce)?;
        let nonce = u64::from_le_bytes(nonce);
        let (found, answers) = channel();
        let (up, is_up) = channel();
        thread::spawn(move || {
            if let Err(error) = read_console(from, show, nonce, &found, &up) {
                eprintln!("tessera-gdb: the console: {error}");
            }
            drop((found, up));
            thread::sleep(PARTING); // for whoever waits for an answer to see that none comes
            std::process::exit(0);
        });
        let _ = is_up.recv_timeout(BOOT);
        Ok(Link { to: Arc::new(Mutex::new(to)), answers, nonce, sequence: 0, event: false })
    }

    pub fn keys(&self) -> Keys {
        Keys { to: Arc::clone(&self.to), escape: false }
    }

    /// Attaches to the VM; returns how many VCPUs it has.
    pub fn attach(&mut self, name: &str) -> Result<u8, Error> {
        let about = self.request(Operation::Attach, 0, 0, self.nonce, name.as_bytes())?;
        if about.len() < 2 || about[0] != VERSION {
            return Err(Error::Silent);
        }
        Ok(about[1])
    }

    /// Asks, and waits for the answer.
    pub fn request(
        &mut self,
        operation: Operation,
        vcpu: u8,
        count: u8,
        address: u64,
        data: &[u8],
    ) -> Result<Vec<u8>, Error> {
        self.sequence = self.sequence % 255 + 1;
        let request = frame(self.sequence, operation as u8, vcpu, count, address, data);
        for _ in 0..TRIES {
            self.to.lock().expect("nobody panics with it").write_all(&request)?;
            match self.wait_answer(Instant::now() + AGAIN) {
                Ok(answer) if answer.error == 0 => return Ok(answer.data),
                Ok(answer) => return Err(Error::Refused(answer.error)),
                Err(Error::Silent) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::Silent)
    }

    fn wait_answer(&mut self, until: Instant) -> Result<Answer, Error> {
        loop {
            match self.answers.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(answer) if answer.sequence == self.sequence => return Ok(answer),
                Ok(answer) if answer.sequence == EVENT && answer.error == ERR_FRAME => return Err(Error::Silent),
                Ok(answer) => self.event |= answer.sequence == EVENT,
                Err(RecvTimeoutError::Timeout) => return Err(Error::Silent),
                Err(RecvTimeoutError::Disconnected) => return Err(Error::Gone),
            }
        }
    }

    /// Waits for an event, at most so long. True if there was one.
    pub fn wait_event(&mut self, time: Duration) -> Result<bool, Error> {
        match self.answers.recv_timeout(if self.event { Duration::ZERO } else { time }) {
            Ok(answer) => self.event |= answer.sequence == EVENT,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(Error::Gone),
        }
        Ok(std::mem::take(&mut self.event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer_text(nonce: u64, bytes: &[u8]) -> Vec<u8> {
        let mut text = MARK.to_vec();
        text.extend(hex(&nonce.to_le_bytes()).into_bytes());
        text.extend(hex(bytes).into_bytes());
        text.extend(hex(&check(bytes).to_le_bytes()).into_bytes());
        text.extend(b"\x1b\\");
        text
    }

    fn sort(nonce: u64, input: &[u8]) -> (Vec<u8>, Vec<Answer>) {
        let mut demux = Demux::new(nonce);
        let (mut text, mut answers) = (Vec::new(), Vec::new());
        for byte in input {
            demux.feed(*byte, &mut text, &mut answers);
        }
        (text, answers)
    }

    #[test]
    fn answers_are_taken_out_of_the_text() {
        let input = [b"one \x1b".to_vec(), answer_text(7, &[3, 0, 1, 2]), b"\x1b[0m two".to_vec()].concat();
        let (text, answers) = sort(7, &input);
        assert_eq!(text, b"one \x1b\x1b[0m two");
        assert_eq!(answers, [Answer { sequence: 3, error: 0, data: vec![1, 2] }]);
    }

    #[test]
    fn what_a_guest_forges_is_text() {
        let forged = answer_text(8, &[3, 0, 1, 2]);
        let open = b"\x1b_t0700".to_vec();
        let input = [forged.clone(), open.clone(), answer_text(7, &[4, 0])].concat();
        let (text, answers) = sort(7, &input);
        assert_eq!(text, [forged, open].concat());
        assert_eq!(answers, [Answer { sequence: 4, error: 0, data: vec![] }]);
    }

    #[test]
    fn a_garbled_answer_is_none() {
        let mut input = answer_text(7, &[3, 0, 1, 2]);
        let at = input.len() - 12;
        input[at] ^= 1;
        assert_eq!(sort(7, &input).1, []);
        assert_eq!(sort(7, &[answer_text(7, &[9])[..19].to_vec(), vec![b'0'; 400]].concat()).1, []);
        assert_eq!(answer(b""), None);
        assert_eq!(answer(b"zz"), None);
    }

    #[test]
    fn a_frame_is_what_the_hypervisor_reads() {
        let text = frame(1, 2, 3, 4, 5, &[6]);
        assert_eq!(text[..2], [ESCAPE, KEY]);
        let bytes = unhex(&text[2..text.len() - 1]).unwrap();
        assert_eq!(bytes[..13], [1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 0, 0, 6]);
        assert_eq!(bytes[13..], check(&bytes[..13]).to_le_bytes());
        assert_eq!(check(&[1, 2]), 0x0004_0003);
    }
}
