/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * jetwattd: sees jobs start, finds the best mode of each within the budget
 * while it works, holds the budget whatever the model says, and leaves the
 * board as it found it.
 *
 * Three threads. The cap (cap_thread.c) reads every sample of power and steps down; it
 * waits for nobody but for a switch that is under way. The loop (loop.c) learns,
 * decides and switches. Control (control.c) answers on a socket. They share this
 * one structure, and its lock.
 */
#ifndef JETWATTD_H
#define JETWATTD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "daemon/actuator.h"
#include "daemon/cap_limit.h"
#include "jetwatt.h"
#include "out/metrics.h"
#include "policy/policy.h"
#include "util/notify.h"

/* So many workloads have histograms of their own, the rest has one in common. */
#define JETWATTD_WORKLOADS	8
/* The most modes that metrics call by name. */
#define JETWATTD_MODES		16

/* What the loop does: the table in state.h. Changed by jetwattd_enter() only. */
enum jetwattd_doing {
	JETWATTD_IDLE,		/* no job */
	JETWATTD_LEARNING,	/* measures modes */
	JETWATTD_HOLDING,	/* in the mode that was chosen */
	JETWATTD_BACKING_OFF,	/* in a safe one for a while, the cap has stepped down */
	JETWATTD_YIELDING,	/* somebody else turns the knobs */
	JETWATTD_PAUSED,	/* was told to */
	JETWATTD_RESTORING,	/* a knob has refused the state that was found: tried again */
	JETWATTD_BLIND,		/* no samples of power: holds the lowest mode */
	JETWATTD_DOINGS
};

/**
 * struct jetwattd_count - what has happened since the start
 * @jobs: seen; @known: of those, found in the database
 * @measured: modes
 * @drifts: time or power was not as expected
 * @throttled: clocks were below what the mode asks for
 * @blind: how often the samples of power broke off
 * @learning_s: time of readings; @lost_s: of that, what the best mode known at each moment would
 *	have saved
 */
struct jetwattd_count {
	uint64_t jobs, known, measured, drifts, throttled, blind;
	double learning_s, lost_s;
};

/**
 * struct jetwattd_taking_turns - of training and a server, where the policy has them do so
 * @on: they do now; @planned: how is known, for the mode that the board is in; @beyond: plans
 *	in a row that do not keep the latency there
 * @minibatches, @requests: of a window of @window_ms, in the plan; @latency_ms: that it keeps
 * @limit_ms: that it is to keep; @arrival_hz: requests a second
 * @ended_ns: of the last window; @first_ns: of the one in which the board was switched, 0: it
 *	has not ended yet; @windows: that have ended since; @over: they were too long
 * @turns, @late: of training so far; those that did not end at a bound
 */
struct jetwattd_taking_turns {
	int on, planned, beyond, over;
	double minibatches, requests, window_ms, latency_ms, limit_ms, arrival_hz;
	uint64_t ended_ns, first_ns, windows, turns, late;
};

/**
 * struct jetwattd_meter - what is measured all the time, for those who draw curves
 * @stats, @energy: of the module; the total's counter first; @rail: by their ids
 * @mode, @modes: that metrics call by name
 * @waits_lost: of the probe
 * @telemetry: as read last
 * @workload, @workloads: minibatches; one more, for those that have no room
 */
struct jetwattd_meter {
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
 * struct jetwattd - what the threads share
 * @lock: of all that is below it
 * @act: the board, and what was applied to it
 * @by_remote: jetwatt-knobs writes the knobs
 * @policy: of the file @conf, which may change at SIGHUP; @power_w: instead of its budgets
 * @cap: the budget, and what has become of it; @told_w: by the socket, 0: policy
 * @cut: what is being measured is void: the loop has to look again
 * @blind: the samples of power have broken off: only the lowest mode may be applied
 * @seeing: the cap has heard each rail of the total since it was started; @rails: of the total
 *	when jetwattd started
 * @pause: was asked for
 */
struct jetwattd {
	struct jetwattd_policy *policy;
	const char *conf;
	int conf_must, verbose, by_remote;
	double power_w;
	atomic_int cut, stop, blind, seeing;
	int rails;

	pthread_mutex_t lock;
	struct jetwattd_actuator act;
	struct jetwattd_cap cap;
	double told_w;
	int pause;

	enum jetwattd_doing doing;
	pid_t pid;
	char command[256], key[40], why[256];
	double expect_ms, expect_w;
	struct jetwattd_count count;
	struct jetwattd_meter meter;
	struct jetwattd_taking_turns turns;
};

/* The budget from now on. Under the lock. */
void jetwattd_budget(struct jetwattd *d, double watts);

/* Something that the journal should have, and `status` says as the last thing. */
void jetwattd_say(struct jetwattd *d, const char *text, ...) __attribute__((format(printf, 2, 3)));

/* Nobody would bring the knobs back if we ended otherwise: without that a mode could
 * outlive us. So we end, and say so. */
void jetwattd_unguarded(struct jetwattd *d);

/* What follows from an event of the actuator. @to: struct jetwattd. Under the lock. */
void jetwattd_on_event(void *to, enum jetwattd_event event, const struct jetwatt_mode *mode,
		       const char *why);

/* blind.c: the samples of power, or those of one rail of the total, have broken off. Apply the
 * lowest mode, or end, as the policy says. Any thread, without the lock. */
void jetwattd_blind(struct jetwattd *d);

/* usable.c: the predictor that the policy names, NULL: the default. Return: exit code, said. */
struct jetwatt_predictor;
int jetwattd_method(const struct jetwattd_policy *p, const struct jetwatt_predictor **by);

/* Is the policy one for this board? Under the lock, where there are threads. Return: exit
 * code, said. */
int jetwattd_usable(struct jetwattd *d, const struct jetwattd_policy *p);

/* cap_thread.c. Return: exit code, said. */
struct jetwattd_cap_thread;
int jetwattd_cap_start(struct jetwattd *d, struct jetwattd_cap_thread **cap);
void jetwattd_cap_stop(struct jetwattd_cap_thread *cap);

/* loop.c: until somebody ends us. Return: exit code. */
int jetwattd_loop(struct jetwattd *d);

/* control.c. Return: exit code, said. */
struct jetwattd_control;
int jetwattd_control_start(struct jetwattd *d, struct jetwattd_control **c);
void jetwattd_control_stop(struct jetwattd_control *c);

/* status.c: all of it, for people or as JSON. */
void jetwattd_status(struct jetwattd *d, int json, FILE *f);

/* metrics.c: the same for machines; @open: OpenMetrics, else Prometheus' text format. */
void jetwattd_metrics(struct jetwattd *d, int open, FILE *f);
/* A minibatch of a workload; @joule negative: not known. Under the lock. */
void jetwattd_metrics_minibatch(struct jetwattd *d, const char *key, double second, double joule);

#endif
