// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target for the inference of minibatches (make fuzz FUZZ=waits).
 *
 * For any sequence of waits, the bounds must be in order, have a confidence from 0 to 1, fit into
 * the array, and be the same in a second call. The records of the decisions must agree with the
 * bounds.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "minibatch/minibatch.h"

#define WAITS_MAX	6000

/*
 * Decode the input. The first byte selects the number of repetitions of the sequence (1 to 64),
 * which make it periodic. Each wait has four bytes: gap and length on a logarithmic scale; process,
 * thread and call; losses and whether there was a launch.
 */
static size_t waits(const uint8_t *data, size_t size, struct jetwatt_sync *s)
{
	size_t repeat = size ? 1 + data[0] % 64 : 1, n = 0;
	uint64_t now = 1000;

	for (size_t r = 0; r < repeat; r++)
		for (size_t i = 1; i + 4 <= size && n < WAITS_MAX; i += 4) {
			uint64_t gap = (uint64_t)(data[i] % 32 + 1) << data[i] / 8;
			uint64_t wait = (uint64_t)(data[i + 1] % 32) << data[i + 1] / 8;

			s[n] = (struct jetwatt_sync){ .enter_ns = now + gap, .exit_ns = now + gap + wait,
						      .tgid = 1 + (data[i + 2] >> 7), .tid = data[i + 2] & 3,
						      .call = data[i + 2] >> 2 & 7,
						      .lost = data[i + 3] > 250 ? data[i + 3] - 250u : 0 };
			s[n].launch_ns = data[i + 3] & 1 ? now + gap / 2 : 0;
			now += gap + wait;
			n++;
		}
	return n;
}

static void records(const struct jetwatt_batch_why *why, size_t n, const struct jetwatt_batch_bound *b,
		    size_t bounds)
{
	size_t ends = 0, inside = 0, syncs = 0;

	for (size_t i = 0; i < n; i++) {
		const struct jetwatt_batch_why *w = &why[i];
		int in = w->minibatch != JETWATT_BATCH_NONE;

		if (w->rule >= JETWATT_RULES || !isfinite(w->score) || (in && w->minibatch >= bounds) ||
		    (w->ends && (!in || w->end_ns != b[w->minibatch].end_ns)))
			abort();
		ends += w->ends;
		inside += (size_t)in && why[i].rule != JETWATT_RULE_MARK;
	}
	for (size_t i = 0; i < bounds; i++)
		syncs += b[i].syncs;
	if (ends != bounds || inside > syncs)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct jetwatt_sync s[WAITS_MAX];
	struct jetwatt_batch_bound *a, *b;
	struct jetwatt_batch_why *why;
	struct jetwatt_batch_info info;
	size_t n = waits(data, size, s);
	int rc;

	a = calloc(2 * n + 1, sizeof(*a));
	b = calloc(2 * n + 1, sizeof(*b));
	why = malloc((n + 1) * sizeof(*why));
	if (!a || !b || !why)
		abort();
	rc = jetwatt_batch_segment(s, n, a, &info);
	if (rc > 0 && (size_t)rc > 2 * n)
		abort();
	for (int i = 0; i < rc; i++)
		if (a[i].end_ns < a[i].start_ns || (i && a[i].end_ns < a[i - 1].end_ns) ||
		    !(a[i].confidence >= 0 && a[i].confidence <= 1))
			abort();
	if (rc > 0 && (jetwatt_batch_segment_why(s, n, b, &info, why) != rc ||
		       memcmp(a, b, (size_t)rc * sizeof(*a))))
		abort();
	if (rc > 0)
		records(why, n, b, (size_t)rc);
	free(why);
	free(a);
	free(b);
	return 0;
}
