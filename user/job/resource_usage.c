// SPDX-License-Identifier: GPL-2.0-only
/* Sample the resource usage of a job from /proc, /sys and the page cache. */
#include "job/resource_usage.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job/page_cache.h"
#include "util/clock.h"

#define CGROUP_DEPTH_MAX	32	/* levels of cgroups below the job's that are searched */

/* Read the counters of a process; those of its file io stay 0 if this file cannot be read. Return: 0;
 * -ESRCH: it has ended, or its file stat cannot be read. */
static int read_process(pid_t pid, pid_t *parent, uint64_t *start, uint64_t *rss,
			struct jetwatt_usage_count *c)
{
	unsigned long long minor, major, user, system, since, pages, v;
	char path[64], line[1024], *p;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return -ESRCH;
	n = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	line[n] = '\0';
	p = strrchr(line, ')');
	/* Fields after the command name (proc(5)): state ppid pgrp session tty tpgid flags minflt
	 * cminflt majflt cmajflt utime stime cutime cstime priority nice threads itrealvalue
	 * starttime vsize rss */
	if (!p || sscanf(p + 1, " %*c %d %*d %*d %*d %*d %*u %llu %*u %llu %*u %llu %llu %*d %*d %*d %*d %*d %*d %llu %*u %llu",
			 parent, &minor, &major, &user, &system, &since, &pages) != 7)
		return -ESRCH;
	*start = since;
	*rss = pages * sysconf(_SC_PAGESIZE);
	*c = (struct jetwatt_usage_count){ .cpu_ticks = user + system, .minor = minor,
					   .major = major };
	snprintf(path, sizeof(path), "/proc/%d/io", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "read_bytes: %llu", &v) == 1)
			c->read_bytes = v;
		else if (sscanf(line, "syscr: %llu", &v) == 1)
			c->read_calls = v;
	}
	if (f)
		fclose(f);
	return 0;
}

/* Add the difference between two readings of a process's counters to the job's sum. */
static void count_add(struct jetwatt_usage_count *sum, const struct jetwatt_usage_count *last,
		      const struct jetwatt_usage_count *first)
{
	sum->cpu_ticks += last->cpu_ticks - first->cpu_ticks;
	sum->minor += last->minor - first->minor;
	sum->major += last->major - first->major;
	sum->read_bytes += last->read_bytes - first->read_bytes;
	sum->read_calls += last->read_calls - first->read_calls;
}

/* Open a regular file that the job reads, so that the fraction of the file in the page cache can
 * be determined at the end. */
static void keep_file(struct jetwatt_usage *u, const char *link)
{
	struct stat st;
	int i, fd;

	if (stat(link, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return;
	for (i = 0; i < u->nr_file; i++)
		if (u->file[i].dev == st.st_dev && u->file[i].ino == st.st_ino)
			return;
	if (u->nr_file == JETWATT_USAGE_FILES) {
		u->missed++;
		return;
	}
	fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return;
	u->file[u->nr_file].dev = st.st_dev;
	u->file[u->nr_file].ino = st.st_ino;
	u->file[u->nr_file++].fd = fd;
}

/* Find the files that a process has open only for reading: files that it writes are logs and
 * checkpoints, not data sets. */
static void find_files(struct jetwatt_usage *u, pid_t pid)
{
	char path[64], link[340], to[32];
	struct dirent *e;
	struct stat st;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		snprintf(link, sizeof(link), "%s/%s", path, e->d_name);
		if (!lstat(link, &st) && st.st_mode & S_IRUSR && !(st.st_mode & S_IWUSR) &&
		    readlink(link, to, sizeof(to)) > 0 && to[0] == '/')
			keep_file(u, link);
	}
	if (dir)
		closedir(dir);
}

/* Update the stored counters of a process. @rss: increased by the resident memory of the
 * process, in bytes. */
static void update_process(struct jetwatt_usage *u, pid_t pid, uint64_t *rss)
{
	struct jetwatt_usage_count c;
	uint64_t start, mine;
	pid_t parent;
	int i;

	if (read_process(pid, &parent, &start, &mine, &c))
		return;
	*rss += mine;
	for (i = 0; i < u->nr_process; i++)
		if (u->process[i].pid == pid && u->process[i].start == start)
			break;
	if (i == JETWATT_USAGE_PROCESSES) {
		u->missed++;
		return;
	}
	if (i == u->nr_process) {
		u->nr_process++;
		memset(&u->process[i], 0, sizeof(u->process[i]));
		u->process[i].pid = pid;
		u->process[i].start = start;
		/* Counters from before the first sample do not belong to the job's run. */
		if (!u->begun)
			u->process[i].first = c;
	}
	u->process[i].last = c;
	u->process[i].seen = u->looks;
	find_files(u, pid);
}

/* Update all processes of the cgroup at @path, and of at most @depth levels of cgroups below it. */
static void update_cgroup(struct jetwatt_usage *u, const char *path, int depth, uint64_t *rss)
{
	char name[4200];
	struct dirent *e;
	DIR *dir;
	FILE *f;
	int pid;

	snprintf(name, sizeof(name), "%s/cgroup.procs", path);
	f = fopen(name, "re");
	while (f && fscanf(f, "%d", &pid) == 1)
		update_process(u, pid, rss);
	if (f)
		fclose(f);
	dir = depth ? opendir(path) : NULL;
	while (dir && (e = readdir(dir)))
		if (e->d_type == DT_DIR && e->d_name[0] != '.' &&
		    snprintf(name, sizeof(name), "%s/%s", path, e->d_name) < (int)sizeof(name))
			update_cgroup(u, name, depth - 1, rss);
	if (dir)
		closedir(dir);
}

/* A process in /proc and its parent; @parent is 0 if the process is not to be updated any more. */
struct proc_entry {
	pid_t pid, parent;
};

/* List the processes in /proc. Return: an array of *@nr elements, which the caller frees; not all
 * processes if memory is short. */
static struct proc_entry *list_processes(int *nr)
{
	struct proc_entry *all = NULL, *more, p;
	struct jetwatt_usage_count c;
	DIR *proc = opendir("/proc");
	uint64_t start, rss;
	struct dirent *e;
	int max = 0;

	*nr = 0;
	while (proc && (e = readdir(proc))) {
		p.pid = atoi(e->d_name);
		if (p.pid <= 0 || read_process(p.pid, &p.parent, &start, &rss, &c))
			continue;
		if (*nr == max) {
			max = max ? 2 * max : 256;
			more = realloc(all, max * sizeof(*all));
			if (!more)
				break;
			all = more;
		}
		all[(*nr)++] = p;
	}
	if (proc)
		closedir(proc);
	return all;
}

static int was_updated(const struct jetwatt_usage *u, pid_t pid)
{
	for (int i = 0; i < u->nr_process; i++)
		if (u->process[i].pid == pid && u->process[i].seen == (int)u->looks)
			return 1;
	return 0;
}

/* Update the job's process and its descendants. */
static void update_tree(struct jetwatt_usage *u, uint64_t *rss)
{
	int nr, found;
	struct proc_entry *all = list_processes(&nr);

	update_process(u, u->pid, rss);
	/* A parent may have a larger pid than its child, so repeat until no further process is
	 * found. */
	do {
		found = 0;
		for (int i = 0; i < nr; i++) {
			if (!all[i].parent || all[i].pid == u->pid || !was_updated(u, all[i].parent))
				continue;
			update_process(u, all[i].pid, rss);
			all[i].parent = 0;
			found = 1;
		}
	} while (found);
	free(all);
}

/* Add the memory in use and the GPU load of the machine to the sums from which the means are
 * computed. */
static void read_memory_and_gpu(struct jetwatt_usage *u)
{
	unsigned long long v, total = 0, available = 0;
	char line[128];
	FILE *f = fopen("/proc/meminfo", "re");
	double load;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "MemTotal: %llu", &v) == 1)
			total = v;
		else if (sscanf(line, "MemAvailable: %llu", &v) == 1)
			available = v;
	}
	if (f)
		fclose(f);
	u->memory += total ? 1 - (double)available / total : 0;
	f = *u->gpu_load ? fopen(u->gpu_load, "re") : NULL;
	if (f && fscanf(f, "%lf", &load) == 1)
		u->gpu += load / 1000;
	if (f)
		fclose(f);
}

void jetwatt_usage_sample(struct jetwatt_usage *u)
{
	uint64_t rss = 0, t = jetwatt_clock_ns();
	int i;

	/* Without a cgroup a sample reads all of /proc, which takes CPU time. */
	if (t - u->looked_ns < (u->cgroup ? 200000000 : 1000000000))
		return;
	u->looked_ns = t;
	u->looks++;
	u->missed = 0;
	if (u->cgroup)
		update_cgroup(u, u->cgroup, CGROUP_DEPTH_MAX, &rss);
	else
		update_tree(u, &rss);
	if (u->missed > u->missed_max)
		u->missed_max = u->missed;
	if (rss > u->rss_max)
		u->rss_max = rss;
	for (i = 0; i < u->nr_process; i++) {
		if (u->process[i].seen == (int)u->looks)
			continue;
		count_add(&u->sum, &u->process[i].last, &u->process[i].first);
		u->process[i--] = u->process[--u->nr_process];
	}
	read_memory_and_gpu(u);
}

/* Read the CPU time of the machine, in clock ticks, and the reads and sectors of its disks. */
static void read_machine(uint64_t *busy, uint64_t *idle, uint64_t *reads, uint64_t *sectors)
{
	unsigned long long t[8] = { 0 }, r, s;
	char line[256], name[64], path[128];
	FILE *f = fopen("/proc/stat", "re");

	*busy = *idle = *reads = *sectors = 0;
	if (f && fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2],
			&t[3], &t[4], &t[5], &t[6], &t[7]) >= 4) {
		*idle = t[3] + t[4];
		*busy = t[0] + t[1] + t[2] + t[5] + t[6] + t[7];
	}
	if (f)
		fclose(f);
	f = fopen("/proc/diskstats", "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*u %*u %63s %llu %*u %llu", name, &r, &s) != 3)
			continue;
		/* Count only hardware disks: the data of partitions and mappings would count
		 * twice, and RAM disks are memory. */
		snprintf(path, sizeof(path), "/sys/block/%s/device", name);
		if (access(path, F_OK))
			continue;
		*reads += r;
		*sectors += s;
	}
	if (f)
		fclose(f);
}

/* Find the load file of NVIDIA's GPU driver. Its unit is 1/1000. Up to JetPack 5, the GPU's
 * directory is not below platform, and on Orin it is called 17000000.ga10b; gpu.0 is a link to it. */
static void find_gpu(struct jetwatt_usage *u)
{
	glob_t g;

	if (!glob("/sys/devices/platform/*gpu*/load", 0, NULL, &g) ||
	    !glob("/sys/devices/platform/*/*gpu*/load", 0, NULL, &g) ||
	    !glob("/sys/devices/gpu.0/load", 0, NULL, &g))
		snprintf(u->gpu_load, sizeof(u->gpu_load), "%s", g.gl_pathv[0]);
	globfree(&g);
}

void jetwatt_usage_begin(struct jetwatt_usage *u, pid_t pid, const char *cgroup)
{
	memset(u, 0, sizeof(*u));
	u->pid = pid;
	u->cgroup = cgroup && *cgroup ? cgroup : NULL;
	find_gpu(u);
	read_machine(&u->busy0, &u->idle0, &u->reads0, &u->sectors0);
	jetwatt_usage_sample(u);
	u->begun = 1;
}

/* Return the fraction of all files, by size, that is in the page cache; -1: there is no file, or
 * none could be examined. */
static double cached_share(const struct jetwatt_usage *u)
{
	double in = 0, size = 0;

	for (int i = 0; i < u->nr_file; i++) {
		uint64_t pages, n;
		struct stat st;

		if (fstat(u->file[i].fd, &st) || !st.st_size)
			continue;
		n = jetwatt_cached_pages(u->file[i].fd, st.st_size, &pages);
		if (!pages)
			continue;
		in += (double)n / pages * st.st_size;
		size += st.st_size;
	}
	return size > 0 ? in / size : -1;
}

void jetwatt_usage_end(struct jetwatt_usage *u, const struct jetwatt_child *child,
		       double elapsed_s, struct jetwatt_usage_result *f)
{
	const double tick = 1.0 / sysconf(_SC_CLK_TCK);
	uint64_t busy, idle, reads, sectors;

	memset(f, 0, sizeof(*f));
	for (int i = 0; i < u->nr_process; i++)
		count_add(&u->sum, &u->process[i].last, &u->process[i].first);
	f->cpu_s = u->sum.cpu_ticks * tick;
	f->minor = u->sum.minor;
	f->major = u->sum.major;
	f->rss_max = u->rss_max;
	/* The kernel's counts include processes that started and ended between two samples, if the
	 * job has waited for them. */
	if (child && child->pid && child->gone) {
		const struct rusage *r = &child->used;
		double s = r->ru_utime.tv_sec + r->ru_stime.tv_sec +
			   (r->ru_utime.tv_usec + r->ru_stime.tv_usec) * 1e-6;

		f->cpu_s = s > f->cpu_s ? s : f->cpu_s;
		f->minor = (uint64_t)r->ru_minflt > f->minor ? (uint64_t)r->ru_minflt : f->minor;
		f->major = (uint64_t)r->ru_majflt > f->major ? (uint64_t)r->ru_majflt : f->major;
		f->rss_max = r->ru_maxrss * 1024ull > f->rss_max ? r->ru_maxrss * 1024ull :
								    f->rss_max;
	}
	f->cores = elapsed_s > 0 ? f->cpu_s / elapsed_s : 0;
	f->job_read_bytes = u->sum.read_bytes;
	f->read_calls = u->sum.read_calls;
	read_machine(&busy, &idle, &reads, &sectors);
	busy -= u->busy0;
	idle -= u->idle0;
	f->machine = busy + idle ? (double)busy / (busy + idle) : 0;
	f->reads = reads - u->reads0;
	f->read_bytes = (sectors - u->sectors0) * 512;
	f->memory = u->looks ? u->memory / u->looks : 0;
	f->gpu = *u->gpu_load && u->looks ? u->gpu / u->looks : -1;
	f->cached = cached_share(u);
	f->files = u->nr_file;
	f->missed = u->missed_max;
	while (u->nr_file)
		close(u->file[--u->nr_file].fd);
}
