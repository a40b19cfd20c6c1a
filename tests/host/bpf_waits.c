// SPDX-License-Identifier: GPL-2.0-only
/* tests/bpf/waits.c on the kernel of this machine, without the modules of the simulated board. */
#define WITHOUT_MODULE
#include "../bpf/waits.c"
