// SPDX-License-Identifier: GPL-2.0-only
/* jetwatt export -f nvpmodel: writes power modes as presets of an nvpmodel.conf. */
#include "cmd/export/export.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "board/preset.h"
#include "measure/connect.h"
#include "util/error.h"

/* Return: the preset with the most cores, of those that power-gate no part of the GPU, or of all if there
 * is none; it is the template of new presets. */
static const struct jetwatt_preset *highest_preset(const struct jetwatt_presets *all)
{
	const struct jetwatt_preset *best = &all->preset[0];

	for (size_t i = 1; i < all->nr; i++) {
		const struct jetwatt_preset *p = &all->preset[i];

		if ((!p->mask && best->mask) || (!p->mask == !best->mask &&
		     p->cap[JETWATT_KNOB_CORES] > best->cap[JETWATT_KNOB_CORES]))
			best = p;
	}
	return best;
}

static int print_preset(const struct jetwatt_export_args *o, const struct jetwatt_board *board,
			const struct jetwatt_presets *all, long *id, int i)
{
	struct jetwatt_error_text e = { "", "", "" };
	struct jetwatt_mode mode;
	const uint64_t *emc;
	char name[64];
	int n = jetwatt_board_levels(board, JETWATT_KNOB_EMC, &emc), rc;

	if (jetwatt_board_mode_parse(board, o->what[i], &mode))
		return jetwatt_error_report(JETWATT_EXIT_USAGE,
					 "a mode is cCORES-CPU_KHZ-gGPU_HZ-eEMC_HZ, or MAXN",
					 "jetwatt list modes prints all modes of this board",
					 "not a mode: %s", o->what[i]);
	/* nvpmodel silently rounds a clock that the board does not offer, so a mode with such a
	 * clock is refused. */
	rc = jetwatt_board_check_mode(board, &mode, &e);
	if (rc)
		return jetwatt_error_board(rc, &e);
	for (size_t k = 0; k < all->nr; k++)
		if (all->preset[k].id == *id) {
			if (o->id >= 0 && !i)
				return jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
							 "leave out --id; then a free one is used",
							 "--id: the ID %ld is used by %s", *id,
							 all->preset[k].name);
			++*id;
			k = (size_t)-1;
		}
	snprintf(name, sizeof(name), "JETWATT_C%u_%.0f_%.0f_%.0f", mode.cores, mode.cpu_khz * 1e-3,
		 mode.gpu_hz * 1e-6, mode.emc_hz * 1e-6);
	rc = jetwatt_preset_print(o->f, highest_preset(all), (int)*id, o->name && !i ? o->name :
				  name, &mode, emc[n - 1]);
	++*id;
	return rc == -EINVAL ? jetwatt_error_report(JETWATT_EXIT_FAILED,
			"the presets lack a knob of this mode, or the name is not a single word",
			"--presets FILE: use the board's own nvpmodel.conf; --name: use letters, digits, _ and - only",
			"cannot make a preset of %s", o->what[i]) :
	       rc ? jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-rc),
				      jetwatt_error_advice(-rc), "cannot write the presets") : 0;
}

/* Return: whether the output file given with -o is the file that the presets are read from. The
 * output is meant to be appended to the file of presets; overwriting the file would delete the
 * board's presets. */
static int output_is_presets(const struct jetwatt_export_args *o)
{
	struct stat a, b;

	return o->out && !stat(o->out, &a) && !stat(o->presets ? o->presets : "/etc/nvpmodel.conf", &b) &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int jetwatt_export_nvpmodel(struct jetwatt_export_args *o, const struct jetwatt_export_format *format)
{
	struct jetwatt_error_text e = { "", "", "" };
	struct jetwatt_presets *all = NULL;
	struct jetwatt_board *board = NULL;
	long id = o->id < 0 ? 0 : o->id;
	int err, rc;

	(void)format;
	if (!o->nr_what)
		return jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
					 "jetwatt export -f nvpmodel c8-1728000-g624750000-e3199000000",
					 "no mode is given");
	if (output_is_presets(o))
		return jetwatt_error_report(JETWATT_EXIT_USAGE,
					    "the presets of the file would be overwritten",
					 "append instead: jetwatt export -f nvpmodel MODE | sudo tee -a FILE",
					 "-o: %s is the file that the presets are read from",
					 o->out);
	err = jetwatt_open_board(&board);
	if (err)
		return err;
	rc = jetwatt_presets_read(&all, board, o->presets, &e);
	if (rc)
		err = jetwatt_error_report(JETWATT_EXIT_FAILED, e.why, e.fix, "%s", e.what);
	for (int i = 0; i < o->nr_what && !err; i++)
		err = print_preset(o, board, all, &id, i);
	jetwatt_presets_free(all);
	jetwatt_board_close(board);
	return err;
}
