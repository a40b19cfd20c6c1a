// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Netlink sockets with extended acks: creation, polling, reception of one datagram, and dispatch of
 * the queued messages.
 */
#include "lib/lib.h"

#include <errno.h>
#include <fcntl.h>
#include <netlink/genl/genl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

/* Maximum number of datagrams handled in one dispatch, so that a caller with other work is not
 * blocked for long. */
#define DISPATCH_MAX	512

int jetwatt_socket_new(struct nl_sock **out, int rcvbuf, int nonblock)
{
	struct nl_sock *sk = nl_socket_alloc();
	int one = 1, fd;

	if (!sk)
		return -ENOMEM;
	/* The library's requests set NLM_F_ACK themselves; libnl must neither add this flag nor
	 * wait for acks. */
	nl_socket_disable_auto_ack(sk);
	if (genl_connect(sk) < 0) {
		int err = errno ? -errno : -EPROTONOSUPPORT;

		nl_socket_free(sk);
		return err;
	}
	fd = nl_socket_get_fd(sk);
	/* Ignore failures: older kernels do not support these two socket options, and then their
	 * errors have no text. */
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	/* SO_RCVBUFFORCE may exceed the limit rmem_max; it needs CAP_NET_ADMIN, which
	 * subscribing to samples needs as well. */
	if (rcvbuf && setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &rcvbuf, sizeof(rcvbuf)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &rcvbuf, sizeof(rcvbuf));
	if (nonblock)
		fcntl(fd, F_SETFL, O_NONBLOCK | fcntl(fd, F_GETFL));
	*out = sk;
	return 0;
}

/* Make the descriptor jetwatt_fd() readable whenever the socket @sk is readable. */
int jetwatt_socket_watch(struct jetwatt *jw, struct nl_sock *sk)
{
	struct epoll_event ev = { .events = EPOLLIN };

	return epoll_ctl(jw->epfd, EPOLL_CTL_ADD, nl_socket_get_fd(sk), &ev) ? -errno : 0;
}

/**
 * jetwatt_socket_recv() - receive one datagram into @jw->buf
 * @jw: the connection
 * @sk: the socket
 * @flags: flags of recvfrom(), MSG_DONTWAIT for instance
 *
 * Return: length in bytes; 0: the datagram did not come from the kernel; -EAGAIN: no datagram is
 * queued; -ENOBUFS: the socket overran; -EMSGSIZE: the datagram is longer than the buffer; or
 * another negative errno.
 */
ssize_t jetwatt_socket_recv(struct jetwatt *jw, struct nl_sock *sk, int flags)
{
	struct sockaddr_nl from = { 0 };
	socklen_t from_len = sizeof(from);
	ssize_t n;

	do {
		n = recvfrom(nl_socket_get_fd(sk), jw->buf, JETWATT_MESSAGE_MAX, MSG_TRUNC | flags,
			     (struct sockaddr *)&from, &from_len);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (n > JETWATT_MESSAGE_MAX)
		return -EMSGSIZE;
	/* Any process can send to this port; only messages with port 0 come from the kernel. */
	return from.nl_pid ? 0 : n;
}

static char *message_at(struct jetwatt *jw, int i)
{
	return jw->buf + (size_t)i * JETWATT_MESSAGE_MAX;
}

/*
 * Receive the queued datagrams, at most JETWATT_MESSAGES, each into a buffer of JETWATT_MESSAGE_MAX
 * bytes of @jw->buf. @len: set to their lengths, 0: the datagram did not come from the kernel;
 * -EMSGSIZE: it is longer than the buffer. Return: their number; or a negative errno as
 * jetwatt_socket_recv().
 */
static int receive_queued(struct jetwatt *jw, struct nl_sock *sk, int *len)
{
	struct mmsghdr msg[JETWATT_MESSAGES] = { 0 };
	struct sockaddr_nl from[JETWATT_MESSAGES] = { 0 };
	struct iovec part[JETWATT_MESSAGES];
	int n;

	for (int i = 0; i < JETWATT_MESSAGES; i++) {
		part[i] = (struct iovec){ message_at(jw, i), JETWATT_MESSAGE_MAX };
		msg[i].msg_hdr = (struct msghdr){
			.msg_name = &from[i], .msg_namelen = sizeof(from[i]),
			.msg_iov = &part[i], .msg_iovlen = 1,
		};
	}
	do {
		n = recvmmsg(nl_socket_get_fd(sk), msg, JETWATT_MESSAGES, MSG_TRUNC | MSG_DONTWAIT,
			     NULL);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++)
		len[i] = msg[i].msg_len > JETWATT_MESSAGE_MAX ? -EMSGSIZE :
			 from[i].nl_pid ? 0 : (int)msg[i].msg_len;
	return n;
}

/* Call @fn for each message of the family in a datagram. Return: number of messages; or a negative
 * errno. */
static int dispatch_datagram(struct jetwatt *jw, char *data, int len, int cmd, const char *what,
			     jetwatt_reply_fn fn, void *arg)
{
	const struct genlmsghdr *genl;
	struct nlmsghdr *nlh;
	int n = 0, err;

	if (len < 0)
		return jetwatt_error_kernel(jw, len, "", what);
	for (nlh = (struct nlmsghdr *)data; nlmsg_ok(nlh, len); nlh = nlmsg_next(nlh, &len)) {
		genl = nlmsg_data(nlh);
		if (nlh->nlmsg_type != jw->family ||
		    nlh->nlmsg_len < NLMSG_HDRLEN + GENL_HDRLEN || genl->cmd != cmd)
			continue;
		err = fn(jw, genlmsg_attrdata(genl, 0), genlmsg_attrlen(genl, 0), arg);
		if (err < 0)
			return jetwatt_error_set(jw, err,
						 "%s: malformed message from the module", what);
		n++;
	}
	return n;
}

/**
 * jetwatt_socket_dispatch() - call @fn for each queued message of the family
 * @jw: the connection
 * @sk: the socket
 * @cmd: command of the messages to handle; others are ignored
 * @what: name of the operation, for error messages
 * @fn: handles one message; after an error that it returns, the datagrams that the same system call received
 *	are still handled, then the dispatch ends
 * @arg: passed to @fn
 *
 * Context: does not block; handles at most DISPATCH_MAX datagrams.
 * Return: number of messages handled; or a negative errno, with the text in @jw->error.
 */
int jetwatt_socket_dispatch(struct jetwatt *jw, struct nl_sock *sk, int cmd, const char *what,
			    jetwatt_reply_fn fn, void *arg)
{
	int n = 0, err = 0, len[JETWATT_MESSAGES], got, done;

	for (int i = 0; i < DISPATCH_MAX; i += JETWATT_MESSAGES) {
		got = receive_queued(jw, sk, len);
		if (got == -EAGAIN)
			break;
		if (got == -ENOBUFS)
			continue;
		if (got < 0)
			return jetwatt_error_kernel(jw, got, "", what);
		for (int k = 0; k < got; k++) {
			done = dispatch_datagram(jw, message_at(jw, k), len[k], cmd, what, fn, arg);
			if (done < 0)
				err = done;
			else
				n += done;
		}
		if (err)
			return err;
		/* No more were queued, or an error follows, which the next dispatch handles. */
		if (got < JETWATT_MESSAGES)
			break;
	}
	return n;
}
