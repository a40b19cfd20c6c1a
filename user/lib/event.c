// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Events of the module. Events have their own socket, so that a reader whose sample socket is full
 * still receives them.
 */
#include "lib/lib.h"

#include <errno.h>
#include <linux/jetwatt.h>
#include <netlink/genl/genl.h>
#include <string.h>
#include <sys/socket.h>

int jetwatt_events(struct jetwatt *jw, jetwatt_event_fn fn, void *arg)
{
	int err;

	if (!jw->group)
		return jetwatt_error_set(jw, -EPROTO,
					 "the module has no multicast group for events");
	err = jw->joined ? 0 : jetwatt_socket_watch(jw, jw->events);
	if (err)
		return jetwatt_error_set(jw, err, "polling the event socket: %s", strerror(-err));
	jw->joined = 1;
	/* Joining the group again is not an error; a second call replaces the callback. */
	if (setsockopt(nl_socket_get_fd(jw->events), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP,
		       &jw->group, sizeof(jw->group)))
		return jetwatt_error_set(jw, -errno, "joining the multicast group for events: %s",
					 strerror(errno));
	jw->event = fn;
	jw->event_arg = arg;
	return 0;
}

static int event_reply(struct jetwatt *jw, const struct nlattr *attr, int len, void *arg)
{
	struct jetwatt_event e;
	int err = jetwatt_parse_event(&e, attr, len);

	(void)arg;
	if (!err && jw->event)
		jw->event(&e, jw->event_arg);
	return err;
}

int jetwatt_event_dispatch(struct jetwatt *jw)
{
	return jetwatt_socket_dispatch(jw, jw->events, JETWATT_CMD_EVENT_NTF, "receiving events",
				       event_reply, NULL);
}
