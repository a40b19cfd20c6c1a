/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State and functions of the main loop: the running job, its readings, and the other processes that
 * use the GPU. These functions are shared by the files that the loop's thread runs; unless a
 * comment says otherwise, only that thread calls these functions, without holding jetwattd's lock.
 */
#ifndef JETWATTD_LOOP_H
#define JETWATTD_LOOP_H

#include "daemon/jetwattd.h"
#include "daemon/learner.h"

#include "tune/tuner.h"

/* Maximum number of GPU processes that are tracked. */
#define JETWATTD_PROCESSES_MAX	16
/* Number of consecutive checks, about 1 s apart, after which a change of the co-running processes
 * counts. */
#define JETWATTD_CORUNNERS_CHECKS	3
/* Size of the text that lists the commands of the co-running jobs, in bytes; a longer list is cut off. */
#define JETWATTD_CORUNNERS_LEN	160
/* Minimum number of stored readings of a workload that counts as known. */
#define JETWATTD_KNOWN	4
/* A process whose last wait for the GPU is older than this, in ns, does not become the job. */
#define JETWATTD_JOB_NS	5000000000ull

/**
 * struct jetwattd_seen - a process that waits for the GPU
 * @pid: process id
 * @last_ns: end of the process's last wait for the GPU, ns, CLOCK_MONOTONIC
 * @waited_ns: total duration of the process's recent waits for the GPU, ns
 * @cycle_ns: longest recent time from the end of one wait to the end of the next one, ns; each wait
 *	after a shorter time reduces the value by up to 1/8
 * @born: start time of the process in clock ticks, to detect that the pid was reused
 * @waits: number of the process's recent waits for the GPU. A pause of JETWATTD_JOB_NS
 *	resets @waits, @waited_ns and @cycle_ns; detaching its job resets the first two.
 * @opaque: 1: the minibatches of the process cannot be recognised, so it is not learned
 * @known: 1: the database has at least JETWATTD_KNOWN readings of the process's workload; 0: it has
 *	fewer; -1: not looked up yet
 * @serves: 1: the process belongs to the server of the policy's "turns" line; 0: it does not
 *	belong to the server; -1: not looked up yet
 */
struct jetwattd_seen {
	pid_t pid;
	uint64_t last_ns, waited_ns, cycle_ns, born;
	unsigned int waits;
	int opaque, known, serves;
};

/**
 * struct jetwattd_ramp - the ramp: how far the mode has been raised without a known job
 *
 * After a cap event without a job, and after the state "blind", the loop raises the mode level by
 * level within the budget, from the lowest mode to the highest one and then to that of the state "idle".
 *
 * @on: 1: the ramp is active
 * @level: current ramp level, 0: the lowest mode
 * @max_level: highest ramp level allowed, limited by the last cap event
 * @logged: 1: the log says that the ramp is active
 * @fell_ns: time of the last cap event on the ramp, ns
 * @since_ns: time at which the ramp became active, ns
 * @below_w: power on the level below the current one, in W; 0: unknown
 */
struct jetwattd_ramp {
	int on, level, max_level, logged;
	uint64_t fell_ns, since_ns;
	double below_w;
};

/* Maximum number of processes for which the lowest mode is held while power samples are missing. */
#define JETWATTD_HELD	(2 * JETWATTD_PROCESSES_MAX)
/**
 * struct jetwattd_held - processes for which the lowest mode is held
 * @pid: process ids
 * @fd: a pidfd of each
 * @nr: number of processes
 */
struct jetwattd_held {
	pid_t pid[JETWATTD_HELD];
	int fd[JETWATTD_HELD], nr;
};

struct jetwattd_minibatch;
struct jetwattd_timeshare_thread;

/* Relative standard error above which the time in a row is uncertain, as after only part of a minibatch. */
#define JETWATTD_COARSE_SD	0.02

/**
 * struct jetwattd_backoff - exponential back-off after cap events in held modes
 * @last_ns: time of the last back-off, ns, 0: there was none
 * @seconds: duration of the next back-off, in s
 * @cap_events: number of back-offs since the last ten minutes without one, since a drift, or since
 *	jetwattd_learn_and_hold() was called
 */
struct jetwattd_backoff {
	uint64_t last_ns;
	double seconds;
	int cap_events;
};

/**
 * struct jetwattd_run - everything that the main loop works with
 * @d: state shared with the other threads
 * @session: measurement session: samples of all rails, and the waits of the job
 * @learner: readings of the job, and the choice of the mode to try next
 * @store: profile database
 * @seen: processes that wait for the GPU
 * @ramp: state of the ramp, which raises the mode level by level while no job is known
 * @minibatch: recorder of the job's minibatches
 * @timeshare: time slicing of training and a server; NULL: none
 * @serves: 1: the job is the server of the policy's line "tokens"
 * @cgroup: cgroup of the job as in /proc/PID/cgroup; empty: no job
 * @corunners: commands that used the GPU too when the job's workload was looked up; they are part
 *	of the workload's identity
 * @apart: number of consecutive checks in which the co-running commands differed from @corunners
 * @hangup: signalfd of SIGHUP; -1: not open
 * @reloaded: 1: the policy was reloaded, and the loop has not acted on it yet
 * @held: while power samples are missing, the lowest mode is held until these processes have ended
 * @housekeeping_ns: time of the last housekeeping, ns
 * @slow_housekeeping_ns: time of the last housekeeping that included its slow parts, ns
 * @retry_ns: interval between attempts to reach the module while blind, ns
 * @retried_ns: time of the last successful attempt to reach the module while blind, ns
 * @decay: decay times of power that earlier switches of mode on this board have shown
 * @budget_w: budget that the job is learned for, in W
 * @cap_w: limit of the short averaging window that the job is learned for, in W
 * @choose_s: CPU time that choices of readings have taken for the present job, in s
 * @preset: modes of the vendor's presets whose name states a power and that need no reboot
 * @preset_w: power that each preset's name states, in W
 * @presets: number of presets
 */
struct jetwattd_run {
	struct jetwattd *d;
	struct jetwatt_session session;
	struct jetwattd_learner learner;
	struct jetwatt_profile_store store;
	struct jetwattd_seen seen[JETWATTD_PROCESSES_MAX];
	struct jetwattd_ramp ramp;
	struct jetwattd_minibatch *minibatch;
	struct jetwattd_timeshare_thread *timeshare;
	char cgroup[256], corunners[JETWATTD_CORUNNERS_LEN];
	int serves, apart, hangup, reloaded;
	struct jetwattd_held held;
	uint64_t housekeeping_ns, slow_housekeeping_ns, retry_ns, retried_ns;
	struct jetwatt_batch_decay decay;
	double budget_w, cap_w, choose_s;
	struct jetwatt_mode preset[JETWATTD_FIRST];
	double preset_w[JETWATTD_FIRST];
	size_t presets;
};

/* housekeeping.c: do the periodic work, such as watchdog, policy reload and budget of the hour. The
 * function does nothing if the last housekeeping was less than 1 s ago. */
void jetwattd_housekeeping(struct jetwattd_run *r);
/* Return: 1 if the current activity has to stop, because the budget, the limit of the short window
 * or the co-running jobs have changed, jetwattd pauses, yields or ends, power samples are missing,
 * or the job has ended; else 0. */
int jetwattd_changed(struct jetwattd_run *r);
/* List the commands of the jobs that use the GPU besides the job, sorted; the text is empty if
 * there are none. */
void jetwattd_corunners(const struct jetwattd_run *r, char *text, size_t len);
/* Enter a state, unless jetwattd_enter() refuses it. */
void jetwattd_doing(struct jetwattd_run *r, enum jetwattd_doing doing);

/* Return: 1 if the loop cannot go on, because jetwattd is to end or power samples are missing;
 * else 0. */
int jetwattd_stopped(const struct jetwattd_run *r);
/* Collect samples and waits for at most @max_s seconds and at most 250 ms, then do the
 * housekeeping. */
void jetwattd_poll(struct jetwattd_run *r, double max_s);
/* Sleep, and do the housekeeping meanwhile, until @seconds have passed or jetwattd_changed()
 * returns 1. Return: jetwattd_changed(). */
int jetwattd_sleep(struct jetwattd_run *r, double seconds);
/* Drop old waits of the job; the newest ones stay, to recognise minibatches. */
void jetwattd_forget_waits(struct jetwattd_run *r);
/* seen.c: callback of the probe for each wait for the GPU of any process. @run: struct
 * jetwattd_run. */
void jetwattd_on_wait(const struct jetwatt_sync *s, void *run);
/* Return the entry of a process; a new process replaces the one whose last wait is the oldest. */
struct jetwattd_seen *jetwattd_seen_find(struct jetwattd_run *r, pid_t pid);
/* Return: 1 if the process is in the process group of the job. */
int jetwattd_in_job(const struct jetwattd_run *r, pid_t pid);
/* Find a process that is to become the job: it has waited for the GPU three times or for 0.5 s,
 * or once if the database has JETWATTD_KNOWN readings of its workload; its last wait is at most
 * JETWATTD_JOB_NS old. Leaves out jetwattd, the server of the "turns" line, processes whose @opaque
 * is 1, and those that have ended. Return: its pid, 0: none. */
pid_t jetwattd_find_job(struct jetwattd_run *r);

/* idle.c: while there is no job, apply the policy's idle mode, or restore the board. */
void jetwattd_idle(struct jetwattd_run *r);
/* @paused: set to 1 if a pause is requested, else to 0. Return: 1 if jetwattd yields to another
 * process or is to pause, else 0. */
int jetwattd_must_yield(struct jetwattd_run *r, int *paused);
/* Detach from the job; if a pause is requested, restore the board. Apply no mode until jetwattd is
 * resumed, or the job that ran at the time of the call has ended; if @busy of the actuator is 1,
 * for about 2 s. Then, or when jetwattd_stopped() returns 1, call jetwattd_idle(). */
void jetwattd_wait_for_board(struct jetwattd_run *r);

/* blind.c: hold the lowest mode while a process that uses the GPU lives or the ramp is active. Return: 1
 * if the module answers again, which does not show that its sensors answer; 0 if no such process
 * lives and the ramp is off, if budget, policy, a pause or another process ends the hold, or if
 * jetwattd is to end. */
int jetwattd_blind_hold(struct jetwattd_run *r);
/* Close the descriptors of jetwattd_blind_hold(). */
void jetwattd_blind_end(struct jetwattd_run *r);

/* job_hold.c: attach to a process as the job and load the stored readings of its workload.
 * Return: 0, negative errno. */
int jetwattd_attach_job(struct jetwattd_run *r, pid_t pid);
/* Detach from the job. */
void jetwattd_detach_job(struct jetwattd_run *r);
/* Learn the job for the present budget, then hold it in its best mode. Return: why it stopped. */
enum jetwattd_outcome jetwattd_learn_and_hold(struct jetwattd_run *r);

/* measure_current.c: measure the mode that is applied. @mode: that mode. @got: the reading.
 * Return: the outcome; @got is filled in completely with the outcomes JETWATTD_MEASURED and
 * JETWATTD_SHARED, and contains the power that the cap measured with the outcome JETWATTD_OVER. */
enum jetwattd_outcome jetwattd_measure(struct jetwattd_run *r, const struct jetwatt_mode *mode,
				    const struct jetwatt_measure_limits *limits,
				    struct jetwattd_reading *got);
/* measure_steps.c: for jetwattd_measure(): measure the steps of a server in the applied mode. Return: as
 * jetwatt_measure_mode(). */
int jetwattd_measure_steps(struct jetwattd_run *r, const struct jetwatt_measure_limits *limits,
			   struct jetwattd_reading *got);
/* Tell the measurement that follows the next switch when the applied mode was applied, and the time
 * of a minibatch in it, if that is known well enough. The caller holds the lock. */
void jetwattd_mode_before(const struct jetwattd_run *r, struct jetwatt_measure_limits *limits);
/* Apply a mode that has been measured before and measure it again. Return: as jetwattd_measure(), or
 * JETWATTD_REFUSED. */
enum jetwattd_outcome jetwattd_remeasure(struct jetwattd_run *r, const struct jetwatt_mode *mode,
					  const struct jetwatt_measure_limits *limits,
					  struct jetwattd_reading *got);
/* Measure the applied mode from the minibatches that are counted for the metrics, at less CPU
 * time than jetwattd_measure(). Return: number of minibatches; 0 if there are too few, if they
 * deviate from the earlier ones, if the cap has intervened, if the co-running jobs differ, or if
 * the loop has to stop. */
size_t jetwattd_quick_check(struct jetwattd_run *r, const struct jetwatt_measure_limits *limits,
		       struct jetwatt_row *row);
/* Return: 1 if the clocks were below those of the applied @mode, which a temperature or current limit
 * is assumed to have caused; the function logs and counts that. */
int jetwattd_throttled(struct jetwattd_run *r, const struct jetwatt_mode *mode);

/* try_mode.c: apply a mode, measure it, and pass the result to the learner and the database. @tried_s: set if
 * the outcome is JETWATTD_OVER, as in struct jetwattd_result. Return: the outcome. */
enum jetwattd_outcome jetwattd_try_mode(struct jetwattd_run *r, const struct jetwatt_mode *mode,
				   const struct jetwatt_measure_limits *limits, double *tried_s);
/* Return the row of the best mode measured to be within the limit of the cap, NULL if there is none; the
 * pointer is valid until the learner changes. The function also sets the mode to which the cap may step
 * down. */
const struct jetwatt_row *jetwattd_best_mode(struct jetwattd_run *r);

/* news.c: add a reading to the learner and, except of a server, to the database. Return: 0 or an exit
 * code; the error has been reported. */
int jetwattd_store_reading(struct jetwattd_run *r, const struct jetwattd_reading *got);
/* Pass the learner's news to the database, the counters and the log. */
void jetwattd_handle_news(struct jetwattd_run *r);
/* Exclude a mode that was over the budget, as jetwattd_learner_over(), and store its reading in the database. */
void jetwattd_exclude_mode(struct jetwattd_run *r, const struct jetwattd_reading *got);

/* cap_recovery.c: wait until the overshoot of the last cap event is repaid, at most one averaging
 * window, then apply the best mode within the limit, if any, other than the one that the cap left.
 * @held: if this mode is the best one, it is not applied; may be NULL. Return: 1: jetwattd_changed(). */
int jetwattd_recover(struct jetwattd_run *r, const struct jetwatt_mode *held);
/* Wait until the overshoot has left the averaging window. Return: 1: jetwattd_changed(). */
int jetwattd_wait_window(struct jetwattd_run *r);
/* Back off from a held mode after a cap event: for @b->seconds, apply the best mode other than the one
 * that the cap left last, but never the held mode. @got: the incomplete reading of the held mode,
 * which the cap event ended. Return: 1: jetwattd_changed(). */
int jetwattd_back_off(struct jetwattd_run *r, struct jetwattd_backoff *b,
		      const struct jetwattd_reading *got);
/* Used while no job is known: start the ramp after a cap event, and raise the mode by one level
 * if power allows. Return: 1 if the ramp has passed its last level, or is active without a budget,
 * so the board may be restored. */
int jetwattd_ramp(struct jetwattd_run *r);
/* End the ramp, because the board is restored or a job begins. */
void jetwattd_ramp_end(struct jetwattd_run *r);

/* reload.c: receive SIGHUP by a descriptor, so that it no longer ends jetwattd, unless SIGHUP is
 * ignored. Call this function once, before any thread and any session exists. Return: 0 or an exit
 * code; the error has been reported. */
int jetwattd_reload_open(struct jetwattd_run *r);
/* Reload the policy if SIGHUP has arrived. A policy that cannot be used changes nothing. */
void jetwattd_reload(struct jetwattd_run *r);

/* minibatch.c: record the job's minibatches as they end, with their energy. Return: the recorder;
 * NULL: no memory. */
struct jetwattd_minibatch *jetwattd_minibatch_new(struct jetwattd_run *r);
void jetwattd_minibatch_free(struct jetwattd_minibatch *m);
/* Discard all recorded minibatches, because another job or workload follows. */
void jetwattd_minibatch_forget(struct jetwattd_minibatch *m);
/* Add a wait of the job for the GPU to the recorder of minibatches. */
void jetwattd_minibatch_wait(struct jetwattd_minibatch *m, const struct jetwatt_sync *s);
/* Find the period of the minibatches again, if it is unknown, if it was last determined 20 to 160 s
 * ago, or if lengths of minibatches deviate. */
void jetwattd_minibatch_learn(struct jetwattd_minibatch *m);
/* Start a mean over the next minibatches, at most 2048. Minibatches with a pause do not count. */
void jetwattd_minibatch_start_mean(struct jetwattd_minibatch *m);
/* Return: 1 if the last minibatches deviate in length from those before
 * jetwattd_minibatch_start_mean(). */
int jetwattd_minibatch_deviates(const struct jetwattd_minibatch *m);
/* Return: if the last minibatch deviates from the first ones in this mode, the length of these
 * first ones, in ms; 0 if it does not deviate, if there are too few minibatches, or if the first ones
 * differ from each other. */
double jetwattd_minibatch_last_deviates(const struct jetwattd_minibatch *m);
/* Compute the mean since jetwattd_minibatch_start_mean(). @row: set to the mean time and power,
 * may be NULL. Return: number of minibatches. */
size_t jetwattd_minibatch_mean(const struct jetwattd_minibatch *m, struct jetwatt_row *row);

/* timeshare.c: start or stop the time slicing, as the policy, a pause and the two cgroups demand;
 * with a "turns" line, also check the server's deadline. */
void jetwattd_timeshare(struct jetwattd_run *r);
/* End the time slicing and thaw both cgroups. */
void jetwattd_timeshare_end(struct jetwattd_run *r);

/* server_deadline.c: if the server misses its latency limit in the applied mode, exclude this mode
 * and every mode that is not higher in any knob. Return: 1: at least one mode was newly excluded;
 * 0: no missed limit was found, or all modes to exclude were excluded already. */
int jetwattd_deadline_miss(struct jetwattd_run *r);
/* A window of the time slicing has ended. @switched: 1 if the mode was switched during the
 * window. The thread of the time slicing calls this function and holds the lock. */
void jetwattd_deadline_window(struct jetwattd *d, int switched);
/* Add an estimate as a row for the applied mode, which is left because of a missed deadline before
 * its reading is complete. Return: 0 or an exit code; the error has been reported. */
int jetwattd_deadline_estimate(struct jetwattd_run *r);
/* Wait until a window has ended after the last switch, so that the server has answered the earlier
 * requests; at most 2 s, or until jetwattd_changed(). */
void jetwattd_deadline_catch_up(struct jetwattd_run *r);
/* Check the server's deadline periodically, and allow the excluded modes again when the request
 * rate has dropped. */
void jetwattd_deadline_check(struct jetwattd_run *r);

/* presets.c: read the vendor's presets from the board's nvpmodel.conf. */
void jetwattd_presets(struct jetwattd_run *r);
/* search.c: measure modes until the learner asks for no more. Return: JETWATTD_MEASURED if the
 * search is complete; else the outcome that stopped the search. */
enum jetwattd_outcome jetwattd_search(struct jetwattd_run *r);
/* Fill in the limits that hold now for learning the job. */
void jetwattd_terms(struct jetwattd_run *r, struct jetwattd_terms *terms);

#endif
