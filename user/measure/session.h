/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Watching a job: the rails' power and the job's waits for the GPU, in one
 * event loop, in order of time.
 */
#ifndef JETWATT_MEASURE_SESSION_H
#define JETWATT_MEASURE_SESSION_H

#include "board/board.h"
#include "jetwatt.h"
#include "job/cgroup.h"
#include "job/child.h"
#include "util/args.h"

/**
 * struct jetwatt_watch - what has been seen
 * @rail, @nr_rails: of the module; @total, @nr_total: those whose sum counts;
 *	@scope: what that sum covers
 * @rate_set: the rate that we have set, 0: none; @config: what was before
 * @running: the module has sent something
 * @deaf: the streams do not wake the loop
 * @power, @sync, @mark: in order of time; marks are no waits; jetwatt_watch_drop() forgets old samples
 * @samples, @lost: samples received since @begun_ns; known to be missing
 * @waits: waits seen in all; @last_wait_ns: when the last one ended
 * @power_ns: time of the last power sample
 * @begun_ns: the job was let go, or the probe was attached to it
 * @stop: the signal that asked us to end, 0: none
 * @cgroup: the job's, where there is one; @pid is 0 if that was all we were told
 * @mark_fd: where the job's marks arrive, -1: nowhere
 * @interrupted: there was a signal, even if it was passed on
 * @ended: the job is gone, since @ended_ns
 * @bus_uv: of each rail, as read last
 * @heard_ns, @silent: when samples came last; it is too long ago
 * @dead: a rail of the total that has stopped answering, -1: none
 * @sysfs: series that the module does not read; @looked_ns: when it was read last
 * @telemetry: of the last sample
 * @on_power, @arg: called for every sample in order, may be NULL
 * @tee: gets both streams as they come, may be NULL
 * @missed, @waits_lost, @told: what a trace tells, where there are no module and
 *	no probe
 * @why: exit code: the caller has set @failed, and has said why
 * @explain: keep a record of the decision about each wait
 */
struct jetwatt_watch {
	struct jetwatt *jw;
	struct jetwatt_probe *probe;
	struct jetwatt_join *join;
	struct jetwatt_child child;
	struct jetwatt_cgroup cgroup;
	pid_t pid;
	int epoll, signals, pidfd, mark_fd, deaf;

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
	uint64_t samples, lost, waits, last_wait_ns, power_ns;
	uint64_t alive_ns[JETWATT_RAILS_MAX], heard_ns;
	int32_t bus_uv[JETWATT_RAILS_MAX];
	struct jetwatt_sysfs *sysfs;
	uint64_t looked_ns;
	struct jetwatt_telemetry telemetry;

	int stop, stop_by_tty, interrupted;
	int ended, out_of_memory, failed, silent, dead;
	uint64_t begun_ns, ended_ns;
	void (*on_power)(const struct jetwatt_power *p, void *arg);
	void *arg;
	struct jetwatt_trace_writer *tee;
	uint64_t missed, waits_lost;
	struct jetwatt_probe_state told;
	int why, explain;
};

/* The module has so many turns of so long to send its first samples: 5 s. */
#define JETWATT_WATCH_TURN_MS	50
#define JETWATT_WATCH_TURNS	100

/* Another descriptor for the loop. Return: 0, negative errno. */
int jetwatt_watch_add(struct jetwatt_watch *w, int fd);

/* Nothing is open: jetwatt_watch_close() may be called. */
void jetwatt_watch_init(struct jetwatt_watch *w);

/**
 * jetwatt_watch_open() - reach the module, subscribe to the rails
 * @board: knows the rail graph
 * @rate_hz: 0: as configured, which is the highest possible one unless
 *	somebody chose another
 *
 * Blocks SIGINT, SIGQUIT, SIGTERM and SIGHUP: from here on they set @stop. Says what
 * is wrong. Return: exit code.
 */
int jetwatt_watch_open(struct jetwatt_watch *w, const struct jetwatt_board *board,
		       unsigned int rate_hz);

/* The rails of @list, "A,B", in place of those that make up the total. Says what
 * is wrong. Return: exit code. */
int jetwatt_watch_choose(struct jetwatt_watch *w, const char *list);

/* Attach the probe to a running job or start one. Return: exit code; 126 and
 * 127 for a command that cannot be executed. */
int jetwatt_watch_job(struct jetwatt_watch *w, const struct jetwatt_args_job *job);

/* Where samples and waits come in. @watch: struct jetwatt_watch. */
void jetwatt_watch_samples(const struct jetwatt_samples *s, void *watch);
void jetwatt_watch_wait(const struct jetwatt_sync *s, void *watch);

void jetwatt_watch_reading(const struct jetwatt_reading *r, void *watch);

/* Read the series of sysfs, if that was not done in the last second or @now. */
void jetwatt_watch_look(struct jetwatt_watch *w, int now);

/* What the join puts in order goes to @w. */
void jetwatt_watch_join(struct jetwatt_watch *w);

/* Gather for @ms, less if something ends. Return: 0; 1: @stop or @ended or
 * @failed is set. */
int jetwatt_watch_run(struct jetwatt_watch *w, int ms);

/* The same in one go after @ms, for who is in no hurry: each wait and each batch that wakes us
 * costs more than all that is in it. */
int jetwatt_watch_rest(struct jetwatt_watch *w, int ms);

/* After the end of the job: gather until a sample lies behind it. */
void jetwatt_watch_settle(struct jetwatt_watch *w);

/* Forget power samples before @before_ns, but the one that leads up to it. */
void jetwatt_watch_drop(struct jetwatt_watch *w, uint64_t before_ns);

/* Waits that are missing: no room in the probe's buffer, or we came too late. */
uint64_t jetwatt_watch_waits_lost(const struct jetwatt_watch *w);

/* How they were seen. */
void jetwatt_watch_seen(const struct jetwatt_watch *w, struct jetwatt_probe_state *st);

/* Minibatches in all waits so far. */
size_t jetwatt_watch_minibatches(const struct jetwatt_watch *w);

/* Total power of a sample in W. */
double jetwatt_watch_total(const struct jetwatt_watch *w, const struct jetwatt_power *p);

/* The rails of the total as "VDD_GPU_SOC + VDD_CPU_CV". */
const char *jetwatt_watch_scope(const struct jetwatt_watch *w, char *buf, size_t len);

/* Why a measurement cannot go on, said. Return: exit code. */
int jetwatt_watch_why(const struct jetwatt_watch *w);

/* Deadlines that the sampler has missed since open. */
uint64_t jetwatt_watch_missed(struct jetwatt_watch *w);

void jetwatt_watch_close(struct jetwatt_watch *w);

#endif
