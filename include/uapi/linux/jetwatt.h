/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause */
/*
 * jetwatt generic netlink family: the wire contract of jetwatt.ko.
 *
 * The same contract as a netlink specification (YNL) is in
 * include/netlink/specs/jetwatt.yaml; a test proves that both say the same.
 *
 * The module observes power rails and clocks. It never writes a register of
 * a sensor and never switches a clock.
 *
 * Reaching the family
 * -------------------
 * Name JETWATT_GENL_NAME, version JETWATT_GENL_VERSION, initial network
 * namespace only. INFO_GET, CHIP_GET, RAIL_GET, CLOCK_GET, CONFIG_GET and
 * STATS_GET may be called by anybody. CONFIG_SET, SAMPLES_GET, SUBSCRIBE,
 * UNSUBSCRIBE, SUBSCRIBER_GET, ENERGY_GET, BOX_* and WAITS_* need CAP_NET_ADMIN in the
 * initial user namespace. What tells what other processes do needs as well what perf needs
 * for the whole machine, CAP_PERFMON or CAP_SYS_ADMIN in that namespace: SUBSCRIBE,
 * SAMPLES_GET, BOX_SAMPLES_GET, ENERGY_GET and WAITS_WATCH, because a fast power trace is
 * a side channel (PLATYPUS, CVE-2020-8694).
 * A refusal by the module carries an explanation in the extended ack; the
 * kernel's own -EPERM, for want of CAP_NET_ADMIN, does not.
 *
 * Time and units
 * --------------
 * Every time is CLOCK_MONOTONIC in nanoseconds. Units stand in the names.
 * All integers are in host byte order.
 *
 * Alignment
 * ---------
 * Netlink aligns the payload of an attribute to 4 bytes. Only on architectures where
 * unaligned accesses are slow does the kernel put a PAD attribute before u64 attributes
 * and arrays of u64 or of structures with u64, to align their payload to 8 bytes; on
 * arm64 and x86 it does not. So a reader skips PAD and copies 64-bit values out of the
 * message before it uses them.
 *
 * The stream
 * ----------
 * One sample is one tick of the sampler: it has a sequence number, which
 * starts at 1 and has no holes, a time, and one value for each series. A
 * series is one quantity of one rail or clock (enum jetwatt_series). The list
 * of series only grows, when a chip or clock appears for the first time: that
 * is announced by JETWATT_EVENT_CONFIG_CHANGED, and the list of a batch is that
 * of its samples. What goes away keeps its series (NONE) and its ids, and has
 * the same ones when it comes back.
 * A series that was not read in a tick has the value JETWATT_VALUE_NONE
 * there: bus voltages are read in rotation, slow clocks at a lower rate, a
 * failing chip not at all. The reader holds the last value.
 *
 * After SUBSCRIBE the module sends SAMPLES_NTF messages to the caller's port
 * only (unicast). A batch is sent when it holds JETWATT_A_CONFIG_BATCH
 * samples or its oldest sample is JETWATT_A_CONFIG_BATCH_AGE_MS old,
 * whichever comes first; earlier where the list of series changes. The ring overwrites: a subscriber whose socket is
 * full finds a gap in the sequence numbers, and JETWATT_A_SAMPLES_LOST counts
 * all samples that it has lost since it subscribed. Nobody else is affected.
 * The subscription ends with UNSUBSCRIBE or when the socket is closed. The kernel frees the
 * port of a socket that is closed a moment before the module can know: one batch may reach
 * a socket that binds to the port in that moment. UNSUBSCRIBE before the socket is closed
 * rules that out.
 *
 * SAMPLES_GET dumps what is still in the ring, from JETWATT_A_SAMPLES_SEQ on,
 * in the same message shape; if the ring no longer holds that sequence
 * number, the dump starts at the oldest sample and JETWATT_A_SAMPLES_LOST
 * says how many were missed.
 *
 * The multicast group JETWATT_MCGRP_EVENTS carries EVENT_NTF, at low rate.
 *
 * Energy
 * ------
 * ENERGY_GET dumps what each rail has drawn since the module was loaded, and
 * first what the total has: the trapezoid under the samples. Where nobody
 * listens the rails are still looked at, at the rate of the module parameter
 * idle_hz, and RUNNING and ACTIVE_HZ stay 0. Samples more than two seconds
 * apart are not joined, nor are samples before and after the machine has slept:
 * JETWATT_A_ENERGY_BLIND_NS says how much time that was, of CLOCK_BOOTTIME, because
 * CLOCK_MONOTONIC stands still while the machine sleeps.
 * The same counters are in the hwmon device "jetwatt", at most ten new values
 * a second there, and in the PMU "jetwatt" of perf.
 *
 * A rail may be inside another one (JETWATT_A_RAIL_PARENT): the total is made
 * of those that are inside none, and enum jetwatt_scope says what it stands for.
 *
 * The black box
 * -------------
 * When a rail's current gets above a limit that its chip holds (INA3221: the
 * critical and the warning limit of the channel, as set through hwmon), when a
 * thermal zone reaches its lowest trip that is not a fan's, or on BOX_FREEZE,
 * the last JETWATT_A_CONFIG_BOX_MS of the ring, as far as it reaches, are
 * copied to where the sampler does not overwrite them, and
 * JETWATT_EVENT_BOX_FROZEN tells. BOX_GET says what happened, BOX_SAMPLES_GET
 * dumps the samples as SAMPLES_GET does, BOX_CLEAR makes room for what happens
 * next. While the sampler is parked nothing is kept.
 *
 * Waits for the GPU
 * -----------------
 * For kernels that cannot trace with BPF. WAITS_WATCH asks for a record of each
 * finished wait of the processes in JETWATT_A_WAITS_TGIDS (without it: of all),
 * and with the flag JETWATT_A_WAITS_CHILDREN of those that they fork from then on. The
 * module then looks at the system calls of the machine, through the raw_syscalls
 * tracepoints, and sends WAITS_NTF to the caller's port only, about 20 ms after
 * the wait. What counts as a wait and what a record says is described with
 * struct jetwatt_wait_record. JETWATT_A_WAITS_RECORD_SIZE is the size of one record: a
 * later module may append members, so a reader steps by that size and reads the members
 * that it knows. Nothing is looked at while nobody watches.
 *
 * Rates
 * -----
 * requested: what was asked for; read: how often a register is read; fresh:
 * how often the chip has a new value to give, at most the read rate. A tick
 * reads all shunts and one of the bus voltages, in rotation, in one transfer a
 * bus. Where the board has a chip add up shunts and it is clear which, the sum
 * is read beside them if they are averaged, or instead of them at rates that
 * the bus has no time for otherwise: then shunts take turns too. RATE_HZ 0 asks
 * for the highest rate that reads all shunts in every tick. Where the CPU
 * turns out to keep less than buses and chips could do, ACTIVE_HZ goes down
 * within seconds, with an event, and RATE_MAX_HZ with it. The chip
 * refreshes a channel every (enabled channels x (bus + shunt conversion
 * time)): INA3221 data sheet SBOS576, "Averaging Function" and Table 5.
 * Rates are in millihertz.
 */
#ifndef _UAPI_LINUX_JETWATT_H
#define _UAPI_LINUX_JETWATT_H

#include <linux/types.h>

#define JETWATT_GENL_NAME	"jetwatt"
#define JETWATT_GENL_VERSION	1
#define JETWATT_MCGRP_EVENTS	"events"

/* A series was not read in this tick. */
#define JETWATT_VALUE_NONE	(-2147483647 - 1)

/**
 * JETWATT_SERIES_ROWS() - the kinds of series, one row each, in the order of their numbers
 *
 * ROW(ID, reader, channels, type, name, title, unit, per, base, metric, label, files, help)
 *	ID: of enum jetwatt_series
 *	reader: enum jetwatt_series_reader: who reads it, and how often
 *	channels: values of one moment that user space keeps of it (struct jetwatt_telemetry of
 *		<jetwatt.h>), numbered from 1; 0: it is part of a rail's power or of a power
 *		mode. Of a kind with one channel and several indices, the highest value
 *	type: GAUGE or COUNTER, which only grows until the machine or its driver restarts
 *	name: column and key; a '#' is the number of the channel
 *	title: for people, '#' likewise
 *	unit: of a value
 *	per, base: so many units are one of the base unit, which metrics and people are given
 *	metric: name of the family, without a counter's _total; label: that tells channels apart
 *	files: of reader SYSFS: "NAME/ATTRIBUTE ..." below /sys/class/hwmon: the name of the
 *		device and the attribute. A '#' is the number of the channel; without it, each
 *		device of that name is one. The first that exists is used
 *	help: of the metric
 *
 * A new kind is added at the end, and to the specification. Numbers are part of trace files.
 */
#define JETWATT_SERIES_ROWS(ROW)						\
	ROW(SHUNT_UV, TICK, 0, GAUGE, "shunt_uv", "shunt", "uV", 1000000, "V",	\
	    "", "", "", "")							\
	ROW(BUS_UV, TICK, 0, GAUGE, "bus_uv", "bus", "uV", 1000000, "V",	\
	    "", "", "", "")							\
	ROW(CPU_KHZ, TICK, 0, GAUGE, "cpu_khz", "CPU", "kHz", 1000, "MHz",	\
	    "", "", "", "")							\
	ROW(GPU_KHZ, TICK, 0, GAUGE, "gpu_khz", "GPU", "kHz", 1000, "MHz",	\
	    "", "", "", "")							\
	ROW(EMC_KHZ, SLOW, 0, GAUGE, "emc_khz", "EMC", "kHz", 1000, "MHz",	\
	    "", "", "", "")							\
	ROW(CORES, TICK, 0, GAUGE, "cores", "cores", "cores", 1, "cores",	\
	    "", "", "", "")							\
	ROW(TEMP_MC, SLOW, 1, GAUGE, "temp_mc", "temperature", "mC", 1000, "C",	\
	    "jetwatt_temperature_celsius", "", "", "The hottest part")		\
	ROW(SUM_UV, TICK, 0, GAUGE, "sum_uv", "sum", "uV", 1000000, "V",	\
	    "", "", "", "")							\
	ROW(GPU_LOAD_PERMILLE, SLOW, 1, GAUGE, "gpu_load_permille", "GPU load", "permille", \
	    1000, "", "jetwatt_gpu_load_ratio", "", "",				\
	    "Share of the time that the GPU was busy, as its governor knows it")	\
	ROW(FAN_RPM, SYSFS, 2, GAUGE, "fan#_rpm", "fan #", "rpm", 1, "rpm",	\
	    "jetwatt_fan_speed_rpm", "fan", "pwm_tach/rpm pwmfan/fan1_input",	\
	    "Speed of a fan by its tachometer")					\
	ROW(OC_EVENTS, SYSFS, 6, COUNTER, "oc#_events", "over-current #", "events", 1, "events", \
	    "jetwatt_overcurrent_events", "input",				\
	    "soctherm_oc/oc#_event_cnt soctherm_oc/oc#_irq_cnt",		\
	    "Over-current and under-voltage events of an input of the SoC")

/**
 * enum jetwatt_series_reader - who reads a series
 * @JETWATT_SERIES_READER_TICK: the module, in every tick or in rotation
 * @JETWATT_SERIES_READER_SLOW: the module, at most ten times a second: only the firmware or
 *	another driver knows
 * @JETWATT_SERIES_READER_SYSFS: libjetwatt, once a second: another driver shows it in a file
 *	and has no interface for a module. It is in traces, and in no message of the family
 */
enum jetwatt_series_reader {
	JETWATT_SERIES_READER_TICK,
	JETWATT_SERIES_READER_SLOW,
	JETWATT_SERIES_READER_SYSFS,
};

enum jetwatt_series_type {
	JETWATT_SERIES_TYPE_GAUGE,
	JETWATT_SERIES_TYPE_COUNTER,
};

/**
 * enum jetwatt_series - what a series holds (JETWATT_A_SERIES_KIND)
 *
 * One member for each row of JETWATT_SERIES_ROWS():
 * JETWATT_SERIES_SHUNT_UV: voltage over the shunt of a rail, uV, signed
 * JETWATT_SERIES_BUS_UV: voltage of a rail at the load side, uV
 * JETWATT_SERIES_CPU_KHZ: clock of a cpufreq policy, kHz, 0 if it has none
 * JETWATT_SERIES_GPU_KHZ: clock of the GPU, kHz
 * JETWATT_SERIES_EMC_KHZ: clock of the external memory controller, kHz
 * JETWATT_SERIES_CORES: number of online CPUs
 * JETWATT_SERIES_TEMP_MC: temperature of a thermal zone, millidegree Celsius
 * JETWATT_SERIES_SUM_UV: sum of the shunt voltages of some channels of a chip
 *	(JETWATT_A_CHIP_SUM_CHANNELS), without averaging, uV, signed
 * JETWATT_SERIES_GPU_LOAD_PERMILLE: share of the time that the GPU was busy, as its
 *	devfreq governor has last been told; the module does not ask its driver
 *	itself. Where the driver tells nobody there is no such series, and under
 *	a governor that does not ask it stays what it was.
 * JETWATT_SERIES_FAN_RPM: speed of a fan by its tachometer, rpm. NVIDIA's driver shows 0
 *	where it cannot measure it, too
 * JETWATT_SERIES_OC_EVENTS: events of an over-current input of the SoC since it was started:
 *	the supply's voltage was too low, or its current too high, and clocks were throttled
 *
 * JETWATT_A_SERIES_INDEX is a rail's id for the first two, the first CPU of
 * the policy for CPU_KHZ, a thermal zone's number for TEMP_MC, a chip's id for
 * SUM_UV, the channel for those that libjetwatt reads, else 0.
 * Power of a rail = bus_uv * shunt_uv / shunt_uohm, in uW.
 */
enum jetwatt_series {
#define JETWATT_SERIES_ID(ID, ...) JETWATT_SERIES_##ID,
	JETWATT_SERIES_ROWS(JETWATT_SERIES_ID)
#undef JETWATT_SERIES_ID
	__JETWATT_SERIES_KINDS
};

/**
 * enum jetwatt_event_kind - what an EVENT_NTF tells (JETWATT_A_EVENT_KIND)
 * @JETWATT_EVENT_CONFIG_CHANGED: rate, batch or list of series is new
 * @JETWATT_EVENT_CHIP_LOST: a chip stopped answering; its series are NONE
 * @JETWATT_EVENT_CHIP_BACK: it answers again
 * @JETWATT_EVENT_OVERRUN: the sampler skipped ticks (VALUE: how many since
 *	the last such event; at most one event a second)
 * @JETWATT_EVENT_BOX_FROZEN: the black box was filled (VALUE: enum
 *	jetwatt_box_cause)
 * @JETWATT_EVENT_THROTTLED: the scheduler's real-time throttling holds the
 *	sampler up (VALUE: how often so far; at most one event a second)
 */
enum jetwatt_event_kind {
	JETWATT_EVENT_CONFIG_CHANGED,
	JETWATT_EVENT_CHIP_LOST,
	JETWATT_EVENT_CHIP_BACK,
	JETWATT_EVENT_OVERRUN,
	JETWATT_EVENT_BOX_FROZEN,
	JETWATT_EVENT_THROTTLED,
};

/**
 * enum jetwatt_box_cause - why the black box was filled
 * @JETWATT_BOX_CAUSE_REQUEST: somebody asked for it
 * @JETWATT_BOX_CAUSE_OVERCURRENT: a rail's current was above a limit
 * @JETWATT_BOX_CAUSE_THERMAL: a thermal zone had reached a trip
 */
enum jetwatt_box_cause {
	JETWATT_BOX_CAUSE_REQUEST,
	JETWATT_BOX_CAUSE_OVERCURRENT,
	JETWATT_BOX_CAUSE_THERMAL,
};

/**
 * enum jetwatt_scope - what the total stands for
 * @JETWATT_SCOPE_PARTIAL: the rails that there are: this board is not known,
 *	or not all of its inputs can be read
 * @JETWATT_SCOPE_MODULE: all that the module draws, without the carrier board
 * @JETWATT_SCOPE_BOARD: all that the board draws
 */
enum jetwatt_scope {
	JETWATT_SCOPE_PARTIAL,
	JETWATT_SCOPE_MODULE,
	JETWATT_SCOPE_BOARD,
};

/* INFO_GET reply */
enum {
	JETWATT_A_INFO_VERSION = 1,	/* string: version of the module */
	JETWATT_A_INFO_BOARD,		/* string: first root compatible, "" without device tree */
	JETWATT_A_INFO_CHIPS,		/* u32: number of sensor chips */
	JETWATT_A_INFO_RAILS,		/* u32: number of rails */
	JETWATT_A_INFO_RING,		/* u32: samples that the ring holds */
	JETWATT_A_INFO_RUNNING,		/* u32: 1 while the sampler runs */
	JETWATT_A_INFO_TOTAL_SCOPE,	/* u32: enum jetwatt_scope */
	__JETWATT_A_INFO_MAX,
	JETWATT_A_INFO_MAX = (__JETWATT_A_INFO_MAX - 1)
};

/* CHIP_GET reply, one message a chip */
enum {
	JETWATT_A_CHIP_ID = 1,		/* u32 */
	JETWATT_A_CHIP_MODEL,		/* string: "ina3221" and the like; what it means is below */
	JETWATT_A_CHIP_BUS,		/* u32: number of the i2c adapter */
	JETWATT_A_CHIP_ADDR,		/* u32: 7-bit address */
	JETWATT_A_CHIP_BUS_HZ,		/* u32: clock of the bus */
	JETWATT_A_CHIP_CONFIG,		/* u32: register that says how it converts, as last read */
	JETWATT_A_CHIP_REFRESH_MHZ,	/* u32: fresh values of a channel, millihertz */
	JETWATT_A_CHIP_ERRORS,		/* u64: transfers that failed */
	JETWATT_A_CHIP_LOST,		/* u32: 1 while it does not answer */
	JETWATT_A_CHIP_PAD,
	JETWATT_A_CHIP_SUM_CHANNELS,	/* u32: mask: what its sum is made of, absent if not known */
	JETWATT_A_CHIP_SHUNT_US,	/* u32: length of a conversion of a shunt voltage */
	JETWATT_A_CHIP_AVERAGES,	/* u32: conversions that a shunt voltage is the mean of */
	JETWATT_A_CHIP_FILTER,		/* u32: 1: that mean is a recursive filter, 0: of a block */
	JETWATT_A_CHIP_STEP_PV,		/* u32: a step of a shunt voltage in the range in use, pV */
	JETWATT_A_CHIP_BUS_STEP_PV,	/* u64: a step of a bus voltage, pV */
	/* Largest errors by the data sheet at 25 degrees, absent where it gives none: */
	JETWATT_A_CHIP_OFFSET_NV,	/* u32: offset of a shunt voltage */
	JETWATT_A_CHIP_GAIN_PPM,	/* u32: gain error of a shunt voltage */
	JETWATT_A_CHIP_BUS_OFFSET_UV,	/* u32: offset of a bus voltage */
	JETWATT_A_CHIP_BUS_GAIN_PPM,	/* u32: gain error of a bus voltage */
	JETWATT_A_CHIP_CLIPPED,		/* u64: shunt voltages at an end of the chip's range */
	__JETWATT_A_CHIP_MAX,
	JETWATT_A_CHIP_MAX = (__JETWATT_A_CHIP_MAX - 1)
};

/* RAIL_GET reply, one message a rail */
enum {
	JETWATT_A_RAIL_ID = 1,		/* u32 */
	JETWATT_A_RAIL_CHIP,		/* u32: id of its chip */
	JETWATT_A_RAIL_CHANNEL,		/* u32: 0.. */
	JETWATT_A_RAIL_LABEL,		/* string: from the device tree */
	JETWATT_A_RAIL_SHUNT_UOHM,	/* u32: from the device tree, 0 if nobody says */
	JETWATT_A_RAIL_ENABLED,		/* u32: 0 if the chip does not convert it */
	JETWATT_A_RAIL_REQUESTED_MHZ,	/* u32: millihertz */
	JETWATT_A_RAIL_READ_MHZ,	/* u32: millihertz, its shunt's, measured over two seconds */
	JETWATT_A_RAIL_FRESH_MHZ,	/* u32: millihertz, min(read, refresh) */
	JETWATT_A_RAIL_PARENT,		/* u32: id of the rail that it is inside of, absent if none */
	JETWATT_A_RAIL_IN_TOTAL,	/* u32: 1 if the total is made of it */
	JETWATT_A_RAIL_STEP_UW,		/* u32: power of a step of the ADC, uW, at the last voltage, or absent */
	JETWATT_A_RAIL_SKEW_NS,		/* u32: read so much later than the tick's first shunt */
	__JETWATT_A_RAIL_MAX,
	JETWATT_A_RAIL_MAX = (__JETWATT_A_RAIL_MAX - 1)
};

/* CLOCK_GET reply, one message a clock */
enum {
	JETWATT_A_CLOCK_KIND = 1,	/* u32: enum jetwatt_series, none of a rail or chip */
	JETWATT_A_CLOCK_INDEX,		/* u32: as JETWATT_A_SERIES_INDEX */
	JETWATT_A_CLOCK_LABEL,		/* string: "cpu0", "17000000.gpu", "emc", zone's type */
	JETWATT_A_CLOCK_VALUE,		/* s32: now; a slow one (EMC, load, temperature) see CLOCK_GET */
	__JETWATT_A_CLOCK_MAX,
	JETWATT_A_CLOCK_MAX = (__JETWATT_A_CLOCK_MAX - 1)
};

/* CONFIG_GET reply, CONFIG_SET request (each optional) */
enum {
	JETWATT_A_CONFIG_RATE_HZ = 1,	/* u32: ticks a second; 0: the highest possible */
	JETWATT_A_CONFIG_BATCH,		/* u32: samples in a batch, 1..JETWATT_BATCH_MAX */
	JETWATT_A_CONFIG_BATCH_AGE_MS,	/* u32: 1..10000 */
	JETWATT_A_CONFIG_BUS_SHARE_PCT,	/* u32: most of a bus's time to take, 1..90 */
	JETWATT_A_CONFIG_RATE_MAX_HZ,	/* u32: read only: highest rate that would be accepted */
	JETWATT_A_CONFIG_ACTIVE_HZ,	/* u32: read only: rate in use, 0 while parked */
	JETWATT_A_CONFIG_BOX_MS,	/* u32: what the black box keeps, 0: nothing on an alarm */
	JETWATT_A_CONFIG_CPU,		/* u32: where the sampler runs, JETWATT_CPU_ANY: on any */
	__JETWATT_A_CONFIG_MAX,
	JETWATT_A_CONFIG_MAX = (__JETWATT_A_CONFIG_MAX - 1)
};

#define JETWATT_BATCH_MAX	256
#define JETWATT_WAITS_TGIDS_MAX	64
#define JETWATT_CPU_ANY		4294967295U

/* SAMPLES_GET request (SEQ only), SAMPLES_GET and SAMPLES_NTF messages */
enum {
	JETWATT_A_SAMPLES_SEQ = 1,	/* u64: sequence number of the first sample */
	JETWATT_A_SAMPLES_COUNT,	/* u32: n */
	JETWATT_A_SAMPLES_LOST,		/* u64: lost by this reader so far */
	JETWATT_A_SAMPLES_TIME_NS,	/* binary: u64[n], middle of the tick's transfers */
	JETWATT_A_SAMPLES_SERIES,	/* nest (many): JETWATT_A_SERIES_* */
	JETWATT_A_SAMPLES_PAD,
	__JETWATT_A_SAMPLES_MAX,
	JETWATT_A_SAMPLES_MAX = (__JETWATT_A_SAMPLES_MAX - 1)
};

/* One series of a batch */
enum {
	JETWATT_A_SERIES_KIND = 1,	/* u32: enum jetwatt_series */
	JETWATT_A_SERIES_INDEX,		/* u32 */
	JETWATT_A_SERIES_VALUES,	/* binary: s32[n] */
	__JETWATT_A_SERIES_MAX,
	JETWATT_A_SERIES_MAX = (__JETWATT_A_SERIES_MAX - 1)
};

/* STATS_GET reply, since the module was loaded */
enum {
	JETWATT_A_STATS_TICKS = 1,	/* u64: samples taken */
	JETWATT_A_STATS_MISSED,		/* u64: ticks skipped because the one before was late */
	JETWATT_A_STATS_I2C_ERRORS,	/* u64: transfers that failed */
	JETWATT_A_STATS_LATE_P50_NS,	/* u64: wake-up lateness, from a log2 histogram: upper bound */
	JETWATT_A_STATS_LATE_P99_NS,	/* u64 */
	JETWATT_A_STATS_LATE_MAX_NS,	/* u64 */
	JETWATT_A_STATS_TICK_NS,	/* u64: mean length of a tick's transfers */
	JETWATT_A_STATS_BUS_PERMILLE,	/* u32: share of the busiest bus that the sampler takes */
	JETWATT_A_STATS_LOST,		/* u64: samples lost by all subscribers together */
	JETWATT_A_STATS_PAD,
	JETWATT_A_STATS_THROTTLED,	/* u64: times that real-time throttling held the sampler up */
	JETWATT_A_STATS_CPU_NS,		/* u64: CPU time of its thread */
	__JETWATT_A_STATS_MAX,
	JETWATT_A_STATS_MAX = (__JETWATT_A_STATS_MAX - 1)
};

/* SUBSCRIBER_GET reply, one message a subscriber */
enum {
	JETWATT_A_SUBSCRIBER_PORT = 1,	/* u32: netlink port */
	JETWATT_A_SUBSCRIBER_SENT,	/* u64: samples delivered */
	JETWATT_A_SUBSCRIBER_LOST,	/* u64: samples lost */
	JETWATT_A_SUBSCRIBER_PAD,
	__JETWATT_A_SUBSCRIBER_MAX,
	JETWATT_A_SUBSCRIBER_MAX = (__JETWATT_A_SUBSCRIBER_MAX - 1)
};

/* EVENT_NTF */
enum {
	JETWATT_A_EVENT_KIND = 1,	/* u32: enum jetwatt_event_kind */
	JETWATT_A_EVENT_TIME_NS,	/* u64 */
	JETWATT_A_EVENT_CHIP,		/* u32: id of the chip, if about one */
	JETWATT_A_EVENT_VALUE,		/* u64: see enum jetwatt_event_kind */
	JETWATT_A_EVENT_PAD,
	__JETWATT_A_EVENT_MAX,
	JETWATT_A_EVENT_MAX = (__JETWATT_A_EVENT_MAX - 1)
};

/* ENERGY_GET reply: the total, then one message a rail */
enum {
	JETWATT_A_ENERGY_RAIL = 1,	/* u32: its id, absent: the total */
	JETWATT_A_ENERGY_UJ,		/* u64: drawn since the module was loaded */
	JETWATT_A_ENERGY_UW,		/* s32: power of the last sample */
	JETWATT_A_ENERGY_TIME_NS,	/* u64: when that was, 0: never */
	JETWATT_A_ENERGY_BLIND_NS,	/* u64: time that is not in it */
	JETWATT_A_ENERGY_PAD,
	__JETWATT_A_ENERGY_MAX,
	JETWATT_A_ENERGY_MAX = (__JETWATT_A_ENERGY_MAX - 1)
};

/* BOX_GET reply */
enum {
	JETWATT_A_BOX_CAUSE = 1,	/* u32: enum jetwatt_box_cause */
	JETWATT_A_BOX_INDEX,		/* u32: over-current: the rail's id; thermal: the zone's number */
	JETWATT_A_BOX_TIME_NS,		/* u64: when it happened */
	JETWATT_A_BOX_SEQ,		/* u64: sequence number of the first sample kept */
	JETWATT_A_BOX_COUNT,		/* u32: samples kept */
	JETWATT_A_BOX_MISSED,		/* u32: what happened since and found the box taken */
	JETWATT_A_BOX_PAD,
	__JETWATT_A_BOX_MAX,
	JETWATT_A_BOX_MAX = (__JETWATT_A_BOX_MAX - 1)
};

/**
 * enum jetwatt_wait_call - how a thread has waited
 * @JETWATT_WAIT_POLLFD: a poll() has seen a descriptor ready that an ioctl had armed for
 *	a fence (TRIGGER_POLLFD of host1x-fence, POLL_FD_TRIGGER_EVENT of nvhost-ctrl), or
 *	an event of the GPU's driver (nvgpu-event2-fd*, nvidia*)
 * @JETWATT_WAIT_SYNCPT: an ioctl that waits for a fence has returned 0 (SYNCPOINT_WAIT of
 *	tegra-drm; SYNCPT_WAIT, SYNCPT_WAITEX, SYNCPT_WAITMEX of nvhost-ctrl)
 */
enum jetwatt_wait_call {
	JETWATT_WAIT_POLLFD,
	JETWATT_WAIT_SYNCPT,
};

/* A flag of @call: the thread is named cuda-EvtHandlr, so libcuda has started it. */
#define JETWATT_WAIT_HELPER	0x80000000U

/**
 * struct jetwatt_wait_record - one finished wait
 * @enter_ns: the thread began to wait
 * @exit_ns: it went on
 * @cgroup: id of the thread's v2 cgroup
 * @tgid: its process in the initial pid namespace
 * @tid: the thread there
 * @call: enum jetwatt_wait_call, and JETWATT_WAIT_HELPER
 * @ret: what the call returned
 * @fd: what it waited on: the descriptor polled, or the node of the ioctl
 * @ctl_fd: what @fd was armed through, else -1
 *
 * The ioctls are told by their numbers. Whether the descriptors are what they
 * should be is for the reader to look up.
 */
struct jetwatt_wait_record {
	__u64 enter_ns;
	__u64 exit_ns;
	__u64 cgroup;
	__u32 tgid;
	__u32 tid;
	__u32 call;
	__s32 ret;
	__s32 fd;
	__s32 ctl_fd;
};

/* WAITS_WATCH request, WAITS_NTF */
enum {
	JETWATT_A_WAITS_TGIDS = 1,	/* binary: u32[], at most JETWATT_WAITS_TGIDS_MAX */
	JETWATT_A_WAITS_CHILDREN,	/* flag: and what they fork; a u32 of 0 or 1 is taken too */
	JETWATT_A_WAITS_LOST,		/* u64: waits that this watcher was not told of */
	JETWATT_A_WAITS_RECORDS,	/* binary: struct jetwatt_wait_record[] */
	JETWATT_A_WAITS_PAD,
	JETWATT_A_WAITS_RECORD_SIZE,	/* u32: bytes of one record; absent: 48 */
	__JETWATT_A_WAITS_MAX,
	JETWATT_A_WAITS_MAX = (__JETWATT_A_WAITS_MAX - 1)
};

/**
 * enum jetwatt_cmd - operations
 * @JETWATT_CMD_INFO_GET: do; errors: none
 * @JETWATT_CMD_CHIP_GET: dump
 * @JETWATT_CMD_RAIL_GET: dump; STEP_UW, from which the bus voltage follows, only for
 *	callers that may SUBSCRIBE
 * @JETWATT_CMD_CLOCK_GET: dump; slow clocks, which only the firmware knows, are
 *	read for those with CAP_NET_ADMIN if that was not done in the last 150 ms;
 *	others get what was read in the last two seconds, else JETWATT_VALUE_NONE
 * @JETWATT_CMD_CONFIG_GET: do
 * @JETWATT_CMD_CONFIG_SET: do, admin; -ERANGE: rate out of reach, the text
 *	names the highest possible one; -ENODEV: no chip; -EINVAL
 * @JETWATT_CMD_SAMPLES_GET: dump, admin
 * @JETWATT_CMD_SUBSCRIBE: do, admin; -EALREADY: this port has subscribed;
 *	-ENODEV: no chip; -EUSERS: too many subscribers; the first sample sent
 *	is one that is taken after the first subscriber came
 * @JETWATT_CMD_UNSUBSCRIBE: do, admin; -ENOENT: this port has not
 * @JETWATT_CMD_SAMPLES_NTF: a batch, unicast to a subscriber
 * @JETWATT_CMD_STATS_GET: do
 * @JETWATT_CMD_SUBSCRIBER_GET: dump, admin
 * @JETWATT_CMD_EVENT_NTF: multicast to JETWATT_MCGRP_EVENTS
 * @JETWATT_CMD_ENERGY_GET: dump, admin
 * @JETWATT_CMD_BOX_GET: do, admin; -ENOENT: the black box is empty
 * @JETWATT_CMD_BOX_FREEZE: do, admin; -EBUSY: it is taken; -ENODATA: there is
 *	nothing to keep; -ENOMEM
 * @JETWATT_CMD_BOX_CLEAR: do, admin; -ENOENT
 * @JETWATT_CMD_BOX_SAMPLES_GET: dump, admin; -ENOENT
 * @JETWATT_CMD_WAITS_WATCH: do, admin; -EALREADY: this port does; -EUSERS: too
 *	many; -EOPNOTSUPP: the kernel has no raw_syscalls tracepoints; -ENOMEM
 * @JETWATT_CMD_WAITS_UNWATCH: do, admin; -ENOENT
 * @JETWATT_CMD_WAITS_NTF: waits that have ended, unicast to a watcher
 *
 * The sampler runs while there is a subscriber and, because SAMPLES_GET is
 * of use only then, from the first CONFIG_SET with a rate on until the
 * module is unloaded or a CONFIG_SET finds no subscriber and rate 0.
 */
enum jetwatt_cmd {
	JETWATT_CMD_INFO_GET = 1,
	JETWATT_CMD_CHIP_GET,
	JETWATT_CMD_RAIL_GET,
	JETWATT_CMD_CLOCK_GET,
	JETWATT_CMD_CONFIG_GET,
	JETWATT_CMD_CONFIG_SET,
	JETWATT_CMD_SAMPLES_GET,
	JETWATT_CMD_SUBSCRIBE,
	JETWATT_CMD_UNSUBSCRIBE,
	JETWATT_CMD_SAMPLES_NTF,
	JETWATT_CMD_STATS_GET,
	JETWATT_CMD_SUBSCRIBER_GET,
	JETWATT_CMD_EVENT_NTF,
	JETWATT_CMD_ENERGY_GET,
	JETWATT_CMD_BOX_GET,
	JETWATT_CMD_BOX_FREEZE,
	JETWATT_CMD_BOX_CLEAR,
	JETWATT_CMD_BOX_SAMPLES_GET,
	JETWATT_CMD_WAITS_WATCH,
	JETWATT_CMD_WAITS_UNWATCH,
	JETWATT_CMD_WAITS_NTF,
	__JETWATT_CMD_MAX,
	JETWATT_CMD_MAX = (__JETWATT_CMD_MAX - 1)
};

#endif /* _UAPI_LINUX_JETWATT_H */
