// SPDX-License-Identifier: GPL-2.0-only
/* Measure time and power of the job in the applied mode: full readings, quick checks,
 * throttling. */
#include "daemon/loop.h"

#include <errno.h>
#include <string.h>

#include "measure/left_mode.h"
#include "util/clock.h"

/* If more than this fraction of the samples has too low clocks, the mode counts as throttled. */
#define BELOW		0.1
/* Time after a switch of mode during which samples may still contain the clocks from before the
 * switch. */
#define TAKEN_NS	100000000ull

void jetwattd_mode_before(const struct jetwattd_run *r, struct jetwatt_measure_limits *limits)
{
	const struct jetwattd_actuator *a = &r->d->act;
	const struct jetwatt_row *row = jetwattd_is_applied(a, &a->mode) ?
						jetwatt_tuner_row(&r->learner.known, &a->mode) : NULL;

	limits->before_ms = row && row->time_sd <= JETWATTD_COARSE_SD ? row->time_ms : 0;
	limits->before_ns = a->switched_ns;
}

/* Progress callback of a measurement: do the housekeeping. */
static void on_progress(const struct jetwatt_measure *m, double part, void *arg)
{
	(void)m;
	(void)part;
	jetwattd_housekeeping(arg);
}

/* Tell the cap when the reading in progress started; 0: no reading is in progress. */
static void set_measuring(struct jetwattd *d, uint64_t since_ns)
{
	pthread_mutex_lock(&d->lock);
	d->cap.measuring_ns = since_ns;
	pthread_mutex_unlock(&d->lock);
}

/* End a measurement: fetch the cap event that occurred during the measurement, if there was one.
 * @until_ns: set to the time of the event. Return: 1: there was one. */
static int fetch_cap_event(struct jetwattd *d, struct jetwattd_reading *got, uint64_t *until_ns)
{
	int was;

	pthread_mutex_lock(&d->lock);
	was = d->cap.cap_hit;
	/* If the power in this mode was within the limit, the excess power was drawn before the
	 * switch. */
	got->over_w = d->cap.left_w > jetwattd_cap_limit(&d->cap) ? d->cap.left_w : 0;
	got->over_sd = d->cap.left_sd;
	got->over_peak = d->cap.left_peak;
	*until_ns = d->cap.stepped_ns;
	d->cap.cap_hit = 0;
	d->cap.measuring_ns = 0;
	pthread_mutex_unlock(&d->lock);
	return was;
}

/* Return: 1 if the co-running commands are not those of the workload, so the reading does not
 * describe the workload. */
static int corunners_differ(const struct jetwattd_run *r)
{
	char now[JETWATTD_CORUNNERS_LEN];

	jetwattd_corunners(r, now, sizeof(now));
	return strcmp(now, r->corunners) != 0;
}

enum jetwattd_outcome jetwattd_measure(struct jetwattd_run *r, const struct jetwatt_mode *mode,
				    const struct jetwatt_measure_limits *limits,
				    struct jetwattd_reading *got)
{
	uint64_t lost = r->session.lost, since_ns = jetwatt_clock_ns(), left_ns;
	struct jetwatt_measure_limits until = *limits;
	int err;

	jetwattd_forget_waits(r);
	until.cancel = &r->d->invalidate;
	*got = (struct jetwattd_reading){ .m.row.mode = *mode };
	set_measuring(r->d, since_ns);
	err = r->serves ? jetwattd_measure_steps(r, &until, got) :
			  jetwatt_measure_mode(&r->session, jetwatt_clock_ns(), &until, &got->m, on_progress, r);
	got->m.row.mode = *mode;
	got->lost = r->session.lost - lost;
	if (fetch_cap_event(r->d, got, &left_ns)) {
		got->m.row.time_ms = 0;
		if (!r->serves && !corunners_differ(r))
			jetwatt_left_mode_time(&r->session, since_ns, left_ns, &got->m);
		return JETWATTD_OVER;
	}
	if (err == -ECANCELED)
		return JETWATTD_INTERRUPTED;
	if (err == -ENODATA || err == -ETIMEDOUT)
		return JETWATTD_NOTHING;
	if (err)
		return JETWATTD_ENDED;
	if (corunners_differ(r))
		return JETWATTD_SHARED;
	pthread_mutex_lock(&r->d->lock);
	jetwattd_cap_measured(&r->d->cap, got->m.row.power_w);
	pthread_mutex_unlock(&r->d->lock);
	return JETWATTD_MEASURED;
}

enum jetwattd_outcome jetwattd_remeasure(struct jetwattd_run *r, const struct jetwatt_mode *mode,
					  const struct jetwatt_measure_limits *limits,
					  struct jetwattd_reading *got)
{
	struct jetwatt_measure_limits until = *limits;
	struct jetwatt_mode to = *mode;
	int err;

	if (jetwattd_changed(r))
		return JETWATTD_INTERRUPTED;
	until.decay = &r->decay;
	pthread_mutex_lock(&r->d->lock);
	/* jetwattd_changed() has just checked the events that set @invalidate. */
	atomic_store(&r->d->invalidate, 0);
	r->d->cap.cap_hit = 0;
	jetwattd_mode_before(r, &until);
	err = jetwattd_apply(&r->d->act, &to);
	pthread_mutex_unlock(&r->d->lock);
	if (err)
		return err == -EBUSY ? JETWATTD_INTERRUPTED : JETWATTD_REFUSED;
	return jetwattd_measure(r, &to, &until, got);
}

size_t jetwattd_quick_check(struct jetwattd_run *r, const struct jetwatt_measure_limits *limits,
		       struct jetwatt_row *row)
{
	uint64_t begun = jetwatt_clock_ns();
	double span_s;
	size_t n;
	int stop;

	jetwattd_minibatch_start_mean(r->minibatch);
	set_measuring(r->d, begun);
	do {
		jetwattd_poll(r, limits->seconds);
		stop = atomic_load(&r->d->invalidate) || jetwattd_changed(r) ||
		      jetwattd_minibatch_deviates(r->minibatch);
		n = jetwattd_minibatch_mean(r->minibatch, NULL);
		span_s = (jetwatt_clock_ns() - begun) * 1e-9;
	} while (!stop && (span_s < limits->seconds ||
			  (n && n < limits->batches && span_s < limits->max_s)));
	set_measuring(r->d, 0);
	if (stop || n < limits->min_on_timeout || corunners_differ(r))
		return 0;
	return jetwattd_minibatch_mean(r->minibatch, row);
}

/* Return: 1 if a clock is more than 2 % below that of the mode. Clocks that were not sampled are
 * 0 in @seen and are ignored. */
static int clocks_below(const struct jetwatt_mode *seen, const struct jetwatt_mode *mode)
{
	jetwatt_each_knob(k)
		if (jetwatt_knob_row(k)->hz && jetwatt_mode_get(seen, k) &&
		    jetwatt_mode_get(seen, k) < 0.98 * jetwatt_mode_get(mode, k))
			return 1;
	return 0;
}

int jetwattd_throttled(struct jetwattd_run *r, const struct jetwatt_mode *mode)
{
	const struct jetwatt_session *w = &r->session;
	size_t below = 0, n = 0;

	for (size_t i = 0; i < w->nr_power; i++) {
		const struct jetwatt_mode *c = &w->power[i].clock;

		if (w->power[i].time_ns < r->d->act.switched_ns + TAKEN_NS || (!c->gpu_hz && !c->cpu_khz))
			continue;
		n++;
		below += clocks_below(c, mode);
	}
	if (!n || below <= BELOW * n)
		return 0;
	pthread_mutex_lock(&r->d->lock);
	r->d->count.throttled++;
	pthread_mutex_unlock(&r->d->lock);
	jetwattd_log(r->d, "throttled: clocks below those of the mode, by a temperature or current limit");
	return 1;
}
