// SPDX-License-Identifier: GPL-2.0-only
/*
 * Training that gives way to a server: while there is somebody in both of the cgroups that
 * the policy's line "turns" names, a thread has them take turns (timeshare/run.c), in
 * whatever mode the board is. The loop learns modes as without it: a minibatch's time has
 * the server's turns in it then, and modes in which the server is too late are not chosen.
 */
#include "daemon/loop.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "job/cgroup.h"
#include "timeshare/timeshare.h"
#include "util/clock.h"
#include "util/error.h"

/* After it has failed. */
#define AGAIN_NS	60000000000ull

/**
 * struct jetwattd_interleaver - who takes turns
 * @of: the policy's line, when it began
 * @dir: where cgroups are mounted, empty: not looked for yet
 * @train, @serve: the cgroups, to see whether anybody is in them; empty: not there yet
 * @switched_ns: of the mode that the plan is for; @turns, @late: that were told of
 * @begun: the thread has; @ended: it has ended by itself; @again_ns: not before that
 */
struct jetwattd_interleaver {
	struct jetwattd *d;
	struct jetwattd_turns of;
	char dir[PATH_MAX];
	struct jetwatt_cgroup train, serve;
	struct jetwatt_schedule_conf conf;
	struct jetwatt_schedule s;
	uint64_t switched_ns, again_ns, turns, late;
	pthread_t thread;
	int begun;
	atomic_int ended;
};

/* Between two windows, in the thread. */
static void on_window(struct jetwatt_schedule *s, void *arg)
{
	struct jetwattd_interleaver *i = arg;
	struct jetwattd_taking_turns *t = &i->d->turns;
	struct jetwattd *d = i->d;
	int switched;

	pthread_mutex_lock(&d->lock);
	switched = i->switched_ns != d->act.switched_ns;
	i->switched_ns = d->act.switched_ns;
	if (switched)
		jetwatt_schedule_forget(s);
	t->on = 1;
	t->planned = s->planned;
	t->beyond = s->beyond;
	t->minibatches = s->plan.minibatches;
	t->requests = s->plan.requests;
	t->window_ms = s->plan.window_ms;
	t->latency_ms = s->plan.latency_ms;
	t->limit_ms = s->conf->latency_ms;
	t->arrival_hz = s->arrival_hz;
	t->turns += s->turns - i->turns;
	t->late += s->late - i->late;
	jetwattd_late_window(d, switched);
	i->turns = s->turns;
	i->late = s->late;
	pthread_mutex_unlock(&d->lock);
}

static void *run(void *arg)
{
	struct jetwattd_interleaver *i = arg;

	jetwatt_schedule_run(&i->s);
	atomic_store(&i->ended, 1);
	return NULL;
}

static int adopt(struct jetwattd_interleaver *i, struct jetwatt_corunner *t, const char *name,
		 const char *cgroup)
{
	struct jetwatt_error_text e = { "", "", "" };
	char path[PATH_MAX + JETWATT_BOARD_CGROUP];
	int freeze, err;

	jetwatt_tenant_init(t, name, NULL);
	pthread_mutex_lock(&i->d->lock);
	freeze = jetwatt_board_freezer(i->d->act.board, cgroup, &e);
	pthread_mutex_unlock(&i->d->lock);
	if (freeze < 0)
		return jetwatt_error_board(freeze, &e);
	snprintf(path, sizeof(path), "%s%s", i->dir, cgroup);
	err = jetwatt_tenant_adopt(t, path, freeze);
	return err ? jetwatt_error_say(jetwatt_error_code(err), strerror(-err), NULL,
				       "cannot see who is in %s", path) : 0;
}

static void let_go(struct jetwattd_interleaver *i)
{
	struct jetwatt_schedule *s = &i->s;

	jetwatt_tenant_stop(&s->train);
	jetwatt_tenant_stop(&s->infer);
	if (s->guard >= 0)
		close(s->guard);
	if (s->end >= 0)
		close(s->end);
	jetwatt_arrivals_close(s->arrivals);
	jetwatt_batch_track_free(s->track);
	free(s->span);
}

static void begin(struct jetwattd_interleaver *i)
{
	struct jetwatt_schedule *s = &i->s;
	int err;

	memset(s, 0, sizeof(*s));
	i->conf.latency_ms = i->of.latency_ms;
	s->conf = &i->conf;
	s->guard = -1;
	s->on_window = on_window;
	s->arg = i;
	s->end = eventfd(0, EFD_CLOEXEC);
	s->track = jetwatt_batch_track_new();
	jetwatt_watch_init(&s->watch);
	err = adopt(i, &s->train, "training", i->of.train);
	if (!err)
		err = adopt(i, &s->infer, "the server", i->of.serve);
	else
		jetwatt_tenant_init(&s->infer, "the server", NULL);
	if (!err && (!s->track || s->end < 0))
		err = jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(ENOMEM), NULL, "cannot take turns");
	atomic_store(&i->ended, 0);
	i->turns = i->late = 0;
	if (!err)
		err = pthread_create(&i->thread, NULL, run, i);
	i->begun = !err;
	if (i->begun) {
		jetwattd_say(i->d, "%s gives way to %s: %g ms", i->of.train, i->of.serve,
			     i->of.latency_ms);
		return;
	}
	let_go(i);
	i->again_ns = jetwatt_clock_ns() + AGAIN_NS;
}

static void end(struct jetwattd_interleaver *i, const char *why)
{
	if (!i->begun)
		return;
	eventfd_write(i->s.end, 1);
	pthread_join(i->thread, NULL);
	let_go(i);
	i->begun = 0;
	if (atomic_load(&i->ended))
		i->again_ns = jetwatt_clock_ns() + AGAIN_NS;
	jetwattd_say(i->d, "no more turns: %s", why);
	pthread_mutex_lock(&i->d->lock);
	/* Turns are counted on. */
	i->d->turns = (struct jetwattd_taking_turns){ .turns = i->d->turns.turns, .late = i->d->turns.late };
	pthread_mutex_unlock(&i->d->lock);
}

/* Is somebody in it? */
static int alive(const struct jetwattd_interleaver *i, struct jetwatt_cgroup *c, const char *cgroup)
{
	char path[PATH_MAX + JETWATT_BOARD_CGROUP];

	snprintf(path, sizeof(path), "%s%s", i->dir, cgroup);
	if (!*c->path && jetwatt_cgroup_open(c, path))
		*c->path = '\0';
	if (*c->path && jetwatt_cgroup_empty(c)) {
		/* It may be another one when it comes again. */
		jetwatt_cgroup_close(c);
		return 0;
	}
	return *c->path != '\0';
}

void jetwattd_turns(struct jetwattd_run *r)
{
	struct jetwattd *d = r->d;
	const struct jetwattd_turns *of = &d->policy->turns;
	struct jetwattd_interleaver *i = r->interleaver;
	int paused, both;

	if (!*of->train && !i)
		return;
	if (!i) {
		i = r->interleaver = calloc(1, sizeof(*i));
		if (!i)
			return;
		i->d = d;
		i->train.events = i->serve.events = -1;
		if (jetwatt_cgroup_mount(i->dir)) {
			*i->dir = '\0';
			jetwattd_say(d, "no cgroups of version 2 here: nobody gives way");
		}
	}
	if (memcmp(&i->of, of, sizeof(*of))) {
		end(i, "the policy is another one");
		jetwatt_cgroup_close(&i->train);
		jetwatt_cgroup_close(&i->serve);
		i->of = *of;
	}
	if (!*i->dir || !*of->train)
		return;
	pthread_mutex_lock(&d->lock);
	paused = d->pause;
	pthread_mutex_unlock(&d->lock);
	both = alive(i, &i->train, of->train) & alive(i, &i->serve, of->serve);
	if (paused || !both || atomic_load(&i->ended))
		end(i, paused ? "paused" : both ? "it has failed" : "one of the two has ended");
	else if (!i->begun && jetwatt_clock_ns() >= i->again_ns)
		begin(i);
	jetwattd_late_tend(r);
}

void jetwattd_turns_end(struct jetwattd_run *r)
{
	struct jetwattd_interleaver *i = r->interleaver;

	if (!i)
		return;
	end(i, "jetwattd ends");
	jetwatt_board_thaw(r->d->act.board);
	jetwatt_cgroup_close(&i->train);
	jetwatt_cgroup_close(&i->serve);
	free(i);
	r->interleaver = NULL;
}
