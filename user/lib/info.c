// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What there is, how it is set, how it went.
 */
#include "lib.h"

#include <errno.h>
#include <linux/jetwatt.h>
#include <netlink/genl/genl.h>

static int run(struct jetwatt *jw, int cmd, int flags, const char *what, jetwatt_reply_fn fn,
	       void *arg)
{
	struct nl_msg *msg = jetwatt_request_new(jw, cmd, flags);

	if (!msg)
		return jetwatt_error_set(jw, -ENOMEM, "%s: out of memory", what);
	return jetwatt_request_run(jw, jw->ctl, msg, what, fn, arg);
}

static int info(struct jetwatt *jw, const struct nlattr *attr, int len, void *arg)
{
	(void)jw;
	return jetwatt_parse_info(arg, attr, len);
}

static int config(struct jetwatt *jw, const struct nlattr *attr, int len, void *arg)
{
	(void)jw;
	return jetwatt_parse_config(arg, attr, len);
}

static int stats(struct jetwatt *jw, const struct nlattr *attr, int len, void *arg)
{
	(void)jw;
	return jetwatt_parse_stats(arg, attr, len);
}

int jetwatt_info(struct jetwatt *jw, struct jetwatt_info *i)
{
	return run(jw, JETWATT_CMD_INFO_GET, 0, "asking for information", info, i);
}

int jetwatt_config_get(struct jetwatt *jw, struct jetwatt_config *c)
{
	return run(jw, JETWATT_CMD_CONFIG_GET, 0, "reading the configuration", config, c);
}

int jetwatt_stats(struct jetwatt *jw, struct jetwatt_stats *s)
{
	return run(jw, JETWATT_CMD_STATS_GET, 0, "reading statistics", stats, s);
}

/* A dump into an array: @nr counts all, @max are kept. */
struct list {
	void *entry;
	int nr, max;
};

static int chip(struct jetwatt *jw, const struct nlattr *attr, int len, void *arg)
{
	struct jetwatt_chip one;
	struct list *l = arg;
	int err = jetwatt_parse_chip(&one, attr, len);

	(void)jw;
	if (!err && l->nr < l->max)
		((struct jetwatt_chip *)l->entry)[l->nr] = one;
	l->nr += !err;
	return err;
}

static int rail(struct jetwatt *jw, const struct nlattr *attr, int len, void *arg)
{
	struct jetwatt_rail one;
	struct list *l = arg;
	int err = jetwatt_parse_rail(&one, attr, len);

	(void)jw;
	if (!err && l->nr < l->max)
		((struct jetwatt_rail *)l->entry)[l->nr] = one;
	l->nr += !err;
	return err;
}

static int clock_entry(struct jetwatt *jw, const struct nlattr *attr, int len, void *arg)
{
	struct jetwatt_clock one;
	struct list *l = arg;
	int err = jetwatt_parse_clock(&one, attr, len);

	(void)jw;
	if (!err && l->nr < l->max)
		((struct jetwatt_clock *)l->entry)[l->nr] = one;
	l->nr += !err;
	return err;
}

int jetwatt_chips(struct jetwatt *jw, struct jetwatt_chip *chips, int max)
{
	struct list l = { .entry = chips, .max = max };
	int err = run(jw, JETWATT_CMD_CHIP_GET, NLM_F_DUMP, "listing chips", chip, &l);

	return err ? err : l.nr;
}

int jetwatt_rails(struct jetwatt *jw, struct jetwatt_rail *rails, int max)
{
	struct list l = { .entry = rails, .max = max };
	int err = run(jw, JETWATT_CMD_RAIL_GET, NLM_F_DUMP, "listing rails", rail, &l);

	return err ? err : l.nr;
}

int jetwatt_clocks(struct jetwatt *jw, struct jetwatt_clock *clocks, int max)
{
	struct list l = { .entry = clocks, .max = max };
	int err = run(jw, JETWATT_CMD_CLOCK_GET, NLM_F_DUMP, "listing clocks", clock_entry, &l);

	return err ? err : l.nr;
}

static int put(struct nl_msg *msg, int attr, uint32_t value)
{
	return value == UINT32_MAX ? 0 : nla_put_u32(msg, attr, value);
}

int jetwatt_config_set(struct jetwatt *jw, const struct jetwatt_config *c)
{
	struct nl_msg *msg = jetwatt_request_new(jw, JETWATT_CMD_CONFIG_SET, 0);

	if (!msg || put(msg, JETWATT_A_CONFIG_RATE_HZ, c->rate_hz) ||
	    put(msg, JETWATT_A_CONFIG_BATCH, c->batch) ||
	    put(msg, JETWATT_A_CONFIG_BATCH_AGE_MS, c->batch_age_ms) ||
	    put(msg, JETWATT_A_CONFIG_BUS_SHARE_PCT, c->bus_share_pct)) {
		nlmsg_free(msg);
		return jetwatt_error_set(jw, -ENOMEM, "setting the configuration: out of memory");
	}
	return jetwatt_request_run(jw, jw->ctl, msg, "setting the configuration", NULL, NULL);
}
