/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the files of libjetwatt share. Nothing here is exported.
 */
#ifndef JETWATT_LIB_H
#define JETWATT_LIB_H

#include <linux/genetlink.h>
#include <netlink/netlink.h>
#include <stdint.h>
#include "jetwatt.h"
#include "lib/parse.h"

#define JETWATT_ERROR_LEN	256

/*
 * Ten times a batch of 256 samples of all series that the module has room for.
 * Only pages that messages have reached take memory.
 */
#define JETWATT_MESSAGE_MAX	(1 << 20)

/**
 * struct jetwatt - a connection to the module
 * @ctl: requests and dumps; blocks, with a time limit
 * @stream: subscribes, so that batches are sent to its port; non-blocking
 * @events: member of the group of events once somebody wants them (@joined)
 * @epfd: ready when @stream is, and @events once it is a member
 * @buf: one message, JETWATT_MESSAGE_MAX bytes
 * @next_seq: the sequence number that the next batch should begin with, 0
 *	before the first
 */
struct jetwatt {
	struct nl_sock *ctl, *stream, *events;
	int family, group, epfd;
	char *buf;

	int subscribed, joined;
	uint64_t next_seq;
	jetwatt_samples_fn samples;
	void *samples_arg;
	jetwatt_event_fn event;
	void *event_arg;
	struct jetwatt_parse parse;

	char error[JETWATT_ERROR_LEN];
};

/* error.c */
int jetwatt_error_set(struct jetwatt *jw, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int jetwatt_error_kernel(struct jetwatt *jw, int err, const char *text, const char *what);
void jetwatt_error_keep(const struct jetwatt *jw);

/* open.c */
int jetwatt_open_watch(struct jetwatt *jw, struct nl_sock *sk);

/* socket.c */
int jetwatt_socket_new(struct nl_sock **sk, int rcvbuf, int nonblock);
ssize_t jetwatt_socket_recv(struct jetwatt *jw, struct nl_sock *sk, int flags);
/* Gets the attributes of a message. */
typedef int (*jetwatt_reply_fn)(struct jetwatt *jw, const struct nlattr *attr, int len, void *arg);
int jetwatt_socket_dispatch(struct jetwatt *jw, struct nl_sock *sk, int cmd, const char *what,
			    jetwatt_reply_fn fn, void *arg);

/* request.c */
struct nl_msg *jetwatt_request_new(struct jetwatt *jw, int cmd, int flags);
int jetwatt_request_run(struct jetwatt *jw, struct nl_sock *sk, struct nl_msg *msg,
			const char *what, jetwatt_reply_fn fn, void *arg);

/* stream.c */
int jetwatt_stream_batch(struct jetwatt *jw, const struct nlattr *attr, int len,
			 uint64_t *next_seq, jetwatt_samples_fn fn, void *arg);
int jetwatt_stream_dispatch(struct jetwatt *jw);

/* event.c */
int jetwatt_event_dispatch(struct jetwatt *jw);

#endif
