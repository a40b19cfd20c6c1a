// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/mean_variance.h"

#include <math.h>

/* What is thought of it at first is worth so many windows; and the most that are. */
#define FIRST	8
#define MOST	600
/* What jumps by so many times the swing is a change, of the job or of the clocks. */
#define JUMP	6

double jetwattd_swing(struct jetwattd_swing *s, double w, uint64_t now, uint64_t from,
		      uint64_t window, double was)
{
	double off, mean_w = s->mean_w;

	if (s->next_ns < from + window) {
		s->nr = 0;
		s->next_ns = from + window;
	}
	if (now < s->next_ns || !(w > 0))
		return was;
	s->next_ns = now + window;
	off = w / mean_w - 1;
	if (s->nr && fabs(off) > JUMP * was)
		s->nr = 0;
	s->mean_w = s->nr ? mean_w + (w - mean_w) / (s->nr + 1) : w;
	if (!s->nr++)
		return was;
	/* About the mean of all, which it is part of: a slow swing is in it too. */
	s->squares += off * (w / s->mean_w - 1);
	if (++s->n > MOST) {
		s->squares /= 2;
		s->n /= 2;
	}
	return sqrt((s->squares + FIRST * JETWATTD_SWING * JETWATTD_SWING) / (s->n + FIRST));
}
