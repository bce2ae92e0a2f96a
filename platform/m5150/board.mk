# SPDX-License-Identifier: Apache-2.0
HYP_ARCH := mips
HYP_VARIANT := arch/mips/eic
# Little memory: fewer VMs.
HYP_LIMITS := -DSYSIMAGE_MAX_VMS=8U -DSYSIMAGE_MAX_RT_APPS=16U -DSYSIMAGE_MAX_VCPUS=24U -DSYSIMAGE_MAX_HARTS=1U
# The UART is not a 16550: platform.c has its driver.
HYP_DRIVERS :=
