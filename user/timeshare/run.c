// SPDX-License-Identifier: GPL-2.0-only
/*
 * The loop. Whoever has the turn runs; the other one is held still.
 *
 * Training gives way at the end of its tau-th minibatch, which a wait of its own
 * shows, so that its work on the GPU is done; where none comes in time (it
 * evaluates, or writes a checkpoint) it is held wherever it is, and that is
 * counted. The server has its turn until it sleeps and waits for nothing.
 */
#include "timeshare/timeshare.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/error.h"

#define MS		1000000ull
#define LOOK_NS		(MS / 4)	/* between two looks at whether the server is done */
#define AGAIN_NS	(MS / 10)	/* until the one that confirms it */
#define BUSY_NS		(5 * MS)	/* while it waits for the GPU, whose end is told */
#define TELL_NS		(250 * MS)	/* the guard is told that we are here */
#define STILL_MS	100		/* for a job to stop moving */
/* Until it is known where minibatches end: turns of this share of the latency. */
#define BLIND		0.5
/* Weight of one more change in the mean of them. */
#define WEIGHT		0.1

static void say_failed(struct jetwatt_schedule *s, const struct jetwatt_corunner *t, int err)
{
	if (!s->failed)
		jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(-err), NULL, "cannot hold %s still, or let it go",
				  t->name);
	s->failed = 1;
}

static void stop(struct jetwatt_schedule *s, struct jetwatt_corunner *t)
{
	int err = t->ended ? 0 : jetwatt_hold_still(&t->hold, jetwatt_clock_ns());

	if (!err && t->hold.held)
		err = jetwatt_hold_wait(&t->hold, STILL_MS);
	/* A process deep in a driver stops when it comes out of it. */
	if (err && err != -ETIMEDOUT)
		say_failed(s, t, err);
}

static void let_go(struct jetwatt_schedule *s, struct jetwatt_corunner *t)
{
	int err = jetwatt_hold_let_go(&t->hold, jetwatt_clock_ns());

	if (err && !t->ended)
		say_failed(s, t, err);
}

static void hand_over(struct jetwatt_schedule *s, enum jetwatt_schedule_who to)
{
	struct jetwatt_corunner *from = to == JETWATT_SCHEDULE_TRAIN ? &s->infer : &s->train;
	uint64_t t0 = jetwatt_clock_ns(), t1;

	jetwatt_schedule_spent(s, s->turn_ns, t0, s->turn);
	stop(s, from);
	let_go(s, to == JETWATT_SCHEDULE_TRAIN ? &s->train : &s->infer);
	t1 = jetwatt_clock_ns();
	jetwatt_schedule_spent(s, t0, t1, JETWATT_SCHEDULE_SWITCH);
	s->change_ms += ((t1 - t0) * 1e-6 - s->change_ms) * (s->turns ? WEIGHT : 1);
	s->turn = to;
	s->turn_ns = t1;
	s->done = s->give_way = 0;
	s->idle_stamp = 0;
	s->look_ns = t1 + LOOK_NS;
	if (to == JETWATT_SCHEDULE_TRAIN)
		s->turns++;
}

/* When training has to give way, bound or no bound. A minibatch that takes somewhat longer
 * than others is let to its end. */
static uint64_t deadline(const struct jetwatt_schedule *s)
{
	uint64_t bound = s->bound_ns > s->turn_ns ? s->bound_ns : s->turn_ns, last;

	if (!s->planned)
		return s->turn_ns + (uint64_t)(fmax(2 * BLIND * s->conf->latency_ms, 1) * MS);
	last = s->turn_ns + (uint64_t)(fmax(s->conf->latency_ms - s->plan.infer_ms, 1) * MS);
	bound += 2 * jetwatt_batch_track_ns(s->track);
	return bound > last ? bound : last;
}

/* At a bound, or at a wait as long as it is not known which are: is it the server's turn? */
static int is_due(const struct jetwatt_schedule *s, uint64_t now)
{
	if (s->planned)
		return s->done >= s->plan.most ||
		       (s->done >= s->plan.tau && jetwatt_schedule_asked(s));
	return jetwatt_schedule_asked(s) || now - s->turn_ns >= BLIND * s->conf->latency_ms * MS;
}

static void on_train(const struct jetwatt_sync *w, void *arg)
{
	struct jetwatt_schedule *s = arg;
	uint64_t now = jetwatt_clock_ns();
	int bound = jetwatt_batch_track_add(s->track, w, jetwatt_hold_ns(&s->train.hold, now));

	if (bound == 1) {
		s->minibatches++;
		s->kept += s->planned && !s->infer.ended;
		s->done++;
		s->bound_ns = now;
	}
	if (s->turn != JETWATT_SCHEDULE_TRAIN || s->infer.ended)
		return;
	s->give_way = bound && is_due(s, now);
	if (!s->give_way)
		return;
	/* At once: a moment later it gives the GPU work again. */
	if (jetwatt_hold_still(&s->train.hold, now))
		s->failed = 1;
	if (bound == 1) {
		s->window.minibatches = s->done;
		s->window.train_ms = (now - s->turn_ns) * 1e-6;
	}
}

/* The server has answered what there was. */
static void infer_done(struct jetwatt_schedule *s, uint64_t counted)
{
	struct jetwatt_interleave_window w = s->window;
	uint64_t now = jetwatt_clock_ns();

	w.requests = counted - s->counted;
	s->counted = counted;
	w.window_ms = s->window_ns ? (now - s->window_ns) * 1e-6 : 0;
	w.infer_ms = (now - s->turn_ns) * 1e-6;
	s->window = (struct jetwatt_interleave_window){ 0 };
	s->window_ns = now;
	hand_over(s, JETWATT_SCHEDULE_TRAIN);
	jetwatt_schedule_window(s, &w);
	if (s->on_window)
		s->on_window(s, s->arg);
}

static void on_infer(const struct jetwatt_sync *w, void *arg)
{
	struct jetwatt_schedule *s = arg;

	(void)w;
	s->answers++;
	/* Now it gives the answers: time enough to do so. */
	s->look_ns = jetwatt_clock_ns() + LOOK_NS;
}

static void look(struct jetwatt_schedule *s)
{
	/* Counted first: who comes while we look is of the next window. */
	uint64_t counted = s->arrivals ? jetwatt_arrivals(s->arrivals) : 0;

	int idle = jetwatt_tenant_idle(&s->infer, &s->idle_stamp);

	if (idle == 1)
		infer_done(s, counted);
	else
		s->look_ns = jetwatt_clock_ns() + (idle < 0 ? BUSY_NS : s->idle_stamp ? AGAIN_NS :
						    LOOK_NS);
}

static void turns(struct jetwatt_schedule *s)
{
	uint64_t now = jetwatt_clock_ns();

	if (s->infer.ended)
		return;
	if (s->turn == JETWATT_SCHEDULE_TRAIN && !s->give_way && now >= deadline(s)) {
		s->late += s->planned;
		s->give_way = 1;
	}
	if (s->turn == JETWATT_SCHEDULE_TRAIN && s->give_way) {
		hand_over(s, JETWATT_SCHEDULE_INFER);
	} else if (s->turn == JETWATT_SCHEDULE_INFER && now >= s->look_ns) {
		look(s);
	}
}

static void on_signal(struct jetwatt_schedule *s)
{
	struct signalfd_siginfo si;

	while (read(s->watch.signals, &si, sizeof(si)) == sizeof(si))
		s->watch.stop = si.ssi_signo;
}

static int guard(struct jetwatt_schedule *s)
{
	struct jetwatt_hold h[] = { s->train.hold, s->infer.hold };

	s->guard = jetwatt_hold_guard(h, 2);
	return s->guard < 0 ? jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(-s->guard), NULL,
						"cannot start what lets go of the jobs should we end") : 0;
}

/* Somebody has ended it: nothing stays held while there is none. */
static int guard_gone(struct jetwatt_schedule *s)
{
	int held = s->train.hold.held;

	let_go(s, &s->train);
	let_go(s, &s->infer);
	close(s->guard);
	if (guard(s))
		return JETWATT_EXIT_FAILED;
	stop(s, held ? &s->train : &s->infer);
	return 0;
}

/* The server has gone: training has the board to itself. */
static void infer_gone(struct jetwatt_schedule *s)
{
	s->infer.ended = 1;
	jetwatt_child_reap(&s->infer.child);
	jetwatt_error_note("the server has ended; training goes on alone");
	if (s->turn == JETWATT_SCHEDULE_INFER)
		hand_over(s, JETWATT_SCHEDULE_TRAIN);
	let_go(s, &s->train);
}

static int dispatch(struct jetwatt_schedule *s, const struct pollfd *p)
{
	int err = 0;

	if (p[0].revents && jetwatt_probe_dispatch(s->train.probe) < 0)
		err = -EIO;
	/* Before all that can wait. */
	turns(s);
	if (p[1].revents && jetwatt_probe_dispatch(s->infer.probe) < 0)
		err = -EIO;
	if (p[2].revents && jetwatt_dispatch(s->watch.jw) < 0)
		s->watch.failed = 1;
	if (p[3].revents)
		on_signal(s);
	if (p[4].revents && !s->train.ended) {
		s->train.ended = 1;
		jetwatt_child_reap(&s->train.child);
	}
	if (p[5].revents && !s->infer.ended)
		infer_gone(s);
	if (p[7].revents)
		s->watch.stop = SIGTERM;
	if (p[6].revents & (POLLHUP | POLLERR))
		return guard_gone(s);
	jetwatt_schedule_count(s);
	if (s->watch.failed)
		return jetwatt_watch_why(&s->watch);
	return err ? jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(-err), NULL,
				       "cannot see the jobs' waits") : s->failed;
}

/* For so long nothing has to be done that nobody wakes us for. */
static uint64_t quiet_ns(const struct jetwatt_schedule *s)
{
	uint64_t now = jetwatt_clock_ns(), until = s->turn == JETWATT_SCHEDULE_INFER ? s->look_ns :
						    deadline(s);

	if (s->infer.ended)
		return TELL_NS;
	return now >= until ? 1 : until - now < TELL_NS ? until - now : TELL_NS;
}

static void loop_once(struct jetwatt_schedule *s, int *err)
{
	struct timespec wait = { 0, quiet_ns(s) };
	struct pollfd p[] = {
		{ jetwatt_probe_fd(s->train.probe), POLLIN, 0 },
		{ jetwatt_probe_fd(s->infer.probe), POLLIN, 0 },
		{ s->watch.jw ? jetwatt_fd(s->watch.jw) : -1, POLLIN, 0 },
		{ s->watch.signals, POLLIN, 0 },
		{ s->train.ended ? -1 : s->train.pidfd, POLLIN, 0 },
		{ s->infer.ended ? -1 : s->infer.pidfd, POLLIN, 0 },
		{ s->guard, POLLIN, 0 },
		{ s->end, POLLIN, 0 },
	};

	if (ppoll(p, sizeof(p) / sizeof(p[0]), &wait, NULL) < 0 && errno != EINTR)
		*err = jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(errno), NULL, "cannot wait");
	else
		*err = dispatch(s, p);
}

static int count_arrivals(struct jetwatt_schedule *s)
{
	int err = jetwatt_arrivals_open(&s->arrivals, s->infer.cgroup.path);

	if (!err)
		return 0;
	if (!(s->conf->arrival_hz > 0))
		return jetwatt_error_say(jetwatt_error_code(err), strerror(-err),
					 "say how many come: a line arrival = 40Hz in the file",
					 "cannot count the server's requests");
	jetwatt_error_note("requests are not counted (%s): taken to be %g a second", strerror(-err),
			   s->conf->arrival_hz);
	return 0;
}

/* What we do takes microseconds, and both programs wait for it. */
static void go_first(void)
{
	struct sched_param p = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &p))
		jetwatt_error_note("cannot run ahead of the jobs (%s): turns end less exactly",
				   strerror(errno));
}

int jetwatt_schedule_run(struct jetwatt_schedule *s)
{
	uint64_t told = 0, now;
	int err = guard(s);

	if (!err)
		err = count_arrivals(s);
	if (!err)
		err = jetwatt_tenant_watch(&s->train, on_train, s);
	if (!err)
		err = jetwatt_tenant_watch(&s->infer, on_infer, s);
	go_first();
	if (!err)
		err = jetwatt_tenant_go(&s->infer);
	if (!err)
		err = jetwatt_tenant_go(&s->train);
	s->begun_ns = s->turn_ns = jetwatt_clock_ns();
	while (!err && !s->train.ended && !s->watch.stop) {
		now = jetwatt_clock_ns();
		if (now - told >= TELL_NS) {
			told = now;
			jetwatt_hold_tell(s->guard);
		}
		loop_once(s, &err);
	}
	s->ended_ns = jetwatt_clock_ns();
	jetwatt_schedule_spent(s, s->turn_ns, s->ended_ns, s->turn);
	let_go(s, &s->train);
	let_go(s, &s->infer);
	return err;
}
