// SPDX-License-Identifier: GPL-2.0-only
/* Energy of each program: the energy that the board uses during the time slices of the program. */
#include <stdlib.h>

#include "energy/energy.h"
#include "timeshare/timeshare.h"

void jetwatt_timeshare_add_span(struct jetwatt_timeshare *s, uint64_t from_ns, uint64_t to_ns,
			    enum jetwatt_timeshare_kind kind)
{
	struct jetwatt_timeshare_span *more;

	s->ns[kind] += to_ns - from_ns;
	if (!s->session.jw)
		return;
	if (s->spans == s->max_spans) {
		more = reallocarray(s->span, s->max_spans ? 2 * s->max_spans : 256, sizeof(*more));
		if (!more) {
			s->session.out_of_memory = s->session.failed = 1;
			return;
		}
		s->span = more;
		s->max_spans = s->max_spans ? 2 * s->max_spans : 256;
	}
	s->span[s->spans++] = (struct jetwatt_timeshare_span){ from_ns, to_ns, kind };
}

void jetwatt_timeshare_count_energy(struct jetwatt_timeshare *s)
{
	const struct jetwatt_session *w = &s->session;
	size_t n = 0;
	double uj;

	for (; n < s->spans && s->span[n].to_ns <= w->power_ns; n++)
		if (!jetwatt_batch_energy(w->power, w->nr_power, w->total, w->nr_total, s->span[n].from_ns,
					  s->span[n].to_ns, &uj, NULL))
			s->uj[s->span[n].kind] += uj;
	if (!n)
		return;
	jetwatt_session_discard(&s->session, s->span[n - 1].to_ns);
	for (size_t i = n; i < s->spans; i++)
		s->span[i - n] = s->span[i];
	s->spans -= n;
}
