/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time slicing of training and an inference server on one GPU: one of them runs, the other one is
 * frozen. A time slice of training ends at a minibatch boundary, or between boundaries if none is
 * known or comes in time; one of the server ends when the server is idle.
 * A window is one time slice of training and the following one of the server (plan/interleave.h).
 */
#ifndef JETWATT_TIMESHARE_TIMESHARE_H
#define JETWATT_TIMESHARE_TIMESHARE_H

#include "measure/session.h"
#include "minibatch/minibatch.h"
#include "plan/interleave.h"
#include "timeshare/conf.h"
#include "timeshare/corunner.h"
#include "timeshare/mode.h"

/* Kind of a span of time. */
enum jetwatt_timeshare_kind {
	JETWATT_TIMESHARE_TRAIN,		/* a time slice of training */
	JETWATT_TIMESHARE_INFER,		/* a time slice of the server */
	JETWATT_TIMESHARE_SWITCH,	/* a switch: one program is frozen, the other thawed */
	JETWATT_TIMESHARE_KINDS
};

/**
 * struct jetwatt_timeshare_span - a span of time whose energy is to be counted
 * @from_ns: start, CLOCK_MONOTONIC
 * @to_ns: end
 * @kind: kind of the span
 */
struct jetwatt_timeshare_span {
	uint64_t from_ns, to_ns;
	enum jetwatt_timeshare_kind kind;
};

/**
 * struct jetwatt_timeshare - state of the time slicing
 *
 * The caller sets:
 * @conf: settings
 * @mode: the power mode and its plan, as jetwatt_timeshare_mode_open() sets them; all zero if @conf
 *	has no power budget
 * @session: session with power samples and signals; both are optional
 * @end: descriptor that ends the run when it becomes readable; -1: none
 * @on_window: called at the end of each window, may be NULL
 * @arg: argument of @on_window
 * @train: the training, started or adopted
 * @infer: the server, started or adopted
 * @track: online detection of minibatch boundaries
 *
 * State of the run:
 * @arrivals: counter of requests; NULL: requests are not counted
 * @counted: number of requests counted up to the end of the last window
 * @seen: statistics of the last windows
 * @window: the window in progress
 * @plan: the present plan of the time slices; valid if @planned is 1
 * @guard: descriptor of the guard process, which thaws both programs if this process ends or hangs;
 *	-1: not started
 * @planned: 1: @plan is valid
 * @feasible: 1: the plan is within the latency limit
 * @give_way: 1: the time slice of training ends at the next opportunity
 * @failed: 1: freezing, thawing or the roll-back of a mode switch failed, so the run ends
 * @batch_sent: minibatch size last written to the server; -1: the write failed
 * @logged: not 0: a log line has reported that the latency limit cannot be met
 * @beyond: number of consecutive plans beyond the latency limit
 * @windows: number of windows since the last plan was made
 * @slice: program that runs in the present time slice
 * @begun_ns: start of the run, CLOCK_MONOTONIC
 * @ended_ns: end of the run
 * @slice_ns: start of the present time slice, ns
 * @window_ns: end of the last window, ns
 * @bound_ns: time of the last minibatch boundary of training, ns
 * @poll_ns: time of the next check whether the server is idle, ns
 * @completed: number of training minibatches that have ended in the present time slice
 * @idle_stamp: state of the last check whether the server is idle
 * @since: index in @seen of the first window after the last change of the request rate that a plan
 *	has taken into account
 * @change_ms: running mean of the duration of a change from one program to the other, in ms
 * @arrival_hz: request rate, in requests per second
 * @plan_hz: request rate for which @plan was made, in requests per second
 * @planned_minibatches: number of training minibatches that valid plans predicted, summed
 *	over their windows
 * @achieved: total number of training minibatches that ended while plans were valid and before the
 *	server ended
 * @minibatches: number of training minibatches that have ended since the start
 * @infer_waits: number of the server's waits for the GPU that have ended, and of its marks
 * @slices: number of training time slices that have begun after one of the server
 * @overruns: number of training time slices that did not end at a minibatch boundary, counted while
 *	a plan was valid
 * @span: spans whose energy is not counted yet
 * @spans: number of elements of @span in use
 * @max_spans: number of elements of @span allocated
 * @ns: time spent in each kind of span, in ns, indexed by enum jetwatt_timeshare_kind
 * @uj: energy used in each kind of span, in uJ, indexed by enum jetwatt_timeshare_kind
 */
struct jetwatt_timeshare {
	const struct jetwatt_timeshare_conf *conf;
	struct jetwatt_timeshare_mode mode;
	struct jetwatt_session session;
	int end;
	void (*on_window)(struct jetwatt_timeshare *s, void *arg);
	void *arg;
	struct jetwatt_corunner train, infer;
	struct jetwatt_batch_track *track;
	struct jetwatt_arrivals *arrivals;
	uint64_t counted;
	struct jetwatt_interleave seen;
	struct jetwatt_interleave_window window;
	struct jetwatt_interleave_plan plan;
	int guard, planned, feasible, give_way, failed, batch_sent, logged, beyond, windows;
	enum jetwatt_timeshare_kind slice;
	uint64_t begun_ns, ended_ns, slice_ns, window_ns, bound_ns, poll_ns;
	uint32_t completed;
	uint64_t idle_stamp;
	size_t since;
	double change_ms, arrival_hz, plan_hz, planned_minibatches;
	uint64_t achieved, minibatches, infer_waits, slices, overruns;
	struct jetwatt_timeshare_span *span;
	size_t spans, max_spans;
	uint64_t ns[JETWATT_TIMESHARE_KINDS];
	double uj[JETWATT_TIMESHARE_KINDS];
};

/* run.c: run both programs in time slices until the training ends, a signal arrives, @s->end becomes
 * readable or an error occurs; then thaw both. If the server ends first, training runs alone. Return: 0
 * or an exit code; the error has been reported. */
int jetwatt_timeshare_run(struct jetwatt_timeshare *s);

/* replan.c: forget the durations of the time slices and the plan, because the mode has changed. The
 * request rate stays known. */
void jetwatt_timeshare_forget(struct jetwatt_timeshare *s);

/* Return: 1 if a request has arrived that the last time slice of the server has not answered; 0 if
 * none has, or if requests are not counted. */
int jetwatt_timeshare_requested(const struct jetwatt_timeshare *s);

/* The window @w has ended: update the statistics and, if they are due, the mode and the plan. */
void jetwatt_timeshare_window(struct jetwatt_timeshare *s, struct jetwatt_interleave_window *w);

/* energy.c: record a span of time; its energy is counted when the power samples have arrived. */
void jetwatt_timeshare_add_span(struct jetwatt_timeshare *s, uint64_t from_ns, uint64_t to_ns,
			    enum jetwatt_timeshare_kind kind);
/* Count the energy of all recorded spans whose power samples have arrived. */
void jetwatt_timeshare_count_energy(struct jetwatt_timeshare *s);

#endif
