// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Finds the module's netlink family and connects to it.
 */
#include "lib/lib.h"

#include <errno.h>
#include <linux/jetwatt.h>
#include <netlink/genl/genl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/*
 * Sizes of the sockets' receive buffers, in bytes. The buffer of the stream socket holds the
 * batches of half a minute at 1 kHz; the kernel charges twice the size of the data.
 */
#define STREAM_RCVBUF	(8 << 20)
#define EVENTS_RCVBUF	(64 << 10)

static int family_reply(struct jetwatt *jw, const struct nlattr *attr, int len, void *arg)
{
	(void)jw;
	return jetwatt_parse_family(arg, attr, len);
}

static int resolve_family(struct jetwatt *jw)
{
	struct jetwatt_family f = { 0 };
	struct nl_msg *msg;
	int err;

	jw->family = GENL_ID_CTRL;
	msg = jetwatt_request_new(jw, CTRL_CMD_GETFAMILY, 0);
	if (!msg)
		return jetwatt_error_set(jw, -ENOMEM, "out of memory");
	if (nla_put_string(msg, CTRL_ATTR_FAMILY_NAME, JETWATT_GENL_NAME)) {
		nlmsg_free(msg);
		return jetwatt_error_set(jw, -ENOMEM, "out of memory");
	}
	err = jetwatt_request_run(jw, jw->ctl, msg, "finding the module", family_reply, &f);
	if (err == -ENOENT)
		return jetwatt_error_set(jw, err,
					 "kernel module jetwatt is not loaded, or this is not the initial network namespace: modprobe jetwatt");
	if (err < 0)
		return err;
	if (f.version != JETWATT_GENL_VERSION)
		return jetwatt_error_set(jw, -EPROTO,
					 "kernel module jetwatt has protocol version %u, this library has version %u: install the same version of both",
					 f.version, JETWATT_GENL_VERSION);
	jw->family = f.id;
	jw->group = f.events;
	return 0;
}

int jetwatt_open(struct jetwatt **out)
{
	struct jetwatt *jw = calloc(1, sizeof(*jw));
	int err;

	*out = NULL;
	if (!jw) {
		jetwatt_error_keep("out of memory");
		return -ENOMEM;
	}
	jw->buf = malloc((size_t)JETWATT_MESSAGES * JETWATT_MESSAGE_MAX);
	jw->epfd = epoll_create1(EPOLL_CLOEXEC);
	err = !jw->buf ? -ENOMEM : jw->epfd < 0 ? -errno : 0;
	if (!err)
		err = jetwatt_socket_new(&jw->ctl, 0, 0);
	if (!err)
		err = jetwatt_socket_new(&jw->stream, STREAM_RCVBUF, 1);
	if (!err)
		err = jetwatt_socket_new(&jw->events, EVENTS_RCVBUF, 1);
	if (!err)
		err = jetwatt_socket_watch(jw, jw->stream);
	if (err)
		jetwatt_error_set(jw, err, "opening netlink sockets: %s", strerror(-err));
	else
		err = resolve_family(jw);
	if (err) {
		jetwatt_error_keep(jw->error);
		jetwatt_close(jw);
		return err;
	}
	*out = jw;
	return 0;
}

/* The kernel ends the subscription when the socket is closed. */
void jetwatt_close(struct jetwatt *jw)
{
	if (!jw)
		return;
	nl_socket_free(jw->stream);
	nl_socket_free(jw->events);
	nl_socket_free(jw->ctl);
	if (jw->epfd >= 0)
		close(jw->epfd);
	free(jw->buf);
	free(jw);
}

int jetwatt_fd(const struct jetwatt *jw)
{
	return jw->epfd;
}

int jetwatt_dispatch(struct jetwatt *jw)
{
	int samples = jetwatt_stream_dispatch(jw), events;

	if (samples < 0 || !jw->joined)
		return samples;
	events = jetwatt_event_dispatch(jw);
	return events < 0 ? events : samples + events;
}
