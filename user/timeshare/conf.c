// SPDX-License-Identifier: GPL-2.0-only
/* Parser of the configuration file of "jetwatt schedule". */
#include "timeshare/conf.h"

#include <errno.h>
#include <string.h>

#include "util/units.h"

/* Callback for each line of the file. */
static int schedule_conf_set(const char *name, const char *value, unsigned int line, void *arg,
			     struct jetwatt_conf_error *e)
{
	enum { LATENCY = 5, ARRIVAL, POWER };
	static const char *const names[] = { "train", "infer", "batch-file", "train-modes",
					     "infer-modes", "latency", "arrival", "power",
					     "minibatches", NULL };
	struct jetwatt_timeshare_conf *c = arg;
	char *const text[] = { c->train, c->infer, c->batch_file, c->train_modes, c->infer_modes };
	int i = jetwatt_conf_name(name, names, line, e);
	double v = 0;

	if (i < 0)
		return i;
	if (c->given & 1u << i)
		return jetwatt_conf_refuse(e, line, "remove one of them", "there is another line %s =", name);
	c->given |= 1u << i;
	if (i < LATENCY)
		strcpy(text[i], value);
	else if (i == LATENCY && (jetwatt_unit_parse(value, "s", &v) || v < 1e-4 || v > 1e4))
		return jetwatt_conf_refuse(e, line, "write it like latency = 100ms, from 0.1ms to 10000s",
					   "\"%.40s\" is not a valid latency", value);
	else if (i == LATENCY)
		c->latency_ms = 1e3 * v;
	else if (i == ARRIVAL && (jetwatt_unit_parse(value, "Hz", &v) || v < 1e-3 || v > 1e6))
		return jetwatt_conf_refuse(e, line, "write it like arrival = 40Hz, from 0.001Hz to 1MHz",
					   "\"%.40s\" is not a valid request rate", value);
	else if (i == ARRIVAL)
		c->arrival_hz = v;
	else if (i == POWER && (jetwatt_unit_parse(value, "W", &v) || v < 0.1 || v > 1e4))
		return jetwatt_conf_refuse(e, line, "write it like power = 30W, from 0.1W to 10000W",
					   "\"%.40s\" is not a valid power", value);
	else if (i == POWER)
		c->power_w = v;
	else if (jetwatt_unit_count(value, 1, 1000000, &c->minibatches))
		return jetwatt_conf_refuse(e, line, "use a whole number from 1 to 1000000",
					   "\"%.40s\" is not a valid number of minibatches", value);
	return 0;
}

int jetwatt_timeshare_conf_parse(const char *text, size_t size, struct jetwatt_timeshare_conf *c,
				struct jetwatt_conf_error *e)
{
	memset(c, 0, sizeof(*c));
	if (jetwatt_conf_parse(text, size, schedule_conf_set, c, e))
		return -EINVAL;
	if (!*c->train)
		return jetwatt_conf_refuse(e, 0, "add train = COMMAND", "the command of the training is missing");
	if (!*c->infer)
		return jetwatt_conf_refuse(e, 0, "add infer = COMMAND", "the command of the server is missing");
	if (!(c->latency_ms > 0))
		return jetwatt_conf_refuse(e, 0, "add a limit for 99 of 100 requests, like latency = 100ms",
					   "the latency limit is missing");
	if (c->power_w > 0 && (!*c->train_modes || !*c->infer_modes))
		return jetwatt_conf_refuse(e, 0, "add train-modes = FILE.csv and infer-modes = FILE.csv",
					   "power = needs the measured modes of both programs");
	if (c->power_w > 0 && !(c->arrival_hz > 0))
		return jetwatt_conf_refuse(e, 0, "add the rate at the start, like arrival = 40Hz; counted requests replace it",
					   "power = needs the request rate");
	if (!(c->power_w > 0) && (*c->train_modes || *c->infer_modes))
		return jetwatt_conf_refuse(e, 0, "add power = 30W, or remove train-modes and infer-modes",
					   "train-modes and infer-modes need a power budget");
	return 0;
}

int jetwatt_timeshare_conf_read(const char *path, struct jetwatt_timeshare_conf *c)
{
	struct jetwatt_conf_error e;
	const char *text;
	size_t size;
	int err = jetwatt_conf_read(path, "jetwatt-schedule", &text, &size);

	if (err)
		return err;
	return jetwatt_timeshare_conf_parse(text, size, c, &e) ? jetwatt_conf_report(path, &e) : 0;
}
