/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The learner: stores the readings of the running job, and decides which mode to try next. The
 * learner gets plain values (a limit in watts, a time, readings, refusals) and returns plain
 * values. The learner applies nothing, reads no clock and no sensor, and knows neither the cap, nor
 * the actuator, nor the loop. The loop passes messages between learner, cap and actuator:
 *
 *	jetwattd_learner_begin()			a job begins, with stored readings
 *	jetwattd_learner_budget()			the budget changes
 *	jetwattd_learner_resume()			start a search
 *	while (jetwattd_learner_next())			a mode to try; 0: hold the best mode
 *		..._reading(), ..._over(), ..._refused(), ..._deadline_miss()
 *		jetwattd_learner_done()			the step has ended
 *		jetwattd_learner_news()			what the loop has to store and log
 *	jetwattd_learner_is_due()			time for a further search?
 *
 * A candidate is a mode that may be chosen. A row is a reading of one mode: time of a minibatch and
 * power, each with its error. Only the loop's thread calls the learner.
 */
#ifndef JETWATT_DAEMON_LEARNER_H
#define JETWATT_DAEMON_LEARNER_H

#include "daemon/learner_allowance.h"
#include "daemon/learner_terms.h"
#include "daemon/mode_span.h"
#include "measure/measured.h"
#include "measure/step_costs.h"
#include "model/estimator.h"
#include "model/mode_index.h"
#include "tune/learned.h"
#include "tune/token_mix.h"

/* Maximum number of modes that are tried first, and of presets; further ones are ignored. */
#define JETWATTD_FIRST	16
/* The requests of the moment, which differ in the length of their contexts and prompts, change the measured
 * time and power of a server's steps by up to this factor. */
#define JETWATTD_CONTEXTS	1.2
/* Maximum number of readings of a server (windows) from which the present mix is computed. */
#define JETWATTD_WINDOWS	64

/* How a step has ended. */
enum jetwattd_outcome {
	JETWATTD_MEASURED,
	JETWATTD_OVER,		/* a cap event occurred */
	/* measured, but the co-running jobs were not those of the workload */
	JETWATTD_SHARED,
	JETWATTD_INTERRUPTED,	/* budget, knobs or jetwattd's state have changed */
	JETWATTD_ENDED,		/* the job or jetwattd has ended, or an error was reported */
	JETWATTD_NOTHING,	/* no waits for the GPU, or no minibatches recognised */
	/* a knob refused the mode, or minibatches are recognised in the best mode but not in this one */
	JETWATTD_REFUSED,
	JETWATTD_HOT,		/* throttled: the clocks were below those of the mode */
	JETWATTD_DEADLINE_MISS,	/* the server missed its latency limit in the mode */
};

/**
 * struct jetwattd_reading - result of measuring a mode
 * @m: the measurement; after a cap event, the time is that of the whole minibatches in the mode, in ms, 0:
 *	unknown
 * @steps: for a server of a language model: costs of its steps; all zero: the job is no such server
 * @lost: number of power samples lost during the measurement
 * @over_w: after a cap event: mean power in the mode, in W; 0: unknown or within the limit
 * @over_sd: relative error of @over_w
 * @over_peak: 1: the mode exceeded the "cap" only; @over_w is then above the mean power
 */
struct jetwattd_reading {
	struct jetwatt_measure m;
	struct jetwatt_step_costs steps;
	uint64_t lost;
	double over_w, over_sd;
	int over_peak;
};

/**
 * struct jetwattd_prior - readings known for a job when it begins; all zero: none
 * @key: key of the job's workload in the profile database; NULL or empty: none
 * @row: readings of this workload on this device, the oldest first
 * @cross_device: one row for each mode, merged from readings of this workload on other devices, or
 *	here with another software release or cgroup
 * @rows: number of elements of @row
 * @nr_cross_device: number of elements of @cross_device
 * @other: readings of other workloads, one element for each workload; used by predictors that have
 *	a prior
 * @others: number of elements of @other
 * @first: modes to try before all others: the one with the highest power within the limit first.
 *	Skipped are those that are no candidates, known, excluded or marked in @above, those that
 *	are not faster than the best mode, and those beyond JETWATTD_FIRST.
 * @first_w: power of each mode of @first, in W, as stated in the preset's name; NULL: unknown
 * @firsts: number of elements of @first
 *
 * The learner copies the data; it keeps no pointer into this struct.
 */
struct jetwattd_prior {
	const char *key;
	const struct jetwatt_row *row, *cross_device;
	size_t rows, nr_cross_device;
	const struct jetwatt_corpus *other;
	size_t others;
	const struct jetwatt_mode *first;
	const double *first_w;
	size_t firsts;
};

/* What the loop has to do in a step. */
enum jetwattd_step_kind {
	JETWATTD_TRY,		/* apply the mode and measure it */
	JETWATTD_TRY_EXACT,	/* as JETWATTD_TRY, but longer: the power is near the limit */
	JETWATTD_CHECK,		/* apply a known mode and measure it again */
	JETWATTD_CHECK_HERE,	/* measure the applied mode again */
};

/**
 * struct jetwattd_step - a step that the learner asks for
 * @kind: what to do
 * @mode: the mode to apply and measure
 */
struct jetwattd_step {
	enum jetwattd_step_kind kind;
	struct jetwatt_mode mode;
};

/**
 * struct jetwattd_result - result of a step
 * @outcome: the outcome
 * @reading: the reading; valid for a check with outcome JETWATTD_MEASURED
 * @jumped_ms: for a try: if the last minibatch deviated from the minibatches before it in
 *	the same mode, the length of the earlier ones, in ms; 0: the last minibatch did not
 *	deviate
 * @tried_s: for a try with outcome JETWATTD_OVER: time in the mode before the cap stepped down, in s
 * @here: for a try: 1 if the mode is still applied
 */
struct jetwattd_result {
	enum jetwattd_outcome outcome;
	struct jetwattd_reading reading;
	double jumped_ms, tried_s;
	int here;
};

/* Return value of jetwattd_learner_done(). */
enum jetwattd_follow {
	JETWATTD_FOLLOW_PLAN,	/* plan the next step */
	JETWATTD_FOLLOW_CHECK,	/* the next step is a check, which needs this step's minibatches */
	JETWATTD_FOLLOW_STOP,	/* the outcome ends the search */
};

/**
 * struct jetwattd_news - a message for the loop to pass on
 * @what: JETWATTD_STORE: @reading is to be stored in the database; JETWATTD_DRIFTED: the job has
 *	changed; JETWATTD_MIX_MOVED: the rows were computed again, because the mix of steps has changed
 * @reading: the reading
 * @is: the new reading of a mode; valid with JETWATTD_DRIFTED
 * @was: the earlier row of the same mode; valid with JETWATTD_DRIFTED
 */
struct jetwattd_news {
	enum { JETWATTD_STORE, JETWATTD_DRIFTED, JETWATTD_MIX_MOVED } what;
	struct jetwattd_reading reading;
	struct jetwatt_row is, was;
};

/**
 * struct jetwattd_cost - cost of learning, summed over all jobs
 * @seconds: total time of all learning steps, in s
 * @lost_s: part of @seconds that would have been saved by applying the best mode known at
 *	each moment, in s
 * @gain_s: time that the readings chosen by the model were expected to save: the improvement of
 *	the best mode, over the remaining time that was expected of the job, in s
 * @saved_s: time that the same readings save over the same remaining time, by the times measured,
 *	in s
 */
struct jetwattd_cost {
	double seconds, lost_s, gain_s, saved_s;
};

/**
 * struct jetwattd_drift_check - readings that show whether the job has changed
 *
 * A job has changed, or drifted, when it has other data or another minibatch size, so that earlier
 * rows no longer describe it.
 *
 * @state: JETWATTD_CHECK_JUMP: the applied mode is measured again, because the last
 *	minibatch deviated;
 *	JETWATTD_CHECK_OLD: the mode of one earlier row is measured again; JETWATTD_CHECK_PART:
 *	bisection of the rows to find the first row after the drift
 * @tried: 1: the check follows a suspicious reading; 0: the check is the regular one of the
 *	first row
 * @before_ms: for JETWATTD_CHECK_JUMP: length of the minibatches before the last one, in ms
 * @old: index of the newest row known to precede the drift
 * @now: index of the oldest row known to follow the drift
 * @mid: index of the row whose mode is being measured again
 * @was: copy of the row whose mode was measured again first
 * @first: new reading of the mode of row @was
 * @mode: mode of row @mid
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

/**
 * struct jetwattd_steps - prefill and decode steps of a server of a language model
 *
 * The requests of a server differ from one minute to the next, so times that were measured one after the
 * other cannot be compared. The rows of a server are therefore computed from the costs of its steps for
 * one mix of steps: the time of a row is that of one decode step with its share of prefills and gaps.
 *
 * @cost: costs of the steps of each row of the job; a row whose cost has no decode step is not computed
 * @max_costs: number of elements allocated
 * @window: costs of the latest readings in whatever mode, the oldest first
 * @windows: number of elements of @window in use
 * @mix: mix for which the rows are computed; valid if @windows is not 0
 * @settled: 1: @mix is of RECENT_NS or more; it stays until the mix moves
 */
struct jetwattd_steps {
	struct jetwatt_step_costs *cost, window[JETWATTD_WINDOWS];
	size_t max_costs, windows;
	struct jetwatt_token_mix mix;
	int settled;
};

/* Maximum number of news that the loop has not fetched; further news are dropped. */
#define JETWATTD_NEWS	4

/**
 * struct jetwattd_learner - readings of the job, and the state of the search for its best mode
 *
 * The loop fills in the candidates and the predictor before jetwattd_learner_open():
 * @known: candidates, predictor, and the rows of the job
 *
 * All other members belong to the learner:
 * @exclusions: for each candidate: JETWATTD_EXCLUDED if the mode exceeds the budget, or cannot be
 *	applied or measured; else the number of throttled readings and of cap events with unknown
 *	power in that mode. From JETWATTD_EXCLUDED on, the mode is excluded.
 * @above: for each candidate, 1: the mode is at least as high in all knobs as a mode that exceeded
 *	the budget. Such a mode usually exceeds the budget, too, but not always: some boards draw
 *	less power at a higher memory clock or with more cores. It is tried only if a prediction
 *	says that this pays, or if it is a preset that may draw far less than its name states.
 * @misses_deadline: for each candidate, 1: the server misses its latency limit in that mode
 * @deadline_hz: request rate at which @misses_deadline was found, in requests per second
 * @seen: state of each candidate in the last prediction, enum jetwatt_seen
 * @span: range of each knob among the candidates
 * @key: key of the job's workload, empty: the workload is not in the database
 * @budget_w: budget of the job, in W
 * @learned_j: energy used for learning the job, in J
 * @allowance: ring of the allowances of workloads
 * @spent: the element of @allowance in use
 * @at_budget: the element of @spent->share for the budget
 * @job: running time and cost of this run of the job
 * @next_allowance: number of elements of @allowance that have been filled since the start
 * @terms: limits for learning, as the loop last passed them
 * @index: indices of the candidates
 * @choice: candidates among which jetwatt_plan_next() chooses while the model cannot predict
 * @choice_at: index of each of @choice among all candidates
 * @choices: number of elements of @choice
 * @level: maximum level (jetwattd_span_level()) of modes that are tried without a prediction
 * @lowest: lowest level of a candidate that may be tried without a prediction
 * @predicted: 1: @known.prediction holds the prediction of the mode that is tried
 * @small: 1: the last predictions of this search expected at most a slight improvement, so the
 *	model chooses no further reading
 * @taken: number of tries with a complete reading in this pass; a pass begins with the job and with
 *	a drift that a check has found
 * @checked: 1: no further check of the first row of the job for a drift will be due in this pass
 * @first: indices of the candidates to be tried first, also of those that have been tried
 * @firsts: number of elements of @first
 * @first_w: power of each mode of @first, in W, as stated in the preset's name; 0: unknown
 * @run_ns: time at which learning this job began; 0: not yet
 * @ran_ns: time up to which the running time is counted in @job and @spent; 0: none yet
 * @lead_s: work of the job minus what the fastest measured preset would have done in the same time, after the
 *	first seconds of the job, in s of the preset's work; negative: the job lags behind
 * @warm_run_s: time for which the job had run when the fits began to keep hyper-parameters, in s;
 *	less than 0: they do not
 * @warm_choose_s: value of @terms.choose_s at that time
 * @by_energy: 1: modes are compared by energy in this step; 0: by time, also while the best mode misses
 *	a latency limit
 * @best_objective: time or energy of a minibatch in the best mode when the step began, in ms or mJ, depending on
 *	@by_energy; 0: no mode was known
 * @gain_s: time that this step is expected to save, in s; 0: the model did not choose it
 * @rest_s: expected remaining time of the job when the model chose this step, in s
 * @again_s: running time of the workload, in s, after which a further reading may be worth its cost
 * @cost: cost of all steps
 * @trying: index of the candidate of this step
 * @begun_ns: time at which the step began
 * @begun_j: @learned_j when the step began
 * @check: check for a drift
 * @steps: costs of the steps of each row, and the mix, if the job is a server of a language model
 * @news: news that the loop has not fetched yet, the oldest first
 * @nr_news: number of elements of @news
 */
struct jetwattd_learner {
	struct jetwatt_tuner known;
	struct jetwatt_mode_index index;

	unsigned char *exclusions, *above, *misses_deadline, *seen;
	double deadline_hz;
	struct jetwattd_span span;
	char key[17];
	double budget_w, learned_j;
	struct jetwattd_allowance allowance[JETWATTD_ALLOWANCES], *spent;
	struct jetwattd_share *at_budget, job;
	unsigned int next_allowance;
	struct jetwattd_terms terms;
	struct jetwatt_mode *choice;
	size_t *choice_at, choices;
	double level, lowest;
	int predicted, small, taken, checked;
	size_t first[JETWATTD_FIRST], firsts;
	double first_w[JETWATTD_FIRST];
	uint64_t run_ns, ran_ns;
	double lead_s, warm_run_s, warm_choose_s;
	int by_energy;
	double best_objective, gain_s, rest_s, again_s;
	struct jetwattd_cost cost;
	size_t trying;
	uint64_t begun_ns;
	double begun_j;
	struct jetwattd_drift_check check;
	struct jetwattd_steps steps;
	struct jetwattd_news news[JETWATTD_NEWS];
	int nr_news;
};

/* Allocate memory for the candidates in @l->known. Return: 0 or an exit code; the error has been
 * reported. */
int jetwattd_learner_open(struct jetwattd_learner *l);
void jetwattd_learner_close(struct jetwattd_learner *l);

/* Begin a job: forget the rows and the missed deadlines of the previous job, and load @prior.
 * jetwattd_learner_budget(), called next, forgets the excluded modes. Return: 0; or an exit code if only
 * part of @prior was loaded: the error has been reported. */
int jetwattd_learner_begin(struct jetwattd_learner *l, const struct jetwattd_prior *prior);
/* A server of workload @key has steps again after a pause. If it is the job that was learned last, its
 * rows stay, because readings of servers are not stored. Return: 1; 0: call jetwattd_learner_begin(). */
int jetwattd_learner_continue(struct jetwattd_learner *l, const char *key);
/* Learn the job for another budget. @limit_w: maximum mean power of a mode, in W. Excluded modes
 * become candidates again, but not those in which the server misses its latency limit. */
void jetwattd_learner_budget(struct jetwattd_learner *l, double budget_w, double limit_w);
/* Start a search of modes for the present job and budget. */
void jetwattd_learner_resume(struct jetwattd_learner *l, const struct jetwattd_terms *terms);

/* Choose the next step. Return: 1 if @step is filled in; 0 if no further reading is worth its
 * cost or allowed by the limits, so that the best mode is to be held. */
int jetwattd_learner_next(struct jetwattd_learner *l, const struct jetwattd_terms *terms,
			  struct jetwattd_step *step);

/* Add the reading of a mode as a row; also add the reading to the news, so that the loop counts
 * and, except of a server, stores it. Return: 0 or an exit code; the error has been reported. */
int jetwattd_learner_reading(struct jetwattd_learner *l, const struct jetwattd_reading *got);
/* The steps of a held mode show the present mix. If the mix has moved from that of the rows,
 * compute the rows again, let the next search begin at once, and add this to the news; while the
 * mix is not settled, only compute the rows. Find again in which modes the server misses a latency
 * limit. jetwattd_learner_reading() does the same. */
void jetwattd_learner_window(struct jetwattd_learner *l, const struct jetwatt_step_costs *steps);
/* A held mode of a server has been measured. If this took clearly longer than the reading of its row, let the
 * reading replace the row: a mode that was chosen for a short reading tends to be one that reads too low.
 * Return: 1: the row was replaced; 0: it was not. */
int jetwattd_learner_refine(struct jetwattd_learner *l, const struct jetwattd_reading *got);
/*
 * Return: 1 if the reading @is of a held mode is to become a row, because the mode's power is so close to the budget
 * that the mean power over an averaging window may exceed the budget at times. The mode that is held is one of many
 * that were read, and tends to be one whose power was read too low. @swing: relative standard deviation of the mean
 * power over one window.
 */
int jetwattd_wants_power(const struct jetwattd_learner *l, const struct jetwatt_row *is, double swing);
/*
 * Return: 1 if the reading @is of a held mode is to become a row, because its time is more exact than that in the
 * mode's row: the mode that is held tends to be one whose time was read too short. 0 also for a server, whose times
 * vary with its requests.
 */
int jetwattd_wants_time(const struct jetwattd_learner *l, const struct jetwatt_row *is);
/* Set @row to time and power of steps with these costs, for the present mix; before the first window,
 * for the mix of the steps themselves. The mode of @row stays. */
void jetwattd_learner_figures(const struct jetwattd_learner *l, const struct jetwatt_step_costs *steps,
			      struct jetwatt_row *row);
/* Add an estimate as a row, for a mode that was left before its reading was complete. The estimate
 * is not stored. Return: 0 or an exit code; the error has been reported. */
int jetwattd_learner_estimate(struct jetwattd_learner *l, const struct jetwatt_row *row);
/* The cap stepped down from the mode of @over. Its power becomes a row, with the time if that is not 0
 * (unknown), the mode is excluded, and modes that are at least as high in all knobs are marked in @above. If
 * the power is 0 (unknown), the mode is excluded only if a cap event or throttling has occurred in it before.
 * @keep: 1: if the time is unknown, store the row for later jobs of the workload, until jetwattd ends. */
void jetwattd_learner_over(struct jetwattd_learner *l, const struct jetwatt_row *over, int keep);
/* A mode could not be measured. @why: the outcome. With JETWATTD_HOT (throttled), the mode is excluded
 * only if throttling or a cap event has occurred in it before; with any other outcome, at once. */
void jetwattd_learner_refused(struct jetwattd_learner *l, const struct jetwatt_mode *mode,
			      enum jetwattd_outcome why);
/* A server misses its latency limit in @mode, at @hz requests per second. The mode and every
 * mode that is not higher in any knob are not measured, and are chosen only if no other mode is
 * within the limit. Return: 1 if at least one mode was newly marked as too slow, else 0. */
int jetwattd_learner_deadline_miss(struct jetwattd_learner *l, const struct jetwatt_mode *mode, double hz);
/* Forget in which modes the server misses its latency limit. */
void jetwattd_learner_forget_misses(struct jetwattd_learner *l);
/* Add the energy that a learning step has used, in J, to the cost of learning. */
void jetwattd_learner_add_energy(struct jetwattd_learner *l, double joules);

/* A step has ended. After a try, call jetwattd_learner_reading(), _estimate(), _over() or _refused()
 * first; the reading of a check is in @result. Return: how the loop has to go on. */
enum jetwattd_follow jetwattd_learner_done(struct jetwattd_learner *l,
					   const struct jetwattd_terms *terms,
					   const struct jetwattd_result *result);
/* Fetch the oldest news. Return: 1 if @news is filled in; 0 if there is no news. */
int jetwattd_learner_news(struct jetwattd_learner *l, struct jetwattd_news *news);

/* Return the row of the best mode that is not excluded and was measured to draw at most @watts, with a
 * margin for the error: the fastest one, or with @terms.least_energy the one with the least energy per
 * minibatch. A mode in which the server misses its latency limit is returned only if there is no other.
 * NULL: none. @but: a mode to leave out, may be NULL. The pointer is valid until the next call that
 * changes @l. */
const struct jetwatt_row *jetwattd_learner_best_under(const struct jetwattd_learner *l, double watts,
						  const struct jetwatt_mode *but);
/* Count the running time of the job up to now. Return: 1 if a further reading may be worth its cost,
 * else 0. */
int jetwattd_learner_is_due(struct jetwattd_learner *l, const struct jetwattd_terms *terms);

/* The job has drifted: reading @is replaces row @was of the same mode. All earlier rows are dropped; if
 * there are enough, they serve as a prior, scaled by the change of time and power. */
void jetwattd_learner_relearn(struct jetwattd_learner *l, const struct jetwattd_reading *is,
			     const struct jetwatt_row *was);

#endif
