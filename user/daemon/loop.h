/* SPDX-License-Identifier: GPL-2.0-only */
/* The loop's inside: the job that runs, and what is known of it. */
#ifndef JETWATTD_LOOP_H
#define JETWATTD_LOOP_H

#include "daemon/jetwattd.h"
#include "daemon/learner.h"

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

/* Backing off from modes that the cap has left: the last time at @last_ns, the next one for
 * @seconds, @trips times without a long pause between. */
struct jetwattd_backing {
	uint64_t last_ns;
	double seconds;
	int trips;
};

/**
 * struct jetwattd_run - what the loop works with
 * @watch: all rails, everybody's waits; those of the job are kept
 * @learner: what is known of the job, and what to try next
 * @keep: the profile database
 * @seen: who else there is
 * @ladder: of work that is no job's
 * @minibatch: the job's, as they end
 * @interleaver: has it take turns with a server
 * @tended_ns: when we last looked after the rest; @seldom_ns: at what takes its time
 * @cgroup: of the job, as in /proc/PID/cgroup; empty: no job
 * @beside: who worked on the GPU as well when the job's workload was looked up, which they are
 *	part of; @apart: how often in a row it was somebody else
 * @hangup: descriptor that tells of SIGHUP; @reloaded: the policy is another one now
 * @decay: how power settles on this board
 * @held: while blind; @retry_ns: interval of attempts to reach the module while blind; @retried_ns: of the last one
 * @budget_w: that the job is learned for and held within
 * @preset, @preset_w, @presets: of the vendor, and what they are named for
 */
struct jetwattd_run {
	struct jetwattd *d;
	struct jetwatt_watch watch;
	struct jetwattd_learner learner;
	struct jetwatt_keep keep;
	struct jetwattd_seen seen[JETWATTD_SEEN];
	struct jetwattd_ladder ladder;
	struct jetwattd_minibatch *minibatch;
	struct jetwattd_interleaver *interleaver;
	char cgroup[256], beside[JETWATTD_BESIDE];
	int apart, hangup, reloaded;
	struct jetwattd_held held;
	uint64_t tended_ns, seldom_ns, retry_ns, retried_ns;
	struct jetwatt_batch_decay decay;
	double budget_w;
	struct jetwatt_mode preset[JETWATTD_FIRST];
	double preset_w[JETWATTD_FIRST];
	size_t presets;
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

/* try_mode.c: switch to a mode and measure it; the learner and the database get what it was. */
enum jetwattd_outcome jetwattd_try(struct jetwattd_run *r, const struct jetwatt_mode *mode,
				   const struct jetwatt_measure_limits *limits);
/* A reading is known from now on, and stored. Return: exit code, said. */
int jetwattd_keep(struct jetwattd_run *r, const struct jetwattd_reading *got);
/* Pass on what the learner has to tell: to the database, the counts, the journal. */
void jetwattd_pass_on(struct jetwattd_run *r);
/* The fastest mode measured to be within the budget, NULL: none. The cap is told where it may step
 * down to. */
const struct jetwatt_row *jetwattd_best(struct jetwattd_run *r);
/* The mode is over the budget, and so is every mode that is higher in all knobs. */
void jetwattd_forbid(struct jetwattd_run *r, const struct jetwattd_reading *got);

/* cap_recovery.c: what follows a step down of the cap. Up again, to another mode than the one it
 * left, once the overshoot is repaid. Return: 1: there is something else to do. */
int jetwattd_climb(struct jetwattd_run *r);
/* Wait until the overshoot has left the window. Return: 1: there is something else to do. */
int jetwattd_let_out(struct jetwattd_run *r);
/* From a mode that was held, in a lower one for a while. Return: as above. */
int jetwattd_back_off(struct jetwattd_run *r, struct jetwattd_backing *b,
		      const struct jetwattd_reading *got);
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

/* In a job's own working time: quicker readings than those of a profile. */
extern const struct jetwatt_measure_limits jetwattd_quick;
/* presets.c: which ones there are, by the board's nvpmodel.conf. */
void jetwattd_presets(struct jetwattd_run *r);
/* search.c: learn what is worth it, unless that was done for this budget before. Return: how
 * it ended. */
enum jetwattd_outcome jetwattd_seek(struct jetwattd_run *r);
/* By what the job is learned now. */
void jetwattd_terms(struct jetwattd_run *r, struct jetwattd_terms *terms);

#endif
