/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * jetwattd: detects GPU jobs, finds the best power mode of each job within the power budget while
 * the job runs, enforces the budget independently of any prediction, and restores the board when
 * jetwattd ends and, unless the policy has an idle mode, when no job runs.
 *
 * Four threads share struct jetwattd and its lock. The cap (cap_thread.c) reads every power sample and
 * lowers the mode when the budget or the policy's "cap" is exceeded; it waits for another thread
 * only while that thread holds the lock, as during a mode switch. The loop (loop.c) learns jobs,
 * chooses modes and applies them. The control thread (control.c) answers requests on a socket. The
 * fourth thread (timeshare.c) runs only while training and a server share the GPU in time slices.
 */
#ifndef JETWATTD_H
#define JETWATTD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "daemon/actuator.h"
#include "daemon/cap_limit.h"
#include "daemon/learner.h"
#include "jetwatt.h"
#include "out/metrics.h"
#include "policy/policy.h"
#include "util/notify.h"

/* Number of workloads with histograms of their own; all further workloads share one set of
 * histograms. */
#define JETWATTD_WORKLOADS	8
/* Maximum number of modes that have a name in the metrics. */
#define JETWATTD_MODES		16

/* State of the loop; the table of states is in state.h. Only jetwattd_enter() changes it. */
enum jetwattd_doing {
	JETWATTD_IDLE,		/* no budget, or no job whose minibatches are recognised */
	JETWATTD_LEARNING,	/* modes are being measured */
	JETWATTD_HOLDING,	/* state "holding": the best mode is applied, if there is one */
	/* state "backing off": for some time after a cap event, in another mode */
	JETWATTD_BACKING_OFF,
	JETWATTD_YIELDING,	/* state "yielding": after JETWATTD_CEDED or JETWATTD_LEASED */
	JETWATTD_PAUSED,	/* state "paused": paused by a request on the control socket */
	/* state "restoring": a knob refused the saved state; the restore is retried */
	JETWATTD_RESTORING,
	JETWATTD_BLIND,		/* state "blind": power samples are missing: the lowest mode is applied */
	JETWATTD_DOINGS
};

/**
 * struct jetwattd_count - event counters since jetwattd started
 * @jobs: number of times that a GPU job was attached; after a pause, for example, a job is attached
 *	again
 * @known: number of those times with at least JETWATTD_KNOWN known readings of the workload
 * @measured: number of readings that jetwattd_learner_reading() has made rows
 * @drifts: number of times that time or power of a job no longer agreed with earlier readings
 * @mixes: number of times that the mix of prefill and decode of a server has changed
 * @throttled: number of readings that were found to be throttled, with clocks below those of the
 *	mode; not every reading is examined
 * @blind: number of times that the power samples, or those of one rail of the total, stopped
 * @learning: cost and gain of learning
 */
struct jetwattd_count {
	uint64_t jobs, known, measured, drifts, mixes, throttled, blind;
	struct jetwattd_cost learning;
};

/**
 * struct jetwattd_timeshare_status - state of the time slicing of training and a server
 * @on: 1: time slicing is active, and its first window has ended
 * @planned: 1: at the end of the last window, a plan existed for the mode that was applied
 * @beyond: number of consecutive plans for this mode that exceed the latency limit
 * @over: 1: while learning, the windows in this mode have overrun the latency limit by more than
 *	server_deadline.c allows
 * @minibatches: number of training minibatches per window according to the plan
 * @requests: number of requests to the server per window according to the plan
 * @window_ms: length of a window according to the plan, in ms. A window is one time slice of
 *	training and the following one of the server.
 * @latency_ms: latency that 99 of 100 requests do not exceed according to the plan, in ms
 * @limit_ms: latency limit of the policy, in ms
 * @arrival_hz: rate of the requests to the server, in requests per second
 * @ended_ns: end of the last window, ns, CLOCK_MONOTONIC
 * @first_ns: end of the last complete window during which the mode was switched, ns; 0: none. If it
 *	precedes the last switch, the window of that switch has not ended.
 * @windows: number of windows that have ended since @first_ns
 * @slices: number of training time slices since jetwattd started
 * @overruns: number of training time slices that did not end at a minibatch boundary, counted while
 *	a plan was valid
 */
struct jetwattd_timeshare_status {
	int on, planned, beyond, over;
	double minibatches, requests, window_ms, latency_ms, limit_ms, arrival_hz;
	uint64_t ended_ns, first_ns, windows, slices, overruns;
};

/**
 * struct jetwattd_telemetry - measurements for the metrics
 * @stats: sampler statistics of the module
 * @energy: energy counters of the module; the first one is the total
 * @rail: descriptions of the rails, found by rail id
 * @scope: what the total power covers
 * @mode: modes that the metrics list by name
 * @energies: number of elements of @energy in use
 * @rails: number of elements of @rail in use
 * @workloads: number of elements of @workload in use, not counting the shared element
 * @modes: number of elements of @mode in use
 * @rate_hz: sample rate in use, in Hz
 * @waits_lost: as jetwatt_session_waits_lost()
 * @telemetry: last values of the telemetry (temperatures and others)
 * @workload: histograms of energy and duration of the minibatches of each workload,
 *	identified by its key; the last element is shared by all workloads beyond
 *	JETWATTD_WORKLOADS
 */
struct jetwattd_telemetry {
	struct jetwatt_stats stats;
	struct jetwatt_energy energy[JETWATT_RAILS_MAX + 1];
	struct jetwatt_rail rail[JETWATT_RAILS_MAX];
	const char *scope;
	struct jetwatt_mode mode[JETWATTD_MODES];
	int energies, rails, workloads, modes;
	double rate_hz;
	uint64_t waits_lost;
	struct jetwatt_telemetry telemetry;
	struct jetwattd_workload {
		char key[20];
		struct jetwatt_metrics_histogram joule, second;
	} workload[JETWATTD_WORKLOADS + 1];
};

/**
 * struct jetwattd - state that the threads share
 * @policy: the policy in force; SIGHUP replaces its contents, under @lock
 * @conf: path of the policy file
 * @conf_must: 1: a missing policy file is an error
 * @verbose: 1: also log every reading that @count.measured counts, every mode over the budget and every job
 * @by_remote: 1: jetwatt-knobs writes the knobs
 * @power_w: budget of the command line, which replaces all budgets of the policy; 0: the
 *	policy's budgets hold
 * @invalidate: set to 1 to invalidate the reading in progress, so that the loop checks what has
 *	changed
 * @stop: exit code with which jetwattd is to end because of an error; 0: no error
 * @blind: 1: power samples are missing; only the lowest mode may be applied
 * @seeing: set to 1 when @rails rails of the total have delivered values for 0.5 s; set to 0 when
 *	the cap thread starts and when the power samples, or those of one rail, have stopped
 * @rails: number of rails of the total when jetwattd started
 * @lock: protects all members that follow it
 * @act: the board and the mode applied to it
 * @cap: the budget and the power drawn
 * @override_w: budget set on the control socket, in W; 0: the policy's budget holds
 * @pause: 1: a pause was requested
 * @doing: state of the loop
 * @pid: process of the job, 0: no job
 * @command: command line of the job
 * @key: first 16 characters of the key of the job's workload in the profile database
 * @why: the latest of: message of jetwattd_log(), why jetwattd yields, why a restore failed; shown
 *	by "jetwatt daemon status"
 * @unseen: jobs whose waits the probe may not see because jetwattd lacks a capability, and why;
 *	empty: none
 * @unseen_reported: mask: bit 0: jobs that spin, bit 1: jobs that wait for callbacks were reported
 * @expect_ms: time of a minibatch as measured in the held mode, in ms
 * @expect_w: power as measured in the held mode, in W
 * @count: event counters
 * @telemetry: measurements for the metrics
 * @timeshare: state of the time slicing
 */
struct jetwattd {
	struct jetwattd_policy *policy;
	const char *conf;
	int conf_must, verbose, by_remote;
	double power_w;
	atomic_int invalidate, stop, blind, seeing;
	int rails;

	pthread_mutex_t lock;
	struct jetwattd_actuator act;
	struct jetwattd_cap cap;
	double override_w;
	int pause;

	enum jetwattd_doing doing;
	pid_t pid;
	char command[256], key[40], why[256], unseen[256];
	unsigned int unseen_reported;
	double expect_ms, expect_w;
	struct jetwattd_count count;
	struct jetwattd_telemetry telemetry;
	struct jetwattd_timeshare_status timeshare;
};

/* Set the budget to @watts, 0: none. A change of the budget invalidates the reading in progress.
 * The caller holds the lock. */
void jetwattd_budget(struct jetwattd *d, double watts);

/* Set the budget to that of the control socket, or without one to the policy's at this time of the
 * day. @cgroup: cgroup of the job; empty: no job. The caller holds the lock. */
void jetwattd_budget_now(struct jetwattd *d, const char *cgroup);

/* Write a line to the log and store it in @d->why. The caller must not hold jetwattd's lock. */
void jetwattd_log(struct jetwattd *d, const char *text, ...) __attribute__((format(printf, 2, 3)));

/* End jetwattd because the process that would restore the knobs has ended: if jetwattd were
 * killed now, the mode would stay applied. Caller holds the lock. */
void jetwattd_unguarded(struct jetwattd *d);

/* Handle an event of the actuator. @to: struct jetwattd. Called under the lock. */
void jetwattd_on_event(void *to, enum jetwattd_event event, const struct jetwatt_mode *mode,
		       const char *why);

/* blind.c: the power samples, or those of one rail of the total, have stopped. If jetwattd enforces
 * a budget, apply the lowest mode, and end jetwattd if the policy says so. Without a budget, while
 * paused or while yielding, only end jetwattd. If jetwattd is blind or ending already, do neither.
 * Any thread may call this function, but must not hold jetwattd's lock. */
void jetwattd_blind(struct jetwattd *d);

/* usable.c: find the predictor that the policy names, and check that jetwattd can use it. @by: the
 * predictor, NULL: the default predictor. Return: 0 or an exit code; the error has been reported. */
struct jetwatt_predictor;
int jetwattd_method(const struct jetwattd_policy *p, const struct jetwatt_predictor **by);

/* usable.c: check that jetwattd can use the policy's predictor, and that the policy's idle mode is a
 * mode of this board. The caller holds jetwattd's lock if other threads run. Return: 0 or an exit code;
 * the error has been reported. */
int jetwattd_usable(struct jetwattd *d, const struct jetwattd_policy *p);

/* cap_thread.c: start and stop the thread of the cap. jetwattd_cap_stop() takes the pointer that
 * jetwattd_cap_start() stored, also after an error; NULL: none. Return: 0 or an exit code; the
 * error has been reported. */
struct jetwattd_cap_thread;
int jetwattd_cap_start(struct jetwattd *d, struct jetwattd_cap_thread **cap);
void jetwattd_cap_stop(struct jetwattd_cap_thread *cap);

/* loop.c: run until a signal or an error ends jetwattd. Return: exit code. */
int jetwattd_loop(struct jetwattd *d);

/* control.c: start and stop the thread of the control socket. jetwattd_control_stop() takes the
 * pointer that jetwattd_control_start() stored, also after an error; NULL: none. Return: 0 or an
 * exit code; the error has been reported. */
struct jetwattd_control;
int jetwattd_control_start(struct jetwattd *d, struct jetwattd_control **c);
void jetwattd_control_stop(struct jetwattd_control *c);

/* status.c: write the status of jetwattd to @f. @json: 1: as JSON, 0: as text. Takes the lock. */
void jetwattd_status(struct jetwattd *d, int json, FILE *f);

/* status.c: if @probe does not see some waits because jetwattd lacks a capability, store this for the
 * status, and log it the first time. @probe: NULL: none. Takes the lock. */
void jetwattd_unseen(struct jetwattd *d, const struct jetwatt_probe *probe);

/* metrics.c: write the metrics to @f. @open: 1: OpenMetrics, 0: Prometheus text format. Takes
 * the lock. */
void jetwattd_metrics(struct jetwattd *d, int open, FILE *f);
/* Add a minibatch to the histograms of workload @key. @second: its duration, in s; @joule:
 * energy of the minibatch, in J, negative: unknown. Caller holds the lock. */
void jetwattd_metrics_minibatch(struct jetwattd *d, const char *key, double second, double joule);

#endif
