# SPDX-License-Identifier: Apache-2.0
HYP_DRIVERS := platform/drivers platform/cva6-soc
HYP_ERRATA := cva6
