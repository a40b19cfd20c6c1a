// SPDX-License-Identifier: GPL-2.0-only
/* Runs the test tests/bpf/waits.c on the kernel of the host, without the kernel modules of the
 * simulated board. */
#define WITHOUT_MODULE
#include "../bpf/waits.c"
