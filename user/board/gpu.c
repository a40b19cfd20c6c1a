// SPDX-License-Identifier: GPL-2.0-only
/* The knob "gpu": lowest and highest clock of the GPU's devfreq device, in Hz. */
#include "board/knobs.h"

#include "board/preset.h"

static int gpu_discover(struct jetwatt_board *b, enum jetwatt_knob k,
			struct jetwatt_error_text *err)
{
	static const char * const parts[] = { "gpu", "ga10b", "gv11b", "gp10b", NULL };

	(void)err;
	return jetwatt_devfreq_discover(b, k, parts, "this is not a Jetson, or its GPU driver "
					"(nvgpu; nvidia on Thor) is not loaded");
}

static bool gpu_preset(const char *path, struct jetwatt_preset_line *l)
{
	static const char * const parts[] = { "gpu", "ga10b", "gv11b", "gp10b", "gm20b", NULL };
	/* Thor's GPU has a second devfreq device, for the clock of the video engines. */
	static const char * const video[] = { "gpu-nvd", NULL };

	return jetwatt_devfreq_preset(path, parts, l) && !jetwatt_path_contains(path, video);
}

const struct jetwatt_knob_ops jetwatt_knob_GPU = {
	.lower_at = JETWATT_LOWER_ENGINES, .raise_at = JETWATT_RAISE_ENGINES,
	.discover = gpu_discover, .read = jetwatt_devfreq_read, .want = jetwatt_devfreq_want,
	.current = jetwatt_devfreq_current, .lower = jetwatt_devfreq_lower,
	.raise = jetwatt_devfreq_raise, .same = jetwatt_devfreq_same, .bind = jetwatt_devfreq_bind,
	.save = jetwatt_devfreq_save, .load = jetwatt_devfreq_load, .preset = gpu_preset,
};
