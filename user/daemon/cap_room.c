// SPDX-License-Identifier: GPL-2.0-only
/*
 * The margin that the cap needs: how much power a mode may draw on average so that neither the
 * budget nor the limit of the short averaging window is exceeded. The swing of the mean power over
 * the budget's window and the crest factors of the modes measured last determine the margin.
 */
#include "daemon/cap_limit.h"

#include <math.h>

/* Crest factor, highest power of the short window divided by the mean power, that is assumed while
 * no crest factor is stored. */
#define CREST		1.1
/* Margin, as a factor, between the limit of the short window and the highest power in it that the
 * modes measured last predict. */
#define CREST_MARGIN	1.01

/* Return the highest crest factor of the modes measured last. */
static double crest(const struct jetwattd_cap *c)
{
	double most = c->crests ? 1 : CREST;

	for (unsigned int i = 0; i < c->crests && i < JETWATTD_CRESTS; i++)
		most = fmax(most, c->crest[i]);
	return most;
}

double jetwattd_cap_limit(const struct jetwattd_cap *c)
{
	double limit_w = c->budget_w / (1 + JETWATTD_SWINGS * c->swing);

	return c->cap_w > 0 ? fmin(limit_w, c->cap_w / (crest(c) * CREST_MARGIN)) : limit_w;
}

void jetwattd_cap_measured(struct jetwattd_cap *c, double mean_w)
{
	if (c->peak_w > 0 && mean_w > 0)
		c->crest[c->crests++ % JETWATTD_CRESTS] = fmax(1, c->peak_w / mean_w);
}
