// SPDX-License-Identifier: GPL-2.0-only
/* A knob that is a list of files, each with a cap: of the same clock (memory: the lowest cap is in
 * force), or of clocks that get the same cap (DLA). A switch of mode sets all of them. */
#include "board/knobs.h"

#include <inttypes.h>
#include <string.h>

bool jetwatt_cap_add(struct jetwatt_board *b, enum jetwatt_knob k, const char *path,
		     uint64_t uncapped)
{
	struct jetwatt_knob_cap *cap = &b->cap[k][b->nr_caps[k]];

	if (b->nr_caps[k] == CAPS_MAX || strlen(path) >= sizeof(cap->path) ||
	    !jetwatt_sysfs_exists(b, path))
		return false;
	strcpy(cap->path, path);
	cap->uncapped = uncapped;
	b->nr_caps[k]++;
	return true;
}

int jetwatt_cap_read(struct jetwatt_board *b, enum jetwatt_knob k, struct jetwatt_board_state *s,
		     struct jetwatt_error_text *err)
{
	for (int i = 0; i < b->nr_caps[k]; i++) {
		const char *path = b->cap[k][i].path;
		int rc = jetwatt_sysfs_kept_u64(b, path, &s->cap[k][i].hz);

		/* No mode has to set an optional knob, so a file that can't be read is skipped. */
		if (rc && jetwatt_knob_row(k)->optional)
			continue;
		if (rc)
			return jetwatt_error_sys(err, rc, "cannot read %s/%s", b->sys, path);
		s->cap[k][i].known = true;
	}
	return 0;
}

int jetwatt_cap_want(const struct jetwatt_board *b, enum jetwatt_knob k, uint64_t v,
		     struct jetwatt_board_state *s)
{
	for (int i = 0; i < b->nr_caps[k]; i++)
		s->cap[k][i] = (struct jetwatt_cap){ v != 0, v };
	return 0;
}

/* Return a cap as a clock in Hz; UINT64_MAX: the file holds "no cap", or its cap is not known. */
static uint64_t cap_effective(const struct jetwatt_board *b, enum jetwatt_knob k,
			      const struct jetwatt_board_state *s, int i)
{
	const struct jetwatt_cap *cap = &s->cap[k][i];
	bool none = !cap->known || cap->hz == b->cap[k][i].uncapped;

	return none ? UINT64_MAX : cap->hz;
}

uint64_t jetwatt_cap_lowest(const struct jetwatt_board *b, enum jetwatt_knob k,
			    const struct jetwatt_board_state *s)
{
	uint64_t lowest = UINT64_MAX;

	for (int i = 0; i < b->nr_caps[k]; i++) {
		uint64_t cap = cap_effective(b, k, s, i);

		lowest = cap < lowest ? cap : lowest;
	}
	return lowest;
}

/* Return the level nearest to the lowest cap. The driver may have rounded the cap: nvpmodel_clk_cap
 * reads back clk_round_rate() of what was written. */
uint64_t jetwatt_cap_current(const struct jetwatt_board *b, enum jetwatt_knob k,
			     const struct jetwatt_board_state *s)
{
	uint64_t best = jetwatt_levels_top(b, k), cap = jetwatt_cap_lowest(b, k, s);

	for (int i = b->nr_levels[k] - 1; i >= 0 && cap < best; i--) {
		uint64_t v = b->level[k][i];

		if ((v > cap ? v - cap : cap - v) < best - cap)
			best = v;
	}
	return best;
}

/* Write one cap if the switch raises it (@up true) or lowers it (@up false). While a mode is
 * applied, no cap and a cap at the highest level are the same, so neither replaces the other. */
static bool cap_write(struct jetwatt_switch *p, enum jetwatt_knob k, int i, bool up)
{
	uint64_t top = jetwatt_levels_top(p->b, k);
	uint64_t is = cap_effective(p->b, k, &p->now, i);
	uint64_t want = cap_effective(p->b, k, p->target, i);

	if (!p->now.cap[k][i].known || !p->target->cap[k][i].known)
		return true;
	/* A restore or roll-back writes a cap even if the file already shows the wanted value.
	 * An optional knob is an exception: modes may leave it alone. */
	if (is == want && (!p->best_effort || !up || jetwatt_knob_row(k)->optional))
		return true;
	if ((is != want && up != (want > is)) || (p->before && is >= top && want >= top))
		return true;
	p->now.cap[k][i] = p->target->cap[k][i];
	return jetwatt_switch_write(p, p->b->cap[k][i].path, p->target->cap[k][i].hz);
}

static bool cap_write_all(struct jetwatt_switch *p, enum jetwatt_knob k, bool up)
{
	for (int i = 0; i < p->b->nr_caps[k]; i++)
		if (!cap_write(p, k, i, up))
			return false;
	return true;
}

bool jetwatt_cap_lower(struct jetwatt_switch *p, enum jetwatt_knob k)
{
	return cap_write_all(p, k, false);
}

bool jetwatt_cap_raise(struct jetwatt_switch *p, enum jetwatt_knob k)
{
	return cap_write_all(p, k, true);
}

/* Check whether the cap @is that was read results from the cap @want that was written. The
 * driver rounds a cap to a rate that the clock supports (nvpmodel_clk_cap reads back
 * clk_round_rate()), so every value between the neighbouring levels of @want counts. No cap
 * and a cap at the highest level count as equal. */
static bool cap_accepted(const struct jetwatt_board *b, enum jetwatt_knob k, uint64_t is,
			 uint64_t want)
{
	uint64_t top = jetwatt_levels_top(b, k), below = 0, above = UINT64_MAX;

	if (is == want || (is >= top && want >= top))
		return true;
	want = want < top ? want : top;
	for (int i = 0; i < b->nr_levels[k]; i++) {
		uint64_t v = b->level[k][i];

		below = v < want ? v : below;
		above = v > want && v < above ? v : above;
	}
	return is > below && is < above;
}

int jetwatt_cap_same(const struct jetwatt_board *b, enum jetwatt_knob k,
		     const struct jetwatt_board_state *now, const struct jetwatt_board_state *want,
		     struct jetwatt_error_text *err)
{
	char knob[48];

	for (int i = 0; i < b->nr_caps[k]; i++) {
		if (!now->cap[k][i].known || !want->cap[k][i].known ||
		    cap_accepted(b, k, cap_effective(b, k, now, i), cap_effective(b, k, want, i)))
			continue;
		snprintf(knob, sizeof(knob), "%s's cap", jetwatt_knob_row(k)->label);
		return jetwatt_check_differs(err, knob, now->cap[k][i].hz, want->cap[k][i].hz);
	}
	return 0;
}

void jetwatt_cap_save(const struct jetwatt_board *b, enum jetwatt_knob k, FILE *f)
{
	const struct jetwatt_cap *cap = b->saved.cap[k];

	for (int i = 0; i < b->nr_caps[k]; i++)
		if (cap[i].known)
			fprintf(f, "%s %s %" PRIu64 "\n", jetwatt_knob_row(k)->key,
				b->cap[k][i].path, cap[i].hz);
}

const char *jetwatt_cap_load(struct jetwatt_board *b, enum jetwatt_knob k, const char *line,
			     bool *matched)
{
	char key[NAME_LEN], name[NAME_LEN], tail;
	uint64_t hz;

	*matched = sscanf(line, "%95s %95s %" SCNu64 "%c", key, name, &hz, &tail) == 3 &&
		!strcmp(key, jetwatt_knob_row(k)->key);
	for (int i = 0; *matched && i < b->nr_caps[k]; i++) {
		if (strcmp(name, b->cap[k][i].path))
			continue;
		if (b->saved.cap[k][i].known)
			return "the saved state has two lines for one cap";
		b->saved.cap[k][i] = (struct jetwatt_cap){ true, hz };
	}
	return NULL;
}
