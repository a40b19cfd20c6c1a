// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" timeout=900 alone
/*
 * Fuzzer of the netlink family, in the guest. Sends random and damaged messages of every operation,
 * and of operations that do not exist, as root, as user nobody, and as root in its own namespaces.
 * While messages are sent, the sampler streams, and sockets are opened and closed; while root
 * sends, faults are injected. The kernel must log no warning (pid 1 reads its log), its replies
 * must be well-formed, and afterwards the family must work.
 *
 * 20,000 messages per kind of sender; 7,000 on the kernel of make check-debug, which is slower
 * because of KASAN. The seed is printed. fuzz_seed=N on the kernel's command line repeats a run;
 * fuzz_messages=N sets the number of messages.
 */
#include <sched.h>
#include <sys/random.h>

#include "kmod/family.h"

#include "kselftest_harness.h"

#define NOBODY	65534
#define SOCKETS	6
#define ROOM	4096

static uint64_t state;

/* Return the next random number (splitmix64). */
static uint64_t roll(void)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static uint32_t below(uint32_t n)
{
	return roll() % n;
}

/* Return a value near a limit of the module or of an integer type, or any random number. */
static uint64_t number_to_try(void)
{
	static const uint64_t odd[] = {
		0, 1, 2, 31, 32, 50, 90, 91, 100, 255, 256, 257, 1000, 10000, 10001, 65535,
		0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff,
		0xffffffffffffffff,
	};

	return below(3) ? odd[below(sizeof(odd) / sizeof(odd[0]))] : roll();
}

static size_t put_random_attribute(uint8_t *at, size_t room)
{
	static const uint16_t usual[] = { 4, 4, 4, 8, 8, 0, 1, 2, 3, 5, 16 };
	uint16_t len = below(8) ? usual[below(sizeof(usual) / sizeof(usual[0]))] : below(600);
	uint64_t value = number_to_try();
	struct nlattr *attr = (void *)at;

	if (NLA_ALIGN(NLA_HDRLEN + len) > room)
		return 0;
	attr->nla_type = below(16);
	if (!below(16))
		attr->nla_type = roll();
	else if (!below(16))
		attr->nla_type |= below(2) ? NLA_F_NESTED : NLA_F_NET_BYTEORDER;
	attr->nla_len = NLA_HDRLEN + len;
	memset(at + NLA_HDRLEN, roll(), NLA_ALIGN(len));
	memcpy(at + NLA_HDRLEN, &value, len < sizeof(value) ? len : sizeof(value));
	return NLA_ALIGN(attr->nla_len);
}

/* Compose a message with a valid frame and random content. Return: its length. */
static size_t compose(uint8_t *msg, uint16_t id, uint32_t seq)
{
	struct nlmsghdr *nlh = (void *)msg;
	struct genlmsghdr *genl = (void *)(msg + NLMSG_HDRLEN);
	uint32_t n = below(8) ? below(4) : below(40), i;
	size_t len = NLMSG_HDRLEN + GENL_HDRLEN;

	memset(msg, 0, len);
	for (i = 0; i < n; i++)
		len += put_random_attribute(msg + len, ROOM - len);
	nlh->nlmsg_len = len;
	nlh->nlmsg_type = id;
	nlh->nlmsg_seq = seq;
	nlh->nlmsg_flags = NLM_F_REQUEST | (below(2) ? NLM_F_ACK : 0) | (below(2) ? NLM_F_DUMP : 0);
	if (!below(16))
		nlh->nlmsg_flags = roll();
	nlh->nlmsg_pid = below(8) ? 0 : roll();
	genl->cmd = below(8) ? below(JETWATT_CMD_MAX + 3) : below(256);
	genl->version = below(8) ? JETWATT_GENL_VERSION : below(256);
	if (!below(16))
		genl->reserved = roll();
	return len;
}

static void damage(uint8_t *msg, size_t *len, uint16_t id)
{
	struct nlmsghdr *nlh = (void *)msg;
	uint32_t n = 1 + below(8);

	while (n--)
		msg[NLMSG_HDRLEN + below(*len - NLMSG_HDRLEN)] = roll();
	if (!below(4))
		*len = NLMSG_HDRLEN + below(*len - NLMSG_HDRLEN + 1);
	nlh->nlmsg_len = below(4) ? *len : roll() % (2 * *len);
	/* Do not send to other netlink families. */
	nlh->nlmsg_type = below(32) ? id : NLMSG_NOOP;
}

/* Return: whether every attribute of the received messages lies completely within its message. */
static bool well_formed(const uint8_t *buf, int n)
{
	struct nlmsghdr *nlh;
	struct nlattr *attr;
	int left;

	for (nlh = (void *)buf; nlmsg_ok(nlh, n); nlh = nlmsg_next(nlh, &n)) {
		if (nlh->nlmsg_type < NLMSG_MIN_TYPE)
			continue;
		if (nlmsg_datalen(nlh) < (int)GENL_HDRLEN)
			return false;
		nlmsg_for_each_attr(attr, nlh, GENL_HDRLEN, left)
			;
		if (left)
			return false;
	}
	return !n;
}

static bool drain(int fd, uint8_t *buf, size_t size, unsigned long *answers)
{
	int n;

	while ((n = recv(fd, buf, size, MSG_DONTWAIT)) > 0) {
		if (!well_formed(buf, n))
			return false;
		(*answers)++;
	}
	return true;
}

/* Inject faults at random places of the module. Needs root. */
static void inject_some(void)
{
	DIR *dir = opendir(FAULTS);
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (!strncmp(e->d_name, "fail_", 5) && !below(4))
			inject(e->d_name, below(3));
	if (dir)
		closedir(dir);
}

static long from_cmdline(const char *word, long otherwise)
{
	char text[2048], *at;

	if (read_file("/proc/cmdline", text, sizeof(text)))
		return otherwise;
	at = strstr(text, word);
	return at ? strtol(at + strlen(word), NULL, 0) : otherwise;
}

/* Return: 0; or an exit status from 10 to 14 that identifies the failed check. */
static int send_messages(uint16_t id, unsigned long messages, bool knobs)
{
	static struct family f[SOCKETS];
	static uint8_t msg[ROOM], buf[1 << 18];
	unsigned long i, sent = 0, answers = 0;
	uint32_t s, group;
	size_t len;

	for (s = 0; s < SOCKETS; s++)
		if (family_socket(&f[s]))
			return 10;
	for (i = 0; i < messages; i++) {
		s = below(SOCKETS);
		if (!below(64)) {
			/* Close at any time, for instance during a dump or a subscription. */
			close(f[s].fd);
			if (family_socket(&f[s]))
				return 11;
		}
		if (!below(64)) {
			group = below(64);
			setsockopt(f[s].fd, SOL_NETLINK,
				   below(2) ? NETLINK_ADD_MEMBERSHIP : NETLINK_DROP_MEMBERSHIP,
				   &group, sizeof(group));
		}
		if (knobs && !below(256))
			inject_some();
		len = compose(msg, id, i);
		if (below(2))
			damage(msg, &len, id);
		sent += send(f[s].fd, msg, len, MSG_DONTWAIT) == (ssize_t)len;
		/* Sometimes do not read, so that the socket's buffer fills up. */
		if (below(8) && !drain(f[s].fd, buf, sizeof(buf), &answers))
			return 12;
	}
	for (s = 0; s < SOCKETS; s++) {
		if (!drain(f[s].fd, buf, sizeof(buf), &answers))
			return 13;
		close(f[s].fd);
	}
	printf("# %lu messages sent, %lu answers\n", sent, answers);
	fflush(stdout);
	return sent > messages / 2 ? 0 : 14;
}

FIXTURE(family) {
	struct family f;
	unsigned long messages;
	uint64_t seed;
};

FIXTURE_SETUP(family)
{
	bool debug = !access("/sys/kernel/debug/kmemleak", F_OK);

	ASSERT_EQ(0, family_open(&self->f));
	self->messages = from_cmdline("fuzz_messages=", debug ? 7000 : 20000);
	if (getrandom(&self->seed, sizeof(self->seed), GRND_NONBLOCK) < 0)
		self->seed = now_ns();
	self->seed = from_cmdline("fuzz_seed=", self->seed & 0xffffffff);
}

FIXTURE_TEARDOWN(family)
{
	family_close(&self->f);
}

FIXTURE_VARIANT(family) {
	uint32_t uid;
	bool namespaces;
};

FIXTURE_VARIANT_ADD(family, root) { .uid = 0 };
FIXTURE_VARIANT_ADD(family, nobody) { .uid = NOBODY };
FIXTURE_VARIANT_ADD(family, root_of_namespaces) { .uid = NOBODY, .namespaces = true };

static void inject_none(void)
{
	DIR *dir = opendir(FAULTS);
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (!strncmp(e->d_name, "fail_", 5))
			inject(e->d_name, 0);
	if (dir)
		closedir(dir);
}

TEST_F_TIMEOUT(family, survives, 800)
{
	uint64_t ticks, seed = self->seed;
	struct batch b;
	int status = 0;
	pid_t pid;

	TH_LOG("fuzz_seed=%llu fuzz_messages=%lu", (unsigned long long)seed, self->messages);
	/* Subscribe, so that the sampler streams during the test. */
	ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_SUBSCRIBE));
	pid = fork();
	if (!pid) {
		state = seed;
		if (variant->uid && setresuid(variant->uid, variant->uid, variant->uid))
			_exit(20);
		if (variant->namespaces && unshare(CLONE_NEWUSER | CLONE_NEWNET))
			_exit(21);
		_exit(send_messages(self->f.id, self->messages, !variant->uid));
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	inject_none();
	/* Reopen: the buffer of this socket is full, so it would receive no reply. */
	family_close(&self->f);
	ASSERT_EQ(0, family_open(&self->f));
	ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_SUBSCRIBE));
	/* Set the default rate; the module must still take samples. */
	EXPECT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 0));
	EXPECT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_BATCH, 32));
	EXPECT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_BATCH_AGE_MS, 100));
	sleep_ms(2500);
	ticks = stat_of(&self->f, JETWATT_A_STATS_TICKS);
	EXPECT_TRUE(next_batch(&self->f, 2000, &b));
	sleep_ms(500);
	EXPECT_LT(ticks, stat_of(&self->f, JETWATT_A_STATS_TICKS));
	/* The module can be unloaded only if every reference taken by a message was released. */
	family_close(&self->f);
	sleep_ms(200);
	EXPECT_EQ(0, unload("jetwatt"));
	EXPECT_EQ(0, load("jetwatt", ""));
}

TEST_HARNESS_MAIN
