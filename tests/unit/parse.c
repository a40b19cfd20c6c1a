// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parser of netlink messages, tested with messages as the kernel builds them, and with damaged
 * ones.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <netlink/msg.h>

#include "../fuzz/samples.c"
#include "kselftest_harness.h"

static struct nl_msg *samples(uint64_t seq, uint32_t n, int pad)
{
	struct nl_msg *msg = nlmsg_alloc_size(1 << 16);
	uint64_t time_ns[256];
	struct nlattr *nest;
	int32_t value[256];
	uint32_t i, k;

	nlmsg_put(msg, 0, 0, 0x20, 0, 0);
	nla_put_u64(msg, JETWATT_A_SAMPLES_SEQ, seq);
	nla_put_u32(msg, JETWATT_A_SAMPLES_COUNT, n);
	nla_put_u64(msg, JETWATT_A_SAMPLES_LOST, 5);
	if (pad)
		nla_put(msg, JETWATT_A_SAMPLES_PAD, 0, NULL);
	for (i = 0; i < n; i++)
		time_ns[i] = 1000000 + i * 1000;
	nla_put(msg, JETWATT_A_SAMPLES_TIME_NS, n * 8, time_ns);
	for (k = 0; k < 4; k++) {
		for (i = 0; i < n; i++)
			value[i] = k * 1000 - i;
		nest = nla_nest_start(msg, JETWATT_A_SAMPLES_SERIES);
		nla_put_u32(msg, JETWATT_A_SERIES_KIND, k & 1);
		nla_put_u32(msg, JETWATT_A_SERIES_INDEX, k >> 1);
		nla_put(msg, JETWATT_A_SERIES_VALUES, n * 4, value);
		nla_nest_end(msg, nest);
	}
	return msg;
}

static struct nlattr *attrs(struct nl_msg *msg)
{
	return nlmsg_attrdata(nlmsg_hdr(msg), 0);
}

static int length(struct nl_msg *msg)
{
	return nlmsg_attrlen(nlmsg_hdr(msg), 0);
}

/* A message of waits may state the size of a record; without the attribute, a record has 48
 * bytes. */
TEST(records_of_any_stated_size_are_parsed)
{
	static const uint32_t sizes[] = { 0, 48, 64 };
	struct jetwatt_parse_waits w;
	char records[3 * 64];
	struct nl_msg *msg;
	uint32_t i, k, size;
	uint64_t ns;

	for (i = 0; i < 3; i++) {
		size = sizes[i] ? sizes[i] : 48;
		memset(records, 0xff, sizeof(records));
		for (k = 0; k < 3; k++) {
			ns = 1000 + k;
			memcpy(records + k * size + offsetof(struct jetwatt_wait_record, exit_ns), &ns,
			       sizeof(ns));
		}
		msg = nlmsg_alloc();
		nlmsg_put(msg, 0, 0, 0x20, 0, 0);
		nla_put_u64(msg, JETWATT_A_WAITS_LOST, 7);
		if (sizes[i])
			nla_put_u32(msg, JETWATT_A_WAITS_RECORD_SIZE, size);
		nla_put(msg, JETWATT_A_WAITS_RECORDS, 3 * size, records);
		ASSERT_EQ(0, jetwatt_parse_waits(&w, attrs(msg), length(msg)));
		EXPECT_EQ(7, w.lost);
		ASSERT_EQ(3, w.nr);
		for (k = 0; k < 3; k++)
			EXPECT_EQ(1000 + k, jetwatt_parse_wait(&w, k).exit_ns);
		nlmsg_free(msg);
	}
	/* Record sizes of 0 and 40 bytes are refused: no module sends such records. */
	for (size = 0; size <= 40; size += 40) {
		msg = nlmsg_alloc();
		nlmsg_put(msg, 0, 0, 0x20, 0, 0);
		nla_put_u64(msg, JETWATT_A_WAITS_LOST, 7);
		nla_put_u32(msg, JETWATT_A_WAITS_RECORD_SIZE, size);
		nla_put(msg, JETWATT_A_WAITS_RECORDS, 120, records);
		EXPECT_EQ(-EBADMSG, jetwatt_parse_waits(&w, attrs(msg), length(msg)));
		nlmsg_free(msg);
	}
}

TEST(batch_of_samples_is_parsed)
{
	static struct jetwatt_parse p;
	int pad;

	for (pad = 0; pad < 2; pad++) {
		struct nl_msg *msg = samples(42, 64, pad);

		ASSERT_EQ(0, jetwatt_parse_samples(&p, attrs(msg), length(msg)));
		EXPECT_EQ(42, p.samples.seq);
		EXPECT_EQ(64, p.samples.count);
		EXPECT_EQ(5, p.samples.lost);
		EXPECT_EQ(0, p.samples.gap);
		EXPECT_EQ(4, p.samples.nr_series);
		EXPECT_EQ(1063000, p.samples.time_ns[63]);
		EXPECT_EQ(1, p.samples.series[3].kind);
		EXPECT_EQ(1, p.samples.series[3].index);
		EXPECT_EQ(3000 - 63, p.samples.series[3].value[63]);
		nlmsg_free(msg);
	}
}

/* In each message, one attribute of the batch of samples is missing or has a wrong size. */
TEST(batch_with_a_wrong_attribute_is_refused)
{
	static struct jetwatt_parse p;
	struct nl_msg *msg;
	int type, delta;

	for (type = JETWATT_A_SAMPLES_SEQ; type <= JETWATT_A_SAMPLES_SERIES; type++)
		for (delta = -8; delta <= 4; delta += 4) {
			struct nlattr *a;

			msg = samples(1, 8, 0);
			a = nla_find(attrs(msg), length(msg), type);
			ASSERT_NE(NULL, a);
			if (delta)
				a->nla_len += delta;
			else if (type == JETWATT_A_SAMPLES_SERIES)
				continue;	/* a batch without telemetry series is valid */
			else
				a->nla_type = JETWATT_A_SAMPLES_MAX + 1;
			EXPECT_EQ(-EBADMSG, jetwatt_parse_samples(&p, attrs(msg), length(msg))) {
				TH_LOG("attribute %d, %d bytes", type, delta);
			}
			nlmsg_free(msg);
		}
	msg = samples(1, 8, 0);
	nla_put_u32(msg, JETWATT_A_SAMPLES_COUNT, 0);
	EXPECT_EQ(-EBADMSG, jetwatt_parse_samples(&p, attrs(msg), length(msg)));
	nlmsg_free(msg);
	msg = samples(UINT64_MAX - 3, 8, 0);
	EXPECT_EQ(-EBADMSG, jetwatt_parse_samples(&p, attrs(msg), length(msg)));
	nlmsg_free(msg);
}

TEST(too_many_series_are_refused)
{
	static struct jetwatt_parse p;
	struct nl_msg *msg = samples(1, 1, 0);
	struct nlattr *nest;
	int32_t value = 1;
	int i;

	for (i = 4; i <= JETWATT_PARSE_SERIES; i++) {
		EXPECT_EQ(0, jetwatt_parse_samples(&p, attrs(msg), length(msg)));
		nest = nla_nest_start(msg, JETWATT_A_SAMPLES_SERIES);
		nla_put_u32(msg, JETWATT_A_SERIES_KIND, 0);
		nla_put_u32(msg, JETWATT_A_SERIES_INDEX, i);
		nla_put(msg, JETWATT_A_SERIES_VALUES, 4, &value);
		nla_nest_end(msg, nest);
	}
	EXPECT_EQ(-EBADMSG, jetwatt_parse_samples(&p, attrs(msg), length(msg)));
	nlmsg_free(msg);
}

TEST(rail_is_parsed)
{
	struct nl_msg *msg = nlmsg_alloc();
	struct jetwatt_rail rail;

	nlmsg_put(msg, 0, 0, 0x20, 0, 0);
	nla_put_u32(msg, JETWATT_A_RAIL_ID, 3);
	nla_put_u32(msg, JETWATT_A_RAIL_SHUNT_UOHM, 2000);
	nla_put_u32(msg, JETWATT_A_RAIL_FRESH_MHZ, 151500);
	nla_put(msg, JETWATT_A_RAIL_LABEL, 6, "VDD\033[A");	/* not terminated */
	ASSERT_EQ(0, jetwatt_parse_rail(&rail, attrs(msg), length(msg)));
	EXPECT_EQ(3, rail.id);
	EXPECT_EQ(2000, rail.shunt_uohm);
	EXPECT_EQ(151500, rail.fresh_mhz);
	EXPECT_STREQ("VDD?[A", rail.label);
	nlmsg_free(msg);
}

TEST(family_and_groups_are_parsed)
{
	struct nl_msg *msg = nlmsg_alloc();
	struct nlattr *groups, *group;
	struct jetwatt_family f;

	nlmsg_put(msg, 0, 0, GENL_ID_CTRL, 0, 0);
	nla_put_u16(msg, CTRL_ATTR_FAMILY_ID, 0x21);
	nla_put_u32(msg, CTRL_ATTR_VERSION, 1);
	groups = nla_nest_start(msg, CTRL_ATTR_MCAST_GROUPS);
	group = nla_nest_start(msg, 1);
	nla_put_u32(msg, CTRL_ATTR_MCAST_GRP_ID, 7);
	nla_put_string(msg, CTRL_ATTR_MCAST_GRP_NAME, "other");
	nla_nest_end(msg, group);
	group = nla_nest_start(msg, 2);
	nla_put_u32(msg, CTRL_ATTR_MCAST_GRP_ID, 8);
	nla_put_string(msg, CTRL_ATTR_MCAST_GRP_NAME, JETWATT_MCGRP_EVENTS);
	nla_nest_end(msg, group);
	nla_nest_end(msg, groups);
	ASSERT_EQ(0, jetwatt_parse_family(&f, attrs(msg), length(msg)));
	EXPECT_EQ(0x21, f.id);
	EXPECT_EQ(1, f.version);
	EXPECT_EQ(8, f.events);
	nlmsg_free(msg);
}

/* Build an acknowledgement: an error (NLMSG_ERROR), with the request echoed if @echoed, or the end
 * of a dump (NLMSG_DONE). */
static struct nl_msg *ack(int type, int flags, int err, int echoed, const char *text)
{
	struct nlmsgerr e = { .error = err, .msg.nlmsg_len = NLMSG_HDRLEN + 20 };
	struct nl_msg *msg = nlmsg_alloc();
	char body[20] = { 0 };

	nlmsg_put(msg, 0, 1, type, 0, flags);
	nlmsg_append(msg, &e, type == NLMSG_DONE ? sizeof(int) : sizeof(e), 4);
	if (echoed)
		nlmsg_append(msg, body, sizeof(body), 4);
	if (text)
		nla_put_string(msg, NLMSGERR_ATTR_MSG, text);
	return msg;
}

TEST(error_and_ack_messages_are_parsed)
{
	char text[32];
	struct nl_msg *msg;

	msg = ack(NLMSG_ERROR, NLM_F_CAPPED | NLM_F_ACK_TLVS, -ERANGE, 0, "at most 345 Hz");
	EXPECT_EQ(-ERANGE, jetwatt_parse_ack(nlmsg_hdr(msg), text, sizeof(text)));
	EXPECT_STREQ("at most 345 Hz", text);
	nlmsg_free(msg);
	msg = ack(NLMSG_ERROR, NLM_F_ACK_TLVS, -EINVAL, 1, "no");
	EXPECT_EQ(-EINVAL, jetwatt_parse_ack(nlmsg_hdr(msg), text, sizeof(text)));
	EXPECT_STREQ("no", text);
	nlmsg_free(msg);
	msg = ack(NLMSG_DONE, NLM_F_ACK_TLVS, -ENODEV, 0, "no chip, and a text that is too long");
	EXPECT_EQ(-ENODEV, jetwatt_parse_ack(nlmsg_hdr(msg), text, sizeof(text)));
	EXPECT_STREQ("no chip, and a text that is too", text);
	nlmsg_free(msg);
	msg = ack(NLMSG_ERROR, 0, -EPERM, 1, NULL);
	EXPECT_EQ(-EPERM, jetwatt_parse_ack(nlmsg_hdr(msg), text, sizeof(text)));
	EXPECT_STREQ("", text);
	nlmsg_free(msg);
	msg = ack(NLMSG_ERROR, NLM_F_CAPPED, 0, 0, NULL);
	EXPECT_EQ(0, jetwatt_parse_ack(nlmsg_hdr(msg), text, sizeof(text)));
	nlmsg_free(msg);
	msg = ack(NLMSG_ERROR, NLM_F_CAPPED, 5, 0, NULL);
	EXPECT_EQ(-EBADMSG, jetwatt_parse_ack(nlmsg_hdr(msg), text, sizeof(text)));
	nlmsg_hdr(msg)->nlmsg_len = NLMSG_HDRLEN + 2;
	EXPECT_EQ(-EBADMSG, jetwatt_parse_ack(nlmsg_hdr(msg), text, sizeof(text)));
	nlmsg_free(msg);
}

/* Parse messages with flipped bits, bytes set to critical values, or a cut-off end; the damage is
 * drawn from a fixed seed. */
TEST(damaged_messages_never_crash)
{
	static const uint8_t telling[] = { 0, 1, 3, 4, 7, 8, 0x7f, 0x80, 0xff };
	struct nl_msg *seed[3] = { samples(1, 4, 1), samples(9, 64, 0),
				   ack(NLMSG_ERROR, NLM_F_ACK_TLVS, -1, 1, "text") };
	uint8_t buf[8192];
	int i, k, round;
	size_t len;

	srand(1);
	for (round = 0; round < 60000; round++) {
		i = rand() % 3;
		len = i == 2 ? nlmsg_hdr(seed[i])->nlmsg_len : (size_t)length(seed[i]);
		buf[0] = rand() % 4 ? (i == 2 ? 9 : 0) : rand() % 13;
		memcpy(buf + 1, i == 2 ? (void *)nlmsg_hdr(seed[i]) : attrs(seed[i]), len);
		for (k = rand() % 6; k > 0; k--) {
			/* draw half of the changes from the first 64 bytes, where the headers are */
			size_t at = 1 + (rand() % 2 ? rand() % len : rand() % 64 % len);

			if (rand() % 2)
				buf[at] ^= 1 << rand() % 8;
			else
				buf[at] = telling[rand() % sizeof(telling)];
		}
		if (rand() % 4 == 0)
			len = rand() % (len + 1);
		LLVMFuzzerTestOneInput(buf, len + 1);
	}
	for (i = 0; i < 3; i++)
		nlmsg_free(seed[i]);
}

TEST_HARNESS_MAIN
