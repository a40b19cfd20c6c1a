/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * libjetwatt: power samples of the rails and bounds of the GPU's work.
 *
 * Conventions: handles are opaque; functions return 0 or a count, or a
 * negative errno; nothing is printed; no signal is touched; a handle belongs
 * to one thread at a time, different handles to different threads. Times are
 * CLOCK_MONOTONIC in nanoseconds. Units stand in the names.
 */
#ifndef JETWATT_H
#define JETWATT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define JETWATT_LABEL_LEN	48
#define JETWATT_RAILS_MAX	24
#define JETWATT_CLOCKS_MAX	32

/**
 * struct jetwatt_mode - a power mode: what the board is told to run at
 * @cores: online CPU cores
 * @cpu_khz: clock of all online cores
 * @gpu_hz: clock of the GPU
 * @emc_hz: clock of the external memory controller
 */
struct jetwatt_mode {
	uint32_t cores;
	uint32_t cpu_khz;
	uint64_t gpu_hz;
	uint64_t emc_hz;
};

/* ------------------------------------------------------------------ */
/* The module: information, configuration, samples, events            */

struct jetwatt;

struct jetwatt_info {
	char version[32];
	char board[64];
	uint32_t chips, rails, ring, running;
};

struct jetwatt_chip {
	uint32_t id, bus, addr, bus_hz, config, refresh_mhz, lost;
	uint64_t errors;
	char model[16];
};

struct jetwatt_rail {
	uint32_t id, chip, channel, shunt_uohm, enabled;
	uint32_t requested_mhz, read_mhz, fresh_mhz;	/* millihertz */
	char label[JETWATT_LABEL_LEN];
};

struct jetwatt_clock {
	uint32_t kind, index;	/* enum jetwatt_series; see <linux/jetwatt.h> */
	int32_t value;
	char label[JETWATT_LABEL_LEN];
};

/* In jetwatt_config_set(), UINT32_MAX leaves a field as it is. */
struct jetwatt_config {
	uint32_t rate_hz, batch, batch_age_ms, bus_share_pct;
	uint32_t rate_max_hz, active_hz;	/* read only */
};

struct jetwatt_stats {
	uint64_t ticks, missed, i2c_errors;
	uint64_t late_p50_ns, late_p99_ns, late_max_ns, tick_ns, lost;
	uint32_t bus_permille;
};

/* One series of a batch: enum jetwatt_series kind, index, @count values. */
struct jetwatt_series_view {
	uint32_t kind, index;
	const int32_t *value;
};

/**
 * struct jetwatt_samples - a batch, valid during the callback only
 * @seq: sequence number of the first sample
 * @gap: samples missing between the batch before and this one
 * @lost: samples that this handle has lost since it subscribed
 */
struct jetwatt_samples {
	uint64_t seq, gap, lost;
	uint32_t count, nr_series;
	const uint64_t *time_ns;
	const struct jetwatt_series_view *series;
};

struct jetwatt_event {
	uint32_t kind, chip;	/* enum jetwatt_event_kind */
	uint64_t time_ns, value;
};

typedef void (*jetwatt_samples_fn)(const struct jetwatt_samples *s, void *arg);
typedef void (*jetwatt_event_fn)(const struct jetwatt_event *e, void *arg);

/**
 * jetwatt_open() - connect to the module
 *
 * Return: 0; -ENOENT: module not loaded; -EPROTO: it speaks another version.
 */
int jetwatt_open(struct jetwatt **jw);
void jetwatt_close(struct jetwatt *jw);

/* What the last failed call on @jw said: the kernel's own words where it gave
 * any (extended ack), else ours. Of NULL: what this thread's last failed
 * jetwatt_open() said. Never NULL; valid until the next call. */
const char *jetwatt_error(const struct jetwatt *jw);

int jetwatt_info(struct jetwatt *jw, struct jetwatt_info *info);
/* Return: the number of entries (at most @max are written). */
int jetwatt_chips(struct jetwatt *jw, struct jetwatt_chip *chips, int max);
int jetwatt_rails(struct jetwatt *jw, struct jetwatt_rail *rails, int max);
int jetwatt_clocks(struct jetwatt *jw, struct jetwatt_clock *clocks, int max);
int jetwatt_config_get(struct jetwatt *jw, struct jetwatt_config *config);
int jetwatt_config_set(struct jetwatt *jw, const struct jetwatt_config *config);
int jetwatt_stats(struct jetwatt *jw, struct jetwatt_stats *stats);

/* Batches (after subscribe) and events arrive at @jw's fd. Needs CAP_NET_ADMIN
 * for samples, nothing for events. The first batch may already call @fn before
 * jetwatt_subscribe() returns. No callback may close @jw or call into it. */
int jetwatt_subscribe(struct jetwatt *jw, jetwatt_samples_fn fn, void *arg);
int jetwatt_unsubscribe(struct jetwatt *jw);
int jetwatt_events(struct jetwatt *jw, jetwatt_event_fn fn, void *arg);
/* Dump what the ring still has from @seq on. Return: samples delivered. */
int jetwatt_samples_since(struct jetwatt *jw, uint64_t seq, jetwatt_samples_fn fn, void *arg);

/* Poll for POLLIN, then call jetwatt_dispatch(), which calls the callbacks for
 * all that is there and returns how many messages it handled. An overrun of
 * the socket is not an error: it shows in @gap and @lost. */
int jetwatt_fd(const struct jetwatt *jw);
int jetwatt_dispatch(struct jetwatt *jw);

/* ------------------------------------------------------------------ */
/* The probe: calls on which CUDA waits                               */

struct jetwatt_probe;

enum jetwatt_sync_call {
	JETWATT_SYNC_POLLFD,	/* host1x-fence TRIGGER_POLLFD, then poll/ppoll on that fd */
	JETWATT_SYNC_SYNCPT,	/* tegra-drm SYNCPOINT_WAIT */
};

/**
 * struct jetwatt_sync - one finished wait for the GPU
 * @enter_ns: the thread began to wait
 * @exit_ns: it went on: the GPU's work before this point is done
 * @cgroup: id of its v2 cgroup, 0 if unknown
 */
struct jetwatt_sync {
	uint64_t enter_ns, exit_ns, cgroup;
	uint32_t tgid, tid;
	uint32_t call;		/* enum jetwatt_sync_call */
	int32_t ret;		/* return value of the call */
};

/**
 * struct jetwatt_probe_opts - whom to watch
 * @tgid: this process and, if @children, all that it has forked and will
 *	fork; 0: everybody. Where tracefs is not mounted, a child is known only
 *	when fork() has returned to its parent.
 * @cgroup: id of a v2 cgroup, 0: any
 * @ring_kib: size of the ring buffer, rounded up to a power of two; 0: 1024
 */
struct jetwatt_probe_opts {
	uint32_t tgid;
	uint32_t children;
	uint64_t cgroup;
	uint32_t ring_kib;
};

typedef void (*jetwatt_sync_fn)(const struct jetwatt_sync *s, void *arg);

/**
 * jetwatt_probe_open() - attach the BPF probe
 *
 * A wait is reported when it has ended. The reader is woken at most every
 * 10 ms and looks again 20 ms later, so that a job with many short waits is
 * not slowed down by being watched.
 *
 * Return: 0; -EPERM: needs CAP_BPF and CAP_PERFMON (or root); -EOPNOTSUPP:
 * this kernel cannot trace with BPF, or @tgid means another process there (we
 * are in a pid namespace); -ESRCH: no process @tgid; else what libbpf said.
 */
int jetwatt_probe_open(struct jetwatt_probe **p, const struct jetwatt_probe_opts *opts,
		       jetwatt_sync_fn fn, void *arg);
void jetwatt_probe_close(struct jetwatt_probe *p);
int jetwatt_probe_fd(const struct jetwatt_probe *p);
int jetwatt_probe_dispatch(struct jetwatt_probe *p);
/* Waits that were not reported for lack of room, since the probe was opened. */
uint64_t jetwatt_probe_lost(const struct jetwatt_probe *p);
/* What the last failed jetwatt_probe_open() of this thread said. */
const char *jetwatt_probe_error(void);

/* ------------------------------------------------------------------ */
/* The join: samples to power, both streams in order of time          */

/**
 * struct jetwatt_power - all rails at one time
 * @seq: of the sample; @gap is true where samples are missing before it
 * @nr: rails, in the order of jetwatt_rails()
 * @uw: power of each rail; bus voltages that were not read in this tick are
 *	the last ones read. Samples begin when every enabled rail has been
 *	read, or 64 ticks on: a rail that was never read has 0 and no bit.
 * @valid: bit r is set if @uw[r] rests on a shunt read in this very tick
 * @clock: the mode in use as far as clocks are known (0: not)
 * @temp_mc: the hottest thermal zone, 0 if there is none
 */
struct jetwatt_power {
	uint64_t seq, time_ns;
	uint32_t nr, valid;
	int gap;
	int64_t uw[JETWATT_RAILS_MAX];
	struct jetwatt_mode clock;
	int32_t temp_mc;
};

struct jetwatt_join;
typedef void (*jetwatt_power_fn)(const struct jetwatt_power *p, void *arg);

/* The join turns batches into power samples and hands both kinds to its
 * callbacks in order of time (samples by @time_ns, waits by @exit_ns), as soon
 * as neither stream can still bring something earlier. A stream that is silent
 * for @hold_ms, by the other's times, is not waited for: take more than the age
 * of a batch (JETWATT_A_CONFIG_BATCH_AGE_MS) and the probe's 20 ms. @jw may be
 * NULL: a join without rails. */
int jetwatt_join_new(struct jetwatt_join **j, struct jetwatt *jw, uint32_t hold_ms);
void jetwatt_join_free(struct jetwatt_join *j);
/* jetwatt_subscribe()/jetwatt_probe_open() take these with the join as @arg. */
void jetwatt_join_samples(const struct jetwatt_samples *s, void *join);
void jetwatt_join_sync(const struct jetwatt_sync *s, void *join);
void jetwatt_join_set(struct jetwatt_join *j, jetwatt_power_fn power, jetwatt_sync_fn sync,
		      void *arg);
/* Deliver all that is held back, in order. */
void jetwatt_join_flush(struct jetwatt_join *j);
/* Records left out because later ones had been delivered: @hold_ms too short. */
uint64_t jetwatt_join_late(const struct jetwatt_join *j);

#ifdef __cplusplus
}
#endif

#endif /* JETWATT_H */
