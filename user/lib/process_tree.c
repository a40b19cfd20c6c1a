// SPDX-License-Identifier: LGPL-2.1-only
/* Reads properties of processes, cgroups and namespaces: see process_tree.h. */
#include "lib/process_tree.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Inode number of the initial pid namespace: PROC_PID_INIT_INO, constant in all kernels. */
#define INITIAL_PID_NS	0xEFFFFFFCu
#define INITIAL_CGROUP_NS	0xEFFFFFFBu	/* PROC_CGROUP_INIT_INO */

#define CGROUP_DEPTH_MAX	32	/* levels of cgroups that are searched for processes */

int jetwatt_process_initial_pids(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) || st.st_ino == INITIAL_PID_NS;
}

/* Lines of /proc/self/timens_offsets: "monotonic  SECONDS NANOSECONDS", "boottime ..." */
int jetwatt_process_initial_time(void)
{
	FILE *f = fopen("/proc/self/timens_offsets", "re");
	long long sec, nsec;
	char line[64];
	int zero = 1;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "monotonic %lld %lld", &sec, &nsec) == 2)
			zero = !sec && !nsec;
	if (f)
		fclose(f);
	return zero;
}

/*
 * The depth of a cgroup is the number of path components below the root of the mount, which is
 * where the device changes.
 */
int jetwatt_process_cgroup(const char *path, uint64_t *id, uint32_t *level)
{
	struct statfs fs;
	struct stat st, up;
	char real[PATH_MAX], *slash;

	if (!realpath(path, real) || statfs(real, &fs) || stat(real, &st))
		return -errno;
	if (fs.f_type != CGROUP2_SUPER_MAGIC || !S_ISDIR(st.st_mode))
		return -EINVAL;
	/* On 64-bit kernels, the id of a cgroup is the inode number of its directory. */
	*id = st.st_ino;
	*level = 0;
	if (stat("/proc/self/ns/cgroup", &up) || up.st_ino != INITIAL_CGROUP_NS)
		return 0;
	while ((slash = strrchr(real, '/')) && slash != real) {
		*slash = '\0';
		if (stat(real, &up) || up.st_dev != st.st_dev)
			break;
		++*level;
	}
	return 0;
}

/* Ids of the processes of a cgroup and of the cgroups below it; @err: 0 or -ENOMEM */
struct cgroup_list {
	uint32_t *tgids;
	int nr, max, err;
};

static void add_process(struct cgroup_list *l, uint32_t tgid)
{
	uint32_t *more;

	if (l->nr == l->max) {
		l->max = l->max ? 2 * l->max : 64;
		more = realloc(l->tgids, l->max * sizeof(*more));
		if (!more) {
			l->err = -ENOMEM;
			return;
		}
		l->tgids = more;
	}
	l->tgids[l->nr++] = tgid;
}

/* Return: 0 or the error of opening cgroup.procs. */
static int list_procs(struct cgroup_list *l, const char *path)
{
	char name[PATH_MAX + 16];
	uint32_t tgid;
	FILE *f;

	snprintf(name, sizeof(name), "%s/cgroup.procs", path);
	f = fopen(name, "re");
	if (!f)
		return -errno;
	while (!l->err && fscanf(f, "%u", &tgid) == 1)
		add_process(l, tgid);
	fclose(f);
	return 0;
}

/* Add the processes of the cgroups below @path. A cgroup may be removed at any time. */
static void list_below(struct cgroup_list *l, const char *path, int depth)
{
	char name[PATH_MAX];
	struct dirent *d;
	DIR *dir;

	dir = depth ? opendir(path) : NULL;
	while (dir && !l->err && (d = readdir(dir))) {
		if (d->d_type != DT_DIR || d->d_name[0] == '.' ||
		    snprintf(name, sizeof(name), "%s/%s", path, d->d_name) >= (int)sizeof(name))
			continue;
		list_procs(l, name);
		list_below(l, name, depth - 1);
	}
	if (dir)
		closedir(dir);
}

int jetwatt_process_cgroup_tree(const char *path, uint32_t **tgids)
{
	struct cgroup_list l = { 0 };
	int err = list_procs(&l, path);

	if (!err)
		list_below(&l, path, CGROUP_DEPTH_MAX);
	if (!err)
		err = l.err;
	if (!err && !l.nr)
		err = -ESRCH;
	if (err) {
		free(l.tgids);
		return err;
	}
	*tgids = l.tgids;
	return l.nr;
}

/* A process in /proc; the member "in" is 1 if the process belongs to the tree. */
struct follow_process {
	uint32_t tgid, parent;
	int in;
};

/*
 * Read the parent's process id from /proc/PID/stat: pid (comm) state ppid ... num_threads ... The
 * process name comm may contain any character, also ')'. A zombie counts as gone, unless it has
 * several threads: then only its first thread has ended.
 */
static int parent_of(uint32_t pid, uint32_t *parent)
{
	char path[32], line[512], state, *p;
	unsigned int threads;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return -ESRCH;
	n = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	line[n] = '\0';
	p = strrchr(line, ')');
	if (!p || sscanf(p + 1, " %c %u %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %u",
			 &state, parent, &threads) != 3)
		return -ESRCH;
	return state == 'X' || (state == 'Z' && threads < 2) ? -ESRCH : 0;
}

int jetwatt_process_alive(uint32_t tgid)
{
	uint32_t parent;

	return !parent_of(tgid, &parent);
}

static int list_processes(struct follow_process **list)
{
	struct follow_process *all = NULL, *more;
	int nr = 0, max = 0;
	struct dirent *d;
	DIR *proc;

	proc = opendir("/proc");
	if (!proc)
		return -errno;
	while ((d = readdir(proc))) {
		if (!isdigit((unsigned char)d->d_name[0]))
			continue;
		if (nr == max) {
			max = max ? 2 * max : 256;
			more = realloc(all, max * sizeof(*all));
			if (!more) {
				free(all);
				closedir(proc);
				return -ENOMEM;
			}
			all = more;
		}
		all[nr] = (struct follow_process){ .tgid = strtoul(d->d_name, NULL, 10) };
		if (!parent_of(all[nr].tgid, &all[nr].parent))
			nr++;
	}
	closedir(proc);
	*list = all;
	return nr;
}

static int is_in_tree(const struct follow_process *all, int nr, uint32_t tgid)
{
	int i;

	for (i = 0; i < nr; i++)
		if (all[i].tgid == tgid)
			return all[i].in;
	return 0;
}

int jetwatt_process_tree(uint32_t tgid, uint32_t **tgids)
{
	struct follow_process *all = NULL;
	int nr = list_processes(&all), in = 0, i, before;
	uint32_t *out = NULL;

	if (nr < 0)
		return nr;
	for (i = 0; i < nr; i++)
		if (all[i].tgid == tgid)
			in = all[i].in = 1;
	/* A parent may have a larger id than its child, so repeat until no further process is
	 * added. */
	do {
		before = in;
		for (i = 0; i < nr && before; i++)
			if (!all[i].in && is_in_tree(all, nr, all[i].parent)) {
				all[i].in = 1;
				in++;
			}
	} while (in > before);
	if (in)
		out = malloc(in * sizeof(*out));
	if (in && !out) {
		free(all);
		return -ENOMEM;
	}
	for (i = 0, in = 0; i < nr; i++)
		if (all[i].in)
			out[in++] = all[i].tgid;
	free(all);
	*tgids = out;
	return in ? in : -ESRCH;
}

/*
 * Find the offset of child_pid in tracefs's description of the record, which differs between
 * kernels: "field:pid_t child_pid;     offset:44;      ..."
 */
static uint32_t child_pid_offset(const char *path)
{
	unsigned int off = 0;
	char line[256], *p;
	FILE *f = fopen(path, "re");

	if (!f)
		return 0;
	while (!off && fgets(line, sizeof(line), f)) {
		p = strstr(line, "child_pid;");
		p = p && strstr(line, "field:") ? strstr(p, "offset:") : NULL;
		if (p)
			off = strtoul(p + strlen("offset:"), NULL, 10);
	}
	fclose(f);
	return off;
}

uint32_t jetwatt_process_fork_offset(void)
{
	uint32_t off = child_pid_offset("/sys/kernel/tracing/events/sched/sched_process_fork/format");

	return off ? off :
	       child_pid_offset("/sys/kernel/debug/tracing/events/sched/sched_process_fork/format");
}
