/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Get the CPUs, among the first three of the machine, that a kernel thread may use. Include
 * family.h before this file.
 */
#ifndef CPUS_OF_H
#define CPUS_OF_H

#include <sched.h>

/* Return: mask of the CPUs that kernel thread @comm may use; 0 if there is no such thread. */
static unsigned int cpus_of(const char *comm)
{
	char path[300], text[512], name[32];
	DIR *dir = opendir("/proc");
	unsigned int mask = 0;
	struct dirent *e;
	cpu_set_t set;

	snprintf(name, sizeof(name), "(%s)", comm);
	while (dir && !mask && (e = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%s/stat", e->d_name);
		if (read_file(path, text, sizeof(text)) || !strstr(text, name) ||
		    sched_getaffinity(atoi(text), sizeof(set), &set))
			continue;
		mask = CPU_ISSET(0, &set) | CPU_ISSET(1, &set) << 1 | CPU_ISSET(2, &set) << 2;
	}
	if (dir)
		closedir(dir);
	return mask;
}

#endif
