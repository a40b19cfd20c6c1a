// SPDX-License-Identifier: GPL-2.0-only
/*
 * The record of the CPUs that cpusets lose when cores go offline (cpuset.c). It is lines of text:
 *
 *	jetwatt-cpusets 1
 *	boot 6f0d...
 *	cpuset 0-11 0-3 /docker/4f2a	CPUs to write back, those of them that the kernel leaves
 *					("-": none), path below the mount
 *	sum 1c291ca3
 *
 * In a path, a blank, a control character and a backslash are written as a backslash and three octal
 * digits. The kernel allows every character except NUL, newline and '/' in the name of a cgroup.
 */
#include "board/cpuset.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board/knobs.h"

#define KIND	"jetwatt-cpusets"
#define LEAF	"cpusets"
/* Longest file: some 2,000 containers of Docker. */
#define FILE_MAX	(256 * 1024)

void jetwatt_octal_decode(char *s)
{
	char *out = s;

	for (; *s; s++) {
		if (*s == '\\' && strspn(s + 1, "01234567") >= 3) {
			*out++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		} else {
			*out++ = *s;
		}
	}
	*out = '\0';
}

const char *jetwatt_octal_encode(const char *s, char *out)
{
	char *p = out;

	for (; *s; s++)
		if (iscntrl((unsigned char)*s) || *s == ' ' || *s == '\\')
			p += sprintf(p, "\\%03o", (unsigned char)*s);
		else
			*p++ = *s;
	*p = '\0';
	return out;
}

bool jetwatt_cpus_parse(const char *text, cpu_set_t *set)
{
	unsigned long first, last;
	char *end;

	CPU_ZERO(set);
	if (!*text)
		return true;
	for (;; text = end + 1) {
		if (!isdigit((unsigned char)*text))
			return false;
		first = last = strtoul(text, &end, 10);
		if (*end == '-') {
			if (!isdigit((unsigned char)end[1]))
				return false;
			last = strtoul(end + 1, &end, 10);
		}
		if (first > last || last >= CPU_SETSIZE)
			return false;
		while (first <= last)
			CPU_SET(first++, set);
		if (*end != ',')
			return !*end;
	}
}

const char *jetwatt_cpus_format(const cpu_set_t *set, char *out)
{
	int n = 0;

	out[0] = '\0';
	for (int first = 0, last; first < CPU_SETSIZE; first = last + 1) {
		last = first;
		if (!CPU_ISSET(first, set))
			continue;
		while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set))
			last++;
		n += sprintf(out + n, first == last ? "%s%d" : "%s%d-%d", n ? "," : "", first, last);
	}
	return out;
}

bool jetwatt_cpus_subset(const cpu_set_t *part, const cpu_set_t *of)
{
	cpu_set_t both;

	CPU_AND(&both, part, of);
	return CPU_EQUAL(&both, part);
}

int jetwatt_cpuset_record_add(struct jetwatt_cpuset_record *r, const char *path,
			      const cpu_set_t *all, const cpu_set_t *left)
{
	struct jetwatt_cpuset_entry *grown = realloc(r->entry, (r->n + 1) * sizeof(*grown));
	char *copy = grown ? strdup(path) : NULL;

	r->entry = grown ? grown : r->entry;
	if (!copy)
		return -ENOMEM;
	r->entry[r->n++] = (struct jetwatt_cpuset_entry){ copy, *all, *left };
	return 0;
}

void jetwatt_cpuset_record_free(struct jetwatt_cpuset_record *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->entry[i].path);
	free(r->entry);
	*r = (struct jetwatt_cpuset_record){ .exists = r->exists };
}

/* Check that a path stays below the mount. */
static bool path_is_below(const char *path)
{
	size_t len;

	if (*path != '/' || strlen(path) >= PATH_MAX)
		return false;
	for (; *path; path += len) {
		len = strcspn(++path, "/");
		if (!len || (len <= 2 && !strncmp(path, "..", len)))
			return false;
	}
	return true;
}

static bool record_parse_line(char *line, struct jetwatt_cpuset_record *r)
{
	const char *key = strsep(&line, " "), *all = strsep(&line, " "), *left = strsep(&line, " ");
	struct jetwatt_cpuset_entry e = { .path = line };

	if (!line || strcmp(key, "cpuset") || !jetwatt_cpus_parse(all, &e.all) ||
	    !jetwatt_cpus_parse(strcmp(left, "-") ? left : "", &e.left) ||
	    !jetwatt_cpus_subset(&e.left, &e.all))
		return false;
	jetwatt_octal_decode(line);
	return path_is_below(line) && !jetwatt_cpuset_record_add(r, line, &e.all, &e.left);
}

bool jetwatt_cpuset_record_parse(char *text, struct jetwatt_cpuset_record *r)
{
	char *line;

	while ((line = strsep(&text, "\n")))
		/* The text ends with a newline. */
		if ((*line || text) && !record_parse_line(line, r)) {
			jetwatt_cpuset_record_free(r);
			return false;
		}
	return true;
}

void jetwatt_cpuset_record_load(struct jetwatt_board *b, struct jetwatt_cpuset_record *r)
{
	char path[PATH_LEN], boot[64], *text = malloc(FILE_MAX), *lines;
	ssize_t len = text ? jetwatt_statefile_load(b, LEAF, path, text, FILE_MAX) : -ENOMEM;

	*r = (struct jetwatt_cpuset_record){ .exists = len >= 0 };
	/* A reboot has reset the cpusets. A damaged record is ignored, because the lists in it may be
	 * wrong. */
	if (len >= 0 && !jetwatt_statefile_intact(KIND, text, (size_t)len, boot) &&
	    jetwatt_statefile_now(b, boot)) {
		lines = strchr(strchr(text, '\n') + 1, '\n');
		if (lines)
			jetwatt_cpuset_record_parse(lines + 1, r);
	}
	free(text);
}

static int record_store(struct jetwatt_board *b, const struct jetwatt_cpuset_record *r)
{
	char all[JETWATT_CPUS_LEN], left[JETWATT_CPUS_LEN], path[4 * PATH_MAX];
	char *text = malloc(FILE_MAX);
	FILE *f = text ? fmemopen(text, FILE_MAX, "w") : NULL;
	int rc = -ENOMEM;

	if (f) {
		jetwatt_statefile_begin(b, KIND, f);
		for (const struct jetwatt_cpuset_entry *e = r->entry; e < r->entry + r->n; e++)
			fprintf(f, "cpuset %s %s %s\n", jetwatt_cpus_format(&e->all, all),
				CPU_COUNT(&e->left) ? jetwatt_cpus_format(&e->left, left) : "-",
				jetwatt_octal_encode(e->path, path));
		rc = jetwatt_statefile_end(f, text);
	}
	if (rc > 0)
		rc = jetwatt_statefile_store(b, LEAF, text, rc, NULL);
	free(text);
	return rc;
}

static bool records_equal(const struct jetwatt_cpuset_record *a, const struct jetwatt_cpuset_record *b)
{
	bool same = a->n == b->n;

	for (size_t i = 0; same && i < a->n; i++)
		same = !strcmp(a->entry[i].path, b->entry[i].path) &&
		       CPU_EQUAL(&a->entry[i].all, &b->entry[i].all) &&
		       CPU_EQUAL(&a->entry[i].left, &b->entry[i].left);
	return same;
}

int jetwatt_cpuset_record_replace(struct jetwatt_board *b, const struct jetwatt_cpuset_record *was,
				  const struct jetwatt_cpuset_record *now)
{
	if (!now->n)
		return was->exists ? jetwatt_statefile_delete(b, LEAF, NULL) : 0;
	return records_equal(was, now) ? 0 : record_store(b, now);
}
