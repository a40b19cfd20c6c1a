// SPDX-License-Identifier: GPL-2.0-only
/* Read and write files of sysfs. */
#include "board/knobs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int sysfs_full_path(const struct jetwatt_board *b, const char *path, char *out)
{
	return snprintf(out, PATH_LEN, "%s/%s", b->sys, path) < PATH_LEN ? 0 : -ENAMETOOLONG;
}

int jetwatt_sysfs_text(const struct jetwatt_board *b, const char *path, char *buf, size_t len)
{
	char name[PATH_LEN];
	size_t used = 0;
	ssize_t got;
	int fd, rc;

	rc = sysfs_full_path(b, path, name);
	if (rc)
		return rc;
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (used < len - 1) {
		got = read(fd, buf + used, len - 1 - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			rc = -errno;
			break;
		}
		if (!got)
			break;
		used += (size_t)got;
	}
	close(fd);
	if (rc)
		return rc;
	while (used && strchr(" \t\r\n", buf[used - 1]))
		used--;
	buf[used] = '\0';
	return (int)used;
}

int jetwatt_sysfs_u64(const struct jetwatt_board *b, const char *path, uint64_t *v)
{
	char text[64], *end;
	int rc = jetwatt_sysfs_text(b, path, text, sizeof(text));

	if (rc < 0)
		return rc;
	errno = 0;
	*v = strtoull(text, &end, 10);
	return errno || end == text || *end || text[0] == '-' ? -EINVAL : 0;
}

static int sysfs_compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

int jetwatt_sysfs_list(const struct jetwatt_board *b, const char *path, uint64_t *v, int max)
{
	char text[4096], *p = text, *end;
	int rc, n = 0, kept = 0;

	rc = jetwatt_sysfs_text(b, path, text, sizeof(text));
	if (rc < 0)
		return rc;
	while (n < max) {
		p += strcspn(p, "0123456789");
		if (!*p)
			break;
		v[n] = strtoull(p, &end, 10);
		p = end;
		if (v[n])
			n++;
	}
	qsort(v, (size_t)n, sizeof(*v), sysfs_compare_u64);
	for (int i = 0; i < n; i++)
		if (!kept || v[i] != v[kept - 1])
			v[kept++] = v[i];
	return kept;
}

int jetwatt_sysfs_write(const struct jetwatt_board *b, const char *path, uint64_t v)
{
	char name[PATH_LEN], text[32];
	ssize_t put;
	int fd, rc;

	rc = sysfs_full_path(b, path, name);
	if (rc)
		return rc;
	rc = snprintf(text, sizeof(text), "%" PRIu64 "\n", v);
	if (b->write)
		return b->write(name, text, b->arg);
	fd = open(name, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* Write the value with one write(2), because sysfs takes every write as a complete
	 * value. */
	do
		put = write(fd, text, (size_t)rc);
	while (put < 0 && errno == EINTR);
	rc = put < 0 ? -errno : put == rc ? 0 : -EIO;
	if (close(fd) && !rc)
		rc = -errno;
	return rc;
}

bool jetwatt_sysfs_exists(const struct jetwatt_board *b, const char *path)
{
	char name[PATH_LEN];

	return !sysfs_full_path(b, path, name) && !access(name, F_OK);
}

void jetwatt_sysfs_settle_wait(void)
{
	struct timespec t = { .tv_nsec = 5000000 };

	nanosleep(&t, NULL);
}
