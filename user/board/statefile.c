// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state directory, and the files in it that must survive a crash: lines of text. The first line
 * names the kind of file, the second line the boot; the last line is a checksum of the other lines.
 * A file is replaced atomically, so a crash leaves either the old or the new content.
 */
#include "board/knobs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *jetwatt_statefile_path(const struct jetwatt_board *b, const char *leaf, char *buf)
{
	snprintf(buf, PATH_LEN, "%s/%s", b->state, leaf);
	return buf;
}

int jetwatt_statefile_dir(const struct jetwatt_board *b, struct jetwatt_error_text *err)
{
	char path[PATH_LEN];

	snprintf(path, sizeof(path), "%s", b->state);
	for (char *p = path + 1;; p++) {
		char was = *p;

		if (was && was != '/')
			continue;
		*p = '\0';
		if (mkdir(path, 0755) && errno != EEXIST && (!was || errno != EROFS))
			return jetwatt_error_sys(err, -errno, "cannot create %s", path);
		*p = was;
		if (!was)
			return 0;
	}
}

/* CRC-32 of IEEE 802.3: detects every burst error of up to 32 bits. */
static uint32_t statefile_checksum(const char *p, size_t len)
{
	uint32_t crc = UINT32_MAX;

	while (len--) {
		crc ^= (unsigned char)*p++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

static void read_boot_id(const struct jetwatt_board *b, char *buf, size_t len)
{
	char path[PATH_LEN];
	ssize_t got = -1;
	int fd;

	snprintf(path, sizeof(path), "%s/sys/kernel/random/boot_id", b->proc);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		got = read(fd, buf, len - 1);
		close(fd);
	}
	buf[got < 0 ? 0 : got] = '\0';
	buf[strcspn(buf, " \n")] = '\0';
	if (!buf[0])
		snprintf(buf, len, "unknown");
}

/* Write the first two lines to @f: the kind, the version of the format, and the boot id. */
void jetwatt_statefile_begin(const struct jetwatt_board *b, const char *kind, FILE *f)
{
	char boot[64];

	read_boot_id(b, boot, sizeof(boot));
	fprintf(f, "%s 1\nboot %s\n", kind, boot);
}

/* Append the checksum to the text in @buf, and close @f, which is fmemopen() of @buf.
 * Return: length of the text; -EOVERFLOW: the text does not fit in the buffer. */
int jetwatt_statefile_end(FILE *f, const char *buf)
{
	long end;

	fflush(f);
	end = ftell(f);
	fprintf(f, "sum %08" PRIx32 "\n", end > 0 ? statefile_checksum(buf, (size_t)end) : 0);
	if (fflush(f) || ferror(f) || (end = ftell(f)) <= 0)
		end = -EOVERFLOW;
	fclose(f);
	return (int)end;
}

/* Replace the file @leaf atomically by @text, and sync it to disk. Return: 0; negative errno. */
int jetwatt_statefile_store(struct jetwatt_board *b, const char *leaf, const char *text, int len,
			 struct jetwatt_error_text *err)
{
	char path[PATH_LEN], temp[PATH_LEN], fresh[NAME_LEN];
	int fd, dir = -1, rc;
	ssize_t put;

	snprintf(fresh, sizeof(fresh), "%s.new", leaf);
	jetwatt_statefile_path(b, leaf, path);
	jetwatt_statefile_path(b, fresh, temp);
	fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return jetwatt_error_sys(err, -errno, "cannot save the board's state in %s", temp);
	put = write(fd, text, (size_t)len);
	/* A short write to a regular file means that the disk is full. */
	rc = put == len ? 0 : put < 0 ? -errno : -ENOSPC;
	if (!rc && fsync(fd))
		rc = -errno;
	if (close(fd) && !rc)
		rc = -errno;
	if (!rc && rename(temp, path))
		rc = -errno;
	if (!rc) {
		dir = open(b->state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0 || fsync(dir))
			rc = -errno;
	}
	if (dir >= 0)
		close(dir);
	if (!rc)
		return 0;
	unlink(temp);
	return jetwatt_error_sys(err, rc, "cannot save the board's state in %s", path);
}

/* Read the file @leaf, up to @size - 1 bytes, into @text of @size bytes; @path: buffer of PATH_LEN
 * bytes, which gets the path of the file. Return: length; negative errno. */
ssize_t jetwatt_statefile_load(const struct jetwatt_board *b, const char *leaf, char *path,
			       char *text, size_t size)
{
	int fd = open(jetwatt_statefile_path(b, leaf, path), O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return -errno;
	len = read(fd, text, size - 1);
	len = len < 0 ? -errno : len;
	close(fd);
	text[len < 0 ? 0 : len] = '\0';
	return len;
}

/* Check the first line and the checksum; cut the checksum off @text; copy the boot id to @boot of
 * 64 bytes. Return: NULL, or what is wrong. */
const char *jetwatt_statefile_intact(const char *kind, char *text, size_t len, char *boot)
{
	size_t n = strlen(kind);
	char *sum;

	if (memchr(text, '\0', len))
		return "the file contains a zero byte";
	if (strncmp(text, kind, n) || text[n] != ' ')
		return "the first line of the file is wrong";
	if (strncmp(text + n + 1, "1\n", 2))
		return "the file was written by another version of jetwatt";
	sum = strstr(text, "\nsum ");
	if (!sum)
		return "the end of the file is missing";
	sum++;
	if (strspn(sum + 4, "0123456789abcdef") != 8 || strcmp(sum + 12, "\n"))
		return "the end of the file is missing";
	if (strtoul(sum + 4, NULL, 16) != statefile_checksum(text, (size_t)(sum - text)))
		return "the checksum of the file does not match";
	*sum = '\0';
	return sscanf(text + n + 3, "boot %63s", boot) == 1 ? NULL : "a line has an unknown form";
}

/* Check whether @boot is the id of the current boot. */
bool jetwatt_statefile_now(const struct jetwatt_board *b, const char *boot)
{
	char now[64];

	read_boot_id(b, now, sizeof(now));
	return !strcmp(boot, now);
}

/* Delete the file @leaf, and sync the directory. Return: 0, also if there is no such file;
 * negative errno. */
int jetwatt_statefile_delete(struct jetwatt_board *b, const char *leaf,
			  struct jetwatt_error_text *err)
{
	char path[PATH_LEN];
	int dir;

	if (unlink(jetwatt_statefile_path(b, leaf, path)) && errno != ENOENT)
		return jetwatt_error_sys(err, -errno, "cannot delete %s", path);
	dir = open(b->state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir >= 0) {
		fsync(dir);
		close(dir);
	}
	return 0;
}
