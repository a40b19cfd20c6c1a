// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=2 icount modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" timeout=60
/*
 * Test the module's netlink family as the kernel lists it, and the refusal of malformed requests.
 */
#include "family.h"

#include "kselftest_harness.h"

FIXTURE(family) {
	struct family f;
};

FIXTURE_SETUP(family)
{
	ASSERT_EQ(0, family_open(&self->f));
}

FIXTURE_TEARDOWN(family)
{
	family_close(&self->f);
}

#define DO	GENL_CMD_CAP_DO
#define DUMP	GENL_CMD_CAP_DUMP
#define ADMIN	GENL_ADMIN_PERM

static const uint32_t want[JETWATT_CMD_MAX + 1] = {
	[JETWATT_CMD_INFO_GET] = DO,
	[JETWATT_CMD_CHIP_GET] = DUMP,
	[JETWATT_CMD_RAIL_GET] = DUMP,
	[JETWATT_CMD_CLOCK_GET] = DUMP,
	[JETWATT_CMD_CONFIG_GET] = DO,
	[JETWATT_CMD_CONFIG_SET] = DO | ADMIN,
	[JETWATT_CMD_SAMPLES_GET] = DUMP | ADMIN,
	[JETWATT_CMD_SUBSCRIBE] = DO | ADMIN,
	[JETWATT_CMD_UNSUBSCRIBE] = DO | ADMIN,
	[JETWATT_CMD_STATS_GET] = DO,
	[JETWATT_CMD_SUBSCRIBER_GET] = DUMP | ADMIN,
	[JETWATT_CMD_ENERGY_GET] = DUMP | ADMIN,
	[JETWATT_CMD_BOX_GET] = DO | ADMIN,
	[JETWATT_CMD_BOX_FREEZE] = DO | ADMIN,
	[JETWATT_CMD_BOX_CLEAR] = DO | ADMIN,
	[JETWATT_CMD_BOX_SAMPLES_GET] = DUMP | ADMIN,
	[JETWATT_CMD_WAITS_WATCH] = DO | ADMIN,
	[JETWATT_CMD_WAITS_UNWATCH] = DO | ADMIN,
};

struct registered {
	uint32_t flags[256], version, groups;
	char group[32];
};

static void note(struct nlmsghdr *nlh, void *arg)
{
	struct nlattr *list, *item, *attr;
	struct registered *r = arg;
	int left;

	r->version = u32_of(nlh, CTRL_ATTR_VERSION);
	list = attr_of(nlh, CTRL_ATTR_OPS);
	if (list)
		nla_for_each_nested(item, list, left) {
			attr = nla_find(nla_data(item), nla_len(item), CTRL_ATTR_OP_ID);
			r->flags[nla_get_u32(attr) & 255] =
				nla_get_u32(nla_find(nla_data(item), nla_len(item),
						     CTRL_ATTR_OP_FLAGS));
		}
	list = attr_of(nlh, CTRL_ATTR_MCAST_GROUPS);
	if (list)
		nla_for_each_nested(item, list, left) {
			attr = nla_find(nla_data(item), nla_len(item), CTRL_ATTR_MCAST_GRP_NAME);
			nla_strlcpy(r->group, attr, sizeof(r->group));
			r->groups++;
		}
}

TEST_F(family, registered_operations_are_those_of_the_header)
{
	struct nl_msg *msg = request_to(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1);
	struct registered r = {};
	unsigned int cmd;

	nla_put_string(msg, CTRL_ATTR_FAMILY_NAME, JETWATT_GENL_NAME);
	ASSERT_EQ(0, call(&self->f, msg, note, &r));
	EXPECT_EQ(JETWATT_GENL_VERSION, r.version);
	EXPECT_EQ(1, r.groups);
	EXPECT_STREQ(JETWATT_MCGRP_EVENTS, r.group);
	for (cmd = 0; cmd < 256; cmd++)
		EXPECT_EQ(cmd <= JETWATT_CMD_MAX ? want[cmd] : 0,
			  r.flags[cmd] & (DO | DUMP | ADMIN | GENL_UNS_ADMIN_PERM))
			TH_LOG("command %u", cmd);
}

/*
 * The module must refuse attributes on commands that take none, an attribute of a wrong length, and
 * unknown commands.
 */
TEST_F(family, malformed_requests_are_refused)
{
	unsigned int cmd, type;
	struct nl_msg *msg;

	for (cmd = 1; cmd <= JETWATT_CMD_MAX; cmd++)
		for (type = 1; type < 12; type++) {
			if (cmd == JETWATT_CMD_CONFIG_SET || cmd == JETWATT_CMD_SAMPLES_GET ||
			    cmd == JETWATT_CMD_WAITS_WATCH)
				continue;
			msg = request(&self->f, cmd);
			nla_put_u32(msg, type, 1);
			EXPECT_NE(0, want[cmd] & DUMP ? dump(&self->f, msg, NULL, NULL)
						     : call(&self->f, msg, NULL, NULL));
		}
	msg = request(&self->f, JETWATT_CMD_CONFIG_SET);
	nla_put(msg, JETWATT_A_CONFIG_RATE_HZ, 2, "xx");
	EXPECT_NE(0, call(&self->f, msg, NULL, NULL));
	msg = request(&self->f, JETWATT_CMD_SAMPLES_GET);
	nla_put_u32(msg, JETWATT_A_SAMPLES_SEQ, 1);
	EXPECT_NE(0, dump(&self->f, msg, NULL, NULL));
	EXPECT_EQ(-EOPNOTSUPP, simple(&self->f, JETWATT_CMD_SAMPLES_NTF));
	EXPECT_EQ(-EOPNOTSUPP, simple(&self->f, JETWATT_CMD_EVENT_NTF));
	EXPECT_EQ(-EOPNOTSUPP, simple(&self->f, JETWATT_CMD_MAX + 1));
	EXPECT_EQ(0, config_of(&self->f, JETWATT_A_CONFIG_ACTIVE_HZ));
}

/*
 * Count the items of a dump: the list of 32 subscribers takes several messages, and each subscriber
 * must be in it once.
 */
static void count(struct nlmsghdr *nlh, void *arg)
{
	(void)nlh;
	++*(unsigned int *)arg;
}

TEST_F(family, dump_in_several_messages)
{
	static struct family more[32];
	unsigned int i, n = 0;

	for (i = 0; i < 32; i++) {
		ASSERT_EQ(0, family_open(&more[i]));
		ASSERT_EQ(0, simple(&more[i], JETWATT_CMD_SUBSCRIBE));
	}
	EXPECT_EQ(0, dump(&self->f, request(&self->f, JETWATT_CMD_SUBSCRIBER_GET), count, &n));
	EXPECT_EQ(32, n);
	for (i = 0; i < 32; i++)
		family_close(&more[i]);
	/* The subscribers whose sockets were closed disappear with a delay, because a work item
	 * removes them. */
	for (i = 0; i < 1000 && n; i++) {
		usleep(10000);
		n = 0;
		EXPECT_EQ(0, dump(&self->f, request(&self->f, JETWATT_CMD_SUBSCRIBER_GET), count, &n));
	}
	EXPECT_EQ(0, n);
}

TEST_HARNESS_MAIN
