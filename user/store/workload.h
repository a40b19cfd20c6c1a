/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The identity of a workload. Two runs of the same workload have the same identity, even if the
 * directory of the executable, the checkpoint directory or the container differ. The functions are
 * pure: they convert text to text, and read no files.
 */
#ifndef JETWATT_WORKLOAD_H
#define JETWATT_WORKLOAD_H

#include <stddef.h>
#include <stdint.h>

#define JETWATT_WORKLOAD_TEXT	1024
#define JETWATT_WORKLOAD_KEY	65	/* SHA-256 in hexadecimal, terminated */

/* Commands of calibration workloads begin with this text. The command of a job never does, because
 * jetwatt_workload_command() quotes a word with a bracket. */
#define JETWATT_WORKLOAD_CALIBRATION	"[calibration] "

/**
 * struct jetwatt_workload - the identity of a workload
 * @command: command line, as jetwatt_workload_command() writes it
 * @batch: minibatch size in samples, 0: not known
 * @cgroup: as jetwatt_workload_cgroup() writes it
 * @board: name of the board
 * @release: release of the board's software: "L4T 36.4.3", else "Linux 6.1.0"
 * @params: other settings that change the time and power of a mode: "tpc_pg_mask=0 ..."
 */
struct jetwatt_workload {
	char command[JETWATT_WORKLOAD_TEXT];
	uint32_t batch;
	char cgroup[256], board[96], release[96], params[256];
};

/**
 * jetwatt_workload_command() - write a command line without the parts that differ between runs
 * @arg, @n: arguments, as in /proc/PID/cmdline
 * @buf, @len: gets the text
 *
 * The path of the executable (@arg[0]) loses its directories, and --option=value becomes two words.
 * Known options that do not change what a minibatch does (log directories, epochs, seeds, ports),
 * or that hold secrets, are left out with their values. Words are quoted as for a shell. If the line does
 * not fit, the rest of the line is replaced by a hash.
 */
void jetwatt_workload_command(const char *const *arg, int n, char *buf, size_t len);

/* Return the minibatch size in a command line (--batch-size 16, -b 16, batch=16); 0 if the
 * command line has none. */
uint32_t jetwatt_workload_batch(const char *const *arg, int n);

/* Write the path of a cgroup without parts that differ between runs: container ids, session and run
 * numbers; any cgroup below user.slice becomes "user.slice". @line: line of /proc/PID/cgroup. */
void jetwatt_workload_cgroup(const char *line, char *buf, size_t len);

/* Write the SHA-256 of all fields of a workload, in hexadecimal. */
void jetwatt_workload_key(const struct jetwatt_workload *w, char key[JETWATT_WORKLOAD_KEY]);

#endif
