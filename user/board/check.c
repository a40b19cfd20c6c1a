// SPDX-License-Identifier: GPL-2.0-only
/* Check that every knob reads back as written, and that the clocks obey their caps. */
#include "board/knobs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

int jetwatt_check_differs(struct jetwatt_error_text *err, const char *knob, uint64_t is,
			  uint64_t want)
{
	jetwatt_board_error_set(err, -ESTALE, "%s is %" PRIu64 ", not %" PRIu64, knob, is, want);
	jetwatt_error_why(err, "the driver took another value, or another program changed it");
	jetwatt_error_fix(err, "stop nvpmodel, jetson_clocks and jtop, then try again");
	return -ESTALE;
}

bool jetwatt_check_throttled(const struct jetwatt_board *b, const struct jetwatt_knob_range *is,
			     const struct jetwatt_knob_range *want)
{
	return is->max < want->max && is->min == (want->min < is->max ? want->min : is->max) &&
	       jetwatt_board_throttled(b);
}

int jetwatt_check_range(const struct jetwatt_board *b, struct jetwatt_error_text *err,
			const char *knob, const struct jetwatt_knob_range *is,
			const struct jetwatt_knob_range *want)
{
	char name[80];

	if (jetwatt_check_throttled(b, is, want))
		return 0;
	snprintf(name, sizeof(name), "%s's %s clock", knob,
		 is->min != want->min ? "lowest" : "highest");
	if (is->min != want->min)
		return jetwatt_check_differs(err, name, is->min, want->min);
	if (is->max != want->max)
		return jetwatt_check_differs(err, name, is->max, want->max);
	return 0;
}

/* Check that the clock in the file @path does not exceed its cap: a cap may read back right and
 * have no effect. A clock below its cap is fine, as it may be gated or idle. The check allows 2 %
 * more than the cap, because clock dividers do not hit the nominal clock exactly. */
int jetwatt_check_above(const struct jetwatt_board *b, struct jetwatt_error_text *err,
			const char *path, const char *knob, uint64_t cap)
{
	uint64_t rate;

	if (jetwatt_sysfs_kept_u64(b, path, &rate) || rate <= cap || rate - cap <= cap / 50)
		return 0;
	jetwatt_board_error_set(err, -ESTALE, "%s runs at %" PRIu64 " although its cap is %" PRIu64, knob,
			  rate, cap);
	jetwatt_error_why(err, "read from %s/%s", b->sys, path);
	jetwatt_error_fix(
		err, "release the clock in the program that locks it, for example jetson_clocks");
	return -ESTALE;
}

static int state_matches(struct jetwatt_board *b, const struct jetwatt_board_state *want,
			 struct jetwatt_error_text *err)
{
	struct jetwatt_board_state now;
	int rc;

	rc = jetwatt_state_read(b, &now, err);
	for (enum jetwatt_knob k = JETWATT_KNOB_CORES; k < JETWATT_KNOBS && !rc; k++)
		rc = jetwatt_knob_ops(k)->same(b, k, &now, want, err);
	for (enum jetwatt_knob k = JETWATT_KNOB_CORES; k < JETWATT_KNOBS && !rc; k++)
		if (jetwatt_knob_ops(k)->bind)
			rc = jetwatt_knob_ops(k)->bind(b, k, &now, err);
	return rc;
}

/**
 * jetwatt_state_check() - check that the knobs are in the state @s, and the clocks obey their caps
 *
 * The function polls every 5 ms until the knobs have settled, for at most SETTLE_MS.
 * Return: 0; -ESTALE: @err names a knob with another value, or a clock above its cap; other
 * negative errno: a knob can't be read.
 */
int jetwatt_state_check(struct jetwatt_board *b, const struct jetwatt_board_state *s,
			struct jetwatt_error_text *err)
{
	int rc = state_matches(b, s, err);

	for (int waited = 0; rc == -ESTALE && waited < SETTLE_MS; waited += 5) {
		jetwatt_sysfs_settle_wait();
		rc = state_matches(b, s, err);
	}
	return rc;
}
