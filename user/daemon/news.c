// SPDX-License-Identifier: GPL-2.0-only
/* Pass readings to the learner, and the learner's news to the database, the counters and the log. */
#include "daemon/loop.h"

#include "util/error.h"

/* Count a reading and, except of a server, store it in the database; with --verbose, also log it. */
static void report_reading(struct jetwattd_run *r, const struct jetwattd_reading *got)
{
	char name[96] = "";

	pthread_mutex_lock(&r->d->lock);
	r->d->count.measured++;
	pthread_mutex_unlock(&r->d->lock);
	if (r->d->verbose && !jetwatt_board_mode_format(&got->m.row.mode, name, sizeof(name)))
		jetwatt_notice("measured %s: %.2f ms +- %.1f %%, %.2f W +- %.1f %%, in %.1f s", name,
				   got->m.row.time_ms, 100 * got->m.row.time_sd, got->m.row.power_w,
				   100 * got->m.row.power_sd, got->m.dwell_s);
	/* The time of a row of a server depends on the mix, which the database does not have. */
	if (!r->serves)
		jetwatt_profile_store_add(&r->store, &got->m, got->lost);
}

static void report_drift(struct jetwattd *d, const struct jetwatt_row *is, const struct jetwatt_row *was)
{
	pthread_mutex_lock(&d->lock);
	d->count.drifts++;
	pthread_mutex_unlock(&d->lock);
	jetwattd_log(d, "drift, learning the job again: %.2f ms and %.2f W, expected %.2f ms and %.2f W",
		     is->time_ms, is->power_w, was->time_ms, was->power_w);
}

static void report_mix(struct jetwattd *d)
{
	pthread_mutex_lock(&d->lock);
	d->count.mixes++;
	pthread_mutex_unlock(&d->lock);
	jetwattd_log(d, "the mix of prefill and decode has changed, choosing the mode again");
}

void jetwattd_handle_news(struct jetwattd_run *r)
{
	struct jetwattd_news news;

	while (jetwattd_learner_news(&r->learner, &news))
		if (news.what == JETWATTD_STORE)
			report_reading(r, &news.reading);
		else if (news.what == JETWATTD_MIX_MOVED)
			report_mix(r->d);
		else
			report_drift(r->d, &news.is, &news.was);
}

int jetwattd_store_reading(struct jetwattd_run *r, const struct jetwattd_reading *got)
{
	int err = jetwattd_learner_reading(&r->learner, got);

	jetwattd_handle_news(r);
	return err;
}

void jetwattd_exclude_mode(struct jetwattd_run *r, const struct jetwattd_reading *got)
{
	struct jetwatt_measure m = got->m;
	char name[96] = "";

	m.row.power_w = got->over_w;
	m.row.power_sd = got->over_sd;
	if (r->d->verbose && !jetwatt_board_mode_format(&m.row.mode, name, sizeof(name)))
		jetwatt_notice("over the budget %s: %.2f ms%s, %.2f W +- %.1f %%", name, m.row.time_ms,
				   m.row.time_ms > 0 ? "" : " (unknown)", got->over_w, 100 * got->over_sd);
	/* Later jobs of the workload need not try the mode again. The database has no rows without a time, and the
	 * power of a server depends on its requests. */
	jetwattd_learner_over(&r->learner, &m.row, !got->over_peak && !r->serves);
	if (m.row.time_ms > 0 && !got->over_peak)
		jetwatt_profile_store_add(&r->store, &m, got->lost);
}
