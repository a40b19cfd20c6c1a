// SPDX-License-Identifier: GPL-2.0-only
// host: waits
/* Runs the test tests/bpf/library.c on the kernel of the host instead of a guest. */
#include "../bpf/library.c"
