// SPDX-License-Identifier: GPL-2.0-only
/*
 * Thread of the cap: receives every power sample from the module and passes it to cap_limit.c. The
 * thread waits for another thread only while that thread holds the lock, as during a mode switch.
 */
#include "daemon/jetwattd.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "energy/energy.h"
#include "measure/connect.h"
#include "tune/tuner.h"
#include "util/error.h"

/* Time without any sample after which the power counts as unknown, in ms. jetwattd(8) states it. */
#define BLIND_MS	1000
/* Time without a value of one rail of the total after which the power counts as unknown. It exceeds
 * 1 s, because the module retries a failed chip after 1 s at the earliest. cap_limit.h (silent
 * rail) and jetwattd(8) state it, too. */
#define SILENT_NS	1500000000ull
/* Gap in the values of a rail after which the rail counts as silent until its next value. */
#define GAP_NS		250000000ull
/* Mean power, as a fraction of the budget, above which an idle board may soon exceed the budget. */
#define NEAR_BUDGET	0.7
/* Time for which all rails of the total must deliver values until the power counts as known. */
#define SEEN_NS		500000000ull
#define CHIPS_MAX	16
/* Time constant of a chip's averaging filter above which jetwattd mentions it at its start. */
#define FILTER_MAX_NS	100000000ull

/**
 * struct jetwattd_cap_thread - the thread and its connection to the module
 * @d: jetwattd
 * @jw: connection to the module
 * @join: merges the samples of the chips to samples of all rails
 * @before: settings of the sampler when the thread was started; the maximum age of a batch
 *	is restored from them
 * @age_ms: present maximum age of a batch of samples, in ms
 * @thread: the thread
 * @started: 1: @thread runs
 * @end: eventfd that ends the thread
 * @total: indices of the rails of the total
 * @nr_total: number of elements of @total
 * @filter_s: time constants of the averaging filters of the rails in @total, in s
 * @rail: all rails
 * @failed_rail: label of a rail of the total that delivers no values; NULL: no such rail was found
 * @hearing: which rails deliver values
 * @judge: state of the cap's decisions
 */
struct jetwattd_cap_thread {
	struct jetwattd *d;
	struct jetwatt *jw;
	struct jetwatt_join *join;
	struct jetwatt_config before;
	unsigned int age_ms;
	pthread_t thread;
	int started, end;
	int total[JETWATT_RAILS_MAX], nr_total;
	double filter_s[JETWATT_RAILS_MAX];
	struct jetwatt_rail rail[JETWATT_RAILS_MAX];
	const char *failed_rail;
	struct jetwattd_rail_check hearing;
	struct jetwattd_cap_check judge;
};

int jetwattd_rail_check(struct jetwattd_rail_check *h, const int *total, int nr, const struct jetwatt_power *p)
{
	uint32_t all = 0;
	int failed = -1;

	for (int i = 0; i < nr; i++) {
		uint32_t bit = 1u << total[i];
		uint64_t *since = &h->silent_ns[total[i]];

		all |= bit;
		if (p->valid & bit) {
			h->alive |= bit;
			*since = 0;
		} else if (!*since) {
			*since = p->time_ns;
		} else if (p->time_ns - *since > GAP_NS) {
			h->alive &= ~bit;
			if (p->time_ns - *since > SILENT_NS)
				failed = i;
		}
	}
	if (h->alive != all)
		h->since_ns = 0;
	else if (!h->since_ns)
		h->since_ns = p->time_ns;
	h->seeing = h->since_ns && p->time_ns - h->since_ns >= SEEN_NS;
	return failed;
}

static void cap_on_power(const struct jetwatt_power *p, void *arg)
{
	struct jetwattd_cap_thread *c = arg;
	int failed = jetwattd_rail_check(&c->hearing, c->total, c->nr_total, p);
	double w = 0, late_uj = 0;

	if (failed >= 0)
		c->failed_rail = c->rail[c->total[failed]].label;
	else if (c->hearing.seeing && c->nr_total >= c->d->rails)
		atomic_store(&c->d->seeing, 1);
	for (int i = 0; i < c->nr_total; i++) {
		w += p->uw[c->total[i]] * 1e-6;
		late_uj += p->uw[c->total[i]] * c->filter_s[i];
	}
	jetwattd_window_add(&c->judge.drawn, p->time_ns, w, late_uj, p->gap);
	c->judge.clock = p->clock;
	c->judge.samples++;
}

static void cap_on_samples(const struct jetwatt_samples *s, void *arg)
{
	struct jetwattd_cap_thread *c = arg;

	c->judge.lost += s->gap;
	jetwatt_join_samples(s, c->join);
}

/* Set the maximum age of a batch of samples, and no other setting. Return: 0, negative errno. */
static int set_batch_age(struct jetwattd_cap_thread *c, unsigned int ms)
{
	struct jetwatt_config set = { UINT32_MAX, UINT32_MAX, ms, UINT32_MAX, 0, 0 };

	c->age_ms = ms;
	return jetwatt_config_set(c->jw, &set);
}

/* Return: 1 if jetwattd has applied no mode and the next job may exceed the budget within a fraction of the
 * averaging window. The first switch takes longest, because it saves the knobs first. */
static int may_exceed_soon(const struct jetwattd *d)
{
	return !d->act.applied && d->cap.budget_w > 0 && d->cap.mean_w > NEAR_BUDGET * d->cap.budget_w;
}

/* Adapt the interval of the cap's decisions to the loop's state and to the short window's limit. */
static void adapt_batch_age(struct jetwattd_cap_thread *c)
{
	struct jetwattd *d = c->d;
	unsigned int ms;

	pthread_mutex_lock(&d->lock);
	ms = (d->doing == JETWATTD_HOLDING || (d->doing == JETWATTD_IDLE && !may_exceed_soon(d))) &&
	     !(d->cap.cap_w > 0) ? JETWATTD_JUDGED_HELD_MS : JETWATTD_JUDGED_MS;
	pthread_mutex_unlock(&d->lock);
	if (ms != c->age_ms)
		set_batch_age(c, ms);
}

static void cap_judge(struct jetwattd_cap_thread *c)
{
	struct jetwattd *d = c->d;

	pthread_mutex_lock(&d->lock);
	c->judge.window_s = d->policy->window_s;
	d->cap.cap_window_s = d->policy->cap_window_s;
	d->cap.cap_w = d->policy->cap_w;
	c->judge.off = d->pause || d->doing == JETWATTD_YIELDING;
	jetwattd_cap_check(&c->judge);
	pthread_mutex_unlock(&d->lock);
}

static void *cap_run(void *arg)
{
	struct jetwattd_cap_thread *c = arg;
	struct pollfd p[] = { { jetwatt_fd(c->jw), POLLIN, 0 }, { c->end, POLLIN, 0 } };

	for (;;) {
		int n = poll(p, 2, BLIND_MS);

		if (p[1].revents)
			return NULL;
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || jetwatt_dispatch(c->jw) < 0) {
			jetwatt_error_report(JETWATT_EXIT_FAILED, n ? jetwatt_error(c->jw) : "no sample for 1 s",
					  "check that the module is loaded: jetwatt doctor",
					  "power samples have stopped");
			jetwattd_blind(c->d);
			return NULL;
		}
		if (c->failed_rail) {
			/* While blind, the loop reports missing samples, so the thread does not. */
			if (!atomic_load(&c->d->blind))
				jetwatt_error_report(JETWATT_EXIT_FAILED,
						  "its sensor chip does not answer, so the total power is unknown",
						  "jetwatt doctor; dmesg", "power samples have stopped: rail %s",
						  c->failed_rail);
			jetwattd_blind(c->d);
			return NULL;
		}
		if (c->judge.drawn.nr > 1)
			cap_judge(c);
		adapt_batch_age(c);
	}
}

/* Read how long the chips of the total average. */
static void read_filters(struct jetwattd_cap_thread *c)
{
	struct jetwatt_chip chip[CHIPS_MAX];
	int chips = jetwatt_chips(c->jw, chip, CHIPS_MAX);
	double longest_ns = 0;

	for (int r = 0; r < c->nr_total; r++) {
		const struct jetwatt_rail *rail = &c->rail[c->total[r]];
		double ns = 0;

		for (int i = 0; i < chips && i < CHIPS_MAX; i++)
			if (chip[i].id == rail->chip)
				ns = jetwatt_batch_filter_ns(&chip[i]);
		c->filter_s[r] = ns * 1e-9;
		longest_ns = fmax(longest_ns, ns);
	}
	c->judge.drawn.filter_ns = longest_ns;
	if (longest_ns > FILTER_MAX_NS)
		jetwatt_notice("the power sensors average over %.2f s: shorter peaks are not seen; see \"samples\" in jetwattd(8)",
			       longest_ns * 1e-9);
}

static int cap_attach(struct jetwattd_cap_thread *c)
{
	struct jetwatt_rail *rail = c->rail;
	struct jetwatt_info info;
	const char *scope;
	int n, err = jetwatt_open_module(&c->jw, &info);

	if (err)
		return err;
	n = jetwatt_rails(c->jw, rail, JETWATT_RAILS_MAX);
	c->nr_total = n < 0 ? n : jetwatt_board_total(c->d->act.board, rail, n, c->total, &scope);
	if (c->nr_total <= 0)
		return jetwatt_error_report(JETWATT_EXIT_UNSUPPORTED, "no rail belongs to the total power",
					 "jetwatt doctor; jetwatt list rails", "cannot enforce a budget");
	/* Store the number of rails of the total at the first start. If a rail is missing after a
	 * reconnection, the total is too low, so cap_on_power() does not set @seeing. */
	if (!c->d->rails)
		c->d->rails = c->nr_total;
	read_filters(c);
	err = jetwatt_config_get(c->jw, &c->before);
	if (!err)
		err = set_batch_age(c, JETWATTD_JUDGED_MS);
	if (!err)
		err = jetwatt_join_new(&c->join, c->jw, 0);
	if (err)
		return jetwatt_connect_error(c->jw, err, "cannot configure the sampler");
	jetwatt_join_set(c->join, cap_on_power, NULL, c);
	err = jetwatt_subscribe(c->jw, cap_on_samples, c);
	return err ? jetwatt_connect_error(c->jw, err, "cannot read samples") : 0;
}

int jetwattd_cap_start(struct jetwattd *d, struct jetwattd_cap_thread **cap)
{
	struct jetwattd_cap_thread *c = calloc(1, sizeof(*c));
	int err;

	*cap = c;
	if (!c)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(ENOMEM), NULL, "cannot start");
	c->d = d;
	c->judge.cap = &d->cap;
	c->judge.act = &d->act;
	c->judge.invalidate = &d->invalidate;
	c->end = eventfd(0, EFD_CLOEXEC);
	d->cap.swing = JETWATTD_SWING;
	atomic_store(&d->seeing, 0);
	if (c->end < 0)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(errno), NULL, "cannot start");
	err = cap_attach(c);
	if (err)
		return err;
	err = pthread_create(&c->thread, NULL, cap_run, c);
	if (err)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(err), NULL,
					 "cannot start a thread");
	c->started = 1;
	return 0;
}

void jetwattd_cap_stop(struct jetwattd_cap_thread *c)
{
	if (!c)
		return;
	if (c->started) {
		eventfd_write(c->end, 1);
		pthread_join(c->thread, NULL);
	}
	if (c->jw && c->before.batch_age_ms)
		set_batch_age(c, c->before.batch_age_ms);
	jetwatt_join_free(c->join);
	if (c->jw)
		jetwatt_close(c->jw);
	close(c->end);
	free(c);
}
