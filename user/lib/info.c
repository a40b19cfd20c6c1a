// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Requests for the module's properties, configuration and counters, and for the black box.
 */
#include "lib/lib.h"

#include <errno.h>
#include <linux/jetwatt.h>
#include <netlink/genl/genl.h>
#include <string.h>

#include "lib/rail_label.h"

/* The array in which the replies to a request are stored: @max entries at @entry. @nr counts all
 * replies to @cmd. */
struct info_list {
	int cmd, nr, max;
	void *entry;
};

static int info_reply(struct jetwatt *jw, const struct nlattr *attr, int len, void *arg)
{
	union {
		struct jetwatt_info info;
		struct jetwatt_chip chip;
		struct jetwatt_rail rail;
		struct jetwatt_clock clock;
		struct jetwatt_config config;
		struct jetwatt_stats stats;
		struct jetwatt_energy energy;
		struct jetwatt_box box;
	} one;
	struct info_list *l = arg;
	size_t size;
	int err;

	(void)jw;
	switch (l->cmd) {
	case JETWATT_CMD_INFO_GET:
		err = jetwatt_parse_info(&one.info, attr, len);
		size = sizeof(one.info);
		break;
	case JETWATT_CMD_CHIP_GET:
		err = jetwatt_parse_chip(&one.chip, attr, len);
		size = sizeof(one.chip);
		break;
	case JETWATT_CMD_RAIL_GET:
		err = jetwatt_parse_rail(&one.rail, attr, len);
		size = sizeof(one.rail);
		break;
	case JETWATT_CMD_CLOCK_GET:
		err = jetwatt_parse_clock(&one.clock, attr, len);
		size = sizeof(one.clock);
		break;
	case JETWATT_CMD_CONFIG_GET:
		err = jetwatt_parse_config(&one.config, attr, len);
		size = sizeof(one.config);
		break;
	case JETWATT_CMD_STATS_GET:
		err = jetwatt_parse_stats(&one.stats, attr, len);
		size = sizeof(one.stats);
		break;
	case JETWATT_CMD_ENERGY_GET:
		err = jetwatt_parse_energy(&one.energy, attr, len);
		size = sizeof(one.energy);
		break;
	case JETWATT_CMD_BOX_GET:
		err = jetwatt_parse_box(&one.box, attr, len);
		size = sizeof(one.box);
		break;
	default:
		return -EINVAL;
	}
	if (err)
		return err;
	if (l->nr < l->max)
		memcpy((char *)l->entry + l->nr * size, &one, size);
	l->nr++;
	return 0;
}

/* Send a request and store its first @max replies. Return: number of replies; a negative errno. */
static int info_request(struct jetwatt *jw, int cmd, int flags, const char *what, void *entry,
			int max)
{
	struct info_list l = { .cmd = cmd, .entry = entry, .max = max };
	struct nl_msg *msg = jetwatt_request_new(jw, cmd, flags);
	int err;

	if (!msg)
		return jetwatt_error_set(jw, -ENOMEM, "%s: out of memory", what);
	err = jetwatt_request_run(jw, jw->ctl, msg, what, info_reply, &l);
	return err ? err : l.nr;
}

/* Send a request that has exactly one reply. */
static int info_request_one(struct jetwatt *jw, int cmd, const char *what, void *entry)
{
	int n = info_request(jw, cmd, 0, what, entry, 1);

	if (!n)
		return jetwatt_error_set(jw, -EBADMSG, "%s: no reply from the module", what);
	return n < 0 ? n : 0;
}

int jetwatt_info(struct jetwatt *jw, struct jetwatt_info *info)
{
	return info_request_one(jw, JETWATT_CMD_INFO_GET, "reading module information", info);
}

int jetwatt_config_get(struct jetwatt *jw, struct jetwatt_config *config)
{
	return info_request_one(jw, JETWATT_CMD_CONFIG_GET, "reading the configuration", config);
}

int jetwatt_stats(struct jetwatt *jw, struct jetwatt_stats *stats)
{
	return info_request_one(jw, JETWATT_CMD_STATS_GET, "reading statistics", stats);
}

int jetwatt_chips(struct jetwatt *jw, struct jetwatt_chip *chips, int max)
{
	return info_request(jw, JETWATT_CMD_CHIP_GET, NLM_F_DUMP, "listing chips", chips, max);
}

int jetwatt_rails(struct jetwatt *jw, struct jetwatt_rail *rails, int max)
{
	int n = info_request(jw, JETWATT_CMD_RAIL_GET, NLM_F_DUMP, "listing rails", rails, max);

	for (int i = 0; i < n && i < max; i++)
		jetwatt_rail_label_unique(rails, i);
	return n;
}

int jetwatt_clocks(struct jetwatt *jw, struct jetwatt_clock *clocks, int max)
{
	return info_request(jw, JETWATT_CMD_CLOCK_GET, NLM_F_DUMP, "listing clocks", clocks, max);
}

int jetwatt_energies(struct jetwatt *jw, struct jetwatt_energy *energies, int max)
{
	return info_request(jw, JETWATT_CMD_ENERGY_GET, NLM_F_DUMP, "reading energy counters",
			    energies, max);
}

int jetwatt_box(struct jetwatt *jw, struct jetwatt_box *box)
{
	return info_request_one(jw, JETWATT_CMD_BOX_GET, "reading the black box", box);
}

/* A request without a reply. */
static int info_command(struct jetwatt *jw, int cmd, const char *what)
{
	int n = info_request(jw, cmd, 0, what, NULL, 0);

	return n < 0 ? n : 0;
}

int jetwatt_box_freeze(struct jetwatt *jw)
{
	return info_command(jw, JETWATT_CMD_BOX_FREEZE, "filling the black box");
}

int jetwatt_box_clear(struct jetwatt *jw)
{
	return info_command(jw, JETWATT_CMD_BOX_CLEAR, "clearing the black box");
}

static int config_put(struct nl_msg *msg, int attr, uint32_t value)
{
	return value == UINT32_MAX ? 0 : nla_put_u32(msg, attr, value);
}

int jetwatt_config_set(struct jetwatt *jw, const struct jetwatt_config *c)
{
	struct nl_msg *msg = jetwatt_request_new(jw, JETWATT_CMD_CONFIG_SET, 0);

	if (!msg || config_put(msg, JETWATT_A_CONFIG_RATE_HZ, c->rate_hz) ||
	    config_put(msg, JETWATT_A_CONFIG_BATCH, c->batch) ||
	    config_put(msg, JETWATT_A_CONFIG_BATCH_AGE_MS, c->batch_age_ms) ||
	    config_put(msg, JETWATT_A_CONFIG_BUS_SHARE_PCT, c->bus_share_pct)) {
		nlmsg_free(msg);
		return jetwatt_error_set(jw, -ENOMEM, "setting the configuration: out of memory");
	}
	return jetwatt_request_run(jw, jw->ctl, msg, "setting the configuration", NULL, NULL);
}

/* Send a request that sets one attribute of the module's configuration. */
static int config_set_one(struct jetwatt *jw, int attr, uint32_t value, const char *what)
{
	struct nl_msg *msg = jetwatt_request_new(jw, JETWATT_CMD_CONFIG_SET, 0);

	if (!msg || nla_put_u32(msg, attr, value)) {
		nlmsg_free(msg);
		return jetwatt_error_set(jw, -ENOMEM, "%s: out of memory", what);
	}
	return jetwatt_request_run(jw, jw->ctl, msg, what, NULL, NULL);
}

int jetwatt_sampler_cpu(struct jetwatt *jw, uint32_t cpu)
{
	return config_set_one(jw, JETWATT_A_CONFIG_CPU, cpu, "setting the sampler's CPU");
}

int jetwatt_box_keep(struct jetwatt *jw, uint32_t ms)
{
	return config_set_one(jw, JETWATT_A_CONFIG_BOX_MS, ms,
			      "setting the length of the black box");
}
