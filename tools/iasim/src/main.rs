// SPDX-License-Identifier: Apache-2.0
//! The command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    match iasim::cli::main() {
        Ok(code) => ExitCode::from(code),
        Err(text) => {
            eprintln!("iasim: error: {text}");
            ExitCode::from(2)
        }
    }
}
