// SPDX-License-Identifier: Apache-2.0
//! The other end of the serial line: what is printed, and what is typed, with the time at which the machine took it, so
//! that a run can be repeated exactly.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

/// How often a live terminal is looked at, in clocks.
const LIVE_EVERY: u64 = 20_000;

/// What waiting for somebody to type has come to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waited {
    Typed,
    /// Not for as long as there is patience.
    NotYet,
    /// Nobody ever will.
    Nobody,
}

pub struct Console {
    out: Box<dyn Write>,
    /// What waits to be taken, with the time before which it is not there.
    typed: VecDeque<(u64, u8)>,
    live: Option<Receiver<u8>>,
    look_again: u64,
    record: Option<Box<dyn Write>>,
    /// Why not all of it could be written.
    lost: Option<io::Error>,
    /// For how long to wait for a key; None: for ever.
    pub patience: Option<Duration>,
}

impl Default for Console {
    fn default() -> Self {
        Console::new(Box::new(io::sink()))
    }
}

impl Console {
    pub fn new(out: Box<dyn Write>) -> Self {
        Console { out, typed: VecDeque::new(), live: None, look_again: 0, record: None, lost: None, patience: None }
    }

    /// What is typed, and when it is there at the earliest.
    pub fn types(&mut self, typed: impl IntoIterator<Item = (u64, u8)>) {
        self.typed.extend(typed);
    }

    /// Takes what comes from standard input, as it comes.
    pub fn goes_live(&mut self) {
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let bytes = io::stdin().lock().bytes().map_while(Result::ok);
            bytes.into_iter().all(|byte| sender.send(byte).is_ok())
        });
        self.live = Some(receiver);
    }

    /// Writes down every byte that the machine takes: its time and its value, a line each.
    pub fn records(&mut self, to: Box<dyn Write>) {
        self.record = Some(to);
    }

    /// Why the record is not complete, if it is not.
    pub fn lost(&self) -> Option<&io::Error> {
        self.lost.as_ref()
    }

    /// Output that cannot be written is lost, as on a line that nobody listens to.
    pub fn put(&mut self, byte: u8) {
        let _ = self.out.write_all(&[byte]);
        if byte == b'\n' {
            self.flush();
        }
    }

    pub fn flush(&mut self) {
        let _ = self.out.flush();
        if let Some(record) = &mut self.record {
            let _ = record.flush();
        }
    }

    /// The next byte that is there; a device with room for it calls this.
    pub fn take(&mut self, now: u64) -> Option<u8> {
        self.look(now);
        let (at, byte) = *self.typed.front()?;
        if at > now {
            return None;
        }
        self.typed.pop_front();
        if let Some(record) = &mut self.record {
            self.lost = writeln!(record, "{now} {byte}").err().or(self.lost.take());
        }
        Some(byte)
    }

    fn look(&mut self, now: u64) {
        let Some(live) = &self.live else { return };
        if now < self.look_again {
            return;
        }
        self.look_again = now + LIVE_EVERY;
        match live.try_recv() {
            Ok(byte) => self.typed.push_back((now, byte)),
            Err(TryRecvError::Empty) => self.flush(),
            Err(TryRecvError::Disconnected) => self.live = None,
        }
    }

    /// When there may be a byte to take; for whom has room.
    pub fn next(&self) -> u64 {
        let live = if self.live.is_some() { self.look_again } else { u64::MAX };
        self.typed.front().map_or(live, |(at, _)| (*at).min(live))
    }

    /// Waits for a byte from the terminal.
    pub fn wait(&mut self) -> Waited {
        self.flush();
        let Some(live) = &self.live else { return Waited::Nobody };
        let byte = match self.patience {
            Some(patience) => live.recv_timeout(patience),
            None => live.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match byte {
            Ok(byte) => {
                self.typed.push_back((0, byte));
                Waited::Typed
            }
            Err(RecvTimeoutError::Timeout) => Waited::NotYet,
            Err(RecvTimeoutError::Disconnected) => {
                self.live = None;
                Waited::Nobody
            }
        }
    }
}

/// Reads a record back; what is wrong with it as one line.
pub fn parse_record(text: &str) -> Result<Vec<(u64, u8)>, String> {
    let line = |(n, line): (usize, &str)| {
        let fields = line.split_once(' ').and_then(|(at, byte)| Some((at.parse().ok()?, byte.parse().ok()?)));
        fields.ok_or(format!("line {}: '{line}' is not a time and a byte", n + 1))
    };
    text.lines().enumerate().map(line).collect()
}
