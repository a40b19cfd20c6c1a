/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Training and inference by turns: one of them runs, the other one is held still;
 * training gives way at a minibatch's bound, the server when it has nothing to do.
 */
#ifndef JETWATT_TIMESHARE_TIMESHARE_H
#define JETWATT_TIMESHARE_TIMESHARE_H

#include "measure/session.h"
#include "minibatch/minibatch.h"
#include "plan/interleave.h"
#include "timeshare/conf.h"
#include "timeshare/corunner.h"
#include "timeshare/mode.h"

enum jetwatt_schedule_who {
	JETWATT_SCHEDULE_TRAIN,
	JETWATT_SCHEDULE_INFER,
	JETWATT_SCHEDULE_SWITCH,	/* neither: one stops, the other begins */
	JETWATT_SCHEDULE_WHO
};

struct jetwatt_schedule_span {
	uint64_t from_ns, to_ns;
	enum jetwatt_schedule_who who;
};

/**
 * struct jetwatt_schedule - a run
 * @mode: the board's, where that is planned
 * @watch: power, and signals; both may be left away
 * @end: readable: it is to end; -1: a signal says so
 * @on_window, @arg: called at the end of every window, may be NULL
 * @arrivals: counts requests, NULL: the file has said how many come; @counted: so far
 * @guard: lets go of both should we end
 * @turn: whose it is, since @turn_ns; training has ended @done minibatches in it, and
 *	is to give way (@give_way)
 * @bound_ns: the last bound of training
 * @look_ns: when it is looked next whether the server is done, and @idle_stamp of the last look
 * @change_ms: from one to the other: mean of the last
 * @seen: the windows so far; @window: what is known of the one at hand
 * @plan, @planned: what is aimed at, once it is known; @plan_hz: with so many requests
 * @windows: since the last plan, which was made when the rate had changed at @since
 * @beyond: plans in a row that cannot keep the latency; @said: that was said
 * @promised: minibatches that plans have promised in the time they held;
 *	@kept: those that ended in it
 * @minibatches, @answers: in all: bounds of training, waits of the server
 * @turns, @late: turns of training; those that had to end elsewhere than at a bound
 * @span, @spans: time by turns, whose energy is not counted yet
 * @ns, @uj: of each
 */
struct jetwatt_schedule {
	const struct jetwatt_schedule_conf *conf;
	struct jetwatt_schedule_mode mode;
	struct jetwatt_watch watch;
	int end;
	void (*on_window)(struct jetwatt_schedule *s, void *arg);
	void *arg;
	struct jetwatt_corunner train, infer;
	struct jetwatt_batch_track *track;
	struct jetwatt_arrivals *arrivals;
	uint64_t counted;
	struct jetwatt_interleave seen;
	struct jetwatt_interleave_window window;
	struct jetwatt_interleave_plan plan;
	int guard, planned, feasible, give_way, failed, handed, said, beyond, windows;
	enum jetwatt_schedule_who turn;
	uint64_t begun_ns, ended_ns, turn_ns, window_ns, bound_ns, look_ns;
	uint32_t done;
	uint64_t idle_stamp;
	size_t since;
	double change_ms, arrival_hz, plan_hz, promised;
	uint64_t kept, minibatches, answers, turns, late;
	struct jetwatt_schedule_span *span;
	size_t spans, max_spans;
	uint64_t ns[JETWATT_SCHEDULE_WHO];
	double uj[JETWATT_SCHEDULE_WHO];
};

/* Both have been started, or adopted. Until training ends or a signal comes.
 * Return: exit code. */
int jetwatt_schedule_run(struct jetwatt_schedule *s);

/* Both run at another speed from now on: what is known of their times is forgotten. */
void jetwatt_schedule_forget(struct jetwatt_schedule *s);

/* Has a request come since the server had its turn? 0 where requests are not counted. */
int jetwatt_schedule_asked(const struct jetwatt_schedule *s);

/* A window is over: learn from it, and plan the next one. */
void jetwatt_schedule_window(struct jetwatt_schedule *s, struct jetwatt_interleave_window *w);

/* A stretch of time is over: its energy is counted when it is known. */
void jetwatt_schedule_spent(struct jetwatt_schedule *s, uint64_t from_ns, uint64_t to_ns,
			    enum jetwatt_schedule_who who);
void jetwatt_schedule_count(struct jetwatt_schedule *s);

#endif
