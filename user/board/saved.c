// SPDX-License-Identifier: GPL-2.0-only
/*
 * The saved state. The file is lines of text, the last of
 * which is a checksum of those before:
 *
 *	jetwatt-saved 1
 *	boot 6f0d...			of the boot whose knobs these are
 *	cpu 3 1				CPU, online
 *	policy 4 729600 2201600		cpufreq policy, lowest and highest kHz
 *	gpu 17000000.gpu 114750000 1300500000
 *	emc kernel/nvpmodel_clk_cap/emc 9223372036854775807
 *	sum 1c291ca3
 *
 * A policy that had no CPU online has no line until it gets one.
 */
#include "board/knobs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SAVED_MAX	16384

/* CRC-32 as in IEEE 802.3: finds every burst of up to 32 bits. */
static uint32_t checksum(const char *p, size_t len)
{
	uint32_t crc = UINT32_MAX;

	while (len--) {
		crc ^= (unsigned char)*p++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

static void boot_id(const struct jetwatt_board *b, char *buf, size_t len)
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

static int compose(const struct jetwatt_board *b, char *buf, size_t len)
{
	const struct jetwatt_board_state *s = &b->saved;
	char boot[64];
	FILE *f = fmemopen(buf, len, "w");
	long end;

	if (!f)
		return -errno;
	boot_id(b, boot, sizeof(boot));
	fprintf(f, "jetwatt-saved 1\nboot %s\n", boot);
	for (int i = 0; i < b->cpus; i++)
		fprintf(f, "cpu %u %d\n", b->cpu[i].id, s->online[i]);
	for (int p = 0; p < b->policies; p++)
		if (s->policy[p].known)
			fprintf(f, "policy %u %" PRIu64 " %" PRIu64 "\n", b->policy[p],
				s->policy[p].min, s->policy[p].max);
	fprintf(f, "gpu %s %" PRIu64 " %" PRIu64 "\n", b->gpu, s->gpu.min, s->gpu.max);
	fprintf(f, "emc %s %" PRIu64 "\n", b->emc, s->emc);
	fflush(f);
	end = ftell(f);
	fprintf(f, "sum %08" PRIx32 "\n", end > 0 ? checksum(buf, (size_t)end) : 0);
	if (fflush(f) || ferror(f) || (end = ftell(f)) <= 0) {
		fclose(f);
		return -EOVERFLOW;
	}
	fclose(f);
	return (int)end;
}

/* jetwatt_board::saved to the file: whole, on disk, or not at all. */
int jetwatt_saved_store(struct jetwatt_board *b, struct jetwatt_board_error *err)
{
	char path[PATH_LEN], temp[PATH_LEN], text[SAVED_MAX];
	int fd, dir = -1, rc, len;
	ssize_t put;

	jetwatt_lease_path(b, "saved", path);
	jetwatt_lease_path(b, "saved.new", temp);
	len = compose(b, text, sizeof(text));
	if (len < 0)
		return jetwatt_error_sys(err, len, "cannot save the board's state");
	fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return jetwatt_error_sys(err, -errno, "cannot save the board's state in %s", temp);
	put = write(fd, text, (size_t)len);
	/* Less than a page, but not all of it: the disk is full. */
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

static int damaged(const struct jetwatt_board *b, struct jetwatt_board_error *err, const char *why)
{
	char path[PATH_LEN];

	jetwatt_board_error_set(err, -EBADMSG, "the saved state %s can't be used",
			  jetwatt_lease_path(b, "saved", path));
	jetwatt_error_why(err, "%s", why);
	jetwatt_error_fix(err, "reboot (that resets every knob), or set the knobs by hand; then remove it");
	return -EBADMSG;
}

/* One line. NULL, or what is wrong with it. */
static const char *take_line(struct jetwatt_board *b, const char *line, bool *cpu_seen, int *others)
{
	struct jetwatt_board_state *s = &b->saved;
	char name[NAME_LEN], tail;
	uint64_t min, max;
	unsigned int id;
	int i;

	if (sscanf(line, "cpu %u %" SCNu64 "%c", &id, &min, &tail) == 2) {
		for (i = 0; i < b->cpus && b->cpu[i].id != id; i++)
			;
		if (i == b->cpus || min > 1 || cpu_seen[i])
			return "it names a CPU that this board does not have";
		s->online[i] = min;
		cpu_seen[i] = true;
		return NULL;
	}
	if (sscanf(line, "policy %u %" SCNu64 " %" SCNu64 "%c", &id, &min, &max, &tail) == 3) {
		for (i = 0; i < b->policies && b->policy[i] != id; i++)
			;
		/* Its directory may be gone with its CPUs. */
		if (i == b->policies && i < POLICIES_MAX)
			b->policy[b->policies++] = id;
		if (i == POLICIES_MAX || s->policy[i].known || min > max)
			return "it names a CPU clock that this board does not have";
		s->policy[i] = (struct jetwatt_range){ true, min, max };
		return NULL;
	}
	if (sscanf(line, "gpu %95s %" SCNu64 " %" SCNu64 "%c", name, &min, &max, &tail) == 3) {
		if (strcmp(name, b->gpu) || s->gpu.known || min > max)
			return "it is of another GPU";
		s->gpu = (struct jetwatt_range){ true, min, max };
		return NULL;
	}
	if (sscanf(line, "emc %95s %" SCNu64 "%c", name, &min, &tail) == 2) {
		if (strcmp(name, b->emc))
			return "it is of another memory clock";
		s->emc = min;
		(*others)++;
		return NULL;
	}
	return "a line is not of the known form";
}

/* Is it all there, and as it was written? Cuts off the last line and finds the
 * boot. NULL, or what is wrong. */
static const char *intact(char *text, size_t len, char *boot)
{
	char *sum;

	if (memchr(text, '\0', len))
		return "it holds a zero byte";
	if (strncmp(text, "jetwatt-saved ", 14))
		return "it does not begin as one";
	if (strncmp(text + 14, "1\n", 2))
		return "it was written by another version of jetwatt";
	sum = strstr(text, "\nsum ");
	if (!sum)
		return "its end is missing";
	sum++;
	if (strspn(sum + 4, "0123456789abcdef") != 8 || strcmp(sum + 12, "\n"))
		return "its end is missing";
	if (strtoul(sum + 4, NULL, 16) != checksum(text, (size_t)(sum - text)))
		return "its checksum does not match";
	*sum = '\0';
	return sscanf(text + 16, "boot %63s", boot) == 1 ? NULL : "a line is not of the known form";
}

/* What intact() has left of it, to jetwatt_board::saved. */
static const char *take(struct jetwatt_board *b, char *text)
{
	bool cpu_seen[CPUS_MAX] = { false };
	const char *wrong = NULL;
	char *save, *line;
	int emc = 0;

	memset(&b->saved, 0, sizeof(b->saved));
	strtok_r(text, "\n", &save);
	strtok_r(NULL, "\n", &save);
	while (!wrong && (line = strtok_r(NULL, "\n", &save)))
		wrong = take_line(b, line, cpu_seen, &emc);
	if (wrong)
		return wrong;
	for (int i = 0; i < b->cpus; i++)
		if (!cpu_seen[i] || (b->cpu[i].fixed && !b->saved.online[i]))
			return "it does not name every CPU of this board";
	return emc == 1 && b->saved.gpu.known ? NULL : "it does not name every knob of this board";
}

static ssize_t load(const struct jetwatt_board *b, char *path, char *text)
{
	int fd = open(jetwatt_lease_path(b, "saved", path), O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return -errno;
	len = read(fd, text, SAVED_MAX - 1);
	len = len < 0 ? -errno : len;
	close(fd);
	text[len < 0 ? 0 : len] = '\0';
	return len;
}

/**
 * jetwatt_saved_load() - the file to jetwatt_board::saved
 *
 * Return: 0; 1: and it is of an earlier boot; -ENOENT; -EBADMSG.
 */
int jetwatt_saved_load(struct jetwatt_board *b, struct jetwatt_board_error *err)
{
	char path[PATH_LEN], text[SAVED_MAX], boot[64], now[64];
	ssize_t len = load(b, path, text);
	const char *wrong;

	if (len < 0)
		return jetwatt_error_sys(err, (int)len, "cannot read the saved state %s", path);
	b->have_saved = false;
	wrong = intact(text, (size_t)len, boot);
	if (!wrong)
		wrong = take(b, text);
	if (wrong)
		return damaged(b, err, wrong);
	b->have_saved = true;
	boot_id(b, now, sizeof(now));
	return strcmp(boot, now) != 0;
}

/* Is the file of an earlier boot? Then nothing of ours is applied: knobs do
 * not survive a reboot. A damaged one is not said to be. */
bool jetwatt_saved_old(const struct jetwatt_board *b)
{
	char path[PATH_LEN], text[SAVED_MAX], boot[64], now[64];
	ssize_t len = load(b, path, text);

	if (len < 0 || intact(text, (size_t)len, boot))
		return false;
	boot_id(b, now, sizeof(now));
	return strcmp(boot, now) != 0;
}

int jetwatt_saved_delete(struct jetwatt_board *b, struct jetwatt_board_error *err)
{
	char path[PATH_LEN];
	int dir;

	b->have_saved = false;
	if (unlink(jetwatt_lease_path(b, "saved", path)) && errno != ENOENT)
		return jetwatt_error_sys(err, -errno, "cannot delete %s", path);
	dir = open(b->state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir >= 0) {
		fsync(dir);
		close(dir);
	}
	return 0;
}
