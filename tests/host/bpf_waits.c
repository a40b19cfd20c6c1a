// SPDX-License-Identifier: GPL-2.0-only
/* The same test on the kernel of this machine, where no module is loaded for a test. */
#define WITHOUT_MODULE
#include "../bpf/waits.c"
