// SPDX-License-Identifier: GPL-2.0-only
/* A knob that is the clock range (min_freq, max_freq) of one devfreq device, in Hz. */
#include "board/knobs.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "board/preset.h"

static const char *devfreq_path(const struct jetwatt_board *b, enum jetwatt_knob k,
				const char *leaf, char *path)
{
	snprintf(path, PATH_LEN, "class/devfreq/%s/%s", b->device[k], leaf);
	return path;
}

/* Set @name to the alphabetically first device whose name contains one of @parts: on Thor
 * "gpu-gpc-0" (the shaders) comes before "gpu-nvd-0" (video). */
bool jetwatt_devfreq_find(const struct jetwatt_board *b, const char * const *parts, char *name)
{
	char path[PATH_LEN];
	struct dirent *d;
	DIR *dir;

	name[0] = '\0';
	snprintf(path, sizeof(path), "%s/class/devfreq", b->sys);
	dir = opendir(path);
	if (!dir)
		return false;
	while ((d = readdir(dir)))
		for (int i = 0; parts[i]; i++)
			if (d->d_name[0] != '.' && strstr(d->d_name, parts[i]) &&
			    strlen(d->d_name) < NAME_LEN / 2 &&
			    (!name[0] || strcmp(d->d_name, name) < 0))
				strcpy(name, d->d_name);
	closedir(dir);
	return name[0];
}

/* Find the levels of a devfreq device: clocks that sysfs lists, else those in @known, else the
 * limits that min_freq and max_freq show now. Return: number of levels. */
int jetwatt_devfreq_levels(const struct jetwatt_board *b, const char *device, const uint64_t *known,
			   uint64_t *v)
{
	char path[PATH_LEN];
	uint64_t lo, hi;
	int n;

	snprintf(path, sizeof(path), "class/devfreq/%s/available_frequencies", device);
	n = jetwatt_sysfs_list(b, path, v, JETWATT_BOARD_FREQS_MAX);
	if (n > 0)
		return n;
	n = jetwatt_levels_table(known, v);
	if (n)
		return n;
	snprintf(path, sizeof(path), "class/devfreq/%s/min_freq", device);
	if (jetwatt_sysfs_u64(b, path, &lo) || !lo)
		return 0;
	snprintf(path, sizeof(path), "class/devfreq/%s/max_freq", device);
	if (jetwatt_sysfs_u64(b, path, &hi) || hi < lo)
		return 0;
	v[0] = lo;
	v[1] = hi;
	return hi > lo ? 2 : 1;
}

int jetwatt_devfreq_discover(struct jetwatt_board *b, enum jetwatt_knob k,
			     const char * const *parts, const char *fix)
{
	const char *device = b->device[k], *label = jetwatt_knob_row(k)->label;
	struct jetwatt_error_text *err = &b->lack[k];

	if (!jetwatt_devfreq_find(b, parts, b->device[k])) {
		jetwatt_board_error_set(err, -ENODEV, "no %s clock to control", label);
		jetwatt_error_why(err, "%s/class/devfreq has no %s", b->sys, label);
		jetwatt_error_fix(err, "%s", fix);
	} else {
		b->nr_levels[k] = jetwatt_devfreq_levels(b, device, b->kind->levels[k],
							 b->level[k]);
		if (b->nr_levels[k])
			return 0;
		jetwatt_board_error_set(err, -ENODEV, "the levels of the %s clock are not known",
					label);
		jetwatt_error_why(err, "%s/class/devfreq/%s has no available_frequencies", b->sys,
				  device);
		jetwatt_error_fix(err, "use the board's own %s driver", label);
	}
	if (!jetwatt_knob_row(k)->optional)
		jetwatt_levels_set_missing(b, k, JETWATT_BOARD_NO_CLOCK);
	return 0;
}

int jetwatt_devfreq_read(struct jetwatt_board *b, enum jetwatt_knob k,
			 struct jetwatt_board_state *s, struct jetwatt_error_text *err)
{
	struct jetwatt_knob_range *range = &s->range[k];
	char path[PATH_LEN];
	int rc;

	if (!jetwatt_lack_not(b, k))
		return 0;
	rc = jetwatt_sysfs_kept_u64(b, devfreq_path(b, k, "min_freq", path), &range->min);
	if (!rc)
		rc = jetwatt_sysfs_kept_u64(b, devfreq_path(b, k, "max_freq", path), &range->max);
	range->known = !rc;
	/* No mode has to set an optional knob, so a file that can't be read is skipped. */
	if (rc && !jetwatt_knob_row(k)->optional)
		return jetwatt_error_sys(err, rc, "cannot read %s/%s", b->sys, path);
	return 0;
}

int jetwatt_devfreq_want(const struct jetwatt_board *b, enum jetwatt_knob k, uint64_t v,
			 struct jetwatt_board_state *s)
{
	s->range[k] = (struct jetwatt_knob_range){ v && jetwatt_lack_not(b, k), v, v };
	return 0;
}

uint64_t jetwatt_devfreq_current(const struct jetwatt_board *b, enum jetwatt_knob k,
				 const struct jetwatt_board_state *s)
{
	return s->range[k].known ? s->range[k].max : b->level[k][0];
}

bool jetwatt_devfreq_raise(struct jetwatt_switch *p, enum jetwatt_knob k)
{
	struct jetwatt_knob_range *now = &p->now.range[k];
	const struct jetwatt_knob_range *want = &p->target->range[k];
	char min[PATH_LEN], max[PATH_LEN];
	bool on;

	if (p->range_done[k] || !now->known || !want->known)
		return true;
	/* A restore or roll-back also writes clocks that do not differ. An optional knob is an
	 * exception: modes may leave it alone. */
	if (p->best_effort && jetwatt_knob_row(k)->optional && now->min == want->min &&
	    now->max == want->max)
		return true;
	p->range_done[k] = true;
	on = jetwatt_switch_range(p, devfreq_path(p->b, k, "min_freq", min),
				  devfreq_path(p->b, k, "max_freq", max), now, want);
	*now = *want;
	return on;
}

bool jetwatt_devfreq_lower(struct jetwatt_switch *p, enum jetwatt_knob k)
{
	return p->target->range[k].max >= p->now.range[k].max || jetwatt_devfreq_raise(p, k);
}

int jetwatt_devfreq_same(const struct jetwatt_board *b, enum jetwatt_knob k,
			 const struct jetwatt_board_state *now,
			 const struct jetwatt_board_state *want, struct jetwatt_error_text *err)
{
	if (!now->range[k].known || !want->range[k].known)
		return 0;
	return jetwatt_check_range(b, err, jetwatt_knob_row(k)->label, &now->range[k],
				   &want->range[k]);
}

int jetwatt_devfreq_bind(const struct jetwatt_board *b, enum jetwatt_knob k,
			 const struct jetwatt_board_state *now, struct jetwatt_error_text *err)
{
	char path[PATH_LEN];

	if (!now->range[k].known)
		return 0;
	return jetwatt_check_above(b, err, devfreq_path(b, k, "cur_freq", path),
				   jetwatt_knob_row(k)->label, now->range[k].max);
}

void jetwatt_devfreq_save(const struct jetwatt_board *b, enum jetwatt_knob k, FILE *f)
{
	const struct jetwatt_knob_range *r = &b->saved.range[k];

	if (r->known)
		fprintf(f, "%s %s %" PRIu64 " %" PRIu64 "\n", jetwatt_knob_row(k)->key,
			b->device[k], r->min, r->max);
}

const char *jetwatt_devfreq_load(struct jetwatt_board *b, enum jetwatt_knob k, const char *line,
				 bool *matched)
{
	struct jetwatt_knob_range *r = &b->saved.range[k];
	char key[NAME_LEN], name[NAME_LEN], tail;
	uint64_t min, max;

	*matched = sscanf(line, "%95s %95s %" SCNu64 " %" SCNu64 "%c", key, name, &min, &max,
			  &tail) == 4 && !strcmp(key, jetwatt_knob_row(k)->key);
	if (!*matched || !jetwatt_lack_not(b, k))
		return NULL;
	if (strcmp(name, b->device[k]) || r->known || min > max)
		return "the saved state has an unknown, repeated or invalid clock range";
	*r = (struct jetwatt_knob_range){ true, min, max };
	return NULL;
}

bool jetwatt_devfreq_preset(const char *path, const char * const *parts,
			    struct jetwatt_preset_line *l)
{
	l->kind = jetwatt_path_ends(path, "/min_freq") ? JETWATT_PRESET_MIN : JETWATT_PRESET_MAX;
	return jetwatt_path_contains(path, parts) &&
	       (l->kind == JETWATT_PRESET_MIN || jetwatt_path_ends(path, "/max_freq"));
}
