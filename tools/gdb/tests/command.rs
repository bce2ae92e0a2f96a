// SPDX-License-Identifier: Apache-2.0
//! The server as a process.

use std::fs;
use std::process::{Command, Stdio};

/// The exit code of a server whose machine prints a line and ends.
fn exit_code(console: &str) -> Option<i32> {
    let folder =
        std::env::temp_dir().join(format!("tessera-gdb-command-{}{}", std::process::id(), console.replace('/', "-")));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("output"), "Tessera on a machine\n").unwrap();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_string();
    let status = Command::new(env!("CARGO_BIN_EXE_tessera-gdb"))
        .args(["--vm", "a", "--listen", &path("socket"), "--from", &path("output"), "--to", "/dev/null"])
        .args(["--console", console])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    fs::remove_dir_all(&folder).unwrap();
    status.code()
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    assert_eq!(exit_code("/dev/null"), Some(0));
    assert_eq!(exit_code("/dev/full"), Some(1));
}
