// SPDX-License-Identifier: Apache-2.0
//! Requests and answers over the console that the guests share (services/debug/include/debug_abi.h).

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
const MAX_LENGTH: usize = 2 * (2 + DATA + 4);

/// Interval after which a request without an answer is repeated. A busy guest or host may delay
/// answers.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);
const TRIES: u32 = 60;

/// Output that signals that the hypervisor runs. Requests before it would be lost in part by the
/// firmware, and a guest would receive the rest as input.
const BANNER: &[u8] = b"Tessera on ";
const BOOT_TIMEOUT: Duration = Duration::from_secs(60);
const EXIT_DELAY: Duration = Duration::from_millis(500);

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
    /// The error code of the hypervisor's answer.
    Refused(u8),
    /// The VM is in its backoff before the next start.
    WaitsForRestart,
    /// No answer, or an invalid one.
    NoAnswer,
    /// The machine has ended.
    Ended,
    Io(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let text = match self {
            Error::Refused(ERR_FRAME) => "the request was corrupted",
            Error::Refused(2) => "the hypervisor does not support the operation",
            Error::Refused(3) => "the system has no VM of that name",
            Error::Refused(4) => "the VM is stopped",
            Error::Refused(5) => "the session has ended (is another debugger attached?)",
            Error::Refused(6) => "the VM is running",
            Error::Refused(7) => "the VCPU is off",
            Error::Refused(8) => "no such register, or the register is read-only",
            Error::Refused(9) => "not in the VM's memory",
            Error::Refused(10) => "the request has the wrong size",
            Error::Refused(_) => "refused",
            Error::WaitsForRestart => {
                "the VM waits for its restart (select the VM by its key and press Ctrl-T g to start it at once)"
            }
            Error::NoAnswer => "the hypervisor does not answer (was it built with the component `debug`?)",
            Error::Ended => "the machine has ended",
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

fn checksum(bytes: &[u8]) -> u32 {
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

/// The console input of a request.
pub fn frame(sequence: u8, operation: u8, vcpu: u8, count: u8, address: u64, data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![sequence, operation, vcpu, count];
    bytes.extend(address.to_le_bytes());
    bytes.extend(data);
    bytes.extend(checksum(&bytes).to_le_bytes());
    let mut text = vec![ESCAPE, KEY];
    text.extend(hex(&bytes).into_bytes());
    text.push(END);
    text
}

fn answer(text: &[u8]) -> Option<Answer> {
    let bytes = unhex(text)?;
    let (body, sum) = bytes.split_at(bytes.len().checked_sub(4)?);
    if body.len() < 2 || checksum(body).to_le_bytes() != *sum {
        return None;
    }
    Some(Answer { sequence: body[0], error: body[1], data: body[2..].to_vec() })
}

/// Separates answers from the console's output. Answers start with the session's secret mark, so
/// that guests cannot forge them, and an unfinished escape sequence of a guest does not hide them.
pub struct Demux {
    mark: Vec<u8>,
    /// Output that may be the start of an answer.
    held: Vec<u8>,
}

impl Demux {
    pub fn new(nonce: u64) -> Self {
        let mut mark = MARK.to_vec();
        mark.extend(hex(&nonce.to_le_bytes()).into_bytes());
        Demux { mark, held: Vec::new() }
    }

    /// Processes a byte of output; appends completed data to `text` or `answers`.
    pub fn feed(&mut self, byte: u8, text: &mut Vec<u8>, answers: &mut Vec<Answer>) {
        let at = self.held.len();
        if at < self.mark.len() {
            if byte == self.mark[at] {
                self.held.push(byte);
                return;
            }
            // Only the first byte of a mark is an escape, so that no later held byte can start a
            // mark.
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
        } else if body.len() > MAX_LENGTH + 2 {
            self.held.clear();
        }
    }
}

/// Forwards the user's input to the machine. An escape key and the key after it are sent together,
/// so that no request separates them.
pub struct Keys {
    to: Arc<Mutex<File>>,
    escape: bool,
}

impl Keys {
    pub fn send_key(&mut self, key: u8) -> io::Result<()> {
        if key == ESCAPE && !self.escape {
            self.escape = true;
            return Ok(());
        }
        let keys = if self.escape { vec![ESCAPE, key] } else { vec![key] };
        self.escape = false;
        self.to.lock().expect("no thread panics with the lock held").write_all(&keys)
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
    /// Creates a link over the console with output `from` and input `to`; output other than answers
    /// goes to `show`.
    pub fn new(from: File, to: File, show: impl Write + Send + 'static) -> io::Result<Self> {
        let mut nonce = [0; 8];
        File::open("/dev/urandom")?.read_exact(&mut nonce)?;
        let nonce = u64::from_le_bytes(nonce);
        let (found, answers) = channel();
        let (up, is_up) = channel();
        thread::spawn(move || {
            let done = read_console(from, show, nonce, &found, &up);
            if let Err(error) = &done {
                let _ = writeln!(io::stderr(), "tessera-gdb: the console: {error}");
            }
            drop((found, up));
            thread::sleep(EXIT_DELAY); // lets a thread that waits for an answer report the end
            std::process::exit(i32::from(done.is_err()));
        });
        let _ = is_up.recv_timeout(BOOT_TIMEOUT);
        Ok(Link { to: Arc::new(Mutex::new(to)), answers, nonce, sequence: 0, event: false })
    }

    pub fn keys(&self) -> Keys {
        Keys { to: Arc::clone(&self.to), escape: false }
    }

    /// Attaches to the VM; returns its number of VCPUs.
    pub fn attach(&mut self, name: &str) -> Result<u8, Error> {
        let about = self.request(Operation::Attach, 0, 0, self.nonce, name.as_bytes())?;
        if about.len() < 2 || about[0] != VERSION {
            return Err(Error::NoAnswer);
        }
        Ok(about[1])
    }

    /// Sends a request and waits for the answer.
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
            self.to.lock().expect("no thread panics with the lock held").write_all(&request)?;
            match self.wait_answer(Instant::now() + RETRY_INTERVAL) {
                Ok(answer) if answer.error == 0 => return Ok(answer.data),
                Ok(answer) => return Err(Error::Refused(answer.error)),
                Err(Error::NoAnswer) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::NoAnswer)
    }

    fn wait_answer(&mut self, until: Instant) -> Result<Answer, Error> {
        loop {
            match self.answers.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(answer) if answer.sequence == self.sequence => return Ok(answer),
                Ok(answer) if answer.sequence == EVENT && answer.error == ERR_FRAME => return Err(Error::NoAnswer),
                Ok(answer) => self.event |= answer.sequence == EVENT,
                Err(RecvTimeoutError::Timeout) => return Err(Error::NoAnswer),
                Err(RecvTimeoutError::Disconnected) => return Err(Error::Ended),
            }
        }
    }

    /// Waits for an event up to the given time; true if one occurred.
    pub fn wait_event(&mut self, time: Duration) -> Result<bool, Error> {
        match self.answers.recv_timeout(if self.event { Duration::ZERO } else { time }) {
            Ok(answer) => self.event |= answer.sequence == EVENT,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(Error::Ended),
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
        text.extend(hex(&checksum(bytes).to_le_bytes()).into_bytes());
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
    fn an_answer_forged_by_a_guest_is_text() {
        let forged = answer_text(8, &[3, 0, 1, 2]);
        let open = b"\x1b_t0700".to_vec();
        let input = [forged.clone(), open.clone(), answer_text(7, &[4, 0])].concat();
        let (text, answers) = sort(7, &input);
        assert_eq!(text, [forged, open].concat());
        assert_eq!(answers, [Answer { sequence: 4, error: 0, data: vec![] }]);
    }

    #[test]
    fn a_corrupted_answer_is_ignored() {
        let mut input = answer_text(7, &[3, 0, 1, 2]);
        let at = input.len() - 12;
        input[at] ^= 1;
        assert_eq!(sort(7, &input).1, []);
        assert_eq!(sort(7, &[answer_text(7, &[9])[..19].to_vec(), vec![b'0'; 400]].concat()).1, []);
        assert_eq!(answer(b""), None);
        assert_eq!(answer(b"zz"), None);
    }

    #[test]
    fn a_frame_has_the_format_of_the_abi() {
        let text = frame(1, 2, 3, 4, 5, &[6]);
        assert_eq!(text[..2], [ESCAPE, KEY]);
        let bytes = unhex(&text[2..text.len() - 1]).unwrap();
        assert_eq!(bytes[..13], [1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 0, 0, 6]);
        assert_eq!(bytes[13..], checksum(&bytes[..13]).to_le_bytes());
        assert_eq!(checksum(&[1, 2]), 0x0004_0003);
    }
}
