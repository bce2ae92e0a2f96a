// SPDX-License-Identifier: Apache-2.0
//! Serves GDB's remote protocol for one VM of a running Tessera, over the console that all VMs
//! share. docs/debugging.md describes its use; `make debug` starts it.

mod decode;
mod link;
mod target;
mod vm;
mod walk;
mod xml;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use gdbstub::stub::GdbStub;

use link::{Error, Keys, Link};
use target::{Connection, Debugged, Loop};
use vm::Vm;

const USAGE: &str = "usage: tessera-gdb --vm NAME --listen PORT|PATH --from FILE --to FILE [--console FILE]
  --vm       the VM to debug
  --listen   a TCP port of this machine, or the path of a Unix socket, for GDB
  --from     the console's output (a pipe: /dev/fd/N)
  --to       the console's input
  --console  file for the guests' output (default: standard output; standard input is forwarded to the console)";

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

/// How long a new connection waits for the previous GDB to disconnect.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// GDB reads and writes the VM without authentication, so only the server's user may connect.
const SOCKET_MODE: u32 = 0o600;

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listener {
    /// Errors include the place.
    fn new(place: &str) -> io::Result<Self> {
        let named = |error: io::Error| io::Error::new(error.kind(), format!("--listen {place}: {error}"));
        if place.bytes().all(|byte| byte.is_ascii_digit()) {
            let port =
                place.parse::<u16>().map_err(|error| named(io::Error::new(io::ErrorKind::InvalidInput, error)))?;
            return TcpListener::bind(("127.0.0.1", port)).map(Listener::Tcp).map_err(named);
        }
        // Replaces a socket of an earlier server; any other file is kept and is an error.
        if fs::metadata(place).is_ok_and(|there| there.file_type().is_socket()) {
            let _ = fs::remove_file(place);
        }
        let listener = UnixListener::bind(place).map_err(named)?;
        fs::set_permissions(place, fs::Permissions::from_mode(SOCKET_MODE)).map_err(named)?;
        Ok(Listener::Unix(listener))
    }

    fn accept(&self) -> io::Result<Stream> {
        Ok(match self {
            Listener::Tcp(listener) => {
                let stream: TcpStream = listener.accept()?.0;
                stream.set_nodelay(true)?;
                Stream::Tcp(stream)
            }
            Listener::Unix(listener) => Stream::Unix(listener.accept()?.0),
        })
    }
}

fn report(text: &str) {
    // The terminal may be in raw mode, with an incomplete line of a VM.
    eprint!("\r\ntessera-gdb: {text}\r\n");
}

/// Serves one GDB session. When the session ends for any reason, the VM continues without
/// breakpoints.
fn serve(link: Link, name: &str, connection: Connection) -> (Link, Result<(), Error>) {
    let keys = link.keys();
    let vm = match Vm::attach(link, name) {
        Ok(vm) => vm,
        Err((link, error @ (Error::Refused(_) | Error::WaitsForRestart | Error::NoAnswer))) => {
            report(&format!("{name}: {error}"));
            return (link, Ok(()));
        }
        Err((link, error)) => return (link, Err(error)),
    };
    let mut debugged = Debugged::new(vm, keys);
    match GdbStub::new(connection).run_blocking::<Loop>(&mut debugged) {
        Ok(reason) => report(&format!("{name}: GDB disconnected ({reason:?})")),
        Err(error) => report(&format!("{name}: GDB disconnected: {error}")),
    }
    debugged.into_vm().detach()
}

fn wait_until_free(busy: &AtomicBool) -> bool {
    let start = Instant::now();
    while busy.load(Ordering::Acquire) && start.elapsed() < RELEASE_TIMEOUT {
        thread::sleep(POLL_INTERVAL);
    }
    !busy.load(Ordering::Acquire)
}

/// Accepts one GDB at a time and closes other connections, which would otherwise wait without a
/// message. serve_all() clears `busy` at the end of a session.
fn admit(listener: &Listener, busy: &AtomicBool, to: &Sender<io::Result<Stream>>) {
    loop {
        let accepted = listener.accept();
        let failed = accepted.is_err();
        if failed || wait_until_free(busy) {
            busy.store(true, Ordering::Release);
            if to.send(accepted).is_err() || failed {
                return;
            }
        } else {
            report("another GDB is connected already; the new connection is closed");
        }
    }
}

fn serve_all(
    mut link: Link,
    name: &str,
    connections: &Receiver<io::Result<Stream>>,
    busy: &AtomicBool,
) -> Result<(), Error> {
    for accepted in connections {
        let connection = match accepted? {
            Stream::Tcp(stream) => target::connection(Box::new(stream)),
            Stream::Unix(stream) => target::connection(Box::new(stream)),
        };
        let (back, done) = serve(link, name, connection);
        link = back;
        match done {
            Err(Error::Refused(_)) | Ok(()) => {}
            Err(error) => return Err(error),
        }
        busy.store(false, Ordering::Release);
    }
    Ok(())
}

fn forward(mut keys: Keys) -> io::Result<()> {
    let mut typed = [0; 256];
    loop {
        let size = io::stdin().read(&mut typed)?;
        if size == 0 {
            return Ok(());
        }
        for key in &typed[..size] {
            keys.send_key(*key)?;
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
    if matches!(listener, Listener::Tcp(_)) {
        report("warning: every user of this machine can read and write the VM through this TCP port");
    }
    let link = Link::new(from, to, show)?;
    if arguments.console.is_none() {
        let keys = link.keys();
        thread::spawn(move || forward(keys));
    }
    let (to, connections) = channel();
    let busy = Arc::new(AtomicBool::new(false));
    let is_busy = Arc::clone(&busy);
    thread::spawn(move || admit(&listener, &is_busy, &to));
    serve_all(link, &arguments.vm, &connections, &busy)
}

fn main() -> ExitCode {
    let Some(arguments) = arguments() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(&arguments) {
        Ok(()) | Err(Error::Ended) => ExitCode::SUCCESS,
        Err(error) => {
            report(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(place: &str) -> String {
        Listener::new(place).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn numbers_are_ports_and_errors_name_them() {
        assert!(complaint("70000").starts_with("--listen 70000: number too large"));
        let busy = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = busy.local_addr().unwrap().port();
        assert!(complaint(&port.to_string()).starts_with(&format!("--listen {port}: Address already in use")));
    }

    #[test]
    fn a_socket_is_replaced_and_a_file_stays() {
        let folder = std::env::temp_dir().join(format!("tessera-gdb-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (socket, file) = (folder.join("socket"), folder.join("file"));
        fs::write(&file, "precious").unwrap();
        for _ in 0..2 {
            assert_eq!(complaint(socket.to_str().unwrap()), "");
            assert_eq!(fs::metadata(&socket).unwrap().permissions().mode() & 0o777, SOCKET_MODE);
        }
        assert!(complaint(file.to_str().unwrap()).contains("Address already in use"));
        assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
        fs::remove_dir_all(&folder).unwrap();
    }
}
