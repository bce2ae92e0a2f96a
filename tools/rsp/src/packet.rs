// SPDX-License-Identifier: Apache-2.0
//! The packets that gdbstub serves (GDB manual, "Packets", "vCont Packets", "General Query Packets"),
//! and the limits of their addresses, lengths, registers and threads.

use crate::{FRAME, PACKET};

/// What differs between targets.
#[derive(Clone, Copy)]
pub struct Layout {
    /// Bytes of an address: 4 or 8.
    pub address: usize,
    /// Bytes of all registers in a `G` packet.
    pub registers: usize,
    /// Whether actions of `vCont` may name threads.
    pub threads: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// gdbstub gets this body.
    Served(Vec<u8>),
    Malformed,
    Unknown,
}

/// The most bytes of memory whose hexadecimal digits fit in a packet.
const MOST: u64 = ((PACKET - FRAME) / 2) as u64;

/// Packets without arguments.
const EXACT: [&str; 9] = ["?", "!", "g", "k", "qC", "qfThreadInfo", "qsThreadInfo", "vCont?", "QStartNoAckMode"];

/// The forms of a packet's arguments, by its name. A name that is the start of another one is later.
type Form = fn(&Layout, &str, &[u8]) -> Option<Vec<u8>>;
const FORMS: [(&str, Form); 22] = [
    ("qSupported:", |_, name, rest| keep(name, rest, features(rest))),
    ("qXfer:features:read:", |_, name, rest| keep(name, rest, part(rest))),
    ("qThreadExtraInfo,", |_, name, rest| keep(name, rest, thread(rest).is_some_and(Thread::is_one))),
    ("qRcmd,", |_, name, rest| keep(name, rest, bytes(rest).is_some())),
    ("qAttached:", |_, name, rest| keep(name, rest, identifier(rest))),
    ("qAttached", |_, name, rest| keep(name, rest, rest.is_empty())),
    ("vCont;", |layout, name, rest| keep(name, rest, layout.actions(rest))),
    ("vRun;", |_, name, rest| keep(name, rest, rest.split(|byte| *byte == b';').all(|part| bytes(part).is_some()))),
    ("vAttach;", |_, name, rest| keep(name, rest, identifier(rest))),
    ("vKill;", |_, name, rest| keep(name, rest, identifier(rest))),
    ("D;", |_, name, rest| keep(name, rest, identifier(rest))),
    ("D", |_, name, rest| keep(name, rest, rest.is_empty())),
    ("R", |_, name, rest| keep(name, rest, rest.len() == 2)),
    ("Hg", |_, name, rest| keep(name, rest, thread(rest).is_some_and(|of| of.thread != Id::All))),
    ("Hc", |_, name, rest| keep(name, rest, thread(rest).is_some())),
    ("T", |_, name, rest| keep(name, rest, thread(rest).is_some_and(Thread::is_one))),
    ("G", |layout, name, rest| keep(name, rest, bytes(rest) == Some(layout.registers as u64))),
    ("p", |_, name, rest| keep(name, rest, number(rest).is_some())),
    ("P", |_, name, rest| keep(name, rest, register(rest))),
    ("c", |layout, name, rest| keep(name, b"", rest.is_empty() || layout.address(rest).is_some())),
    ("s", |layout, name, rest| keep(name, b"", rest.is_empty() || layout.address(rest).is_some())),
    ("m", |layout, name, rest| layout.memory(name, rest, |length, _| length <= MOST)),
];
/// Forms whose data follows the length, and breakpoints.
const DATA_FORMS: [(&str, Form); 4] = [
    ("M", |layout, name, rest| layout.memory(name, rest, |length, data| data.and_then(bytes) == Some(length))),
    ("X", |layout, name, rest| layout.memory(name, rest, |length, data| data.and_then(unescaped) == Some(length))),
    ("Z", |layout, name, rest| layout.breakpoint(name, rest)),
    ("z", |layout, name, rest| layout.breakpoint(name, rest)),
];

impl Layout {
    pub fn judge(&self, body: &[u8]) -> Verdict {
        if EXACT.iter().any(|name| name.as_bytes() == body) {
            return Verdict::Served(body.to_vec());
        }
        let mut forms = FORMS.iter().chain(&DATA_FORMS);
        let Some((name, form)) = forms.find(|(name, _)| body.starts_with(name.as_bytes())) else {
            return Verdict::Unknown;
        };
        form(self, name, &body[name.len()..]).map_or(Verdict::Malformed, Verdict::Served)
    }

    /// An address within the target's width. GDB extends the sign of a 32-bit MIPS address to 64
    /// bits in some packets; the upper half is dropped then.
    fn address(&self, text: &[u8]) -> Option<u64> {
        let address = number(text)?;
        let extended = self.address == 4 && address >= 0xFFFF_FFFF_8000_0000;
        let address = if extended { address & 0xFFFF_FFFF } else { address };
        (self.address == 8 || address <= u64::from(u32::MAX)).then_some(address)
    }

    /// The last address.
    fn last(&self) -> u64 {
        u64::MAX >> (64 - 8 * self.address)
    }

    /// `ADDRESS,LENGTH` or `ADDRESS,LENGTH:DATA`, whose range does not wrap around.
    fn memory(&self, name: &str, rest: &[u8], valid: impl Fn(u64, Option<&[u8]>) -> bool) -> Option<Vec<u8>> {
        let (range, data) = match cut(rest, b':') {
            Some((range, data)) => (range, Some(data)),
            None => (rest, None),
        };
        let (address, length) = cut(range, b',')?;
        let (address, length) = (self.address(address)?, number(length)?);
        let fits = length.saturating_sub(1) <= self.last() - address;
        if !fits || !valid(length, data) || (name == "m" && data.is_some()) {
            return None;
        }
        let mut body = format!("{name}{address:x},{length:x}").into_bytes();
        data.iter().for_each(|data| body.extend([b":", *data].concat()));
        Some(body)
    }

    /// `TYPE,ADDRESS,KIND`; conditions and commands are not supported, and not announced.
    fn breakpoint(&self, name: &str, rest: &[u8]) -> Option<Vec<u8>> {
        let (kind_of_point, rest) = cut(rest, b',')?;
        let (address, kind) = cut(rest, b',')?;
        let (kind_of_point, address, kind) = (number(kind_of_point)?, self.address(address)?, number(kind)?);
        let fits = kind_of_point <= 4 && kind <= self.last();
        fits.then(|| format!("{name}{kind_of_point:x},{address:x},{kind:x}").into_bytes())
    }

    /// The actions of `vCont`: continue (with a signal), or step (with a signal) one thread. A
    /// target with one thread takes one action and, after it, `c` for all others.
    fn actions(&self, rest: &[u8]) -> bool {
        let actions: Vec<_> = rest.split(|byte| *byte == b';').map(|action| self.action(action)).collect();
        if self.threads {
            return actions.iter().all(Option::is_some);
        }
        matches!(actions.as_slice(), [Some(_)] | [Some(_), Some(b"c")])
    }

    /// The action without its thread.
    fn action<'a>(&self, action: &'a [u8]) -> Option<&'a [u8]> {
        let (what, of) = match cut(action, b':') {
            Some((what, of)) => (what, thread(of)?),
            None => (action, Thread { process: Id::All, thread: Id::All }),
        };
        let signal = |signal| number(signal).is_some_and(|signal| signal <= 0xFF);
        let steps = !self.threads || of.is_one();
        let valid = match what {
            b"c" => true,
            b"s" => steps,
            [b'C', number @ ..] => signal(number),
            [b'S', number @ ..] => signal(number) && steps,
            _ => false,
        };
        (valid && of.process != Id::Any).then_some(what)
    }

    /// Whether `Hc` names all threads from this packet on; None: the packet is not `Hc`. gdbstub
    /// does not serve `s` then, because it steps one thread only.
    pub fn resumes_all(&self, body: &[u8]) -> Option<bool> {
        let of = thread(body.strip_prefix(b"Hc")?)?;
        Some(self.threads && of.thread == Id::All)
    }
}

fn keep(name: &str, rest: &[u8], valid: bool) -> Option<Vec<u8>> {
    valid.then(|| [name.as_bytes(), rest].concat())
}

fn cut(text: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let n = text.iter().position(|byte| *byte == at)?;
    Some((&text[..n], &text[n + 1..]))
}

/// A hexadecimal number of at most 64 bits.
fn number(text: &[u8]) -> Option<u64> {
    let digits = text.iter().all(u8::is_ascii_hexdigit);
    digits.then(|| u64::from_str_radix(std::str::from_utf8(text).ok()?, 16).ok()).flatten()
}

/// The number of bytes that hexadecimal digits encode.
fn bytes(text: &[u8]) -> Option<u64> {
    (text.len() % 2 == 0 && text.iter().all(u8::is_ascii_hexdigit)).then_some(text.len() as u64 / 2)
}

/// The number of bytes that binary data encodes: `}` escapes the next byte.
fn unescaped(data: &[u8]) -> Option<u64> {
    let (mut count, mut escaped) = (0, false);
    for byte in data {
        escaped = !escaped && *byte == b'}';
        count += u64::from(!escaped);
    }
    (!escaped).then_some(count)
}

fn identifier(text: &[u8]) -> bool {
    number(text).is_some_and(|id| id != 0)
}

/// A part of a thread's name: `-1`, `0` or a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Id {
    All,
    Any,
    One,
}

impl Id {
    fn new(text: &[u8]) -> Option<Self> {
        match text {
            b"-1" => Some(Id::All),
            b"0" => Some(Id::Any),
            _ => identifier(text).then_some(Id::One),
        }
    }
}

/// `THREAD` (of the one process), or `pPROCESS.THREAD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Thread {
    process: Id,
    thread: Id,
}

impl Thread {
    fn is_one(self) -> bool {
        self.process == Id::One && self.thread == Id::One
    }
}

fn thread(text: &[u8]) -> Option<Thread> {
    let Some(rest) = text.strip_prefix(b"p") else {
        return Some(Thread { process: Id::One, thread: Id::new(text)? });
    };
    let (process, thread) = cut(rest, b'.')?;
    Some(Thread { process: Id::new(process)?, thread: Id::new(thread)? })
}

fn features(rest: &[u8]) -> bool {
    rest.split(|byte| *byte == b';').all(|feature| !feature.is_empty())
}

/// `ANNEX:OFFSET,LENGTH` of a document.
fn part(rest: &[u8]) -> bool {
    let range = cut(rest, b':').and_then(|(_, range)| cut(range, b','));
    range.is_some_and(|(offset, length)| number(offset).is_some() && number(length).is_some())
}

/// `NUMBER=VALUE`
fn register(rest: &[u8]) -> bool {
    cut(rest, b'=').is_some_and(|(id, value)| number(id).is_some() && bytes(value).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIPS: Layout = Layout { address: 4, registers: 4, threads: false };
    const RISCV: Layout = Layout { address: 8, registers: 8, threads: true };

    fn served(layout: &Layout, body: &str) -> Option<String> {
        match layout.judge(body.as_bytes()) {
            Verdict::Served(body) => Some(String::from_utf8_lossy(&body).into_owned()),
            Verdict::Malformed => None,
            Verdict::Unknown => Some("unknown".into()),
        }
    }

    #[test]
    fn addresses_at_their_limits() {
        let cases = [
            ("Xffffffff80000000,0:", Some("X80000000,0:")),
            ("mffffffffffffffff,1", Some("mffffffff,1")),
            ("mffffffff,2", None),
            ("mffffffff7fffffff,1", None),
            ("m100000000,1", None),
            ("m00000000000000000000,1", Some("m0,1")),
            ("m10000000000000000,1", None),
            ("m,1", None),
            ("m0,7fe", Some("m0,7fe")),
            ("m0,7ff", None),
            ("M0,1:00", Some("M0,1:00")),
            ("M0,2:00", None),
            ("X0,1:}\u{3}", Some("X0,1:}\u{3}")),
            ("X0,1:}", None),
            ("X0,ffffffffffffffff:", None),
            ("Z0,ffffffffbfc00000,4", Some("Z0,bfc00000,4")),
            ("Z5,0,4", None),
            ("z0,0,100000000", None),
        ];
        for (body, expected) in cases {
            assert_eq!(served(&MIPS, body).as_deref(), expected, "{body}");
        }
        assert_eq!(served(&RISCV, "Mffffffffffffffff,1:00").as_deref(), Some("Mffffffffffffffff,1:00"));
        assert_eq!(served(&RISCV, "mffffffffffffffff,2"), None);
    }

    #[test]
    fn threads_and_registers() {
        let cases = [
            ("vCont;s:p1.1;c", true),
            ("vCont;s", false),
            ("vCont;t:1", false),
            ("vCont;r0,1:1", false),
            ("vCont;c:p-1.-1", true),
            ("vCont;c:p0.1", false),
            ("vCont;s:p1.-1", false),
            ("vCont;", false),
            ("Hg-1", false),
            ("Hgp1.1", true),
            ("Hgp1.0", true),
            ("Hgp1.-1", false),
            ("Hcp1.-1", true),
            ("T0", false),
            ("G0000000000000000", true),
            ("G00", false),
            ("P20=00000000000000000", false),
            ("qSupported:", false),
            ("qXfer:features:read:target.xml:0,zz", false),
            ("vKill;0", false),
            ("R0", false),
        ];
        for (body, expected) in cases {
            assert_eq!(served(&RISCV, body).is_some(), expected, "{body}");
        }
        assert!(served(&MIPS, "vCont;s;c").is_some() && served(&MIPS, "vCont;c;s").is_none());
        assert!(served(&MIPS, "vCont;s:p0.1").is_none() && served(&MIPS, "vCont;s;c:p0.1").is_none());
        assert_eq!(served(&MIPS, "vMustReplyEmpty").as_deref(), Some("unknown"));
    }
}
