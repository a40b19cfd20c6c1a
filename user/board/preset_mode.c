// SPDX-License-Identifier: GPL-2.0-only
/* Read presets, convert a preset to a mode of a board, and write a mode as a preset. */
#include "board/knobs.h"
#include "board/preset.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX	(1u << 20)

/* Levels of a knob found so far: the highest level, the nearest levels below or at a cap and above
 * or at it, and the lowest level; 0: none. */
struct cap_levels {
	uint64_t top, below, above, bottom;
};

static void cap_levels_add(struct cap_levels *s, uint64_t v, uint64_t cap)
{
	s->top = v > s->top ? v : s->top;
	s->bottom = !s->bottom || v < s->bottom ? v : s->bottom;
	if (v <= cap && v > s->below)
		s->below = v;
	if (v >= cap && (!s->above || v < s->above))
		s->above = v;
}

static uint64_t cap_levels_round(const struct cap_levels *s, long long asked, bool up)
{
	if (asked < 0)
		return s->top;
	if (up)
		return s->above ? s->above : s->top;
	return s->below ? s->below : s->bottom;
}

/* Set the knob @k of @mode to the level to which the kernel rounds the preset's cap: the kernel
 * rounds the cap of the GPU up and other caps down. Return: 1 << @k if the cap was rounded to
 * another value, else 0. */
static unsigned int set_capped_level(const struct jetwatt_preset *p, enum jetwatt_knob k,
				     const struct cap_levels *s, struct jetwatt_mode *mode)
{
	long long cap = p->cap[k];
	uint64_t v = cap_levels_round(s, cap, k == JETWATT_KNOB_GPU);

	jetwatt_mode_set(mode, k, v);
	/* A clock cap above the highest level counts as no cap. A number of cores above what the
	 * board has counts as rounded. */
	if (cap < 0 || (uint64_t)cap == v || (jetwatt_knob_row(k)->hz && (uint64_t)cap >= s->top))
		return 0;
	return 1u << k;
}

unsigned int jetwatt_preset_mode_of(const struct jetwatt_mode *all, size_t n,
				    const struct jetwatt_preset *p, struct jetwatt_mode *mode)
{
	unsigned int rounded = 0;

	jetwatt_each_knob(k) {
		struct cap_levels s = { 0 };

		for (size_t i = 0; i < n; i++)
			cap_levels_add(&s, jetwatt_mode_get(&all[i], k), (uint64_t)p->cap[k]);
		rounded |= set_capped_level(p, k, &s, mode);
	}
	return rounded;
}

unsigned int jetwatt_preset_mode(const struct jetwatt_board *b, const struct jetwatt_preset *p,
				 struct jetwatt_mode *mode)
{
	unsigned int rounded = 0;

	jetwatt_each_knob(k) {
		bool there = !jetwatt_knob_row(k)->optional || b->in_grid[k];
		struct cap_levels s = { 0 };

		for (int i = 0; there && i < b->nr_levels[k]; i++)
			cap_levels_add(&s, b->level[k][i], (uint64_t)p->cap[k]);
		rounded |= set_capped_level(p, k, &s, mode);
	}
	return rounded;
}

int jetwatt_preset_reboot(const struct jetwatt_board *b, const struct jetwatt_preset *p)
{
	for (size_t i = 0; i < p->nr_lines; i++) {
		const struct jetwatt_preset_line *l = &p->line[i];
		uint64_t now = 0;

		if (l->kind != JETWATT_PRESET_MASK)
			continue;
		if (b && jetwatt_board_gated(b, l->mask, &now))
			now = 0;
		if ((uint64_t)strtoll(l->value, NULL, 0) != now)
			return 1;
	}
	return 0;
}

static int read_preset_file(const char *path, char **text, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
	ssize_t got = 1;

	if (fd < 0)
		return -errno;
	*len = 0;
	*text = malloc(FILE_MAX);
	if (!*text)
		rc = -ENOMEM;
	while (!rc && got > 0) {
		got = read(fd, *text + *len, FILE_MAX - *len);
		if (got < 0)
			rc = -errno;
		else
			*len += (size_t)got;
		if (*len == FILE_MAX)
			rc = -EFBIG;
	}
	close(fd);
	return rc;
}

int jetwatt_presets_read(struct jetwatt_presets **p, const struct jetwatt_board *b,
			 const char *path, struct jetwatt_error_text *err)
{
	char default_path[PATH_LEN], *text = NULL;
	const char *why = "";
	unsigned int line = 0;
	size_t len = 0;
	int rc;

	if (!path) {
		snprintf(default_path, sizeof(default_path), "%s/nvpmodel.conf", b->etc);
		path = default_path;
	}
	rc = read_preset_file(path, &text, &len);
	if (rc) {
		jetwatt_error_sys(err, rc, "cannot read the presets in %s", path);
		if (rc == -ENOENT)
			jetwatt_error_fix(err, "JetPack installs /etc/nvpmodel.conf; name another "
					       "file with --presets FILE");
		goto out;
	}
	rc = jetwatt_presets_parse(text, len, p, &line, &why);
	if (rc) {
		jetwatt_board_error_set(err, rc, "%s is not a file of presets", path);
		jetwatt_error_why(err, "line %u: %s", line, why);
		jetwatt_error_fix(err, "name the board's own nvpmodel.conf with --presets FILE");
	}
out:
	free(text);
	return rc;
}

static bool one_word(const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) || s[n] == '_' || s[n] == '-')
		n++;
	return n && n < JETWATT_PRESET_NAME && !s[n];
}

/* Count the lines of @p with this kind and knob. */
static unsigned int count_lines(const struct jetwatt_preset *p, enum jetwatt_preset_kind kind,
				enum jetwatt_knob knob)
{
	unsigned int n = 0;

	for (size_t i = 0; i < p->nr_lines; i++)
		n += p->line[i].kind == kind && p->line[i].knob == knob;
	return n;
}

/* Check whether the core @core is among the @n lowest-numbered cores of the block. */
static bool core_among_first(const struct jetwatt_preset *p, unsigned int core, unsigned int n)
{
	unsigned int before = jetwatt_preset_implied(p);

	for (size_t i = 0; i < p->nr_lines; i++)
		before += p->line[i].kind == JETWATT_PRESET_CORE && p->line[i].core < core;
	return before < n;
}

/* Return the lowest clock that @value asks for, but at most the cap; the cap if @value is
 * negative. */
static unsigned long long floor_within_cap(const char *value, unsigned long long cap)
{
	long long v = strtoll(value, NULL, 0);

	return v >= 0 && (unsigned long long)v <= cap ? (unsigned long long)v : cap;
}

/* Write a cap. "No cap" is written as in @like: 0 for emc_iso_cap of JetPack 5, -1 for
 * nvpmodel_clk_cap of JetPack 6, where 0 means the lowest clock. */
static void print_cap(FILE *f, const char *like, uint64_t hz, uint64_t top)
{
	if (hz >= top && strtoll(like, NULL, 0) <= 0)
		fprintf(f, "%s\n", like);
	else
		fprintf(f, "%llu\n", (unsigned long long)hz);
}

/* Check whether the mode sets the knob: an optional knob may be 0, and a missing clock
 * JETWATT_BOARD_NO_CLOCK. */
static bool mode_sets_knob(const struct jetwatt_mode *mode, enum jetwatt_knob k)
{
	uint64_t v = jetwatt_mode_get(mode, k);

	return v && !(jetwatt_knob_row(k)->hz && v == JETWATT_BOARD_NO_CLOCK);
}

int jetwatt_preset_print(FILE *f, const struct jetwatt_preset *like, int id, const char *name,
			 const struct jetwatt_mode *mode, uint64_t top)
{
	if (!one_word(name) || id < 0 ||
	    count_lines(like, JETWATT_PRESET_CORE, JETWATT_KNOB_CORES) + jetwatt_preset_implied(like) <
		    mode->cores)
		return -EINVAL;
	jetwatt_each_knob(k) if (jetwatt_knob_row(k)->hz && mode_sets_knob(mode, k) &&
				 !count_lines(like, JETWATT_PRESET_MAX, k)) return -EINVAL;
	fprintf(f, "< POWER_MODEL ID=%d NAME=%s >\n", id, name);
	for (size_t i = 0; i < like->nr_lines; i++) {
		const struct jetwatt_preset_line *l = &like->line[i];
		uint64_t v = jetwatt_mode_get(mode, l->knob);

		fprintf(f, "%s %s ", l->param, l->arg);
		/* A knob that the mode does not set keeps the value of @like. */
		switch (mode_sets_knob(mode, l->knob) ? l->kind : JETWATT_PRESET_OTHER) {
		case JETWATT_PRESET_CORE:
			fprintf(f, "%d\n", core_among_first(like, l->core, (unsigned int)v));
			break;
		case JETWATT_PRESET_MIN:
			fprintf(f, "%llu\n", floor_within_cap(l->value, v));
			break;
		case JETWATT_PRESET_MAX:
			print_cap(f, l->value, v, l->knob == JETWATT_KNOB_EMC ? top : UINT64_MAX);
			break;
		default:
			fprintf(f, "%s\n", l->value);
		}
	}
	return ferror(f) ? -EIO : 0;
}
