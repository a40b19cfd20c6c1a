// SPDX-License-Identifier: GPL-2.0-only
/*
 * cgroup v2 freezers of jobs that jetwatt freezes and thaws. The process that opened a freezer
 * writes to its descriptor itself. A cgroup is recorded on disk before the descriptor is handed
 * out, so its jobs can be thawed however that process ends. The record is lines of text:
 *
 *	jetwatt-held 1
 *	boot 6f0d...
 *	owner 812 37130		PID, and its start time in clock ticks since the boot
 *	cgroup /batch.slice
 *	sum 1c291ca3
 *
 * A process changes no intact record of another live process.
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
	return *path == '/' && path[1] && strlen(path) < JETWATT_BOARD_CGROUP_LEN && !strstr(path, "/..") &&
	       !strpbrk(path, " \t\r\n");
}

/* Check whether a process (@pid: "self" or a number) is in the cgroup or below it. */
static int cgroup_contains(const struct jetwatt_board *b, const char *cgroup, const char *pid)
{
	char path[PATH_LEN], line[PATH_LEN];
	int found = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/cgroup", b->proc, pid);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		found = !strncmp(line, "0::", 3) && jetwatt_cgroup_below(line + 3, cgroup);
	}
	if (f)
		fclose(f);
	return found;
}

/* Open cgroup.freeze of a cgroup for writing. Return: descriptor; negative errno. */
static int open_freeze_file(const struct jetwatt_board *b, const char *cgroup)
{
	/* cgroup v2 alone, or mounted beside the version 1 hierarchies */
	static const char *const mounts[] = { "", "/unified" };
	char path[PATH_LEN + JETWATT_BOARD_CGROUP_LEN];
	int fd = -ENOENT;

	for (int i = 0; i < 2 && fd == -ENOENT; i++) {
		snprintf(path, sizeof(path), "%s/fs/cgroup%s%s/cgroup.freeze", b->sys, mounts[i], cgroup);
		fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
		if (fd < 0)
			fd = -errno;
	}
	return fd;
}

/* Read when a process started, field 22 of /proc/PID/stat (proc(5)). Parsing starts behind the last
 * ')', because the command name before it may contain anything. Return: clock ticks since the boot;
 * 0: not known; -1: the process has ended and is a zombie. */
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

/* Write the record of cgroups with an open freezer to disk. Return: 0; negative errno. */
static int frozen_store(struct jetwatt_board *b, struct jetwatt_error_text *err)
{
	char text[JETWATT_STATEFILE_MAX];
	FILE *f = fmemopen(text, sizeof(text), "w");
	int len;

	if (!f)
		return jetwatt_error_sys(err, -errno, "cannot record the cgroups to freeze");
	jetwatt_statefile_begin(b, KIND, f);
	fprintf(f, "owner %d %lld\n", b->opener, process_start_ticks(b, b->opener));
	for (int i = 0; i < b->nr_freezers; i++)
		fprintf(f, "cgroup %s\n", b->freezer_cgroup[i]);
	len = jetwatt_statefile_end(f, text);
	return len < 0 ? jetwatt_error_sys(err, len, "cannot record the cgroups to freeze") :
			 jetwatt_statefile_store(b, LEAF, text, len, err);
}

/* Check whether a record of this boot belongs to another live process. In a guardian process, the
 * owner of the record is the process that the guardian guards. If the owner's PID has been reused
 * by another process, the start times differ. */
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

/* Refuse to replace the record of another live process: two writers would lose each other's
 * cgroups. Return: 0; -EBUSY. */
static int refuse_other_owner(const struct jetwatt_board *b, struct jetwatt_error_text *err)
{
	char path[PATH_LEN], text[JETWATT_STATEFILE_MAX], boot[64];
	ssize_t len = jetwatt_statefile_load(b, LEAF, path, text, sizeof(text));

	if (len < 0 || jetwatt_statefile_intact(KIND, text, (size_t)len, boot) ||
	    !jetwatt_statefile_now(b, boot) || !owner_is_other(b, text))
		return 0;
	jetwatt_board_error_set(err, -EBUSY, "another jetwatt process freezes jobs");
	jetwatt_error_why(err, "%s belongs to a running process", path);
	jetwatt_error_fix(err, "wait until it ends, or end it");
	return -EBUSY;
}

/* Add a cgroup to the record. Return: 0; negative errno: the cgroup is not recorded, so the
 * caller must not freeze it. */
static int frozen_record(struct jetwatt_board *b, const char *cgroup,
			 struct jetwatt_error_text *err)
{
	int rc;

	for (int i = 0; i < b->nr_freezers; i++)
		if (!strcmp(b->freezer_cgroup[i], cgroup))
			return 0;
	if (b->nr_freezers == JETWATT_BOARD_FREEZERS_MAX)
		return jetwatt_board_error_set(err, -ENOSPC, "cannot freeze more than %d cgroups",
					       JETWATT_BOARD_FREEZERS_MAX);
	rc = refuse_other_owner(b, err);
	if (!rc)
		rc = jetwatt_statefile_dir(b, err);
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
		jetwatt_board_error_set(err, -EINVAL, "\"%.100s\" is not the path of a cgroup",
					cgroup);
		jetwatt_error_fix(err, "give the path that follows 0:: in /proc/PID/cgroup");
		return -EINVAL;
	}
	/* A frozen jetwatt or a frozen process 1 could not thaw anything. */
	if (cgroup_contains(b, cgroup, "self") || cgroup_contains(b, cgroup, "1")) {
		jetwatt_board_error_set(err, -EINVAL, "cannot freeze the jobs of %.100s", cgroup);
		jetwatt_error_why(err, "%s is in that cgroup too",
				  cgroup_contains(b, cgroup, "self") ? "jetwatt itself"
								     : "process 1");
		jetwatt_error_fix(err, "move the jobs to a cgroup of their own, for example with "
				       "Slice= in their unit");
		return -EINVAL;
	}
	if (b->by_remote)
		return jetwatt_remote_freezer(b, cgroup, err);
	fd = open_freeze_file(b, cgroup);
	if (fd < 0) {
		jetwatt_error_sys(err, fd, "cannot freeze the jobs of %s", cgroup);
		/* The unit gives jetwatt-knobs no capability to write other users' files. */
		jetwatt_error_fix(err, fd == -EACCES ?
				       "give a cgroup of root, such as one of the system's services or slices" :
				       "give a cgroup v2 path; Linux 5.2 or later is needed");
		return fd;
	}
	rc = frozen_record(b, cgroup, err);
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

/* Return: 0; negative errno: the jobs of the cgroup may still be frozen. */
static int thaw_cgroup(const struct jetwatt_board *b, const char *cgroup)
{
	int fd = open_freeze_file(b, cgroup), rc = fd < 0 ? fd : 0;

	if (fd >= 0) {
		if (pwrite(fd, "0", 1, 0) < 0)
			rc = -errno;
		close(fd);
	}
	/* A cgroup that was removed has no jobs to thaw. */
	return rc == -ENOENT || rc == -ENODEV ? 0 : rc;
}

const char *jetwatt_board_frozen(const struct jetwatt_board *b, int i)
{
	return i < b->nr_freezers ? b->freezer_cgroup[i] : NULL;
}

int jetwatt_board_thaw_cgroup(struct jetwatt_board *b, const char *cgroup, int keep)
{
	int i;

	thaw_cgroup(b, cgroup);
	for (i = 0; i < b->nr_freezers && strcmp(b->freezer_cgroup[i], cgroup); i++)
		;
	if (keep || i == b->nr_freezers)
		return 0;
	if (i != --b->nr_freezers)
		strcpy(b->freezer_cgroup[i], b->freezer_cgroup[b->nr_freezers]);
	return b->nr_freezers ? frozen_store(b, NULL) : jetwatt_statefile_delete(b, LEAF, NULL);
}

/* Thaw every cgroup that a record lists. Cgroups that cannot be thawed stay in the list of this
 * process, so that its next record has them too. Return: 0; negative errno of the first failure. */
static int thaw_listed(struct jetwatt_board *b, const char *text)
{
	char cgroup[JETWATT_BOARD_CGROUP_LEN];
	int rc = 0;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (sscanf(line, "cgroup %223s", cgroup) == 1 && is_cgroup(cgroup)) {
			int err = thaw_cgroup(b, cgroup);

			if (err && b->nr_freezers < JETWATT_BOARD_FREEZERS_MAX)
				strcpy(b->freezer_cgroup[b->nr_freezers++], cgroup);
			rc = rc ? rc : err;
		}
	}
	return rc;
}

int jetwatt_board_thaw_all(struct jetwatt_board *b)
{
	char path[PATH_LEN], text[JETWATT_STATEFILE_MAX], boot[64];
	const char *damaged;
	ssize_t len;
	int rc = 0;

	if (b->by_remote)
		return 0;
	b->nr_freezers = 0;
	len = jetwatt_statefile_load(b, LEAF, path, text, sizeof(text));
	if (len < 0)
		return len == -ENOENT ? 0 : (int)len;
	/* No process stays frozen across a reboot, so a record of an earlier boot is ignored.
	 * From a damaged record, thaw the cgroups that can be read. */
	damaged = jetwatt_statefile_intact(KIND, text, (size_t)len, boot);
	if (!damaged && jetwatt_statefile_now(b, boot) && owner_is_other(b, text))
		return 0;
	if (damaged || jetwatt_statefile_now(b, boot))
		rc = thaw_listed(b, text);
	/* Keep the record if a thaw failed, so that the next call or process thaws again. */
	return rc ? rc : jetwatt_statefile_delete(b, LEAF, NULL);
}
