# SPDX-License-Identifier: Apache-2.0
FOR_SIZE += services/serial/console.c
