// SPDX-License-Identifier: GPL-2.0-only
/* tests/bpf/library.c on the kernel of this machine. */
#include "../bpf/library.c"
