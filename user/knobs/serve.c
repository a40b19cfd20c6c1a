// SPDX-License-Identifier: GPL-2.0-only
/* Requests and their answers. */
#include "knobs/serve.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "board/remote.h"
#include "knobs/request.h"
#include "policy/policy.h"

int jetwatt_knobs_put_back(struct jetwatt_knobs *k)
{
	struct jetwatt_error_text e = { "", "", "" };
	int rc = jetwatt_board_restore(k->board, &e);

	/* Nothing was applied, or what was is another jetwatt's. */
	if (rc == -ENOENT || (rc == -EBUSY && !k->holder))
		rc = 0;
	else if (!rc)
		k->restored++;
	/* Tried again every second: once is enough to say it. */
	if (rc && !k->owed)
		fprintf(stderr, "jetwatt-knobs: %s\n  why: %s\n  fix: %s\n", e.what, e.why, e.fix);
	k->owed = rc != 0;
	return rc;
}

/* Does a client that is there have it? */
static int has_freezer(const struct jetwatt_knobs *k, const char *cgroup)
{
	for (const struct jetwatt_knobs_client *c = k->client; c < k->client + JETWATT_KNOBS_CLIENTS; c++)
		for (int i = 0; c->fd >= 0 && i < c->freezers; i++)
			if (!strcmp(c->freezer[i], cgroup))
				return 1;
	return 0;
}

/*
 * Thaw the cgroups whose freezer only clients had that have hung up. A process may have kept the
 * descriptor, which cannot be taken back: so they stay on disk until we end, if @keep.
 */
static void thaw_left(struct jetwatt_knobs *k, int keep)
{
	const char *cgroup;
	int i = 0;

	while ((cgroup = jetwatt_board_held(k->board, i))) {
		int ours = has_freezer(k, cgroup);

		if (!ours)
			jetwatt_board_let_go(k->board, cgroup, keep);
		i += ours || keep;
	}
}

static void let_go(struct jetwatt_knobs *k, struct jetwatt_knobs_client *c)
{
	close(c->fd);
	c->fd = -1;
	for (int i = 0; i < c->freezers; i++)
		jetwatt_board_let_go(k->board, c->freezer[i], 1);
	c->freezers = 0;
	if (k->holder != c)
		return;
	fprintf(stderr, "jetwatt-knobs: process %d has gone: the board as it was\n", c->pid);
	jetwatt_knobs_put_back(k);
	k->holder = NULL;
}

static void say(struct jetwatt_knobs *k, struct jetwatt_knobs_client *c, const char *answer)
{
	/* Who does not read has no answer, and nobody to wait for him. */
	if (send(c->fd, answer, strlen(answer), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		let_go(k, c);
}

static void refuse(struct jetwatt_knobs *k, struct jetwatt_knobs_client *c, int rc,
		   const struct jetwatt_error_text *e)
{
	char answer[JETWATT_REMOTE_ANSWER];

	/* A knob that is not as it should be is an answer, no refusal. */
	k->refused += rc != -ESTALE && rc != -ENOENT;
	snprintf(answer, sizeof(answer), "no %d\n%s\n%s\n%s", -rc, e->what, e->why, e->fix);
	say(k, c, answer);
}

static void emc(struct jetwatt_knobs *k, struct jetwatt_knobs_client *c)
{
	char answer[JETWATT_REMOTE_ANSWER] = "ok";
	size_t at = 2;
	const uint64_t *v;
	int n = jetwatt_board_levels(k->board, JETWATT_KNOB_EMC, &v);

	for (int i = 0; i < n && at < sizeof(answer); i++)
		at += (size_t)snprintf(answer + at, sizeof(answer) - at, " %" PRIu64, v[i]);
	say(k, c, answer);
}

static void status(struct jetwatt_knobs *k, struct jetwatt_knobs_client *c)
{
	char answer[JETWATT_REMOTE_ANSWER];

	snprintf(answer, sizeof(answer),
		 "ok holder %d applied %lu restored %lu refused %lu strangers %lu",
		 k->holder ? k->holder->pid : 0, k->applied, k->restored, k->refused, k->strangers);
	say(k, c, answer);
}

/* The policy is root's: whose jobs it does not name are not held. Return: descriptor,
 * negative errno. */
static int open_freezer(struct jetwatt_knobs *k, const char *cgroup, struct jetwatt_error_text *e)
{
	static struct jetwattd_policy policy;
	int fd;

	if (!jetwattd_policy_read(k->policy, 0, &policy) &&
	    (!strcmp(cgroup, policy.turns.train) || !strcmp(cgroup, policy.turns.serve))) {
		fd = jetwatt_board_freezer(k->board, cgroup, e);
		if (fd != -ENOSPC)
			return fd;
		/* Those of an earlier policy make room. */
		thaw_left(k, 0);
		return jetwatt_board_freezer(k->board, cgroup, e);
	}
	snprintf(e->what, sizeof(e->what), "the jobs of %.100s are not to be held", cgroup);
	snprintf(e->why, sizeof(e->why), "no line turns = in %.100s names it", k->policy);
	snprintf(e->fix, sizeof(e->fix), "man jetwattd.conf");
	return -EACCES;
}

/* Return: 1; 0: it has too many. */
static int keep_freezer(struct jetwatt_knobs_client *c, const char *cgroup)
{
	for (int i = 0; i < c->freezers; i++)
		if (!strcmp(c->freezer[i], cgroup))
			return 1;
	if (c->freezers == JETWATT_BOARD_HELD)
		return 0;
	strcpy(c->freezer[c->freezers++], cgroup);
	return 1;
}

static void freezer(struct jetwatt_knobs *k, struct jetwatt_knobs_client *c, const char *cgroup)
{
	struct jetwatt_error_text e = { "", "", "" };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} with = { .head = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec text = { (char *)"ok", 2 };
	struct msghdr m = { .msg_iov = &text, .msg_iovlen = 1, .msg_control = &with,
			    .msg_controllen = sizeof(with) };
	int fd = open_freezer(k, cgroup, &e), gone;

	if (fd < 0) {
		refuse(k, c, fd, &e);
		return;
	}
	if (!keep_freezer(c, cgroup)) {
		close(fd);
		snprintf(e.what, sizeof(e.what), "more than %d cgroups to be held", JETWATT_BOARD_HELD);
		refuse(k, c, -ENOSPC, &e);
		return;
	}
	memcpy(CMSG_DATA(&with.head), &fd, sizeof(fd));
	gone = sendmsg(c->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0;
	close(fd);
	if (gone)
		let_go(k, c);
}

/* What changes something. */
static int turn(struct jetwatt_knobs *k, struct jetwatt_knobs_client *c,
		const struct jetwatt_knobs_request *r, struct jetwatt_error_text *e)
{
	int rc;

	if (k->holder && k->holder != c) {
		snprintf(e->what, sizeof(e->what), "another process controls this board");
		snprintf(e->why, sizeof(e->why), "process %d holds it", k->holder->pid);
		snprintf(e->fix, sizeof(e->fix), "wait until it ends");
		return -EBUSY;
	}
	if (r->verb == JETWATT_KNOBS_FORGET) {
		/* What an asker that is gone has left is not this one's to forget. */
		if (!k->holder) {
			snprintf(e->what, sizeof(e->what), "nothing to forget");
			snprintf(e->why, sizeof(e->why), "this process has applied no mode");
			return -ENOENT;
		}
		k->holder = NULL;
		return jetwatt_board_forget(k->board);
	}
	if (r->verb == JETWATT_KNOBS_RESTORE) {
		rc = jetwatt_board_restore(k->board, e);
		k->restored += !rc;
		if (!rc || rc == -ENOENT)
			k->holder = NULL;
		return rc;
	}
	rc = jetwatt_board_apply(k->board, &r->mode, e);
	k->applied += !rc;
	/* One that could not be rolled back is for us to take back as well. */
	if (!rc || rc == -ENOTRECOVERABLE) {
		k->holder = c;
		k->owed = 0;
	}
	return rc;
}

static void obey(struct jetwatt_knobs *k, struct jetwatt_knobs_client *c,
		 const struct jetwatt_knobs_request *r)
{
	struct jetwatt_error_text e = { "", "", "" };
	int rc;

	if (r->verb == JETWATT_KNOBS_EMC) {
		emc(k, c);
		return;
	}
	if (r->verb == JETWATT_KNOBS_STATUS) {
		status(k, c);
		return;
	}
	if (r->verb == JETWATT_KNOBS_FREEZER) {
		freezer(k, c, r->cgroup);
		return;
	}
	rc = r->verb == JETWATT_KNOBS_VERIFY ? jetwatt_board_verify(k->board, &r->mode, &e)
					     : turn(k, c, r, &e);
	if (rc)
		refuse(k, c, rc, &e);
	else
		say(k, c, "ok");
}

void jetwatt_knobs_hear(struct jetwatt_knobs *k, struct jetwatt_knobs_client *c)
{
	struct jetwatt_error_text e = { "no such request", "", "this socket is jetwattd's" };
	char text[JETWATT_REMOTE_REQUEST];
	struct jetwatt_knobs_request r;
	const char *why;
	/* The length that was sent, not the one that had room: a longer one is refused. */
	ssize_t got = recv(c->fd, text, sizeof(text), MSG_DONTWAIT | MSG_TRUNC);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		let_go(k, c);
		return;
	}
	if (!jetwatt_knobs_parse(text, (size_t)got, &r, &why)) {
		obey(k, c, &r);
		return;
	}
	snprintf(e.why, sizeof(e.why), "%s", why);
	refuse(k, c, -EINVAL, &e);
}

void jetwatt_knobs_welcome(struct jetwatt_knobs *k, int listen)
{
	int fd = accept4(listen, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct jetwatt_knobs_client *c = k->client;
	struct ucred who;
	socklen_t len = sizeof(who);

	if (fd < 0)
		return;
	while (c < k->client + JETWATT_KNOBS_CLIENTS && c->fd >= 0)
		c++;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) ||
	    (who.uid && who.uid != k->user) || c == k->client + JETWATT_KNOBS_CLIENTS) {
		k->strangers++;
		close(fd);
		return;
	}
	/* The one before it may have left a process that held jobs after it had hung up. */
	thaw_left(k, 1);
	*c = (struct jetwatt_knobs_client){ .fd = fd, .pid = who.pid };
}
