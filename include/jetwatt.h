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

#include <linux/jetwatt.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define JETWATT_LABEL_LEN	48
#define JETWATT_RAILS_MAX	24
#define JETWATT_CLOCKS_MAX	32

/**
 * JETWATT_KNOB_ROWS() - the knobs of a power mode, one row each
 *
 * ROW(ID, type, member, key, label, tag, hz, optional)
 *	ID: of enum jetwatt_knob
 *	type, member: in struct jetwatt_mode; the member's name is also the column in CSV files
 *		and databases and the key in JSON
 *	key: lower-case name, in options, lists and JSON
 *	label: name in messages and tables
 *	tag: before the value in a mode as text, "c8-1728000-g624750000-e3199000000"
 *	hz: Hz in a unit of the value; 0: not a clock
 *	optional: 1: the value 0 means that the mode leaves the knob as it is. A mode as text
 *		has no part for it then, and a CSV file or a database without the column has
 *		the value 0. 0: 0 is no value
 *
 * Required rows stay as they are: every program that reads a profile knows them. An optional one
 * is added at the end of its list.
 */
#define JETWATT_KNOB_ROWS(ROW) JETWATT_KNOB_REQUIRED(ROW) JETWATT_KNOB_OPTIONAL(ROW)

#define JETWATT_KNOB_REQUIRED(ROW)						\
	ROW(CORES, uint32_t, cores,	"cores",	"cores", "c",	0,	0)	\
	ROW(CPU,   uint32_t, cpu_khz,	"cpu",		"CPU",	 "-",	1000,	0)	\
	ROW(GPU,   uint64_t, gpu_hz,	"gpu",		"GPU",	 "-g",	1,	0)	\
	ROW(EMC,   uint64_t, emc_hz,	"emc",		"EMC",	 "-e",	1,	0)

#define JETWATT_KNOB_OPTIONAL(ROW)						\
	ROW(DLA,   uint64_t, dla_hz,	"dla",		"DLA",	 "-d",	1,	1)

enum jetwatt_knob {
#define JETWATT_KNOB_ID(ID, type, member, key, label, tag, hz, optional) JETWATT_KNOB_##ID,
	JETWATT_KNOB_ROWS(JETWATT_KNOB_ID)
#undef JETWATT_KNOB_ID
	JETWATT_KNOBS
};

/**
 * struct jetwatt_mode - a power mode: what the board is told to run at
 *
 * One member for each row of JETWATT_KNOB_ROWS(), in its order: cores (online CPU cores), cpu_khz
 * (clock of all online cores), gpu_hz, emc_hz (clock of the external memory controller), dla_hz
 * (core clock of the deep learning accelerators).
 */
struct jetwatt_mode {
#define JETWATT_KNOB_MEMBER(ID, type, member, key, label, tag, hz, optional) type member;
	JETWATT_KNOB_ROWS(JETWATT_KNOB_MEMBER)
#undef JETWATT_KNOB_MEMBER
};

/**
 * struct jetwatt_knob_row - a row of JETWATT_KNOB_ROWS() for loops
 * @column: the member's name
 * @max: the highest value that the member holds, at most INT64_MAX, as databases have signs
 */
struct jetwatt_knob_row {
	const char *column, *key, *label, *tag;
	uint32_t hz;
	int optional;
	uint64_t max;
};

static inline const struct jetwatt_knob_row *jetwatt_knob_row(enum jetwatt_knob k)
{
	static const struct jetwatt_knob_row row[JETWATT_KNOBS] = {
#define JETWATT_KNOB_ROW(ID, type, member, key, label, tag, hz, optional)	\
		{ #member, key, label, tag, hz, optional,			\
		  sizeof(type) < 8 ? (type)-1 : INT64_MAX },
		JETWATT_KNOB_ROWS(JETWATT_KNOB_ROW)
#undef JETWATT_KNOB_ROW
	};

	return &row[k];
}

/** jetwatt_mode_get() - the value of one knob, in the unit of its member */
static inline uint64_t jetwatt_mode_get(const struct jetwatt_mode *m, enum jetwatt_knob k)
{
	switch (k) {
#define JETWATT_KNOB_GET(ID, type, member, key, label, tag, hz, optional)	\
	case JETWATT_KNOB_##ID:							\
		return m->member;
	JETWATT_KNOB_ROWS(JETWATT_KNOB_GET)
#undef JETWATT_KNOB_GET
	case JETWATT_KNOBS:
		break;
	}
	return 0;
}

/** jetwatt_mode_set() - set one knob; @v is at most jetwatt_knob_row::max */
static inline void jetwatt_mode_set(struct jetwatt_mode *m, enum jetwatt_knob k, uint64_t v)
{
	switch (k) {
#define JETWATT_KNOB_SET(ID, type, member, key, label, tag, hz, optional)	\
	case JETWATT_KNOB_##ID:							\
		m->member = (type)v;						\
		break;
	JETWATT_KNOB_ROWS(JETWATT_KNOB_SET)
#undef JETWATT_KNOB_SET
	case JETWATT_KNOBS:
		break;
	}
}

#define JETWATT_KNOB_NEXT(k)	((enum jetwatt_knob)((k) + 1))
/** jetwatt_each_knob() - a loop over all rows: declares @k */
#define jetwatt_each_knob(k)							\
	for (enum jetwatt_knob k = JETWATT_KNOB_CORES; k < JETWATT_KNOBS; k = JETWATT_KNOB_NEXT(k))

/** jetwatt_mode_whole() - has every knob that is not optional a value? */
static inline int jetwatt_mode_whole(const struct jetwatt_mode *m)
{
	jetwatt_each_knob(k)
		if (!jetwatt_knob_row(k)->optional && !jetwatt_mode_get(m, k))
			return 0;
	return 1;
}

/** jetwatt_mode_raise() - every knob of @most to at least its value in @m */
static inline void jetwatt_mode_raise(struct jetwatt_mode *most, const struct jetwatt_mode *m)
{
	jetwatt_each_knob(k)
		if (jetwatt_mode_get(m, k) > jetwatt_mode_get(most, k))
			jetwatt_mode_set(most, k, jetwatt_mode_get(m, k));
}

/** jetwatt_mode_lower() - every knob of @least to at most its value in @m */
static inline void jetwatt_mode_lower(struct jetwatt_mode *least, const struct jetwatt_mode *m)
{
	jetwatt_each_knob(k)
		if (jetwatt_mode_get(m, k) < jetwatt_mode_get(least, k))
			jetwatt_mode_set(least, k, jetwatt_mode_get(m, k));
}

/** jetwatt_mode_same() - are they one and the same? */
static inline int jetwatt_mode_same(const struct jetwatt_mode *a, const struct jetwatt_mode *b)
{
	jetwatt_each_knob(k)
		if (jetwatt_mode_get(a, k) != jetwatt_mode_get(b, k))
			return 0;
	return 1;
}

/** jetwatt_mode_order() - as strcmp(), knob by knob in the order of their members */
static inline int jetwatt_mode_order(const struct jetwatt_mode *a, const struct jetwatt_mode *b)
{
	jetwatt_each_knob(k) {
		uint64_t x = jetwatt_mode_get(a, k), y = jetwatt_mode_get(b, k);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

/* ------------------------------------------------------------------ */
/* Telemetry: what is neither a rail's power nor part of a power mode */

/* One slot for each channel of each kind: JETWATT_TELEMETRY_TEMP_MC is the first slot of
 * JETWATT_SERIES_TEMP_MC. Slots are numbered anew when a kind is added: files have kinds. */
enum jetwatt_telemetry_slot {
#define JETWATT_TELEMETRY_ID(ID, reader, channels, ...)				\
	JETWATT_TELEMETRY_##ID,							\
	JETWATT_TELEMETRY_##ID##_END = JETWATT_TELEMETRY_##ID + (channels) - 1,
	JETWATT_SERIES_ROWS(JETWATT_TELEMETRY_ID)
#undef JETWATT_TELEMETRY_ID
	JETWATT_TELEMETRY_SLOTS
};

/* Not known: never read, not there, or last read more than three seconds before. */
#define JETWATT_TELEMETRY_NONE	INT64_MIN
#define JETWATT_TELEMETRY_NAME_LEN	32

/**
 * struct jetwatt_telemetry - the values of one moment
 * @value: by slot, in the unit of its row; JETWATT_TELEMETRY_NONE: not known
 */
struct jetwatt_telemetry {
	int64_t value[JETWATT_TELEMETRY_SLOTS];
};

/**
 * struct jetwatt_series_row - a row of JETWATT_SERIES_ROWS() for loops
 * @first: slot of its first channel
 */
struct jetwatt_series_row {
	uint32_t kind, reader, channels, type, first, per;
	const char *name, *title, *unit, *base, *metric, *label, *files, *help;
};

/* Return: the row of a kind, NULL: this version does not know it. */
const struct jetwatt_series_row *jetwatt_series_row(uint32_t kind);
/* Return: the row that a slot belongs to; @channel, from 1, may be NULL. */
const struct jetwatt_series_row *jetwatt_telemetry_row(unsigned int slot, unsigned int *channel);
/* Return: the slot of a channel; -1: no such kind, or it has fewer. */
int jetwatt_telemetry_slot(uint32_t kind, uint32_t channel);
/* The row's name, or its title, with the channel in place of '#'. Return: @buf. */
const char *jetwatt_telemetry_name(unsigned int slot, char buf[JETWATT_TELEMETRY_NAME_LEN]);
const char *jetwatt_telemetry_title(unsigned int slot, char buf[JETWATT_TELEMETRY_NAME_LEN]);
/* All of it not known. */
void jetwatt_telemetry_clear(struct jetwatt_telemetry *t);

#define JETWATT_SLOT_NEXT(s)	((s) + 1u)
/** jetwatt_each_slot() - a loop over all slots: declares @s */
#define jetwatt_each_slot(s)							\
	for (unsigned int s = 0; s < JETWATT_TELEMETRY_SLOTS; s = JETWATT_SLOT_NEXT(s))

/**
 * struct jetwatt_reading - series that were read from sysfs
 * @time_ns: when
 * @of: their values; those of other readers are JETWATT_TELEMETRY_NONE
 */
struct jetwatt_reading {
	uint64_t time_ns;
	struct jetwatt_telemetry of;
};

typedef void (*jetwatt_reading_fn)(const struct jetwatt_reading *r, void *arg);

/* The files of series that no module can read (JETWATT_SERIES_READER_SYSFS). A file may take
 * its driver milliseconds: once a second is enough. Devices that come later are found within
 * half a minute, and at once where one has gone.
 * @sysfs: where it is mounted, NULL: /sys. Return: 0; -ENOMEM. */
struct jetwatt_sysfs;
int jetwatt_sysfs_open(struct jetwatt_sysfs **fs, const char *sysfs);
/* Return: how many values there are. */
int jetwatt_sysfs_read(struct jetwatt_sysfs *fs, struct jetwatt_reading *r);
void jetwatt_sysfs_close(struct jetwatt_sysfs *fs);

/* ------------------------------------------------------------------ */
/* The module: information, configuration, samples, events            */

struct jetwatt;

struct jetwatt_info {
	char version[32];
	char board[64];
	uint32_t chips, rails, ring, running;
	uint32_t total_scope;	/* enum jetwatt_scope of <linux/jetwatt.h> */
};

/**
 * struct jetwatt_chip - a sensor chip, as the module describes it
 * @config: register that says how it converts, as last read
 * @sum_channels: mask: what its sum of shunts is made of, 0: not known
 * @shunt_us: length of one conversion of a shunt voltage
 * @averages: conversions that a shunt voltage is the mean of, 0: the module, or the trace,
 *	is older than this member and the following ones, which are 0 then
 * @filter: 1: that mean is a recursive filter, out += (new - out) / @averages; 0: the mean of
 *	a block, after which a new value comes
 * @step_pv, @bus_step_pv: a step of a shunt voltage (in the range in use), of a bus voltage
 * @offset_nv, @gain_ppm: largest errors of a shunt voltage by the data sheet at 25 degrees, 0:
 *	it gives none
 * @bus_offset_uv, @bus_gain_ppm: and of a bus voltage
 * @clipped: shunt voltages that were at an end of the chip's range: the current was beyond it
 */
struct jetwatt_chip {
	uint32_t id, bus, addr, bus_hz, config, refresh_mhz, lost;
	uint32_t sum_channels;
	uint64_t errors;
	char model[16];
	uint32_t shunt_us, averages, filter, step_pv;
	uint32_t offset_nv, gain_ppm, bus_offset_uv, bus_gain_ppm;
	uint64_t bus_step_pv, clipped;
};

struct jetwatt_rail {
	uint32_t id, chip, channel, shunt_uohm, enabled;
	uint32_t requested_mhz, read_mhz, fresh_mhz;	/* millihertz */
	uint32_t parent;	/* id of the rail that it is inside of, UINT32_MAX if none */
	uint32_t in_total;
	uint32_t step_uw;	/* power of one step of the ADC at the bus voltage read last; 0 for clients that may not subscribe */
	uint32_t skew_ns;	/* read so much later than the tick's first shunt */
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
	uint64_t throttled;	/* times that real-time throttling held the sampler up */
	uint64_t cpu_ns;	/* CPU time of the sampler's thread */
};

/**
 * struct jetwatt_energy - a counter of the module's, since it was loaded
 * @rail: id, UINT32_MAX: the total
 * @uj: microjoules; never runs backwards
 * @time_ns: when it was last brought up to date, 0: never; @uw: power then
 * @blind_ns: time that is not in it, because the rail could not be read or the machine slept
 */
struct jetwatt_energy {
	uint64_t uj, time_ns, blind_ns;
	uint32_t rail;
	int32_t uw;
};

/**
 * struct jetwatt_box - what the module's black box keeps
 * @cause: enum jetwatt_box_cause of <linux/jetwatt.h>
 * @index: over-current: the rail's id; thermal: the zone's number
 * @time_ns: when it happened
 * @seq: first sample kept, @count: how many
 * @missed: what happened since and found the box taken
 */
struct jetwatt_box {
	uint64_t time_ns, seq;
	uint32_t cause, index, count, missed;
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
/* Where the sampler runs, UINT32_MAX: anywhere. -EINVAL: that CPU is not online. */
int jetwatt_sampler_cpu(struct jetwatt *jw, uint32_t cpu);
/* The total's counter first, then one a rail. Needs CAP_NET_ADMIN.
 * Return: the number of entries (at most @max are written). */
int jetwatt_energies(struct jetwatt *jw, struct jetwatt_energy *energies, int max);

/* Batches (after subscribe) and events arrive at @jw's fd. Needs CAP_NET_ADMIN
 * for samples, nothing for events. The first batch may already call @fn before
 * jetwatt_subscribe() returns. No callback may close @jw or call into it. */
int jetwatt_subscribe(struct jetwatt *jw, jetwatt_samples_fn fn, void *arg);
int jetwatt_unsubscribe(struct jetwatt *jw);
int jetwatt_events(struct jetwatt *jw, jetwatt_event_fn fn, void *arg);
/* Dump what the ring still has from @seq on. Return: samples delivered. */
int jetwatt_samples_since(struct jetwatt *jw, uint64_t seq, jetwatt_samples_fn fn, void *arg);

/* The black box: the last seconds before an over-current, heat or a call of
 * jetwatt_box_freeze() (event JETWATT_EVENT_BOX_FROZEN), kept until cleared.
 * All of it needs CAP_NET_ADMIN.
 * freeze: -EBUSY: it is taken; -ENODATA: no samples; the others: -ENOENT: it
 * is empty. jetwatt_box_samples() returns the number of samples delivered. */
int jetwatt_box_keep(struct jetwatt *jw, uint32_t ms);	/* how much, 0: nothing on an alarm */
int jetwatt_box_freeze(struct jetwatt *jw);
int jetwatt_box_clear(struct jetwatt *jw);
int jetwatt_box(struct jetwatt *jw, struct jetwatt_box *box);
int jetwatt_box_samples(struct jetwatt *jw, jetwatt_samples_fn fn, void *arg);

/* Poll for POLLIN, then call jetwatt_dispatch(), which calls the callbacks for
 * all that is there and returns how many messages it handled. An overrun of
 * the socket is not an error: it shows in @gap and @lost. */
int jetwatt_fd(const struct jetwatt *jw);
int jetwatt_dispatch(struct jetwatt *jw);

/* ------------------------------------------------------------------ */
/* The probe: calls on which CUDA waits                               */

struct jetwatt_probe;

/* The kind of a wait, which says by which rung of the ladder it was seen. */
enum jetwatt_sync_call {
	JETWATT_SYNC_POLLFD,	/* poll/ppoll of a descriptor armed for a fence, or of an event */
	JETWATT_SYNC_SYNCPT,	/* an ioctl that waits for a fence */
	JETWATT_SYNC_STREAM,	/* cuStreamSynchronize, cudaStreamSynchronize */
	JETWATT_SYNC_EVENT,	/* cuEventSynchronize, cudaEventSynchronize */
	JETWATT_SYNC_CONTEXT,	/* cuCtxSynchronize, cudaDeviceSynchronize */
	JETWATT_SYNC_MARK,	/* what the program itself calls a minibatch: see jetwatt_mark_begin() */
	JETWATT_SYNC_MARK_BEGIN, /* the begin of one, whose end brings all of it */
	JETWATT_SYNC_HELPER,	/* either of the first two, by the thread that libcuda starts for
				 * callbacks and, in part, to wait for others; only of a process
				 * whose own waits are not seen */
	JETWATT_SYNC_COPY,	/* synchronous copies: cuMemcpyDtoH, cudaMemcpy, ... */
	JETWATT_SYNC_QUERY,	/* a loop over cuEventQuery or cuStreamQuery, as one wait */
	JETWATT_SYNC_CALLS
};

/* The ladder: ways to see waits, the best one first. */
enum jetwatt_rung {
	JETWATT_RUNG_UPROBE = 1,	/* libcuda's calls themselves: sees spinning, and launches */
	JETWATT_RUNG_TRACEPOINT = 2,	/* system calls below them: blocking waits only */
	JETWATT_RUNG_MODULE = 4,	/* the same, by jetwatt.ko where BPF cannot trace */
	JETWATT_RUNG_MARKER = 8,	/* what the program says of itself */
};
#define JETWATT_RUNGS	4
#define JETWATT_MARKS_MAX	32
#define JETWATT_MARK_LEN	64

/**
 * struct jetwatt_sync - one finished wait for the GPU
 * @enter_ns: the thread began to wait
 * @exit_ns: it went on: the GPU's work before this point is done
 * @cgroup: id of its v2 cgroup, 0 if unknown
 * @launch_ns: when its process first gave the GPU work after the wait before
 *	this one: until then it stalled; 0: none, or launches are not seen
 * @launches: how often it did
 * @lost: waits known to be lost just before this one, of anybody
 */
struct jetwatt_sync {
	uint64_t enter_ns, exit_ns, cgroup;
	uint32_t tgid, tid;
	uint32_t call;		/* enum jetwatt_sync_call */
	int32_t ret;		/* return value of the call */
	uint64_t launch_ns;
	uint32_t launches, lost;
};

/**
 * struct jetwatt_probe_opts - whom to watch
 * @tgid: this process and, if @children, all that it has forked and will
 *	fork; 0: everybody. Where tracefs is not mounted, a child is known only
 *	when fork() has returned to its parent.
 * @cgroup: id of a v2 cgroup, 0: any
 * @ring_kib: size of the ring buffer, rounded up to a power of two; 0: 1024
 * @rungs: of enum jetwatt_rung, those to try; 0: the best that there are. With
 *	libcuda's calls and system calls both, a process is seen by the latter
 *	until it first calls the former.
 * @cgroup_path: instead of @cgroup: a directory of the v2 hierarchy; what is
 *	in cgroups below it is seen as well
 * @mark_fd: where marks arrive, from jetwatt_mark_pair(); 0: nowhere
 * @prompt: wake the reader at the end of every wait, for who acts on it: costs a
 *	job with many short waits more; with BPF only
 * @count: count calls of CUDA's entry points for jetwatt_probe_entries()
 */
struct jetwatt_probe_opts {
	uint32_t tgid;
	uint32_t children;
	uint64_t cgroup;
	uint32_t ring_kib;
	uint32_t rungs;
	const char *cgroup_path;
	int mark_fd;
	uint32_t prompt;
	uint32_t count;
};

/**
 * struct jetwatt_probe_state - what became of the ladder
 * @attached: rungs that are watching; uprobes do once a library was found
 * @seen: waits so far, by enum jetwatt_sync_call
 * @launches: of all those
 * @mark, @marks: names of marks; @ret of a JETWATT_SYNC_MARK is an index here
 * @library: the last library that was attached to, as its process calls it
 * @why: for each rung, by its bit, that was asked for and isn't there: why
 */
struct jetwatt_probe_state {
	uint32_t attached;
	uint64_t seen[JETWATT_SYNC_CALLS];
	uint64_t launches;
	uint32_t marks;
	char mark[JETWATT_MARKS_MAX][JETWATT_MARK_LEN];
	char library[256];
	char why[JETWATT_RUNGS][192];
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
/* Report the waits that are held back: of cuda-EvtHandlr, the thread that libcuda starts, in a
 * process that has not waited itself yet (JETWATT_SYNC_HELPER). jetwatt_probe_dispatch() does
 * so half a second after they ended. To be called after it when the job has ended. Return:
 * number of waits. */
int jetwatt_probe_flush(struct jetwatt_probe *p);
/* Waits of cuda-EvtHandlr that were not reported because its process waits itself. */
uint64_t jetwatt_probe_dropped(const struct jetwatt_probe *p);
/* Waits that were not reported for lack of room, since the probe was opened. */
uint64_t jetwatt_probe_lost(const struct jetwatt_probe *p);
void jetwatt_probe_state(const struct jetwatt_probe *p, struct jetwatt_probe_state *st);
/**
 * struct jetwatt_probe_entry - an entry point of CUDA, and how often it was called
 * @name: as exported: "cuStreamSynchronize"; several names of one place: the first
 */
struct jetwatt_probe_entry {
	char name[56];
	uint32_t tgid, pad;
	uint64_t calls;
};
/* Entry points called since the probe was opened, with @count. Return: number of entries
 * filled in, at most @max; -EOPNOTSUPP: no backend that counts them. */
int jetwatt_probe_entries(const struct jetwatt_probe *p, struct jetwatt_probe_entry *out, int max);
/* Is the thread @tid waiting for the GPU now? Return: 1, 0; -EOPNOTSUPP: what
 * watches does not know before the wait has ended. */
int jetwatt_probe_waiting(const struct jetwatt_probe *p, uint32_t tid);
/* Requests that have come to the sockets of a v2 cgroup since: datagrams, and what a
 * client of TCP has written in one piece. Sockets of the Unix domain are not seen. Needs
 * CAP_BPF and CAP_NET_ADMIN. Return: 0, negative errno. */
struct jetwatt_arrivals;
int jetwatt_arrivals_open(struct jetwatt_arrivals **a, const char *cgroup_path);
uint64_t jetwatt_arrivals(const struct jetwatt_arrivals *a);
void jetwatt_arrivals_close(struct jetwatt_arrivals *a);
/* What the last failed jetwatt_probe_open() of this thread said. */
const char *jetwatt_probe_error(void);

/* ------------------------------------------------------------------ */
/* Marks: a program that says itself where its minibatches are        */

/* Calls for programs under measurement. Where nobody measures, which is when
 * the environment has no JETWATT_MARK_FD, they do nothing. One thread's pairs
 * may nest. They never block: what finds no room is counted and reported.
 *
 * A program in any language may write "begin NAME\n" and "end NAME\n" to that
 * descriptor itself, or "NAME\n" where one minibatch ends and the next begins.
 *
 * Return: 0; -EINVAL: a name is 1 to 63 printable characters, no space, no @;
 * -EAGAIN: no room, counted. */
int jetwatt_mark_begin(const char *name);
int jetwatt_mark_end(const char *name);
/* The same in one call, where one ends and the next begins. */
int jetwatt_mark(const char *name);

/* From here on, this process's marks are those of process @pid: for helpers of a
 * script, each of which is a process of its own. 0: its own. */
void jetwatt_mark_for(pid_t pid);

/* For the measuring side: @fd[0] is for jetwatt_probe_opts, @fd[1] for the
 * program to inherit. Return: 0, negative errno. */
int jetwatt_mark_pair(int fd[2]);

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
 * @telemetry: as read last, three seconds ago at most
 */
struct jetwatt_power {
	uint64_t seq, time_ns;
	uint32_t nr, valid;
	int gap;
	int64_t uw[JETWATT_RAILS_MAX];
	struct jetwatt_mode clock;
	int32_t temp_mc;
	struct jetwatt_telemetry telemetry;
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
/* The same of a trace's rails, without a module. */
int jetwatt_join_new_rails(struct jetwatt_join **j, const struct jetwatt_rail *rail, int nr,
			   uint32_t hold_ms);
void jetwatt_join_free(struct jetwatt_join *j);
/* jetwatt_subscribe()/jetwatt_probe_open() take these with the join as @arg. */
void jetwatt_join_samples(const struct jetwatt_samples *s, void *join);
void jetwatt_join_sync(const struct jetwatt_sync *s, void *join);
/* Of samples that come after it. */
void jetwatt_join_reading(const struct jetwatt_reading *r, void *join);
void jetwatt_join_set(struct jetwatt_join *j, jetwatt_power_fn power, jetwatt_sync_fn sync,
		      void *arg);
/* Deliver all that is held back, in order. */
void jetwatt_join_flush(struct jetwatt_join *j);
/* Records left out because later ones had been delivered: @hold_ms too short. */
uint64_t jetwatt_join_late(const struct jetwatt_join *j);

/* ------------------------------------------------------------------ */
/* The trace file (.jwt, see man 5 jwt): both streams as they came    */

#define JETWATT_TRACE_KEY_LEN	32
#define JETWATT_TRACE_TEXT_LEN	1024

/* The same moment by three clocks: from here to wall time. */
struct jetwatt_trace_clocks {
	uint64_t monotonic_ns, boottime_ns, realtime_ns;
};

/* @pid is watched from @begun_ns on. */
struct jetwatt_trace_job {
	uint64_t begun_ns;
	uint32_t pid;
};

/**
 * struct jetwatt_trace_end - how it ended
 * @ended_ns: what counts as the run's end; @status: of the command, as of
 *	wait(2), -1: not known
 * @waits_lost, @missed: waits and ticks that are missing, in all
 */
struct jetwatt_trace_end {
	uint64_t ended_ns, waits_lost, missed;
	int32_t status;
};

/* --- writing ------------------------------------------------------- */

struct jetwatt_trace_writer;

/**
 * jetwatt_trace_writer_new() - write a trace to @fd, which stays the caller's
 *
 * What describes the run (texts, chips, rails, the job) is kept, written
 * before the first sample and again every minute. Data goes to @fd in blocks of
 * at most a second, each by one write(2). A write that fails is the last one:
 * what it left of its block is cut off if @fd is a file.
 */
int jetwatt_trace_writer_new(struct jetwatt_trace_writer **w, int fd);
/* Does not write what is held back: see jetwatt_trace_finish(). */
void jetwatt_trace_writer_free(struct jetwatt_trace_writer *w);

/* Keys "board", "kernel", "version", "command", "scope" are known to the
 * commands; of any other length than the limits above allow: -EINVAL. A
 * key, chip or rail that was written before is replaced. */
int jetwatt_trace_write_text(struct jetwatt_trace_writer *w, const char *key, const char *text);
int jetwatt_trace_write_chip(struct jetwatt_trace_writer *w, const struct jetwatt_chip *chip);
int jetwatt_trace_write_rail(struct jetwatt_trace_writer *w, const struct jetwatt_rail *rail);
int jetwatt_trace_write_job(struct jetwatt_trace_writer *w, const struct jetwatt_trace_job *job);

/* With the writer as @writer these are callbacks of jetwatt_subscribe(),
 * jetwatt_events() and jetwatt_probe_open(). */
void jetwatt_trace_write_samples(const struct jetwatt_samples *s, void *writer);
void jetwatt_trace_write_sync(const struct jetwatt_sync *s, void *writer);
void jetwatt_trace_write_event(const struct jetwatt_event *e, void *writer);
void jetwatt_trace_write_reading(const struct jetwatt_reading *r, void *writer);

/* Write what is older than a second, or all of it if @all; and note how many
 * waits have been lost so far. To be called a few times a second. Return: 0;
 * the first error of any call before, from then on. */
int jetwatt_trace_flush(struct jetwatt_trace_writer *w, uint64_t waits_lost, int all);
int jetwatt_trace_finish(struct jetwatt_trace_writer *w, const struct jetwatt_trace_end *end);
uint64_t jetwatt_trace_written(const struct jetwatt_trace_writer *w);	/* bytes */

/* --- reading ------------------------------------------------------- */

struct jetwatt_trace_reader;

/**
 * struct jetwatt_trace_calls - who gets what; each may be NULL
 *
 * Descriptions come again and again: the last one counts. Samples' gaps count
 * what is missing in the trace, whether it was lost before or after recording.
 */
struct jetwatt_trace_calls {
	jetwatt_samples_fn samples;
	jetwatt_sync_fn sync;
	jetwatt_event_fn event;
	void (*text)(const char *key, const char *text, void *arg);
	void (*chip)(const struct jetwatt_chip *chip, void *arg);
	void (*rail)(const struct jetwatt_rail *rail, void *arg);
	void (*clocks)(const struct jetwatt_trace_clocks *clocks, void *arg);
	void (*job)(const struct jetwatt_trace_job *job, void *arg);
	void (*end)(const struct jetwatt_trace_end *end, void *arg);
};

/**
 * struct jetwatt_trace_state - what has been read so far
 * @version: of the format; @blocks: whole ones
 * @damaged: blocks that were there and not whole; @missing: that were not there
 * @skipped: bytes that were no part of a whole block
 * @tail: bytes at the end that may become one
 * @unknown: records of a kind that this version does not know
 * @waits, @waits_lost: as the writer counted them; of @waits, @waits_missing
 *	were in blocks that are gone
 * @ended: the writer has closed the trace
 */
struct jetwatt_trace_state {
	uint32_t version, ended;
	uint64_t blocks, damaged, missing, skipped, tail, unknown;
	uint64_t waits, waits_lost, waits_missing;
};

/**
 * jetwatt_trace_reader_new() - read a trace from @fd: a file, also one that is
 * being written, or a pipe
 */
int jetwatt_trace_reader_new(struct jetwatt_trace_reader **r, int fd,
			     const struct jetwatt_trace_calls *calls, void *arg);
void jetwatt_trace_reader_free(struct jetwatt_trace_reader *r);
/* Readings go to @fn, with the reader's own @arg. */
void jetwatt_trace_reader_reading(struct jetwatt_trace_reader *r, jetwatt_reading_fn fn);

/**
 * jetwatt_trace_read() - hand on the next whole block
 *
 * What is damaged is left out and counted; what is no trace at all ends without
 * a block. Return: 1; 0: there is no more, for now; -EPROTO: it is of a newer
 * format; -ENOMEM; what read(2) said.
 */
int jetwatt_trace_read(struct jetwatt_trace_reader *r);
void jetwatt_trace_state(const struct jetwatt_trace_reader *r, struct jetwatt_trace_state *st);

#ifdef __cplusplus
}
#endif

#endif /* JETWATT_H */
