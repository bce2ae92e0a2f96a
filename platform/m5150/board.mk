# SPDX-License-Identifier: Apache-2.0
HYP_ARCH := mips
HYP_VARIANT := arch/mips/eic
# Little memory: fewer VMs.
HYP_LIMITS := -DSYSIMAGE_MAX_VMS=8U -DSYSIMAGE_MAX_RT_APPS=16U -DSYSIMAGE_MAX_VCPUS=24U -DSYSIMAGE_MAX_HARTS=1U
# Its UART is no 16550: the driver is the board's own.
HYP_DRIVERS :=
