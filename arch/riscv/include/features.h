/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Optional features of a RISC-V machine. Used twice: machine_mask of the system image hides a
 * feature from the hypervisor as if the core lacked it, and a fixup of the image applies if the
 * machine (after the mask) lacks the fixup's feature. The image builder uses the same numbers.
 */
#ifndef FEATURES_H
#define FEATURES_H

enum riscv_feature {
    RISCV_FEATURE_SSTC = 0,       /* stimecmp, vstimecmp */
    RISCV_FEATURE_HTIMEDELTA = 1, /* htimedelta */
    RISCV_FEATURE_HTINST = 2,     /* htinst holds the transformed instruction of an MMIO exit */
    RISCV_FEATURE_ENVCFG = 3,     /* henvcfg, senvcfg */
    RISCV_FEATURE_SVPBMT = 4,
    RISCV_FEATURE_SVADU = 5,
    RISCV_FEATURE_ZICBOM = 6,
    RISCV_FEATURE_ZICBOZ = 7,
    RISCV_FEATURE_ZBA = 8,
    RISCV_FEATURE_ZBB = 9,
    RISCV_FEATURE_ZBS = 10,
    RISCV_FEATURE_SVINVAL = 11,
    RISCV_FEATURE_ZAWRS = 12,
    RISCV_FEATURE_SEED = 13, /* firmware's device tree has a seed for random number generators */
    RISCV_FEATURE_COUNT = 14,
};

#endif
