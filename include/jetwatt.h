/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * libjetwatt: the C interface to jetwatt.ko, to the probe and to trace files.
 *
 * The library gives programs the power samples of a Jetson's rails and the times at which threads
 * wait for the GPU.
 *
 * Conventions:
 * - Handles are opaque. Only one thread at a time may use a handle (a pointer that an open or new
 *   function has set); different threads may use different handles.
 * - Functions return 0, a count, or a negative errno, unless their description says otherwise.
 * - The library prints nothing. Functions of the probe and jetwatt_arrivals_open() redirect libbpf's
 *   messages of their thread while they run; during this time, no other thread may call
 *   libbpf_set_print(). The library installs no signal handler and changes no signal mask.
 * - Times are CLOCK_MONOTONIC in nanoseconds.
 * - The suffix of a name is its unit, for instance _ns, _us, _ms, _uv, _ua, _uw, _uj, _hz, _khz,
 *   _mhz (millihertz), _mc (millidegrees Celsius).
 * - A pointer in a structure that a callback receives is valid until the callback returns.
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

/**
 * JETWATT_KNOB_ROWS() - list the knobs of a power mode, one row per knob
 *
 * ROW(ID, type, member, key, label, tag, hz, optional, text)
 *	ID: suffix of the knob's constant in enum jetwatt_knob
 *	type, member: C type and name of the knob's member in struct jetwatt_mode; the member's
 *		name is also the column in CSV files and databases, and the key in JSON
 *	key: lower-case name, used in options and lists, and as a value in JSON
 *	label: name in messages and tables
 *	tag: text before the value in the text form of a mode,
 *		"c8-1728000-g624750000-e3199000000"
 *	hz: number of hertz in one unit of the value (1000 for kHz); 0: the knob is not a clock
 *	optional: 1: the value 0 means that the mode does not set the knob; the text form of
 *		the mode then omits the knob, and a CSV file or a database without the column
 *		reads as 0. 0: the knob is required, and 0 is not a valid value
 *	text: description of the value, with its unit. That of an optional knob also names the
 *		files that jetwatt writes, and is inserted into jetwatt(1)
 *
 * The required rows must not change, because every program that reads a profile depends on
 * them. Add a new knob at the end of the optional rows.
 */
#define JETWATT_KNOB_ROWS(ROW) JETWATT_KNOB_REQUIRED(ROW) JETWATT_KNOB_OPTIONAL(ROW)

#define JETWATT_KNOB_REQUIRED(ROW)						\
	ROW(CORES, uint32_t, cores,	"cores",	"cores", "c",	0,	0,	\
	    "number of online CPU cores")					\
	ROW(CPU,   uint32_t, cpu_khz,	"cpu",		"CPU",	 "-",	1000,	0,	\
	    "clock of all online CPU cores, in kHz")				\
	ROW(GPU,   uint64_t, gpu_hz,	"gpu",		"GPU",	 "-g",	1,	0,	\
	    "clock of the GPU, in Hz")						\
	ROW(EMC,   uint64_t, emc_hz,	"emc",		"EMC",	 "-e",	1,	0,	\
	    "clock of the external memory controller, in Hz")

#define JETWATT_KNOB_OPTIONAL(ROW)						\
	ROW(DLA,   uint64_t, dla_hz,	"dla",		"DLA",	 "-d",	1,	1,	\
	    "cap of the core clock of the deep learning accelerators of AGX Orin and Orin NX, " \
	    "in Hz. Files: /sys/bus/platform/devices/*.nvdlaN/clk_cap/dlaN_core; on JetPack 5, " \
	    "acm/clk_cap/dlaN_core, and on Xavier also acm/clk_cap/nafll_dla")

/**
 * enum jetwatt_knob - a knob of a power mode: one constant JETWATT_KNOB_ID for each row of
 * JETWATT_KNOB_ROWS(), then the number of knobs
 */
enum jetwatt_knob {
#define JETWATT_KNOB_ID(ID, type, member, key, label, tag, hz, optional, text) JETWATT_KNOB_##ID,
	JETWATT_KNOB_ROWS(JETWATT_KNOB_ID)
#undef JETWATT_KNOB_ID
	JETWATT_KNOBS
};

/**
 * struct jetwatt_mode - a power mode: the settings of all knobs of the board
 *
 * The members are the rows of JETWATT_KNOB_ROWS(), which describe them, in the same order. An
 * optional knob with the value 0 is not set by the mode.
 */
struct jetwatt_mode {
#define JETWATT_KNOB_MEMBER(ID, type, member, key, label, tag, hz, optional, text) type member;
	JETWATT_KNOB_ROWS(JETWATT_KNOB_MEMBER)
#undef JETWATT_KNOB_MEMBER
};

/**
 * struct jetwatt_knob_row - one row of JETWATT_KNOB_ROWS(), for loops over all knobs
 * @column: name of the knob's member in struct jetwatt_mode
 * @key: lower-case name for options and lists, and as a value in JSON
 * @label: name in messages and tables
 * @tag: text before the value in the text form of a mode
 * @hz: number of hertz in one unit of the value (1000 for kHz); 0: the knob is not a clock
 * @optional: 1: a mode may leave the knob unset (value 0); 0: the knob is required
 * @max: highest value that the member can hold; at most INT64_MAX, because databases store
 *	signed integers
 */
struct jetwatt_knob_row {
	const char *column, *key, *label, *tag;
	uint32_t hz;
	int optional;
	uint64_t max;
};

/**
 * jetwatt_knob_row() - return the row of a knob
 * @k: the knob, less than JETWATT_KNOBS
 *
 * Context: any thread; does not block.
 * Return: the row; the pointer is valid for the lifetime of the program.
 */
static inline const struct jetwatt_knob_row *jetwatt_knob_row(enum jetwatt_knob k)
{
	static const struct jetwatt_knob_row row[JETWATT_KNOBS] = {
#define JETWATT_KNOB_ROW(ID, type, member, key, label, tag, hz, optional, text)	\
		{ #member, key, label, tag, hz, optional,			\
		  sizeof(type) < 8 ? (type)-1 : INT64_MAX },
		JETWATT_KNOB_ROWS(JETWATT_KNOB_ROW)
#undef JETWATT_KNOB_ROW
	};

	return &row[k];
}

/**
 * jetwatt_mode_get() - return the value of one knob
 * @m: the mode
 * @k: the knob, less than JETWATT_KNOBS
 *
 * Return: value of the knob, in the unit of the knob's member in struct jetwatt_mode.
 */
static inline uint64_t jetwatt_mode_get(const struct jetwatt_mode *m, enum jetwatt_knob k)
{
	switch (k) {
#define JETWATT_KNOB_GET(ID, type, member, key, label, tag, hz, optional, text)	\
	case JETWATT_KNOB_##ID:							\
		return m->member;
	JETWATT_KNOB_ROWS(JETWATT_KNOB_GET)
#undef JETWATT_KNOB_GET
	case JETWATT_KNOBS:
		break;
	}
	return 0;
}

/**
 * jetwatt_mode_set() - set the value of one knob
 * @m: the mode to change
 * @k: the knob, less than JETWATT_KNOBS
 * @v: the value, in the unit of the knob's member, at most jetwatt_knob_row::max
 */
static inline void jetwatt_mode_set(struct jetwatt_mode *m, enum jetwatt_knob k, uint64_t v)
{
	switch (k) {
#define JETWATT_KNOB_SET(ID, type, member, key, label, tag, hz, optional, text)	\
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
/** jetwatt_each_knob() - loop over all knobs; declares the loop variable @k */
#define jetwatt_each_knob(k)							\
	for (enum jetwatt_knob k = JETWATT_KNOB_CORES; k < JETWATT_KNOBS; k = JETWATT_KNOB_NEXT(k))

/**
 * jetwatt_mode_whole() - check that a mode is complete
 * @m: the mode
 *
 * Return: 1: every required knob has a value other than 0; 0: at least one required knob has the
 * value 0.
 */
static inline int jetwatt_mode_whole(const struct jetwatt_mode *m)
{
	jetwatt_each_knob(k)
		if (!jetwatt_knob_row(k)->optional && !jetwatt_mode_get(m, k))
			return 0;
	return 1;
}

/**
 * jetwatt_mode_raise() - raise each knob of a maximum to its value in a mode
 * @most: the maximum; a knob whose value is below that in @m gets the value in @m
 * @m: the mode to include
 */
static inline void jetwatt_mode_raise(struct jetwatt_mode *most, const struct jetwatt_mode *m)
{
	jetwatt_each_knob(k)
		if (jetwatt_mode_get(m, k) > jetwatt_mode_get(most, k))
			jetwatt_mode_set(most, k, jetwatt_mode_get(m, k));
}

/**
 * jetwatt_mode_lower() - lower each knob of a minimum to its value in a mode
 * @least: the minimum; a knob whose value is above that in @m gets the value in @m
 * @m: the mode to include
 */
static inline void jetwatt_mode_lower(struct jetwatt_mode *least, const struct jetwatt_mode *m)
{
	jetwatt_each_knob(k)
		if (jetwatt_mode_get(m, k) < jetwatt_mode_get(least, k))
			jetwatt_mode_set(least, k, jetwatt_mode_get(m, k));
}

/**
 * jetwatt_mode_same() - compare two modes
 * @a: a mode
 * @b: another mode
 *
 * Return: 1: all knobs have equal values in both modes; 0: at least one knob differs.
 */
static inline int jetwatt_mode_same(const struct jetwatt_mode *a, const struct jetwatt_mode *b)
{
	jetwatt_each_knob(k)
		if (jetwatt_mode_get(a, k) != jetwatt_mode_get(b, k))
			return 0;
	return 1;
}

/**
 * jetwatt_mode_order() - compare two modes for sorting
 * @a: a mode
 * @b: another mode
 *
 * The knobs are compared in the order of JETWATT_KNOB_ROWS(); the first knob that differs decides.
 *
 * Return: -1: @a sorts before @b; 0: they are equal; 1: @a sorts after @b.
 */
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
/* Telemetry: values other than rail power and knobs (e.g. temperatures) */

/*
 * Numbers of the telemetry slots: one slot per channel of each series kind.
 * JETWATT_TELEMETRY_TEMP_MC is the first slot of JETWATT_SERIES_TEMP_MC. Slot numbers change when a
 * kind gets more channels, so files store the kind and the channel instead of the slot.
 */
enum jetwatt_telemetry_slot {
#define JETWATT_TELEMETRY_ID(ID, reader, channels, ...)				\
	JETWATT_TELEMETRY_##ID,							\
	JETWATT_TELEMETRY_##ID##_END = JETWATT_TELEMETRY_##ID + (channels) - 1,
	JETWATT_SERIES_ROWS(JETWATT_TELEMETRY_ID)
#undef JETWATT_TELEMETRY_ID
	JETWATT_TELEMETRY_SLOTS
};

/*
 * The value is unknown: the board has no such sensor, the sensor could not be read, or its last
 * reading is more than three seconds old.
 */
#define JETWATT_TELEMETRY_NONE	INT64_MIN
/* Size of the buffer for a name or title, with its terminating 0. */
#define JETWATT_TELEMETRY_NAME_LEN	32

/**
 * struct jetwatt_telemetry - the telemetry values at one time
 * @value: value of each slot, in the unit of its row; JETWATT_TELEMETRY_NONE: unknown
 */
struct jetwatt_telemetry {
	int64_t value[JETWATT_TELEMETRY_SLOTS];
};

/**
 * struct jetwatt_series_row - one row of JETWATT_SERIES_ROWS(), for loops over all series
 * @kind: enum jetwatt_series
 * @reader: enum jetwatt_series_reader
 * @channels: number of telemetry slots of the kind
 * @type: enum jetwatt_series_type
 * @first: slot of the first channel
 * @per: number of units (@unit) in one base unit (@base)
 * @name: name of the series in columns and keys; '#' stands for the channel's number
 * @title: name for messages and tables; '#' stands for the channel's number
 * @unit: unit of the value
 * @base: base unit, for metrics and tables
 * @metric: name of the metric family, without the suffix _total of a counter
 * @label: name of the metric label that distinguishes the channels
 * @files: files of the series in sysfs, as in JETWATT_SERIES_ROWS()
 * @help: help text of the metric
 */
struct jetwatt_series_row {
	uint32_t kind, reader, channels, type, first, per;
	const char *name, *title, *unit, *base, *metric, *label, *files, *help;
};

/**
 * jetwatt_series_row() - return the row of a series kind
 * @kind: enum jetwatt_series
 *
 * Context: any thread; does not block.
 * Return: the row, valid for the lifetime of the program; NULL: this version of the library does
 * not know the kind.
 */
const struct jetwatt_series_row *jetwatt_series_row(uint32_t kind);
/**
 * jetwatt_telemetry_row() - return the row of a telemetry slot
 * @slot: the slot, less than JETWATT_TELEMETRY_SLOTS
 * @channel: set to the number of the slot's channel, from 1; may be NULL
 *
 * Context: any thread; does not block.
 * Return: the row, valid for the lifetime of the program.
 */
const struct jetwatt_series_row *jetwatt_telemetry_row(unsigned int slot, unsigned int *channel);
/**
 * jetwatt_telemetry_slot() - return the slot of a channel
 * @kind: enum jetwatt_series
 * @channel: number of the channel, from 1
 *
 * Return: the slot; -1: the kind is unknown or has no such channel.
 */
int jetwatt_telemetry_slot(uint32_t kind, uint32_t channel);
/**
 * jetwatt_telemetry_name() - format the name of a slot, with the channel's number for '#'
 * @slot: the slot, less than JETWATT_TELEMETRY_SLOTS
 * @buf: receives the name
 *
 * Return: @buf.
 */
const char *jetwatt_telemetry_name(unsigned int slot, char buf[JETWATT_TELEMETRY_NAME_LEN]);
/**
 * jetwatt_telemetry_title() - format the title of a slot, with the channel's number for '#'
 * @slot: the slot, less than JETWATT_TELEMETRY_SLOTS
 * @buf: receives the title
 *
 * Return: @buf.
 */
const char *jetwatt_telemetry_title(unsigned int slot, char buf[JETWATT_TELEMETRY_NAME_LEN]);
/**
 * jetwatt_telemetry_clear() - set all values to JETWATT_TELEMETRY_NONE
 * @t: the values to clear
 */
void jetwatt_telemetry_clear(struct jetwatt_telemetry *t);

#define JETWATT_SLOT_NEXT(s)	((s) + 1u)
/** jetwatt_each_slot() - loop over all telemetry slots; declares the loop variable @s */
#define jetwatt_each_slot(s)							\
	for (unsigned int s = 0; s < JETWATT_TELEMETRY_SLOTS; s = JETWATT_SLOT_NEXT(s))

/**
 * struct jetwatt_reading - one reading of the telemetry series that libjetwatt reads from sysfs
 * @time_ns: time of the reading
 * @of: telemetry values; JETWATT_TELEMETRY_NONE: unknown, or the series is not read from sysfs
 */
struct jetwatt_reading {
	uint64_t time_ns;
	struct jetwatt_telemetry of;
};

/* Receives a reading; @r is valid until the function returns. */
typedef void (*jetwatt_reading_fn)(const struct jetwatt_reading *r, void *arg);

/* A reader of the telemetry series that are only in sysfs (JETWATT_SERIES_READER_SYSFS). */
struct jetwatt_sysfs;
/**
 * jetwatt_sysfs_open() - create a reader of the telemetry series in sysfs
 * @fs: set to the reader, or to NULL on error; the caller frees it with jetwatt_sysfs_close()
 * @sysfs: mount point of sysfs; NULL: /sys
 *
 * Return: 0; -ENOMEM.
 */
int jetwatt_sysfs_open(struct jetwatt_sysfs **fs, const char *sysfs);
/* Number of calls of jetwatt_sysfs_read() from one search for files to the next: files that a
 * driver adds meanwhile have no values. A search took 18 ms on a CPU of 125 million instructions
 * per second. */
#define JETWATT_SYSFS_SEARCH_CALLS	300
/**
 * jetwatt_sysfs_read() - read all telemetry series in sysfs that the board has
 * @fs: the reader
 * @r: receives the values and the time
 *
 * The first call searches for the files. Another search follows after JETWATT_SYSFS_SEARCH_CALLS
 * calls, or in the next call if a file could not be read.
 *
 * Context: blocks while drivers fill in the files, which may take milliseconds per file; one call
 * per second is enough.
 * Return: number of values that were read.
 */
int jetwatt_sysfs_read(struct jetwatt_sysfs *fs, struct jetwatt_reading *r);
/**
 * jetwatt_sysfs_close() - free a reader
 * @fs: the reader; may be NULL
 */
void jetwatt_sysfs_close(struct jetwatt_sysfs *fs);

/* ------------------------------------------------------------------ */
/* The module: information, configuration, samples, events            */

/* A connection to jetwatt.ko: see jetwatt_open(). */
struct jetwatt;

/**
 * struct jetwatt_info - properties of the module and the board
 * @version: version of the module
 * @board: first "compatible" string of the device tree's root; "" without a device tree
 * @chips: number of sensor chips, including those that have disappeared
 * @rails: number of rails
 * @ring: capacity of the module's ring, in samples
 * @running: 1 while the sampler runs at a rate above 0
 * @total_scope: part of the board that the total power covers, enum jetwatt_scope of
 *	<linux/jetwatt.h>
 */
struct jetwatt_info {
	char version[32];
	char board[64];
	uint32_t chips, rails, ring, running;
	uint32_t total_scope;
};

/**
 * struct jetwatt_chip - a sensor chip, as the module describes it
 * @id: identifier; stays the same when the chip disappears and comes back
 * @bus: number of the I2C adapter
 * @addr: 7-bit I2C address
 * @bus_hz: clock of the I2C bus, Hz
 * @config: last value read of the chip's (first) configuration register
 * @refresh_mhz: rate at which a channel gets new values, mHz; 0: no continuous conversion
 * @lost: 1 while the chip is absent or does not answer
 * @sum_channels: mask of the channels whose shunt voltages the chip adds up; 0: unknown
 * @errors: number of failed I2C transfers that included registers of the chip, except those that
 *	only measured the speed of the bus
 * @model: name of the chip, "ina3221" for instance
 * @shunt_us: duration of one conversion of a shunt voltage, us
 * @averages: number of conversions that are averaged into a shunt voltage; 0: the module or the
 *	trace is of a version without this member; @shunt_us and all members below are then 0 too
 * @filter: 1: the chip averages with a recursive filter, out += (new - out) / @averages, and has a
 *	new value after each conversion; 0: the chip averages blocks of @averages conversions
 * @step_pv: LSB of a shunt voltage in the range in use, pV
 * @offset_nv: maximum offset of a shunt voltage at 25 degrees Celsius by the data sheet, nV;
 *	0: the data sheet does not specify it
 * @gain_ppm: maximum gain error of a shunt voltage at 25 degrees Celsius, ppm; 0: not specified
 * @bus_offset_uv: maximum offset of a bus voltage at 25 degrees Celsius, uV; 0: not specified
 * @bus_gain_ppm: maximum gain error of a bus voltage at 25 degrees Celsius, ppm; 0: not specified
 * @bus_step_pv: LSB of a bus voltage, pV
 * @clipped: number of shunt voltage readings at the lower or upper end of the chip's range, so that
 *	the true current may be outside of the range
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

/**
 * struct jetwatt_rail - a power rail, measured by one channel of a sensor chip
 * @id: identifier; stays the same when the chip disappears and comes back
 * @chip: jetwatt_chip::id of the rail's chip
 * @channel: channel of the chip, from 0
 * @shunt_uohm: shunt resistance, uOhm, from the module parameter "shunt" or the device tree; 0:
 *	unknown
 * @enabled: 1: the chip converts the channel
 * @requested_mhz: requested sampling rate, mHz
 * @read_mhz: measured rate at which the module reads the shunt voltage, mHz
 * @fresh_mhz: rate at which a read returns a new value, mHz: the lower of @read_mhz and the rate at
 *	which the chip converts
 * @parent: id of the rail that feeds this rail, so that its power includes the power of this rail;
 *	UINT32_MAX: none
 * @in_total: 1: the total power includes this rail
 * @step_uw: power of one LSB of the shunt voltage at the bus voltage read last, uW; 0: unknown, or
 *	the client may not subscribe to samples
 * @skew_ns: time from the read of the first shunt of a tick to the read of this rail's shunt, ns; 0
 *	in a trace
 * @label: name from the device tree; without one, "in1" to "in3". If a rail that the list or the
 *	trace has before this one has the same name, " (ID)" is appended, with the rail's @id
 */
struct jetwatt_rail {
	uint32_t id, chip, channel, shunt_uohm, enabled;
	uint32_t requested_mhz, read_mhz, fresh_mhz;
	uint32_t parent;
	uint32_t in_total;
	uint32_t step_uw;
	uint32_t skew_ns;
	char label[JETWATT_LABEL_LEN];
};

/**
 * struct jetwatt_clock - the present value of a clock, a temperature, the GPU load or the number of
 * online CPUs
 * @kind: enum jetwatt_series of <linux/jetwatt.h>; determines the unit of @value
 * @index: first CPU of a cpufreq policy, number of a thermal zone, or 0
 * @value: the value; JETWATT_VALUE_NONE: unknown
 * @label: name, "cpu0" or "emc" for instance
 */
struct jetwatt_clock {
	uint32_t kind, index;
	int32_t value;
	char label[JETWATT_LABEL_LEN];
};

/**
 * struct jetwatt_config - configuration of the sampler
 * @rate_hz: sampling rate, ticks per second; 0: the highest rate at which every tick reads all
 *	shunt voltages
 * @batch: number of samples in a batch, 1 to JETWATT_BATCH_MAX
 * @batch_age_ms: maximum age of a batch: an incomplete batch is sent when its oldest sample reaches
 *	this age, 1 to 10,000 ms
 * @bus_share_pct: maximum share of an I2C bus's time that the sampler uses, 1 to 90 %
 * @rate_max_hz: highest rate that the module accepts; read only
 * @active_hz: rate in use, 0 while the sampler is stopped; read only
 *
 * jetwatt_config_set() leaves a member unchanged whose value is UINT32_MAX.
 */
struct jetwatt_config {
	uint32_t rate_hz, batch, batch_age_ms, bus_share_pct;
	uint32_t rate_max_hz, active_hz;
};

/**
 * struct jetwatt_stats - counters of the sampler since the module was loaded
 * @ticks: number of samples taken
 * @missed: number of ticks that were skipped because the previous tick ended too late
 * @i2c_errors: number of failed I2C transfers of all chips, also those that measured the speed of a
 *	bus
 * @late_p50_ns: median wake-up latency of the sampler thread, ns: upper limit of its bin in a
 *	histogram whose bins double in width
 * @late_p99_ns: 99th percentile of the wake-up latency, ns, from the same histogram as @late_p50_ns
 * @late_max_ns: maximum of the wake-up latency, ns
 * @tick_ns: mean duration of the I2C transfers of one tick, ns
 * @lost: total number of samples lost, over all subscribers
 * @bus_permille: share of the busiest I2C bus's time that the sampler used in the last second in
 *	which it ran, in 1/1000
 * @throttled: number of ticks that the scheduler's real-time throttling delayed
 * @cpu_ns: CPU time of the sampler thread at the last sample, ns
 */
struct jetwatt_stats {
	uint64_t ticks, missed, i2c_errors;
	uint64_t late_p50_ns, late_p99_ns, late_max_ns, tick_ns, lost;
	uint32_t bus_permille;
	uint64_t throttled;
	uint64_t cpu_ns;
};

/**
 * struct jetwatt_energy - an energy counter of the module, counting since the module was loaded
 * @uj: energy, uJ; never decreases
 * @time_ns: time of the counter's last update (total: the oldest time of its rails); 0: never
 *	updated
 * @blind_ns: duration, since the first sample, for which the counter does not include the energy,
 *	ns of CLOCK_BOOTTIME: the rail was not read for more than two seconds, or the machine was
 *	suspended
 * @rail: jetwatt_rail::id; UINT32_MAX: the total
 * @uw: power at the last update, uW
 */
struct jetwatt_energy {
	uint64_t uj, time_ns, blind_ns;
	uint32_t rail;
	int32_t uw;
};

/**
 * struct jetwatt_box - the contents of the module's black box
 * @time_ns: time of the event that froze the black box
 * @seq: sequence number of the first sample in the box
 * @cause: enum jetwatt_box_cause of <linux/jetwatt.h>
 * @index: over-current: the rail's id; thermal: number of the thermal zone; request: 0
 * @count: number of samples in the box
 * @missed: number of later alarms and calls of jetwatt_box_freeze(), not recorded because the box
 *	was not empty
 */
struct jetwatt_box {
	uint64_t time_ns, seq;
	uint32_t cause, index, count, missed;
};

/**
 * struct jetwatt_series_view - one series of a batch
 * @kind: enum jetwatt_series
 * @index: number of the rail, chip, CPU or thermal zone that the series belongs to: see enum
 *	jetwatt_series
 * @value: jetwatt_samples::count values; JETWATT_VALUE_NONE: the series was not read in this tick
 */
struct jetwatt_series_view {
	uint32_t kind, index;
	const int32_t *value;
};

/**
 * struct jetwatt_samples - a batch of samples, valid until the callback returns
 * @seq: sequence number of the first sample
 * @gap: number of samples that are missing between the previous batch and this one
 * @lost: number of samples that this handle has lost since it subscribed, or that this dump of the
 *	ring or the black box has lost
 * @count: number of samples
 * @nr_series: number of series
 * @time_ns: time of each sample: the middle of the tick's I2C transfers
 * @series: array of the batch's series, with @count values each
 */
struct jetwatt_samples {
	uint64_t seq, gap, lost;
	uint32_t count, nr_series;
	const uint64_t *time_ns;
	const struct jetwatt_series_view *series;
};

/**
 * struct jetwatt_event - an event of the module
 * @kind: enum jetwatt_event_kind of <linux/jetwatt.h>
 * @chip: jetwatt_chip::id, if the event concerns a chip; else 0
 * @time_ns: time of the event
 * @value: number that belongs to the event: see enum jetwatt_event_kind
 */
struct jetwatt_event {
	uint32_t kind, chip;
	uint64_t time_ns, value;
};

/* Callbacks of the stream; the structure is valid until the function returns. */
typedef void (*jetwatt_samples_fn)(const struct jetwatt_samples *s, void *arg);
typedef void (*jetwatt_event_fn)(const struct jetwatt_event *e, void *arg);

/**
 * jetwatt_open() - connect to the module
 * @jw: set to the connection, or to NULL on error; the caller frees it with jetwatt_close()
 *
 * Context: blocks until the kernel answers, at most 10 s.
 * Return: 0; -ENOENT: the module is not loaded, or the process is not in the initial network
 * namespace; -EPROTO: the module uses another version of the protocol; -EBADMSG; -ENOMEM;
 * -ETIMEDOUT; or the error of a socket call. jetwatt_error(NULL) has the text.
 */
int jetwatt_open(struct jetwatt **jw);
/**
 * jetwatt_close() - end a connection
 * @jw: the connection; may be NULL
 *
 * The kernel ends the connection's subscription.
 */
void jetwatt_close(struct jetwatt *jw);

/**
 * jetwatt_error() - return the text of the last error
 * @jw: the connection; NULL: the calling thread's last failed jetwatt_open()
 *
 * Return: the kernel's explanation of the error (extended ack) if there is one, else the library's
 * text. Never NULL; valid until the next call on @jw, or the thread's next call of jetwatt_open().
 */
const char *jetwatt_error(const struct jetwatt *jw);

/*
 * Requests to the module. Each request blocks until the module has answered. Dumps of samples have
 * several replies, between which the callback runs.
 *
 * Common errors: -EPERM: a capability is missing; -ENOENT: the module has been unloaded;
 * -ETIMEDOUT: no reply within 10 s; -EBADMSG: malformed answer; -ENOMEM; or the error of a socket
 * call. jetwatt_error() has the text.
 */
/**
 * jetwatt_info() - read the properties of the module and the board
 * @jw: the connection
 * @info: receives them
 *
 * Return: 0; or a common error.
 */
int jetwatt_info(struct jetwatt *jw, struct jetwatt_info *info);
/**
 * jetwatt_chips() - list the sensor chips
 * @jw: the connection
 * @chips: receives the first @max chips
 * @max: number of entries of @chips
 *
 * Return: total number of chips, which may exceed @max; or a common error.
 */
int jetwatt_chips(struct jetwatt *jw, struct jetwatt_chip *chips, int max);
/**
 * jetwatt_rails() - list the rails
 * @jw: the connection
 * @rails: receives the first @max rails
 * @max: number of entries of @rails
 *
 * Return: total number of rails, which may exceed @max; or a common error.
 */
int jetwatt_rails(struct jetwatt *jw, struct jetwatt_rail *rails, int max);
/**
 * jetwatt_clocks() - list clocks, temperatures, GPU load and number of online CPUs
 * @jw: the connection
 * @clocks: receives the first @max entries
 * @max: number of entries of @clocks; the module has at most JETWATT_CLOCKS_MAX
 *
 * For the age of the values, see JETWATT_CMD_CLOCK_GET in <linux/jetwatt.h>.
 *
 * Return: total number of entries, which may exceed @max; or a common error.
 */
int jetwatt_clocks(struct jetwatt *jw, struct jetwatt_clock *clocks, int max);
/**
 * jetwatt_config_get() - read the configuration of the sampler
 * @jw: the connection
 * @config: receives it
 *
 * Return: 0; or a common error.
 */
int jetwatt_config_get(struct jetwatt *jw, struct jetwatt_config *config);
/**
 * jetwatt_config_set() - change the configuration of the sampler
 * @jw: the connection
 * @config: new values; UINT32_MAX leaves a member unchanged
 *
 * Needs CAP_NET_ADMIN.
 *
 * Return: 0; -ERANGE: the rate is too high (the error text names the highest possible rate) or
 * another value is out of range; -ENODEV: a rate is requested and there is no sensor chip; or a
 * common error.
 */
int jetwatt_config_set(struct jetwatt *jw, const struct jetwatt_config *config);
/**
 * jetwatt_stats() - read the counters of the sampler
 * @jw: the connection
 * @stats: receives them
 *
 * Return: 0; or a common error.
 */
int jetwatt_stats(struct jetwatt *jw, struct jetwatt_stats *stats);
/**
 * jetwatt_sampler_cpu() - bind the sampler thread to a CPU
 * @jw: the connection
 * @cpu: number of the CPU; UINT32_MAX: any CPU
 *
 * Needs CAP_NET_ADMIN.
 *
 * Return: 0; -EINVAL: the CPU is not online; or a common error.
 */
int jetwatt_sampler_cpu(struct jetwatt *jw, uint32_t cpu);
/**
 * jetwatt_energies() - read the energy counters
 * @jw: the connection
 * @energies: receives the first @max counters: first the counter of the total, then one counter per
 *	rail
 * @max: number of entries of @energies
 *
 * Needs CAP_NET_ADMIN, and CAP_PERFMON or CAP_SYS_ADMIN.
 *
 * Return: total number of counters, which may exceed @max; or a common error.
 */
int jetwatt_energies(struct jetwatt *jw, struct jetwatt_energy *energies, int max);

/**
 * jetwatt_subscribe() - subscribe to samples
 * @jw: the connection
 * @fn: called for each batch, from jetwatt_dispatch(), and possibly from jetwatt_subscribe() before
 *	it returns; it must not call a function on @jw or close it
 * @arg: passed to @fn
 *
 * Needs CAP_NET_ADMIN, and CAP_PERFMON or CAP_SYS_ADMIN. Batches arrive at jetwatt_fd().
 *
 * Return: 0; -EALREADY: this connection has subscribed already; -ENODEV: there is no sensor
 * chip; -EUSERS: too many subscribers; or a common error.
 */
int jetwatt_subscribe(struct jetwatt *jw, jetwatt_samples_fn fn, void *arg);
/**
 * jetwatt_unsubscribe() - end the subscription and discard the batches in the socket
 * @jw: the connection
 *
 * Return: 0; -ENOENT: this connection has not subscribed; or a common error.
 */
int jetwatt_unsubscribe(struct jetwatt *jw);
/**
 * jetwatt_events() - receive the module's events
 * @jw: the connection
 * @fn: called for each event, from jetwatt_dispatch(); it must not call a function on @jw or
 *	close it. A later call of jetwatt_events() replaces @fn
 * @arg: passed to @fn
 *
 * Needs no capability. Events arrive at jetwatt_fd().
 *
 * Return: 0; -EPROTO: the module has no multicast group for events; or the error of a socket
 * call.
 */
int jetwatt_events(struct jetwatt *jw, jetwatt_event_fn fn, void *arg);
/**
 * jetwatt_samples_since() - read the samples in the module's ring
 * @jw: the connection
 * @seq: sequence number of the first sample to read; if the ring does not hold it any more, the
 *	first batch's jetwatt_samples::gap is the number of samples that are missing
 * @fn: called for each batch, before jetwatt_samples_since() returns; it must not call a function
 *	on @jw or close it
 * @arg: passed to @fn
 *
 * Needs CAP_NET_ADMIN, and CAP_PERFMON or CAP_SYS_ADMIN.
 *
 * Return: number of samples delivered; or a common error.
 */
int jetwatt_samples_since(struct jetwatt *jw, uint64_t seq, jetwatt_samples_fn fn, void *arg);

/*
 * The black box: a copy of the last samples before an over-current, a thermal trip or a call of
 * jetwatt_box_freeze(). The module holds the copy until jetwatt_box_clear(). The event
 * JETWATT_EVENT_BOX_FROZEN announces it. All functions need CAP_NET_ADMIN.
 */
/**
 * jetwatt_box_keep() - set the length of the black box
 * @jw: the connection
 * @ms: duration of the samples to copy, at most 600,000 ms; 0: over-current and thermal trips do
 *	not fill the black box, and jetwatt_box_freeze() finds no samples
 *
 * Return: 0; -ERANGE: @ms exceeds 600,000; or a common error.
 */
int jetwatt_box_keep(struct jetwatt *jw, uint32_t ms);
/**
 * jetwatt_box_freeze() - fill the black box with the latest samples
 * @jw: the connection
 *
 * Return: 0; -EBUSY: the box is not empty; -ENODATA: no sample is as recent as jetwatt_box_keep()
 * requires; or a common error.
 */
int jetwatt_box_freeze(struct jetwatt *jw);
/**
 * jetwatt_box_clear() - empty the black box so that the next event can fill it
 * @jw: the connection
 *
 * Return: 0; -ENOENT: the box is empty; or a common error.
 */
int jetwatt_box_clear(struct jetwatt *jw);
/**
 * jetwatt_box() - read cause, time and size of the black box
 * @jw: the connection
 * @box: receives the description
 *
 * Return: 0; -ENOENT: the box is empty; or a common error.
 */
int jetwatt_box(struct jetwatt *jw, struct jetwatt_box *box);
/**
 * jetwatt_box_samples() - read the samples in the black box
 * @jw: the connection
 * @fn: called for each batch, before jetwatt_box_samples() returns; it must not call a function
 *	on @jw or close it
 * @arg: passed to @fn
 *
 * Needs CAP_PERFMON or CAP_SYS_ADMIN as well.
 *
 * Return: number of samples delivered; -ENOENT: the box is empty; or a common error.
 */
int jetwatt_box_samples(struct jetwatt *jw, jetwatt_samples_fn fn, void *arg);

/**
 * jetwatt_fd() - return the file descriptor to poll
 * @jw: the connection
 *
 * The descriptor becomes readable (POLLIN) when batches or events have arrived; then call
 * jetwatt_dispatch(). The connection owns the descriptor: do not read from it or close it. When the
 * module is unloaded, nothing arrives any more, and no call reports it; to notice this, take some
 * seconds without a batch as the end of the stream.
 *
 * Return: the descriptor.
 */
int jetwatt_fd(const struct jetwatt *jw);
/**
 * jetwatt_dispatch() - call the callbacks for the batches and events that have arrived
 * @jw: the connection
 *
 * One call handles at most 512 datagrams per socket. An overrun of a socket is not an error:
 * jetwatt_samples::gap and jetwatt_samples::lost count lost samples; lost events are not counted.
 *
 * Context: does not block.
 * Return: number of messages handled; -EBADMSG: malformed message; or the error of a socket call.
 */
int jetwatt_dispatch(struct jetwatt *jw);

/* ------------------------------------------------------------------ */
/* The probe: detects when threads wait for the GPU                   */

/* A probe: see jetwatt_probe_open(). */
struct jetwatt_probe;

/**
 * enum jetwatt_sync_call - kind of a wait
 * @JETWATT_SYNC_POLLFD: poll() or ppoll() of a descriptor that is armed for a fence, or of an
 *	event of the GPU's driver
 * @JETWATT_SYNC_SYNCPT: an ioctl that waits for a fence
 * @JETWATT_SYNC_STREAM: cuStreamSynchronize() or cudaStreamSynchronize()
 * @JETWATT_SYNC_EVENT: cuEventSynchronize() or cudaEventSynchronize()
 * @JETWATT_SYNC_CONTEXT: cuCtxSynchronize() or cudaDeviceSynchronize()
 * @JETWATT_SYNC_MARK: a minibatch that the program marked: see jetwatt_mark_begin(); of
 *	jetwatt_mark(): its time, as start and end
 * @JETWATT_SYNC_MARK_BEGIN: start of a marked minibatch; at the end of the minibatch, a
 *	JETWATT_SYNC_MARK with both times follows
 * @JETWATT_SYNC_HELPER: a POLLFD or SYNCPT wait of the thread cuda-EvtHandlr, which libcuda
 *	starts for callbacks and which sometimes waits for other threads; reported only for a
 *	process whose other threads wait rarely or never
 * @JETWATT_SYNC_COPY: a synchronous copy: cuMemcpyDtoH(), cudaMemcpy() and others; reported only if
 *	the process has launched work since its previous wait
 * @JETWATT_SYNC_QUERY: a loop of cuEventQuery() or cuStreamQuery() calls, reported as one wait. In
 *	the first reported loop of a thread, at least 6 calls, at most 2 ms apart on average,
 *	return "not ready"; in later loops fewer, or none if the GPU was done before the loop
 * @JETWATT_SYNC_CALLBACK: a call by libcuda of a function of the program, which the program asked
 *	for with cuLaunchHostFunc() or cuStreamAddCallback(): from the request to the call. Reported
 *	only for a process that does not wait in functions of libcuda: after 32 such calls without a
 *	wait
 * @JETWATT_SYNC_CALLS: number of kinds
 */
enum jetwatt_sync_call {
	JETWATT_SYNC_POLLFD,
	JETWATT_SYNC_SYNCPT,
	JETWATT_SYNC_STREAM,
	JETWATT_SYNC_EVENT,
	JETWATT_SYNC_CONTEXT,
	JETWATT_SYNC_MARK,
	JETWATT_SYNC_MARK_BEGIN,
	JETWATT_SYNC_HELPER,
	JETWATT_SYNC_COPY,
	JETWATT_SYNC_QUERY,
	JETWATT_SYNC_CALLBACK,
	JETWATT_SYNC_CALLS
};

/**
 * enum jetwatt_backend - backends of the probe, a bit mask, the best backend first
 * @JETWATT_BACKEND_UPROBE: BPF uprobes on functions of libcuda and the CUDA runtime; they also
 *	detect waits that spin without a system call, and launches of GPU work
 * @JETWATT_BACKEND_TRACEPOINT: BPF on the system calls below libcuda; detects blocking waits only
 * @JETWATT_BACKEND_MODULE: the system calls below libcuda, traced by jetwatt.ko, for kernels that
 *	cannot trace with BPF; detects blocking waits only
 * @JETWATT_BACKEND_MARKER: marks that the program sends: see jetwatt_mark_begin()
 */
enum jetwatt_backend {
	JETWATT_BACKEND_UPROBE = 1,
	JETWATT_BACKEND_TRACEPOINT = 2,
	JETWATT_BACKEND_MODULE = 4,
	JETWATT_BACKEND_MARKER = 8,
};
#define JETWATT_BACKENDS	4	/* number of backends */

/* Older names */
#define jetwatt_rung		jetwatt_backend
#define JETWATT_RUNG_UPROBE	JETWATT_BACKEND_UPROBE
#define JETWATT_RUNG_TRACEPOINT	JETWATT_BACKEND_TRACEPOINT
#define JETWATT_RUNG_MODULE	JETWATT_BACKEND_MODULE
#define JETWATT_RUNG_MARKER	JETWATT_BACKEND_MARKER
#define JETWATT_RUNGS		JETWATT_BACKENDS

#define JETWATT_MARKS_MAX	32	/* number of different mark names per probe */
#define JETWATT_MARK_LEN	64	/* size of a mark's name, with its terminating 0 */

/**
 * struct jetwatt_sync - one finished wait for the GPU
 * @enter_ns: time at which the thread began to wait; if an asynchronous copy to memory that is not
 *	pinned precedes the wait, the start of the copy, because the copy waits
 * @exit_ns: time at which the wait ended: the GPU has finished the work that the thread waited for
 * @cgroup: id of the thread's v2 cgroup; 0: unknown
 * @tgid: process id in the initial pid namespace
 * @tid: thread id in the initial pid namespace; of a mark: in the program's pid namespace, or 0; of
 *	a mark for another process (jetwatt_mark_for()): id of that process
 * @call: enum jetwatt_sync_call
 * @ret: return value of the system call or function that waited; JETWATT_SYNC_MARK and
 *	JETWATT_SYNC_MARK_BEGIN: index of the name in jetwatt_probe_state::mark
 * @launch_ns: time at which the process first launched GPU work after its previous wait; until
 *	then, the process was stalled: it had launched no work. 0: no launch, or launches are not
 *	traced
 * @launches: number of launches since the previous wait of the process
 * @lost: number of waits, of any process, known to be lost since the previous reported wait
 */
struct jetwatt_sync {
	uint64_t enter_ns, exit_ns, cgroup;
	uint32_t tgid, tid;
	uint32_t call;
	int32_t ret;
	uint64_t launch_ns;
	uint32_t launches, lost;
};

/**
 * struct jetwatt_probe_opts - which processes to probe, and how
 * @tgid: process id in the initial pid namespace; 0: all processes
 * @children: 1: probe the descendants of @tgid as well, existing and future ones. Without tracefs,
 *	a child is probed only after fork() has returned in its parent
 * @cgroup: id of the v2 cgroup whose processes to probe; 0: all cgroups
 * @ring_kib: size of the ring buffer, KiB: a power of two, at least one page (recent versions of
 *	libbpf round up); 0: 1024
 * @backends: mask of enum jetwatt_backend: backends to open; 0: all that are available, but the
 *	module only if BPF is not available. If both JETWATT_BACKEND_UPROBE and
 *	JETWATT_BACKEND_TRACEPOINT are open, the waits of a process are taken from its system calls
 *	until it first waits in a function of libcuda
 * @cgroup_path: directory of a v2 cgroup, instead of @cgroup. The BPF backends include the cgroups
 *	below it, since Linux 5.15 and in the initial cgroup namespace only. The module probes the
 *	processes that are in the cgroup, or in one below it, when the probe is opened, and their
 *	future descendants
 * @mark_fd: descriptor at which marks arrive, from jetwatt_mark_pair(); 0: no marks
 * @prompt: 1: wake the reader at the end of every wait, for callers that react to waits. The
 *	wake-ups slow down a job with many short waits. BPF backends only
 * @count: 1: count the calls of CUDA's functions for jetwatt_probe_entries()
 */
struct jetwatt_probe_opts {
	uint32_t tgid;
	uint32_t children;
	uint64_t cgroup;
	uint32_t ring_kib;
	union {
		uint32_t backends;
		uint32_t rungs;
	};
	const char *cgroup_path;
	int mark_fd;
	uint32_t prompt;
	uint32_t count;
};

/**
 * struct jetwatt_probe_state - state of the probe's backends
 * @attached: mask of enum jetwatt_backend: backends that are active; JETWATT_BACKEND_UPROBE becomes
 *	active when a CUDA library is found in the system or in a process
 * @seen: number of reported waits of each enum jetwatt_sync_call
 * @launches: number of launches of GPU work before the reported waits
 * @marks: number of entries of @mark
 * @mark: names of marks; jetwatt_sync::ret is an index into it
 * @library: path of the CUDA library that was attached last, in the mount namespace of its process
 * @why: for each backend, by the number of its bit in enum jetwatt_backend: reason why it is not
 *	active, or its last error; "": no error
 */
struct jetwatt_probe_state {
	uint32_t attached;
	uint64_t seen[JETWATT_SYNC_CALLS];
	uint64_t launches;
	uint32_t marks;
	char mark[JETWATT_MARKS_MAX][JETWATT_MARK_LEN];
	char library[256];
	char why[JETWATT_BACKENDS][192];
};

/* Callback that receives a wait; @s is valid until the callback returns. */
typedef void (*jetwatt_sync_fn)(const struct jetwatt_sync *s, void *arg);

/**
 * jetwatt_probe_open() - attach the probe
 * @p: set to the probe, or to NULL on error; the caller frees it with jetwatt_probe_close()
 * @opts: which processes to probe; NULL: all processes, with the best backends
 * @fn: called for each finished wait, from jetwatt_probe_dispatch() and jetwatt_probe_flush(); may
 *	be NULL
 * @arg: passed to @fn
 *
 * To keep the overhead of jobs with many short waits low, the BPF backends wake the reader at most
 * every 10 ms (unless @opts->prompt is 1), and the reader polls again 20 ms after it was woken.
 *
 * Before Linux 6.6, uprobes may need CAP_SYS_ADMIN in addition: since Linux 5.10.240, 5.15.189 and
 * 6.1.146. Without it, waits that spin in libcuda are not seen. The function then opens the other
 * backends, and jetwatt_probe_state::why of JETWATT_BACKEND_UPROBE contains "CAP_SYS_ADMIN". To see
 * waits for callbacks (JETWATT_SYNC_CALLBACK) of another user's process, CAP_SYS_PTRACE,
 * CAP_DAC_READ_SEARCH and CAP_SYS_ADMIN are needed; without them, the system calls of the process
 * are reported.
 *
 * Return: 0; -EPERM: CAP_BPF and CAP_PERFMON (or root) are needed; -EOPNOTSUPP: this kernel cannot
 * trace with BPF or forbids it, or only marks are requested without @opts->mark_fd, or the module
 * is to filter by @opts->cgroup, or @opts->tgid is not 0 and the caller is not in the initial pid
 * namespace, or the caller is in a time namespace whose CLOCK_MONOTONIC has an offset; -ESRCH:
 * @opts->children is 1 and there is no process @opts->tgid, or the module finds no process in
 * @opts->cgroup_path; -EINVAL: @opts->backends contains no backend, or @opts->cgroup_path is not a
 * v2 cgroup; -ENOMEM; or another negative errno. jetwatt_probe_error() has the text.
 */
int jetwatt_probe_open(struct jetwatt_probe **p, const struct jetwatt_probe_opts *opts,
		       jetwatt_sync_fn fn, void *arg);
/**
 * jetwatt_probe_close() - detach the probe and free it
 * @p: the probe; may be NULL
 *
 * Waits that the probe holds back (see jetwatt_probe_flush()) are discarded.
 */
void jetwatt_probe_close(struct jetwatt_probe *p);
/**
 * jetwatt_probe_fd() - return the file descriptor to poll
 * @p: the probe
 *
 * The descriptor becomes readable (POLLIN) when jetwatt_probe_dispatch() is to be called. The probe
 * owns the descriptor: do not read from it or close it.
 *
 * Return: the descriptor.
 */
int jetwatt_probe_fd(const struct jetwatt_probe *p);
/**
 * jetwatt_probe_dispatch() - report the waits that have ended
 * @p: the probe
 *
 * Context: calls the callback of jetwatt_probe_open(); does not wait for new records.
 * Return: number of waits reported; or a negative errno.
 */
int jetwatt_probe_dispatch(struct jetwatt_probe *p);
/**
 * jetwatt_probe_flush() - report all waits that are held back
 * @p: the probe
 *
 * The probe holds back the waits of the thread cuda-EvtHandlr (JETWATT_SYNC_HELPER) in a process
 * that has not waited itself yet. jetwatt_probe_dispatch() reports them half a second after they
 * ended, or earlier if too many are held back; if another thread of the process waits first, they
 * are dropped. A join discards them (jetwatt_join_late()) if it gets later waits of another
 * process, or later marks, before. When the job has ended, call this function after
 * jetwatt_probe_dispatch().
 *
 * Return: number of waits reported.
 */
int jetwatt_probe_flush(struct jetwatt_probe *p);
/**
 * jetwatt_probe_dropped() - count the waits of cuda-EvtHandlr that were not reported
 * @p: the probe
 *
 * Return: number of waits of cuda-EvtHandlr that were dropped because its process has waits of
 * other threads.
 */
uint64_t jetwatt_probe_dropped(const struct jetwatt_probe *p);
/**
 * jetwatt_probe_lost() - count lost waits
 * @p: the probe
 *
 * Return: number of waits and marks that were lost since the probe was opened, usually because a
 * buffer was full; invalid marks count as well, and the marks after the first 4096 bytes of one
 * write to the marks' socket count as one. JETWATT_BACKEND_MODULE watches at most 64 of the
 * processes that exist when the probe is opened; each further one counts as one lost wait.
 */
uint64_t jetwatt_probe_lost(const struct jetwatt_probe *p);
/**
 * jetwatt_probe_state() - read the state of the backends
 * @p: the probe
 * @st: receives a copy of the state
 */
void jetwatt_probe_state(const struct jetwatt_probe *p, struct jetwatt_probe_state *st);
/**
 * struct jetwatt_probe_entry - calls of one function of CUDA by one process
 * @name: exported name, "cuStreamSynchronize" for instance; if several names have the same address,
 *	one of these names
 * @tgid: process id
 * @pad: unused, 0
 * @calls: number of calls
 */
struct jetwatt_probe_entry {
	char name[56];
	uint32_t tgid, pad;
	uint64_t calls;
};
/**
 * jetwatt_probe_entries() - count the calls of CUDA's functions since the probe was opened
 * @p: the probe, opened with jetwatt_probe_opts::count
 * @out: receives the entries
 * @max: number of entries of @out
 *
 * Calls of processes that have ended are missing.
 *
 * Return: number of entries filled in, at most @max; -EOPNOTSUPP: no active backend counts calls.
 */
int jetwatt_probe_entries(const struct jetwatt_probe *p, struct jetwatt_probe_entry *out, int max);
/**
 * jetwatt_probe_waiting() - check whether a thread is waiting for the GPU now
 * @p: the probe
 * @tid: thread id in the initial pid namespace
 *
 * Return: 1: the thread is waiting; 0: the thread is not waiting; -EOPNOTSUPP: no active backend
 * detects a wait before the wait has ended.
 */
int jetwatt_probe_waiting(const struct jetwatt_probe *p, uint32_t tid);

/* A counter of the requests that arrive at a cgroup: see jetwatt_arrivals_open(). */
struct jetwatt_arrivals;
/**
 * jetwatt_arrivals_open() - count the requests that arrive at the sockets of a v2 cgroup
 * @a: set to the counter, or to NULL on error; the caller frees it with jetwatt_arrivals_close()
 * @cgroup_path: directory of the cgroup
 *
 * A request is a UDP datagram, or a TCP segment with the flag PSH, which ends one write of a
 * client. Unix domain sockets are not counted. Needs CAP_BPF and CAP_NET_ADMIN.
 *
 * Return: 0; or a negative errno.
 */
int jetwatt_arrivals_open(struct jetwatt_arrivals **a, const char *cgroup_path);
/**
 * jetwatt_arrivals() - read the counter
 * @a: the counter
 *
 * Return: number of requests since jetwatt_arrivals_open().
 */
uint64_t jetwatt_arrivals(const struct jetwatt_arrivals *a);
/**
 * jetwatt_arrivals_close() - stop counting and free the counter
 * @a: the counter; may be NULL
 */
void jetwatt_arrivals_close(struct jetwatt_arrivals *a);
/**
 * jetwatt_probe_error() - return the text of the calling thread's last failed jetwatt_probe_open()
 *
 * Return: the text; never NULL; valid until the thread's next call of jetwatt_probe_open().
 */
const char *jetwatt_probe_error(void);
/* ------------------------------------------------------------------ */
/* Marks: a program reports the boundaries of its minibatches itself  */

/*
 * Functions for the program that is measured. Unless the environment variable JETWATT_MARK_FD has
 * the number of the socket for marks, which jetwatt passes to a command that it measures, the
 * functions only check the name. The first call duplicates this descriptor; later calls use the
 * duplicate. The functions do not wait for space in the socket: a mark that the socket cannot take
 * is counted and reported with the next mark. If the other end is closed, marks are dropped without
 * an error.
 *
 * A program in any language may write the lines "begin NAME\n" and "end NAME\n" to the descriptor
 * JETWATT_MARK_FD itself, or "NAME\n" where one minibatch ends and the next begins.
 *
 * Names are 1 to 63 printable ASCII characters without space and '@'.
 */
/**
 * jetwatt_mark_begin() - mark the start of a minibatch
 * @name: name of the mark
 *
 * The pairs of begin and end of a thread may nest.
 *
 * Context: any thread; does not block.
 * Return: 0; -EINVAL: invalid name; -EAGAIN: the mark was lost.
 */
int jetwatt_mark_begin(const char *name);
/**
 * jetwatt_mark_end() - mark the end of a minibatch
 * @name: name given to jetwatt_mark_begin() by the same thread
 *
 * Context: any thread; does not block.
 * Return: 0; -EINVAL: invalid name; -EAGAIN: the mark was lost.
 */
int jetwatt_mark_end(const char *name);
/**
 * jetwatt_mark() - mark the time at which one minibatch ends and the next begins
 * @name: name of the mark
 *
 * Context: any thread; does not block.
 * Return: 0; -EINVAL: invalid name; -EAGAIN: the mark was lost.
 */
int jetwatt_mark(const char *name);

/**
 * jetwatt_mark_for() - attribute the following marks of this process to another process
 * @pid: the other process; 0: this process
 *
 * Needed by a script that marks minibatches through helper programs, because each helper is a
 * process of its own.
 */
void jetwatt_mark_for(pid_t pid);

/**
 * jetwatt_mark_pair() - make the socket pair that transports marks, for the measuring program
 * @fd: fd[0] is for jetwatt_probe_opts::mark_fd; fd[1] is for the measured program to inherit (both
 *	have FD_CLOEXEC set). The caller closes both
 *
 * Return: 0; or a negative errno.
 */
int jetwatt_mark_pair(int fd[2]);

/* ------------------------------------------------------------------ */
/* The join: converts samples to power; sorts samples and waits by time */

/**
 * struct jetwatt_power - the power of all rails at one time
 * @seq: sequence number of the sample
 * @time_ns: time of the sample
 * @nr: number of rails
 * @valid: bit r is set if the shunt voltage of rail r was read in this tick and its bus voltage is
 *	known
 * @gap: 1: samples are missing before this sample
 * @uw: power of each rail, uW, in the order of jetwatt_rails(); 0 if the rail was never read or its
 *	shunt resistance is unknown. Voltages that were not read in this tick have their last value.
 *	The first sample is delivered when every enabled rail has been read, or after 64 ticks
 * @clock: the present power mode, as far as clocks are known; 0: unknown
 * @temp_mc: temperature of the hottest thermal zone, millidegrees Celsius; 0: unknown
 * @telemetry: the last telemetry values; a value that is more than three seconds old is
 *	JETWATT_TELEMETRY_NONE
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

/* A join: see jetwatt_join_new(). */
struct jetwatt_join;
/* Receives a power sample; @p is valid until the function returns. */
typedef void (*jetwatt_power_fn)(const struct jetwatt_power *p, void *arg);

/**
 * jetwatt_join_new() - make a join of samples and waits
 * @j: set to the join, or to NULL on error; the caller frees it with jetwatt_join_free()
 * @jw: connection from which the rails are read, only in this call; NULL: no rails
 * @hold_ms: maximum time for which one stream waits for the other, ms of the records' times.
 *	@hold_ms must exceed the age of a batch (JETWATT_A_CONFIG_BATCH_AGE_MS) plus the probe's 20
 *	ms, and with a probe also 500 ms: see jetwatt_probe_flush()
 *
 * The join converts batches to power samples and delivers samples and waits in order of time:
 * samples by @time_ns, waits by @exit_ns. The join delivers a record as soon as neither stream can
 * still bring an earlier one, or when the other stream is @hold_ms behind.
 *
 * Return: 0; -ENOMEM; -E2BIG: more than JETWATT_RAILS_MAX rails; or an error of jetwatt_rails().
 */
int jetwatt_join_new(struct jetwatt_join **j, struct jetwatt *jw, uint32_t hold_ms);
/**
 * jetwatt_join_new_rails() - make a join for given rails, those of a trace for instance
 * @j: set to the join, or to NULL on error
 * @rail: the rails; the function copies them
 * @nr: number of rails in @rail; rails beyond JETWATT_RAILS_MAX are ignored
 * @hold_ms: see jetwatt_join_new()
 *
 * Return: 0; -ENOMEM.
 */
int jetwatt_join_new_rails(struct jetwatt_join **j, const struct jetwatt_rail *rail, int nr,
			   uint32_t hold_ms);
/**
 * jetwatt_join_free() - free a join; records that were not delivered are discarded
 * @j: the join; may be NULL
 */
void jetwatt_join_free(struct jetwatt_join *j);
/**
 * jetwatt_join_samples() - put a batch into a join; a callback for jetwatt_subscribe()
 * @s: the batch
 * @join: the struct jetwatt_join
 *
 * Context: may call the callbacks of jetwatt_join_set().
 */
void jetwatt_join_samples(const struct jetwatt_samples *s, void *join);
/**
 * jetwatt_join_sync() - put a wait into a join; a callback for jetwatt_probe_open()
 * @s: the wait
 * @join: the struct jetwatt_join
 *
 * Context: may call the callbacks of jetwatt_join_set().
 */
void jetwatt_join_sync(const struct jetwatt_sync *s, void *join);
/**
 * jetwatt_join_reading() - put a reading of sysfs into a join, for samples that are put in later
 * @r: the reading
 * @join: the struct jetwatt_join
 */
void jetwatt_join_reading(const struct jetwatt_reading *r, void *join);
/**
 * jetwatt_join_set() - set the callbacks of a join
 * @j: the join
 * @power: called for each power sample; may be NULL
 * @sync: called for each wait; may be NULL
 * @arg: passed to both
 */
void jetwatt_join_set(struct jetwatt_join *j, jetwatt_power_fn power, jetwatt_sync_fn sync,
		      void *arg);
/**
 * jetwatt_join_pause() - let a join wait while several streams are read
 * @j: the join
 * @paused: 1: queue the records that are put in, and deliver none; 0: deliver the records that are due
 *	now, and later ones when they are due
 *
 * A program that was stopped for longer than the hold time finds in both streams the records of that
 * time. If the program reads one stream, the join then takes the other one for silent, and discards its
 * records (jetwatt_join_late()). Therefore pause the join before jetwatt_probe_dispatch() and
 * jetwatt_dispatch(), and end the pause when both have been called.
 *
 * Context: may call the callbacks of jetwatt_join_set() if @paused is 0.
 */
void jetwatt_join_pause(struct jetwatt_join *j, int paused);
/**
 * jetwatt_join_flush() - deliver all records of a join, in order of time
 * @j: the join
 */
void jetwatt_join_flush(struct jetwatt_join *j);
/**
 * jetwatt_join_late() - count the records that arrived too late
 * @j: the join
 *
 * Return: number of records that were discarded because a later record had already been delivered,
 * or because memory was short; a number above 0 usually means that the hold time is too short.
 */
uint64_t jetwatt_join_late(const struct jetwatt_join *j);

/* ------------------------------------------------------------------ */
/* The trace file (.jwt, see jwt(5)): both streams as they arrived    */

/* Sizes of a text's key and value, with their terminating 0. */
#define JETWATT_TRACE_KEY_LEN	32
#define JETWATT_TRACE_TEXT_LEN	1024

/**
 * struct jetwatt_trace_clocks - the same moment by three clocks, to convert times to wall time
 * @monotonic_ns: CLOCK_MONOTONIC
 * @boottime_ns: CLOCK_BOOTTIME
 * @realtime_ns: CLOCK_REALTIME
 */
struct jetwatt_trace_clocks {
	uint64_t monotonic_ns, boottime_ns, realtime_ns;
};

/**
 * struct jetwatt_trace_job - the measured process
 * @begun_ns: time from which the process is measured
 * @pid: process id
 */
struct jetwatt_trace_job {
	uint64_t begun_ns;
	uint32_t pid;
};

/**
 * struct jetwatt_trace_end - how the run ended
 * @ended_ns: end of the run
 * @waits_lost: number of waits that were lost
 * @missed: number of ticks that the sampler skipped
 * @status: exit status of the command, in the form of wait(2); -1: unknown
 */
struct jetwatt_trace_end {
	uint64_t ended_ns, waits_lost, missed;
	int32_t status;
};

#define JETWATT_TRACE_COUNTERS	8	/* number of counters of work units in a trace */

/**
 * struct jetwatt_trace_count - value of a counter of the program's own work units, such as tokens
 * @counter: number of the counter, less than JETWATT_TRACE_COUNTERS; the text unit.N names it
 * @missing: 0: @value is valid; 1: the source has no such counter; 2: the source could not be read
 * @value: count; finite
 */
struct jetwatt_trace_count {
	uint32_t counter, missing;
	double value;
};

/**
 * struct jetwatt_trace_counts - counters that were read at the same time
 * @begin_ns, @end_ns: time before and after reading; the counters had these values at some time
 *	between the two
 * @nr: number of entries of @count
 * @count: the counters
 */
struct jetwatt_trace_counts {
	uint64_t begin_ns, end_ns;
	uint32_t nr;
	struct jetwatt_trace_count count[JETWATT_TRACE_COUNTERS];
};

/* Receives counters; @c is valid until the function returns. */
typedef void (*jetwatt_trace_counts_fn)(const struct jetwatt_trace_counts *c, void *arg);

/* --- writing ------------------------------------------------------- */

/* A writer: see jetwatt_trace_writer_new(). */
struct jetwatt_trace_writer;

/**
 * jetwatt_trace_writer_new() - make a trace writer
 * @w: set to the writer; unchanged on error. The caller frees it with jetwatt_trace_writer_free()
 * @fd: file descriptor to write to; it stays open and belongs to the caller
 *
 * The writer keeps the description of the run (texts, chips, rails, the job). The writer writes the
 * description first and repeats it every minute. The writer writes data in blocks of about one
 * second, or of about 64 KiB if they fill earlier, each with one write(2) if that writes all bytes.
 * After a write error it writes nothing more, and if @fd is a file that ends with the incomplete
 * block, it truncates this block.
 *
 * Return: 0; -ENOMEM.
 */
int jetwatt_trace_writer_new(struct jetwatt_trace_writer **w, int fd);
/**
 * jetwatt_trace_writer_free() - free a writer
 * @w: the writer; may be NULL
 *
 * Records in memory are discarded: call jetwatt_trace_finish() before.
 */
void jetwatt_trace_writer_free(struct jetwatt_trace_writer *w);

/**
 * jetwatt_trace_write_text() - describe the run with a text
 * @w: the writer
 * @key: name of the text, less than JETWATT_TRACE_KEY_LEN bytes; the verbs of jetwatt use "board",
 *	"kernel", "version", "command", "scope" and others. A text with the same key is replaced
 * @text: the text, less than JETWATT_TRACE_TEXT_LEN bytes
 *
 * Return: 0; -EINVAL: @key is empty, or @key or @text is too long; -ENOSPC: too many descriptions;
 * -ENOMEM; or the writer's first error.
 */
int jetwatt_trace_write_text(struct jetwatt_trace_writer *w, const char *key, const char *text);
/**
 * jetwatt_trace_write_chip() - describe a sensor chip
 * @w: the writer
 * @chip: the chip; a chip with the same id is replaced
 *
 * Return: as jetwatt_trace_write_text(), without -EINVAL.
 */
int jetwatt_trace_write_chip(struct jetwatt_trace_writer *w, const struct jetwatt_chip *chip);
/**
 * jetwatt_trace_write_rail() - describe a rail
 * @w: the writer
 * @rail: the rail; a rail with the same id is replaced
 *
 * Return: as jetwatt_trace_write_text(), without -EINVAL.
 */
int jetwatt_trace_write_rail(struct jetwatt_trace_writer *w, const struct jetwatt_rail *rail);
/**
 * jetwatt_trace_write_job() - describe the measured process
 * @w: the writer
 * @job: the process; an earlier description is replaced
 *
 * Return: as jetwatt_trace_write_text(), without -EINVAL.
 */
int jetwatt_trace_write_job(struct jetwatt_trace_writer *w, const struct jetwatt_trace_job *job);

/*
 * Write one record of data. The first three functions are callbacks for jetwatt_subscribe(),
 * jetwatt_probe_open() and jetwatt_events(), with the struct jetwatt_trace_writer as @arg. Each
 * function may call write(2). jetwatt_trace_flush() returns the errors of all.
 */
/**
 * jetwatt_trace_write_samples() - write a batch
 * @s: the batch
 * @writer: the struct jetwatt_trace_writer
 */
void jetwatt_trace_write_samples(const struct jetwatt_samples *s, void *writer);
/**
 * jetwatt_trace_write_sync() - write a wait
 * @s: the wait
 * @writer: the struct jetwatt_trace_writer
 */
void jetwatt_trace_write_sync(const struct jetwatt_sync *s, void *writer);
/**
 * jetwatt_trace_write_event() - write an event
 * @e: the event
 * @writer: the struct jetwatt_trace_writer
 */
void jetwatt_trace_write_event(const struct jetwatt_event *e, void *writer);
/**
 * jetwatt_trace_write_reading() - write a reading of sysfs
 * @r: the reading
 * @writer: the struct jetwatt_trace_writer
 */
void jetwatt_trace_write_reading(const struct jetwatt_reading *r, void *writer);
/**
 * jetwatt_trace_write_counts() - write the values of counters of work units
 * @c: the counters
 * @writer: the struct jetwatt_trace_writer
 */
void jetwatt_trace_write_counts(const struct jetwatt_trace_counts *c, void *writer);

/**
 * jetwatt_trace_flush() - write the records in memory; to be called several times per second
 * @w: the writer
 * @waits_lost: number of waits that were lost since the start of the trace
 * @all: 1: write all records in memory; 0: write them only if the oldest is at least one second
 *	old, or in the first call
 *
 * Context: blocks in write(2).
 * Return: 0; or the writer's first error: of write(2), -ENOMEM, or -EMSGSIZE: a batch is too large.
 */
int jetwatt_trace_flush(struct jetwatt_trace_writer *w, uint64_t waits_lost, int all);
/**
 * jetwatt_trace_finish() - write all records in memory and the end of the run
 * @w: the writer
 * @end: how the run ended
 *
 * Later records are ignored.
 *
 * Context: blocks in write(2).
 * Return: 0; or the writer's first error: of write(2), -ENOMEM, or -EMSGSIZE: a batch is too large.
 */
int jetwatt_trace_finish(struct jetwatt_trace_writer *w, const struct jetwatt_trace_end *end);
/**
 * jetwatt_trace_written() - return the length of the trace
 * @w: the writer
 *
 * Return: number of bytes in complete blocks that were written to the file.
 */
uint64_t jetwatt_trace_written(const struct jetwatt_trace_writer *w);

/* --- reading ------------------------------------------------------- */

/* A reader: see jetwatt_trace_reader_new(). */
struct jetwatt_trace_reader;

/**
 * struct jetwatt_trace_calls - callbacks of a trace reader; each may be NULL
 * @samples: receives a batch; jetwatt_samples::gap counts the samples that are missing in the
 *	trace, whether they were lost before or after recording
 * @sync: receives a wait
 * @event: receives an event of the module
 * @text: receives a text that describes the run
 * @chip: receives a sensor chip
 * @rail: receives a rail
 * @clocks: receives one moment by three clocks
 * @job: receives the measured process
 * @end: receives the end of the run
 *
 * A trace repeats its descriptions (texts, chips, rails, the job); the last one is valid.
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
 * struct jetwatt_trace_state - statistics of the part of a trace that a reader has read so far
 * @version: version of the format
 * @ended: 1: the writer has closed the trace
 * @blocks: number of intact blocks
 * @damaged: number of blocks with a wrong checksum or an invalid record
 * @missing: number of blocks that are missing or have a wrong checksum, by gaps in their numbers
 * @skipped: number of bytes that belong to no intact block
 * @tail: number of bytes at the end that may become a block when more data is written
 * @unknown: number of records whose kind this version does not know
 * @waits: number of waits in the trace, as counted by the writer
 * @waits_lost: number of waits that were lost before recording
 * @waits_missing: number of @waits that were in missing or damaged blocks
 */
struct jetwatt_trace_state {
	uint32_t version, ended;
	uint64_t blocks, damaged, missing, skipped, tail, unknown;
	uint64_t waits, waits_lost, waits_missing;
};

/**
 * jetwatt_trace_reader_new() - make a trace reader
 * @r: set to the reader; unchanged on error. The caller frees it with jetwatt_trace_reader_free()
 * @fd: descriptor of a pipe or of a file, which may still be written; it stays open and belongs to
 *	the caller
 * @calls: callbacks, which are copied
 * @arg: passed to the callbacks
 *
 * Return: 0; -ENOMEM.
 */
int jetwatt_trace_reader_new(struct jetwatt_trace_reader **r, int fd,
			     const struct jetwatt_trace_calls *calls, void *arg);
/**
 * jetwatt_trace_reader_free() - free a reader
 * @r: the reader; may be NULL
 */
void jetwatt_trace_reader_free(struct jetwatt_trace_reader *r);
/**
 * jetwatt_trace_reader_reading() - set the callback for readings of sysfs
 * @r: the reader
 * @fn: called for each reading, with the @arg of jetwatt_trace_reader_new(); may be NULL
 */
void jetwatt_trace_reader_reading(struct jetwatt_trace_reader *r, jetwatt_reading_fn fn);
/**
 * jetwatt_trace_reader_counts() - set the callback for counters of work units
 * @r: the reader
 * @fn: called for each record of counters, with the @arg of jetwatt_trace_reader_new(); may be NULL
 */
void jetwatt_trace_reader_counts(struct jetwatt_trace_reader *r, jetwatt_trace_counts_fn fn);

/**
 * jetwatt_trace_read() - read the next intact block and call the callbacks for its records
 * @r: the reader
 *
 * Damaged data is skipped and counted. In a file that is not a trace, no intact block is found.
 *
 * Context: blocks in read(2).
 * Return: 1: a block was read; 0: there is no further block at present; -EPROTO: the trace has a
 * newer format; -ENOMEM; or the error of read(2).
 */
int jetwatt_trace_read(struct jetwatt_trace_reader *r);
/**
 * jetwatt_trace_state() - return statistics of what a reader has read so far
 * @r: the reader
 * @st: receives a copy of the state
 */
void jetwatt_trace_state(const struct jetwatt_trace_reader *r, struct jetwatt_trace_state *st);

#ifdef __cplusplus
}
#endif

#endif /* JETWATT_H */
