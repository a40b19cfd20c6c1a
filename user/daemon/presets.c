// SPDX-License-Identifier: GPL-2.0-only
/* Reads the presets (power modes) of the vendor's nvpmodel.conf. Those whose name states a power, and
 * that need no reboot, are the first modes that are tried. */
#include "daemon/loop.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "board/preset.h"
#include "util/error.h"

/* Return the power that the name of a preset states, in W, such as "MODE_30W" or "15W"; 0 if the
 * name states no power, such as "MAXN". */
static double stated_power(const char *name)
{
	double w = 0;
	int n = 0;

	for (name += strcspn(name, "0123456789"); *name; name += strcspn(name, "0123456789")) {
		if (sscanf(name, "%lf%n", &w, &n) != 1)
			break;
		if (name[n] == 'W')
			return w;
		name += n;
	}
	return 0;
}

void jetwattd_presets(struct jetwattd_run *r)
{
	const struct jetwatt_tuner *k = &r->learner.known;
	struct jetwatt_presets *all = NULL;
	struct jetwatt_error_text e;
	int err = jetwatt_presets_read(&all, r->d->act.board, NULL, &e);

	r->presets = 0;
	if (err && err != -ENOENT)
		jetwatt_notice("learning without the vendor's presets: %s: %s", e.what, e.why);
	if (err)
		return;
	for (size_t i = 0; i < all->nr && r->presets < JETWATTD_FIRST; i++) {
		double w = stated_power(all->preset[i].name);

		if (!(w > 0) || jetwatt_preset_reboot(r->d->act.board, &all->preset[i]))
			continue;
		jetwatt_preset_mode_of(k->mode, k->nr_modes, &all->preset[i], &r->preset[r->presets]);
		r->preset_w[r->presets++] = w;
	}
	jetwatt_presets_free(all);
}
