// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Events: a multicast group of their own, so that a reader that is behind
 * with samples still hears of a lost chip.
 */
#include "lib.h"

#include <errno.h>
#include <linux/jetwatt.h>
#include <netlink/genl/genl.h>
#include <string.h>
#include <sys/socket.h>

#define DISPATCH_MAX	256

int jetwatt_events(struct jetwatt *jw, jetwatt_event_fn fn, void *arg)
{
	if (!jw->group)
		return jetwatt_error_set(jw, -EPROTO, "the module has no group of events");
	/* joining twice is no error: the callback is what changes */
	if (setsockopt(nl_socket_get_fd(jw->events), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP,
		       &jw->group, sizeof(jw->group)))
		return jetwatt_error_set(jw, -errno, "joining the group of events: %s",
					 strerror(errno));
	jw->event = fn;
	jw->event_arg = arg;
	return 0;
}

static int datagram(struct jetwatt *jw, int len)
{
	struct nlmsghdr *nlh = (struct nlmsghdr *)jw->buf;
	struct jetwatt_event e;
	int n = 0;

	for (; nlmsg_ok(nlh, len); nlh = nlmsg_next(nlh, &len)) {
		if (nlh->nlmsg_type != jw->family || nlh->nlmsg_len < NLMSG_HDRLEN + GENL_HDRLEN ||
		    ((struct genlmsghdr *)nlmsg_data(nlh))->cmd != JETWATT_CMD_EVENT_NTF)
			continue;
		if (jetwatt_parse_event(&e, genlmsg_attrdata(nlmsg_data(nlh), 0),
					genlmsg_attrlen(nlmsg_data(nlh), 0)))
			return jetwatt_error_set(jw, -EBADMSG, "receiving events: malformed event");
		if (jw->event)
			jw->event(&e, jw->event_arg);
		n++;
	}
	return n;
}

int jetwatt_event_dispatch(struct jetwatt *jw)
{
	int n = 0, i, ret;
	ssize_t len;

	for (i = 0; i < DISPATCH_MAX; i++) {
		len = jetwatt_socket_recv(jw, jw->events, MSG_DONTWAIT);
		if (len == -EAGAIN)
			break;
		if (len == -ENOBUFS)
			continue;
		if (len < 0)
			return jetwatt_error_kernel(jw, len, "", "receiving events");
		ret = datagram(jw, len);
		if (ret < 0)
			return ret;
		n += ret;
	}
	return n;
}
