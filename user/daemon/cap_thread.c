// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cap: every sample of the module's power, as it comes, and what cap_limit.c makes of it.
 * Nobody else may keep it waiting, but for a switch that is under way.
 */
#include "daemon/jetwattd.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "measure/connect.h"
#include "tune/tuner.h"
#include "util/error.h"

/* Without a sample for so long nobody knows what is drawn. */
#define BLIND_MS	1000
/* The same of one rail of the total. The module asks a chip that has failed once again after 1 s. */
#define SILENT_NS	1500000000ull
/* After a gap of this length in its values a rail has to be heard again. */
#define GAP_NS		250000000ull
/* Once all rails of the total are heard, for this time, the power is known. */
#define SEEN_NS		500000000ull

struct jetwattd_cap_thread {
	struct jetwattd *d;
	struct jetwatt *jw;
	struct jetwatt_join *join;
	struct jetwatt_config before;
	unsigned int age_ms;
	pthread_t thread;
	int started, end;
	int total[JETWATT_RAILS_MAX], nr_total;
	struct jetwatt_rail rail[JETWATT_RAILS_MAX];
	const char *dead;
	struct jetwattd_hearing hearing;
	struct jetwattd_judge judge;
};

int jetwattd_hearing(struct jetwattd_hearing *h, const int *total, int nr, const struct jetwatt_power *p)
{
	uint32_t all = 0;
	int dead = -1;

	for (int i = 0; i < nr; i++) {
		uint32_t bit = 1u << total[i];
		uint64_t *since = &h->silent_ns[total[i]];

		all |= bit;
		if (p->valid & bit) {
			h->heard |= bit;
			*since = 0;
		} else if (!*since) {
			*since = p->time_ns;
		} else if (p->time_ns - *since > GAP_NS) {
			h->heard &= ~bit;
			if (p->time_ns - *since > SILENT_NS)
				dead = i;
		}
	}
	if (h->heard != all)
		h->since_ns = 0;
	else if (!h->since_ns)
		h->since_ns = p->time_ns;
	h->seeing = h->since_ns && p->time_ns - h->since_ns >= SEEN_NS;
	return dead;
}

static void on_power(const struct jetwatt_power *p, void *arg)
{
	struct jetwattd_cap_thread *c = arg;
	int dead = jetwattd_hearing(&c->hearing, c->total, c->nr_total, p);
	double w = 0;

	if (dead >= 0)
		c->dead = c->rail[c->total[dead]].label;
	else if (c->hearing.seeing && c->nr_total >= c->d->rails)
		atomic_store(&c->d->seeing, 1);
	for (int i = 0; i < c->nr_total; i++)
		w += p->uw[c->total[i]] * 1e-6;
	jetwattd_window_add(&c->judge.drawn, p->time_ns, w, p->gap);
	c->judge.clock = p->clock;
	c->judge.samples++;
}

static void on_samples(const struct jetwatt_samples *s, void *arg)
{
	struct jetwattd_cap_thread *c = arg;

	c->judge.lost += s->gap;
	jetwatt_join_samples(s, c->join);
}

/* Only the age of batches. Return: 0, negative errno. */
static int set_age(struct jetwattd_cap_thread *c, unsigned int ms)
{
	struct jetwatt_config set = { UINT32_MAX, UINT32_MAX, ms, UINT32_MAX, 0, 0 };

	c->age_ms = ms;
	return jetwatt_config_set(c->jw, &set);
}

/* As often as is needed for what the loop does. */
static void keep_pace(struct jetwattd_cap_thread *c)
{
	struct jetwattd *d = c->d;
	unsigned int ms;

	pthread_mutex_lock(&d->lock);
	ms = d->doing == JETWATTD_HOLDING || d->doing == JETWATTD_IDLE ?
	     JETWATTD_JUDGED_HELD_MS : JETWATTD_JUDGED_MS;
	pthread_mutex_unlock(&d->lock);
	if (ms != c->age_ms)
		set_age(c, ms);
}

static void judge(struct jetwattd_cap_thread *c)
{
	struct jetwattd *d = c->d;

	pthread_mutex_lock(&d->lock);
	c->judge.window_s = d->policy->window_s;
	c->judge.off = d->pause || d->doing == JETWATTD_YIELDING;
	jetwattd_judge(&c->judge);
	pthread_mutex_unlock(&d->lock);
}

static void *run(void *arg)
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
			jetwatt_error_say(JETWATT_EXIT_FAILED, n ? jetwatt_error(c->jw) : "none for a second",
					  "was the module unloaded? jetwatt doctor",
					  "the samples of power have broken off");
			jetwattd_blind(c->d);
			return NULL;
		}
		if (c->dead) {
			/* While blind it is said by the loop. */
			if (!atomic_load(&c->d->blind))
				jetwatt_error_say(JETWATT_EXIT_FAILED,
						  "its chip does not answer: what is left is no total",
						  "jetwatt doctor; dmesg", "rail %s has broken off", c->dead);
			jetwattd_blind(c->d);
			return NULL;
		}
		if (c->judge.drawn.nr > 1)
			judge(c);
		keep_pace(c);
	}
}

static int attach(struct jetwattd_cap_thread *c)
{
	struct jetwatt_rail *rail = c->rail;
	struct jetwatt_info info;
	const char *scope;
	int n, err = jetwatt_reach_module(&c->jw, &info);

	if (err)
		return err;
	n = jetwatt_rails(c->jw, rail, JETWATT_RAILS_MAX);
	c->nr_total = n < 0 ? n : jetwatt_board_total(c->d->act.board, rail, n, c->total, &scope);
	if (c->nr_total <= 0)
		return jetwatt_error_say(JETWATT_EXIT_UNSUPPORTED, "no rail that belongs to the total",
					 "jetwatt doctor; jetwatt list rails", "no power to hold");
	/* With fewer rails than before a sum is too little. */
	if (!c->d->rails)
		c->d->rails = c->nr_total;
	err = jetwatt_config_get(c->jw, &c->before);
	if (!err)
		err = set_age(c, JETWATTD_JUDGED_MS);
	if (!err)
		err = jetwatt_join_new(&c->join, c->jw, 1);
	if (err)
		return jetwatt_reach_failed(c->jw, err, "cannot set the sampler up");
	jetwatt_join_set(c->join, on_power, NULL, c);
	err = jetwatt_subscribe(c->jw, on_samples, c);
	return err ? jetwatt_reach_failed(c->jw, err, "cannot read samples") : 0;
}

int jetwattd_cap_start(struct jetwattd *d, struct jetwattd_cap_thread **cap)
{
	struct jetwattd_cap_thread *c = calloc(1, sizeof(*c));
	int err;

	*cap = c;
	if (!c)
		return jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(ENOMEM), NULL, "cannot start");
	c->d = d;
	c->judge.cap = &d->cap;
	c->judge.act = &d->act;
	c->judge.cut = &d->cut;
	c->end = eventfd(0, EFD_CLOEXEC);
	d->cap.swing = JETWATTD_SWING;
	atomic_store(&d->seeing, 0);
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

void jetwattd_cap_stop(struct jetwattd_cap_thread *c)
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
