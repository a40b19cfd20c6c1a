// SPDX-License-Identifier: GPL-2.0-only
/* tests/bpf/whom.c on the kernel of this machine. */
#include "../bpf/whom.c"
