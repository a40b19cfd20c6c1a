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
 * UNSUBSCRIBE and SUBSCRIBER_GET need CAP_NET_ADMIN in the initial user
 * namespace: a fast power trace is a side channel (PLATYPUS, CVE-2020-8694).
 * A refusal by the module carries an explanation in the extended ack; the
 * kernel's own -EPERM does not.
 *
 * Time and units
 * --------------
 * Every time is CLOCK_MONOTONIC in nanoseconds. Units stand in the names.
 * All integers are in host byte order.
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
 * The subscription ends with UNSUBSCRIBE or when the socket is closed.
 *
 * SAMPLES_GET dumps what is still in the ring, from JETWATT_A_SAMPLES_SEQ on,
 * in the same message shape; if the ring no longer holds that sequence
 * number, the dump starts at the oldest sample and JETWATT_A_SAMPLES_LOST
 * says how many were missed.
 *
 * The multicast group JETWATT_MCGRP_EVENTS carries EVENT_NTF, at low rate.
 *
 * Rates
 * -----
 * requested: what was asked for; read: how often a register is read; fresh:
 * how often the chip has a new value to give, at most the read rate. The chip
 * refreshes a channel every (enabled channels x (bus + shunt conversion
 * time)): INA3221 data sheet SBOS576, "Averaging Function" and Table 5.
 * Rates are in millihertz.
 */
#ifndef _UAPI_LINUX_JETWATT_H
#define _UAPI_LINUX_JETWATT_H

#define JETWATT_GENL_NAME	"jetwatt"
#define JETWATT_GENL_VERSION	1
#define JETWATT_MCGRP_EVENTS	"events"

/* A series was not read in this tick. */
#define JETWATT_VALUE_NONE	(-2147483647 - 1)

/**
 * enum jetwatt_series - what a series holds (JETWATT_A_SERIES_KIND)
 * @JETWATT_SERIES_SHUNT_UV: voltage over the shunt of a rail, uV, signed
 * @JETWATT_SERIES_BUS_UV: voltage of a rail at the load side, uV
 * @JETWATT_SERIES_CPU_KHZ: clock of a cpufreq policy, kHz, 0 if it has none
 * @JETWATT_SERIES_GPU_KHZ: clock of the GPU, kHz
 * @JETWATT_SERIES_EMC_KHZ: clock of the external memory controller, kHz
 * @JETWATT_SERIES_CORES: number of online CPUs
 * @JETWATT_SERIES_TEMP_MC: temperature of a thermal zone, millidegree Celsius
 *
 * JETWATT_A_SERIES_INDEX is a rail's id for the first two, the first CPU of
 * the policy for CPU_KHZ, a thermal zone's number for TEMP_MC, else 0.
 * Power of a rail = bus_uv * shunt_uv / shunt_uohm, in uW.
 */
enum jetwatt_series {
	JETWATT_SERIES_SHUNT_UV,
	JETWATT_SERIES_BUS_UV,
	JETWATT_SERIES_CPU_KHZ,
	JETWATT_SERIES_GPU_KHZ,
	JETWATT_SERIES_EMC_KHZ,
	JETWATT_SERIES_CORES,
	JETWATT_SERIES_TEMP_MC,
};

/**
 * enum jetwatt_event_kind - what an EVENT_NTF tells (JETWATT_A_EVENT_KIND)
 * @JETWATT_EVENT_CONFIG_CHANGED: rate, batch or list of series is new
 * @JETWATT_EVENT_CHIP_LOST: a chip stopped answering; its series are NONE
 * @JETWATT_EVENT_CHIP_BACK: it answers again
 * @JETWATT_EVENT_OVERRUN: the sampler skipped ticks (VALUE: how many since
 *	the last such event; at most one event a second)
 */
enum jetwatt_event_kind {
	JETWATT_EVENT_CONFIG_CHANGED,
	JETWATT_EVENT_CHIP_LOST,
	JETWATT_EVENT_CHIP_BACK,
	JETWATT_EVENT_OVERRUN,
};

/* INFO_GET reply */
enum {
	JETWATT_A_INFO_VERSION = 1,	/* string: version of the module */
	JETWATT_A_INFO_BOARD,		/* string: first root compatible, "" without device tree */
	JETWATT_A_INFO_CHIPS,		/* u32: number of sensor chips */
	JETWATT_A_INFO_RAILS,		/* u32: number of rails */
	JETWATT_A_INFO_RING,		/* u32: samples that the ring holds */
	JETWATT_A_INFO_RUNNING,		/* u32: 1 while the sampler runs */
	__JETWATT_A_INFO_MAX,
	JETWATT_A_INFO_MAX = (__JETWATT_A_INFO_MAX - 1)
};

/* CHIP_GET reply, one message a chip */
enum {
	JETWATT_A_CHIP_ID = 1,		/* u32 */
	JETWATT_A_CHIP_MODEL,		/* string: "ina3221" */
	JETWATT_A_CHIP_BUS,		/* u32: number of the i2c adapter */
	JETWATT_A_CHIP_ADDR,		/* u32: 7-bit address */
	JETWATT_A_CHIP_BUS_HZ,		/* u32: clock of the bus */
	JETWATT_A_CHIP_CONFIG,		/* u32: register 0x00 as last read */
	JETWATT_A_CHIP_REFRESH_MHZ,	/* u32: fresh values of a channel, millihertz */
	JETWATT_A_CHIP_ERRORS,		/* u64: transfers that failed */
	JETWATT_A_CHIP_LOST,		/* u32: 1 while it does not answer */
	JETWATT_A_CHIP_PAD,
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
	__JETWATT_A_RAIL_MAX,
	JETWATT_A_RAIL_MAX = (__JETWATT_A_RAIL_MAX - 1)
};

/* CLOCK_GET reply, one message a clock */
enum {
	JETWATT_A_CLOCK_KIND = 1,	/* u32: enum jetwatt_series, *_KHZ or CORES or TEMP_MC */
	JETWATT_A_CLOCK_INDEX,		/* u32: as JETWATT_A_SERIES_INDEX */
	JETWATT_A_CLOCK_LABEL,		/* string: "cpu0", "17000000.gpu", "emc", zone's type */
	JETWATT_A_CLOCK_VALUE,		/* s32: now; a slow one at most 150 ms ago */
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
	__JETWATT_A_CONFIG_MAX,
	JETWATT_A_CONFIG_MAX = (__JETWATT_A_CONFIG_MAX - 1)
};

#define JETWATT_BATCH_MAX	256

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

/**
 * enum jetwatt_cmd - operations
 * @JETWATT_CMD_INFO_GET: do; errors: none
 * @JETWATT_CMD_CHIP_GET: dump
 * @JETWATT_CMD_RAIL_GET: dump
 * @JETWATT_CMD_CLOCK_GET: dump
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
	__JETWATT_CMD_MAX,
	JETWATT_CMD_MAX = (__JETWATT_CMD_MAX - 1)
};

#endif /* _UAPI_LINUX_JETWATT_H */
