// SPDX-License-Identifier: GPL-2.0-only
#include "timeshare/conf.h"

#include <errno.h>
#include <string.h>

#include "util/units.h"

/* A name with its value, both with a NUL at their end. */
static int set(const char *name, const char *value, unsigned int line, void *arg,
	       struct jetwatt_conf_error *e)
{
	enum { LATENCY = 5, ARRIVAL, POWER };
	static const char *const names[] = { "train", "infer", "batch-file", "train-modes",
					     "infer-modes", "latency", "arrival", "power",
					     "minibatches", NULL };
	struct jetwatt_schedule_conf *c = arg;
	char *const text[] = { c->train, c->infer, c->batch_file, c->train_modes, c->infer_modes };
	int i = jetwatt_conf_name(name, names, line, e);
	double v = 0;

	if (i < 0)
		return i;
	if (i < LATENCY)
		strcpy(text[i], value);
	else if (i == LATENCY && (jetwatt_unit_parse(value, "s", &v) || v < 1e-4 || v > 1e4))
		return jetwatt_conf_refuse(e, line, "like latency = 100ms", "\"%.40s\" is no time", value);
	else if (i == LATENCY)
		c->latency_ms = 1e3 * v;
	else if (i == ARRIVAL && (jetwatt_unit_parse(value, "Hz", &v) || v < 1e-3 || v > 1e6))
		return jetwatt_conf_refuse(e, line, "like arrival = 40Hz", "\"%.40s\" is no rate", value);
	else if (i == ARRIVAL)
		c->arrival_hz = v;
	else if (i == POWER && (jetwatt_unit_parse(value, "W", &v) || v < 0.1 || v > 1e4))
		return jetwatt_conf_refuse(e, line, "like power = 30W", "\"%.40s\" is no power", value);
	else if (i == POWER)
		c->power_w = v;
	else if (jetwatt_unit_count(value, 1, 1000000, &c->minibatches))
		return jetwatt_conf_refuse(e, line, "a whole number from 1 to 1000000", "\"%.40s\" is no such number",
					   value);
	return 0;
}

int jetwatt_schedule_conf_parse(const char *text, size_t size, struct jetwatt_schedule_conf *c,
				struct jetwatt_conf_error *e)
{
	memset(c, 0, sizeof(*c));
	if (jetwatt_conf_parse(text, size, set, c, e))
		return -EINVAL;
	if (!*c->train)
		return jetwatt_conf_refuse(e, 0, "train = COMMAND", "it does not say what trains");
	if (!*c->infer)
		return jetwatt_conf_refuse(e, 0, "infer = COMMAND", "it does not say what serves");
	if (!(c->latency_ms > 0))
		return jetwatt_conf_refuse(e, 0, "latency = 100ms, in which 99 of 100 requests are to be answered",
					   "it does not say how long requests may take");
	if (c->power_w > 0 && (!*c->train_modes || !*c->infer_modes))
		return jetwatt_conf_refuse(e, 0, "train-modes = FILE.csv and infer-modes = FILE.csv",
					   "it does not say what was measured of both programs");
	if (c->power_w > 0 && !(c->arrival_hz > 0))
		return jetwatt_conf_refuse(e, 0, "arrival = 40Hz: counted requests replace it",
					   "it does not say how many requests there will be at first");
	if (!(c->power_w > 0) && (*c->train_modes || *c->infer_modes))
		return jetwatt_conf_refuse(e, 0, "power = 30W, or leave them away",
					   "there are modes but no power to choose one for");
	return 0;
}

int jetwatt_schedule_conf_read(const char *path, struct jetwatt_schedule_conf *c)
{
	struct jetwatt_conf_error e;
	const char *text;
	size_t size;
	int err = jetwatt_conf_read(path, "jetwatt-schedule", &text, &size);

	if (err)
		return err;
	return jetwatt_schedule_conf_parse(text, size, c, &e) ? jetwatt_conf_say(path, &e) : 0;
}
