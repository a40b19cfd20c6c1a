/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the files of libjetwatt share: the connection, requests, sockets, dispatch. Nothing here is
 * exported.
 */
#ifndef JETWATT_LIB_H
#define JETWATT_LIB_H

#include <linux/genetlink.h>
#include <netlink/netlink.h>
#include <stdint.h>
#include "jetwatt.h"
#include "lib/parse.h"

/* Size of an error text, with its terminating 0. */
#define JETWATT_ERROR_LEN	256

/*
 * Size of the receive buffer of a datagram, in bytes: twice the size of a batch of 256 samples
 * of all series that the module supports. The kernel allocates only the pages that a message has
 * filled, as long as all buffers together are smaller than a huge page.
 */
#define JETWATT_MESSAGE_MAX	(1 << 18)
/* Maximum number of datagrams that one system call receives. */
#define JETWATT_MESSAGES	4

/**
 * struct jetwatt - a connection to the module
 * @ctl: socket for dumps and for requests that start no stream; all have a timeout (request.c)
 * @stream: socket that subscribes and receives batches, or records of waits; non-blocking
 * @events: socket for the multicast group of events; non-blocking
 * @family: id of the netlink family
 * @group: id of the multicast group of events; 0: the module has no such group
 * @epfd: epoll descriptor that watches @stream, and also @events once @joined is 1
 * @buf: receive buffer for JETWATT_MESSAGES datagrams of JETWATT_MESSAGE_MAX bytes each
 * @subscribed: 1: @stream has subscribed, or is subscribing
 * @joined: 1: jetwatt_events() has been called, so that @epfd watches @events
 * @next_seq: expected sequence number of the next batch; 0: no batch since the subscription
 * @samples: callback for batches, with @samples_arg
 * @event: callback for events, with @event_arg
 * @parse: scratch memory for parsing a batch
 * @error: text of the last error
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

/* error.c: set the text of the last error, with printf()'s arguments. Return: @err. */
int jetwatt_error_set(struct jetwatt *jw, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Set the error text for an error that the kernel reported; @text: its extended ack. Return:
 * @err. */
int jetwatt_error_kernel(struct jetwatt *jw, int err, const char *text, const char *what);
/* Copy the error text to where jetwatt_error(NULL) finds it. */
void jetwatt_error_keep(const char *text);

/*
 * socket.c: make a netlink socket. @rcvbuf: size of the receive buffer in bytes, 0: the system's
 * default. Return: 0; or a negative errno.
 */
int jetwatt_socket_new(struct nl_sock **sk, int rcvbuf, int nonblock);
/* Add the socket @sk to the connection's epoll descriptor. Return: 0; or a negative errno. */
int jetwatt_socket_watch(struct jetwatt *jw, struct nl_sock *sk);
/* Receive one datagram. Return: its length in bytes; 0: not from the kernel; a negative errno. */
ssize_t jetwatt_socket_recv(struct jetwatt *jw, struct nl_sock *sk, int flags);
/* Type of a function that handles the attributes of one message. Return: 0 or positive; or a
 * negative errno. */
typedef int (*jetwatt_reply_fn)(struct jetwatt *jw, const struct nlattr *attr, int len, void *arg);
/* Call @fn for each message with the command @cmd among the first 512 queued datagrams. Return:
 * number of these messages, or a negative errno. */
int jetwatt_socket_dispatch(struct jetwatt *jw, struct nl_sock *sk, int cmd, const char *what,
			    jetwatt_reply_fn fn, void *arg);

/* request.c: allocate a request with the command @cmd and the netlink flags @flags. Return: the
 * request; NULL: out of memory. */
struct nl_msg *jetwatt_request_new(struct jetwatt *jw, int cmd, int flags);
/* Send a request, handle its replies with @fn, and free the request. Return: 0; or a negative
 * errno. */
int jetwatt_request_run(struct jetwatt *jw, struct nl_sock *sk, struct nl_msg *msg,
			const char *what, jetwatt_reply_fn fn, void *arg);

/* batch.c: parse a batch and call @fn with it. Return: number of samples; -EBADMSG. */
int jetwatt_batch_deliver(struct jetwatt *jw, const struct nlattr *attr, int len,
			  uint64_t *next_seq, jetwatt_samples_fn fn, void *arg);

/* stream.c: call the sample callback for each queued batch. Return: as jetwatt_socket_dispatch(). */
int jetwatt_stream_dispatch(struct jetwatt *jw);

/* event.c: call the event callback for each queued event. Return: as jetwatt_socket_dispatch(). */
int jetwatt_event_dispatch(struct jetwatt *jw);

#endif
