/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What ran: two runs of one workload have one identity, whatever the process
 * was called, wherever its checkpoints went and whichever container it was in.
 * Pure: text in, text out.
 */
#ifndef JETWATT_WORKLOAD_H
#define JETWATT_WORKLOAD_H

#include <stddef.h>
#include <stdint.h>

#define JETWATT_WORKLOAD_TEXT	1024
#define JETWATT_WORKLOAD_KEY	65	/* SHA-256 in hexadecimal, terminated */

/**
 * struct jetwatt_workload - the identity of what was measured
 * @command: as jetwatt_workload_command() writes it
 * @batch: samples in a minibatch, 0: not known
 * @cgroup: as jetwatt_workload_cgroup() writes it
 * @board: its name
 * @release: of the board's software: "L4T 36.4.3", else "Linux 6.1.0"
 * @params: what else changes a mode's time and power: "tpc_pg_mask=0 ..."
 */
struct jetwatt_workload {
	char command[JETWATT_WORKLOAD_TEXT];
	uint32_t batch;
	char cgroup[256], board[96], release[96], params[256];
};

/**
 * jetwatt_workload_command() - a command line without what does not matter
 * @arg, @n: as in /proc/PID/cmdline
 *
 * The program by its name without directories; --option=value as two words;
 * options that name where results go, when the job ends or who may know (log
 * directories, epochs, tokens) left out with their values; words quoted as a
 * shell would need it. Too long a line ends in a hash of the rest.
 */
void jetwatt_workload_command(const char *const *arg, int n, char *buf, size_t len);

/* The batch size that a command line names (--batch-size 16, -b 16, batch=16).
 * Return: 0: it names none. */
uint32_t jetwatt_workload_batch(const char *const *arg, int n);

/* A cgroup's path without what is new in every run: container ids, session and
 * run numbers; a login session is "user.slice". @line: of /proc/PID/cgroup. */
void jetwatt_workload_cgroup(const char *line, char *buf, size_t len);

/* The identity as one key. */
void jetwatt_workload_key(const struct jetwatt_workload *w, char key[JETWATT_WORKLOAD_KEY]);

#endif
