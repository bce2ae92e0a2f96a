// SPDX-License-Identifier: Apache-2.0
//! The command line: options, construction of the machine, reports at the end of the run.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use lexopt::prelude::*;

use crate::board::console::{parse_record, Console};
use crate::board::generic::Generic;
use crate::board::m5150::M5150;
use crate::board::Board;
use crate::coverage::Coverage;
use crate::cpu::{Cpu, Stop};
use crate::gdb;
use crate::image::{self, Image, Symbols};
use crate::model::{Choice, Model, CHOICES};
use crate::observe::{Observer, Observers};
use crate::pace::Pace;
use crate::stats::Span;
use crate::trace::{AddressMarkers, Profile, Sections, Trace};

const HELP: &str = "\
usage: iasim run [options] IMAGE.elf...   execute from the reset vector 0xbfc00000 if an image contains it, else from
                                          the first image's entry point
       iasim models                       list the options of --model
       iasim --help, iasim --version

  --board m5150|generic   the board (default m5150)
  --model NAME=VALUE      set a property of the core
  --ram SIZE              size of the RAM in bytes, or with K or M (default 512K; generic 16M)
  --limit N               stop after N instructions (k, M, G: thousands, millions, billions)
  --uart N                UART of the m5150 that is connected to the terminal (default 2)
  --input FILE            read terminal input from FILE instead of standard input
  --pace N                clocks between two bytes of --input (k, M; default 0): byte n arrives at clock n * N
  --record FILE           record terminal input with its times
  --replay FILE           repeat recorded input at the same times
  --real-time             run no faster than the clock of the real part, for interactive use
  --stats                 at the end: instructions by context and mode, exceptions, exits
  --span A:B              count instructions from A to B; each is a symbol, an address (0x...) or the number of a marker
                          in the program (sltiu $0, $0, N); may be repeated
  --polling-point SYMBOL  at the end: the root's longest non-preemptible sections until a guest entry or SYMBOL; may be repeated
  --path SYMBOL           report sections that pass SYMBOL separately; may be repeated
  --profile               at the end: instructions by function
  --trace FILE            write one line per instruction
  --coverage FILE         append the addresses that the root executed: ADDRESS x: executed; ADDRESS n: followed by
                          the next instruction; ADDRESS j: followed by another one
  --gdb PATH|PORT         wait for GDB at this new socket, or on this local TCP port (0: any free port)

exit code: the program's; 2: error in options or images; 3: unmodelled feature, WAIT that no event can end, or endless
exceptions; 4: an output cannot be written (and the program's code was 0); 124: limit reached";

pub const EXIT_STUCK: u8 = 3;
pub const EXIT_OUTPUT: u8 = 4;
pub const EXIT_LIMIT: u8 = 124;

#[derive(Default)]
struct Options {
    images: Vec<PathBuf>,
    generic: bool,
    model: Vec<String>,
    ram: Option<u32>,
    limit: Option<u64>,
    uart: usize,
    input: Option<PathBuf>,
    gap: Option<u64>,
    record: Option<PathBuf>,
    replay: Option<PathBuf>,
    real_time: bool,
    stats: bool,
    spans: Vec<(String, String)>,
    polling_points: Vec<String>,
    paths: Vec<String>,
    profile: bool,
    trace: Option<PathBuf>,
    coverage: Option<PathBuf>,
    gdb: Option<String>,
}

/// Options with a value.
const WITH_VALUE: [&str; 15] = [
    "board",
    "model",
    "ram",
    "limit",
    "uart",
    "input",
    "pace",
    "record",
    "replay",
    "span",
    "polling-point",
    "path",
    "trace",
    "coverage",
    "gdb",
];

/// A number, multiplied by the factor of its suffix.
fn scaled(option: &str, text: &str, suffixes: &[(char, u64)]) -> Result<u64, String> {
    let suffix = suffixes.iter().find(|(name, _)| text.ends_with(*name));
    let (digits, factor) = suffix.map_or((text, 1), |(_, factor)| (&text[..text.len() - 1], *factor));
    let number = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
    number.ok_or(format!("--{option}: '{text}' is not a number"))
}

fn ram_size(text: &str) -> Result<u32, String> {
    let size = scaled("ram", text, &[('K', 1 << 10), ('M', 1 << 20)])?;
    let fits = size % u64::from(crate::memory::PAGE) == 0 && (1..=1 << 28).contains(&size);
    fits.then_some(size as u32).ok_or(format!("--ram {text}: must be a multiple of 4K, at most 256M"))
}

fn span(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once(':').map(|(from, to)| (from.to_string(), to.to_string()));
    parts.ok_or(format!("--span {text}: must be A:B, such as 1:2 or start:end"))
}

fn text(value: OsString) -> Result<String, String> {
    value.into_string().map_err(|value| format!("{value:?} is not UTF-8"))
}

impl Options {
    /// None: --help was given.
    fn parse(parser: &mut lexopt::Parser) -> Result<Option<Self>, String> {
        let mut options = Options { uart: 2, ..Options::default() };
        while let Some(argument) = parser.next().map_err(|error| error.to_string())? {
            match argument {
                Long("real-time") => options.real_time = true,
                Long("stats") => options.stats = true,
                Long("profile") => options.profile = true,
                Long("help") | Short('h') => return Ok(None),
                Long(name) => {
                    let name = name.to_string();
                    if !WITH_VALUE.contains(&name.as_str()) {
                        return Err(format!("unknown option --{name} (see `iasim --help`)"));
                    }
                    let value = parser.value().map_err(|error| error.to_string())?;
                    options.set(&name, value)?;
                }
                Value(path) => options.images.push(path.into()),
                other => return Err(other.unexpected().to_string()),
            }
        }
        if options.images.is_empty() {
            return Err("no image to run (see `iasim --help`)".into());
        }
        Ok(Some(options))
    }

    fn set(&mut self, name: &str, value: OsString) -> Result<(), String> {
        match name {
            "input" => self.input = Some(value.into()),
            "record" => self.record = Some(value.into()),
            "replay" => self.replay = Some(value.into()),
            "trace" => self.trace = Some(value.into()),
            "coverage" => self.coverage = Some(value.into()),
            _ => return self.set_text(name, &text(value)?),
        }
        Ok(())
    }

    fn set_text(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "board" if value == "generic" || value == "m5150" => self.generic = value == "generic",
            "board" => return Err(format!("--board {value}: must be m5150 or generic")),
            "model" => self.model.push(value.to_string()),
            "ram" => self.ram = Some(ram_size(value)?),
            "limit" => {
                self.limit = Some(scaled("limit", value, &[('k', 1000), ('M', 1_000_000), ('G', 1_000_000_000)])?)
            }
            "pace" => self.gap = Some(scaled("pace", value, &[('k', 1000), ('M', 1_000_000)])?),
            "uart" => {
                let n = value.parse().ok().filter(|n| (1..=6).contains(n));
                self.uart = n.ok_or(format!("--uart {value}: must be 1 to 6"))?;
            }
            "gdb" => self.gdb = Some(value.to_string()),
            "span" => self.spans.push(span(value)?),
            "polling-point" => self.polling_points.push(value.to_string()),
            _ if self.paths.len() < 32 => self.paths.push(value.to_string()),
            _ => return Err("--path: at most 32 are supported".into()),
        }
        Ok(())
    }
}

fn with_path<T>(path: &Path, result: io::Result<T>) -> Result<T, String> {
    result.map_err(|error| format!("{}: {error}", path.display()))
}

fn console(options: &Options) -> Result<Console, String> {
    let mut console = Console::new(Box::new(io::stdout()));
    if options.gap.is_some() && options.input.is_none() {
        return Err("--pace needs --input".into());
    }
    match (&options.replay, &options.input) {
        (Some(_), Some(_)) => return Err("--replay and --input cannot be combined".into()),
        (Some(path), _) => {
            let text = with_path(path, fs::read_to_string(path))?;
            console.queue_input(parse_record(&text).map_err(|error| format!("{}: {error}", path.display()))?);
        }
        (_, Some(path)) => {
            let gap = options.gap.unwrap_or(0);
            let typed = with_path(path, fs::read(path))?;
            console.queue_input(typed.into_iter().zip(0u64..).map(|(byte, n)| (n.saturating_mul(gap), byte)));
        }
        _ => console.read_stdin(),
    }
    if let Some(path) = &options.record {
        console.record_to(Box::new(with_path(path, File::create(path))?));
    }
    Ok(console)
}

fn model(options: &Options) -> Result<Model, String> {
    // The generic board wires the guest's timer interrupt; the real part does not.
    let mut model = Model { guest_timer_wired: options.generic, ..Model::default() };
    options.model.iter().try_for_each(|choice| model.set(choice)).map_err(|error| format!("--model: {error}"))?;
    Ok(model)
}

const RESET_VECTOR: u32 = 0x1FC0_0000;

fn build(options: &Options) -> Result<(Cpu, Image), String> {
    let model = model(options)?;
    let console = console(options)?;
    let (mut mem, board): (_, Box<dyn Board>) = if options.generic {
        (Generic::memory(options.ram.unwrap_or(16 << 20)), Box::new(Generic::new(console)))
    } else {
        (M5150::memory(options.ram.unwrap_or(512 << 10)), Box::new(M5150::new(console, options.uart)))
    };
    let (mut images, mut taken) = (Vec::new(), Vec::new());
    for path in &options.images {
        let bytes = with_path(path, fs::read(path))?;
        images.push(image::load(&mut mem, &mut taken, &bytes).map_err(|error| format!("{}: {error}", path.display()))?);
    }
    let boots = mem.peek_word(RESET_VECTOR).is_some_and(|word| word != u32::MAX);
    let mut all = images.remove(0);
    images.into_iter().for_each(|image| all.symbols.extend(image.symbols));
    let mut cpu = Cpu::new(model, mem, board);
    if !boots {
        cpu.jump(all.entry);
    }
    Ok((cpu, all))
}

/// First number of markers at addresses; larger than any marker in a program.
const FIRST_ADDRESS_MARKER: u32 = 0x1_0000;

/// Address of a symbol, or a hexadecimal number.
fn address(option: &str, name: &str, symbols: &Symbols) -> Result<u32, String> {
    let hex = name.strip_prefix("0x").and_then(|digits| u32::from_str_radix(digits, 16).ok());
    hex.or_else(|| symbols.address(name)).ok_or(format!("--{option}: no symbol '{name}'"))
}

/// Number of a marker; an address or a symbol is assigned one.
fn marker(name: &str, symbols: &Symbols, places: &mut Vec<(u32, u32)>) -> Result<u32, String> {
    if let Ok(number) = name.parse::<u16>() {
        return Ok(number.into());
    }
    let at = address("span", name, symbols)?;
    // Each address has one number; otherwise a span from an address to itself would end before it
    // starts.
    if let Some((_, number)) = places.iter().find(|place| place.0 == at) {
        return Ok(*number);
    }
    let number = FIRST_ADDRESS_MARKER + places.len() as u32;
    places.push((at, number));
    Ok(number)
}

/// Installs the observers that the options require.
fn observe(options: &Options, cpu: &mut Cpu, symbols: &Symbols) -> Result<(), String> {
    let mut all = Observers::default();
    let mut places = Vec::new();
    for (from, to) in &options.spans {
        let markers = (marker(from, symbols, &mut places)?, marker(to, symbols, &mut places)?);
        cpu.stats.spans.push(Span::new(format!("{from}:{to}"), markers.0, markers.1));
    }
    if !places.is_empty() {
        all.0.push(Box::new(AddressMarkers(places)));
    }
    if !options.polling_points.is_empty() {
        let polling_points = options
            .polling_points
            .iter()
            .map(|name| address("polling-point", name, symbols))
            .collect::<Result<_, _>>()?;
        let paths = options.paths.iter().map(|name| Ok((address("path", name, symbols)?, name.clone())));
        all.0.push(Box::new(Sections::new(polling_points, paths.collect::<Result<_, String>>()?)));
    }
    if options.profile {
        all.0.push(Box::new(Profile::new(symbols.clone())));
    }
    if let Some(path) = &options.trace {
        let file = BufWriter::new(with_path(path, File::create(path))?);
        all.0.push(Box::new(Trace::new(Box::new(file), symbols.clone())));
    }
    if let Some(path) = &options.coverage {
        let file = OpenOptions::new().append(true).create(true).open(path);
        all.0.push(Box::new(Coverage::new(Box::new(with_path(path, file)?))));
    }
    cpu.observer = (!all.0.is_empty()).then(|| Box::new(all) as Box<dyn Observer>);
    Ok(())
}

fn run(options: &Options) -> Result<u8, String> {
    let (mut cpu, image) = build(options)?;
    cpu.limit = options.limit.unwrap_or(u64::MAX);
    observe(options, &mut cpu, &image.symbols)?;
    cpu.pace = options.real_time.then(|| Pace::new(0));
    let stop = match &options.gdb {
        Some(_) if cpu.observer.is_some() => {
            return Err(
                "--gdb cannot be combined with --trace, --coverage, --profile, --polling-point or address spans".into(),
            )
        }
        Some(place) => {
            let (back, stop) = gdb::serve(cpu, place)?;
            cpu = back;
            stop
        }
        None => cpu.run(),
    };
    let mut text = results(options, &mut cpu);
    let incomplete = incomplete(&mut cpu, &stop);
    incomplete.iter().for_each(|what| text += &format!("iasim: {what}\n"));
    let (code, reason) = exit_code(&cpu, &stop);
    let printed = io::stderr().write_all((text + &reason).as_bytes());
    let complete = incomplete.is_empty() && printed.is_ok();
    Ok(if code == 0 && !complete { EXIT_OUTPUT } else { code })
}

/// The reports that the options request.
fn results(options: &Options, cpu: &mut Cpu) -> String {
    let mut text = String::new();
    if options.stats || !options.spans.is_empty() {
        text += &cpu.stats.report();
        cpu.board.notes().iter().for_each(|note| text += &format!("note: {note}\n"));
    }
    if let Some(observer) = &mut cpu.observer {
        text += &observer.report();
    }
    text
}

/// The outputs that are incomplete, each with its error.
fn incomplete(cpu: &mut Cpu, stop: &Stop) -> Vec<String> {
    let console = cpu.board.console();
    console.flush();
    let of_console = match (stop, console.output_error()) {
        (Stop::Output(_), _) | (_, None) => None,
        (_, Some(error)) => Some(output_text(&error.to_string())),
    };
    let of_record = console.record_error().map(|error| format!("the record is incomplete: {error}"));
    let of_observer = cpu.observer.as_ref().and_then(|observer| observer.incomplete());
    [of_console, of_record, of_observer].into_iter().flatten().collect()
}

fn output_text(error: &str) -> String {
    format!("the terminal's output is incomplete: {error}")
}

/// The exit code, and the line that explains it.
fn exit_code(cpu: &Cpu, stop: &Stop) -> (u8, String) {
    let (code, text) = match stop {
        Stop::Exit(code) => return (*code as u8, String::new()),
        Stop::Output(error) => (EXIT_OUTPUT, output_text(error)),
        Stop::Limit => (EXIT_LIMIT, format!("stopped after {} instructions", cpu.instructions())),
        Stop::Asleep => (EXIT_STUCK, "WAIT, and no interrupt can occur".to_string()),
        Stop::Endless(what) => (EXIT_STUCK, format!("the exception vector raises an exception ({what}) endlessly")),
        Stop::Unimplemented(what) => (EXIT_STUCK, what.clone()),
        Stop::Observer => (EXIT_STUCK, "stopped by an observer".to_string()),
    };
    (code, format!("iasim: {text}, pc 0x{:08x}\n", cpu.pc))
}

fn print(text: &str) -> Result<u8, String> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map(|()| 0).map_err(|error| format!("standard output: {error}"))
}

fn models() -> Result<u8, String> {
    let line = |choice: &Choice| format!("{:<18} {:<32} {}\n", choice.name, choice.values, choice.help);
    print(&CHOICES.iter().map(line).collect::<String>())
}

fn help() -> Result<u8, String> {
    print(&format!("{HELP}\n"))
}

/// Runs the command line; an error is one line.
pub fn main() -> Result<u8, String> {
    let mut parser = lexopt::Parser::from_env();
    match parser.next().map_err(|error| error.to_string())? {
        Some(Value(command)) if command == "run" => {
            Options::parse(&mut parser)?.map_or_else(help, |options| run(&options))
        }
        Some(Value(command)) if command == "models" => models(),
        Some(Long("help") | Short('h')) => help(),
        Some(Long("version") | Short('V')) => print(concat!("iasim ", env!("CARGO_PKG_VERSION"), "\n")),
        Some(argument) => Err(argument.unexpected().to_string()),
        None => Err("no command given (see `iasim --help`)".into()),
    }
}
