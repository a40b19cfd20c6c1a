/* SPDX-License-Identifier: GPL-2.0-only */
/* What jetwattd is to do: /etc/jetwatt/jetwattd.conf, see man 5 jetwattd.conf. */
#ifndef JETWATT_POLICY_POLICY_H
#define JETWATT_POLICY_POLICY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "board/board.h"
#include "util/conf.h"

#define JETWATTD_CONF		"/etc/jetwatt/jetwattd.conf"
#define JETWATTD_HOURS		8
#define JETWATTD_CGROUPS	8

/**
 * struct jetwattd_hours - another budget at some time of the day
 * @from_min, @to_min: minutes since midnight, local time; over midnight where @to_min is less
 */
struct jetwattd_hours {
	unsigned int from_min, to_min;
	double budget_w;
};

/* A lower budget while a job of this cgroup, or of one below it, runs. */
struct jetwattd_cgroup {
	char path[128];
	double budget_w;
};

/* Jobs of one cgroup, or of those below it, give way to the server of another one, whose
 * requests are to be answered in so long; empty: nobody does. */
struct jetwattd_turns {
	char train[JETWATT_BOARD_CGROUP], serve[JETWATT_BOARD_CGROUP];
	double latency_ms;
};

/**
 * struct jetwattd_policy - all of it
 * @budget_w: of the module's mean power; 0: none, nothing is switched
 * @hours, @nr_hours: where they hold, @budget_w does not
 * @cgroups, @nr_cgroups: of jobs that may have less
 * @window_s: the mean that must not get above the budget is over so long
 * @modes: file with the candidates, empty: the board's
 * @idle: mode while no job runs, empty: as it was found
 * @db: the profile database, empty: the usual place
 * @control: the socket; @readers, @writers: groups that may ask, and that may change
 * @metrics: where jetwatt-exporter serves
 * @method: name of the predictor, empty: the default; the daemon knows the names
 * @rate_hz: of samples; 0: the highest possible
 * @most: modes to measure of a job at most; @learn_s, @learn_j: time and energy for it;
 *	@learn_s 0: as the job's minibatches ask for; @learn_share: part of a job's time that learning may
 *	cost it, in per cent, instead; 0: not so
 * @reassert: a knob that somebody else has turned is turned back, else left to him
 * @given: bits of the settings that the file has
 * @blind_restore: restore the board when the samples of power break off; 0: hold the lowest mode
 *	while a process works on the GPU
 */
struct jetwattd_policy {
	double budget_w, window_s, rate_hz, learn_s, learn_j, learn_share;
	struct jetwattd_hours hours[JETWATTD_HOURS];
	struct jetwattd_cgroup cgroups[JETWATTD_CGROUPS];
	struct jetwattd_turns turns;
	int nr_hours, nr_cgroups, reassert, blind_restore;
	unsigned int given;
	long most;
	char modes[JETWATT_CONF_TEXT], db[JETWATT_CONF_TEXT], control[108];
	char method[32], idle[96], readers[33], writers[33], metrics[64];
};

/* From the text of a file. Return: 0, -EINVAL. */
int jetwattd_policy_parse(const char *text, size_t size, struct jetwattd_policy *p,
			  struct jetwatt_conf_error *e);

/* Read @path; one that is not there says nothing, unless it @must be. Says what is wrong.
 * Return: exit code. */
int jetwattd_policy_read(const char *path, int must, struct jetwattd_policy *p);

/* "127.0.0.1:9417", "[::1]:9417". Return: 0, -EINVAL. */
int jetwattd_policy_address(const char *text, struct sockaddr_storage *at);

/* What holds at a minute of the day while a job of a cgroup runs, "": while none does. */
double jetwattd_policy_budget(const struct jetwattd_policy *p, unsigned int minute,
			      const char *cgroup);

/* @power_w instead of all of its budgets, 0: no. */
void jetwattd_policy_override(struct jetwattd_policy *p, double power_w);

#endif
