// SPDX-License-Identifier: GPL-2.0-only
/* The same test on the kernel of this machine. */
#include "../bpf/library.c"
