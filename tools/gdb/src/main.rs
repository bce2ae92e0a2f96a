// SPDX-License-Identifier: Apache-2.0
//! Serves GDB's remote protocol for one VM of a running Tessera, over the console that all VMs share.
//! docs/debugging.md tells how it is used; `make debug` starts it.

mod decode;
mod link;
mod target;
mod vm;
mod walk;
mod xml;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::process::ExitCode;
use std::thread;

use gdbstub::stub::GdbStub;

use link::{Error, Keys, Link};
use target::{Connection, Debugged, Loop};
use vm::Vm;

const USAGE: &str = "usage: tessera-gdb --vm NAME --listen PORT|PATH --from FILE --to FILE [--console FILE]
  --vm       the VM to debug
  --listen   a TCP port of this machine, or the path of a Unix socket, for GDB
  --from     what the console prints (a pipe: /dev/fd/N)
  --to       what is typed into it
  --console  where what the guests print goes (default: standard output, and standard input is typed)";

struct Arguments {
    vm: String,
    listen: String,
    from: String,
    to: String,
    console: Option<String>,
}

fn arguments() -> Option<Arguments> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| words.chunks(2).find(|pair| pair[0] == name).and_then(|pair| pair.get(1).cloned());
    Some(Arguments {
        vm: option("--vm")?,
        listen: option("--listen")?,
        from: option("--from")?,
        to: option("--to")?,
        console: option("--console"),
    })
}

enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listener {
    fn new(place: &str) -> io::Result<Self> {
        if let Ok(port) = place.parse::<u16>() {
            return Ok(Listener::Tcp(TcpListener::bind(("127.0.0.1", port))?));
        }
        let _ = fs::remove_file(place);
        Ok(Listener::Unix(UnixListener::bind(place)?))
    }

    fn accept(&self) -> io::Result<Connection> {
        Ok(match self {
            Listener::Tcp(listener) => {
                let stream: TcpStream = listener.accept()?.0;
                stream.set_nodelay(true)?;
                Box::new(stream)
            }
            Listener::Unix(listener) => Box::new(listener.accept()?.0),
        })
    }
}

fn say(text: &str) {
    eprint!("\r\ntessera-gdb: {text}\r\n"); // the terminal may be raw, and a VM's line half written
}

/// One GDB, from its coming to its going. Whatever ends it, the VM runs on without breakpoints.
fn serve(link: Link, name: &str, connection: Connection) -> (Link, Result<(), Error>) {
    let keys = link.keys();
    let vm = match Vm::attach(link, name) {
        Ok(vm) => vm,
        Err((link, error @ (Error::Refused(_) | Error::Waits | Error::Silent))) => {
            say(&format!("{name}: {error}"));
            return (link, Ok(()));
        }
        Err((link, error)) => return (link, Err(error)),
    };
    let mut debugged = Debugged::new(vm, keys);
    match GdbStub::new(connection).run_blocking::<Loop>(&mut debugged) {
        Ok(reason) => say(&format!("{name}: GDB has left ({reason:?})")),
        Err(error) => say(&format!("{name}: GDB has left: {error}")),
    }
    debugged.into_vm().detach()
}

fn forward(mut keys: Keys) -> io::Result<()> {
    let mut typed = [0; 256];
    loop {
        let size = io::stdin().read(&mut typed)?;
        if size == 0 {
            return Ok(());
        }
        for key in &typed[..size] {
            keys.type_key(*key)?;
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Error> {
    let from = File::open(&arguments.from)?;
    let to = OpenOptions::new().write(true).open(&arguments.to)?;
    let show: Box<dyn Write + Send> = match &arguments.console {
        Some(path) => Box::new(File::create(path)?),
        None => Box::new(io::stdout()),
    };
    let listener = Listener::new(&arguments.listen)?;
    let mut link = Link::new(from, to, show)?;
    if arguments.console.is_none() {
        let keys = link.keys();
        thread::spawn(move || forward(keys));
    }
    loop {
        let connection = listener.accept()?;
        let (back, done) = serve(link, &arguments.vm, connection);
        link = back;
        match done {
            Err(Error::Refused(_)) | Ok(()) => {}
            Err(error) => return Err(error),
        }
    }
}

fn main() -> ExitCode {
    let Some(arguments) = arguments() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(&arguments) {
        Ok(()) | Err(Error::Gone) => ExitCode::SUCCESS,
        Err(error) => {
            say(&error.to_string());
            ExitCode::FAILURE
        }
    }
}
