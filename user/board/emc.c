// SPDX-License-Identifier: GPL-2.0-only
/* The knob "emc": caps of the memory clock, in Hz. */
#include "board/knobs.h"

#include <errno.h>
#include <string.h>

#include "board/preset.h"
#include "board/remote.h"

#define CLK_CAP		"kernel/nvpmodel_clk_cap/emc"
#define ISO_CAP		"kernel/nvpmodel_emc_cap/emc_iso_cap"
#define EMC_RATES		"kernel/debug/bpmp/debug/emc/possible_rates"
#define EMC_CLOCK		"kernel/debug/bpmp/debug/clk/emc/"

/* Fill the levels of the memory clock. @device: devfreq device of the memory, "": none. The
 * device's list of clocks takes precedence if the device is the only cap. Return: number of
 * levels. */
static int emc_levels(struct jetwatt_board *b, enum jetwatt_knob k, const char *device)
{
	uint64_t lo, hi, *v = b->level[k];
	char path[PATH_LEN];
	int n = 0;

	if (b->by_remote)
		return jetwatt_remote_emc(b, v);
	snprintf(path, sizeof(path), "class/devfreq/%s/available_frequencies", device);
	if (*device && !b->emc_rate)
		n = jetwatt_sysfs_list(b, path, v, JETWATT_BOARD_FREQS_MAX);
	if (n > 0)
		return n;
	/* The list of clocks is in kHz, or in Hz on some kernels. A memory clock above 20 GHz
	 * does not exist, so values from 20,000,000 on are in Hz. */
	n = jetwatt_sysfs_list(b, EMC_RATES, v, JETWATT_BOARD_FREQS_MAX);
	if (n > 0) {
		if (v[n - 1] < 20000000)
			for (int i = 0; i < n; i++)
				v[i] *= 1000;
		return n;
	}
	if (*device) {
		n = jetwatt_devfreq_levels(b, device, b->kind->levels[k], v);
		if (n)
			return n;
	}
	n = jetwatt_levels_table(b->kind->levels[k], v);
	if (n)
		return n;
	if (!jetwatt_sysfs_u64(b, EMC_CLOCK "min_rate", &lo) && lo &&
	    !jetwatt_sysfs_u64(b, EMC_CLOCK "max_rate", &hi) && hi >= lo) {
		v[0] = lo;
		v[1] = hi;
		return hi > lo ? 2 : 1;
	}
	return 0;
}

/* A kernel may have several caps of the memory clock, and the lowest is in force. nvpmodel
 * writes nvpmodel_clk_cap on JetPack 6 and the devfreq device "bwmgr" on JetPack 7; a kernel may
 * have both. */
static int emc_discover(struct jetwatt_board *b, enum jetwatt_knob k,
			struct jetwatt_error_text *err)
{
	static const char * const parts[] = { "bwmgr", "emc", NULL };
	char device[NAME_LEN], path[NAME_LEN];
	uint64_t top;

	err = &b->lack[k];
	b->emc_rate = jetwatt_cap_add(b, k, CLK_CAP, INT64_MAX);
	b->emc_rate |= jetwatt_cap_add(b, k, ISO_CAP, 0);
	if (jetwatt_devfreq_find(b, parts, device)) {
		/* max_freq never reads as "no cap": if no cap is set, the file reads as the
		 * highest level. */
		snprintf(path, sizeof(path), "class/devfreq/%.47s/max_freq", device);
		jetwatt_cap_add(b, k, path, INT64_MAX);
	}
	b->nr_levels[k] = emc_levels(b, k, device);
	if (b->nr_caps[k] && b->nr_levels[k])
		return 0;
	if (!b->nr_caps[k]) {
		jetwatt_board_error_set(err, -ENODEV, "no memory clock to control");
		jetwatt_error_why(err,
				  "%s has none of " CLK_CAP ", " ISO_CAP
				  " and class/devfreq/bwmgr/max_freq",
				  b->sys);
		jetwatt_error_fix(err, "load the module nvpmodel-clk-cap (JetPack 6), or the driver of the devfreq device bwmgr (JetPack 7)");
	} else {
		jetwatt_board_error_set(err, -ENODEV,
					"the levels of the memory clock are not known");
		jetwatt_error_why(err, "cannot read %s/" EMC_RATES, b->sys);
		jetwatt_error_fix(err, "run it as root, with debugfs mounted on %s/kernel/debug", b->sys);
	}
	/* A missing knob has one level: the memory runs at its highest clock without a cap. */
	top = jetwatt_levels_top(b, k);
	jetwatt_levels_set_missing(b, k, top ? top : JETWATT_BOARD_NO_CLOCK);
	b->nr_caps[k] = 0;
	return 0;
}

static int emc_bind(const struct jetwatt_board *b, enum jetwatt_knob k,
		    const struct jetwatt_board_state *now, struct jetwatt_error_text *err)
{
	if (!b->nr_caps[k] || !b->emc_rate)
		return 0;
	return jetwatt_check_above(b, err, EMC_CLOCK "rate", jetwatt_knob_row(k)->label,
				   jetwatt_cap_lowest(b, k, now));
}

static bool emc_preset(const char *path, struct jetwatt_preset_line *l)
{
	static const char * const parts[] = {
		"emc_iso_cap", "nvpmodel_clk_cap/emc", "bwmgr", NULL,
	};

	l->kind = JETWATT_PRESET_MAX;
	return jetwatt_path_contains(path, parts) && !jetwatt_path_ends(path, "/min_freq");
}

const struct jetwatt_knob_ops jetwatt_knob_EMC = {
	.lower_at = JETWATT_LOWER_MEMORY, .raise_at = JETWATT_RAISE_MEMORY,
	.discover = emc_discover, .read = jetwatt_cap_read, .want = jetwatt_cap_want,
	.current = jetwatt_cap_current, .lower = jetwatt_cap_lower, .raise = jetwatt_cap_raise,
	.same = jetwatt_cap_same, .bind = emc_bind,
	.save = jetwatt_cap_save, .load = jetwatt_cap_load, .preset = emc_preset,
};
