// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the presets, adds them as candidates, and compares them with the answer.
 */
#include "tune/preset_compare.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out/terminal.h"
#include "plan/plan.h"
#include "tune/preset_print.h"
#include "util/error.h"

/* Set @index to the candidate with this mode, and add the mode as a candidate if it is new. Return:
 * 0, -ENOMEM. */
static int preset_add_candidate(struct jetwatt_tuner *l, const struct jetwatt_mode *mode,
				size_t *index)
{
	struct jetwatt_mode *more;

	for (*index = 0; *index < l->nr_modes; ++*index)
		if (jetwatt_mode_same(&l->mode[*index], mode))
			return 0;
	more = reallocarray(l->mode, l->nr_modes + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	l->mode = more;
	l->mode[l->nr_modes++] = *mode;
	return 0;
}

int jetwatt_preset_compare_open(struct jetwatt_preset_compare *b, struct jetwatt_tuner *l,
			  const struct jetwatt_board *board, const char *path)
{
	struct jetwatt_error_text e = { "", "", "" };
	size_t candidates = l->nr_modes;
	int err;

	*b = (struct jetwatt_preset_compare){ .presets = NULL };
	if (!path && !board)
		return 0;
	err = jetwatt_presets_read(&b->presets, board, path, &e);
	if (err == -ENOENT && !path)
		return 0;
	if (err)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, e.why, e.fix, "%s", e.what);
	b->index = calloc(b->presets->nr, sizeof(*b->index));
	b->rounded = calloc(b->presets->nr, sizeof(*b->rounded));
	b->reboot = calloc(b->presets->nr, sizeof(*b->reboot));
	err = b->index && b->rounded && b->reboot ? 0 : -ENOMEM;
	for (size_t i = 0; i < b->presets->nr && !err; i++) {
		struct jetwatt_mode mode;

		b->reboot[i] = jetwatt_preset_reboot(board, &b->presets->preset[i]);
		/* Without a board, the caps of a preset are rounded to the levels of the original
		 * candidates, not to those of added presets. */
		b->rounded[i] = board ? jetwatt_preset_mode(board, &b->presets->preset[i], &mode) :
				jetwatt_preset_mode_of(l->mode, candidates, &b->presets->preset[i],
						       &mode);
		err = preset_add_candidate(l, &mode, &b->index[i]);
	}
	return err ? jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err),
				       jetwatt_error_advice(-err),
				       "cannot compare with the presets") :
		     0;
}

int jetwatt_preset_compare_reading(const struct jetwatt_preset_compare *b, const struct jetwatt_tuner *l,
			     size_t i, struct jetwatt_prediction *p)
{
	size_t index = b->index[i];
	struct jetwatt_row row;

	if (jetwatt_plan_reading(&l->mode[index], l->row, l->nr_rows, &row)) {
		*p = (struct jetwatt_prediction){ row.time_ms, row.power_w, row.time_sd, row.power_sd };
		return 1;
	}
	*p = l->prediction[index];
	return 0;
}

static const char *preset_verdict(int reboot, const struct jetwatt_prediction *is, double budget_w,
				  double time_ms, char *buf, size_t len)
{
	if (reboot)
		return "gated GPU: not comparable";
	if (budget_w > 0 && is->power_w > budget_w)
		snprintf(buf, len, "over the budget by %.1f W", is->power_w - budget_w);
	else if (time_ms > 0)
		snprintf(buf, len, "%.2f times as long", is->time_ms / time_ms);
	else
		snprintf(buf, len, "within the budget");
	return buf;
}

void jetwatt_preset_compare_print(const struct jetwatt_preset_compare *b, const struct jetwatt_tuner *l,
			    double time_ms)
{
	char text[128];

	if (!b->presets || !l->prediction)
		return;
	printf("presets of this board      ms/batch       W\n");
	for (size_t i = 0; i < b->presets->nr; i++) {
		const struct jetwatt_preset *p = &b->presets->preset[i];
		const struct jetwatt_mode *m = &l->mode[b->index[i]];
		struct jetwatt_prediction is;
		int measured = jetwatt_preset_compare_reading(b, l, i, &is);

		printf("%c%2d %-18.18s %11.2f %7.2f  %-9s  %s\n",
		       p->id == b->presets->chosen ? '*' : ' ', p->id, p->name, is.time_ms,
		       is.power_w, measured ? "measured" : "predicted",
		       preset_verdict(b->reboot[i], &is, l->budget_w, time_ms, text, sizeof(text)));
		jetwatt_presets_print_rounded(p, m, b->rounded[i]);
	}
}

void jetwatt_preset_compare_json(const struct jetwatt_preset_compare *b, const struct jetwatt_tuner *l,
			   struct jetwatt_json *j)
{
	char name[96];

	if (!b->presets || !l->prediction)
		return;
	jetwatt_json_array(j, "presets");
	for (size_t i = 0; i < b->presets->nr; i++) {
		const struct jetwatt_preset *p = &b->presets->preset[i];
		struct jetwatt_prediction is;
		int measured = jetwatt_preset_compare_reading(b, l, i, &is);

		jetwatt_json_object(j, NULL);
		jetwatt_json_int(j, "id", p->id);
		jetwatt_json_string(j, "name", p->name);
		if (!jetwatt_board_mode_format(&l->mode[b->index[i]], name, sizeof(name)))
			jetwatt_json_string(j, "mode", name);
		jetwatt_json_bool(j, "rounded", b->rounded[i] != 0);
		jetwatt_json_bool(j, "gated", b->reboot[i]);
		jetwatt_json_bool(j, "measured", measured);
		jetwatt_json_real(j, "time_ms", is.time_ms, 7);
		jetwatt_json_real(j, "power_w", is.power_w, 7);
		jetwatt_json_end(j);
	}
	jetwatt_json_end(j);
}

void jetwatt_preset_compare_close(struct jetwatt_preset_compare *b)
{
	jetwatt_presets_free(b->presets);
	free(b->index);
	free(b->rounded);
	free(b->reboot);
}
