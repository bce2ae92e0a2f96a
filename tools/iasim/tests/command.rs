// SPDX-License-Identifier: Apache-2.0
//! The command line and the GDB server from a user's point of view: compiled programs,
//! gdb-multiarch, errors.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

const IASIM: &str = env!("CARGO_BIN_EXE_iasim");

/// clang and lld support MIPS in every installation.
fn build(name: &str, script: &str, sources: &[&str], flags: &[&str]) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let mut objects = Vec::new();
    for source in sources {
        let object = dir.join(format!("{name}-{source}.o"));
        let mut clang = Command::new("clang");
        clang.args([
            "--target=mipsel-none-elf",
            "-mips32r5",
            "-mvirt",
            "-msoft-float",
            "-mno-abicalls",
            "-fno-pic",
            "-G0",
        ]);
        clang.args(["-O2", "-g", "-ffreestanding", "-Wall", "-Wextra", "-Werror", "-c"]).args(flags);
        run(clang.arg(programs.join(source)).arg("-o").arg(&object));
        objects.push(object);
    }
    let elf = dir.join(format!("{name}.elf"));
    run(Command::new("ld.lld").arg("-T").arg(programs.join(script)).args(objects).arg("-o").arg(&elf));
    elf
}

fn run(command: &mut Command) -> Output {
    let output = command.stdin(Stdio::null()).output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn work() -> &'static PathBuf {
    static WORK: OnceLock<PathBuf> = OnceLock::new();
    WORK.get_or_init(|| build("work", "bare.lds", &["start.S", "work.c"], &["-DROUNDS=2"]))
}

/// Built once: two tests run it, at the same time.
fn echo() -> &'static PathBuf {
    static ECHO: OnceLock<PathBuf> = OnceLock::new();
    ECHO.get_or_init(|| build("echo", "bare.lds", &["start.S", "echo.c"], &[]))
}

fn iasim(args: &[&str]) -> (i32, String, String) {
    let output = Command::new(IASIM).args(args).stdin(Stdio::null()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_compiled_program_runs_and_is_measured() {
    let elf = work().to_str().unwrap();
    let (code, out, err) = iasim(&["run", "--board", "generic", "--stats", "--profile", elf]);
    assert_eq!((code, out.len()), (0, 9), "{out}{err}");
    assert!(out.trim().chars().all(|c| c.is_ascii_hexdigit()));
    assert!(err.contains("instructions by function") && err.contains("main"), "{err}");
    let (code, again, _) = iasim(&["run", "--board", "generic", elf]);
    assert_eq!((code, again), (0, out));
}

#[test]
fn limits_spans_and_traces() {
    let elf = work().to_str().unwrap();
    let (code, _, err) = iasim(&["run", "--board", "generic", "--limit", "1k", elf]);
    assert_eq!(code, 124, "{err}");
    assert!(err.contains("after 1000 instructions"));
    let (_, _, err) = iasim(&["run", "--board", "generic", "--span", "_start:main", elf]);
    assert!(err.contains("span _start:main all   n 1 min 5 median 5 max 5"), "{err}");
    // A loop: a span from an address to itself.
    let round = with_code("round", &[0, 0x1000_FFFE, 0]); // nop; b .-4; nop
    let place = "0xbfc00000:0xbfc00000";
    let (_, _, err) = iasim(&["run", "--board", "generic", "--limit", "30", "--span", place, &round]);
    assert!(err.contains(&format!("span {place} all   n 9 min 3 median 3 max 3")), "{err}");
    let trace = Path::new(env!("CARGO_TARGET_TMPDIR")).join("trace");
    iasim(&["run", "--board", "generic", "--limit", "7", "--trace", trace.to_str().unwrap(), elf]);
    let text = std::fs::read_to_string(trace).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 7, "{text}");
    // A full disk is reported and does not change the exit code of a run that had a problem already.
    let (code, _, err) = iasim(&["run", "--board", "generic", "--limit", "7", "--trace", "/dev/full", elf]);
    assert_eq!((code, err.lines().count()), (124, 2), "{err}");
    assert!(err.contains("the trace is incomplete: No space left"), "{err}");
    assert!(lines[0].contains("R    bfc00000 3c1d8008 lui sp,0x8008") && lines[0].ends_with("sp=0x80080000"), "{text}");
}

/// A loop with two passes, a branch likely that is not taken, and a branch to itself.
#[test]
fn coverage_records_instructions_and_branch_directions() {
    let at = 0xBFC0_0000u32;
    let code = [
        0x2408_0002, // li t0,2
        0x2508_FFFF, // 4: addiu t0,t0,-1
        0x1500_FFFE, // 8: bne t0,zero,4
        0,           // c: its delay slot
        0x1400_0002, // 10: bne zero,zero,1c: never taken
        0,           // 14: its delay slot
        0x5400_0001, // 18: bnel zero,zero,20: never taken
        0,           // 1c: its delay slot, which is skipped
        0x1000_FFFF, // 20: b 20
        0,           // 24: its delay slot
        0,           // 28: not reached
    ];
    let elf = with_code("coverage", &code);
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("coverage.txt");
    let _ = std::fs::remove_file(&file);
    let (code, _, err) =
        iasim(&["run", "--board", "generic", "--limit", "30", "--coverage", file.to_str().unwrap(), &elf]);
    assert_eq!(code, 124, "{err}");
    let text = std::fs::read_to_string(&file).unwrap();
    let has = |offset: u32, what: char| text.lines().any(|line| line == format!("{:x} {what}", at + offset));
    let executed: Vec<u32> = (0..=0x28).step_by(4).filter(|offset| has(*offset, 'x')).collect();
    assert_eq!(executed, [0, 4, 8, 0xC, 0x10, 0x14, 0x18, 0x20, 0x24], "{text}");
    let directions: Vec<_> =
        [8, 0x10, 0x18, 0x20].iter().map(|branch| (has(*branch, 'n'), has(*branch, 'j'))).collect();
    assert_eq!(directions, [(true, true), (true, false), (true, false), (false, true)], "{text}");
    // A second run adds to the file.
    iasim(&["run", "--board", "generic", "--limit", "2", "--coverage", file.to_str().unwrap(), &elf]);
    assert!(std::fs::read_to_string(&file).unwrap().len() > text.len());
}

#[test]
fn errors_are_one_clear_line() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let junk = dir.join("junk.elf");
    std::fs::write(&junk, "no ELF at all").unwrap();

    let foreign = dir.join("foreign.elf");
    std::fs::write(&foreign, std::fs::read(IASIM).unwrap()).unwrap();
    let (junk, foreign) = (junk.to_str().unwrap(), foreign.to_str().unwrap());
    let work = work().to_str().unwrap();
    let cases: [(&[&str], &str); 17] = [
        (&[], "no command given"),
        (&["fly"], "fly"),
        (&["run"], "no image"),
        (&["run", "/nowhere.elf"], "/nowhere.elf: No such file"),
        (&["run", junk], "not an ELF file"),
        (&["run", foreign], "is not MIPS"),
        (&["run", "--board", "malta", work], "--board malta: must be m5150 or generic"),
        (&["run", "--model", "gvec=7", work], "gvec: '7' is not one of offset|zero-is-200|number"),
        (&["run", "--model", "colour=red", work], "unknown option 'colour'"),
        (&["run", "--ram", "3", work], "--ram 3: must be a multiple of 4K"),
        (&["run", "--limit", "many", work], "'many' is not a number"),
        (&["run", "--board", "generic", "--span", "here:there", work], "--span: no symbol 'here'"),
        (&["run", "--polling-point", "here", work], "--polling-point: no symbol 'here'"),
        (&["run", "--fast", work], "unknown option --fast"),
        (&["run", "--fast"], "unknown option --fast"),
        (&["run", work, "--limit"], "missing argument for option '--limit'"),
        (&["run", "--uart", "7", work], "--uart 7: must be 1 to 6"),
    ];
    for (args, expected) in cases {
        let (code, out, err) = iasim(args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {err}");
        assert!(err.contains(expected) && err.starts_with("iasim: error: "), "{args:?}: {err}");
        assert_eq!(err.lines().count(), 1, "{err}");
    }
    // The program does not fit into this board's memory.
    let (code, _, err) = iasim(&["run", "--ram", "4K", work]);
    assert_eq!(code, 2);
    assert!(err.contains("is not entirely in memory"), "{err}");
}

#[test]
fn help_is_available_for_every_command() {
    for args in [&["--help"][..], &["run", "--help"], &["run", "-h", "image.elf"]] {
        let (code, out, err) = iasim(args);
        assert_eq!((code, err.as_str()), (0, ""), "{args:?}");
        assert!(out.starts_with("usage: iasim run"), "{args:?}: {out}");
    }
}

/// The program with changed bytes in its file.
fn damaged(name: &str, change: impl Fn(&mut Vec<u8>)) -> String {
    let mut bytes = std::fs::read(work()).unwrap();
    change(&mut bytes);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.elf"));
    std::fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_string()
}

fn word_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// Offset of the code's program header in the file; the code starts at the reset vector.
fn code_header(bytes: &[u8]) -> usize {
    (0..5).map(|n| 52 + 32 * n).find(|at| word_at(bytes, at + 12) == 0xBFC0_0000).expect("code")
}

/// The program with its first instructions replaced.
fn with_code(name: &str, words: &[u32]) -> String {
    damaged(name, |bytes| {
        let code = word_at(bytes, code_header(bytes) + 4) as usize;
        bytes[code..code + 4 * words.len()]
            .copy_from_slice(&words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>());
    })
}

/// The program with a changed word in the code's program header.
fn damaged_segment(name: &str, field: usize, value: u32) -> String {
    damaged(name, |bytes| {
        let at = code_header(bytes) + field;
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    })
}

/// Files for other machines, empty files, files with overlapping different data.
#[test]
fn images_that_cannot_be_run() {
    let work = work().to_str().unwrap();
    let cases = [
        ("release6", damaged("release6", |bytes| bytes[39] = 0x90), "Release 6"),
        ("object", damaged("object", |bytes| bytes[16] = 1), "the file is not linked"),
        ("empty", damaged("empty", |bytes| bytes[44..46].fill(0)), "no segment to load"),
        ("types", damaged("types", |bytes| (0..5).for_each(|n| bytes[52 + 32 * n] = 4)), "no segment to load"),
        ("short", damaged("short", |bytes| bytes.truncate(60)), "damaged ELF file"),
        ("stub", damaged("stub", |bytes| bytes.truncate(19)), "not an ELF file"),
        ("class", damaged("class", |bytes| bytes[4] = 2), "64-bit MIPS"),
        ("data", damaged("data", |bytes| bytes[5] = 2), "big-endian"),
        ("swapped", damaged("swapped", |bytes| bytes.swap(18, 19)), "big-endian"),
        ("machine", damaged("machine", |bytes| bytes[18] = 243), "machine 243 is not MIPS"),
        ("version", damaged("version", |bytes| bytes[6] = 9), "damaged ELF file"),
        ("headers", damaged("headers", |bytes| bytes[28..32].fill(0xFF)), "damaged ELF file"),
        ("entries", damaged("entries", |bytes| bytes[42] = 31), "damaged ELF file"),
        ("offset", damaged_segment("offset", 4, 0xFFFF_FFF0), "invalid segment"),
        ("longer", damaged_segment("longer", 20, 4), "bytes in the file for 4 in memory"),
        ("nothing", damaged_segment("nothing", 20, 0), "bytes in the file for 0 in memory"),
        ("huge", damaged_segment("huge", 20, u32::MAX), "is not entirely in memory"),
        ("around", damaged_segment("around", 12, 0xFFFF_FFFC), "is not entirely in memory"),
    ];
    for (name, path, expected) in cases {
        let (code, _, err) = iasim(&["run", "--board", "generic", &path]);
        assert_eq!((code, err.lines().count()), (2, 1), "{name}: {err}");
        assert!(err.contains(expected), "{name}: {err}");
    }
    // Loading the same file twice is accepted.
    let other = damaged("other", |bytes| {
        let code = word_at(bytes, code_header(bytes) + 4) as usize;
        bytes[code] ^= 1;
    });
    let (code, _, err) = iasim(&["run", "--board", "generic", work, work]);
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = iasim(&["run", "--board", "generic", work, &other]);
    assert_eq!((code, err.lines().count()), (2, 1), "{err}");
    assert!(err.contains("overlaps different data"), "{err}");
}

/// A program whose exceptions have no handler, so that they would repeat endlessly.
#[test]
fn exceptions_without_a_handler_end_the_run() {
    // The code is not loaded at its entry point.
    let lost = damaged("lost", |bytes| {
        let at = code_header(bytes) + 12;
        bytes[at..at + 4].copy_from_slice(&0x9D00_0000u32.to_le_bytes());
    });
    let (code, _, err) = iasim(&["run", &lost]);
    assert_eq!((code, err.lines().count()), (3, 1), "{err}");
    assert!(err.contains("the exception vector raises an exception (RI) endlessly, pc 0xbfc00380"), "{err}");
}

/// A handler in RAM whose second instruction raises an exception: its first one is no fault.
#[test]
fn handlers_that_fault_end_the_run() {
    let handler = [
        0x3C08_8000, // lui t0,0x8000
        0x2409_000C, // li t1,0xc: SYSCALL
        0xAD09_0184, // sw t1,0x184(t0)
        0x4080_6000, // mtc0 zero,Status
        0,
        0x0000_000C, // syscall
    ];
    let elf = with_code("faulting-handler", &handler);
    let (code, _, err) = iasim(&["run", "--board", "generic", "--limit", "10M", &elf]);
    assert_eq!((code, err.lines().count()), (3, 1), "{err}");
    assert!(err.contains("raises an exception (Sys) endlessly"), "{err}");
}

/// Every output that cannot be written is reported, and the exit code is not 0.
#[test]
fn outputs_that_cannot_be_written() {
    let (elf, full) = (work().to_str().unwrap(), "/dev/full");
    let run = |args: &[&str], out: &str, err: &str| {
        let file = |path: &str| std::fs::OpenOptions::new().write(true).open(path).unwrap();
        let mut command = Command::new(IASIM);
        command.args(args).stdin(Stdio::null()).stdout(file(out)).stderr(file(err));
        command.status().unwrap().code()
    };
    let null = "/dev/null";
    assert_eq!(run(&["run", "--board", "generic", elf], null, null), Some(0));
    assert_eq!(run(&["run", "--board", "generic", elf], full, null), Some(4));
    for option in ["--stats", "--profile"] {
        assert_eq!(run(&["run", "--board", "generic", option, elf], null, full), Some(4), "{option}");
    }
    for option in ["--help", "--version", "models"] {
        assert_eq!(run(&[option], full, null), Some(2), "{option}");
    }
    assert_eq!(run(&["run", "/nowhere.elf"], null, full), Some(2));
    let exit = with_code("exit", &[0x2419_0001, 0x2404_0000, 0x7000_007F]); // li t9,1; li a0,0; sdbbp 1
    for (option, what) in [("--trace", "trace"), ("--coverage", "coverage")] {
        let (code, _, err) = iasim(&["run", "--board", "generic", option, full, &exit]);
        assert!(
            code == 4 && err.contains(&format!("the {what} is incomplete: No space left")),
            "{option}: {code} {err}"
        );
    }
    // A program that prints for ever ends with its reader.
    // lui t0,0xbfd0; li t1,10; sb t1,0x3f8(t0); b .-4; nop
    let endless = with_code("endless", &[0x3C08_BFD0, 0x2409_000A, 0xA109_03F8, 0x1000_FFFE, 0]);
    assert_eq!(run(&["run", "--board", "generic", "--limit", "1G", &endless], full, null), Some(4));
}

#[test]
fn version() {
    let (code, out, err) = iasim(&["--version"]);
    assert_eq!((code, out, err), (0, format!("iasim {}\n", env!("CARGO_PKG_VERSION")), String::new()));
}

/// Terminal input that is recorded and replayed ends the run at the same instruction.
#[test]
fn input_is_recorded_and_replayed() {
    let elf = echo().to_str().unwrap();
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (typed, record) = (dir.join("typed"), dir.join("record"));
    std::fs::write(&typed, "Hello, world\n").unwrap();
    let (typed, record) = (typed.to_str().unwrap(), record.to_str().unwrap());
    let first = iasim(&["run", "--board", "generic", "--stats", "--input", typed, "--record", record, elf]);
    assert_eq!((first.0, first.1.as_str()), (13, "HELLO, WORLD\n"), "{}", first.2);
    assert_eq!(std::fs::read_to_string(record).unwrap().lines().count(), 13);
    let second = iasim(&["run", "--board", "generic", "--stats", "--replay", record, elf]);
    assert_eq!(first, second, "the same output, and the same counts");
    let (code, _, err) = iasim(&["run", "--board", "generic", "--input", typed, "--record", "/dev/full", elf]);
    assert_eq!((code, err.lines().count()), (13, 1), "{err}");
    assert!(err.contains("the record is incomplete: No space left"), "{err}");
}

/// With --pace, byte n arrives at clock n * N or later, so that the same input takes longer.
#[test]
fn input_is_paced() {
    let elf = echo().to_str().unwrap();
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (typed, record) = (dir.join("paced"), dir.join("paced-record"));
    std::fs::write(&typed, "Hello, world\n").unwrap();
    let (typed, record) = (typed.to_str().unwrap(), record.to_str().unwrap());
    let run = ["run", "--board", "generic", "--input", typed, "--pace", "10k", "--record", record, elf];
    let (code, out, err) = iasim(&run);
    assert_eq!((code, out.as_str()), (13, "HELLO, WORLD\n"), "{err}");
    let record = std::fs::read_to_string(record).unwrap();
    let times = record.lines().map(|line| line.split_once(' ').unwrap().0.parse::<u64>().unwrap());
    for (n, at) in times.enumerate().skip(1) {
        assert!((n as u64 * 10_000..n as u64 * 10_000 + 1_000).contains(&at), "byte {n} at {at}");
    }
    for (arguments, says) in [
        (vec!["run", "--pace", "5", elf], "--pace needs --input"),
        (vec!["run", "--input", typed, "--pace", "soon", elf], "--pace: 'soon' is not a number"),
    ] {
        let (code, _, err) = iasim(&arguments);
        assert!(code == 2 && err.contains(says), "{err}");
    }
}

/// A minimal hypervisor from reset to the end of its guest on the m5150 board, with its cost.
#[test]
fn a_minimal_hypervisor_runs_its_guest() {
    let elf = build("vz", "vz.lds", &["vz.S"], &[]);
    let (code, _, err) = iasim(&["run", "--stats", "--span", "1:2", elf.to_str().unwrap()]);
    assert_eq!(code, 100, "the guest's own count, out of its shadow set: {err}");
    // The guest executes HYPCALL and the second marker; the root executes eight instructions, one
    // in a delay slot.
    for line in ["span 1:2 all   n 100 min 10 median 10 max 10", "span 1:2 root  n 100 min 8 median 8 max 8"] {
        assert!(err.contains(line), "no '{line}' in {err}");
    }
    assert!(err.contains("GE HC") && err.contains("101"), "{err}");
    assert!(err.lines().any(|line| line.split_whitespace().eq(["guest", "1", "702", "0", "101"])), "{err}");

    // The same as sections of the root: without and with a polling point in the handler.
    let elf = elf.to_str().unwrap();
    let (_, _, err) = iasim(&["run", "--polling-point", "_start", "--path", "handler", elf]);
    assert!(err.contains("section handler n 100 max 8\n") && err.matches("section").count() == 1, "{err}");
    let (_, _, err) = iasim(&["run", "--polling-point", "0x8000018c", "--path", "handler", elf]);
    assert!(err.contains("section - n 100 max 5\nsection handler n 101 max 3\n"), "{err}");
}

/// A TCP port has no mode: it is served with a warning.
#[test]
fn gdbs_socket_is_for_its_user_alone() {
    use std::os::unix::{fs::PermissionsExt, net::UnixStream};
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gdb-socket");
    let _ = std::fs::remove_file(&place);
    let mut server = Command::new(IASIM)
        .args(["run", "--board", "generic", "--gdb", place.to_str().unwrap(), work().to_str().unwrap()])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let line = BufReader::new(server.stderr.take().unwrap()).lines().next().unwrap().unwrap();
    assert!(line.ends_with("gdb-socket)"), "{line}");
    assert_eq!(std::fs::metadata(&place).unwrap().permissions().mode() & 0o777, 0o600);
    UnixStream::connect(&place).unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
}

/// A GDB session: breakpoint, registers of both contexts, single step, memory, end of the program.
#[test]
fn gdb_reads_and_controls_the_machine() {
    let elf = work();
    let mut server = Command::new(IASIM)
        .args(["run", "--board", "generic", "--gdb", "0"])
        .arg(elf)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stderr.take().unwrap()).lines();
    let line = lines.next().unwrap().unwrap();
    let port = line.trim_end_matches(')').rsplit(':').next().unwrap().to_string();
    let commands = [
        &format!("target remote 127.0.0.1:{port}"),
        "p/x $pc",
        "break main",
        "continue",
        "p/x $root_Status",
        "p/x $guest_Config3",
        "p/x $sp",
        "x/1xw 0xbfc00000",
        "stepi",
        "set var $t0 = 0x1234",
        "p/x $t0",
        "set var *(int *)0x80010000 = 0x5678",
        "p/x *(int *)0x80010000",
        "p (int)sizeof(int)",
        "load",
        "monitor tlb",
        "delete",
        "continue",
    ];
    let mut gdb = Command::new("gdb-multiarch");
    gdb.args(["-nx", "-batch"]).arg(elf);
    commands.iter().for_each(|command| {
        gdb.args(["-ex", command]);
    });
    let output = gdb.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let all = format!("{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let expected = [
        "$1 = 0xbfc00000",
        "in main ()",
        "$2 = 0x400004",
        "$3 = 0x8c22b020",
        "$4 = 0x8007ff",
        "0x3c1d8008",
        "$5 = 0x1234",
        "$6 = 0x5678",
        "$7 = 4",
        "Transfer rate",
        "root: entry guest asid",
        "exited normally",
    ];
    for expected in expected {
        assert!(all.contains(expected), "no '{expected}' in:\n{all}");
    }
    assert!(server.wait().unwrap().success());
}

/// Ctrl-C in GDB while the program waits for input.
#[test]
fn gdb_interrupts_a_program_that_sleeps() {
    let elf = with_code("asleep", &[0x4200_0020, 0x1000_FFFE, 0]); // wait; b .-4; nop
    let mut server = Command::new(IASIM)
        .args(["run", "--board", "generic", "--gdb", "0", &elf])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let line = BufReader::new(server.stderr.take().unwrap()).lines().next().unwrap().unwrap();
    let port: u16 = line.trim_end_matches(')').rsplit(':').next().unwrap().parse().unwrap();
    let mut gdb = TcpStream::connect(("127.0.0.1", port)).unwrap();
    gdb.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    gdb.write_all(b"$c#63").unwrap();
    std::thread::sleep(Duration::from_millis(300));
    gdb.write_all(&[3]).unwrap();
    let mut said = String::new();
    let mut byte = [0];
    while !said.contains("02") && gdb.read(&mut byte).is_ok_and(|count| count == 1) {
        said.push(byte[0].into());
    }
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(said.contains("T02") || said.contains("S02"), "no SIGINT in {said:?}");
}

/// A GDB server, and a client that sends packets byte by byte. The program sleeps.
struct Served(std::process::Child, TcpStream);

fn frame(body: &[u8]) -> Vec<u8> {
    let sum = body.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    [b"$", body, format!("#{sum:02x}").as_bytes()].concat()
}

impl Served {
    fn new(name: &str) -> Self {
        let elf = with_code(name, &[0x4200_0020, 0x1000_FFFE, 0]); // wait; b .-4; nop
        let mut server = Command::new(IASIM)
            .args(["run", "--board", "generic", "--gdb", "0", &elf])
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let line = BufReader::new(server.stderr.take().unwrap()).lines().next().unwrap().unwrap();
        let port: u16 = line.trim_end_matches(')').rsplit(':').next().unwrap().parse().unwrap();
        let gdb = TcpStream::connect(("127.0.0.1", port)).unwrap();
        gdb.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        gdb.set_nodelay(true).unwrap();
        Served(server, gdb)
    }

    /// Sends the bytes; returns the body of the answer, or what arrived before the connection ended.
    fn ask(&mut self, bytes: &[u8]) -> String {
        let _ = self.1.write_all(bytes);
        let (mut said, mut byte) = (Vec::new(), [0]);
        while !(said.contains(&b'$') && said.len() > 3 && said[said.len() - 3] == b'#') {
            match self.1.read(&mut byte) {
                Ok(1) => said.push(byte[0]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => {
                    eprintln!("the connection: {other:?}; the server: {:?}", self.0.try_wait());
                    return format!("{:?}, then the end", String::from_utf8_lossy(&said));
                }
            }
        }
        let said = String::from_utf8_lossy(&said).into_owned();
        said.split_once('$').and_then(|(_, rest)| rest.rsplit_once('#')).unwrap().0.to_string()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Addresses and lengths at their limits, and malformed packets, get an answer and leave the
/// session and the program as they are.
#[test]
fn gdb_packets_never_end_the_session() {
    let mut served = Served::new("packets");
    let cases: [(&str, &str); 45] = [
        // GDB extends the sign of the address when it asks whether X is supported.
        ("Xffffffff80001000,0:", "OK"),
        ("Xffffffff80001000,4:abcd", "OK"),
        ("mffffffff80001000,4", "61626364"),
        ("m80001000,4", "61626364"),
        ("M80001000,2:3132", "OK"),
        ("Mffffffff80001002,2:3334", "OK"),
        ("m80001000,4", "31323334"),
        ("m180001000,4", "E01"),
        ("mffffffff00001000,4", "E01"),
        ("m100000000000000000,4", "E01"),
        ("mffffffff,2", "E01"),
        ("m80001000,ffffffffffffffff", "E01"),
        ("m80001000,7fffffffffffffff", "E01"),
        ("m80001000,800", "E01"),
        ("m80001000,0", ""),
        ("m80001000", "E01"),
        ("m,", "E01"),
        ("mzz,4", "E01"),
        ("M80001000,4:61", "E01"),
        ("M80001000,1:6", "E01"),
        ("M80001000,1:zz", "E01"),
        ("X80001000,4:a", "E01"),
        ("X80001000,ffffffffffffffff:a", "E01"),
        ("X,:", "E01"),
        // Addresses without memory, and of a device.
        ("m9fd00000,4", "E79"),
        ("X9fd00000,4:abcd", "E79"),
        ("Mbfd003f8,1:41", "E79"),
        ("Z0,ffffffffbfc00040,4", "OK"),
        ("z0,bfc00040,4", "OK"),
        ("Z0,fffffffff,4", "E01"),
        ("Z0,bfc00040", "E01"),
        ("Z0,bfc00040,4;X1,0", "E01"),
        ("P25=00", "E79"),
        ("Pfffffffffffffffff=00000000", "E01"),
        ("pffffffff", ""),
        ("G00", "E01"),
        ("vCont;s;s;s", "E01"),
        ("vCont;t", "E01"),
        ("qSupported", ""),
        ("Hg-1", "E01"),
        ("Hgp1.-1", "E01"),
        ("Hgp-1.-1", "E01"),
        ("Hc-1", "OK"),
        ("vCont;c:p0.1", "E01"),
        ("vCont;s:p0.1", "E01"),
    ];
    for (body, expected) in cases {
        assert_eq!(served.ask(&frame(body.as_bytes())), expected, "{body}");
    }
    // A damaged packet is requested again; a request to repeat an answer repeats it.
    assert_eq!(served.ask(b"$?#00$?#3f"), "T05thread:01;");
    assert_eq!(served.ask(b"-"), "T05thread:01;");
    assert_eq!(served.ask(&frame(&[b'M'; 5000])), "E01");
    assert_eq!(served.ask(&frame(b"p25")), "0* c0bf", "the program has not run");
}

/// Random changes of valid packets.
#[test]
fn gdb_survives_random_packets() {
    let mut served = Served::new("random-packets");
    let valid: [&[u8]; 16] = [
        b"m80001000,4",
        b"M80001000,2:3132",
        b"X80001000,2:ab",
        b"Z0,80001000,4",
        b"z0,80001000,4",
        b"p25",
        b"P4=00000000",
        b"Hgp1.1",
        b"Hgp1.-1",
        b"Hcp1.1",
        b"T1",
        b"qXfer:features:read:target.xml:0,100",
        b"qRcmd,746c62",
        b"qSupported:multiprocess+;swbreak+",
        b"vCont?",
        b"qAttached:1",
    ]; // fmt: skip
    let mut seed = 1u64;
    let mut random = move |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let odd = b"0f,:;=-p.zXQ}\x80#$";
    for n in 0..1500 {
        let mut body = valid[random(valid.len())].to_vec();
        for _ in 0..=random(3) {
            let at = 1 + random(body.len());
            match random(4) {
                0 => body.truncate(at),
                1 if at < body.len() => body[at] = odd[random(odd.len())],
                2 => body.extend_from_within(at.min(body.len())..),
                _ => body.insert(at.min(body.len()), odd[random(odd.len())]),
            }
        }
        let _ = served.1.write_all(&frame(&body));
        // Answers of both; the last one is that of this packet.
        let mut answer = served.ask(&frame(b"p25"));
        for _ in 0..4 {
            if answer == "0* c0bf" {
                break;
            }
            assert!(!answer.ends_with("then the end"), "packet {n}: {:?}: {answer}", String::from_utf8_lossy(&body));
            answer = served.ask(b"");
        }
    }
}
