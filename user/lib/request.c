// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Sends one request and receives its replies, up to the ack or the end of a dump.
 *
 * The receive loop of libnl discards the text of extended acks, so libjetwatt has its own receive
 * loop.
 */
#include "lib/lib.h"

#include <errno.h>
#include <linux/jetwatt.h>
#include <netlink/genl/genl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

/* Timeout of a request, ms, from each of its replies to the next: longer than a sampler tick with a
 * failing chip, for which a reply may have to wait. */
#define TIMEOUT_MS	10000

struct nl_msg *jetwatt_request_new(struct jetwatt *jw, int cmd, int flags)
{
	int version = jw->family == GENL_ID_CTRL ? 2 : JETWATT_GENL_VERSION;
	struct nl_msg *msg = nlmsg_alloc();

	if (!msg)
		return NULL;
	if (!(flags & NLM_F_DUMP))
		flags |= NLM_F_ACK;
	if (!genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, jw->family, 0, NLM_F_REQUEST | flags, cmd,
			 version)) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

/* Find the attributes of a netlink message. Return: length of the attributes in bytes; negative
 * if the message is too short. */
static int genl_payload(const struct nlmsghdr *nlh, const struct nlattr **attr)
{
	int len = (int)nlh->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN;

	*attr = (const struct nlattr *)((const char *)nlh + NLMSG_HDRLEN + GENL_HDRLEN);
	return len;
}

/* Return whether a message is a batch of the subscription; the batches of a dump have another command. */
static int is_stream_batch(const struct jetwatt *jw, const struct nlmsghdr *nlh)
{
	const struct genlmsghdr *genl = nlmsg_data(nlh);

	return nlh->nlmsg_type == jw->family && nlh->nlmsg_len >= NLMSG_HDRLEN + GENL_HDRLEN &&
	       genl->cmd == JETWATT_CMD_SAMPLES_NTF;
}

/*
 * Handle one message; set @done if it was the last one of the request @seq.
 *
 * If the request was sent on the stream's socket, batches may arrive before the ack: the module may
 * send a batch as soon as it has added the subscriber. Replies of an earlier request, which has timed
 * out, are ignored.
 */
static int handle_message(struct jetwatt *jw, const struct nlmsghdr *nlh, uint32_t seq,
			  const char *what, jetwatt_reply_fn fn, void *arg, int *done)
{
	char text[JETWATT_ERROR_LEN];
	const struct nlattr *attr;
	int err, len;

	if (nlh->nlmsg_seq != seq && jw->subscribed && is_stream_batch(jw, nlh)) {
		len = genl_payload(nlh, &attr);
		jetwatt_batch_deliver(jw, attr, len, &jw->next_seq, jw->samples, jw->samples_arg);
		return 0;
	}
	if (nlh->nlmsg_seq != seq || nlh->nlmsg_type == NLMSG_NOOP)
		return 0;
	if (nlh->nlmsg_type == NLMSG_ERROR || nlh->nlmsg_type == NLMSG_DONE) {
		*done = 1;
		err = jetwatt_parse_ack(nlh, text, sizeof(text));
		return err < 0 ? jetwatt_error_kernel(jw, err, text, what) : 0;
	}
	if (nlh->nlmsg_type != jw->family || !fn)
		return 0;
	len = genl_payload(nlh, &attr);
	err = len < 0 ? -EBADMSG : fn(jw, attr, len, arg);
	if (err == -EBADMSG)
		return jetwatt_error_set(jw, err,
					 "%s: malformed reply from the module: install the same version of module and library",
					 what);
	return err;
}

/**
 * jetwatt_request_run() - send a request and wait until it is complete
 * @jw: the connection
 * @sk: the socket
 * @msg: the request; it is freed
 * @what: name of the operation, for error messages
 * @fn: called for each reply; NULL: discard replies. After @fn has returned an error, the remaining
 *	replies are discarded
 * @arg: passed to @fn
 *
 * Context: blocks until the last reply, at most TIMEOUT_MS for the next one; the time in @fn does not
 * count.
 * Return: 0; or a negative errno, with the text in @jw->error.
 */
int jetwatt_request_run(struct jetwatt *jw, struct nl_sock *sk, struct nl_msg *msg,
			const char *what, jetwatt_reply_fn fn, void *arg)
{
	struct pollfd pfd = { .fd = nl_socket_get_fd(sk), .events = POLLIN };
	int64_t end = now_ms() + TIMEOUT_MS, left;
	int done = 0, err = 0, ret;
	struct nlmsghdr *nlh;
	uint32_t seq;
	int n;

	nl_complete_msg(sk, msg);
	seq = nlmsg_hdr(msg)->nlmsg_seq;
	n = send(pfd.fd, nlmsg_hdr(msg), nlmsg_hdr(msg)->nlmsg_len, 0);
	ret = n < 0 ? -errno : 0;
	nlmsg_free(msg);
	if (ret)
		return jetwatt_error_kernel(jw, ret, "", what);
	while (!done) {
		left = end - now_ms();
		if (left <= 0)
			return jetwatt_error_set(jw, -ETIMEDOUT,
						 "%s: no reply from the module within %d s", what,
						 TIMEOUT_MS / 1000);
		if (poll(&pfd, 1, left) <= 0)
			continue;
		n = jetwatt_socket_recv(jw, sk, MSG_DONTWAIT);
		if (n == -EAGAIN || n == -ENOBUFS)
			continue;
		if (n < 0)
			return jetwatt_error_kernel(jw, n, "", what);
		for (nlh = (struct nlmsghdr *)jw->buf; nlmsg_ok(nlh, n) && !done;
		     nlh = nlmsg_next(nlh, &n)) {
			ret = handle_message(jw, nlh, seq, what, err ? NULL : fn, arg, &done);
			if (ret && !err)
				err = ret;
			if (nlh->nlmsg_seq == seq)
				end = now_ms() + TIMEOUT_MS;
		}
	}
	return err;
}
