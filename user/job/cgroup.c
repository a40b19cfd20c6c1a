// SPDX-License-Identifier: GPL-2.0-only
/* Make, open, watch and remove cgroups, through the files of the v2 hierarchy. */
#include "job/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "job/child.h"

#define NAME "jetwatt-"
#define KILL_MS		1000	/* longest wait for the end of killed processes */
#define POLL_MS		20

int jetwatt_cgroup_mount(char *dir)
{
	char line[PATH_MAX + 128], type[64];
	FILE *f = fopen("/proc/self/mounts", "re");
	int found = 0;

	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%*s %4095s %63s", dir, type) == 2 && !strcmp(type, "cgroup2");
	if (f)
		fclose(f);
	return found ? 0 : -ENOENT;
}

/* In /proc/PID/cgroup, the line of the v2 hierarchy begins with "0::", followed by the path. */
int jetwatt_cgroup_of(pid_t pid, char *path, size_t len)
{
	char line[PATH_MAX + 128], name[32] = "/proc/self/cgroup";
	int found = 0;
	FILE *f;

	*path = '\0';
	if (pid)
		snprintf(name, sizeof(name), "/proc/%d/cgroup", pid);
	f = fopen(name, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		found = !strncmp(line, "0::", 3);
	if (f)
		fclose(f);
	if (!found)
		return -ENOENT;
	line[strcspn(line, "\n")] = '\0';
	return (size_t)snprintf(path, len, "%s", line + 3) < len ? 0 : -ENAMETOOLONG;
}

/* Get the directory of the cgroup of this process. Return: 0, negative errno. */
static int cgroup_own_path(char *path, size_t len)
{
	char dir[PATH_MAX], at[PATH_MAX];
	int err = jetwatt_cgroup_mount(dir);

	if (!err)
		err = jetwatt_cgroup_of(0, at, sizeof(at));
	if (err)
		return err;
	return (size_t)snprintf(path, len, "%s%s", dir, strcmp(at, "/") ? at : "") < len ?
	       0 : -ENAMETOOLONG;
}

/* Remove cgroups "jetwatt-PID-N" whose process PID has ended. rmdir() fails for a cgroup that
 * still has processes. */
static void cgroup_remove_stale(const char *parent)
{
	char path[PATH_MAX + 300];
	DIR *dir = opendir(parent);
	struct dirent *e;
	int pid;

	while (dir && (e = readdir(dir))) {
		if (sscanf(e->d_name, NAME "%d-", &pid) != 1 || !kill(pid, 0) || errno != ESRCH)
			continue;
		snprintf(path, sizeof(path), "%s/%s", parent, e->d_name);
		rmdir(path);
	}
	if (dir)
		closedir(dir);
}

int jetwatt_cgroup_file(const struct jetwatt_cgroup *c, const char *name, int flags)
{
	char path[PATH_MAX + 32];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", c->path, name);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int jetwatt_cgroup_open(struct jetwatt_cgroup *c, const char *path)
{
	memset(c, 0, sizeof(*c));
	c->events = -1;
	if (strlen(path) >= sizeof(c->path))
		return -ENAMETOOLONG;
	strcpy(c->path, path);
	c->events = jetwatt_cgroup_file(c, "cgroup.events", O_RDONLY);
	return c->events < 0 ? c->events : 0;
}

int jetwatt_cgroup_make(struct jetwatt_cgroup *c)
{
	static int made;
	char parent[PATH_MAX - 64], path[PATH_MAX];
	int err = cgroup_own_path(parent, sizeof(parent));

	memset(c, 0, sizeof(*c));
	c->events = -1;
	if (err)
		return err;
	cgroup_remove_stale(parent);
	snprintf(path, sizeof(path), "%s/" NAME "%d-%d", parent, getpid(), made++);
	if (mkdir(path, 0755))
		return -errno;
	err = jetwatt_cgroup_open(c, path);
	c->ours = 1;
	if (err)
		jetwatt_cgroup_close(c);
	return err;
}

int jetwatt_cgroup_move(const struct jetwatt_cgroup *c, pid_t pid)
{
	int fd = jetwatt_cgroup_file(c, "cgroup.procs", O_WRONLY), err;

	if (fd < 0)
		return fd;
	err = dprintf(fd, "%d", pid) < 0 ? -errno : 0;
	close(fd);
	return err;
}

int jetwatt_cgroup_empty(const struct jetwatt_cgroup *c)
{
	char text[128];
	ssize_t n = pread(c->events, text, sizeof(text) - 1, 0);

	if (n < 0)
		return 1;
	text[n] = '\0';
	return !strstr(text, "populated 1");
}

/* Open the list of the processes of a cgroup. Return: NULL: it cannot be opened. */
static FILE *cgroup_list(const struct jetwatt_cgroup *c)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/cgroup.procs", c->path);
	return fopen(path, "re");
}

/* Send a signal to each process of a cgroup. */
static void cgroup_signal(const struct jetwatt_cgroup *c, int signal)
{
	FILE *f = cgroup_list(c);
	int pid;

	/* A process of a PID namespace that this process cannot see is listed as 0. */
	while (f && fscanf(f, "%d", &pid) == 1)
		if (pid > 0)
			kill(pid, signal);
	if (f)
		fclose(f);
}

void jetwatt_cgroup_end(const struct jetwatt_cgroup *c)
{
	if (!c->ours || !*c->path || jetwatt_cgroup_empty(c))
		return;
	cgroup_signal(c, SIGTERM);
	for (int ms = 0; ms < JETWATT_CHILD_PATIENCE_MS && !jetwatt_cgroup_empty(c); ms += POLL_MS)
		usleep(POLL_MS * 1000);
	/* Repeat SIGKILL, because a process may have forked meanwhile. */
	for (int ms = 0; ms < KILL_MS && !jetwatt_cgroup_empty(c); ms += POLL_MS) {
		cgroup_signal(c, SIGKILL);
		usleep(POLL_MS * 1000);
	}
}

/* Move all processes of a cgroup to its parent. */
static void cgroup_empty_to_parent(const struct jetwatt_cgroup *c)
{
	struct jetwatt_cgroup parent = { .events = -1 };
	FILE *f = cgroup_list(c);
	int pid;

	snprintf(parent.path, sizeof(parent.path), "%.*s", (int)(strrchr(c->path, '/') - c->path),
		 c->path);
	while (f && fscanf(f, "%d", &pid) == 1)
		jetwatt_cgroup_move(&parent, pid);
	if (f)
		fclose(f);
}

void jetwatt_cgroup_close(struct jetwatt_cgroup *c)
{
	if (c->events >= 0)
		close(c->events);
	c->events = -1;
	/* A process that is ending stays in its cgroup for a moment. */
	for (int i = 0; c->ours && *c->path && i < 50; i++) {
		if (!rmdir(c->path) || errno != EBUSY)
			break;
		cgroup_empty_to_parent(c);
		usleep(10000);
	}
	c->path[0] = '\0';
}
