# SPDX-License-Identifier: Apache-2.0
USES_debug := console
FOR_SIZE += $(addprefix services/debug/,session.c)
