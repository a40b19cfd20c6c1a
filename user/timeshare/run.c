// SPDX-License-Identifier: GPL-2.0-only
/*
 * Main loop of the time slicing: one program runs, the other one is frozen.
 *
 * Training is frozen at the end of a minibatch: the first one, from the tau-th on, at which a
 * request waits, or the last one that the plan permits (plan/interleave.h). Without a plan, it is
 * the first one at which a request waits or BLIND latency limits have passed. Unless the program
 * marks it, the end is that of a wait for the GPU, so the training's work on the GPU is complete
 * then. If training reaches no minibatch boundary in time, for instance because it writes a
 * checkpoint, it is frozen between boundaries. With a plan, the overrun is counted. The server runs
 * until it is idle (jetwatt_corunner_idle()).
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
/* interval between two checks whether the server is idle, ns */
#define POLL_NS		(MS / 4)
/* delay after the server was found idle until a second check confirms that, ns */
#define AGAIN_NS	(MS / 10)
/* interval between two checks whether the server is idle while it waits for the GPU, ns: longer
 * than POLL_NS, because the probe reports the end of that wait */
#define BUSY_NS		(5 * MS)
/* interval between two notifications of the guard process, ns */
#define NOTIFY_NS		(250 * MS)
#define FREEZE_MS	100		/* time limit for freezing a program, ms */
/* Length of a time slice of training while there is no plan, as a fraction of the latency limit. */
#define BLIND		0.5
/* Weight of the newest change of program in the running mean of the duration of such changes. */
#define WEIGHT		0.1

static void freeze_failed(struct jetwatt_timeshare *s, const struct jetwatt_corunner *t, int err)
{
	if (!s->failed)
		jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err), NULL, "cannot freeze or thaw %s",
				  t->name);
	s->failed = 1;
}

/* Freeze a program and wait until it is frozen, at most FREEZE_MS. */
static void freeze_program(struct jetwatt_timeshare *s, struct jetwatt_corunner *t)
{
	int err = t->ended ? 0 : jetwatt_freezer_freeze(&t->freezer, jetwatt_clock_ns());

	if (!err && t->freezer.held)
		err = jetwatt_freezer_wait(&t->freezer, FREEZE_MS);
	/* -ETIMEDOUT: a process inside a driver's system call freezes when the call returns. */
	if (err && err != -ETIMEDOUT)
		freeze_failed(s, t, err);
}

static void thaw_program(struct jetwatt_timeshare *s, struct jetwatt_corunner *t)
{
	int err = jetwatt_freezer_thaw(&t->freezer, jetwatt_clock_ns());

	if (err && !t->ended)
		freeze_failed(s, t, err);
}

/* End the present time slice and start one of program @to. */
static void change_program(struct jetwatt_timeshare *s, enum jetwatt_timeshare_kind to)
{
	struct jetwatt_corunner *from = to == JETWATT_TIMESHARE_TRAIN ? &s->infer : &s->train;
	uint64_t t0 = jetwatt_clock_ns(), t1;

	jetwatt_timeshare_add_span(s, s->slice_ns, t0, s->slice);
	freeze_program(s, from);
	thaw_program(s, to == JETWATT_TIMESHARE_TRAIN ? &s->train : &s->infer);
	t1 = jetwatt_clock_ns();
	jetwatt_timeshare_add_span(s, t0, t1, JETWATT_TIMESHARE_SWITCH);
	s->change_ms += ((t1 - t0) * 1e-6 - s->change_ms) * (s->slices ? WEIGHT : 1);
	s->slice = to;
	s->slice_ns = t1;
	s->completed = s->give_way = 0;
	s->idle_stamp = 0;
	s->poll_ns = t1 + POLL_NS;
	if (to == JETWATT_TIMESHARE_TRAIN)
		s->slices++;
}

/* Return the time at which training is frozen even if no minibatch boundary has been reached. With
 * a plan, this is at least two minibatches after the last boundary or the start of the time slice,
 * so that a minibatch that takes somewhat longer than usual reaches its end. */
static uint64_t train_deadline(const struct jetwatt_timeshare *s)
{
	uint64_t bound = s->bound_ns > s->slice_ns ? s->bound_ns : s->slice_ns, last;

	if (!s->planned)
		return s->slice_ns + (uint64_t)(fmax(2 * BLIND * s->conf->latency_ms, 1) * MS);
	last = s->slice_ns + (uint64_t)(fmax(s->conf->latency_ms - s->plan.infer_ms, 1) * MS);
	bound += 2 * jetwatt_batch_track_ns(s->track);
	return bound > last ? bound : last;
}

/* Return: 1 if the time slice of training ends now, else 0. Called at each minibatch boundary, or at
 * the end of each wait for the GPU while the period of the minibatches is not known. */
static int train_slice_over(const struct jetwatt_timeshare *s, uint64_t now)
{
	if (s->planned)
		return s->completed >= s->plan.max_minibatches ||
		       (s->completed >= s->plan.tau && jetwatt_timeshare_requested(s));
	return jetwatt_timeshare_requested(s) ||
	       now - s->slice_ns >= BLIND * s->conf->latency_ms * MS;
}

/* Callback of the probe at the end of each wait of the training, and at each of its marks. */
static void on_train(const struct jetwatt_sync *w, void *arg)
{
	struct jetwatt_timeshare *s = arg;
	uint64_t now = jetwatt_clock_ns();
	int bound = jetwatt_batch_track_add(s->track, w,
					    jetwatt_freezer_frozen_ns(&s->train.freezer, now));
	int err;

	if (bound == 1) {
		s->minibatches++;
		s->achieved += s->planned && !s->infer.ended;
		s->completed++;
		s->bound_ns = now;
	}
	if (s->slice != JETWATT_TIMESHARE_TRAIN || s->infer.ended)
		return;
	s->give_way = bound && train_slice_over(s, now);
	if (!s->give_way)
		return;
	/* Freeze the training without delay, before the training submits further work to the
	 * GPU. */
	err = jetwatt_freezer_freeze(&s->train.freezer, now);
	if (err)
		freeze_failed(s, &s->train, err);
	if (bound == 1) {
		s->window.minibatches = s->completed;
		s->window.train_ms = (now - s->slice_ns) * 1e-6;
	}
}

/* The server is idle: the window ends. @counted: number of requests that had been counted before
 * the server was checked. */
static void window_ended(struct jetwatt_timeshare *s, uint64_t counted)
{
	struct jetwatt_interleave_window w = s->window;
	uint64_t now = jetwatt_clock_ns();

	w.requests = counted - s->counted;
	s->counted = counted;
	w.window_ms = s->window_ns ? (now - s->window_ns) * 1e-6 : 0;
	w.infer_ms = (now - s->slice_ns) * 1e-6;
	s->window = (struct jetwatt_interleave_window){ 0 };
	s->window_ns = now;
	change_program(s, JETWATT_TIMESHARE_TRAIN);
	jetwatt_timeshare_window(s, &w);
	if (s->on_window)
		s->on_window(s, s->arg);
}

/* Callback of the probe at the end of each wait of the server, and at each of its marks. */
static void on_infer(const struct jetwatt_sync *w, void *arg)
{
	struct jetwatt_timeshare *s = arg;

	(void)w;
	s->infer_waits++;
	/* The server sends its answers now: the next check whether it is idle is one interval
	 * later. */
	s->poll_ns = jetwatt_clock_ns() + POLL_NS;
}

/* Check whether the server is idle. */
static void check_server(struct jetwatt_timeshare *s)
{
	/* Read the number of requests before the check: requests that arrive later belong to the
	 * next window. */
	uint64_t counted = s->arrivals ? jetwatt_arrivals(s->arrivals) : 0;

	int idle = jetwatt_corunner_idle(&s->infer, &s->idle_stamp);

	if (idle == 1)
		window_ended(s, counted);
	else
		s->poll_ns = jetwatt_clock_ns() + (idle < 0 ? BUSY_NS : s->idle_stamp ? AGAIN_NS :
						    POLL_NS);
}

/* Change to the other program if the present time slice has to end. */
static void change_if_due(struct jetwatt_timeshare *s)
{
	uint64_t now = jetwatt_clock_ns();

	if (s->infer.ended)
		return;
	if (s->slice == JETWATT_TIMESHARE_TRAIN && !s->give_way && now >= train_deadline(s)) {
		s->overruns += s->planned;
		s->give_way = 1;
	}
	if (s->slice == JETWATT_TIMESHARE_TRAIN && s->give_way) {
		change_program(s, JETWATT_TIMESHARE_INFER);
	} else if (s->slice == JETWATT_TIMESHARE_INFER && now >= s->poll_ns) {
		check_server(s);
	}
}

static void on_signal(struct jetwatt_timeshare *s)
{
	struct signalfd_siginfo si;

	while (read(s->session.signals, &si, sizeof(si)) == sizeof(si))
		s->session.stop = si.ssi_signo;
}

static int start_guard(struct jetwatt_timeshare *s)
{
	struct jetwatt_freezer h[] = { s->train.freezer, s->infer.freezer };

	s->guard = jetwatt_freezer_guard(h, 2);
	return s->guard < 0 ? jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-s->guard), NULL,
						"cannot start the guard process, which thaws frozen programs") : 0;
}

/* The guard process was killed: thaw both programs, start another guard, and freeze the program
 * again that was frozen. */
static int restart_guard(struct jetwatt_timeshare *s)
{
	int train = s->train.freezer.held, infer = s->infer.freezer.held;

	thaw_program(s, &s->train);
	thaw_program(s, &s->infer);
	close(s->guard);
	if (start_guard(s))
		return JETWATT_EXIT_FAILED;
	/* Before the first change of time slices, neither program is frozen. */
	if (train)
		freeze_program(s, &s->train);
	if (infer)
		freeze_program(s, &s->infer);
	return 0;
}

/* The server has ended: let the training run all the time. */
static void server_ended(struct jetwatt_timeshare *s)
{
	s->infer.ended = 1;
	jetwatt_child_reap(&s->infer.child);
	jetwatt_notice("the server has ended; training goes on alone");
	if (s->slice == JETWATT_TIMESHARE_INFER)
		change_program(s, JETWATT_TIMESHARE_TRAIN);
	thaw_program(s, &s->train);
}

static int dispatch(struct jetwatt_timeshare *s, const struct pollfd *p)
{
	int err = 0;

	if (p[0].revents && jetwatt_probe_dispatch(s->train.probe) < 0)
		err = -EIO;
	/* End a time slice that is over before the calls below, which may block. */
	change_if_due(s);
	if (p[1].revents && jetwatt_probe_dispatch(s->infer.probe) < 0)
		err = -EIO;
	if (p[2].revents && jetwatt_dispatch(s->session.jw) < 0)
		s->session.failed = 1;
	if (p[3].revents)
		on_signal(s);
	if (p[4].revents && !s->train.ended) {
		s->train.ended = 1;
		jetwatt_child_reap(&s->train.child);
	}
	if (p[5].revents && !s->infer.ended)
		server_ended(s);
	if (p[7].revents)
		s->session.stop = SIGTERM;
	if (p[6].revents & (POLLHUP | POLLERR))
		return restart_guard(s);
	jetwatt_timeshare_count_energy(s);
	if (s->session.failed)
		return jetwatt_session_error(&s->session);
	return err ? jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err), NULL,
				       "cannot trace the programs' waits for the GPU") : s->failed;
}

/* Return the time until the next timed action of the main loop, in ns, at most NOTIFY_NS. */
static uint64_t poll_timeout_ns(const struct jetwatt_timeshare *s)
{
	uint64_t now = jetwatt_clock_ns();
	uint64_t until = s->slice == JETWATT_TIMESHARE_INFER ? s->poll_ns : train_deadline(s);

	if (s->infer.ended)
		return NOTIFY_NS;
	return now >= until ? 1 : until - now < NOTIFY_NS ? until - now : NOTIFY_NS;
}

static void loop_once(struct jetwatt_timeshare *s, int *err)
{
	struct timespec wait = { 0, poll_timeout_ns(s) };
	struct pollfd p[] = {
		{ jetwatt_probe_fd(s->train.probe), POLLIN, 0 },
		{ jetwatt_probe_fd(s->infer.probe), POLLIN, 0 },
		{ s->session.jw ? jetwatt_fd(s->session.jw) : -1, POLLIN, 0 },
		{ s->session.signals, POLLIN, 0 },
		{ s->train.ended ? -1 : s->train.pidfd, POLLIN, 0 },
		{ s->infer.ended ? -1 : s->infer.pidfd, POLLIN, 0 },
		{ s->guard, POLLIN, 0 },
		{ s->end, POLLIN, 0 },
	};

	if (ppoll(p, sizeof(p) / sizeof(p[0]), &wait, NULL) < 0 && errno != EINTR)
		*err = jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(errno), NULL, "cannot wait");
	else
		*err = dispatch(s, p);
}

static int count_arrivals(struct jetwatt_timeshare *s)
{
	int err = jetwatt_arrivals_open(&s->arrivals, s->infer.cgroup.path);

	if (!err)
		return 0;
	if (!(s->conf->arrival_hz > 0))
		return jetwatt_error_report(jetwatt_error_code(err), strerror(-err),
					 "jetwatt schedule: add their rate to its file, like arrival = 40Hz",
					 "cannot count the server's requests");
	jetwatt_notice("cannot count requests (%s), using the configured rate: %g per second", strerror(-err),
			   s->conf->arrival_hz);
	return 0;
}

/* Run this thread with real-time priority: each of its actions takes microseconds, and both
 * programs wait meanwhile. */
static void raise_priority(void)
{
	struct sched_param p = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &p))
		jetwatt_notice("no real-time priority (%s): time slices end less exactly",
				   strerror(errno));
}

int jetwatt_timeshare_run(struct jetwatt_timeshare *s)
{
	uint64_t notified_ns = 0, now;
	int err = start_guard(s);

	if (!err)
		err = count_arrivals(s);
	if (!err)
		err = jetwatt_corunner_attach(&s->train, on_train, s);
	if (!err)
		err = jetwatt_corunner_attach(&s->infer, on_infer, s);
	raise_priority();
	if (!err && !s->session.stop)
		err = jetwatt_corunner_go(&s->infer);
	if (!err && !s->session.stop)
		err = jetwatt_corunner_go(&s->train);
	s->begun_ns = s->slice_ns = jetwatt_clock_ns();
	while (!err && !s->train.ended && !s->session.stop) {
		now = jetwatt_clock_ns();
		if (now - notified_ns >= NOTIFY_NS) {
			notified_ns = now;
			jetwatt_freezer_notify_guard(s->guard);
		}
		loop_once(s, &err);
	}
	s->ended_ns = jetwatt_clock_ns();
	jetwatt_timeshare_add_span(s, s->slice_ns, s->ended_ns, s->slice);
	thaw_program(s, &s->train);
	thaw_program(s, &s->infer);
	return err;
}
