/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Messages to structures. Pure: a buffer in, a structure out; whatever the
 * buffer holds, nothing outside it is read.
 */
#ifndef JETWATT_PARSE_H
#define JETWATT_PARSE_H

#include <linux/jetwatt.h>
#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>
#include "jetwatt.h"

/* All that a batch can hold: two series a rail, one a clock, and room. */
#define JETWATT_PARSE_SERIES	(4 * JETWATT_RAILS_MAX + JETWATT_CLOCKS_MAX)
#define JETWATT_PARSE_SAMPLES	4096

/* Scratch for one batch; the views point into the message. */
struct jetwatt_parse {
	struct jetwatt_samples samples;
	struct jetwatt_series_view series[JETWATT_PARSE_SERIES];
	uint64_t time_ns[JETWATT_PARSE_SAMPLES];
};

/* @attr: attributes of a SAMPLES message, 4-byte aligned. 0 or -EBADMSG. */
int jetwatt_parse_samples(struct jetwatt_parse *p, const struct nlattr *attr, int len);
int jetwatt_parse_event(struct jetwatt_event *e, const struct nlattr *attr, int len);
int jetwatt_parse_info(struct jetwatt_info *info, const struct nlattr *attr, int len);
int jetwatt_parse_chip(struct jetwatt_chip *chip, const struct nlattr *attr, int len);
int jetwatt_parse_rail(struct jetwatt_rail *rail, const struct nlattr *attr, int len);
int jetwatt_parse_clock(struct jetwatt_clock *clock, const struct nlattr *attr, int len);
int jetwatt_parse_config(struct jetwatt_config *config, const struct nlattr *attr, int len);
int jetwatt_parse_stats(struct jetwatt_stats *stats, const struct nlattr *attr, int len);

int jetwatt_parse_energy(struct jetwatt_energy *energy, const struct nlattr *attr, int len);

/* Records of a WAITS_NTF: @nr of @size bytes each at @data, maybe unaligned. */
struct jetwatt_parse_waits {
	const char *data;
	uint32_t size, nr;
	uint64_t lost;
};

/* Return: 0 or -EBADMSG. */
int jetwatt_parse_waits(struct jetwatt_parse_waits *w, const struct nlattr *attr, int len);
/* Record @i, less than @w->nr. */
struct jetwatt_wait_record jetwatt_parse_wait(const struct jetwatt_parse_waits *w, uint32_t i);
int jetwatt_parse_box(struct jetwatt_box *box, const struct nlattr *attr, int len);

/* What the controller says of the family. */
struct jetwatt_family {
	uint32_t id, version, events;	/* @events: the group, 0 if none */
};
int jetwatt_parse_family(struct jetwatt_family *f, const struct nlattr *attr, int len);

/**
 * jetwatt_parse_ack() - error code and text of a NLMSG_ERROR or NLMSG_DONE
 * @text: the extended ack's message, "" if there is none
 *
 * Return: the kernel's error (0 or negative), -EBADMSG if it is cut short.
 */
int jetwatt_parse_ack(const struct nlmsghdr *nlh, char *text, size_t size);

#endif
