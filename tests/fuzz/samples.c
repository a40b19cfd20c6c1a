// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target for the parsers of the module's messages and for the join of samples and waits.
 * The parsers must not read outside of the input, and accepted results must be within the
 * documented limits.
 *
 * libFuzzer calls LLVMFuzzerTestOneInput(); tests/unit/parse.c includes this file and passes
 * damaged messages to it. The first byte of the input selects the parser.
 */
#include <linux/jetwatt.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/join.h"
#include "lib/parse.h"

static uint64_t fuzz_sum;	/* a use of all values, so that the compiler keeps the reads */

static void fuzz_power(const struct jetwatt_power *p, void *arg)
{
	uint32_t r;

	(void)arg;
	for (r = 0; r < p->nr; r++)
		fuzz_sum += p->uw[r];
}

static void fuzz_samples(const struct nlattr *attr, int len)
{
	static const struct jetwatt_rail rail[2] = {
		{ .id = 0, .shunt_uohm = 2000, .enabled = 1 },
		{ .id = 1, .shunt_uohm = 1, .enabled = 1 },
	};
	static struct jetwatt_parse p;
	struct jetwatt_samples *s = &p.samples;
	struct jetwatt_join *j;
	uint32_t i, k;

	if (jetwatt_parse_samples(&p, attr, len))
		return;
	if (!s->count || s->nr_series > JETWATT_PARSE_SERIES || s->seq + s->count < s->seq)
		abort();
	for (i = 0; i < s->count; i++) {
		fuzz_sum += s->time_ns[i];
		for (k = 0; k < s->nr_series; k++)
			fuzz_sum += s->series[k].value[i];
	}
	if (jetwatt_join_new_rails(&j, rail, 2, 10))
		return;
	jetwatt_join_set(j, fuzz_power, NULL, NULL);
	jetwatt_join_samples(s, j);
	jetwatt_join_flush(j);
	jetwatt_join_free(j);
}

static void fuzz_waits(const struct nlattr *attr, int len)
{
	struct jetwatt_parse_waits w;
	uint32_t i;

	if (jetwatt_parse_waits(&w, attr, len))
		return;
	for (i = 0; i < w.nr; i++)
		fuzz_sum += jetwatt_parse_wait(&w, i).exit_ns + w.lost;
}

static void fuzz_ack(const char *buf, size_t len)
{
	struct nlmsghdr *nlh = (struct nlmsghdr *)buf;
	char text[64];

	if (len < sizeof(*nlh))
		return;
	nlh->nlmsg_len = len;	/* the caller has checked the length with nlmsg_ok() */
	if (jetwatt_parse_ack(nlh, text, sizeof(text)) > 0 || strlen(text) >= sizeof(text))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jetwatt_family family;
	struct jetwatt_config config;
	struct jetwatt_event event;
	struct jetwatt_clock clock;
	struct jetwatt_stats stats;
	struct jetwatt_energy energy;
	struct jetwatt_box box;
	struct jetwatt_chip chip;
	struct jetwatt_rail rail;
	struct jetwatt_info info;
	struct nlattr *attr;
	int len = size - 1;

	if (!size || size > 1 << 20)
		return 0;
	/* A copy on the heap is aligned, and the sanitizer detects reads beyond its end. */
	attr = malloc(len ? len : 1);
	memcpy(attr, data + 1, len);
	switch (data[0] % 13) {
	case 0:
		fuzz_samples(attr, len);
		break;
	case 1:
		jetwatt_parse_event(&event, attr, len);
		break;
	case 2:
		if (!jetwatt_parse_info(&info, attr, len) &&
		    strlen(info.board) >= sizeof(info.board))
			abort();
		break;
	case 3:
		jetwatt_parse_chip(&chip, attr, len);
		break;
	case 4:
		if (!jetwatt_parse_rail(&rail, attr, len) &&
		    strlen(rail.label) >= sizeof(rail.label))
			abort();
		break;
	case 5:
		jetwatt_parse_clock(&clock, attr, len);
		break;
	case 6:
		jetwatt_parse_config(&config, attr, len);
		break;
	case 7:
		jetwatt_parse_stats(&stats, attr, len);
		break;
	case 10:
		jetwatt_parse_energy(&energy, attr, len);
		break;
	case 12:
		fuzz_waits(attr, len);
		break;
	case 11:
		jetwatt_parse_box(&box, attr, len);
		break;
	case 8:
		jetwatt_parse_family(&family, attr, len);
		break;
	case 9:
		fuzz_ack((char *)attr, len);
		break;
	}
	free(attr);
	return 0;
}
