// SPDX-License-Identifier: GPL-2.0-only
/* The same test on the kernel of this machine, where no module is loaded for a test. */
#define MODULE_MAY_BE_MISSING	1
#include "../bpf/waits.c"
