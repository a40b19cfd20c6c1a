// SPDX-License-Identifier: GPL-2.0-only
/* Is every knob as it was told to be, and does it do what it says? */
#include "board/knobs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static int differs(struct jetwatt_error_text *err, const char *knob, uint64_t is, uint64_t want)
{
	jetwatt_board_error_set(err, -ESTALE, "%s is %" PRIu64 ", not %" PRIu64, knob, is, want);
	jetwatt_error_why(err, "the driver took another value, or another program changed it");
	jetwatt_error_fix(err, "stop nvpmodel, jetson_clocks and jtop, try again");
	return -ESTALE;
}

/* As wanted but for what heat has taken away. */
static bool cut(const struct jetwatt_board *b, const struct jetwatt_range *is,
		const struct jetwatt_range *want)
{
	return is->max < want->max && is->min == (want->min < is->max ? want->min : is->max) &&
	       jetwatt_board_throttled(b);
}

static int range(const struct jetwatt_board *b, struct jetwatt_error_text *err, const char *knob,
		 const struct jetwatt_range *is, const struct jetwatt_range *want)
{
	char name[80];

	if (cut(b, is, want))
		return 0;
	snprintf(name, sizeof(name), "%s's %s clock", knob,
		 is->min != want->min ? "lowest" : "highest");
	if (is->min != want->min)
		return differs(err, name, is->min, want->min);
	if (is->max != want->max)
		return differs(err, name, is->max, want->max);
	return 0;
}

/* A cap that reads back well but does not bind. Only upwards: a clock may be
 * gated or idle. The slack is for dividers that miss the nominal step. */
static int above(const struct jetwatt_board *b, struct jetwatt_error_text *err, const char *path,
		 const char *knob, uint64_t cap)
{
	uint64_t rate;

	if (jetwatt_sysfs_u64(b, path, &rate) || rate <= cap || rate - cap <= cap / 50)
		return 0;
	jetwatt_board_error_set(err, -ESTALE, "%s runs at %" PRIu64 " although its cap is %" PRIu64, knob,
			  rate, cap);
	jetwatt_error_why(err, "%s/%s says so", b->sys, path);
	jetwatt_error_fix(err, "another program may hold the clock (jetson_clocks locks it): release it");
	return -ESTALE;
}

static int caps_bind(const struct jetwatt_board *b, const struct jetwatt_board_state *now,
		     struct jetwatt_error_text *err)
{
	char path[PATH_LEN], knob[48];
	int rc = 0;

	for (int p = 0; p < b->policies && !rc; p++) {
		if (!now->policy[p].known)
			continue;
		snprintf(path, sizeof(path), "devices/system/cpu/cpufreq/policy%u/scaling_cur_freq",
			 b->policy[p]);
		snprintf(knob, sizeof(knob), "CPU policy %u", b->policy[p]);
		rc = above(b, err, path, knob, now->policy[p].max);
	}
	snprintf(path, sizeof(path), "class/devfreq/%s/cur_freq", b->gpu);
	if (!rc && now->gpu.known)
		rc = above(b, err, path, "GPU", now->gpu.max);
	if (!rc && b->nr_caps && b->emc_rate)
		rc = above(b, err, "kernel/debug/bpmp/debug/clk/emc/rate", "EMC",
			   jetwatt_state_emc(b, now));
	return rc;
}

/* A driver rounds a cap to what the clock can do (nvpmodel_clk_cap reads back
 * clk_round_rate() of it), so any value that is nearer than the next step is the one that
 * was written. No cap and a cap at the highest step are the same thing. */
static bool taken(const struct jetwatt_board *b, uint64_t is, uint64_t want)
{
	uint64_t top = b->emc_hz[b->nr_emc - 1], below = 0, above = UINT64_MAX;

	if (is == want || (is >= top && want >= top))
		return true;
	want = want < top ? want : top;
	for (int i = 0; i < b->nr_emc; i++) {
		uint64_t v = b->emc_hz[i];

		below = v < want ? v : below;
		above = v > want && v < above ? v : above;
	}
	return is > below && is < above;
}

static int same_caps(struct jetwatt_board *b, const struct jetwatt_board_state *now,
		     const struct jetwatt_board_state *want, struct jetwatt_error_text *err)
{
	for (int i = 0; i < b->nr_caps; i++)
		if (now->emc[i].known && want->emc[i].known &&
		    !taken(b, jetwatt_state_cap(b, now, i), jetwatt_state_cap(b, want, i)))
			return differs(err, "EMC's cap", now->emc[i].hz, want->emc[i].hz);
	return 0;
}

static int same(struct jetwatt_board *b, const struct jetwatt_board_state *want,
		struct jetwatt_error_text *err)
{
	struct jetwatt_board_state now;
	char knob[48];
	int rc;

	rc = jetwatt_state_read(b, &now, err);
	if (rc)
		return rc;
	for (int i = 0; i < b->cpus; i++)
		if (now.online[i] != want->online[i]) {
			snprintf(knob, sizeof(knob), "cpu%u's online", b->cpu[i].id);
			return differs(err, knob, now.online[i], want->online[i]);
		}
	for (int p = 0; p < b->policies; p++) {
		const struct jetwatt_range *r = want->policy[p].known ? &want->policy[p]
								      : &want->fresh;

		if (!now.policy[p].known || !r->known)
			continue;
		snprintf(knob, sizeof(knob), "CPU policy %u", b->policy[p]);
		rc = range(b, err, knob, &now.policy[p], r);
		if (rc)
			return rc;
	}
	if (now.gpu.known && want->gpu.known)
		rc = range(b, err, "GPU", &now.gpu, &want->gpu);
	if (!rc)
		rc = same_caps(b, &now, want, err);
	return rc ? rc : caps_bind(b, &now, err);
}

/**
 * jetwatt_state_check() - is every knob as in @s?
 *
 * Knobs get SETTLE_MS to become so.
 * Return: 0, -ESTALE, or why a knob can't be read.
 */
int jetwatt_state_check(struct jetwatt_board *b, const struct jetwatt_board_state *s,
			struct jetwatt_error_text *err)
{
	int rc = same(b, s, err);

	for (int waited = 0; rc == -ESTALE && waited < SETTLE_MS; waited += 5) {
		jetwatt_sysfs_nap();
		rc = same(b, s, err);
	}
	return rc;
}
