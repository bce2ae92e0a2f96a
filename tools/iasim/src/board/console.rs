// SPDX-License-Identifier: Apache-2.0
//! The terminal on the serial line: output, and input with the time at which the machine took each
//! byte, so that a run can be repeated exactly.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

/// Clocks between two polls of a live terminal.
const POLL_INTERVAL: u64 = 20_000;

/// Result of waiting for input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waited {
    Received,
    /// No input within the timeout.
    TimedOut,
    /// No input will arrive: the terminal is closed or was never connected.
    Closed,
}

pub struct Console {
    out: Box<dyn Write>,
    /// The first error because of which output is incomplete.
    output_error: Option<io::Error>,
    /// Input not yet taken; each byte with its earliest time.
    typed: VecDeque<(u64, u8)>,
    live: Option<Receiver<u8>>,
    next_poll: u64,
    record: Option<Box<dyn Write>>,
    /// The error because of which the record is incomplete.
    record_error: Option<io::Error>,
    /// Limit of a wait for input; None: no limit.
    pub input_timeout: Option<Duration>,
}

impl Default for Console {
    fn default() -> Self {
        Console::new(Box::new(io::sink()))
    }
}

impl Console {
    pub fn new(out: Box<dyn Write>) -> Self {
        Console {
            out,
            output_error: None,
            typed: VecDeque::new(),
            live: None,
            next_poll: 0,
            record: None,
            record_error: None,
            input_timeout: None,
        }
    }

    /// Queues input bytes, each with its earliest time.
    pub fn queue_input(&mut self, typed: impl IntoIterator<Item = (u64, u8)>) {
        self.typed.extend(typed);
    }

    /// Reads input from standard input in a thread.
    pub fn read_stdin(&mut self) {
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let bytes = io::stdin().lock().bytes().map_while(Result::ok);
            bytes.into_iter().all(|byte| sender.send(byte).is_ok())
        });
        self.live = Some(receiver);
    }

    /// Records every byte that the machine takes, one line each: its time and value.
    pub fn record_to(&mut self, to: Box<dyn Write>) {
        self.record = Some(to);
    }

    /// The error because of which the record is incomplete.
    pub fn record_error(&self) -> Option<&io::Error> {
        self.record_error.as_ref()
    }

    /// The error because of which output is incomplete; it ends the run.
    pub fn output_error(&self) -> Option<&io::Error> {
        self.output_error.as_ref()
    }

    /// Writes a byte of output.
    pub fn put(&mut self, byte: u8) {
        let written = self.out.write_all(&[byte]);
        self.output_error = self.output_error.take().or(written.err());
        if byte == b'\n' {
            self.flush();
        }
    }

    pub fn flush(&mut self) {
        let written = self.out.flush();
        self.output_error = self.output_error.take().or(written.err());
        if let Some(record) = &mut self.record {
            self.record_error = self.record_error.take().or(record.flush().err());
        }
    }

    /// The next input byte, if its time has come. A device calls this when it has space for a byte.
    pub fn take(&mut self, now: u64) -> Option<u8> {
        self.poll(now);
        let (at, byte) = *self.typed.front()?;
        if at > now {
            return None;
        }
        self.typed.pop_front();
        if let Some(record) = &mut self.record {
            self.record_error = self.record_error.take().or(writeln!(record, "{now} {byte}").err());
        }
        Some(byte)
    }

    fn poll(&mut self, now: u64) {
        let Some(live) = &self.live else { return };
        if now < self.next_poll {
            return;
        }
        self.next_poll = now + POLL_INTERVAL;
        match live.try_recv() {
            Ok(byte) => self.typed.push_back((now, byte)),
            Err(TryRecvError::Empty) => self.flush(),
            Err(TryRecvError::Disconnected) => self.live = None,
        }
    }

    /// The earliest time at which a byte may be available.
    pub fn next(&self) -> u64 {
        let live = if self.live.is_some() { self.next_poll } else { u64::MAX };
        self.typed.front().map_or(live, |(at, _)| (*at).min(live))
    }

    /// Waits for a byte from the terminal.
    pub fn wait(&mut self) -> Waited {
        self.flush();
        let Some(live) = &self.live else { return Waited::Closed };
        let byte = match self.input_timeout {
            Some(input_timeout) => live.recv_timeout(input_timeout),
            None => live.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match byte {
            Ok(byte) => {
                self.typed.push_back((0, byte));
                Waited::Received
            }
            Err(RecvTimeoutError::Timeout) => Waited::TimedOut,
            Err(RecvTimeoutError::Disconnected) => {
                self.live = None;
                Waited::Closed
            }
        }
    }
}

/// Parses a record; an error is one line.
pub fn parse_record(text: &str) -> Result<Vec<(u64, u8)>, String> {
    let line = |(n, line): (usize, &str)| {
        let fields = line.split_once(' ').and_then(|(at, byte)| Some((at.parse().ok()?, byte.parse().ok()?)));
        fields.ok_or(format!("line {}: '{line}' is not a time and a byte", n + 1))
    };
    text.lines().enumerate().map(line).collect()
}
