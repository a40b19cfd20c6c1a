// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cpusets of cgroup version 1, as in JetPack 5. When a CPU goes offline, the kernel removes it from
 * cpuset.cpus of every cpuset except the root. When the CPU comes online again, the kernel does not
 * add it again, so a container would keep only the CPUs of the smallest mode
 * (hotplug_update_tasks_legacy() in kernel/cgroup/cpuset.c). Cgroup version 2 and the mount option
 * cpuset_v2_mode avoid this (Documentation/admin-guide/cgroup-v1/cpusets.rst).
 *
 * So jetwatt records the lists before it takes CPUs offline (cpuset_record.c), and writes them back
 * when the CPUs are online again. A switch never fails because of a cpuset. jetwatt leaves alone a
 * list that another process has changed meanwhile.
 *
 * The kernel of JetPack 5 may update the lists after the write that switched the CPU has returned. A
 * write to cpuset.cpus waits for that (cpuset_write_resmask()).
 */
#include "board/cpuset.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "board/knobs.h"

/**
 * struct jetwatt_cpuset_mount - the mount of the cpusets
 * @leaf: name of the file with the CPUs of a cpuset; NULL: no such mount
 * @reported: true: this process has reported already that it cannot write the record
 */
struct jetwatt_cpuset_mount {
	const char *leaf;
	char path[PATH_MAX];
	bool reported;
};

/* Convert an array in the order of jetwatt_board::cpu. */
static void cpus_of(const struct jetwatt_board *b, const bool *on, cpu_set_t *set)
{
	CPU_ZERO(set);
	for (int i = 0; i < b->cpus; i++)
		if (on[i] && b->cpu[i].id < CPU_SETSIZE)
			CPU_SET(b->cpu[i].id, set);
}

static bool has_option(const char *list, const char *option)
{
	size_t len;

	for (; *list; list += len + (list[len] == ',')) {
		len = strcspn(list, ",");
		if (len == strlen(option) && !strncmp(list, option, len))
			return true;
	}
	return false;
}

/* Parse a line of mountinfo, and fill @m if it is a mount of cpusets of version 1 that loses CPUs.
 * Return: true if it is one that shows the whole hierarchy, so that the search can end. */
static bool mount_parse(char *line, struct jetwatt_cpuset_mount *m)
{
	char *rest = strstr(line, " - "), *root, *path, *type;

	if (!rest)
		return false;
	*rest = '\0';
	rest += 3;
	rest[strcspn(rest, "\n")] = '\0';
	for (int i = 0; i < 3; i++)
		strsep(&line, " ");
	root = strsep(&line, " ");
	path = strsep(&line, " ");
	type = strsep(&rest, " ");
	strsep(&rest, " ");
	if (!path || !rest || strcmp(type, "cgroup") || !has_option(rest, "cpuset") ||
	    has_option(rest, "cpuset_v2_mode"))
		return false;
	jetwatt_octal_decode(path);
	if (strlen(path) >= sizeof(m->path))
		return false;
	strcpy(m->path, path);
	m->leaf = has_option(rest, "noprefix") ? "cpus" : "cpuset.cpus";
	return !strcmp(root, "/");
}

/* Return: the mount; NULL if there is none. The first call searches for it. */
static const struct jetwatt_cpuset_mount *mount_find(struct jetwatt_board *b)
{
	char path[PATH_LEN], *line = NULL;
	size_t size = 0;
	FILE *f;

	if (b->cpusets)
		return b->cpusets->leaf ? b->cpusets : NULL;
	b->cpusets = calloc(1, sizeof(*b->cpusets));
	if (!b->cpusets)
		return NULL;
	snprintf(path, sizeof(path), "%s/self/mountinfo", b->proc);
	f = fopen(path, "re");
	while (f && getline(&line, &size, f) > 0 && !mount_parse(line, b->cpusets))
		;
	free(line);
	if (f)
		fclose(f);
	return b->cpusets->leaf ? b->cpusets : NULL;
}

/* Write the path of the file with the CPUs of a cpuset to @out of PATH_MAX. */
static int cpuset_file(const struct jetwatt_cpuset_mount *m, const char *path, char *out)
{
	int n = snprintf(out, PATH_MAX, "%s%s/%s", m->path, path, m->leaf);

	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static int cpuset_read(const struct jetwatt_cpuset_mount *m, const char *path, cpu_set_t *set)
{
	char name[PATH_MAX], text[JETWATT_CPUS_LEN];
	int rc = cpuset_file(m, path, name), fd;
	ssize_t got;

	if (rc)
		return rc;
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	got = read(fd, text, sizeof(text) - 1);
	rc = got < 0 ? -errno : 0;
	close(fd);
	if (rc)
		return rc;
	text[got] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return jetwatt_cpus_parse(text, set) ? 0 : -EINVAL;
}

static int cpuset_write(const struct jetwatt_board *b, const char *path, const cpu_set_t *set)
{
	char name[PATH_MAX], text[JETWATT_CPUS_LEN + 1];
	int rc = cpuset_file(b->cpusets, path, name), fd;

	if (rc)
		return rc;
	jetwatt_cpus_format(set, text);
	strcat(text, "\n");
	if (b->write)
		return b->write(name, text, b->arg);
	fd = open(name, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	rc = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return rc;
}

/* Check whether @present can be what the kernel has left of an entry, and no other process has
 * changed it. @stayed: CPUs that did not go offline since @present was written or recorded */
static bool left_by_kernel(const struct jetwatt_cpuset_entry *e, const cpu_set_t *present,
			   const cpu_set_t *stayed)
{
	cpu_set_t least;

	CPU_AND(&least, &e->left, stayed);
	return jetwatt_cpus_subset(&least, present) && jetwatt_cpus_subset(present, &e->all);
}

/* Add a cpuset to the record @now if it loses CPUs in this switch, or has lost some before. */
static int cpuset_record(const struct jetwatt_cpuset_mount *m, const char *path,
			 const cpu_set_t *online, const cpu_set_t *after,
			 const struct jetwatt_cpuset_record *was, struct jetwatt_cpuset_record *now)
{
	const struct jetwatt_cpuset_entry *e = was->entry, *end = e + was->n;
	cpu_set_t present, left;

	if (cpuset_read(m, path, &present))
		return 0;
	CPU_AND(&left, &present, after);
	while (e < end && strcmp(e->path, path))
		e++;
	if (e < end && left_by_kernel(e, &present, online))
		return jetwatt_cpuset_record_add(now, path, &e->all, &left);
	return CPU_EQUAL(&left, &present) ? 0 : jetwatt_cpuset_record_add(now, path, &present, &left);
}

void jetwatt_cpuset_save(struct jetwatt_board *b, const bool *online, const bool *after)
{
	const struct jetwatt_cpuset_mount *m = mount_find(b);
	struct jetwatt_cpuset_record was, now = { 0 };
	cpu_set_t online_set, after_set;
	char *top[] = { m ? (char *)m->path : NULL, NULL };
	FTS *tree = m ? fts_open(top, FTS_PHYSICAL | FTS_NOCHDIR, NULL) : NULL;
	FTSENT *f;
	int rc = 0;

	if (!tree)
		return;
	cpus_of(b, online, &online_set);
	cpus_of(b, after, &after_set);
	jetwatt_cpuset_record_load(b, &was);
	/* fts lists parents before their children. The kernel keeps the list of the root itself. */
	while (!rc && (f = fts_read(tree)))
		if (f->fts_info == FTS_D && f->fts_level > 0)
			rc = cpuset_record(m, f->fts_path + strlen(m->path), &online_set, &after_set,
					   &was, &now);
	fts_close(tree);
	if (!rc)
		rc = jetwatt_cpuset_record_replace(b, &was, &now);
	if (rc && !b->cpusets->reported)
		jetwatt_notice("cpusets not recorded, so containers may keep fewer CPUs: %s",
			       strerror(-rc));
	b->cpusets->reported = rc != 0;
	jetwatt_cpuset_record_free(&was);
	jetwatt_cpuset_record_free(&now);
}

/* Write the CPUs of an entry back that are @online, and set @e->left. Return: 1 if CPUs of the entry
 * are still offline; 0 if the entry is done; negative errno: the kernel has refused the list. */
static int cpuset_write_back(const struct jetwatt_board *b, struct jetwatt_cpuset_entry *e,
			     const cpu_set_t *stayed, const cpu_set_t *online)
{
	cpu_set_t present;
	int rc;

	if (cpuset_read(b->cpusets, e->path, &present) || !left_by_kernel(e, &present, stayed))
		return 0;
	CPU_AND(&e->left, &e->all, online);
	/* An empty list is refused. A list is written even if it reads back the same, because the
	 * kernel may be about to change it. */
	rc = CPU_COUNT(&e->left) ? cpuset_write(b, e->path, &e->left) : 0;
	if (rc == -ENOENT || rc == -ENODEV)
		return 0;
	/* A refused list is no loss while its other CPUs are offline anyway. */
	if (rc && CPU_EQUAL(&present, &e->left))
		rc = 0;
	return rc ? rc : !CPU_EQUAL(&e->left, &e->all);
}

static void report_lost(const struct jetwatt_cpuset_entry *e, const char *leaf, int rc, size_t n)
{
	char all[JETWATT_CPUS_LEN], path[4 * PATH_MAX];

	jetwatt_notice("cpusets keep fewer CPUs: %zu, the first is %.200s: %s; write %.100s to its %s", n,
		       jetwatt_octal_encode(e->path, path), strerror(-rc),
		       jetwatt_cpus_format(&e->all, all), leaf);
}

void jetwatt_cpuset_restore(struct jetwatt_board *b, const bool *stayed)
{
	struct jetwatt_cpuset_record was, now = { 0 };
	struct jetwatt_board_state state = { 0 };
	cpu_set_t stayed_set, online_set;
	size_t lost = 0, first = 0;
	int why = 0;

	if (!mount_find(b))
		return;
	jetwatt_cpuset_record_load(b, &was);
	if (!was.exists ||
	    jetwatt_knob_ops(JETWATT_KNOB_CORES)->read(b, JETWATT_KNOB_CORES, &state, NULL))
		goto out;
	cpus_of(b, state.online, &online_set);
	cpus_of(b, stayed ? stayed : state.online, &stayed_set);
	for (size_t i = 0; i < was.n; i++) {
		struct jetwatt_cpuset_entry e = was.entry[i];
		int rc = cpuset_write_back(b, &e, &stayed_set, &online_set);

		if (rc == 1)
			rc = jetwatt_cpuset_record_add(&now, e.path, &e.all, &e.left);
		if (rc < 0 && !lost++) {
			first = i;
			why = rc;
		}
	}
	if (lost)
		report_lost(&was.entry[first], b->cpusets->leaf, why, lost);
	/* An entry that stays in the file by mistake is compared with the cpuset at the next switch. */
	jetwatt_cpuset_record_replace(b, &was, &now);
out:
	jetwatt_cpuset_record_free(&was);
	jetwatt_cpuset_record_free(&now);
}

void jetwatt_cpuset_free(struct jetwatt_board *b)
{
	free(b->cpusets);
	b->cpusets = NULL;
}
