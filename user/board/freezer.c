// SPDX-License-Identifier: GPL-2.0-only
/*
 * Freezers (cgroup v2) of jobs that are to be held still now and then. Who has one holds
 * and lets go by writes of his own; which ones were handed out is on disk, so that
 * whoever ends, and however, no job stays held. The file is lines of text:
 *
 *	jetwatt-held 1
 *	boot 6f0d...
 *	owner 812 37130		process, and when it started, in ticks since the boot
 *	cgroup /batch.slice
 *	sum 1c291ca3
 *
 * What another process that lives has written is left to it.
 */
#include "board/knobs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "board/remote.h"

#define KIND	"jetwatt-held"
#define LEAF	"held"

static int is_cgroup(const char *path)
{
	return *path == '/' && path[1] && strlen(path) < JETWATT_BOARD_CGROUP && !strstr(path, "/..") &&
	       !strpbrk(path, " \t\r\n");
}

/* Is @who ("self", or a number) in it? */
static int cgroup_contains(const struct jetwatt_board *b, const char *cgroup, const char *who)
{
	char path[PATH_LEN], line[PATH_LEN];
	int found = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/cgroup", b->proc, who);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		found = !strncmp(line, "0::", 3) && jetwatt_cgroup_below(line + 3, cgroup);
	}
	if (f)
		fclose(f);
	return found;
}

/* Return: descriptor, negative errno. */
static int open_freeze_file(const struct jetwatt_board *b, const char *cgroup)
{
	/* Mounted alone, or beside the older hierarchies. */
	static const char *const mounts[] = { "", "/unified" };
	char path[PATH_LEN + JETWATT_BOARD_CGROUP];
	int fd = -ENOENT;

	for (int i = 0; i < 2 && fd == -ENOENT; i++) {
		snprintf(path, sizeof(path), "%s/fs/cgroup%s%s/cgroup.freeze", b->sys, mounts[i], cgroup);
		fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
		if (fd < 0)
			fd = -errno;
	}
	return fd;
}

/* When a process started, in clock ticks since the boot: field 22 of its stat, behind a name that
 * may hold anything. Return: 0: not known; -1: it has ended and waits for its parent. */
static long long process_start_ticks(const struct jetwatt_board *b, int pid)
{
	char path[PATH_LEN], line[1024], state, *p;
	long long when = 0;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%d/stat", b->proc, pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	n = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	line[n] = '\0';
	p = strrchr(line, ')');
	if (!p || sscanf(p + 1, " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lld",
			 &state, &when) != 2)
		return 0;
	return state == 'Z' || state == 'X' ? -1 : when;
}

/* All that may be held, to disk. */
static int frozen_store(struct jetwatt_board *b, struct jetwatt_error_text *err)
{
	char text[JETWATT_SEALED_MAX];
	FILE *f = fmemopen(text, sizeof(text), "w");
	int len;

	if (!f)
		return jetwatt_error_sys(err, -errno, "cannot write down who may be held");
	jetwatt_sealed_begin(b, KIND, f);
	fprintf(f, "owner %d %lld\n", b->opener, process_start_ticks(b, b->opener));
	for (int i = 0; i < b->nr_freezers; i++)
		fprintf(f, "cgroup %s\n", b->freezer_cgroup[i]);
	len = jetwatt_sealed_end(f, text);
	return len < 0 ? jetwatt_error_sys(err, len, "cannot write down who may be held") :
			 jetwatt_sealed_store(b, LEAF, text, len, err);
}

/* Of the same boot: is it another's, who lives? For a guardian its own is the one it guards. Its
 * number may be another process's by now: then that has started at another time. */
static int owner_is_other(const struct jetwatt_board *b, const char *text)
{
	const char *line = strstr(text, "\nowner ");
	long long then = 0, now;
	int pid;

	if (!line || sscanf(line, "\nowner %d %lld", &pid, &then) < 1 || pid == b->opener ||
	    (kill(pid, 0) && errno != EPERM))
		return 0;
	now = process_start_ticks(b, pid);
	return now >= 0 && (!now || then <= 0 || now == then);
}

/* The file has one owner: two that write it would forget each other's cgroups. */
static int refuse_other_owner(const struct jetwatt_board *b, struct jetwatt_error_text *err)
{
	char path[PATH_LEN], text[JETWATT_SEALED_MAX], boot[64];
	ssize_t len = jetwatt_sealed_load(b, LEAF, path, text);

	if (len < 0 || jetwatt_sealed_intact(KIND, text, (size_t)len, boot) ||
	    !jetwatt_sealed_now(b, boot) || !owner_is_other(b, text))
		return 0;
	jetwatt_board_error_set(err, -EBUSY, "another jetwatt holds jobs");
	jetwatt_error_why(err, "%s names a process that lives", path);
	jetwatt_error_fix(err, "wait until it ends, or end it");
	return -EBUSY;
}

/* Return: 0; negative errno: it is not written down, so it must not be held. */
static int frozen_record(struct jetwatt_board *b, const char *cgroup,
			 struct jetwatt_error_text *err)
{
	int rc;

	for (int i = 0; i < b->nr_freezers; i++)
		if (!strcmp(b->freezer_cgroup[i], cgroup))
			return 0;
	if (b->nr_freezers == JETWATT_BOARD_HELD)
		return jetwatt_board_error_set(err, -ENOSPC, "more than %d jobs to be held", JETWATT_BOARD_HELD);
	rc = refuse_other_owner(b, err);
	if (!rc)
		rc = jetwatt_lease_dir(b, err);
	if (rc)
		return rc;
	strcpy(b->freezer_cgroup[b->nr_freezers++], cgroup);
	rc = frozen_store(b, err);
	b->nr_freezers -= rc < 0;
	return rc;
}

int jetwatt_board_freezer(struct jetwatt_board *b, const char *cgroup,
			  struct jetwatt_error_text *err)
{
	int fd, rc;

	if (!is_cgroup(cgroup)) {
		jetwatt_board_error_set(err, -EINVAL, "\"%.100s\" is no cgroup whose jobs can be held", cgroup);
		jetwatt_error_fix(err, "the path in /proc/PID/cgroup behind 0::");
		return -EINVAL;
	}
	/* Nobody would be left to let go. */
	if (cgroup_contains(b, cgroup, "self") || cgroup_contains(b, cgroup, "1")) {
		jetwatt_board_error_set(err, -EINVAL, "the jobs of %.100s cannot be held", cgroup);
		jetwatt_error_why(err, "%s is in that cgroup as well",
				  cgroup_contains(b, cgroup, "self") ? "jetwatt itself"
								     : "process 1");
		jetwatt_error_fix(err, "give them a cgroup of their own, as Slice= does in a unit");
		return -EINVAL;
	}
	if (b->by_remote)
		return jetwatt_remote_freezer(b, cgroup, err);
	fd = open_freeze_file(b, cgroup);
	if (fd < 0) {
		jetwatt_error_sys(err, fd, "cannot hold the jobs of %s", cgroup);
		jetwatt_error_fix(err, "it takes a cgroup of version 2, and a kernel since 5.2");
		return fd;
	}
	rc = frozen_record(b, cgroup, err);
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

static void thaw_cgroup(const struct jetwatt_board *b, const char *cgroup)
{
	int fd = open_freeze_file(b, cgroup);

	if (fd < 0)
		return;
	/* One that is gone holds nobody. */
	if (pwrite(fd, "0", 1, 0) < 0)
		errno = 0;
	close(fd);
}

const char *jetwatt_board_held(const struct jetwatt_board *b, int i)
{
	return i < b->nr_freezers ? b->freezer_cgroup[i] : NULL;
}

int jetwatt_board_let_go(struct jetwatt_board *b, const char *cgroup, int keep)
{
	int i;

	thaw_cgroup(b, cgroup);
	for (i = 0; i < b->nr_freezers && strcmp(b->freezer_cgroup[i], cgroup); i++)
		;
	if (keep || i == b->nr_freezers)
		return 0;
	if (i != --b->nr_freezers)
		strcpy(b->freezer_cgroup[i], b->freezer_cgroup[b->nr_freezers]);
	return b->nr_freezers ? frozen_store(b, NULL) : jetwatt_sealed_delete(b, LEAF, NULL);
}

/* Lines of an intact file. */
static void thaw_listed(const struct jetwatt_board *b, const char *text)
{
	char cgroup[JETWATT_BOARD_CGROUP];

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (sscanf(line, "cgroup %223s", cgroup) == 1 && is_cgroup(cgroup))
			thaw_cgroup(b, cgroup);
	}
}

int jetwatt_board_thaw(struct jetwatt_board *b)
{
	char path[PATH_LEN], text[JETWATT_SEALED_MAX], boot[64];
	const char *damaged;
	ssize_t len;

	if (b->by_remote)
		return 0;
	b->nr_freezers = 0;
	len = jetwatt_sealed_load(b, LEAF, path, text);
	if (len < 0)
		return len == -ENOENT ? 0 : (int)len;
	/* A boot lets go of all; of a damaged one, what can be read. */
	damaged = jetwatt_sealed_intact(KIND, text, (size_t)len, boot);
	if (!damaged && jetwatt_sealed_now(b, boot) && owner_is_other(b, text))
		return 0;
	if (damaged || jetwatt_sealed_now(b, boot))
		thaw_listed(b, text);
	return jetwatt_sealed_delete(b, LEAF, NULL);
}
