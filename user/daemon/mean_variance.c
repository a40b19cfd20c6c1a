// SPDX-License-Identifier: GPL-2.0-only
/* Computes a running estimate of the swing, which starts from a prior and in which older
 * deviations have less weight. */
#include "daemon/mean_variance.h"

#include <math.h>

/* Weight of the prior JETWATTD_SWING, as a number of averaging windows. */
#define PRIOR_WINDOWS	8
/* If the weights of the windows add up to more than this number, all of them are halved. */
#define WINDOWS_MAX	600
/* A deviation beyond this multiple of the swing counts as a change of the job or of the clocks, and
 * starts a new mean. */
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
	/* Use the deviation of a window from the mean of all windows, not from the previous
	 * window, so that slow swings count too. Adding the product of the deviations from the
	 * old mean and from the new mean is Welford's update. */
	s->squares += off * (w / s->mean_w - 1);
	if (++s->n > WINDOWS_MAX) {
		s->squares /= 2;
		s->n /= 2;
	}
	return sqrt((s->squares + PRIOR_WINDOWS * JETWATTD_SWING * JETWATTD_SWING) /
		    (s->n + PRIOR_WINDOWS));
}
