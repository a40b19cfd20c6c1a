/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause */
/*
 * The generic netlink family "jetwatt": the protocol between jetwatt.ko and user space.
 *
 * include/netlink/specs/jetwatt.yaml describes the same protocol as a netlink specification
 * (YNL); tests/host/spec.py compares the two.
 *
 * The module only observes. The module never writes a register of a sensor and never changes a
 * clock.
 *
 * Access
 * ------
 * The family has the name JETWATT_GENL_NAME and the version JETWATT_GENL_VERSION. The family exists
 * in the initial network namespace only.
 *
 * INFO_GET, CHIP_GET, RAIL_GET, CLOCK_GET, CONFIG_GET and STATS_GET need no capability.
 * CONFIG_SET, SAMPLES_GET, SUBSCRIBE, UNSUBSCRIBE, SUBSCRIBER_GET, ENERGY_GET, BOX_* and WAITS_*
 * need CAP_NET_ADMIN in the initial user namespace.
 *
 * SUBSCRIBE, SAMPLES_GET, BOX_SAMPLES_GET, ENERGY_GET and WAITS_WATCH reveal the activity of other
 * processes: a fast power trace is a side channel (PLATYPUS, CVE-2020-8694). These commands also
 * need CAP_PERFMON or CAP_SYS_ADMIN in the initial user namespace, as system-wide perf events do.
 *
 * When the module rejects a request, the extended ack contains an explanation. The kernel itself
 * checks CAP_NET_ADMIN and returns -EPERM without an explanation.
 *
 * Times and units
 * ---------------
 * Every point in time is CLOCK_MONOTONIC in nanoseconds. The name of a quantity with a unit ends in
 * the unit; _mhz is millihertz, the unit of all rates that are not whole hertz. Integers have the
 * byte order of the host.
 *
 * Alignment
 * ---------
 * Netlink aligns the payload of an attribute to 4 bytes. On architectures with slow unaligned
 * accesses, the kernel inserts a PAD attribute before u64 attributes, arrays of u64 and arrays of
 * structures with u64, so that their payload is aligned to 8 bytes. On arm64 and x86 it does not.
 * A reader must therefore skip PAD attributes, and must copy a 64-bit value out of the message
 * before it uses it.
 *
 * The stream of samples
 * ---------------------
 * One sample is one tick of the sampler. A sample has a sequence number, a time, and one value per
 * series. Sequence numbers start at 1 and are consecutive. A series is one quantity, for
 * example of a rail, a chip or a clock (enum jetwatt_series).
 *
 * The list of series never shrinks; it grows when a chip, a clock or a thermal zone appears for the
 * first time, or when the channels of a sum become known; JETWATT_EVENT_CONFIG_CHANGED announces
 * it. All samples of a batch have the same list of series, which the batch contains. A chip or
 * clock that disappears keeps its series, with the value JETWATT_VALUE_NONE (CPU_KHZ: 0), and its
 * ids. If the chip or clock appears again, it has the same ids.
 *
 * A series that was not read in a tick has the value JETWATT_VALUE_NONE in that sample: bus
 * voltages (and, at high rates, shunt voltages) are read in rotation, and slow series at most ten
 * times per second. A lost chip and a failed read of a slow series have the value
 * JETWATT_VALUE_NONE too, so a reader should use the last value of a series only up to some age.
 *
 * After SUBSCRIBE, the module sends SAMPLES_NTF messages to the caller's port only (unicast). The
 * module sends a batch when it contains JETWATT_A_CONFIG_BATCH samples, or half of the samples that
 * the ring can hold, or when its oldest sample is JETWATT_A_CONFIG_BATCH_AGE_MS old. A batch ends
 * before the first sample that has a new series.
 * The module does not wait for a subscriber whose socket is full; that subscriber loses the batch:
 * the sequence numbers have a gap, and JETWATT_A_SAMPLES_LOST counts all samples that this
 * subscriber has lost since it subscribed. Other subscribers are not affected.
 *
 * The subscription ends with UNSUBSCRIBE or when the socket is closed. The kernel frees the port of
 * a closed socket shortly before it notifies the module. Before the module is notified, one batch
 * may reach another socket that binds to the same port; send UNSUBSCRIBE before you close the
 * socket to prevent that.
 *
 * SAMPLES_GET dumps the samples in the ring, starting with the sequence number
 * JETWATT_A_SAMPLES_SEQ, in the format of SAMPLES_NTF messages. If the ring does not hold that
 * sample any more, the dump starts with a later sample, and JETWATT_A_SAMPLES_LOST is the number of
 * samples that are missing. Without JETWATT_A_SAMPLES_SEQ, the dump starts with the oldest sample.
 *
 * The multicast group JETWATT_MCGRP_EVENTS carries EVENT_NTF messages, at a low rate.
 *
 * Energy
 * ------
 * ENERGY_GET dumps the energy of the total, then the energy of each rail, since the module was
 * loaded.
 *
 * The module integrates the power of the samples with the trapezoidal rule. While the sampler is
 * stopped, the module reads the rails at random intervals, at the mean rate of the module parameter
 * idle_hz; RUNNING and ACTIVE_HZ stay 0 then. The module does not integrate between samples that
 * are more than two seconds apart, and not across a suspend. JETWATT_A_ENERGY_BLIND_NS is the time
 * since the rail's first sample that the energy does not include; for the total, it is the longest
 * such time of its rails, while they belong to the total. This blind time is measured with
 * CLOCK_BOOTTIME, because CLOCK_MONOTONIC stops during a suspend.
 *
 * The hwmon device "jetwatt" and perf's PMU "jetwatt" have the same counters. hwmon refreshes its
 * values at most ten times per second, because any user can read them.
 *
 * The power of a rail may include that of another rail (JETWATT_A_RAIL_PARENT). The total is the
 * sum of the rails with JETWATT_A_RAIL_IN_TOTAL 1, none of which includes another one; enum
 * jetwatt_scope says which part of the board the total covers.
 *
 * The black box
 * -------------
 * The black box is a copy of the samples from JETWATT_A_CONFIG_BOX_MS milliseconds before an event
 * until the copy is made, as far as the ring holds them. Newer samples do not overwrite the copy.
 * The module fills the black box, if it is empty,
 * - when the current of a rail exceeds a limit that is set in its chip (INA3221: the critical and
 *   the warning limit of the channel, as set through hwmon);
 * - when the temperature of a thermal zone reaches the lowest of its trip points that limit a clock
 *   or have the type hot or critical;
 * - on BOX_FREEZE.
 * JETWATT_EVENT_BOX_FROZEN announces that the box was filled. BOX_GET returns the cause.
 * BOX_SAMPLES_GET dumps the samples in the same way as SAMPLES_GET. BOX_CLEAR empties the box, so
 * that the next event can fill it. While the sampler is stopped, only BOX_FREEZE fills the box.
 *
 * Waits for the GPU
 * -----------------
 * WAITS_WATCH is for kernels that cannot trace with BPF. WAITS_WATCH requests a record of each
 * finished wait of the processes in JETWATT_A_WAITS_TGIDS, or of all processes without that
 * attribute. With the flag JETWATT_A_WAITS_CHILDREN, the request includes the processes that the
 * listed processes fork later, and the descendants of these; not those that were forked before. While there is a WAITS_WATCH request, the
 * module traces the system calls of the machine through the raw_syscalls tracepoints. The module
 * sends WAITS_NTF messages to the caller's port only, within about 20 ms after a wait. Without a
 * WAITS_WATCH request, the module traces no system call.
 *
 * enum jetwatt_wait_call defines what a wait is. JETWATT_A_WAITS_RECORD_SIZE is the size of one
 * record. A later version of the module may append members to the record, so a reader must advance
 * from record to record by JETWATT_A_WAITS_RECORD_SIZE and read only the members that it knows.
 *
 * Rates
 * -----
 * A rail has three rates: the requested rate, the read rate (how often its shunt voltage is read),
 * and the fresh rate (how often a read returns a new value; at most the read rate).
 *
 * A tick reads all shunt voltages and usually, in rotation, one bus voltage per I2C bus, with one
 * I2C transfer per I2C bus if the adapter allows it. Some boards configure a chip to add up shunt
 * voltages. If the channels of the sum are known, the chip averages the shunt voltages and the bus
 * has time, the module reads the sum in addition, because the sum is not averaged. At rates at
 * which the bus is too slow for all shunt voltages, the module reads the sum in every tick and the
 * shunt voltages in rotation.
 *
 * JETWATT_A_CONFIG_RATE_HZ 0 requests the highest rate at which every tick reads all shunt
 * voltages. If the CPU cannot sustain the rate that buses and chips allow, the module lowers
 * ACTIVE_HZ and RATE_MAX_HZ within seconds and sends an event.
 *
 * An INA3221 refreshes a channel once per (enabled channels x (bus + shunt conversion time)),
 * however many conversions it averages: data sheet SBOS576, "Averaging Function" and Table 5.
 */
#ifndef _UAPI_LINUX_JETWATT_H
#define _UAPI_LINUX_JETWATT_H

#include <linux/types.h>

#define JETWATT_GENL_NAME	"jetwatt"
#define JETWATT_GENL_VERSION	1
#define JETWATT_MCGRP_EVENTS	"events"

/* Value of a series that was not read in this tick. */
#define JETWATT_VALUE_NONE	(-2147483647 - 1)

/**
 * JETWATT_SERIES_ROWS() - list the kinds of series, one row per kind, in the order of their numbers
 *
 * ROW(ID, reader, channels, type, name, title, unit, per, base, metric, label, files, help)
 *	ID: suffix of the constant in enum jetwatt_series
 *	reader: suffix of the constant in enum jetwatt_series_reader: the component that reads the
 *		series, and how often
 *	channels: number of values of the series in struct jetwatt_telemetry of <jetwatt.h>,
 *		numbered from 1; 0: not in that struct (voltages of rails, knobs of a power mode).
 *		If a kind has one channel and several indices, the channel is the
 *		highest value of all indices
 *	type: GAUGE; or COUNTER, which increases until the machine or the driver restarts
 *	name: name of the series in columns and keys; '#' stands for the channel's number
 *	title: name for messages and tables; '#' stands for the channel's number
 *	unit: unit of the value
 *	per, base: number of units in one base unit (1000 for mC and C), and name of the base unit,
 *		which is used in metrics and tables
 *	metric: name of the metric family, without the suffix _total of a counter
 *	label: name of the metric label that distinguishes the channels
 *	files: for the reader SYSFS: entries separated by spaces; the first one that exists is used.
 *		"NAME/ATTRIBUTE" is an attribute of the hwmon device NAME. "/PATTERN" is a pattern
 *		of glob(7) below /sys, such as "/bus/platform/devices/[0-9]*.vic/load". '#' stands
 *		for the channel's number; without '#', each file that exists is one channel
 *	help: help text of the metric
 *
 * Add a new kind at the end, and also to the netlink specification. The numbers are part of the
 * trace file format and must not change.
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
	    "jetwatt_temperature_celsius", "", "", "Temperature of the hottest thermal zone") \
	ROW(SUM_UV, TICK, 0, GAUGE, "sum_uv", "sum", "uV", 1000000, "V",	\
	    "", "", "", "")							\
	ROW(GPU_LOAD_PERMILLE, SLOW, 1, GAUGE, "gpu_load_permille", "GPU load", "permille", \
	    1000, "", "jetwatt_gpu_load_ratio", "", "",				\
	    "Share of the time that the GPU was busy, as reported to its governor")	\
	ROW(FAN_RPM, SYSFS, 2, GAUGE, "fan#_rpm", "fan #", "rpm", 1, "rpm",	\
	    "jetwatt_fan_speed_rpm", "fan", "pwm_tach/rpm pwmfan/fan1_input",	\
	    "Speed of a fan by its tachometer")					\
	ROW(OC_EVENTS, SYSFS, 6, COUNTER, "oc#_events", "over-current #", "events", 1, "events", \
	    "jetwatt_overcurrent_events", "input",				\
	    "soctherm_oc/oc#_event_cnt soctherm_oc/oc#_irq_cnt",		\
	    "Over-current and under-voltage events of an input of the SoC")	\
	ROW(FAN_PWM, SYSFS, 2, GAUGE, "fan#_pwm", "fan # PWM", "/255", 255, "",	\
	    "jetwatt_fan_pwm_ratio", "fan", "pwmfan/pwm1",			\
	    "Duty cycle of the PWM signal that controls the speed of a fan")

/**
 * enum jetwatt_series_reader - the component that reads a series
 * @JETWATT_SERIES_READER_TICK: the module reads the series, in every tick or in rotation
 * @JETWATT_SERIES_READER_SLOW: the module reads the series at most ten times per second, because a
 *	read needs a firmware call or a lock of another driver
 * @JETWATT_SERIES_READER_SYSFS: libjetwatt reads the series (jetwatt_sysfs_read()), because another
 *	driver provides the value only as a file in sysfs. The series is in trace files, but in no
 *	message of this family
 */
enum jetwatt_series_reader {
	JETWATT_SERIES_READER_TICK,
	JETWATT_SERIES_READER_SLOW,
	JETWATT_SERIES_READER_SYSFS,
};

/**
 * enum jetwatt_series_type - how the value of a series changes
 * @JETWATT_SERIES_TYPE_GAUGE: the value may rise and fall
 * @JETWATT_SERIES_TYPE_COUNTER: the value increases until the machine or the driver restarts
 */
enum jetwatt_series_type {
	JETWATT_SERIES_TYPE_GAUGE,
	JETWATT_SERIES_TYPE_COUNTER,
};

/**
 * enum jetwatt_series - kind of a series (JETWATT_A_SERIES_KIND)
 *
 * One member for each row of JETWATT_SERIES_ROWS():
 * JETWATT_SERIES_SHUNT_UV: voltage across the shunt of a rail, uV, signed
 * JETWATT_SERIES_BUS_UV: voltage of a rail on the load side of the shunt, uV
 * JETWATT_SERIES_CPU_KHZ: clock of a cpufreq policy, kHz; 0: unknown, or its CPUs are offline
 * JETWATT_SERIES_GPU_KHZ: clock of the GPU, kHz; 0: the GPU is a PCI device and suspended
 * JETWATT_SERIES_EMC_KHZ: clock of the external memory controller, kHz
 * JETWATT_SERIES_CORES: number of online CPUs
 * JETWATT_SERIES_TEMP_MC: temperature of a thermal zone, millidegrees Celsius
 * JETWATT_SERIES_SUM_UV: sum of the shunt voltages of several channels of a chip
 *	(JETWATT_A_CHIP_SUM_CHANNELS), not averaged, uV, signed
 * JETWATT_SERIES_GPU_LOAD_PERMILLE: share of the time that the GPU was busy, 1/1000, as the GPU's
 *	driver reported it last to its devfreq governor; the module does not query the driver. 0
 *	while the GPU is suspended; JETWATT_VALUE_NONE under a governor that does not poll the load.
 *	The series does not exist if the driver does not report a load
 * JETWATT_SERIES_FAN_RPM: speed of a fan, measured by its tachometer, rpm. NVIDIA's driver also
 *	reports 0 if it cannot measure the speed
 * JETWATT_SERIES_OC_EVENTS: number of events of an over-current input of the SoC since the driver
 *	was loaded. In an over-current event the supply voltage was too low or the supply current
 *	too high, and the SoC throttled its clocks
 * JETWATT_SERIES_FAN_PWM: duty cycle of the PWM signal that controls the speed of a fan, 1/255
 *
 * JETWATT_A_SERIES_INDEX depends on the kind: SHUNT_UV and BUS_UV: the rail's id; CPU_KHZ: the
 * first CPU of the policy; TEMP_MC: number of the thermal zone; SUM_UV: the chip's id; series that
 * libjetwatt reads: number of the channel; all others: 0.
 *
 * Power of a rail = bus_uv * shunt_uv / shunt_uohm, in uW.
 */
enum jetwatt_series {
#define JETWATT_SERIES_ID(ID, ...) JETWATT_SERIES_##ID,
	JETWATT_SERIES_ROWS(JETWATT_SERIES_ID)
#undef JETWATT_SERIES_ID
	__JETWATT_SERIES_KINDS
};

/**
 * enum jetwatt_event_kind - kind of an EVENT_NTF message (JETWATT_A_EVENT_KIND)
 * @JETWATT_EVENT_CONFIG_CHANGED: the sampler's rate has changed (VALUE: the new rate in Hz; 0: the
 *	sampler is parked), or a series was added to the list (VALUE: 0)
 * @JETWATT_EVENT_CHIP_LOST: a chip was removed or does not answer any more; its series have the
 *	value JETWATT_VALUE_NONE
 * @JETWATT_EVENT_CHIP_BACK: the chip answers again
 * @JETWATT_EVENT_OVERRUN: the sampler has skipped ticks. VALUE: number of ticks skipped since the
 *	last overrun event. At most one overrun event per second
 * @JETWATT_EVENT_BOX_FROZEN: the black box was filled. VALUE: enum jetwatt_box_cause
 * @JETWATT_EVENT_THROTTLED: the scheduler's real-time throttling has delayed the sampler. VALUE:
 *	number of delayed ticks since the module was loaded. At most one event of this kind per
 *	second
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
 * enum jetwatt_box_cause - what filled the black box
 * @JETWATT_BOX_CAUSE_REQUEST: BOX_FREEZE
 * @JETWATT_BOX_CAUSE_OVERCURRENT: the current of a rail exceeded a limit that is set in its chip
 * @JETWATT_BOX_CAUSE_THERMAL: a thermal zone reached the lowest of its trip points that limit a
 *	clock or have the type hot or critical
 */
enum jetwatt_box_cause {
	JETWATT_BOX_CAUSE_REQUEST,
	JETWATT_BOX_CAUSE_OVERCURRENT,
	JETWATT_BOX_CAUSE_THERMAL,
};

/**
 * enum jetwatt_scope - part of the board that the total power covers
 * @JETWATT_SCOPE_PARTIAL: only the measured rails: the board is unknown, or one of its power
 *	inputs cannot be measured
 * @JETWATT_SCOPE_MODULE: the whole compute module, without the carrier board
 * @JETWATT_SCOPE_BOARD: the whole board
 */
enum jetwatt_scope {
	JETWATT_SCOPE_PARTIAL,
	JETWATT_SCOPE_MODULE,
	JETWATT_SCOPE_BOARD,
};

/* INFO_GET reply */
enum {
	JETWATT_A_INFO_VERSION = 1,	/* string: version of the module */
	JETWATT_A_INFO_BOARD,		/* string: first root compatible; "": no device tree */
	JETWATT_A_INFO_CHIPS,		/* u32: number of sensor chips, present or absent */
	JETWATT_A_INFO_RAILS,		/* u32: number of rails */
	JETWATT_A_INFO_RING,		/* u32: capacity of the ring, in samples */
	JETWATT_A_INFO_RUNNING,		/* u32: 1 while the sampler runs */
	JETWATT_A_INFO_TOTAL_SCOPE,	/* u32: enum jetwatt_scope */
	__JETWATT_A_INFO_MAX,
	JETWATT_A_INFO_MAX = (__JETWATT_A_INFO_MAX - 1)
};

/* CHIP_GET reply, one message per chip */
enum {
	JETWATT_A_CHIP_ID = 1,		/* u32: identifier */
	JETWATT_A_CHIP_MODEL,		/* string: name of the chip, "ina3221" for instance */
	JETWATT_A_CHIP_BUS,		/* u32: number of the I2C adapter */
	JETWATT_A_CHIP_ADDR,		/* u32: 7-bit I2C address */
	JETWATT_A_CHIP_BUS_HZ,		/* u32: clock of the I2C bus, Hz */
	JETWATT_A_CHIP_CONFIG,		/* u32: (first) configuration register as last read */
	JETWATT_A_CHIP_REFRESH_MHZ,	/* u32: rate of a channel's new values, mHz */
	JETWATT_A_CHIP_ERRORS,		/* u64: failed transfers, except measurements of the bus */
	JETWATT_A_CHIP_LOST,		/* u32: 1 while the chip is absent or does not answer */
	JETWATT_A_CHIP_PAD,
	JETWATT_A_CHIP_SUM_CHANNELS,	/* u32: mask of the sum's channels; absent: unknown */
	JETWATT_A_CHIP_SHUNT_US,	/* u32: duration of a shunt voltage's conversion, us */
	JETWATT_A_CHIP_AVERAGES,	/* u32: number of conversions averaged per shunt voltage */
	JETWATT_A_CHIP_FILTER,		/* u32: 1: recursive averaging filter; 0: block average */
	JETWATT_A_CHIP_STEP_PV,		/* u32: LSB of a shunt voltage in the present range, pV */
	JETWATT_A_CHIP_BUS_STEP_PV,	/* u64: LSB of a bus voltage, pV */
	/*
	 * Maximum errors at 25 degrees Celsius; an attribute is absent if the data sheet lacks the
	 * error.
	 */
	JETWATT_A_CHIP_OFFSET_NV,	/* u32: offset of a shunt voltage, nV */
	JETWATT_A_CHIP_GAIN_PPM,	/* u32: gain error of a shunt voltage, ppm */
	JETWATT_A_CHIP_BUS_OFFSET_UV,	/* u32: offset of a bus voltage, uV */
	JETWATT_A_CHIP_BUS_GAIN_PPM,	/* u32: gain error of a bus voltage, ppm */
	JETWATT_A_CHIP_CLIPPED,		/* u64: number of shunt voltages at a limit of the range */
	__JETWATT_A_CHIP_MAX,
	JETWATT_A_CHIP_MAX = (__JETWATT_A_CHIP_MAX - 1)
};

/* RAIL_GET reply, one message per rail */
enum {
	JETWATT_A_RAIL_ID = 1,		/* u32: identifier */
	JETWATT_A_RAIL_CHIP,		/* u32: id of the rail's chip */
	JETWATT_A_RAIL_CHANNEL,		/* u32: channel of the chip, from 0 */
	JETWATT_A_RAIL_LABEL,		/* string, up to 47 bytes: device tree's, else in1 to in3 */
	JETWATT_A_RAIL_SHUNT_UOHM,	/* u32: shunt resistance, uOhm; 0: unknown */
	JETWATT_A_RAIL_ENABLED,		/* u32: 0: the chip does not convert the channel */
	JETWATT_A_RAIL_REQUESTED_MHZ,	/* u32: requested rate, mHz */
	JETWATT_A_RAIL_READ_MHZ,	/* u32: measured read rate, mHz */
	JETWATT_A_RAIL_FRESH_MHZ,	/* u32: fresh rate, mHz: min(read rate, refresh rate) */
	JETWATT_A_RAIL_PARENT,		/* u32: id of the rail that feeds this rail; absent: none */
	JETWATT_A_RAIL_IN_TOTAL,	/* u32: 1: the total includes this rail */
	JETWATT_A_RAIL_STEP_UW,		/* u32: power of one LSB, uW: see RAIL_GET */
	JETWATT_A_RAIL_SKEW_NS,		/* u32: time from a tick's first shunt to this one, ns */
	__JETWATT_A_RAIL_MAX,
	JETWATT_A_RAIL_MAX = (__JETWATT_A_RAIL_MAX - 1)
};

/* CLOCK_GET reply, one message per clock */
enum {
	JETWATT_A_CLOCK_KIND = 1,	/* u32: enum jetwatt_series; not a rail's or a chip's */
	JETWATT_A_CLOCK_INDEX,		/* u32: see enum jetwatt_series */
	JETWATT_A_CLOCK_LABEL,		/* string: "cpu0", "17000000.gpu", "emc", zone's type */
	JETWATT_A_CLOCK_VALUE,		/* s32: present value; slow series: see CLOCK_GET */
	__JETWATT_A_CLOCK_MAX,
	JETWATT_A_CLOCK_MAX = (__JETWATT_A_CLOCK_MAX - 1)
};

/* CONFIG_GET reply; CONFIG_SET request, in which each attribute is optional */
enum {
	JETWATT_A_CONFIG_RATE_HZ = 1,	/* u32: ticks per second; 0: see "Rates" */
	JETWATT_A_CONFIG_BATCH,		/* u32: samples per batch, 1..JETWATT_BATCH_MAX */
	JETWATT_A_CONFIG_BATCH_AGE_MS,	/* u32: maximum age of a batch, 1..10000 ms */
	JETWATT_A_CONFIG_BUS_SHARE_PCT,	/* u32: maximum share of a bus's time, 1..90 % */
	JETWATT_A_CONFIG_RATE_MAX_HZ,	/* u32: read only: highest rate that is accepted, Hz */
	JETWATT_A_CONFIG_ACTIVE_HZ,	/* u32: read only: rate in use, Hz; 0 while stopped */
	JETWATT_A_CONFIG_BOX_MS,	/* u32: length of the black box, ms; 0: not filled */
	JETWATT_A_CONFIG_CPU,		/* u32: CPU of the sampler, or JETWATT_CPU_ANY */
	__JETWATT_A_CONFIG_MAX,
	JETWATT_A_CONFIG_MAX = (__JETWATT_A_CONFIG_MAX - 1)
};

#define JETWATT_BATCH_MAX	256	/* maximum number of samples in a batch */
#define JETWATT_WAITS_TGIDS_MAX	64	/* maximum number of ids in JETWATT_A_WAITS_TGIDS */
#define JETWATT_CLOCKS_MAX	40	/* maximum number of entries of CLOCK_GET */
#define JETWATT_CPU_ANY		4294967295U	/* JETWATT_A_CONFIG_CPU: any CPU */

/* SAMPLES_GET request (SEQ only); SAMPLES_GET and SAMPLES_NTF messages */
enum {
	JETWATT_A_SAMPLES_SEQ = 1,	/* u64: sequence number of the first sample */
	JETWATT_A_SAMPLES_COUNT,	/* u32: number of samples in the batch, called n below */
	JETWATT_A_SAMPLES_LOST,		/* u64: number of samples that this reader has lost */
	JETWATT_A_SAMPLES_TIME_NS,	/* binary: u64[n]: middle of each tick's transfers, ns */
	JETWATT_A_SAMPLES_SERIES,	/* nest (many): JETWATT_A_SERIES_* */
	JETWATT_A_SAMPLES_PAD,
	__JETWATT_A_SAMPLES_MAX,
	JETWATT_A_SAMPLES_MAX = (__JETWATT_A_SAMPLES_MAX - 1)
};

/* One series of a batch */
enum {
	JETWATT_A_SERIES_KIND = 1,	/* u32: enum jetwatt_series */
	JETWATT_A_SERIES_INDEX,		/* u32: see enum jetwatt_series */
	JETWATT_A_SERIES_VALUES,	/* binary: s32[n]; JETWATT_VALUE_NONE: not read */
	__JETWATT_A_SERIES_MAX,
	JETWATT_A_SERIES_MAX = (__JETWATT_A_SERIES_MAX - 1)
};

/* STATS_GET reply: counters since the module was loaded */
enum {
	JETWATT_A_STATS_TICKS = 1,	/* u64: number of samples taken */
	JETWATT_A_STATS_MISSED,		/* u64: ticks skipped because the last one ended too late */
	JETWATT_A_STATS_I2C_ERRORS,	/* u64: number of all failed I2C transfers */
	/*
	 * Wake-up latency of the sampler: percentiles are upper limits of bins of a log2 histogram.
	 */
	JETWATT_A_STATS_LATE_P50_NS,	/* u64: median, ns */
	JETWATT_A_STATS_LATE_P99_NS,	/* u64: 99th percentile, ns */
	JETWATT_A_STATS_LATE_MAX_NS,	/* u64: maximum, ns */
	JETWATT_A_STATS_TICK_NS,	/* u64: mean duration of a tick's I2C transfers, ns */
	/* Busy share of the busiest bus's time, in the last second in which the sampler ran. */
	JETWATT_A_STATS_BUS_PERMILLE,	/* u32: 1/1000 */
	JETWATT_A_STATS_LOST,		/* u64: number of samples lost, over all subscribers */
	JETWATT_A_STATS_PAD,
	JETWATT_A_STATS_THROTTLED,	/* u64: ticks delayed by real-time throttling */
	JETWATT_A_STATS_CPU_NS,		/* u64: sampler's CPU time at the last sample, ns */
	__JETWATT_A_STATS_MAX,
	JETWATT_A_STATS_MAX = (__JETWATT_A_STATS_MAX - 1)
};

/* SUBSCRIBER_GET reply, one message per subscriber */
enum {
	JETWATT_A_SUBSCRIBER_PORT = 1,	/* u32: netlink port */
	JETWATT_A_SUBSCRIBER_SENT,	/* u64: number of samples delivered */
	JETWATT_A_SUBSCRIBER_LOST,	/* u64: number of samples lost */
	JETWATT_A_SUBSCRIBER_PAD,
	__JETWATT_A_SUBSCRIBER_MAX,
	JETWATT_A_SUBSCRIBER_MAX = (__JETWATT_A_SUBSCRIBER_MAX - 1)
};

/* EVENT_NTF */
enum {
	JETWATT_A_EVENT_KIND = 1,	/* u32: enum jetwatt_event_kind */
	JETWATT_A_EVENT_TIME_NS,	/* u64: time of the event */
	JETWATT_A_EVENT_CHIP,		/* u32: id of the chip, if the event concerns a chip */
	JETWATT_A_EVENT_VALUE,		/* u64: see enum jetwatt_event_kind */
	JETWATT_A_EVENT_PAD,
	__JETWATT_A_EVENT_MAX,
	JETWATT_A_EVENT_MAX = (__JETWATT_A_EVENT_MAX - 1)
};

/*
 * ENERGY_GET reply: one message for the total, then one per rail. TIME_NS of the total is the
 * oldest of its rails' times, UW the sum of their powers.
 */
enum {
	JETWATT_A_ENERGY_RAIL = 1,	/* u32: the rail's id; absent: the total */
	JETWATT_A_ENERGY_UJ,		/* u64: energy since the module was loaded, uJ */
	JETWATT_A_ENERGY_UW,		/* s32: power of the last sample, uW */
	JETWATT_A_ENERGY_TIME_NS,	/* u64: time of the last sample; 0: none so far */
	JETWATT_A_ENERGY_BLIND_NS,	/* u64: time since the first sample not in UJ, ns */
	JETWATT_A_ENERGY_PAD,
	__JETWATT_A_ENERGY_MAX,
	JETWATT_A_ENERGY_MAX = (__JETWATT_A_ENERGY_MAX - 1)
};

/* BOX_GET reply */
enum {
	JETWATT_A_BOX_CAUSE = 1,	/* u32: enum jetwatt_box_cause */
	JETWATT_A_BOX_INDEX,		/* u32: rail's id; number of the thermal zone; request: 0 */
	JETWATT_A_BOX_TIME_NS,		/* u64: time of the event */
	JETWATT_A_BOX_SEQ,		/* u64: sequence number of the first sample in the box */
	JETWATT_A_BOX_COUNT,		/* u32: number of samples in the box */
	JETWATT_A_BOX_MISSED,		/* u32: number of later events: the box was not empty */
	JETWATT_A_BOX_PAD,
	__JETWATT_A_BOX_MAX,
	JETWATT_A_BOX_MAX = (__JETWATT_A_BOX_MAX - 1)
};

/**
 * enum jetwatt_wait_call - kind of a wait
 * @JETWATT_WAIT_POLLFD: a poll() found a descriptor ready. Either an ioctl had armed the
 *	descriptor for a fence (TRIGGER_POLLFD of host1x-fence, POLL_FD_TRIGGER_EVENT of
 *	nvhost-ctrl), or it is an event of the GPU's driver (nvgpu-event2-fd*, nvidia*)
 * @JETWATT_WAIT_SYNCPT: an ioctl that waits for a fence returned 0 (SYNCPOINT_WAIT of tegra-drm;
 *	SYNCPT_WAIT, SYNCPT_WAITEX, SYNCPT_WAITMEX of nvhost-ctrl)
 */
enum jetwatt_wait_call {
	JETWATT_WAIT_POLLFD,
	JETWATT_WAIT_SYNCPT,
};

/* Flag in @call: the thread has the name cuda-EvtHandlr, so it is libcuda's helper thread. */
#define JETWATT_WAIT_HELPER	0x80000000U

/**
 * struct jetwatt_wait_record - one finished wait
 * @enter_ns: time at which the wait began
 * @exit_ns: time at which the wait ended
 * @cgroup: id of the thread's v2 cgroup
 * @tgid: process id in the initial pid namespace
 * @tid: id, in the initial pid namespace, of the thread in which the wait ended
 * @call: enum jetwatt_wait_call, and the flag JETWATT_WAIT_HELPER
 * @ret: return value of the system call
 * @fd: descriptor that the thread waited on: the polled descriptor, or the descriptor on which the
 *	ioctl was called
 * @ctl_fd: descriptor of the device node whose ioctl armed @fd; -1: no ioctl armed @fd
 *
 * The module identifies ioctls by their numbers only, and other drivers may use the same numbers.
 * The reader must check in /proc that the descriptors are files of the GPU's drivers.
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

/* WAITS_WATCH request (TGIDS, CHILDREN); WAITS_NTF message (LOST, RECORDS, RECORD_SIZE) */
enum {
	JETWATT_A_WAITS_TGIDS = 1,	/* binary: u32[], at most JETWATT_WAITS_TGIDS_MAX */
	JETWATT_A_WAITS_CHILDREN,	/* flag, or u32 0 or 1: also watch future descendants */
	JETWATT_A_WAITS_LOST,		/* u64: number of waits known to be lost for this port */
	JETWATT_A_WAITS_RECORDS,	/* binary: struct jetwatt_wait_record[] */
	JETWATT_A_WAITS_PAD,
	JETWATT_A_WAITS_RECORD_SIZE,	/* u32: size of one record, bytes; absent: 48 */
	__JETWATT_A_WAITS_MAX,
	JETWATT_A_WAITS_MAX = (__JETWATT_A_WAITS_MAX - 1)
};

/**
 * enum jetwatt_cmd - operations
 * @JETWATT_CMD_INFO_GET: do: properties of the module and the board
 * @JETWATT_CMD_CHIP_GET: dump: the sensor chips
 * @JETWATT_CMD_RAIL_GET: dump: the rails. Only callers that may SUBSCRIBE receive STEP_UW (power of
 *	one LSB), because the bus voltage can be derived from this power
 * @JETWATT_CMD_CLOCK_GET: dump: clocks, temperatures, GPU load, number of online CPUs. Slow series
 *	(JETWATT_SERIES_READER_SLOW) are read again for callers with CAP_NET_ADMIN if the last
 *	values are more than 150 ms old; other callers receive the last value if it is at most two
 *	seconds old, else JETWATT_VALUE_NONE
 * @JETWATT_CMD_CONFIG_GET: do: the configuration of the sampler
 * @JETWATT_CMD_CONFIG_SET: do, admin: change the configuration; -ERANGE: the rate is too high (the
 *	extended ack contains the highest possible rate), or another value is out of range; -ENODEV:
 *	a rate is requested and there is no sensor chip; -EINVAL: the CPU is not online, or an
 *	attribute is read only
 * @JETWATT_CMD_SAMPLES_GET: dump, admin: the samples in the ring
 * @JETWATT_CMD_SUBSCRIBE: do, admin: send samples to this port; -EALREADY: the port has subscribed
 *	already; -ENODEV: no sensor chip; -EUSERS: too many subscribers; -ENOMEM. If there are other
 *	subscribers, the first batch may contain samples that were taken before the request
 * @JETWATT_CMD_UNSUBSCRIBE: do, admin: end the subscription; -ENOENT: the port has not subscribed
 * @JETWATT_CMD_SAMPLES_NTF: a batch of samples, unicast to a subscriber
 * @JETWATT_CMD_STATS_GET: do: counters of the sampler
 * @JETWATT_CMD_SUBSCRIBER_GET: dump, admin: the subscribers
 * @JETWATT_CMD_EVENT_NTF: an event, multicast to JETWATT_MCGRP_EVENTS
 * @JETWATT_CMD_ENERGY_GET: dump, admin: the energy counters
 * @JETWATT_CMD_BOX_GET: do, admin: cause and time of the event that filled the black box; -ENOENT:
 *	the box is empty
 * @JETWATT_CMD_BOX_FREEZE: do, admin: fill the black box; -EBUSY: the box is not empty; -ENODATA:
 *	the ring has no samples of the last JETWATT_A_CONFIG_BOX_MS milliseconds; -ENOMEM
 * @JETWATT_CMD_BOX_CLEAR: do, admin: empty the black box; -ENOENT: the box is empty
 * @JETWATT_CMD_BOX_SAMPLES_GET: dump, admin: the samples in the black box; -ENOENT: the box is
 *	empty
 * @JETWATT_CMD_WAITS_WATCH: do, admin: send records of waits to this port; -EALREADY: the port
 *	receives them already; -EUSERS: too many watchers; -EOPNOTSUPP: the kernel has no
 *	raw_syscalls tracepoints; -EINVAL: malformed attribute; -ERANGE: too many ids; -ENOMEM
 * @JETWATT_CMD_WAITS_UNWATCH: do, admin: stop sending records of waits to this port; -ENOENT: the
 *	port does not receive any
 * @JETWATT_CMD_WAITS_NTF: records of finished waits, unicast to a watcher
 *
 * "admin" means that the operation needs CAP_NET_ADMIN; some operations need more: see "Access".
 *
 * The sampler runs while there is a subscriber or an open event of perf's PMU "jetwatt". After a
 * CONFIG_SET with a rate other than 0, the sampler also runs without them, so that SAMPLES_GET has
 * samples; a CONFIG_SET with rate 0 ends this.
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
