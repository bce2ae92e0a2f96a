// SPDX-License-Identifier: Apache-2.0
//! Semihosting calls of the MIPS UHI that small programs need (exit, print): SDBBP 1 with the
//! number in $25 and arguments from $4 on.

use crate::cpu::{Cpu, Done, Stop};
use crate::mmu::Access;

const EXIT: u32 = 1;
const WRITE: u32 = 5;
const PLOG: u32 = 13;
const ENOSYS: u32 = 89;
const MAX_LENGTH: u32 = 4096;

pub fn call(c: &mut Cpu) -> Done {
    let [first, second, third] = [c.gpr[4], c.gpr[5], c.gpr[6]];
    match c.gpr[25] {
        EXIT => c.halt(Stop::Exit(first as i32)),
        WRITE if first == 1 || first == 2 => c.gpr[2] = print(c, second, third.min(MAX_LENGTH), false),
        PLOG => c.gpr[2] = print(c, first, MAX_LENGTH, true),
        _ => {
            c.gpr[2] = u32::MAX;
            c.gpr[3] = ENOSYS;
        }
    }
    Ok(())
}

/// Prints up to `most` bytes; of a text, up to its terminating zero. Returns the number of bytes
/// printed.
fn print(c: &mut Cpu, from: u32, most: u32, text: bool) -> u32 {
    for n in 0..most {
        let pa = c.translate(from.wrapping_add(n), Access::Read).ok();
        match pa.and_then(|pa| c.mem.peek(pa)) {
            None => return n,
            Some(0) if text => return n,
            Some(byte) => c.board.console().put(byte),
        }
    }
    most
}
