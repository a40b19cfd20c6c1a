// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Finished waits as the module sees them, for kernels that cannot trace with
 * BPF. A handle that watches has not subscribed: both would come to one socket.
 */
#include "waits.h"

#include <errno.h>
#include <netlink/genl/genl.h>
#include <string.h>

#include "lib.h"

/* Where the records of one message go. */
struct target {
	jetwatt_wait_fn fn;
	void *arg;
	uint64_t *lost;
};

/**
 * jetwatt_waits_watch() - be told of waits
 * @tgids: of these processes, in the initial pid namespace
 * @n: how many; 0: of all
 * @children: and of what they fork from now on
 *
 * Return: 0; -EPERM: needs CAP_NET_ADMIN; -EOPNOTSUPP: not on this kernel, or
 * the module is older than this; -EUSERS.
 */
int jetwatt_waits_watch(struct jetwatt *jw, const uint32_t *tgids, uint32_t n, int children)
{
	struct nl_msg *msg = jetwatt_request_new(jw, JETWATT_CMD_WAITS_WATCH, 0);

	if (!msg || (n && nla_put(msg, JETWATT_A_WAITS_TGIDS, n * sizeof(*tgids), tgids)) ||
	    nla_put_u32(msg, JETWATT_A_WAITS_CHILDREN, !!children)) {
		nlmsg_free(msg);
		return jetwatt_error_set(jw, -ENOMEM, "watching waits: out of memory");
	}
	return jetwatt_request_run(jw, jw->stream, msg, "watching waits", NULL, NULL);
}

static int records(struct jetwatt *jw, const struct nlattr *attr, int len, void *arg)
{
	struct jetwatt_wait_record record;
	struct target *to = arg;
	const char *data;
	int n;

	(void)jw;
	n = jetwatt_parse_waits(attr, len, &data, to->lost);
	for (; n > 0; n--, data += sizeof(record)) {
		/* Attributes are aligned for 32 bits only. */
		memcpy(&record, data, sizeof(record));
		to->fn(&record, to->arg);
	}
	return n;
}

/**
 * jetwatt_waits_dispatch() - call @fn for each wait that has come
 * @lost: gets how many were not told of so far, if any message has come
 *
 * jetwatt_fd() becomes readable when there is something.
 *
 * Return: the number of messages or a negative errno.
 */
int jetwatt_waits_dispatch(struct jetwatt *jw, jetwatt_wait_fn fn, void *arg, uint64_t *lost)
{
	struct target to = { fn, arg, lost };

	return jetwatt_socket_dispatch(jw, jw->stream, JETWATT_CMD_WAITS_NTF, "receiving waits",
				       records, &to);
}
