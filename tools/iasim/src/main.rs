// SPDX-License-Identifier: Apache-2.0
//! The command line.

use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    match iasim::cli::main() {
        Ok(code) => ExitCode::from(code),
        Err(text) => {
            // Not eprintln!, which panics if standard error cannot be written.
            let _ = writeln!(io::stderr(), "iasim: error: {text}");
            ExitCode::from(2)
        }
    }
}
