// SPDX-License-Identifier: GPL-2.0-only
/* tests/bpf/open.c on the kernel of this machine. */
#include "../bpf/open.c"
