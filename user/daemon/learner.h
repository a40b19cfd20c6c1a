/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The learner: what is known of the running job, and which mode to try next. It gets plain values
 * (a limit in watts, a time, readings, refusals) and returns plain values. It applies nothing,
 * reads no clock and no sensor, and knows neither the cap, nor the actuator, nor the loop, which
 * passes messages between the three:
 *
 *	jetwattd_learner_begin()			a job begins, with what was known before
 *	jetwattd_learner_budget()			for another budget
 *	jetwattd_learner_resume()			learn, as far as it is worth it
 *	while (jetwattd_learner_next())			a mode to try, or none: stay in the best
 *		..._reading(), ..._over(), ..._refused(), ..._too_slow()
 *		jetwattd_learner_done()			the step is over
 *		jetwattd_learner_news()			what is to be stored and reported
 *	jetwattd_learner_again()			with a share: resume, as the job has gone on?
 *
 * Not thread-safe; one thread calls it.
 */
#ifndef JETWATT_DAEMON_LEARNER_H
#define JETWATT_DAEMON_LEARNER_H

#include "daemon/mode_span.h"
#include "measure/measured.h"
#include "model/estimator.h"
#include "tune/learned.h"

/* Workloads and budgets whose allowance is remembered. */
#define JETWATTD_ALLOWANCES	16
/* First candidates of a job, at most. */
#define JETWATTD_FIRST	16
/* Relative error of a time that was not read: the cap had cut the reading short. */
#define JETWATTD_NO_TIME	1.0

/* How a step has ended. */
enum jetwattd_outcome {
	JETWATTD_MEASURED,
	JETWATTD_OVER,		/* the cap stepped down */
	JETWATTD_SHARED,	/* beside others than those that it is known with */
	JETWATTD_CUT,		/* budget, orders, or knobs have changed */
	JETWATTD_ENDED,		/* the job, or jetwattd */
	JETWATTD_NOTHING,	/* no minibatches to be told apart, or no waits */
	JETWATTD_REFUSED,	/* the mode */
	JETWATTD_HOT,		/* the clocks were below the mode's */
	JETWATTD_LATE,		/* the server could not keep up in it */
};

/**
 * struct jetwattd_reading - what was measured
 * @lost: samples that were missing
 * @over_w: power over the budget that the cap saw in the mode, in W, 0: not known; @over_sd: its
 *	relative error
 */
struct jetwattd_reading {
	struct jetwatt_measure m;
	uint64_t lost;
	double over_w, over_sd;
};

/**
 * struct jetwattd_terms - by what the job is learned at this time
 * @limit_w: what a mode may draw in the mean, in W, by the cap
 * @safe_w: what the mode that the cap steps down to draws at most, in W; used with @share
 * @now_ns: CLOCK_MONOTONIC
 * @most: modes to measure at most; @learn_s, @learn_j: time and energy for that, @learn_s 0: as the
 *	job's minibatches ask for; @share: part of the job's time that learning may cost it, instead of
 *	@most: whatever pays is measured, for as long as the job runs; 0: not so; of the policy
 * @uneven: a server's turns are in some of the minibatches
 */
struct jetwattd_terms {
	double limit_w, safe_w;
	uint64_t now_ns;
	size_t most;
	double learn_s, learn_j, share;
	int uneven;
};

/**
 * struct jetwattd_prior - what is known of a job as it begins; all zero: nothing
 * @key: of its workload in the profile database, NULL or empty: it is none
 * @row, @rows: its own readings, the oldest first
 * @twin, @twins: readings of the same workload from elsewhere
 * @other, @others: readings of other workloads, one element each; used by predictors with a prior
 * @first, @firsts: modes to try before any that the plan asks for, in this order; those that are no
 *	candidates, known, or refused are left out, as are those after JETWATTD_FIRST
 * @first_w: what each is named for, in W, with @share: the highest that may be within comes first;
 *	NULL: in their order
 *
 * Nothing of it is kept by reference.
 */
struct jetwattd_prior {
	const char *key;
	const struct jetwatt_row *row, *twin;
	size_t rows, twins;
	const struct jetwatt_corpus *other;
	size_t others;
	const struct jetwatt_mode *first;
	const double *first_w;
	size_t firsts;
};

/* What the loop is asked to do. */
enum jetwattd_ask {
	JETWATTD_TRY,		/* switch to the mode and measure it */
	JETWATTD_TRY_EXACT,	/* the same, for longer: its power is near the limit */
	JETWATTD_CHECK,		/* switch to a mode that is known and measure it again */
	JETWATTD_CHECK_HERE,	/* measure again the mode that the board is in */
};

struct jetwattd_step {
	enum jetwattd_ask ask;
	struct jetwatt_mode mode;
};

/**
 * struct jetwattd_result - how a step has ended
 * @reading: of a check that was JETWATTD_MEASURED
 * @jumped_ms: of a try: the last minibatch was far from those before, which took this time; 0: it
 *	was not
 * @here: of a try: the board is still in the mode
 */
struct jetwattd_result {
	enum jetwattd_outcome outcome;
	struct jetwattd_reading reading;
	double jumped_ms;
	int here;
};

/* What jetwattd_learner_done() returns. */
enum jetwattd_follow {
	JETWATTD_FOLLOW_PLAN,	/* the next step is planned */
	JETWATTD_FOLLOW_CHECK,	/* the next step checks what is known, with this one's readings */
	JETWATTD_FOLLOW_STOP,	/* the outcome ends the learning */
};

/**
 * struct jetwattd_news - what the loop has to pass on
 * @what: the reading is one of the workload's, for the database; or the job has become another one:
 *	@is was read where @was is known
 */
struct jetwattd_news {
	enum { JETWATTD_STORE, JETWATTD_DRIFTED } what;
	struct jetwattd_reading reading;
	struct jetwatt_row is, was;
};

/**
 * struct jetwattd_cost - what learning has cost all jobs
 * @seconds: time of readings; @lost_s: how much less it would have taken in the best mode that was
 *	known at each moment
 */
struct jetwattd_cost {
	double seconds, lost_s;
};

/**
 * struct jetwattd_allowance - what learning a workload for a budget has taken so far
 * @most: modes that are to be known, 0: not decided yet
 * @done: there is no more to learn
 * @ran_s: with a share, for all budgets: time that the workload has run; @lost_s: how much less it would
 *	have taken in the best mode that was known at each moment
 */
struct jetwattd_allowance {
	char key[17];
	double budget_w, seconds, joules, ran_s, lost_s;
	size_t most;
	int done;
};

/**
 * struct jetwattd_drift_check - readings that tell whether the job has become another one
 * @state: what is being checked
 * @tried: where a reading was suspect, else the first of all is checked
 * @before_ms: of JUMP: minibatches before the last one
 * @old, @now: row @old is of the other job, and from @now on they are of the job as it is
 * @was: the row that was checked first; @first: what was read there
 * @mid, @mode: the row that is being checked, and its mode
 */
struct jetwattd_drift_check {
	enum {
		JETWATTD_NO_CHECK,
		JETWATTD_CHECK_JUMP,
		JETWATTD_CHECK_OLD,
		JETWATTD_CHECK_PART,
	} state;
	int tried;
	double before_ms;
	size_t old, now, mid;
	struct jetwatt_row was;
	struct jetwattd_reading first;
	struct jetwatt_mode mode;
};

#define JETWATTD_NEWS	4

/**
 * struct jetwattd_learner - what is known of the job
 *
 * For the loop to fill before jetwattd_learner_open():
 * @known: candidates, predictor; then also the rows of the job
 *
 * The learner's own:
 * @barred: of each candidate: JETWATTD_BARRED: it cannot be had, or is over the budget; less: how
 *	often the cap stepped down in it for what may have been another process's doing
 * @late: in it a server's latency cannot be kept, at @late_hz requests a second
 * @span: range of the knobs of the candidates
 * @key, @budget_w: of the job; @learned_j: energy that learning it has taken
 * @allowance, @next_allowance: of workloads before, and of this one, a ring; @spent: of this one
 * @terms: of the last message
 * @choice, @choice_at, @choices: candidates of the next step, and where they are among all
 * @level: modes up to it are tried while no model speaks for any; @lowest: level of the lowest one
 *	that is left; @foretold: there are predictions of them
 * @twin: the workload was known from elsewhere as this pass began
 * @taken: modes read in this pass; @looked: it was asked whether its first reading still holds
 * @first, @first_w, @firsts: of the prior, those that were not tried yet; indices
 * @run_ns: this run is learned since; up to @ran_ns its time is in @spent; @best_ms: of the best mode
 *	as the step began, 0: there was none
 * @again_s: with a share, time that the workload has run when the next reading may pay
 * @cost: of all steps
 * @trying: the candidate of the step; @begun_ns, @begun_j: of it
 * @check: whether the job is another one
 * @news, @nr_news: not yet passed on, the oldest first
 */
struct jetwattd_learner {
	struct jetwatt_learn known;

	unsigned char *barred, *late;
	double late_hz;
	struct jetwattd_span span;
	char key[17];
	double budget_w, learned_j;
	struct jetwattd_allowance allowance[JETWATTD_ALLOWANCES], *spent;
	unsigned int next_allowance;
	struct jetwattd_terms terms;
	struct jetwatt_mode *choice;
	size_t *choice_at, choices;
	double level, lowest;
	int foretold, twin, taken, looked;
	size_t first[JETWATTD_FIRST], firsts;
	double first_w[JETWATTD_FIRST];
	uint64_t run_ns, ran_ns;
	double best_ms, again_s;
	struct jetwattd_cost cost;
	size_t trying;
	uint64_t begun_ns;
	double begun_j;
	struct jetwattd_drift_check check;
	struct jetwattd_news news[JETWATTD_NEWS];
	int nr_news;
};

/* The candidates are there. Return: exit code, said. */
int jetwattd_learner_open(struct jetwattd_learner *l);
void jetwattd_learner_close(struct jetwattd_learner *l);

/* A job begins; all that was known of the one before is forgotten, but for its allowance. Return:
 * exit code, said; then less is known than there was. */
int jetwattd_learner_begin(struct jetwattd_learner *l, const struct jetwattd_prior *prior);
/* It is learned for a budget from now on, of which a mode may draw @limit_w in the mean. What was
 * refused may be tried again. */
void jetwattd_learner_budget(struct jetwattd_learner *l, double budget_w, double limit_w);
/* Learn it, unless that was done for this budget before. */
void jetwattd_learner_resume(struct jetwattd_learner *l, const struct jetwattd_terms *terms);

/* What to do next. Return: 1: @step; 0: stay in the best mode, there is no more to learn. */
int jetwattd_learner_next(struct jetwattd_learner *l, const struct jetwattd_terms *terms,
			  struct jetwattd_step *step);

/* A mode was measured. It is known from now on, and is news to store. Return: exit code, said. */
int jetwattd_learner_reading(struct jetwattd_learner *l, const struct jetwattd_reading *got);
/* Of a mode that was left before it was read: about what is known of it. Not stored. Return: exit
 * code, said. */
int jetwattd_learner_estimate(struct jetwattd_learner *l, const struct jetwatt_row *row);
/* The cap stepped down in a mode. Its power is known: neither it nor any mode that is higher in all
 * knobs is tried again. @over_w 0: it is not: it may be tried once more. */
void jetwattd_learner_over(struct jetwattd_learner *l, const struct jetwatt_mode *mode,
			   double over_w, double over_sd);
/* A mode cannot be had. @why: JETWATTD_HOT: it may be tried once more; else not. */
void jetwattd_learner_refused(struct jetwattd_learner *l, const struct jetwatt_mode *mode,
			      enum jetwattd_outcome why);
/* A server is too late in a mode, at @hz requests a second, so it is in all below. Return: 1: that
 * was not known of one of them. */
int jetwattd_learner_too_slow(struct jetwattd_learner *l, const struct jetwatt_mode *mode,
			      double hz);
/* In which modes it is too late is not known any more. */
void jetwattd_learner_in_time(struct jetwattd_learner *l);
/* Energy that a step has taken, in J. */
void jetwattd_learner_spent(struct jetwattd_learner *l, double joules);

/* A step has ended, after the messages about its mode. */
enum jetwattd_follow jetwattd_learner_done(struct jetwattd_learner *l,
					   const struct jetwattd_terms *terms,
					   const struct jetwattd_result *result);
/* Return: 1: @news; 0: there is none. */
int jetwattd_learner_news(struct jetwattd_learner *l, struct jetwattd_news *news);

/* The fastest mode measured to draw at most @watts, but for one; NULL: none. It holds until the
 * next message. */
const struct jetwatt_row *jetwattd_learner_within(const struct jetwattd_learner *l, double watts,
						  const struct jetwatt_mode *but);
/* What was found cannot be held: look further. Return: 0: the allowance is used up. */
int jetwattd_learner_more(struct jetwattd_learner *l, const struct jetwattd_terms *terms);
/* With a share: the job has gone on. Return: 1: a further reading may pay by now. */
int jetwattd_learner_again(struct jetwattd_learner *l, const struct jetwattd_terms *terms);

/* Is a reading another one than it was, in time or power? */
int jetwattd_differs(const struct jetwatt_row *is, const struct jetwatt_row *was);
/* The job has become another one: @is was read where @was is known. All that was read before is
 * forgotten, but as what a similar job does. */
void jetwattd_learner_forget(struct jetwattd_learner *l, const struct jetwatt_row *is,
			     const struct jetwatt_row *was);

#endif
