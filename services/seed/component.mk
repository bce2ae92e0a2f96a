# SPDX-License-Identifier: Apache-2.0
FOR_SIZE += $(addprefix services/seed/,seed.c)
