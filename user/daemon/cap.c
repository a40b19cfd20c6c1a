// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cap: the mean of the module's power over the policy's window stays within
 * the budget, whatever anybody believes about a mode. What gets above it steps
 * down at once to a mode that was measured to be within, and from there to the
 * lowest one; climbing back is the loop's.
 */
#include "jetwattd.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cmd/error.h"
#include "cmd/learn.h"
#include "cmd/reach.h"
#include "cmd/watch.h"
#include "swing.h"
#include "window.h"

/* Batches come so often: where nothing is known; and in a mode that was measured, where each of
 * them wakes us for nothing. */
#define AGE_MS		20
#define AGE_HELD_MS	50
/* After a switch the chip still averages what was before; then so much of the new
 * mode is worth something. */
#define LAG_NS		100000000ull
#define WORTH_NS	100000000ull
/* Over part of a window only so many budgets are too much; of one that is whole, in a mode
 * that was chosen, so many. */
#define FAR		1.15
#define FAR_CHOSEN	1.5
/* A mean that is above for such a part of the window more has to come down faster. */
#define LONG		0.25
/* Of a window's energy, for what is above a mode's mean and for the switch. */
#define ROOM		0.03
/* Relative error of a mean over half a second. */
#define HALF_NS		500000000.0
#define HALF_SD		0.02
/* Without a sample for so long nobody knows what is drawn. */
#define BLIND_MS	1000

struct jetwattd_cap {
	struct jetwattd *d;
	struct jetwatt *jw;
	struct jetwatt_join *join;
	struct jetwatt_config before;
	unsigned int age_ms;
	pthread_t thread;
	int started, end;
	int total[JETWATT_RAILS_MAX], nr_total;
	struct jetwattd_window drawn;
	double budget_w;
	/* Of the last step down, in J. */
	double debt_j;
	/* Not yet told. */
	uint64_t samples, lost, judged_ns;
	struct jetwatt_mode clock;
	int32_t temp_mc;
	struct jetwattd_swing swing;
};

/* Where to: what was measured to be within, also a budget that was just lowered, or the
 * lowest. NULL: it is there. */
static const struct jetwatt_mode *lower(const struct jetwattd_cap *c, uint64_t window)
{
	const struct jetwattd *d = c->d;

	if (d->applied && jetwatt_mode_same(&d->mode, &d->floor))
		return NULL;
	if (!d->have_safe || d->safe_w > JETWATTD_SAFE * d->budget_w ||
	    jetwattd_window_above(&c->drawn, d->safe_w, window, d->budget_w) > LONG * window ||
	    (d->applied && jetwatt_mode_same(&d->mode, &d->safe)))
		return &d->floor;
	return &d->safe;
}

static void step_down(struct jetwattd_cap *c, double over_w, uint64_t over_ns, uint64_t window)
{
	struct jetwattd *d = c->d;
	const struct jetwatt_mode *to = lower(c, window);
	uint64_t now = jetwattd_window_now(&c->drawn), from = d->switched_ns + LAG_NS, span;

	/* Nothing is lower: that it has come down the rest of the window will show. */
	if (!to && over_ns < window)
		return;
	d->count.trips++;
	d->tripped = 1;
	d->stepped_ns = jetwatt_watch_now();
	d->tripped_w = d->tripped_sd = 0;
	if (now > from + WORTH_NS) {
		d->tripped_w = jetwattd_window_mean(&c->drawn, now - from, &span);
		d->tripped_sd = HALF_SD * fmax(sqrt(HALF_NS / span), 0.5);
	}
	atomic_store(&d->cut, 1);
	c->debt_j = jetwattd_window_debt(&c->drawn, window, d->budget_w);
	d->owing = 1;
	d->left = d->mode;
	if (to)
		jetwattd_put(d, to);
	else if (!d->count.floors++)
		jetwatt_error_note("%.2f W in the lowest mode: %g W cannot be held", over_w, d->budget_w);
	/* What was drawn before the switch says nothing about what comes after it. */
	c->drawn.nr = 0;
}

/* One more window in the same mode: how far is it from the one before? */
static void swing(struct jetwattd_cap *c, double w)
{
	struct jetwattd *d = c->d;
	uint64_t from = d->switched_ns > d->measuring_ns ? d->switched_ns : d->measuring_ns;

	d->swing = jetwattd_swing(&c->swing, d->measuring_ns ? w : 0, jetwattd_window_now(&c->drawn),
				  from + JETWATTD_SETTLED_NS, d->policy->window_s * 1e9, d->swing);
}

/* Is that too much? Over less than a window, as after a step down, a part of a minibatch
 * may be all there is: then it has to be far over. So has what is not yet seen in the whole
 * window; less so where a job begins on a board as it was found, which nobody has measured. */
static int over(const struct jetwattd_cap *c, double w, uint64_t span, uint64_t window)
{
	const struct jetwattd *d = c->d;
	double far;

	if (!(d->budget_w > 0) || d->pause || d->doing == JETWATTD_YIELDING)
		return 0;
	if (span >= window && w > d->budget_w)
		return 1;
	far = d->applied && span >= window ? FAR_CHOSEN : FAR;
	if (span >= window || !d->applied)
		w = jetwattd_window_mean(&c->drawn, window / 4, &span);
	return span >= window / 4 && w > far * d->budget_w;
}

/* Has so much less than the budget been drawn since the step down as there was too much? */
static int repaid(const struct jetwattd_cap *c, uint64_t window)
{
	double budget_w = c->d->budget_w, w;
	uint64_t span;

	w = jetwattd_window_mean(&c->drawn, UINT64_MAX, &span);
	return (budget_w - w) * span * 1e-9 > c->debt_j + ROOM * budget_w * window * 1e-9;
}

/* What has come since the last time. */
static void tell(struct jetwattd_cap *c, double w, int whole)
{
	struct jetwattd *d = c->d;
	uint64_t now = jetwattd_window_now(&c->drawn), from = d->switched_ns + LAG_NS, span;

	d->mean_w = w;
	d->here_w = now > from + WORTH_NS ? jetwattd_window_mean(&c->drawn, now - from, &span) : 0;
	d->count.samples += c->samples;
	d->count.lost += c->lost;
	c->samples = c->lost = 0;
	d->meter.clock = c->clock;
	d->meter.temp_mc = c->temp_mc;
	if (whole && d->budget_w > 0 && w > d->budget_w && c->judged_ns)
		d->meter.over_s += (now - c->judged_ns) * 1e-9;
	c->judged_ns = now;
}

static void judge(struct jetwattd_cap *c)
{
	struct jetwattd *d = c->d;
	uint64_t window, span;
	double w;

	pthread_mutex_lock(&d->lock);
	window = d->policy->window_s * 1e9;
	/* What was drawn while more was allowed is not held against the mode that is for less. */
	if (d->budget_w > 0 && d->budget_w < c->budget_w)
		jetwattd_window_restart(&c->drawn);
	c->budget_w = d->budget_w;
	w = jetwattd_window_mean(&c->drawn, window, &span);
	tell(c, w, span >= window);
	if (span >= window)
		swing(c, w);
	if (over(c, w, span, window))
		step_down(c, w, span, window);
	else if (d->owing && repaid(c, window))
		d->owing = 0;
	pthread_mutex_unlock(&d->lock);
}

static void on_power(const struct jetwatt_power *p, void *arg)
{
	struct jetwattd_cap *c = arg;
	double w = 0;

	for (int i = 0; i < c->nr_total; i++)
		w += p->uw[c->total[i]] * 1e-6;
	jetwattd_window_add(&c->drawn, p->time_ns, w, p->gap);
	c->clock = p->clock;
	c->temp_mc = p->temp_mc;
	c->samples++;
}

static void on_samples(const struct jetwatt_samples *s, void *arg)
{
	struct jetwattd_cap *c = arg;

	c->lost += s->gap;
	jetwatt_join_samples(s, c->join);
}

/* Only the age of batches. Return: 0, negative errno. */
static int set_age(struct jetwattd_cap *c, unsigned int ms)
{
	struct jetwatt_config set = { UINT32_MAX, UINT32_MAX, ms, UINT32_MAX, 0, 0 };

	c->age_ms = ms;
	return jetwatt_config_set(c->jw, &set);
}

/* As often as is needed for what the loop does. */
static void keep_pace(struct jetwattd_cap *c)
{
	unsigned int ms;

	pthread_mutex_lock(&c->d->lock);
	ms = c->d->doing == JETWATTD_HOLDING || c->d->doing == JETWATTD_IDLE ? AGE_HELD_MS : AGE_MS;
	pthread_mutex_unlock(&c->d->lock);
	if (ms != c->age_ms)
		set_age(c, ms);
}

/* Nobody knows what is drawn: then as little as can be. */
static void blind(struct jetwattd_cap *c, const char *why)
{
	struct jetwattd *d = c->d;

	jetwatt_error_say(JETWATT_EXIT_FAILED, why, "was the module unloaded? jetwatt doctor",
			  "the samples of power have broken off");
	pthread_mutex_lock(&d->lock);
	if (d->budget_w > 0 && !d->pause && d->applied)
		jetwattd_put(d, &d->floor);
	atomic_store(&d->cut, 1);
	atomic_store(&d->stop, JETWATT_EXIT_FAILED);
	pthread_mutex_unlock(&d->lock);
}

static void *run(void *arg)
{
	struct jetwattd_cap *c = arg;
	struct pollfd p[] = { { jetwatt_fd(c->jw), POLLIN, 0 }, { c->end, POLLIN, 0 } };

	for (;;) {
		int n = poll(p, 2, BLIND_MS);

		if (p[1].revents)
			return NULL;
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || jetwatt_dispatch(c->jw) < 0) {
			blind(c, n ? jetwatt_error(c->jw) : "none for a second");
			return NULL;
		}
		if (c->drawn.nr > 1)
			judge(c);
		keep_pace(c);
	}
}

static int attach(struct jetwattd_cap *c)
{
	struct jetwatt_rail rail[JETWATT_RAILS_MAX];
	struct jetwatt_info info;
	const char *scope;
	int n, err = jetwatt_reach_module(&c->jw, &info);

	if (err)
		return err;
	n = jetwatt_rails(c->jw, rail, JETWATT_RAILS_MAX);
	c->nr_total = n < 0 ? n : jetwatt_board_total(c->d->board, rail, n, c->total, &scope);
	if (c->nr_total <= 0)
		return jetwatt_error_say(JETWATT_EXIT_UNSUPPORTED, "no rail that belongs to the total",
					 "jetwatt doctor; jetwatt list rails", "no power to hold");
	err = jetwatt_config_get(c->jw, &c->before);
	if (!err)
		err = set_age(c, AGE_MS);
	if (!err)
		err = jetwatt_join_new(&c->join, c->jw, 1);
	if (err)
		return jetwatt_reach_failed(c->jw, err, "cannot set the sampler up");
	jetwatt_join_set(c->join, on_power, NULL, c);
	err = jetwatt_subscribe(c->jw, on_samples, c);
	return err ? jetwatt_reach_failed(c->jw, err, "cannot read samples") : 0;
}

int jetwattd_cap_start(struct jetwattd *d, struct jetwattd_cap **cap)
{
	struct jetwattd_cap *c = calloc(1, sizeof(*c));
	int err;

	*cap = c;
	if (!c)
		return jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(ENOMEM), NULL, "cannot start");
	c->d = d;
	c->end = eventfd(0, EFD_CLOEXEC);
	d->swing = JETWATTD_SWING;
	err = attach(c);
	if (err)
		return err;
	err = pthread_create(&c->thread, NULL, run, c);
	if (err)
		return jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(err), NULL,
					 "cannot start a thread");
	c->started = 1;
	return 0;
}

void jetwattd_cap_stop(struct jetwattd_cap *c)
{
	if (!c)
		return;
	if (c->started) {
		eventfd_write(c->end, 1);
		pthread_join(c->thread, NULL);
	}
	if (c->jw && c->before.batch_age_ms)
		set_age(c, c->before.batch_age_ms);
	jetwatt_join_free(c->join);
	if (c->jw)
		jetwatt_close(c->jw);
	close(c->end);
	free(c);
}
