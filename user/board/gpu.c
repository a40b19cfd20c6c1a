// SPDX-License-Identifier: GPL-2.0-only
/* The knob "gpu": lowest and highest clock of the GPU's devfreq device, in Hz. */
#include "board/knobs.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "board/preset.h"

static int gpu_discover(struct jetwatt_board *b, enum jetwatt_knob k,
			struct jetwatt_error_text *err)
{
	static const char * const parts[] = { "gpu", "ga10b", "gv11b", "gp10b", NULL };
	const char *device = b->device[k];

	err = &b->lack[k];
	if (!jetwatt_devfreq_find(b, parts, b->device[k])) {
		jetwatt_board_error_set(err, -ENODEV, "no GPU clock to control");
		jetwatt_error_why(err, "%s/class/devfreq has no GPU", b->sys);
		jetwatt_error_fix(err, "this is not a Jetson, or its GPU driver (nvgpu; nvidia on Thor) is not loaded");
	} else {
		b->nr_levels[k] = jetwatt_levels_devfreq(b, device, b->kind->levels[k],
							 b->level[k]);
		if (b->nr_levels[k])
			return 0;
		jetwatt_board_error_set(err, -ENODEV, "the levels of the GPU clock are not known");
		jetwatt_error_why(err, "%s/class/devfreq/%s has no available_frequencies", b->sys,
				  device);
		jetwatt_error_fix(err, "use the board's own GPU driver");
	}
	jetwatt_levels_set_missing(b, k, JETWATT_BOARD_NO_CLOCK);
	return 0;
}

static int gpu_read(struct jetwatt_board *b, enum jetwatt_knob k, struct jetwatt_board_state *s,
		    struct jetwatt_error_text *err)
{
	struct jetwatt_knob_range *gpu = &s->range[k];
	char path[PATH_LEN];
	int rc;

	if (!jetwatt_lack_not(b, k))
		return 0;
	snprintf(path, sizeof(path), "class/devfreq/%s/min_freq", b->device[k]);
	rc = jetwatt_sysfs_u64(b, path, &gpu->min);
	if (rc)
		return jetwatt_error_sys(err, rc, "cannot read %s/%s", b->sys, path);
	snprintf(path, sizeof(path), "class/devfreq/%s/max_freq", b->device[k]);
	rc = jetwatt_sysfs_u64(b, path, &gpu->max);
	if (rc)
		return jetwatt_error_sys(err, rc, "cannot read %s/%s", b->sys, path);
	gpu->known = true;
	return 0;
}

static int gpu_want(const struct jetwatt_board *b, enum jetwatt_knob k, uint64_t v,
		    struct jetwatt_board_state *s)
{
	s->range[k] = (struct jetwatt_knob_range){ jetwatt_lack_not(b, k), v, v };
	return 0;
}

static uint64_t gpu_current(const struct jetwatt_board *b, enum jetwatt_knob k,
			    const struct jetwatt_board_state *s)
{
	return s->range[k].known ? s->range[k].max : b->level[k][0];
}

static bool gpu_raise(struct jetwatt_switch *p, enum jetwatt_knob k)
{
	struct jetwatt_knob_range *now = &p->now.range[k];
	const struct jetwatt_knob_range *want = &p->target->range[k];
	char min[PATH_LEN], max[PATH_LEN];
	bool on;

	if (p->range_done[k] || !now->known || !want->known)
		return true;
	p->range_done[k] = true;
	snprintf(min, sizeof(min), "class/devfreq/%s/min_freq", p->b->device[k]);
	snprintf(max, sizeof(max), "class/devfreq/%s/max_freq", p->b->device[k]);
	on = jetwatt_switch_range(p, min, max, now, want);
	*now = *want;
	return on;
}

static bool gpu_lower(struct jetwatt_switch *p, enum jetwatt_knob k)
{
	return p->target->range[k].max >= p->now.range[k].max || gpu_raise(p, k);
}

static int gpu_same(const struct jetwatt_board *b, enum jetwatt_knob k,
		    const struct jetwatt_board_state *now, const struct jetwatt_board_state *want,
		    struct jetwatt_error_text *err)
{
	if (!now->range[k].known || !want->range[k].known)
		return 0;
	return jetwatt_check_range(b, err, jetwatt_knob_row(k)->label, &now->range[k],
				   &want->range[k]);
}

static int gpu_bind(const struct jetwatt_board *b, enum jetwatt_knob k,
		    const struct jetwatt_board_state *now, struct jetwatt_error_text *err)
{
	char path[PATH_LEN];

	if (!now->range[k].known)
		return 0;
	snprintf(path, sizeof(path), "class/devfreq/%s/cur_freq", b->device[k]);
	return jetwatt_check_above(b, err, path, jetwatt_knob_row(k)->label, now->range[k].max);
}

static void gpu_save(const struct jetwatt_board *b, enum jetwatt_knob k, FILE *f)
{
	const struct jetwatt_knob_range *r = &b->saved.range[k];

	if (r->known)
		fprintf(f, "gpu %s %" PRIu64 " %" PRIu64 "\n", b->device[k], r->min, r->max);
}

static const char *gpu_load(struct jetwatt_board *b, enum jetwatt_knob k, const char *line,
			    bool *matched)
{
	struct jetwatt_knob_range *r = &b->saved.range[k];
	char name[NAME_LEN], tail;
	uint64_t min, max;

	*matched = sscanf(line, "gpu %95s %" SCNu64 " %" SCNu64 "%c", name, &min, &max, &tail) == 3;
	if (!*matched || !jetwatt_lack_not(b, k))
		return NULL;
	if (strcmp(name, b->device[k]) || r->known || min > max)
		return "the saved state is of another GPU";
	*r = (struct jetwatt_knob_range){ true, min, max };
	return NULL;
}

static bool gpu_preset(const char *path, struct jetwatt_preset_line *l)
{
	static const char * const parts[] = { "gpu", "ga10b", "gv11b", "gp10b", "gm20b", NULL };
	/* Thor's GPU has a second devfreq device, for the clock of the video engines. */
	static const char * const video[] = { "gpu-nvd", NULL };

	l->kind = jetwatt_path_ends(path, "/min_freq") ? JETWATT_PRESET_MIN : JETWATT_PRESET_MAX;
	return jetwatt_path_contains(path, parts) && !jetwatt_path_contains(path, video) &&
	       (l->kind == JETWATT_PRESET_MIN || jetwatt_path_ends(path, "/max_freq"));
}

const struct jetwatt_knob_ops jetwatt_knob_GPU = {
	.lower_at = JETWATT_LOWER_ENGINES, .raise_at = JETWATT_RAISE_ENGINES,
	.discover = gpu_discover, .read = gpu_read, .want = gpu_want, .current = gpu_current,
	.lower = gpu_lower, .raise = gpu_raise, .same = gpu_same, .bind = gpu_bind,
	.save = gpu_save, .load = gpu_load, .preset = gpu_preset,
};
