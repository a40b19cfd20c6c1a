// SPDX-License-Identifier: GPL-2.0-only
/* tests/bpf/library_place.c on the kernel of this machine. */
#include "../bpf/library_place.c"
