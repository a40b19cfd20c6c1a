/* SPDX-License-Identifier: GPL-2.0-only */
/* The loop's inside: the job that runs, and what is known of it. */
#ifndef JETWATTD_LOOP_H
#define JETWATTD_LOOP_H

#include "daemon/jetwattd.h"

#include "tune/tuner.h"

#define JETWATTD_SEEN	16
/* So many looks, a second apart, until company counts as another one. */
#define JETWATTD_APART	3
/* What is kept of the words of all who work beside a job. */
#define JETWATTD_BESIDE	160
/* Rows from which on a workload is known. */
#define JETWATTD_KNOWN	4
/* Who has not waited for the GPU for so long is no job now. */
#define JETWATTD_JOB_NS	5000000000ull
/* The longest that is waited after the cap has stepped down. */
#define JETWATTD_CALM_S	80.0
#define JETWATTD_OUT	2
/* Relative error of a time that was not read: the cap had cut the reading short. */
#define JETWATTD_NO_TIME	1.0

/* Somebody who waits for the GPU, @waits times lately, for @waited_ns in all; @turn_ns: the longest
 * lately from the end of one to that of the next; @opaque: and no minibatches can be told apart;
 * @known: his workload is in the database; @serves: he is of the server that jobs give way to;
 * -1: not asked yet; @born: when the process started, in ticks: a pid may be used again. */
struct jetwattd_seen {
	pid_t pid;
	uint64_t last_ns, waited_ns, turn_ns, born;
	unsigned int waits;
	int opaque, known, serves;
};

/* What learning a workload for a budget has taken so far. @most: modes that are to be known, 0:
 * not thought of yet; @done: there is no more to learn. */
struct jetwattd_allowance {
	char key[17];
	double budget_w, seconds, joules;
	size_t most;
	int done;
};

/* Where work that is no job's has been let go up to: @on a @rung, at most @most since the cap has
 * left one at @fell_ns; since @since_ns, which is @said; @below_w: power on the one below, 0: not
 * known. */
struct jetwattd_ladder {
	int on, rung, most, said;
	uint64_t fell_ns, since_ns;
	double below_w;
};

/* Processes that the lowest mode is held for while the samples of power are missing: their pids
 * and descriptors. */
#define JETWATTD_HELD	(2 * JETWATTD_SEEN)
struct jetwattd_held {
	pid_t pid[JETWATTD_HELD];
	int fd[JETWATTD_HELD], nr;
};

struct jetwattd_minibatch;
struct jetwattd_interleaver;

/**
 * struct jetwattd_run - what the loop works with
 * @watch: all rails, everybody's waits; those of the job are kept
 * @learn: candidates, and rows of the job
 * @out: of each candidate: JETWATTD_OUT: it cannot be had, or is over the budget; less: how
 *	often the cap stepped down in it for what may have been somebody else's doing
 * @late: in it the server's latency cannot be kept while the job gives way to it, at
 *	@late_hz requests a second
 * @lowest, @highest: step of each knob among the candidates
 * @seen: who else there is
 * @ladder: of work that is no job's
 * @allowance, @next_allowance: of workloads before, and of this one; a ring
 * @minibatch: the job's, as they end
 * @interleaver: has it take turns with a server
 * @tended_ns: when we last looked after the rest; @seldom_ns: at what takes its time
 * @cgroup: of the job, as in /proc/PID/cgroup; empty: no job
 * @beside: who worked on the GPU as well when the job's workload was looked up, which they are
 *	part of; @apart: how often in a row it was somebody else
 * @hangup: descriptor that tells of SIGHUP; @reloaded: the policy is another one now
 * @decay: how power settles on this board
 * @learned_j: energy that learning has taken
 * @held: while blind; @retry_ns: interval of attempts to reach the module while blind; @retried_ns: of the last one
 * @budget_w: that we work for; @learn has what of it a mode may draw in the mean
 */
struct jetwattd_run {
	struct jetwattd *d;
	struct jetwatt_watch watch;
	struct jetwatt_args args;
	struct jetwatt_learn learn;
	struct jetwatt_keep keep;
	unsigned char *out, *late;
	double late_hz;
	struct jetwatt_mode lowest, highest;
	struct jetwattd_seen seen[JETWATTD_SEEN];
	struct jetwattd_ladder ladder;
	struct jetwattd_allowance allowance[JETWATTD_SEEN];
	unsigned int next_allowance;
	struct jetwattd_minibatch *minibatch;
	struct jetwattd_interleaver *interleaver;
	char cgroup[256], beside[JETWATTD_BESIDE];
	int apart, hangup, reloaded;
	struct jetwattd_held held;
	uint64_t tended_ns, seldom_ns, retry_ns, retried_ns;
	struct jetwatt_batch_decay decay;
	double learned_j, budget_w;
};

enum jetwattd_outcome {
	JETWATTD_MEASURED,
	JETWATTD_OVER,		/* the cap stepped down */
	JETWATTD_SHARED,	/* beside others than those that it is known with */
	JETWATTD_CUT,		/* budget, orders, or knobs have changed */
	JETWATTD_ENDED,		/* the job, or we */
	JETWATTD_NOTHING,	/* no minibatches to be told apart, or no waits */
	JETWATTD_REFUSED,	/* the mode */
	JETWATTD_HOT,		/* the clocks were below the mode's */
	JETWATTD_LATE,		/* the server could not keep up in it */
};

/* What was measured; @lost: samples that were missing; @over_w: power over the budget that
 * the cap saw in the mode, 0: that is not known, with its relative error @over_sd. */
struct jetwattd_reading {
	struct jetwatt_measure m;
	uint64_t lost;
	double over_w, over_sd;
};

/* housekeeping.c: look after the rest of the world: knobs, hours, others; at most once a second. */
void jetwattd_tend(struct jetwattd_run *r);
/* Is the budget another one than we work for, or are there orders to do something else? */
int jetwattd_changed(struct jetwattd_run *r);
/* Who works on the GPU beside the job: their words, in order; empty: nobody. */
void jetwattd_company(const struct jetwattd_run *r, char *text, size_t len);
void jetwattd_doing(struct jetwattd_run *r, enum jetwattd_doing doing);

/* Have we been told to end, or cannot go on? */
int jetwattd_stopped(const struct jetwattd_run *r);
/* Gather, and look after things: for @most_s at most. */
void jetwattd_turn(struct jetwattd_run *r, double most_s);
/* The same for long. Return: 1: there is something else to do. */
int jetwattd_nap(struct jetwattd_run *r, double seconds);
/* Of the waits before, keep what it takes to know their rhythm. */
void jetwattd_forget_waits(struct jetwattd_run *r);
/* Of the probe: everybody's waits. @run: struct jetwattd_run. */
void jetwattd_on_wait(const struct jetwatt_sync *s, void *run);
/* What is known of a process. */
struct jetwattd_seen *jetwattd_find(struct jetwattd_run *r, pid_t pid);
/* Is it one of the job's? Processes of one group are one job. */
int jetwattd_of_job(const struct jetwattd_run *r, pid_t pid);
/* Somebody who works on the GPU now: a few waits, or one of a workload that is known.
 * Return: its pid, 0: nobody. */
pid_t jetwattd_working(struct jetwattd_run *r);

/* idle.c: there is no job: the policy's idle mode, or the board as it was found. */
void jetwattd_idle(struct jetwattd_run *r);
/* Is the board another process's, or was jetwattd told to pause? */
int jetwattd_yields(struct jetwattd_run *r, int *paused);
/* Switch nothing until jetwattd is told otherwise or the job of the other process ends; or, if it
 * is another jetwatt that holds the board, for a while. */
void jetwattd_stand_back(struct jetwattd_run *r);

/* blind.c: hold the lowest mode as long as a process that works on the GPU lives.
 * Return: 1: the module answers again, which says nothing of its sensors; 0: there is nothing to
 * hold any more, or jetwattd was told to end. */
int jetwattd_blind_hold(struct jetwattd_run *r);
/* It no longer is. */
void jetwattd_blind_end(struct jetwattd_run *r);

/* job_hold.c: a process becomes the job, with what is known of its workload. Return: 0,
 * negative errno. */
int jetwattd_take(struct jetwattd_run *r, pid_t pid);
void jetwattd_leave(struct jetwattd_run *r);
/* Learn it and hold it, for the budget that is now. Return: how it ended. */
enum jetwattd_outcome jetwattd_work(struct jetwattd_run *r);

/* drift.c: is a reading another one than it was? */
int jetwattd_differs(const struct jetwatt_row *is, const struct jetwatt_row *was);
/* And not for heat? Then what was read before says nothing any more: jetwattd_anew(). */
int jetwattd_drifted(struct jetwattd_run *r, const struct jetwatt_row *is,
		     const struct jetwatt_row *was);
/* Forget what was read, but as what a like job does: @is was read where @was is known. */
void jetwattd_anew(struct jetwattd_run *r, const struct jetwatt_row *is,
		   const struct jetwatt_row *was);
/* Mode @i was just read, and @foretold before, NULL: it was not: has the job become another one
 * since the modes before were read: other data, another minibatch? Then it is known anew. */
int jetwattd_another(struct jetwattd_run *r, size_t i, const struct jetwatt_prediction *foretold);
/* Where few are known, a change between two readings is seen in neither: was the first of all of
 * another job? Return: 1: so it was, and those that were are no longer known. */
int jetwattd_was_another(struct jetwattd_run *r);

/* measure_current.c: measure the mode that the board is in. */
enum jetwattd_outcome jetwattd_look(struct jetwattd_run *r, const struct jetwatt_mode *mode,
				    const struct jetwatt_measure_limits *limits,
				    struct jetwattd_reading *got);
/* The same for one that is known, which is switched to. */
enum jetwattd_outcome jetwattd_look_again(struct jetwattd_run *r, const struct jetwatt_mode *mode,
					  const struct jetwatt_measure_limits *limits,
					  struct jetwattd_reading *got);
/* The same without a look for minibatches, by those that are counted anyway. Return: how many
 * there were; 0: too few, or far from what they were, or the cap has stepped down, or others
 * work on the GPU as well, or there is something else to do. */
size_t jetwattd_glance(struct jetwattd_run *r, const struct jetwatt_measure_limits *limits,
		       struct jetwatt_row *row);
/* Were the clocks below what the mode asks for, by heat or current? Then says so. */
int jetwattd_throttled(struct jetwattd_run *r, const struct jetwatt_mode *mode);

/* try_mode.c: switch to a mode and measure it; what it was is kept. */
enum jetwattd_outcome jetwattd_try(struct jetwattd_run *r, size_t i,
				   const struct jetwatt_measure_limits *limits);
/* The cap has stepped down: up again, to another mode than the one it left, as soon as the
 * budget has room. Return: 1: there is something else to do. */
int jetwattd_climb(struct jetwattd_run *r);
/* What a mode may draw in the mean, for the budget to hold in every window. Under the lock. */
double jetwattd_limit(struct jetwattd *d);
/* The fastest mode measured to draw at most so much, but for one; NULL: none. Under the lock. */
const struct jetwatt_row *jetwattd_within(struct jetwattd_run *r, double watts,
					  const struct jetwatt_mode *but);
/* The fastest mode that only the error of its reading keeps from being within, if it is faster
 * than the best and not yet known as well as it can be. Return: its index, -1: none. */
long jetwattd_unsure(struct jetwattd_run *r);
/* Is a mode at least as high as another one in all knobs? */
static inline int jetwattd_reaches(const struct jetwatt_mode *a, const struct jetwatt_mode *b)
{
	jetwatt_each_knob(k)
		if (jetwatt_mode_get(a, k) < jetwatt_mode_get(b, k))
			return 0;
	return 1;
}
/* A reading is known from now on. Return: exit code, said. */
int jetwattd_keep(struct jetwattd_run *r, const struct jetwattd_reading *got);
/* The fastest mode measured to be within the budget, NULL: none; and let the cap know. */
const struct jetwatt_row *jetwattd_best(struct jetwattd_run *r);
/* The mode is over the budget, and so is whatever is higher in all knobs. */
void jetwattd_forbid(struct jetwattd_run *r, const struct jetwattd_reading *got);

/* unknown_load.c: how high a mode is in all its knobs, from 0 to 1; and in the one in which it is lowest. */
double jetwattd_level(const struct jetwattd_run *r, const struct jetwatt_mode *m, double *least);
/* While there is no job: has the cap stepped down? Then up, as far as the budget has room.
 * Return: 1: it has room for the board as it was found. */
int jetwattd_ladder(struct jetwattd_run *r);
/* The board is as it was found, or a job's. */
void jetwattd_ladder_leave(struct jetwattd_run *r);

/* reload.c: SIGHUP no longer ends us. Return: exit code. */
int jetwattd_reload_open(struct jetwattd_run *r);
/* Was there one? Then read the policy again. */
void jetwattd_reload(struct jetwattd_run *r);

/* minibatch.c: the job's minibatches as they end, with what they have drawn. Return: it;
 * NULL: no memory. */
struct jetwattd_minibatch *jetwattd_minibatch_new(struct jetwattd_run *r);
void jetwattd_minibatch_free(struct jetwattd_minibatch *m);
/* Another job. */
void jetwattd_minibatch_forget(struct jetwattd_minibatch *m);
void jetwattd_minibatch_wait(struct jetwattd_minibatch *m, const struct jetwatt_sync *s);
/* Now and then: look again where they end. */
void jetwattd_minibatch_learn(struct jetwattd_minibatch *m);
/* From now on they count for the mean, but for pauses. */
void jetwattd_minibatch_anew(struct jetwattd_minibatch *m);
/* Are they no longer as they were then? */
int jetwattd_minibatch_strange(const struct jetwattd_minibatch *m);
/* Was the last one far from those before in the same mode? Return: how long these were, in ms;
 * 0: no, or there are none. */
double jetwattd_minibatch_jumped(const struct jetwattd_minibatch *m);
/* @row: may be NULL. Return: how many there are. */
size_t jetwattd_minibatch_mean(const struct jetwattd_minibatch *m, struct jetwatt_row *row);

/* timeshare.c: those whom the policy names take turns as long as both are there. */
void jetwattd_turns(struct jetwattd_run *r);
void jetwattd_turns_end(struct jetwattd_run *r);

/* server_deadline.c: is the server too late in the mode that the board is in? Then it is in all below as
 * well. Return: 1: yes, and that was not known. */
int jetwattd_late(struct jetwattd_run *r);
/* A window has ended; @switched: in it the board was. Under the lock. */
void jetwattd_late_window(struct jetwattd *d, int switched);
/* Of a mode that is left for that before it was read, keep what was seen. Return: 0, negative
 * errno. */
int jetwattd_late_row(struct jetwattd_run *r);
/* Wait until the server has answered what there was before the last switch. */
void jetwattd_late_catch_up(struct jetwattd_run *r);
/* Look whether it is so now and then; where there are fewer requests it may no longer be. */
void jetwattd_late_tend(struct jetwattd_run *r);
/* Which ones those are is not known any more. */
void jetwattd_late_forget(struct jetwattd_run *r);

/* In a job's own working time: quicker readings than those of a profile. */
extern const struct jetwatt_measure_limits jetwattd_quick;
/* search.c: learn what is worth it, unless that was done for this budget before. Return: how
 * it ended. */
enum jetwattd_outcome jetwattd_seek(struct jetwattd_run *r);

/* learning_budget.c: what has been spent on the job's workload for this budget, by runs before too;
 * what is no workload of the database begins anew each time, and so does what came to nothing. */
struct jetwattd_allowance *jetwattd_allowance(struct jetwattd_run *r);
/* Return: which part of it is left; at 0 or below nothing is. */
double jetwattd_allowance_left(struct jetwattd_run *r, const struct jetwattd_allowance *a);
/* The job has become another one: what was spent before counts half, so that who does so all
 * the time is not learned all the time. */
struct jetwattd_allowance *jetwattd_allowance_anew(struct jetwattd_run *r,
						   const struct jetwattd_allowance *was);
/* What was found cannot be held: look further. Return: 0: that is not allowed. */
int jetwattd_allowance_more(struct jetwattd_run *r);
/* The workload is another one now, for all budgets. */
void jetwattd_allowance_again(struct jetwattd_run *r);

#endif
