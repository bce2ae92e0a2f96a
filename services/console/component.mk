# SPDX-License-Identifier: Apache-2.0
FOR_SIZE += $(addprefix services/console/,channels.c console.c filter.c keys.c out.c source.c)
