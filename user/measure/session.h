/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A measurement session: the power of the rails and the job's waits for the GPU, in one event loop
 * and in order of time. A session is live (session*.c) or is replayed from a trace (replay.c).
 */
#ifndef JETWATT_MEASURE_SESSION_H
#define JETWATT_MEASURE_SESSION_H

#include "board/board.h"
#include "jetwatt.h"
#include "job/cgroup.h"
#include "job/child.h"
#include "util/args.h"

/**
 * struct jetwatt_session - a session
 * @jw: connection to the module; NULL: replayed
 * @probe: the probe; NULL: none
 * @join: orders samples and waits by time
 * @child: the command that was started
 * @cgroup: cgroup of the job, if the job has a cgroup of its own
 * @pid: the job's process; 0: only a cgroup is known, or there is no job
 * @epoll: descriptor of the event loop
 * @signals: signalfd of the blocked signals
 * @pidfd: descriptor of the job's process
 * @mark_fd: descriptor at which the job's marks arrive; -1: no marks are received
 * @paused: 1: samples and waits do not wake the event loop
 * @info: properties of the module
 * @rail: rails of the module
 * @nr_rails: number of rails
 * @total: indices of the rails whose sum is the total power
 * @nr_total: number of these rails
 * @scope: what the total power covers: the Jetson module, the board, a partial sum, or chosen rails
 * @config: configuration of the sampler before the session changed it
 * @rate_set: sampling rate that the session has set, Hz; 0: the session has not changed the rate
 * @running: 1: the module has sent samples
 * @missed0: number of sampler ticks that had been skipped before the session was opened or, after
 *	jetwatt_session_job(), before @begun_ns
 * @power: array of @nr_power power samples in order of time; jetwatt_session_discard()
 *	discards old ones
 * @sync: array of @nr_sync waits for the GPU in order of time, without marks
 * @mark: array of @nr_mark marks in order of time
 * @max_power, @max_sync, @max_mark: allocated lengths of @power, @sync and @mark
 * @samples: number of samples since @begun_ns
 * @lost: number of samples lost since @begun_ns
 * @waits: number of waits
 * @minibatches: number of training minibatches in the waits that jetwatt_session_forget() has discarded, which
 *	end at @counted_ns or before
 * @last_wait_ns: end of the last wait for the GPU, ns
 * @power_ns: time of the last power sample that the join has delivered, ns
 * @sampled_ns: time of the last sample that has arrived, ns
 * @alive_ns: time of the last reading of each rail of the total power, ns
 * @last_batch_ns: time at which the last batch of samples arrived, ns
 * @bus_uv: last measured bus voltage of each rail, uV
 * @sysfs: reader of the telemetry series that only sysfs provides
 * @sysfs_ns: time of the last reading of @sysfs, ns
 * @telemetry: telemetry values of the last sample
 * @stop: number of the signal that requested the end of the session; 0: none has arrived
 * @stop_by_tty: 1: the signal came from the terminal, so the command has received it too
 * @interrupted: number of the signal that requested the end; unlike @stop, not reset when
 *	the signal is passed on to the command
 * @ended: 1: the job has ended, at @ended_ns
 * @out_of_memory: 1: memory for samples, waits, marks or what is computed from them was short
 * @failed: 1: the session cannot continue: see jetwatt_session_error()
 * @silent: 1: no samples have arrived for too long
 * @failed_rail: index of a rail of the total power that has failed; -1: no rail has failed
 * @begun_ns: time at which the job was started or, of a job that ran already, at which its
 *	measurement began, ns
 * @ended_ns: end of the job
 * @on_power: called for every sample in order; may be NULL
 * @arg: passed to @on_power
 * @recorder: trace that records samples, waits and readings as they arrive; may be NULL
 * @missed: in a replayed session: number of sampler ticks that were skipped
 * @waits_lost: in a replayed session: number of waits that were lost
 * @trace_state: in a replayed session: state of the probe as the trace tells it
 * @chip, @nr_chips: in a replayed session: the sensor chips
 * @why: exit code for the verb, if the caller has set @failed and printed an error
 * @explain: 1: record for each wait why a minibatch ends with it or not
 */
struct jetwatt_session {
	struct jetwatt *jw;
	struct jetwatt_probe *probe;
	struct jetwatt_join *join;
	struct jetwatt_child child;
	struct jetwatt_cgroup cgroup;
	pid_t pid;
	int epoll, signals, pidfd, mark_fd, paused;

	struct jetwatt_info info;
	struct jetwatt_rail rail[JETWATT_RAILS_MAX];
	int nr_rails, total[JETWATT_RAILS_MAX], nr_total;
	const char *scope;
	struct jetwatt_config config;
	uint32_t rate_set;
	int running;
	uint64_t missed0;

	struct jetwatt_power *power;
	size_t nr_power, max_power;
	struct jetwatt_sync *sync;
	size_t nr_sync, max_sync;
	struct jetwatt_sync *mark;
	size_t nr_mark, max_mark;
	uint64_t samples, lost, waits, last_wait_ns, power_ns, sampled_ns;
	size_t minibatches;
	uint64_t counted_ns;
	uint64_t alive_ns[JETWATT_RAILS_MAX], last_batch_ns;
	int32_t bus_uv[JETWATT_RAILS_MAX];
	struct jetwatt_sysfs *sysfs;
	uint64_t sysfs_ns;
	struct jetwatt_telemetry telemetry;

	int stop, stop_by_tty, interrupted;
	int ended, out_of_memory, failed, silent, failed_rail;
	uint64_t begun_ns, ended_ns;
	void (*on_power)(const struct jetwatt_power *p, void *arg);
	void *arg;
	struct jetwatt_trace_writer *recorder;
	uint64_t missed, waits_lost;
	struct jetwatt_probe_state trace_state;
	struct jetwatt_chip chip[JETWATT_RAILS_MAX];
	int nr_chips;
	int why, explain;
};

/* Wait at most 100 times 50 ms, which is 5 s, for the module's first samples. */
#define JETWATT_SESSION_FIRST_POLL_MS	50
#define JETWATT_SESSION_FIRST_POLLS	100

/* Add a descriptor to the event loop. Return: 0; or a negative errno. */
int jetwatt_session_add(struct jetwatt_session *w, int fd);

/* Initialise a session without opening anything, so that jetwatt_session_close() may be called. */
void jetwatt_session_init(struct jetwatt_session *w);

/**
 * jetwatt_session_open() - open the module and subscribe to samples
 * @w: the session; close it with jetwatt_session_close(), also after an error
 * @board: knows which rails make up the total
 * @rate_hz: sampling rate, Hz; 0: do not change the configured rate
 *
 * Blocks SIGINT, SIGQUIT, SIGTERM and, unless it is ignored, SIGHUP: from then on these signals set
 * @stop. Prints an error.
 *
 * Return: exit code.
 */
int jetwatt_session_open(struct jetwatt_session *w, const struct jetwatt_board *board,
		       unsigned int rate_hz);

/*
 * Use the rails named in @list, such as "A,B", for the total power instead of the board's default
 * rails. Prints an error. Return: exit code.
 */
int jetwatt_session_select_rails(struct jetwatt_session *w, const char *list);

/*
 * Attach the probe to a running job, or start a command as the job. Prints an error. Return: exit
 * code; 126 or 127 if the command cannot be executed.
 */
int jetwatt_session_job(struct jetwatt_session *w, const struct jetwatt_args_job *job);

/* Callbacks through which samples, waits and readings arrive. @session: the struct
 * jetwatt_session. */
void jetwatt_session_samples(const struct jetwatt_samples *s, void *session);
void jetwatt_session_wait(const struct jetwatt_sync *s, void *session);
void jetwatt_session_reading(const struct jetwatt_reading *r, void *session);

/* Read the telemetry series in sysfs if @now is 1 or the last reading is more than one second
 * old. */
void jetwatt_session_read_sysfs(struct jetwatt_session *w, int now);

/* Make the join deliver its samples and waits to the session @w. */
void jetwatt_session_join(struct jetwatt_session *w);

/*
 * Run the event loop for @ms milliseconds, or until the job ends, a signal arrives or the session
 * fails. If the job had ended or a signal had arrived before the call, only a failure ends the loop
 * early. Return: 0; 1 if @ended, @stop or @failed of the session is set.
 */
int jetwatt_session_run(struct jetwatt_session *w, int ms);

/*
 * Wait for @ms (less if the job ends or a signal arrives), then handle the samples and waits that
 * have arrived. This function costs less CPU time than jetwatt_session_run(), because a wake-up
 * costs more than the handling of a record. Return: as jetwatt_session_run().
 */
int jetwatt_session_sleep(struct jetwatt_session *w, int ms);

/* After the end of the job: run the event loop until a sample has arrived that is more than @later_ns
 * later than the job's end (at most 2 s), then deliver the records that the join holds back. */
void jetwatt_session_finish(struct jetwatt_session *w, uint64_t later_ns);

/* For jetwatt_session_finish() if it is not known how old the values of the sensors are, ns. */
#define JETWATT_SESSION_LATER_NS	1000000000ull

/* Discard the power samples before @before_ns, except the last of these samples. */
void jetwatt_session_discard(struct jetwatt_session *w, uint64_t before_ns);

/*
 * If very many waits are stored, count their minibatches and discard them and all marks, except the last
 * @keep waits. A search calls this function between two modes, so that its memory does not grow with the
 * duration of the search.
 */
void jetwatt_session_forget(struct jetwatt_session *w, size_t keep);

/* Return: number of waits that the probe lost, plus the records (waits, or power samples) that the
 * join discarded because they arrived too late or memory was short. */
uint64_t jetwatt_session_waits_lost(const struct jetwatt_session *w);

/* Read the state of the probe, which tells how the waits were detected. */
void jetwatt_session_probe_state(const struct jetwatt_session *w, struct jetwatt_probe_state *st);

/* Return: number of training minibatches found in the waits since the start of the session. */
size_t jetwatt_session_minibatches(const struct jetwatt_session *w);

/* Return: total power of a sample, W. */
double jetwatt_session_total(const struct jetwatt_session *w, const struct jetwatt_power *p);

/* Format the rails of the total, "VDD_GPU_SOC + VDD_CPU_CV" for instance. Return: @buf. */
const char *jetwatt_session_scope(const struct jetwatt_session *w, char *buf, size_t len);

/* Print why the session cannot continue, unless a signal has stopped it or @why is set. Return:
 * exit code. */
int jetwatt_session_error(const struct jetwatt_session *w);

/* Return: number of ticks that the module's sampler has skipped since @missed0 was read, 0 if it
 * cannot be read; of a replayed session, in the recorded run. */
uint64_t jetwatt_session_missed(struct jetwatt_session *w);

/* End the command, if it has not ended: SIGTERM to its process, then to the processes that it has
 * started and left in its cgroup; SIGKILL to those that have not ended 10 s later. Blocks. */
void jetwatt_session_end_command(struct jetwatt_session *w);

/* Restore the sampling rate, unless another program has changed it since; close the session and
 * free its memory. */
void jetwatt_session_close(struct jetwatt_session *w);

#endif
