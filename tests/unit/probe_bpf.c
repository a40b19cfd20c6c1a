// SPDX-License-Identifier: GPL-2.0-only
/* The warning of libbpf that an error text of the probe quotes, and the losses that waits report. */
#include "lib/probe.h"

#define jetwatt_probe_deliver	fake_deliver
void fake_deliver(struct jetwatt_probe *p, const struct jetwatt_sync *s);
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

static struct jetwatt_sync delivered;

void fake_deliver(struct jetwatt_probe *p, const struct jetwatt_sync *s)
{
	(void)p;
	delivered = *s;
}

/* Return the number of losses that a wait reports whose record has the number @lost. */
static uint32_t losses(struct probe_bpf *b, uint32_t lost)
{
	struct jetwatt_sync_record r = { .call = JETWATT_SYNC_RECORD_STREAM, .lost = lost };

	handle_record(b, &r, sizeof(r));
	return delivered.lost;
}

/* The second record was reserved after the first one, but its thread has read the number earlier. */
TEST(losses_are_reported_once)
{
	struct probe_bpf b = { 0 };

	EXPECT_EQ(0, losses(&b, 0));
	EXPECT_EQ(7, losses(&b, 7));
	EXPECT_EQ(0, losses(&b, 5));
	EXPECT_EQ(1, losses(&b, 8));
	b.lost = UINT32_MAX;
	EXPECT_EQ(3, losses(&b, 2));
}

TEST_HARNESS_MAIN
