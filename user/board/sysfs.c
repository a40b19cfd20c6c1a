// SPDX-License-Identifier: GPL-2.0-only
/* Read and write files of sysfs. */
#include "board/knobs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

/* Maximum number of files that stay open; further ones are opened for each reading. */
#define FILES	64

/**
 * struct jetwatt_sysfs_files - files that stay open
 * @n: number of files
 * @fd: descriptor of each file; -1: the file could not be opened
 * @sysfs: 1: the file is in sysfs, where reading a file that was removed fails; in other
 *	filesystems it does not
 * @hash: hash of the path of each file
 * @path: path of each file, below the board's sys root
 */
struct jetwatt_sysfs_files {
	int n, fd[FILES], sysfs[FILES];
	uint64_t hash[FILES];
	char path[FILES][PATH_LEN];
};

struct jetwatt_sysfs_files *jetwatt_sysfs_files_new(void)
{
	return calloc(1, sizeof(struct jetwatt_sysfs_files));
}

void jetwatt_sysfs_files_free(struct jetwatt_sysfs_files *files)
{
	for (int i = 0; files && i < files->n; i++)
		if (files->fd[i] >= 0)
			close(files->fd[i]);
	free(files);
}

static int sysfs_full_path(const struct jetwatt_board *b, const char *path, char *out)
{
	return snprintf(out, PATH_LEN, "%s/%s", b->sys, path) < PATH_LEN ? 0 : -ENAMETOOLONG;
}

static int sysfs_open(const struct jetwatt_board *b, const char *path)
{
	char name[PATH_LEN];
	int rc = sysfs_full_path(b, path, name), fd;

	if (rc)
		return rc;
	fd = open(name, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Read an open file from its start. Return: as jetwatt_sysfs_text(). */
static int sysfs_read(int fd, char *buf, size_t len)
{
	size_t used = 0;
	ssize_t got;

	while (used < len - 1) {
		got = pread(fd, buf + used, len - 1 - used, (off_t)used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		used += (size_t)got;
	}
	while (used && strchr(" \t\r\n", buf[used - 1]))
		used--;
	buf[used] = '\0';
	return (int)used;
}

int jetwatt_sysfs_text(const struct jetwatt_board *b, const char *path, char *buf, size_t len)
{
	int fd = sysfs_open(b, path), rc;

	if (fd < 0)
		return fd;
	rc = sysfs_read(fd, buf, len);
	close(fd);
	return rc;
}

/* Return: index of the file @path; -1: there is no room for the file. */
static int sysfs_kept(struct jetwatt_sysfs_files *k, const char *path)
{
	uint64_t hash = 0;

	for (const char *c = path; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 0x100000001b3ull;
	for (int i = 0; k && i < k->n; i++)
		if (k->hash[i] == hash && !strcmp(k->path[i], path))
			return i;
	if (!k || k->n == FILES || strlen(path) >= PATH_LEN)
		return -1;
	k->hash[k->n] = hash;
	strcpy(k->path[k->n], path);
	k->fd[k->n] = -1;
	return k->n++;
}

static int sysfs_parse_u64(const char *text, uint64_t *v)
{
	char *end;

	errno = 0;
	*v = strtoull(text, &end, 10);
	return errno || end == text || *end || text[0] == '-' ? -EINVAL : 0;
}

int jetwatt_sysfs_u64(const struct jetwatt_board *b, const char *path, uint64_t *v)
{
	char text[64];
	int rc = jetwatt_sysfs_text(b, path, text, sizeof(text));

	return rc < 0 ? rc : sysfs_parse_u64(text, v);
}

static int sysfs_removed(const struct jetwatt_sysfs_files *k, int i)
{
	struct stat st;

	return !k->sysfs[i] && (fstat(k->fd[i], &st) || !st.st_nlink);
}

int jetwatt_sysfs_kept_u64(const struct jetwatt_board *b, const char *path, uint64_t *v)
{
	struct jetwatt_sysfs_files *k = b->files;
	int i = sysfs_kept(k, path), rc;
	struct statfs fs;
	char text[64];

	if (i < 0)
		return jetwatt_sysfs_u64(b, path, v);
	if (k->fd[i] >= 0) {
		rc = sysfs_removed(k, i) ? -ENODEV : sysfs_read(k->fd[i], text, sizeof(text));
		if (rc >= 0)
			return sysfs_parse_u64(text, v);
		/* The file may have been removed and created again, as those of a CPU policy are
		 * when its CPUs go offline and come online. */
		close(k->fd[i]);
		k->fd[i] = -1;
	}
	rc = sysfs_open(b, path);
	if (rc < 0)
		return rc;
	k->fd[i] = rc;
	k->sysfs[i] = !fstatfs(rc, &fs) && fs.f_type == SYSFS_MAGIC;
	rc = sysfs_read(rc, text, sizeof(text));
	return rc < 0 ? rc : sysfs_parse_u64(text, v);
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
