// SPDX-License-Identifier: Apache-2.0
//! Possible addresses of a VCPU after one instruction (Unprivileged ISA, chapters 2, 13 and 26).
//! Decodes only what this requires.

/// State that determines the next address: registers x0 to x31, and these CSRs.
pub struct State {
    pub pc: u64,
    pub x: [u64; 32],
    pub sepc: u64,
    pub stvec: u64,
    pub user: bool,
}

const LR_SC_MAX: usize = 16; // instructions from lr to sc (Unprivileged ISA, "Eventual Success")

fn bits(insn: u32, from: u32, count: u32) -> u32 {
    insn >> from & ((1 << count) - 1)
}

fn extend(value: u32, sign: u32) -> u64 {
    ((value << (31 - sign)) as i32 >> (31 - sign)) as i64 as u64
}

fn is_long(insn: u32) -> bool {
    insn & 3 == 3
}

pub fn size(insn: u32) -> u64 {
    if is_long(insn) {
        4
    } else {
        2
    }
}

/// Offset of a conditional branch; None: another instruction.
fn branch_offset(insn: u32) -> Option<u64> {
    if is_long(insn) {
        return (insn & 0x7f == 0x63).then(|| {
            let offset =
                bits(insn, 31, 1) << 12 | bits(insn, 7, 1) << 11 | bits(insn, 25, 6) << 5 | bits(insn, 8, 4) << 1;
            extend(offset, 12)
        });
    }
    (insn & 0xc003 == 0xc001).then(|| {
        let offset = bits(insn, 12, 1) << 8
            | bits(insn, 5, 2) << 6
            | bits(insn, 2, 1) << 5
            | bits(insn, 10, 2) << 3
            | bits(insn, 3, 2) << 1;
        extend(offset, 8)
    })
}

fn branch_taken(insn: u32, x: &[u64; 32]) -> bool {
    if !is_long(insn) {
        let zero = x[bits(insn, 7, 3) as usize + 8] == 0;
        return zero == (bits(insn, 13, 1) == 0);
    }
    let (a, b) = (x[bits(insn, 15, 5) as usize], x[bits(insn, 20, 5) as usize]);
    let met = match bits(insn, 13, 2) {
        0 => a == b,
        2 => (a as i64) < (b as i64),
        _ => a < b,
    };
    met != (bits(insn, 12, 1) == 1)
}

/// Target of an unconditional jump; None: another instruction.
fn jump_target(insn: u32, state: &State) -> Option<u64> {
    if !is_long(insn) {
        return compressed_jump(insn, state);
    }
    match insn & 0x7f {
        0x6f => {
            let offset =
                bits(insn, 31, 1) << 20 | bits(insn, 12, 8) << 12 | bits(insn, 20, 1) << 11 | bits(insn, 21, 10) << 1;
            Some(state.pc.wrapping_add(extend(offset, 20)))
        }
        0x67 => {
            let offset = extend(insn >> 20, 11);
            Some(state.x[bits(insn, 15, 5) as usize].wrapping_add(offset) & !1)
        }
        _ => None,
    }
}

fn compressed_jump(insn: u32, state: &State) -> Option<u64> {
    let register = bits(insn, 7, 5) as usize;
    if insn & 0xe003 == 0xa001 {
        let offset = bits(insn, 12, 1) << 11
            | bits(insn, 8, 1) << 10
            | bits(insn, 9, 2) << 8
            | bits(insn, 6, 1) << 7
            | bits(insn, 7, 1) << 6
            | bits(insn, 2, 1) << 5
            | bits(insn, 11, 1) << 4
            | bits(insn, 3, 3) << 1;
        return Some(state.pc.wrapping_add(extend(offset, 11)));
    }
    // c.jr and c.jalr; with register 0 these encodings are c.ebreak and reserved
    (insn & 0xe07f == 0x8002 && register != 0).then(|| state.x[register] & !1)
}

/// Target of a privileged instruction that does not continue with the next instruction.
fn privileged_target(insn: u32, state: &State) -> Option<u64> {
    match insn {
        0x1020_0073 => Some(state.sepc & !1),                // sret
        0x0000_0073 if state.user => Some(state.stvec & !3), // ecall to the guest's kernel
        _ => None,
    }
}

fn is_lr(insn: u32) -> bool {
    insn & 0xf800_607f == 0x1000_202f
}

fn is_sc(insn: u32) -> bool {
    insn & 0xf800_607f == 0x1800_202f
}

/// The addresses after an lr/sc sequence that starts at pc. The sequence must not contain a
/// breakpoint: the trap would clear the reservation, and sc would never succeed.
fn atomic_ends<E>(pc: u64, fetch: &mut impl FnMut(u64) -> Result<u32, E>) -> Result<Option<Vec<u64>>, E> {
    let mut at = pc;
    let mut out = Vec::new();
    for _ in 0..LR_SC_MAX {
        let insn = fetch(at)?;
        if let Some(offset) = branch_offset(insn) {
            out.push(at.wrapping_add(offset));
        }
        at += size(insn);
        if is_sc(insn) {
            out.retain(|target| *target < pc || *target >= at);
            out.push(at);
            return Ok(Some(out));
        }
    }
    Ok(None)
}

/// All addresses that the VCPU can reach by its next instruction. Traps are not included, because
/// their handler returns to the instruction.
pub fn next<E>(state: &State, mut fetch: impl FnMut(u64) -> Result<u32, E>) -> Result<Vec<u64>, E> {
    let insn = fetch(state.pc)?;
    if is_lr(insn) {
        if let Some(ends) = atomic_ends(state.pc, &mut fetch)? {
            return Ok(ends);
        }
    }
    if let Some(target) = jump_target(insn, state).or_else(|| privileged_target(insn, state)) {
        return Ok(vec![target]);
    }
    let taken = branch_offset(insn).filter(|_| branch_taken(insn, &state.x));
    Ok(vec![state.pc.wrapping_add(taken.unwrap_or(size(insn)))])
}

#[cfg(test)]
mod tests {
    use super::*;

    const PC: u64 = 0xffff_ffff_8010_0000;

    /// State with the given a0 and a1, and t1 = 0x5001.
    fn state(a0: u64, a1: u64) -> State {
        let mut x = [0; 32];
        (x[6], x[10], x[11]) = (0x5001, a0, a1);
        State { pc: PC, x, sepc: 0x7771, stvec: 0x8881, user: false }
    }

    fn after(insn: u32, a0: u64, a1: u64) -> Vec<u64> {
        next(&state(a0, a1), |_| Ok::<u32, ()>(insn)).unwrap()
    }

    fn to(distance: i64) -> Vec<u64> {
        vec![PC.wrapping_add(distance as u64)]
    }

    // Encodings and offsets were produced by the GNU assembler.

    #[test]
    fn branches() {
        let minus = -1i64 as u64;
        let cases = [
            (0x00b5_0863, 16, [(1, 1, true), (1, 2, false)]),           // beq a0, a1
            (0x80b5_1063, -4096, [(1, 2, true), (2, 2, false)]),        // bne
            (0x7eb5_4fe3, 4094, [(minus, 1, true), (1, 1, false)]),     // blt
            (0xfeb5_5fe3, -2, [(1, 1, true), (minus, 1, false)]),       // bge
            (0x00b5_60e3, 2048, [(1, minus, true), (minus, 1, false)]), // bltu
            (0x00b5_7363, 6, [(minus, 1, true), (1, minus, false)]),    // bgeu
            (0xd101, -256, [(0, 9, true), (9, 0, false)]),              // c.beqz a0
            (0xed7d, 254, [(9, 0, true), (0, 9, false)]),               // c.bnez a0
            (0xc545, 0xa8, [(0, 0, true), (1, 0, false)]),
        ];
        for (insn, distance, operands) in cases {
            for (a0, a1, taken) in operands {
                let expected = if taken { distance } else { size(insn) as i64 };
                assert_eq!(after(insn, a0, a1), to(expected), "{insn:#x} with {a0:#x}, {a1:#x}");
            }
        }
    }

    #[test]
    fn jumps() {
        for (insn, distance) in [
            (0x8000_00ef, -1_048_576), // jal
            (0x7fff_f06f, 1_048_574),
            (0x0030_00ef, 0x802),
            (0xb001, -2048), // c.j
            (0xaffd, 2046),
            (0xab91, 0x554),
        ] {
            assert_eq!(after(insn, 0, 0), to(distance), "{insn:#x}");
        }
        for (insn, target) in [(0xff83_00e7, 0x4ff8), (0x7ff3_0067, 0x5800), (0x8302, 0x5000), (0x9302, 0x5000)] {
            assert_eq!(after(insn, 0, 0), [target], "{insn:#x}");
        }
    }

    #[test]
    fn traps_and_their_returns() {
        assert_eq!(after(0x1020_0073, 0, 0), [0x7770], "sret");
        assert_eq!(after(0x0000_0073, 0, 0), to(4), "ecall: the hypervisor's, which returns");
        let user = State { user: true, ..state(0, 0) };
        assert_eq!(next(&user, |_| Ok::<u32, ()>(0x73)), Ok(vec![0x8880]), "ecall of a user program");
    }

    #[test]
    fn other_instructions_continue_at_the_next_one() {
        for insn in [0x0015_0513, 0x00c3_26af, 0x18c3_26af] {
            assert_eq!(after(insn, 0, 0), to(4), "{insn:#x}");
        }
        for insn in [0x0001, 0x9002, 0x952e, 0x852e] {
            assert_eq!(after(insn, 0, 0), to(2), "{insn:#x}");
        }
    }

    #[test]
    fn an_atomic_sequence_is_one_step() {
        // lr.d.aqrl, addi, beqz out of the sequence (16 bytes ahead), sc.d.rl
        let code = [0x1603_362f, 0x0016_0613, 0x0006_0863, 0x1ac3_36af, 0x0001_0001];
        let fetch = |at: u64| Ok::<u32, ()>(code[(at.wrapping_sub(PC) / 4) as usize]);
        assert_eq!(next(&state(0, 0), fetch), Ok(vec![PC + 8 + 16, PC + 16]));
        // a sequence without sc is stepped by single instructions
        assert_eq!(next(&state(0, 0), |_| Ok::<u32, ()>(0x1603_362f)), Ok(vec![PC + 4]));
        // a fetch error ends the step
        assert_eq!(next(&state(0, 0), |_| Err(())), Err(()));
    }
}
