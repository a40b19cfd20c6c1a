// SPDX-License-Identifier: GPL-2.0-only
/*
 * Conversion settings of the power sensors, and the clock of their I2C bus. The settings are
 * changed only on request (board.h), through the attributes of the drivers. A guardian process
 * restores them at the latest when the process that changed them ends. The file "sensors" in the
 * state directory holds the previous settings (format: statefile.c):
 *
 *	jetwatt-sensors 1
 *	boot 6f0d...
 *	chip bus/i2c/drivers/ina3221/1-0040/hwmon/hwmon2 64 7	samples, update_interval
 *	adapter bus/i2c/devices/i2c-1/bus_clk_rate 100000
 *	sum 1c291ca3
 */
#include "board/knobs.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KIND		"jetwatt-sensors"
#define LEAF		"sensors"
#define DRIVERS		"bus/i2c/drivers"
#define CHIPS_MAX	8
#define NEAR_LEN	(PATH_LEN / 4)

struct chip {
	char dir[NEAR_LEN];		/* directory of the chip's hwmon device */
	uint64_t samples, interval;	/* conversions per reading; ms */
};

struct adapter {
	char file[NEAR_LEN];
	uint64_t hz;
};

struct settings {
	struct chip chip[CHIPS_MAX];
	struct adapter adapter[CHIPS_MAX];
	int chips, adapters;
};

static int read_attribute(const struct jetwatt_board *b, const char *dir, const char *leaf,
			  uint64_t *v)
{
	char path[PATH_LEN];

	snprintf(path, sizeof(path), "%s/%s", dir, leaf);
	return jetwatt_sysfs_u64(b, path, v);
}

static int write_attribute(const struct jetwatt_board *b, const char *dir, const char *leaf,
			   uint64_t v)
{
	char path[PATH_LEN];

	snprintf(path, sizeof(path), "%s/%s", dir, leaf);
	return jetwatt_sysfs_write(b, path, v);
}

static void find_adapter(const struct jetwatt_board *b, struct settings *s, unsigned int nr)
{
	struct adapter *a = &s->adapter[s->adapters];
	char file[NEAR_LEN];

	/* Only NVIDIA's kernels up to JetPack 5 have the file bus_clk_rate. */
	snprintf(file, sizeof(file), "bus/i2c/devices/i2c-%u/bus_clk_rate", nr);
	for (int i = 0; i < s->adapters; i++)
		if (!strcmp(s->adapter[i].file, file))
			return;
	memcpy(a->file, file, sizeof(file));
	if (s->adapters < CHIPS_MAX && !jetwatt_sysfs_u64(b, file, &a->hz))
		s->adapters++;
}

/* Read the settings of a device of @driver, and the clock of its bus. @name: "1-0040", I2C bus and
 * address. */
static void find_chip(const struct jetwatt_board *b, struct settings *s, const char *driver,
		      const char *name)
{
	struct chip *c = &s->chip[s->chips];
	char path[PATH_LEN];
	unsigned int nr, addr;
	struct dirent *e;
	DIR *d;

	if (s->chips == CHIPS_MAX || sscanf(name, "%u-%x", &nr, &addr) != 2)
		return;
	if (snprintf(path, sizeof(path), "%s/" DRIVERS "/%s/%.32s/hwmon", b->sys, driver, name) >=
	    (int)sizeof(path))
		return;
	d = opendir(path);
	while (d && (e = readdir(d)))
		if (!strncmp(e->d_name, "hwmon", 5))
			snprintf(c->dir, sizeof(c->dir), DRIVERS "/%s/%.32s/hwmon/%.32s", driver,
				 name, e->d_name);
	if (!d)
		return;
	closedir(d);
	if (c->dir[0] && !read_attribute(b, c->dir, "samples", &c->samples) &&
	    !read_attribute(b, c->dir, "update_interval", &c->interval))
		s->chips++;
	find_adapter(b, s, nr);
}

/* Read the settings of the sensors of the drivers ina3221 and ina238, and of their buses. */
static void sensors_read(const struct jetwatt_board *b, struct settings *s)
{
	static const char * const driver[] = { "ina3221", "ina238" };
	char path[PATH_LEN];
	struct dirent *e;
	DIR *d;

	memset(s, 0, sizeof(*s));
	for (size_t i = 0; i < sizeof(driver) / sizeof(driver[0]); i++) {
		snprintf(path, sizeof(path), "%s/" DRIVERS "/%s", b->sys, driver[i]);
		d = opendir(path);
		while (d && (e = readdir(d)))
			find_chip(b, s, driver[i], e->d_name);
		if (d)
			closedir(d);
	}
}

/* Write the previous settings to the file "sensors" in the state directory. Return: 0; negative
 * errno. */
static int sensors_store(struct jetwatt_board *b, const struct settings *s,
			 struct jetwatt_error_text *err)
{
	char text[JETWATT_STATEFILE_MAX];
	FILE *f = fmemopen(text, sizeof(text), "w");
	int len;

	if (!f)
		return -errno;
	jetwatt_statefile_begin(b, KIND, f);
	for (int i = 0; i < s->chips; i++)
		fprintf(f, "chip %s %" PRIu64 " %" PRIu64 "\n", s->chip[i].dir, s->chip[i].samples,
			s->chip[i].interval);
	for (int i = 0; i < s->adapters; i++)
		fprintf(f, "adapter %s %" PRIu64 "\n", s->adapter[i].file, s->adapter[i].hz);
	len = jetwatt_statefile_end(f, text);
	if (len < 0)
		return jetwatt_error_sys(err, len, "cannot save the settings of the sensors");
	return jetwatt_statefile_store(b, LEAF, text, len, err);
}

static int sensors_load_line(const char *line, struct settings *s)
{
	struct chip *c = &s->chip[s->chips];
	struct adapter *a = &s->adapter[s->adapters];
	char tail;

	if (s->chips < CHIPS_MAX &&
	    sscanf(line, "chip %127s %" SCNu64 " %" SCNu64 "%c", c->dir, &c->samples, &c->interval,
		   &tail) == 3)
		s->chips++;
	else if (s->adapters < CHIPS_MAX &&
		 sscanf(line, "adapter %127s %" SCNu64 "%c", a->file, &a->hz, &tail) == 2)
		s->adapters++;
	else
		return -EBADMSG;
	return 0;
}

/* Read the file "sensors". Return: 0; -ENOENT: no such file was written since boot; -EBADMSG: the
 * file is damaged; other negative errno. */
static int sensors_load(struct jetwatt_board *b, struct settings *s, struct jetwatt_error_text *err)
{
	char path[PATH_LEN], text[JETWATT_STATEFILE_MAX], boot[64], *save, *line;
	ssize_t len = jetwatt_statefile_load(b, LEAF, path, text, sizeof(text));
	const char *wrong;
	int rc = 0;

	if (len == -ENOENT || len == -ENOTDIR)
		return -ENOENT;
	if (len < 0)
		return jetwatt_error_sys(err, (int)len, "cannot read %s", path);
	memset(s, 0, sizeof(*s));
	wrong = jetwatt_statefile_intact(KIND, text, (size_t)len, boot);
	if (!wrong && !jetwatt_statefile_now(b, boot))
		return -ENOENT;
	if (!wrong) {
		strtok_r(text, "\n", &save);
		strtok_r(NULL, "\n", &save);
		while (!rc && (line = strtok_r(NULL, "\n", &save)))
			rc = sensors_load_line(line, s);
		wrong = rc ? "a line has an unknown form" : NULL;
	}
	if (!wrong)
		return 0;
	jetwatt_board_error_set(err, -EBADMSG, "the saved sensor settings %s can't be used", path);
	jetwatt_error_why(err, "%s", wrong);
	jetwatt_error_fix(err, "reboot, which resets the sensors, then remove that file");
	return -EBADMSG;
}

/*
 * Write the settings of one chip. On a write, the driver divides update_interval by the number of
 * samples. On a read, the driver does not multiply by that number. So write update_interval while
 * samples is 1.
 */
static int sensors_write_chip(const struct jetwatt_board *b, const struct chip *c)
{
	uint64_t samples, interval;
	int rc;

	rc = read_attribute(b, c->dir, "samples", &samples);
	/* Ignore a missing file: the driver was unbound from the chip meanwhile, and resets the
	 * chip when it is bound again. */
	if (rc == -ENOENT)
		return 0;
	if (!rc)
		rc = read_attribute(b, c->dir, "update_interval", &interval);
	if (!rc && interval != c->interval) {
		rc = samples == 1 ? 0 : write_attribute(b, c->dir, "samples", 1);
		samples = 1;
		if (!rc)
			rc = write_attribute(b, c->dir, "update_interval", c->interval);
	}
	if (!rc && samples != c->samples)
		rc = write_attribute(b, c->dir, "samples", c->samples);
	return rc;
}

/* Write all settings; a failure ends only its chip. Return: 0, or the first error. */
static int sensors_write(const struct jetwatt_board *b, const struct settings *s)
{
	struct settings now;
	int first = 0, rc;

	for (int i = 0; i < s->chips; i++) {
		rc = sensors_write_chip(b, &s->chip[i]);
		first = first ? first : rc;
	}
	sensors_read(b, &now);
	for (int i = 0; i < now.adapters; i++)
		for (int k = 0; k < s->adapters; k++) {
			if (strcmp(now.adapter[i].file, s->adapter[k].file) ||
			    now.adapter[i].hz == s->adapter[k].hz)
				continue;
			rc = jetwatt_sysfs_write(b, s->adapter[k].file, s->adapter[k].hz);
			first = first ? first : rc;
		}
	return first;
}

/* Check whether the chips and adapters that are in @s have its settings now. @exact: compare
 * update_interval too, which a chip rounds to the nearest time that it supports. */
static bool sensors_match(const struct jetwatt_board *b, const struct settings *s, bool exact)
{
	struct settings now;

	sensors_read(b, &now);
	for (int i = 0; i < now.chips; i++)
		for (int k = 0; k < s->chips; k++)
			if (!strcmp(now.chip[i].dir, s->chip[k].dir) &&
			    (now.chip[i].samples != s->chip[k].samples ||
			     (exact && now.chip[i].interval != s->chip[k].interval)))
				return false;
	for (int i = 0; i < now.adapters; i++)
		for (int k = 0; k < s->adapters; k++)
			if (!strcmp(now.adapter[i].file, s->adapter[k].file) &&
			    now.adapter[i].hz != s->adapter[k].hz)
				return false;
	return true;
}

/* Restore the settings in the file; keep the file if a setting cannot be restored. */
int jetwatt_sensors_restore_saved(struct jetwatt_board *b, struct jetwatt_error_text *err)
{
	struct settings s;
	int rc = sensors_load(b, &s, err);

	if (rc)
		return rc;
	rc = sensors_write(b, &s);
	if (!rc && !sensors_match(b, &s, true))
		rc = -EIO;
	if (rc)
		return jetwatt_error_sys(err, rc, "cannot restore the settings of the sensors");
	return jetwatt_statefile_delete(b, LEAF, err);
}

static int sensors_lock(struct jetwatt_board *b, struct jetwatt_error_text *err)
{
	return jetwatt_lease_lock(b, "sensors.lease", "another jetwatt has changed the sensors", err);
}

int jetwatt_board_sensors_restore(struct jetwatt_board *b, struct jetwatt_error_text *err)
{
	struct settings s;
	int rc = sensors_load(b, &s, err), fd;

	if (rc)
		return rc;
	fd = sensors_lock(b, err);
	if (fd < 0)
		return fd;
	/* The previous holder may have restored the settings meanwhile: in this case the file
	 * does not exist any more. */
	rc = jetwatt_sensors_restore_saved(b, err);
	close(fd);
	return rc;
}

int jetwatt_board_sensors_reset(struct jetwatt_board *b, struct jetwatt_error_text *err)
{
	int rc;

	if (b->sensors_guardian < 0)
		return 0;
	rc = jetwatt_guardian_finish(&b->sensors_guardian);
	/* The guardian was killed or has failed: restore in this process, which can report the
	 * error. */
	if (rc)
		rc = jetwatt_board_sensors_restore(b, err);
	return rc == -ENOENT ? 0 : rc;
}

static int sensors_unsupported(struct jetwatt_error_text *err, const char *what, const char *fix)
{
	jetwatt_board_error_set(err, -EOPNOTSUPP, "%s", what);
	jetwatt_error_why(err, "this kernel has no attribute for that setting");
	jetwatt_error_fix(err, "%s", fix);
	return -EOPNOTSUPP;
}

/* Compute the settings @after from @before and the request @want. Return: 0; -EOPNOTSUPP. */
static int sensors_plan(const struct jetwatt_board_sensors *want, const struct settings *before,
			struct settings *after, struct jetwatt_error_text *err)
{
	*after = *before;
	if ((want->averages || want->refresh_ms >= 0) && !before->chips)
		return sensors_unsupported(err, "cannot change the averaging or refresh of the sensors",
					   "load the driver that has the attributes: sudo modprobe ina3221");
	if (want->bus_khz && !before->adapters)
		return sensors_unsupported(err, "cannot change the clock of the sensors' bus",
					   "set clock-frequency in the device tree (JetPack 6 and 7)");
	for (int i = 0; i < after->chips; i++) {
		if (want->averages)
			after->chip[i].samples = want->averages;
		if (want->refresh_ms >= 0)
			after->chip[i].interval = (uint64_t)want->refresh_ms;
	}
	for (int i = 0; i < after->adapters && want->bus_khz; i++)
		after->adapter[i].hz = want->bus_khz * 1000ull;
	return 0;
}

int jetwatt_board_sensors_set(struct jetwatt_board *b, const struct jetwatt_board_sensors *want,
			      struct jetwatt_error_text *err)
{
	struct settings before, after;
	int fd = sensors_lock(b, err), rc;

	if (fd < 0)
		return fd;
	/* First restore the settings that an ended process has left changed, so that the
	 * original settings are saved. */
	rc = jetwatt_sensors_restore_saved(b, err);
	if (rc && rc != -ENOENT)
		goto unlock;
	sensors_read(b, &before);
	rc = sensors_plan(want, &before, &after, err);
	if (!rc)
		rc = sensors_store(b, &before, err);
	if (!rc)
		rc = jetwatt_guardian_start(b, fd, jetwatt_sensors_restore_saved, &b->sensors_guardian,
					    err);
	if (rc)
		goto unlock;
	rc = sensors_write(b, &after);
	if (rc)
		rc = jetwatt_error_sys(err, rc, "cannot change the settings of the sensors");
	else if (!sensors_match(b, &after, false)) {
		rc = jetwatt_board_error_set(err, -EINVAL, "the sensors do not take these settings");
		jetwatt_error_why(err, "the sensors or the bus read back other values");
		jetwatt_error_fix(err, "averages are 1, 4, 16, 64, 128, 256, 512 or 1024");
	}
	if (rc)
		jetwatt_board_sensors_reset(b, NULL);
unlock:
	/* The guardian process has inherited the descriptor, and therefore keeps the lock. */
	close(fd);
	return rc;
}
