/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Access of tests to the module's netlink family, by plain netlink messages and without the client
 * library, so that the tests check the messages of the module themselves.
 */
#ifndef TESTS_KMOD_FAMILY_H
#define TESTS_KMOD_FAMILY_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/genetlink.h>
#include <linux/jetwatt.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel.h"

#define SERIES_MAX	96

struct family {
	int fd;
	uint32_t port, seq;
	uint16_t id;
	uint32_t events;	/* id of the multicast group */
	char text[128];		/* error message of the last request; "": none */
	uint8_t buf[1 << 18];
};

struct series {
	uint32_t kind, index;
	const int32_t *value;
};

struct batch {
	uint64_t seq, lost;
	uint32_t count, nr_series;
	const uint64_t *time_ns;
	struct series series[SERIES_MAX];
};

static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static inline void sleep_ms(unsigned int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

/* Open a generic netlink socket without resolving the family. Return: 0 or -errno. */
static inline int family_socket(struct family *f)
{
	struct sockaddr_nl sa = { .nl_family = AF_NETLINK };
	socklen_t len = sizeof(sa);
	int one = 1;

	f->id = 0;
	f->seq = 0;
	f->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (f->fd < 0 || bind(f->fd, (struct sockaddr *)&sa, sizeof(sa)) ||
	    getsockname(f->fd, (struct sockaddr *)&sa, &len) ||
	    setsockopt(f->fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one)) ||
	    setsockopt(f->fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one)))
		return -errno;
	f->port = sa.nl_pid;
	return 0;
}

static inline struct nl_msg *request_to(uint16_t id, uint8_t cmd, uint8_t version)
{
	struct nl_msg *msg = nlmsg_alloc();
	struct genlmsghdr genl = { .cmd = cmd, .version = version };

	if (!msg || !nlmsg_put(msg, 0, 0, id, 0, NLM_F_REQUEST) ||
	    nlmsg_append(msg, &genl, sizeof(genl), NLMSG_ALIGNTO))
		abort();
	return msg;
}

static inline struct nl_msg *request(const struct family *f, uint8_t cmd)
{
	return request_to(f->id, cmd, JETWATT_GENL_VERSION);
}

static inline int send_request(struct family *f, struct nl_msg *msg, int flags)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	ssize_t n;

	nlh->nlmsg_seq = ++f->seq;
	nlh->nlmsg_flags |= flags;
	n = send(f->fd, nlh, nlh->nlmsg_len, 0);
	nlmsg_free(msg);
	return n < 0 ? -errno : 0;
}

/*
 * Return: the error code in message @nlh, an acknowledgement or the end of a dump, both of which
 * begin with the code.
 */
static inline int verdict(struct family *f, struct nlmsghdr *nlh, size_t size)
{
	int error = *(int *)nlmsg_data(nlh), left = nlmsg_datalen(nlh) - size;
	struct nlattr *attr;

	f->text[0] = '\0';
	if (error && (nlh->nlmsg_flags & NLM_F_ACK_TLVS) && left > 0) {
		attr = nla_find((struct nlattr *)(nlmsg_data(nlh) + size), left,
				NLMSGERR_ATTR_MSG);
		if (attr)
			nla_strlcpy(f->text, attr, sizeof(f->text));
	}
	return error;
}

typedef void (*message_fn)(struct nlmsghdr *nlh, void *arg);

/*
 * Receive messages until the acknowledgement of the request or the end of its dump arrives. Replies
 * are passed to @fn; batches and events in between are dropped. Return: 0 or the error of the
 * request; -ETIMEDOUT if it is not finished after 10 s.
 */
static inline int receive(struct family *f, message_fn fn, void *arg)
{
	struct pollfd p = { .fd = f->fd, .events = POLLIN };
	uint64_t end = now_ns() + 10000000000ULL;
	struct nlmsghdr *nlh;
	int n;

	/* If the socket was full, the reply may be lost while batches still arrive, so limit the
	 * total time too. */
	for (;;) {
		if (now_ns() > end || poll(&p, 1, 10000) <= 0)
			return -ETIMEDOUT;
		n = recv(f->fd, f->buf, sizeof(f->buf), 0);
		if (n < 0 && errno == ENOBUFS)
			continue;
		if (n < 0)
			return -errno;
		for (nlh = (void *)f->buf; nlmsg_ok(nlh, n); nlh = nlmsg_next(nlh, &n)) {
			if (nlh->nlmsg_seq != f->seq)
				continue;
			if (nlh->nlmsg_type == NLMSG_ERROR)
				return verdict(f, nlh, sizeof(struct nlmsgerr));
			if (nlh->nlmsg_type == NLMSG_DONE)
				return verdict(f, nlh, sizeof(int));
			if (fn)
				fn(nlh, arg);
		}
	}
}

static inline int call(struct family *f, struct nl_msg *msg, message_fn fn, void *arg)
{
	int err = send_request(f, msg, NLM_F_ACK);

	return err ?: receive(f, fn, arg);
}

static inline int dump(struct family *f, struct nl_msg *msg, message_fn fn, void *arg)
{
	int err = send_request(f, msg, NLM_F_DUMP);

	return err ?: receive(f, fn, arg);
}

static inline struct nlattr *attr_of(struct nlmsghdr *nlh, int type)
{
	return nlmsg_find_attr(nlh, GENL_HDRLEN, type);
}

static inline uint32_t u32_of(struct nlmsghdr *nlh, int type)
{
	struct nlattr *attr = attr_of(nlh, type);

	return attr ? nla_get_u32(attr) : UINT32_MAX;
}

static inline uint64_t u64_of(struct nlmsghdr *nlh, int type)
{
	struct nlattr *attr = attr_of(nlh, type);

	return attr ? nla_get_u64(attr) : UINT64_MAX;
}

static inline const char *text_of(struct nlmsghdr *nlh, int type)
{
	struct nlattr *attr = attr_of(nlh, type);

	return attr ? nla_get_string(attr) : "(none)";
}

static inline void note_family(struct nlmsghdr *nlh, void *arg)
{
	struct nlattr *groups = attr_of(nlh, CTRL_ATTR_MCAST_GROUPS), *group, *id;
	struct family *f = arg;
	int left;

	f->id = nla_get_u16(attr_of(nlh, CTRL_ATTR_FAMILY_ID));
	if (groups)
		nla_for_each_nested(group, groups, left) {
			id = nla_find(nla_data(group), nla_len(group), CTRL_ATTR_MCAST_GRP_ID);
			f->events = nla_get_u32(id);
		}
}

/* Open a socket and resolve the family. Return: 0; -ENOENT without the module; or -errno. */
static inline int family_open(struct family *f)
{
	struct nl_msg *msg;
	int err = family_socket(f);

	if (err)
		return err;
	msg = request_to(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1);
	nla_put_string(msg, CTRL_ATTR_FAMILY_NAME, JETWATT_GENL_NAME);
	return call(f, msg, note_family, f);
}

static inline void family_close(struct family *f)
{
	close(f->fd);
	f->fd = -1;
}

static inline int family_join(struct family *f)
{
	return setsockopt(f->fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &f->events,
			  sizeof(f->events)) ? -errno : 0;
}

static inline int simple(struct family *f, uint8_t cmd)
{
	return call(f, request(f, cmd), NULL, NULL);
}

static inline int set_u32(struct family *f, int type, uint32_t value)
{
	struct nl_msg *msg = request(f, JETWATT_CMD_CONFIG_SET);

	nla_put_u32(msg, type, value);
	return call(f, msg, NULL, NULL);
}

/*
 * The attribute @type to read from the reply to a "do" request without attributes, and its value.
 */
struct wanted {
	int type;
	uint64_t value;
};

static inline void note_number(struct nlmsghdr *nlh, void *arg)
{
	struct wanted *w = arg;
	struct nlattr *attr = attr_of(nlh, w->type);

	if (attr)
		w->value = nla_len(attr) == 8 ? nla_get_u64(attr) : nla_get_u32(attr);
}

static inline uint64_t number(struct family *f, uint8_t cmd, int type)
{
	struct wanted w = { type, UINT64_MAX };

	return call(f, request(f, cmd), note_number, &w) ? UINT64_MAX : w.value;
}

static inline uint64_t stat_of(struct family *f, int type)
{
	return number(f, JETWATT_CMD_STATS_GET, type);
}

/*
 * Wait until the sampler's tick counter has reached @ticks, for at most 10 s, because a busy host
 * delays the sampler. Return: whether the counter has reached @ticks.
 */
static inline bool ticks_reach(struct family *f, uint64_t ticks)
{
	uint64_t end = now_ns() + 10000000000ULL;

	while (stat_of(f, JETWATT_A_STATS_TICKS) < ticks) {
		if (now_ns() > end)
			return false;
		sleep_ms(10);
	}
	return true;
}

static inline uint32_t config_of(struct family *f, int type)
{
	return number(f, JETWATT_CMD_CONFIG_GET, type);
}

/*
 * One item of a dump: the item whose attribute @key has the value @id, and the value of its
 * attribute @type.
 */
struct item {
	int key, type;
	uint32_t id;
	uint64_t value;
};

static inline void note_item(struct nlmsghdr *nlh, void *arg)
{
	struct item *item = arg;
	struct wanted w = { item->type, UINT64_MAX };

	if (u32_of(nlh, item->key) != item->id)
		return;
	note_number(nlh, &w);
	item->value = w.value;
}

static inline uint64_t item_of(struct family *f, uint8_t cmd, int key, uint32_t id, int type)
{
	struct item item = { key, type, id, UINT64_MAX };

	return dump(f, request(f, cmd), note_item, &item) ? UINT64_MAX : item.value;
}

static inline uint64_t rail_of(struct family *f, uint32_t id, int type)
{
	return item_of(f, JETWATT_CMD_RAIL_GET, JETWATT_A_RAIL_ID, id, type);
}

static inline uint64_t chip_of(struct family *f, uint32_t id, int type)
{
	return item_of(f, JETWATT_CMD_CHIP_GET, JETWATT_A_CHIP_ID, id, type);
}

static inline uint64_t subscriber_of(struct family *f, uint32_t port, int type)
{
	return item_of(f, JETWATT_CMD_SUBSCRIBER_GET, JETWATT_A_SUBSCRIBER_PORT, port, type);
}

/*
 * Parse a message with samples. Return: false if the message is not of command @cmd, has no samples
 * or is malformed.
 */
static inline bool batch_of(struct nlmsghdr *nlh, uint8_t cmd, struct batch *b)
{
	struct genlmsghdr *genl = nlmsg_data(nlh);
	struct nlattr *attr, *values;
	struct series *s;
	int left;

	memset(b, 0, sizeof(*b));
	if (genl->cmd != cmd)
		return false;
	b->seq = u64_of(nlh, JETWATT_A_SAMPLES_SEQ);
	b->lost = u64_of(nlh, JETWATT_A_SAMPLES_LOST);
	b->count = u32_of(nlh, JETWATT_A_SAMPLES_COUNT);
	nlmsg_for_each_attr(attr, nlh, GENL_HDRLEN, left) {
		if (nla_type(attr) == JETWATT_A_SAMPLES_TIME_NS) {
			if (nla_len(attr) != (int)(b->count * sizeof(uint64_t)))
				return false;
			b->time_ns = nla_data(attr);
		}
		if (nla_type(attr) != JETWATT_A_SAMPLES_SERIES)
			continue;
		if (b->nr_series == SERIES_MAX)
			return false;
		s = &b->series[b->nr_series++];
		values = nla_find(nla_data(attr), nla_len(attr), JETWATT_A_SERIES_VALUES);
		if (!values || nla_len(values) != (int)(b->count * sizeof(int32_t)))
			return false;
		s->value = nla_data(values);
		s->kind = nla_get_u32(nla_find(nla_data(attr), nla_len(attr),
					       JETWATT_A_SERIES_KIND));
		s->index = nla_get_u32(nla_find(nla_data(attr), nla_len(attr),
						JETWATT_A_SERIES_INDEX));
	}
	return b->count && b->time_ns;
}

static inline const int32_t *series_of(const struct batch *b, uint32_t kind, uint32_t index)
{
	uint32_t i;

	for (i = 0; i < b->nr_series; i++)
		if (b->series[i].kind == kind && b->series[i].index == index)
			return b->series[i].value;
	return NULL;
}

/*
 * Receive the next message. If all replies have been received before, it is a batch or an event.
 * Return: the command of the message, 0 if none arrives within @ms milliseconds, or -errno.
 */
static inline int next_message(struct family *f, int ms, struct nlmsghdr **nlh)
{
	struct pollfd p = { .fd = f->fd, .events = POLLIN };
	int n = poll(&p, 1, ms);

	if (n <= 0)
		return n;
	n = recv(f->fd, f->buf, sizeof(f->buf), 0);
	if (n < 0)
		return -errno;
	*nlh = (void *)f->buf;
	return ((struct genlmsghdr *)nlmsg_data(*nlh))->cmd;
}

/*
 * Receive the next batch of samples, and drop the messages before it. Wait at most @ms milliseconds
 * for each message, and for no further message after @ms milliseconds. Return: false if no batch
 * arrives or the batch is malformed.
 */
static inline bool next_batch(struct family *f, int ms, struct batch *b)
{
	uint64_t end = now_ns() + ms * 1000000ULL;
	struct nlmsghdr *nlh = NULL;
	int cmd;

	do {
		cmd = next_message(f, ms, &nlh);
		if (cmd == JETWATT_CMD_SAMPLES_NTF)
			return batch_of(nlh, cmd, b);
	} while (cmd && now_ns() < end);
	return false;
}

/*
 * Receive the next event of kind @kind, and drop the messages before it. Wait at most @ms
 * milliseconds for each message, and for no further message after @ms milliseconds. Return: its
 * message or NULL.
 */
static inline struct nlmsghdr *next_event(struct family *f, int ms, uint32_t kind)
{
	uint64_t end = now_ns() + ms * 1000000ULL;
	struct nlmsghdr *nlh = NULL;
	int cmd;

	do {
		cmd = next_message(f, ms, &nlh);
		if (cmd == JETWATT_CMD_EVENT_NTF && u32_of(nlh, JETWATT_A_EVENT_KIND) == kind)
			return nlh;
	} while (cmd && now_ns() < end);
	return NULL;
}

/* ------------------------------------------------------------------ */
/* Files                                                               */

static inline int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

static inline int write_number(const char *path, long value)
{
	char text[24];

	snprintf(text, sizeof(text), "%ld", value);
	return write_file(path, text);
}

static inline int read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, size - 1);
	close(fd);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return 0;
}

static inline long read_number(const char *path)
{
	char text[64];

	return read_file(path, text, sizeof(text)) ? -1 : strtol(text, NULL, 0);
}

/* Get the path of jetwatt's hwmon directory. */
static inline bool own_hwmon(char *dir, size_t size)
{
	char path[64], name[32];
	int i;

	for (i = 0; i < 64; i++) {
		snprintf(path, sizeof(path), "/sys/class/hwmon/hwmon%d/name", i);
		if (read_file(path, name, sizeof(name)) || strcmp(name, "jetwatt"))
			continue;
		snprintf(dir, size, "/sys/class/hwmon/hwmon%d", i);
		return true;
	}
	return false;
}

/* Return the value of an attribute in a directory; -1: it cannot be read. */
static inline long shown(const char *dir, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return read_number(path);
}

/* Get the path of the hwmon directory of the chip with address @addr on i2c bus 1. */
static inline bool hwmon(unsigned int addr, char *path, size_t size)
{
	char parent[48];
	struct dirent *e;
	bool found = false;
	DIR *dir;

	snprintf(parent, sizeof(parent), "/sys/bus/i2c/devices/1-%04x/hwmon", addr);
	dir = opendir(parent);
	while (dir && (e = readdir(dir)))
		if (!strncmp(e->d_name, "hwmon", 5)) {
			snprintf(path, size, "%s/%.16s", parent, e->d_name);
			found = true;
		}
	if (dir)
		closedir(dir);
	return found;
}

#define FAULTS	"/sys/kernel/debug/jetwatt/"

/*
 * inject() - make the next @n attempts of an operation fail; @name is the name of the fault in
 * kmod/fault_inject.c, with the prefix "fail_". On kernels with fault injection, each fault is a
 * directory in debugfs; on other kernels, a file with the count @n.
 */
static inline int inject(const char *name, int n)
{
	char path[128];
	int err;

	snprintf(path, sizeof(path), FAULTS "%s/times", name);
	if (access(path, F_OK)) {
		snprintf(path, sizeof(path), FAULTS "%s", name);
		return write_number(path, n);
	}
	err = write_number(path, n);
	snprintf(path, sizeof(path), FAULTS "%s/verbose", name);
	err = err ?: write_number(path, 0);
	snprintf(path, sizeof(path), FAULTS "%s/probability", name);
	return err ?: write_number(path, n ? 100 : 0);
}

/* injected_left() - return how many of the injected faults have yet to occur */
static inline long injected_left(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), FAULTS "%s/times", name);
	if (access(path, F_OK))
		snprintf(path, sizeof(path), FAULTS "%s", name);
	return read_number(path);
}

#define SIM_KNOB(name)	"/sys/kernel/debug/jetwatt-sim/fail_" name

#endif
