// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Parsers of all messages except batches, one function per message. A field whose attribute is
 * absent is 0; but the parent of a rail and the rail of an energy counter are UINT32_MAX, and the
 * size of a record of waits is RECORD_SIZE. A function returns -EBADMSG if an attribute is absent
 * without which its message is useless.
 */
#include "lib/parse.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/jetwatt.h>
#include <string.h>

#include "lib/attr.h"

int jetwatt_parse_event(struct jetwatt_event *e, const struct nlattr *attr, int len)
{
	const struct nlattr *tb[JETWATT_A_EVENT_MAX + 1];

	memset(e, 0, sizeof(*e));
	jetwatt_attr_index(tb, JETWATT_A_EVENT_MAX, attr, len);
	jetwatt_attr_u32(tb[JETWATT_A_EVENT_CHIP], &e->chip);
	jetwatt_attr_u64(tb[JETWATT_A_EVENT_VALUE], &e->value);
	jetwatt_attr_u64(tb[JETWATT_A_EVENT_TIME_NS], &e->time_ns);
	return jetwatt_attr_u32(tb[JETWATT_A_EVENT_KIND], &e->kind);
}

int jetwatt_parse_info(struct jetwatt_info *info, const struct nlattr *attr, int len)
{
	const struct nlattr *tb[JETWATT_A_INFO_MAX + 1];

	memset(info, 0, sizeof(*info));
	jetwatt_attr_index(tb, JETWATT_A_INFO_MAX, attr, len);
	jetwatt_attr_string(tb[JETWATT_A_INFO_VERSION], info->version, sizeof(info->version));
	jetwatt_attr_string(tb[JETWATT_A_INFO_BOARD], info->board, sizeof(info->board));
	jetwatt_attr_u32(tb[JETWATT_A_INFO_CHIPS], &info->chips);
	jetwatt_attr_u32(tb[JETWATT_A_INFO_RING], &info->ring);
	jetwatt_attr_u32(tb[JETWATT_A_INFO_RUNNING], &info->running);
	jetwatt_attr_u32(tb[JETWATT_A_INFO_TOTAL_SCOPE], &info->total_scope);
	return jetwatt_attr_u32(tb[JETWATT_A_INFO_RAILS], &info->rails);
}

int jetwatt_parse_chip(struct jetwatt_chip *chip, const struct nlattr *attr, int len)
{
	const struct nlattr *tb[JETWATT_A_CHIP_MAX + 1];

	memset(chip, 0, sizeof(*chip));
	jetwatt_attr_index(tb, JETWATT_A_CHIP_MAX, attr, len);
	jetwatt_attr_string(tb[JETWATT_A_CHIP_MODEL], chip->model, sizeof(chip->model));
	jetwatt_attr_u32(tb[JETWATT_A_CHIP_BUS], &chip->bus);
	jetwatt_attr_u32(tb[JETWATT_A_CHIP_ADDR], &chip->addr);
	jetwatt_attr_u32(tb[JETWATT_A_CHIP_BUS_HZ], &chip->bus_hz);
	jetwatt_attr_u32(tb[JETWATT_A_CHIP_CONFIG], &chip->config);
	jetwatt_attr_u32(tb[JETWATT_A_CHIP_REFRESH_MHZ], &chip->refresh_mhz);
	jetwatt_attr_u64(tb[JETWATT_A_CHIP_ERRORS], &chip->errors);
	jetwatt_attr_u32(tb[JETWATT_A_CHIP_LOST], &chip->lost);
	jetwatt_attr_u32(tb[JETWATT_A_CHIP_SUM_CHANNELS], &chip->sum_channels);
	jetwatt_attr_u32(tb[JETWATT_A_CHIP_SHUNT_US], &chip->shunt_us);
	jetwatt_attr_u32(tb[JETWATT_A_CHIP_AVERAGES], &chip->averages);
	jetwatt_attr_u32(tb[JETWATT_A_CHIP_FILTER], &chip->filter);
	jetwatt_attr_u32(tb[JETWATT_A_CHIP_STEP_PV], &chip->step_pv);
	jetwatt_attr_u64(tb[JETWATT_A_CHIP_BUS_STEP_PV], &chip->bus_step_pv);
	jetwatt_attr_u32(tb[JETWATT_A_CHIP_OFFSET_NV], &chip->offset_nv);
	jetwatt_attr_u32(tb[JETWATT_A_CHIP_GAIN_PPM], &chip->gain_ppm);
	jetwatt_attr_u32(tb[JETWATT_A_CHIP_BUS_OFFSET_UV], &chip->bus_offset_uv);
	jetwatt_attr_u32(tb[JETWATT_A_CHIP_BUS_GAIN_PPM], &chip->bus_gain_ppm);
	jetwatt_attr_u64(tb[JETWATT_A_CHIP_CLIPPED], &chip->clipped);
	return jetwatt_attr_u32(tb[JETWATT_A_CHIP_ID], &chip->id);
}

int jetwatt_parse_rail(struct jetwatt_rail *rail, const struct nlattr *attr, int len)
{
	const struct nlattr *tb[JETWATT_A_RAIL_MAX + 1];

	memset(rail, 0, sizeof(*rail));
	rail->parent = UINT32_MAX;
	jetwatt_attr_index(tb, JETWATT_A_RAIL_MAX, attr, len);
	jetwatt_attr_u32(tb[JETWATT_A_RAIL_CHIP], &rail->chip);
	jetwatt_attr_u32(tb[JETWATT_A_RAIL_CHANNEL], &rail->channel);
	jetwatt_attr_string(tb[JETWATT_A_RAIL_LABEL], rail->label, sizeof(rail->label));
	jetwatt_attr_u32(tb[JETWATT_A_RAIL_ENABLED], &rail->enabled);
	jetwatt_attr_u32(tb[JETWATT_A_RAIL_REQUESTED_MHZ], &rail->requested_mhz);
	jetwatt_attr_u32(tb[JETWATT_A_RAIL_READ_MHZ], &rail->read_mhz);
	jetwatt_attr_u32(tb[JETWATT_A_RAIL_FRESH_MHZ], &rail->fresh_mhz);
	jetwatt_attr_u32(tb[JETWATT_A_RAIL_PARENT], &rail->parent);
	jetwatt_attr_u32(tb[JETWATT_A_RAIL_IN_TOTAL], &rail->in_total);
	jetwatt_attr_u32(tb[JETWATT_A_RAIL_STEP_UW], &rail->step_uw);
	jetwatt_attr_u32(tb[JETWATT_A_RAIL_SKEW_NS], &rail->skew_ns);
	if (jetwatt_attr_u32(tb[JETWATT_A_RAIL_SHUNT_UOHM], &rail->shunt_uohm))
		return -EBADMSG;
	return jetwatt_attr_u32(tb[JETWATT_A_RAIL_ID], &rail->id);
}

int jetwatt_parse_clock(struct jetwatt_clock *clock, const struct nlattr *attr, int len)
{
	const struct nlattr *tb[JETWATT_A_CLOCK_MAX + 1];

	memset(clock, 0, sizeof(*clock));
	jetwatt_attr_index(tb, JETWATT_A_CLOCK_MAX, attr, len);
	jetwatt_attr_u32(tb[JETWATT_A_CLOCK_INDEX], &clock->index);
	jetwatt_attr_string(tb[JETWATT_A_CLOCK_LABEL], clock->label, sizeof(clock->label));
	jetwatt_attr_s32(tb[JETWATT_A_CLOCK_VALUE], &clock->value);
	return jetwatt_attr_u32(tb[JETWATT_A_CLOCK_KIND], &clock->kind);
}

int jetwatt_parse_config(struct jetwatt_config *config, const struct nlattr *attr, int len)
{
	const struct nlattr *tb[JETWATT_A_CONFIG_MAX + 1];

	memset(config, 0, sizeof(*config));
	jetwatt_attr_index(tb, JETWATT_A_CONFIG_MAX, attr, len);
	jetwatt_attr_u32(tb[JETWATT_A_CONFIG_BATCH], &config->batch);
	jetwatt_attr_u32(tb[JETWATT_A_CONFIG_BATCH_AGE_MS], &config->batch_age_ms);
	jetwatt_attr_u32(tb[JETWATT_A_CONFIG_BUS_SHARE_PCT], &config->bus_share_pct);
	jetwatt_attr_u32(tb[JETWATT_A_CONFIG_RATE_MAX_HZ], &config->rate_max_hz);
	jetwatt_attr_u32(tb[JETWATT_A_CONFIG_ACTIVE_HZ], &config->active_hz);
	return jetwatt_attr_u32(tb[JETWATT_A_CONFIG_RATE_HZ], &config->rate_hz);
}

int jetwatt_parse_stats(struct jetwatt_stats *stats, const struct nlattr *attr, int len)
{
	const struct nlattr *tb[JETWATT_A_STATS_MAX + 1];

	memset(stats, 0, sizeof(*stats));
	jetwatt_attr_index(tb, JETWATT_A_STATS_MAX, attr, len);
	jetwatt_attr_u64(tb[JETWATT_A_STATS_MISSED], &stats->missed);
	jetwatt_attr_u64(tb[JETWATT_A_STATS_I2C_ERRORS], &stats->i2c_errors);
	jetwatt_attr_u64(tb[JETWATT_A_STATS_LATE_P50_NS], &stats->late_p50_ns);
	jetwatt_attr_u64(tb[JETWATT_A_STATS_LATE_P99_NS], &stats->late_p99_ns);
	jetwatt_attr_u64(tb[JETWATT_A_STATS_LATE_MAX_NS], &stats->late_max_ns);
	jetwatt_attr_u64(tb[JETWATT_A_STATS_TICK_NS], &stats->tick_ns);
	jetwatt_attr_u64(tb[JETWATT_A_STATS_LOST], &stats->lost);
	jetwatt_attr_u32(tb[JETWATT_A_STATS_BUS_PERMILLE], &stats->bus_permille);
	jetwatt_attr_u64(tb[JETWATT_A_STATS_THROTTLED], &stats->throttled);
	jetwatt_attr_u64(tb[JETWATT_A_STATS_CPU_NS], &stats->cpu_ns);
	return jetwatt_attr_u64(tb[JETWATT_A_STATS_TICKS], &stats->ticks);
}

int jetwatt_parse_energy(struct jetwatt_energy *energy, const struct nlattr *attr, int len)
{
	const struct nlattr *tb[JETWATT_A_ENERGY_MAX + 1];

	memset(energy, 0, sizeof(*energy));
	energy->rail = UINT32_MAX;
	jetwatt_attr_index(tb, JETWATT_A_ENERGY_MAX, attr, len);
	jetwatt_attr_u32(tb[JETWATT_A_ENERGY_RAIL], &energy->rail);
	jetwatt_attr_s32(tb[JETWATT_A_ENERGY_UW], &energy->uw);
	jetwatt_attr_u64(tb[JETWATT_A_ENERGY_TIME_NS], &energy->time_ns);
	jetwatt_attr_u64(tb[JETWATT_A_ENERGY_BLIND_NS], &energy->blind_ns);
	return jetwatt_attr_u64(tb[JETWATT_A_ENERGY_UJ], &energy->uj);
}

int jetwatt_parse_box(struct jetwatt_box *box, const struct nlattr *attr, int len)
{
	const struct nlattr *tb[JETWATT_A_BOX_MAX + 1];

	memset(box, 0, sizeof(*box));
	jetwatt_attr_index(tb, JETWATT_A_BOX_MAX, attr, len);
	jetwatt_attr_u32(tb[JETWATT_A_BOX_CAUSE], &box->cause);
	jetwatt_attr_u32(tb[JETWATT_A_BOX_INDEX], &box->index);
	jetwatt_attr_u64(tb[JETWATT_A_BOX_TIME_NS], &box->time_ns);
	jetwatt_attr_u32(tb[JETWATT_A_BOX_COUNT], &box->count);
	jetwatt_attr_u32(tb[JETWATT_A_BOX_MISSED], &box->missed);
	return jetwatt_attr_u64(tb[JETWATT_A_BOX_SEQ], &box->seq);
}

/* Size of a record, in bytes, in messages of older modules, which do not send the size. */
#define RECORD_SIZE	48

int jetwatt_parse_waits(struct jetwatt_parse_waits *w, const struct nlattr *attr, int len)
{
	const struct nlattr *tb[JETWATT_A_WAITS_MAX + 1], *a;

	memset(w, 0, sizeof(*w));
	w->size = RECORD_SIZE;
	jetwatt_attr_index(tb, JETWATT_A_WAITS_MAX, attr, len);
	a = tb[JETWATT_A_WAITS_RECORD_SIZE];
	if ((a && jetwatt_attr_u32(a, &w->size)) || w->size < RECORD_SIZE ||
	    jetwatt_attr_u64(tb[JETWATT_A_WAITS_LOST], &w->lost))
		return -EBADMSG;
	a = tb[JETWATT_A_WAITS_RECORDS];
	if (!a)
		return 0;
	if (jetwatt_attr_len(a) % w->size)
		return -EBADMSG;
	w->data = jetwatt_attr_data(a);
	w->nr = jetwatt_attr_len(a) / w->size;
	return 0;
}

struct jetwatt_wait_record jetwatt_parse_wait(const struct jetwatt_parse_waits *w, uint32_t i)
{
	struct jetwatt_wait_record r = { 0 };

	memcpy(&r, w->data + (size_t)i * w->size, w->size < sizeof(r) ? w->size : sizeof(r));
	return r;
}

static void parse_group(struct jetwatt_family *f, const struct nlattr *nest)
{
	const struct nlattr *tb[CTRL_ATTR_MCAST_GRP_MAX + 1];
	char name[GENL_NAMSIZ];

	jetwatt_attr_index(tb, CTRL_ATTR_MCAST_GRP_MAX, jetwatt_attr_data(nest),
			   jetwatt_attr_len(nest));
	jetwatt_attr_string(tb[CTRL_ATTR_MCAST_GRP_NAME], name, sizeof(name));
	if (!strcmp(name, JETWATT_MCGRP_EVENTS))
		jetwatt_attr_u32(tb[CTRL_ATTR_MCAST_GRP_ID], &f->events);
}

int jetwatt_parse_family(struct jetwatt_family *f, const struct nlattr *attr, int len)
{
	const struct nlattr *tb[CTRL_ATTR_MAX + 1], *a;
	uint16_t id;
	int rem;

	memset(f, 0, sizeof(*f));
	jetwatt_attr_index(tb, CTRL_ATTR_MAX, attr, len);
	a = tb[CTRL_ATTR_FAMILY_ID];
	if (!a || jetwatt_attr_len(a) != sizeof(id))
		return -EBADMSG;
	memcpy(&id, jetwatt_attr_data(a), sizeof(id));
	f->id = id;
	a = tb[CTRL_ATTR_MCAST_GROUPS];
	if (a) {
		rem = jetwatt_attr_len(a);
		for (a = jetwatt_attr_data(a); jetwatt_attr_ok(a, rem); a = jetwatt_attr_next(a, &rem))
			parse_group(f, a);
	}
	return jetwatt_attr_u32(tb[CTRL_ATTR_VERSION], &f->version);
}

/*
 * NLMSG_ERROR contains the error code and the header of the request. The rest of the request
 * follows unless the flag NLM_F_CAPPED is set. If the flag NLM_F_ACK_TLVS is set, attributes follow
 * after the request. NLMSG_DONE contains only the error code and, with the flag NLM_F_ACK_TLVS, the
 * attributes.
 */
int jetwatt_parse_ack(const struct nlmsghdr *nlh, char *text, size_t size)
{
	const struct nlattr *tb[NLMSGERR_ATTR_MAX + 1];
	const char *data = (const char *)nlh + NLMSG_HDRLEN;
	size_t len = nlh->nlmsg_len - NLMSG_HDRLEN, skip = sizeof(int);
	struct nlmsghdr request;
	int err;

	*text = '\0';
	if (nlh->nlmsg_len < NLMSG_HDRLEN + sizeof(int))
		return -EBADMSG;
	memcpy(&err, data, sizeof(err));
	if (nlh->nlmsg_type == NLMSG_ERROR) {
		if (len < sizeof(struct nlmsgerr))
			return -EBADMSG;
		memcpy(&request, data + sizeof(int), sizeof(request));
		skip = sizeof(struct nlmsgerr);
		if (!(nlh->nlmsg_flags & NLM_F_CAPPED) && request.nlmsg_len > NLMSG_HDRLEN)
			skip += NLMSG_ALIGN(request.nlmsg_len - NLMSG_HDRLEN);
	}
	if ((nlh->nlmsg_flags & NLM_F_ACK_TLVS) && skip < len) {
		jetwatt_attr_index(tb, NLMSGERR_ATTR_MAX, (const struct nlattr *)(data + skip),
				   len - skip);
		jetwatt_attr_string(tb[NLMSGERR_ATTR_MSG], text, size);
	}
	return err <= 0 ? err : -EBADMSG;
}
