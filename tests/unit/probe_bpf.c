// SPDX-License-Identifier: GPL-2.0-only
/* The warning of libbpf that an error text of the probe quotes. */
#include "../../user/lib/probe_bpf.c"

#include <stdarg.h>

#include "kselftest_harness.h"

static void __attribute__((format(printf, 2, 3))) say(enum libbpf_print_level level,
						     const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	keep_warning(level, fmt, ap);
	va_end(ap);
}

TEST(first_warning_is_quoted)
{
	say(LIBBPF_INFO, "libbpf: loading object\n");
	say(LIBBPF_WARN, "libbpf: Error loading .BTF: -22. BTF is optional, ignoring.\n");
	say(LIBBPF_WARN, "\n");
	say(LIBBPF_WARN, "libbpf: prog '%s': BPF program load failed: %s\n", "a", "Invalid argument");
	say(LIBBPF_WARN, "libbpf: prog 'a': -- BEGIN PROG LOAD LOG --\nlog\n");
	say(LIBBPF_WARN, "libbpf: failed to load BPF skeleton 'sync': -22\n");
	EXPECT_STREQ("libbpf: prog 'a': BPF program load failed: Invalid argument", libbpf_warning);
}

TEST_HARNESS_MAIN
