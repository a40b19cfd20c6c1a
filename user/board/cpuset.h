/* SPDX-License-Identifier: GPL-2.0-only */
/* Internal header of user/board/: the record of the CPUs that cpusets lose (cpuset_record.c). */
#ifndef JETWATT_BOARD_CPUSET_H
#define JETWATT_BOARD_CPUSET_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

struct jetwatt_board;

/* Room for a list of CPUs in text form, at most every second of CPU_SETSIZE CPUs */
#define JETWATT_CPUS_LEN	4096

/**
 * struct jetwatt_cpuset_entry - a cpuset that has lost CPUs
 * @path: path below the mount, beginning with '/'
 * @all: CPUs to write back
 * @left: CPUs of @all that the kernel has left
 */
struct jetwatt_cpuset_entry {
	char *path;
	cpu_set_t all, left;
};

/**
 * struct jetwatt_cpuset_record - the record
 * @entry, @n: the cpusets, parents before children
 * @exists: true: there is a file; if it is damaged or of an earlier boot, @n is 0
 */
struct jetwatt_cpuset_record {
	struct jetwatt_cpuset_entry *entry;
	size_t n;
	bool exists;
};

/* Parse a list of CPUs as the kernel prints it: "0-3,8"; "": none. Return: true if it is valid. */
bool jetwatt_cpus_parse(const char *text, cpu_set_t *set);
/* @out: room for JETWATT_CPUS_LEN bytes. Return: @out. */
const char *jetwatt_cpus_format(const cpu_set_t *set, char *out);
bool jetwatt_cpus_subset(const cpu_set_t *part, const cpu_set_t *of);

/* Encode blanks, control characters and backslashes as \ooo, as in mountinfo (proc(5)), or decode
 * in place. @out: room for 4 * strlen(@s) + 1 bytes. Return: @out. */
const char *jetwatt_octal_encode(const char *s, char *out);
void jetwatt_octal_decode(char *s);

/* Add an entry. Return: 0; -ENOMEM. */
int jetwatt_cpuset_record_add(struct jetwatt_cpuset_record *r, const char *path,
			      const cpu_set_t *all, const cpu_set_t *left);
/* Parse lines of the file, without its first two lines and its checksum. Return: true if all are
 * valid; if not, @r stays empty. */
bool jetwatt_cpuset_record_parse(char *text, struct jetwatt_cpuset_record *r);
void jetwatt_cpuset_record_load(struct jetwatt_board *b, struct jetwatt_cpuset_record *r);
/* Write @now in place of @was; delete the file if @now has no entry. Return: 0; negative errno. */
int jetwatt_cpuset_record_replace(struct jetwatt_board *b, const struct jetwatt_cpuset_record *was,
				  const struct jetwatt_cpuset_record *now);
void jetwatt_cpuset_record_free(struct jetwatt_cpuset_record *r);

#endif
