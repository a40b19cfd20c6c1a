/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Parsers of netlink messages. The functions have no side effects and never read outside the
 * message buffer, whatever the buffer contains.
 */
#ifndef JETWATT_PARSE_H
#define JETWATT_PARSE_H

#include <linux/jetwatt.h>
#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>
#include "jetwatt.h"

/* Maximum number of series in a batch: two per rail and one per clock, and some spare ones. */
#define JETWATT_PARSE_SERIES	(4 * JETWATT_RAILS_MAX + JETWATT_CLOCKS_MAX)
#define JETWATT_PARSE_SAMPLES	4096	/* maximum number of samples in a batch */

/* A parsed batch; the values of its series are in the message. */
struct jetwatt_parse {
	struct jetwatt_samples samples;
	struct jetwatt_series_view series[JETWATT_PARSE_SERIES];
	uint64_t time_ns[JETWATT_PARSE_SAMPLES];
};

/*
 * The functions declared below parse the attributes of a message (@len bytes, aligned to 4 bytes).
 * Return: 0; -EBADMSG: a required attribute is absent or invalid, or a batch has an invalid series.
 * Any other optional attribute with a wrong length counts as absent.
 */
int jetwatt_parse_samples(struct jetwatt_parse *p, const struct nlattr *attr, int len);
int jetwatt_parse_event(struct jetwatt_event *e, const struct nlattr *attr, int len);
int jetwatt_parse_info(struct jetwatt_info *info, const struct nlattr *attr, int len);
int jetwatt_parse_chip(struct jetwatt_chip *chip, const struct nlattr *attr, int len);
int jetwatt_parse_rail(struct jetwatt_rail *rail, const struct nlattr *attr, int len);
int jetwatt_parse_clock(struct jetwatt_clock *clock, const struct nlattr *attr, int len);
int jetwatt_parse_config(struct jetwatt_config *config, const struct nlattr *attr, int len);
int jetwatt_parse_stats(struct jetwatt_stats *stats, const struct nlattr *attr, int len);

int jetwatt_parse_energy(struct jetwatt_energy *energy, const struct nlattr *attr, int len);

/* Records of a WAITS_NTF: @nr records of @size bytes each at @data, which may be unaligned. */
struct jetwatt_parse_waits {
	const char *data;
	uint32_t size, nr;
	uint64_t lost;
};

/* As the parsers above, but a wrong length of an optional attribute is an error too. */
int jetwatt_parse_waits(struct jetwatt_parse_waits *w, const struct nlattr *attr, int len);
/* Return a copy of record @i of @w; @i must be less than @w->nr. */
struct jetwatt_wait_record jetwatt_parse_wait(const struct jetwatt_parse_waits *w, uint32_t i);
int jetwatt_parse_box(struct jetwatt_box *box, const struct nlattr *attr, int len);

/* The module's generic netlink family, as the netlink controller reports it. @events: id of the
 * multicast group JETWATT_MCGRP_EVENTS; 0: the family has no such group. */
struct jetwatt_family {
	uint32_t id, version, events;
};
int jetwatt_parse_family(struct jetwatt_family *f, const struct nlattr *attr, int len);

/**
 * jetwatt_parse_ack() - parse an NLMSG_ERROR or NLMSG_DONE message
 * @nlh: the message
 * @text: receives the text of the extended ack; "": there is none
 * @size: size of @text
 *
 * Return: the kernel's error code (0 or negative); -EBADMSG: the message is malformed.
 */
int jetwatt_parse_ack(const struct nlmsghdr *nlh, char *text, size_t size);

#endif
