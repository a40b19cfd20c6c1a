/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The policy of jetwattd: /etc/jetwatt/jetwattd.conf, described in jetwattd.conf(5). The policy is
 * read by jetwattd, jetwatt-knobs and the exporters. Built on util/conf.h.
 */
#ifndef JETWATT_POLICY_POLICY_H
#define JETWATT_POLICY_POLICY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "board/board.h"
#include "util/conf.h"

#define JETWATTD_CONF		"/etc/jetwatt/jetwattd.conf"
/* Maximum number of "hours" lines, and of "cgroup" lines, in the policy file. */
#define JETWATTD_HOURS		8
#define JETWATTD_CGROUPS	8
/* Time for which jetwattd stays out of a held mode after a cap event, in s: the first time, which is
 * also the lower limit of "back-off", and the default of "back-off". jetwattd(8) and
 * jetwattd.conf(5) state both. */
#define JETWATTD_BACK_OFF_S		2
#define JETWATTD_BACK_OFF_MOST_S	80

/* Limits of the averaging windows, in s: at the lowest sampling rates a shorter window of the cap
 * would have too few samples; the longest one must fit in the cap's ring of samples. */
#define JETWATTD_WINDOW_MIN_S		0.1
#define JETWATTD_CAP_WINDOW_MIN_S	0.05
#define JETWATTD_WINDOW_MAX_S		10.0
/* Highest sampling rate, in Hz, as in the kernel module (JETWATT_RATE_HARD_HZ). At this rate, the
 * ring of samples covers the longest window (JETWATTD_SAMPLES). */
#define JETWATTD_RATE_MAX_HZ		5000

/**
 * JETWATTD_POLICY_NUMBERS() - list the settings that are one number
 *
 * ROW(key, type, member, unit, lowest, highest, default)
 *	key: name of the setting in the policy file
 *	type: number; count: a whole number, without a unit; ms: a time, which is stored in ms
 *	member: member of struct jetwattd_policy, which describes it
 *	unit: unit of the number in the file; "": none
 *	lowest, highest: limits, in @unit
 *	default: value of the member if the file does not have the key
 *
 * Keys, members, defaults and the tests of the limits (unit/daemon_policy) follow from the rows.
 */
#define JETWATTD_POLICY_NUMBERS(ROW)							\
	ROW("ttft", ms, ttft_ms, "s", 1e-3, 1e3, 0)					\
	ROW("tpot", ms, tpot_ms, "s", 1e-4, 1e2, 0)					\
	ROW("window", number, window_s, "s", JETWATTD_WINDOW_MIN_S, JETWATTD_WINDOW_MAX_S, 1) \
	ROW("back-off", number, backoff_s, "s", JETWATTD_BACK_OFF_S, 3600, JETWATTD_BACK_OFF_MOST_S) \
	ROW("rate", number, rate_hz, "Hz", 20, JETWATTD_RATE_MAX_HZ, 0)			\
	ROW("most", count, most, "", 3, 1000, 1000)					\
	ROW("learn-time", number, learn_s, "s", 0.1, 86400, 0)				\
	ROW("learn-energy", number, learn_j, "J", 0.1, 1e9, 1e9)			\
	ROW("learn-share", number, learn_share, "%", 0.1, 50, 5)

/* Types of the members. */
#define JETWATTD_TYPE_number	double
#define JETWATTD_TYPE_count	long
#define JETWATTD_TYPE_ms	double

/**
 * JETWATTD_POLICY_CHOICES() - list the settings that are one of two words
 *
 * ROW(key, member, first, second): the member, an int, is 0 for the word @first, which is the
 * default, and 1 for @second.
 */
#define JETWATTD_POLICY_CHOICES(ROW)							\
	ROW("objective", least_energy, "time", "energy")				\
	ROW("others", reassert, "yield", "reassert")					\
	ROW("blind", blind_restore, "floor", "restore")

/**
 * struct jetwattd_hours - a budget for part of the day
 * @from_min: start, in minutes since midnight, local time
 * @to_min: end, in minutes since midnight, local time; if it is not after @from_min, the period
 *	includes midnight
 * @budget_w: the budget, in W
 */
struct jetwattd_hours {
	unsigned int from_min, to_min;
	double budget_w;
};

/**
 * struct jetwattd_cgroup - a lower budget for the jobs of a cgroup and of the cgroups below it
 * @path: path as in /proc/PID/cgroup
 * @budget_w: the budget, in W
 */
struct jetwattd_cgroup {
	char path[128];
	double budget_w;
};

/**
 * struct jetwattd_timeshare - time slicing of training and a server
 * @train: cgroup of the training jobs, with those below it; empty: no time slicing
 * @serve: cgroup of the inference server
 * @latency_ms: latency limit for 99 of 100 requests, in ms
 */
struct jetwattd_timeshare {
	char train[JETWATT_BOARD_CGROUP_LEN], serve[JETWATT_BOARD_CGROUP_LEN];
	double latency_ms;
};

/**
 * struct jetwattd_policy - all settings; first those of the two tables above
 * @budget_w: budget for the mean total power, in W; 0: no budget outside of @hours, and jetwattd
 *	applies only the mode @idle
 * @window_s: length of the averaging window, in s
 * @cap_w: upper limit for the mean power over @cap_window_s, in W, while there is a budget; 0: none
 * @cap_window_s: length of the short averaging window of @cap_w, in s
 * @backoff_s: longest back-off after a cap event, time between two attempts while no mode is within
 *	the budget, and time until the ramp retries a level (daemon/cap_recovery.c), in s
 * @rate_hz: rate of power samples, in Hz; 0: the rate set in the module, by default the highest one
 * @learn_s: maximum time for learning a workload, in s; 0: no maximum
 * @learn_j: maximum energy used while learning a workload, in J
 * @learn_share: share of a workload's running time that learning may cost, in per cent
 * @hours: budgets for parts of the day, which replace @budget_w
 * @cgroups: lower budgets for the jobs of cgroups; used only while @budget_w or @hours sets a budget
 * @timeshare: time slicing
 * @server: cgroup of a server of a language model, whose steps are measured by phases; empty: none
 * @ttft_ms: limit for the server's mean time of the prefill of a prompt, in ms; 0: none
 * @tpot_ms: limit for the server's mean time of a decode step, in ms; 0: none
 * @least_energy: 1: choose the server's mode with the least energy per decode step; 0: the fastest one
 * @nr_hours: number of elements of @hours
 * @nr_cgroups: number of elements of @cgroups
 * @reassert: 1: apply the mode again when another process changes a knob, except at every fourth
 *	change; 0: yield to it
 * @blind_restore: 1: restore the board and end when the power samples stop; 0: under a budget, hold
 *	the lowest mode while a process uses the GPU
 * @given: bit i is set if the file sets key i of the table of keys in policy.c; "budget = 15W over 1s"
 *	also sets the key "window"
 * @most: maximum number of modes to measure for a workload, unless none of them is within the budget
 * @modes: file with the modes that may be chosen; empty: all modes of the board
 * @db: profile database; empty: the default path
 * @control: path of the control socket
 * @method: name of the predictor; empty: the default predictor. The daemon checks it.
 * @idle: mode while no job runs; empty: the board as it was found
 * @readers: group whose members may read on the control socket; empty: the default group
 * @writers: group whose members may also change settings; empty: the default group
 * @metrics: address and port on which jetwatt-exporter listens
 */
struct jetwattd_policy {
#define JETWATTD_MEMBER(key, type, member, ...)	JETWATTD_TYPE_##type member;
	JETWATTD_POLICY_NUMBERS(JETWATTD_MEMBER)
#undef JETWATTD_MEMBER
#define JETWATTD_MEMBER(key, member, ...)	int member;
	JETWATTD_POLICY_CHOICES(JETWATTD_MEMBER)
#undef JETWATTD_MEMBER
	double budget_w, cap_w, cap_window_s;
	struct jetwattd_hours hours[JETWATTD_HOURS];
	struct jetwattd_cgroup cgroups[JETWATTD_CGROUPS];
	struct jetwattd_timeshare timeshare;
	char server[JETWATT_BOARD_CGROUP_LEN];
	int nr_hours, nr_cgroups;
	unsigned int given;
	char modes[JETWATT_CONF_TEXT], db[JETWATT_CONF_TEXT], control[108];
	char method[32], idle[96], readers[33], writers[33], metrics[64];
};

/* Parse the text of a policy file. Return: 0; -EINVAL: @e receives the number of the faulty
 * line, the reason and a fix. */
int jetwattd_policy_parse(const char *text, size_t size, struct jetwattd_policy *p,
			  struct jetwatt_conf_error *e);

/* Read and parse a policy file. @must: 1: a missing file is an error; 0: if the file is missing,
 * every setting has its default. Return: 0 or an exit code; the error has been reported. */
int jetwattd_policy_read(const char *path, int must, struct jetwattd_policy *p);

/* Parse a numeric address with a port, such as "127.0.0.1:9417" or "[::1]:9417". Return: 0,
 * -EINVAL. */
int jetwattd_policy_address(const char *text, struct sockaddr_storage *at);

/* Return the budget, in W, at a minute of the day while a job of @cgroup runs; 0: no budget. An empty
 * @cgroup: no job runs. */
double jetwattd_policy_budget(const struct jetwattd_policy *p, unsigned int minute,
			      const char *cgroup);

/* For a policy that replaces @was while jetwattd runs: keep the old values of the keys that change
 * only after a restart. @names, of @len bytes: receives the names of these keys, separated by ", ".
 * Return: 1 if one of their values is not the same in both policies, else 0. */
int jetwattd_policy_keep(struct jetwattd_policy *p, const struct jetwattd_policy *was, char *names,
			 size_t len);

/* Replace @budget_w, @hours and @cgroups by the budget @power_w; 0: leave the policy unchanged. */
void jetwattd_policy_override(struct jetwattd_policy *p, double power_w);

#endif
