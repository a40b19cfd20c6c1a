/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * List the BPF programs and maps that one process has open, so that a test does not count those of
 * other probes on the machine.
 */
#ifndef JETWATT_TEST_HELD_H
#define JETWATT_TEST_HELD_H

#include <bpf/bpf.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Get the ids of the BPF objects of @kind ("prog_id" or "map_id") that process @pid has open.
 * Return: their number.
 */
static inline int held(pid_t pid, const char *kind, __u32 *id, int max)
{
	char path[300], line[128], name[32];
	struct dirent *e;
	int i, n = 0;
	__u32 v;
	FILE *f;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo", pid);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%d/fdinfo/%s", pid, e->d_name);
		f = fopen(path, "r");
		while (f && fgets(line, sizeof(line), f)) {
			if (sscanf(line, "%31[^:]: %u", name, &v) != 2 || strcmp(name, kind))
				continue;
			for (i = 0; i < n && id[i] != v; i++)
				;
			if (i == n && n < max)
				id[n++] = v;
		}
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
	return n;
}

/* Return: descriptor of the BPF map @name that this process has open; -1: it has none. */
static inline int held_map(const char *name)
{
	__u32 id[64], len, n = held(getpid(), "map_id", id, 64);
	struct bpf_map_info info;
	int fd;

	for (__u32 i = 0; i < n; i++) {
		fd = bpf_map_get_fd_by_id(id[i]);
		memset(&info, 0, sizeof(info));
		len = sizeof(info);
		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &len) && !strcmp(info.name, name))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

/* Return: how many of the BPF programs with the ids @id are still loaded in the kernel. */
static inline int programs_left(const __u32 *id, int n)
{
	int left = 0, i, fd;

	for (i = 0; i < n; i++) {
		fd = bpf_prog_get_fd_by_id(id[i]);
		left += fd >= 0;
		if (fd >= 0)
			close(fd);
	}
	return left;
}

#endif
