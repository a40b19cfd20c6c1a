// SPDX-License-Identifier: GPL-2.0-only
/*
 * The knob "dla": caps of the core clocks of the deep learning accelerators, in Hz. AGX Orin, Orin
 * NX, AGX Xavier and Xavier NX have one or two accelerators; two get the same cap.
 *
 * NVIDIA's driver creates a directory "clk_cap" with one file for each clock of the device
 * (isbozeng/bsp-jp6.2.0, nvidia-oot/drivers/video/tegra/host/nvdla/nvdla.c). The driver rounds a
 * written value with clk_round_rate(). If no cap is set, the file shows the highest clock. The
 * paths are those of nvpmodel.conf (LineageOS/android_device_nvidia_concord,
 * nvpmodel/nvpmodel_p3701_0000.conf); up to JetPack 5 they are below "acm". jetwatt leaves the
 * clock of the accelerator's controller, dla0_falcon, to nvpmodel. The directory nvpmodel_clk_cap
 * has no file for the accelerators: emc is its only clock (isbozeng/bsp-jp6.2.0,
 * hardware/nvidia/t23x/nv-public/nv-soc/tegra234-soc-overlay.dtsi).
 *
 * The highest clock is in clk/nafll_dla0_core/max_rate of bpmp's debugfs; instructions for DLA
 * samples read the file "rate" in this directory. Both accelerators of Xavier have one source,
 * nafll_dla (L4T 35.5.0, hardware/nvidia/soc/t19x/kernel-dts/tegra194-soc/tegra194-soc-base.dtsi).
 * NVIDIA's power modes cap it too, by a file of the first accelerator, so jetwatt does.
 *
 * Evidence (see doc/hardware.md): vendor's source; for the highest clock: simulation.
 *
 * There is no check that the clock obeys its cap: between jobs the accelerator is off, and its
 * clock has any value.
 */
#include "board/knobs.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "board/preset.h"

#define DEVICES	"bus/platform/devices"
#define CLOCKS	"kernel/debug/bpmp/debug/clk/"

/* Caps of NVIDIA's power modes in Hz, used as levels because the driver lists none:
 * nvpmodel_p3701_0000.conf, nvpmodel_p3701_0004.conf and nvpmodel_p3767_0000_super.conf of the
 * repository named above. Ends with 0. Those of Xavier are in the table of boards. */
static const uint64_t dla_caps[] = {
	153600000, 614400000, 908800000, 1228800000, 1369600000, 0,
};

/* Get the number of an accelerator from the name of its device: *@nr is '1' for
 * "158c0000.nvdla1". */
static bool dla_number(const char *name, char *nr)
{
	const char *at = strstr(name, ".nvdla");

	*nr = at ? at[strlen(".nvdla")] : '\0';
	return *nr >= '0' && *nr <= '9' && !at[strlen(".nvdla0")];
}

static void dla_find_caps(struct jetwatt_board *b, enum jetwatt_knob k)
{
	static const char * const dirs[] = { "clk_cap", "acm/clk_cap" };
	char path[PATH_LEN], nr;
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/" DEVICES, b->sys);
	dir = opendir(path);
	if (!dir)
		return;
	while ((d = readdir(dir))) {
		if (!dla_number(d->d_name, &nr) || strlen(d->d_name) > 32)
			continue;
		for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
			snprintf(path, sizeof(path), DEVICES "/%.32s/%s/dla%c_core", d->d_name, dirs[i],
				 nr);
			if (!jetwatt_cap_add(b, k, path, INT64_MAX))
				continue;
			snprintf(path, sizeof(path), DEVICES "/%.32s/%s/nafll_dla", d->d_name, dirs[i]);
			jetwatt_cap_add(b, k, path, INT64_MAX);
			break;
		}
	}
	closedir(dir);
}

/* Fill the levels, ascending: the caps of the table that are below the highest clock, then the
 * highest clock. */
static void dla_find_levels(struct jetwatt_board *b, enum jetwatt_knob k)
{
	const uint64_t *caps = b->kind->levels[k] ? b->kind->levels[k] : dla_caps;
	uint64_t top = 0, cap, *v = b->level[k];
	bool end = (!jetwatt_sysfs_u64(b, CLOCKS "nafll_dla0_core/max_rate", &top) ||
		    !jetwatt_sysfs_u64(b, CLOCKS "nafll_dla/max_rate", &top)) && top;
	int n = 0;

	/* If debugfs is missing, the highest clock is not known: use all caps of the table, and
	 * the highest cap that is set now if it is above them. */
	for (int i = 0; i < b->nr_caps[k] && !end; i++)
		if (!jetwatt_sysfs_u64(b, b->cap[k][i].path, &cap) && cap > top)
			top = cap;
	for (; caps[n] && (caps[n] < top || !end); n++)
		v[n] = caps[n];
	if (top && (!n || top > v[n - 1]))
		v[n++] = top;
	b->nr_levels[k] = n;
}

static int dla_discover(struct jetwatt_board *b, enum jetwatt_knob k,
			struct jetwatt_error_text *err)
{
	dla_find_caps(b, k);
	if (b->nr_caps[k]) {
		dla_find_levels(b, k);
		return 0;
	}
	err = &b->lack[k];
	jetwatt_board_error_set(err, -ENODEV, "no DLA clock to control");
	jetwatt_error_why(err, "no device in %s/" DEVICES " has clk_cap/dla0_core", b->sys);
	jetwatt_error_fix(err, "on AGX Orin and Orin NX, load the module nvhost-nvdla; Orin Nano "
			       "and Thor have no DLA clock");
	return 0;
}

static bool dla_preset(const char *path, struct jetwatt_preset_line *l)
{
	static const char * const core[] = { "/clk_cap/dla0_core", "/clk_cap/dla1_core", NULL };

	l->kind = JETWATT_PRESET_MAX;
	return jetwatt_path_contains(path, core) || jetwatt_path_ends(path, "/clk_cap/nafll_dla");
}

const struct jetwatt_knob_ops jetwatt_knob_DLA = {
	.lower_at = JETWATT_LOWER_ENGINES, .raise_at = JETWATT_RAISE_ENGINES,
	.discover = dla_discover, .read = jetwatt_cap_read, .want = jetwatt_cap_want,
	.current = jetwatt_cap_current, .lower = jetwatt_cap_lower, .raise = jetwatt_cap_raise,
	.same = jetwatt_cap_same,
	.save = jetwatt_cap_save, .load = jetwatt_cap_load, .preset = dla_preset,
	/* A power mode that uses one of two accelerators caps the other at its lowest clock. */
	.preset_highest = true,
};
