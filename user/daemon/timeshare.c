// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time slicing of training and a server: while both cgroups of the policy's line "turns" contain
 * processes, a thread runs training and server in turn (timeshare/run.c), in whatever mode is
 * applied. The loop learns modes as usual: the time of a minibatch then includes time slices of the
 * server, and modes in which the server misses its latency limit are avoided.
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

/* Time after which time slicing is started again after a failure. */
#define RETRY_NS	60000000000ull

/**
 * struct jetwattd_timeshare_thread - time slicing of two cgroups
 * @d: jetwattd
 * @of: the policy's line "turns" for which the thread was started
 * @dir: mount point of cgroup v2, empty: not mounted
 * @train: cgroup of training, opened to see whether it contains processes
 * @serve: cgroup of the server, opened to see whether it contains processes
 * @conf: configuration of @s
 * @s: the time slicing; belongs to the thread while it runs
 * @switched_ns: time of the switch to the mode for which the present plan was made, ns
 * @retry_ns: earliest time at which time slicing may be started again, ns
 * @slices: number of training time slices that are counted in the metrics
 * @overruns: number of counted training time slices that did not end at a minibatch boundary
 * @thread: the thread
 * @begun: 1: the thread was started
 * @ended: 1: the thread has ended; the loop has not joined it yet
 */
struct jetwattd_timeshare_thread {
	struct jetwattd *d;
	struct jetwattd_timeshare of;
	char dir[PATH_MAX];
	struct jetwatt_cgroup train, serve;
	struct jetwatt_timeshare_conf conf;
	struct jetwatt_timeshare s;
	uint64_t switched_ns, retry_ns, slices, overruns;
	pthread_t thread;
	int begun;
	atomic_int ended;
};

/* Callback of @s after each window, called in the thread of the time slicing: copy the state for the other
 * threads, count the window for the mode, and after a switch let @s forget its plan. */
static void timeshare_on_window(struct jetwatt_timeshare *s, void *arg)
{
	struct jetwattd_timeshare_thread *i = arg;
	struct jetwattd_timeshare_status *t = &i->d->timeshare;
	struct jetwattd *d = i->d;
	int switched;

	pthread_mutex_lock(&d->lock);
	switched = i->switched_ns != d->act.switched_ns;
	i->switched_ns = d->act.switched_ns;
	if (switched)
		jetwatt_timeshare_forget(s);
	t->on = 1;
	t->planned = s->planned;
	t->beyond = s->beyond;
	t->minibatches = s->plan.minibatches;
	t->requests = s->plan.requests;
	t->window_ms = s->plan.window_ms;
	t->latency_ms = s->plan.latency_ms;
	t->limit_ms = s->conf->latency_ms;
	t->arrival_hz = s->arrival_hz;
	t->slices += s->slices - i->slices;
	t->overruns += s->overruns - i->overruns;
	jetwattd_deadline_window(d, switched);
	i->slices = s->slices;
	i->overruns = s->overruns;
	pthread_mutex_unlock(&d->lock);
}

static void *timeshare_run(void *arg)
{
	struct jetwattd_timeshare_thread *i = arg;

	jetwatt_timeshare_run(&i->s);
	atomic_store(&i->ended, 1);
	return NULL;
}

/* Take over the processes of a cgroup. Return: 0 or an exit code; the error has been reported. */
static int timeshare_adopt(struct jetwattd_timeshare_thread *i, struct jetwatt_corunner *t, const char *name,
			   const char *cgroup)
{
	struct jetwatt_error_text e = { "", "", "" };
	char path[PATH_MAX + JETWATT_BOARD_CGROUP_LEN];
	int freeze, err;

	jetwatt_corunner_init(t, name, NULL);
	pthread_mutex_lock(&i->d->lock);
	freeze = jetwatt_board_freezer(i->d->act.board, cgroup, &e);
	pthread_mutex_unlock(&i->d->lock);
	if (freeze < 0)
		return jetwatt_error_board(freeze, &e);
	snprintf(path, sizeof(path), "%s%s", i->dir, cgroup);
	err = jetwatt_corunner_adopt(t, path, freeze);
	return err ? jetwatt_error_report(jetwatt_error_code(err), strerror(-err), NULL,
				       "cannot list the processes of %s", path) : 0;
}

/* Thaw both cgroups and close everything that timeshare_begin() has opened. */
static void timeshare_close(struct jetwattd_timeshare_thread *i)
{
	struct jetwatt_timeshare *s = &i->s;

	jetwatt_corunner_stop(&s->train);
	jetwatt_corunner_stop(&s->infer);
	if (s->guard >= 0)
		close(s->guard);
	if (s->end >= 0)
		close(s->end);
	jetwatt_arrivals_close(s->arrivals);
	jetwatt_batch_track_free(s->track);
	free(s->span);
}

static void timeshare_begin(struct jetwattd_timeshare_thread *i)
{
	struct jetwatt_timeshare *s = &i->s;
	int err;

	memset(s, 0, sizeof(*s));
	i->conf.latency_ms = i->of.latency_ms;
	s->conf = &i->conf;
	s->guard = -1;
	s->on_window = timeshare_on_window;
	s->arg = i;
	s->end = eventfd(0, EFD_CLOEXEC);
	s->track = jetwatt_batch_track_new();
	jetwatt_session_init(&s->session);
	err = timeshare_adopt(i, &s->train, "training", i->of.train);
	if (!err)
		err = timeshare_adopt(i, &s->infer, "the server", i->of.serve);
	else
		jetwatt_corunner_init(&s->infer, "the server", NULL);
	if (!err && (!s->track || s->end < 0))
		err = jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(ENOMEM), NULL,
					"cannot start time slicing");
	i->slices = i->overruns = 0;
	if (!err) {
		err = pthread_create(&i->thread, NULL, timeshare_run, i);
		if (err)
			jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(err), NULL,
					     "cannot start time slicing");
	}
	i->begun = !err;
	if (i->begun) {
		jetwattd_log(i->d, "time slicing started: training %s, server %s, latency limit %g ms",
			     i->of.train, i->of.serve, i->of.latency_ms);
		return;
	}
	timeshare_close(i);
	i->retry_ns = jetwatt_clock_ns() + RETRY_NS;
}

static void timeshare_end(struct jetwattd_timeshare_thread *i, const char *why)
{
	if (!i->begun)
		return;
	eventfd_write(i->s.end, 1);
	pthread_join(i->thread, NULL);
	timeshare_close(i);
	i->begun = 0;
	/* The thread sets @ended whatever the reason for its end. */
	atomic_store(&i->ended, 0);
	jetwattd_log(i->d, "time slicing stopped: %s", why);
	pthread_mutex_lock(&i->d->lock);
	/* The counters in the metrics must not decrease when time slicing is started again. */
	i->d->timeshare = (struct jetwattd_timeshare_status){
		.slices = i->d->timeshare.slices, .overruns = i->d->timeshare.overruns,
	};
	pthread_mutex_unlock(&i->d->lock);
}

/* Return: 1 if the cgroup contains processes. The function opens @c when the cgroup appears, and
 * closes it when the cgroup is empty. */
static int cgroup_populated(const struct jetwattd_timeshare_thread *i, struct jetwatt_cgroup *c, const char *cgroup)
{
	char path[PATH_MAX + JETWATT_BOARD_CGROUP_LEN];

	snprintf(path, sizeof(path), "%s%s", i->dir, cgroup);
	if (!*c->path && jetwatt_cgroup_open(c, path))
		*c->path = '\0';
	if (*c->path && jetwatt_cgroup_empty(c)) {
		/* The cgroup may have been removed and created again, so close it and open it
		 * again later. */
		jetwatt_cgroup_close(c);
		return 0;
	}
	return *c->path != '\0';
}

void jetwattd_timeshare(struct jetwattd_run *r)
{
	struct jetwattd *d = r->d;
	const struct jetwattd_timeshare *of = &d->policy->timeshare;
	struct jetwattd_timeshare_thread *i = r->timeshare;
	int paused, both;

	if (!*of->train && !i)
		return;
	if (!i) {
		i = r->timeshare = calloc(1, sizeof(*i));
		if (!i)
			return;
		i->d = d;
		i->train.events = i->serve.events = -1;
		if (jetwatt_cgroup_mount(i->dir)) {
			*i->dir = '\0';
			jetwattd_log(d, "no time slicing: cgroup v2 is not mounted");
		}
	}
	if (memcmp(&i->of, of, sizeof(*of))) {
		timeshare_end(i, "the policy has changed");
		jetwatt_cgroup_close(&i->train);
		jetwatt_cgroup_close(&i->serve);
		/* Both cgroups are thawed. Delete their record, which has room for few cgroups. */
		pthread_mutex_lock(&d->lock);
		jetwatt_board_thaw_all(d->act.board);
		pthread_mutex_unlock(&d->lock);
		i->of = *of;
		i->retry_ns = 0;
		/* Modes that were too slow for the server may be fast enough now. */
		if (r->learner.deadline_hz > 0) {
			jetwattd_learner_forget_misses(&r->learner);
			atomic_store(&d->invalidate, 1);
		}
	}
	if (!*i->dir || !*of->train)
		return;
	pthread_mutex_lock(&d->lock);
	paused = d->pause;
	pthread_mutex_unlock(&d->lock);
	both = cgroup_populated(i, &i->train, of->train) & cgroup_populated(i, &i->serve, of->serve);
	if (paused || !both) {
		timeshare_end(i, paused ? "paused" : "training or the server has ended");
	} else if (atomic_load(&i->ended)) {
		timeshare_end(i, "it has failed");
		i->retry_ns = jetwatt_clock_ns() + RETRY_NS;
	} else if (!i->begun && jetwatt_clock_ns() >= i->retry_ns) {
		timeshare_begin(i);
	}
	jetwattd_deadline_check(r);
}

void jetwattd_timeshare_end(struct jetwattd_run *r)
{
	struct jetwattd_timeshare_thread *i = r->timeshare;

	if (!i)
		return;
	timeshare_end(i, "jetwattd ends or has no power samples");
	jetwatt_board_thaw_all(r->d->act.board);
	jetwatt_cgroup_close(&i->train);
	jetwatt_cgroup_close(&i->serve);
	free(i);
	r->timeshare = NULL;
}
