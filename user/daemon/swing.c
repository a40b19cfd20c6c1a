// SPDX-License-Identifier: GPL-2.0-only
#include "swing.h"

#include <math.h>

/* What is thought of it at first is worth so many windows; and the most that are. */
#define FIRST	8
#define MOST	600
/* What jumps by so many times the swing is a change, of the job or of the clocks. */
#define JUMP	6

double jetwattd_swing(struct jetwattd_swing *s, double w, uint64_t now, uint64_t from,
		      uint64_t window, double was)
{
	double off;

	if (s->next_ns < from + window) {
		s->before_w = 0;
		s->next_ns = from + window;
	}
	if (now < s->next_ns || !(w > 0))
		return was;
	s->next_ns = now + window;
	off = s->before_w > 0 ? w / s->before_w - 1 : INFINITY;
	s->before_w = w;
	if (fabs(off) > JUMP * was)
		return was;
	s->squares += off * off / 2;
	if (++s->n > MOST) {
		s->squares /= 2;
		s->n /= 2;
	}
	return sqrt((s->squares + FIRST * JETWATTD_SWING * JETWATTD_SWING) / (s->n + FIRST));
}
