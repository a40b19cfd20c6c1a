// SPDX-License-Identifier: GPL-2.0-only
/* Execute requests and respond. A client that has applied a mode owns the board until it has
 * restored or forgotten it, or disconnects. */
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

int jetwatt_knobs_restore(struct jetwatt_knobs *k)
{
	struct jetwatt_error_text e = { "", "", "" };
	int rc = jetwatt_board_restore(k->board, &e);

	/* -ENOENT: nothing was applied; -EBUSY: another jetwatt has applied a mode. */
	if (rc == -ENOENT || (rc == -EBUSY && !k->holder))
		rc = 0;
	else if (!rc)
		k->restored++;
	/* The restore is retried at least every second; report its failure only once. */
	if (rc && !k->owed)
		fprintf(stderr, "jetwatt-knobs: %s\n  why: %s\n  fix: %s\n", e.what, e.why, e.fix);
	k->owed = rc != 0;
	return rc;
}

/* Return: 1 if a connected client has received the freezer of the cgroup, else 0. */
static int client_has_freezer(const struct jetwatt_knobs *k, const char *cgroup)
{
	for (const struct jetwatt_knobs_client *c = k->client; c < k->client + JETWATT_KNOBS_CLIENTS; c++)
		for (int i = 0; c->fd >= 0 && i < c->freezers; i++)
			if (!strcmp(c->freezer[i], cgroup))
				return 1;
	return 0;
}

/*
 * Thaw the cgroups whose freezer no connected client has received. @keep: 1: leave the thawed
 * cgroups in the list on disk until this process ends or the list is full, because a process may
 * still have the descriptor of a freezer, which cannot be revoked.
 */
static void thaw_abandoned(struct jetwatt_knobs *k, int keep)
{
	const char *cgroup;
	int i = 0;

	while ((cgroup = jetwatt_board_frozen(k->board, i))) {
		int ours = client_has_freezer(k, cgroup);

		if (!ours)
			jetwatt_board_thaw_cgroup(k->board, cgroup, keep);
		i += ours || keep;
	}
}

/* End a connection: thaw its cgroups, and restore the board if the client owned it. */
static void client_close(struct jetwatt_knobs *k, struct jetwatt_knobs_client *c)
{
	close(c->fd);
	c->fd = -1;
	for (int i = 0; i < c->freezers; i++)
		jetwatt_board_thaw_cgroup(k->board, c->freezer[i], 1);
	c->freezers = 0;
	if (k->holder != c)
		return;
	fprintf(stderr, "jetwatt-knobs: owner disconnected, restoring the board: process %d\n", c->pid);
	jetwatt_knobs_restore(k);
	k->holder = NULL;
}

static void client_send(struct jetwatt_knobs *k, struct jetwatt_knobs_client *c, const char *answer)
{
	/* A client that does not read is disconnected; this process never waits for it. */
	if (send(c->fd, answer, strlen(answer), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		client_close(k, c);
}

static void client_refuse(struct jetwatt_knobs *k, struct jetwatt_knobs_client *c, int rc,
			  const struct jetwatt_error_text *e)
{
	char answer[JETWATT_REMOTE_RESPONSE];

	/* serve.h says which errors are not counted. */
	k->refused += rc != -ESTALE && rc != -ENOENT;
	snprintf(answer, sizeof(answer), "no %d\n%s\n%s\n%s", -rc, e->what, e->why, e->fix);
	client_send(k, c, answer);
}

static void knobs_emc(struct jetwatt_knobs *k, struct jetwatt_knobs_client *c)
{
	char answer[JETWATT_REMOTE_RESPONSE] = "ok";
	size_t at = 2;
	const uint64_t *v;
	int n = jetwatt_board_levels(k->board, JETWATT_KNOB_EMC, &v);

	/* The placeholder of unknown levels is not a level: answer with an empty list. */
	if (n && v[0] == JETWATT_BOARD_NO_CLOCK)
		n = 0;
	for (int i = 0; i < n && at < sizeof(answer); i++)
		at += (size_t)snprintf(answer + at, sizeof(answer) - at, " %" PRIu64, v[i]);
	client_send(k, c, answer);
}

static void knobs_status(struct jetwatt_knobs *k, struct jetwatt_knobs_client *c)
{
	char answer[JETWATT_REMOTE_RESPONSE];

	snprintf(answer, sizeof(answer),
		 "ok holder %d applied %lu restored %lu refused %lu strangers %lu",
		 k->holder ? k->holder->pid : 0, k->applied, k->restored, k->refused, k->shut_out);
	client_send(k, c, answer);
}

/* Return: 1 if the line "turns" of the policy names the cgroup. */
static int policy_names(const struct jetwattd_policy *policy, const char *cgroup)
{
	return !strcmp(cgroup, policy->timeshare.train) || !strcmp(cgroup, policy->timeshare.serve);
}

/* Remove the cgroups that the policy no longer names from those of a client. */
static void client_drop_freezers(struct jetwatt_knobs_client *c, const struct jetwattd_policy *policy)
{
	int kept = 0;

	for (int i = 0; i < c->freezers; i++) {
		if (!policy_names(policy, c->freezer[i]))
			continue;
		if (kept != i)
			strcpy(c->freezer[kept], c->freezer[i]);
		kept++;
	}
	c->freezers = kept;
}

/* Open the freezer of a cgroup for a client if the policy's line "turns" names it. Only root can
 * write the policy. Return: a descriptor of the cgroup's freezer; negative errno with the reason in
 * @e. */
static int open_freezer(struct jetwatt_knobs *k, struct jetwatt_knobs_client *c, const char *cgroup,
			struct jetwatt_error_text *e)
{
	static struct jetwattd_policy policy;
	int fd;

	if (!jetwattd_policy_read(k->policy, 0, &policy) && policy_names(&policy, cgroup)) {
		fd = jetwatt_board_freezer(k->board, cgroup, e);
		if (fd != -ENOSPC)
			return fd;
		/* Thaw the cgroups that no connected client needs, and free their slots. After a
		 * reload of the policy, jetwattd needs only the cgroups that it names now. */
		client_drop_freezers(c, &policy);
		thaw_abandoned(k, 0);
		return jetwatt_board_freezer(k->board, cgroup, e);
	}
	snprintf(e->what, sizeof(e->what), "the jobs of %.100s may not be frozen", cgroup);
	snprintf(e->why, sizeof(e->why), "no line turns = in %.100s names this cgroup", k->policy);
	snprintf(e->fix, sizeof(e->fix), "see man jetwattd.conf");
	return -EACCES;
}

/* Record that the client has the freezer of a cgroup. Return: 1 on success; 0: the client has too
 * many freezers. */
static int client_add_freezer(struct jetwatt_knobs_client *c, const char *cgroup)
{
	for (int i = 0; i < c->freezers; i++)
		if (!strcmp(c->freezer[i], cgroup))
			return 1;
	if (c->freezers == JETWATT_BOARD_FREEZERS_MAX)
		return 0;
	strcpy(c->freezer[c->freezers++], cgroup);
	return 1;
}

/* Send the descriptor of a cgroup's freezer to the client. */
static void knobs_freezer(struct jetwatt_knobs *k, struct jetwatt_knobs_client *c, const char *cgroup)
{
	struct jetwatt_error_text e = { "", "", "" };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} with = { .head = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec text = { (char *)"ok", 2 };
	struct msghdr m = { .msg_iov = &text, .msg_iovlen = 1, .msg_control = &with,
			    .msg_controllen = sizeof(with) };
	int fd = open_freezer(k, c, cgroup, &e), gone;

	if (fd < 0) {
		client_refuse(k, c, fd, &e);
		return;
	}
	if (!client_add_freezer(c, cgroup)) {
		close(fd);
		snprintf(e.what, sizeof(e.what), "a client may freeze at most %d cgroups", JETWATT_BOARD_FREEZERS_MAX);
		client_refuse(k, c, -ENOSPC, &e);
		return;
	}
	memcpy(CMSG_DATA(&with.head), &fd, sizeof(fd));
	gone = sendmsg(c->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0;
	close(fd);
	if (gone)
		client_close(k, c);
}

/* Execute a request that changes the knobs or the saved state. Return: 0; negative errno if the
 * request failed, with the reason in @e. */
static int knobs_change(struct jetwatt_knobs *k, struct jetwatt_knobs_client *c,
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
		/* The saved state may belong to an earlier owner whose restore has failed. */
		if (!k->holder) {
			snprintf(e->what, sizeof(e->what), "nothing to forget");
			snprintf(e->why, sizeof(e->why), "this client has applied no mode");
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
	/* The client owns the board also if the switch and its roll-back have failed, because the
	 * board has to be restored then too. */
	if (!rc || rc == -ENOTRECOVERABLE) {
		k->holder = c;
		k->owed = 0;
	}
	return rc;
}

static void knobs_execute(struct jetwatt_knobs *k, struct jetwatt_knobs_client *c,
			  const struct jetwatt_knobs_request *r)
{
	struct jetwatt_error_text e = { "", "", "" };
	int rc;

	if (r->verb == JETWATT_KNOBS_EMC) {
		knobs_emc(k, c);
		return;
	}
	if (r->verb == JETWATT_KNOBS_STATUS) {
		knobs_status(k, c);
		return;
	}
	if (r->verb == JETWATT_KNOBS_FREEZER) {
		knobs_freezer(k, c, r->cgroup);
		return;
	}
	rc = r->verb == JETWATT_KNOBS_VERIFY ? jetwatt_board_verify(k->board, &r->mode, &e)
					     : knobs_change(k, c, r, &e);
	if (rc)
		client_refuse(k, c, rc, &e);
	else
		client_send(k, c, "ok");
}

void jetwatt_knobs_receive(struct jetwatt_knobs *k, struct jetwatt_knobs_client *c)
{
	struct jetwatt_error_text e = { "unknown request", "", "only jetwattd uses this socket" };
	char text[JETWATT_REMOTE_REQUEST];
	struct jetwatt_knobs_request r;
	const char *why;
	/* With MSG_TRUNC, recv() returns the length that was sent, so that too long requests are
	 * detected and refused. */
	ssize_t got = recv(c->fd, text, sizeof(text), MSG_DONTWAIT | MSG_TRUNC);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		client_close(k, c);
		return;
	}
	if (!jetwatt_knobs_parse(text, (size_t)got, &r, &why)) {
		knobs_execute(k, c, &r);
		return;
	}
	snprintf(e.why, sizeof(e.why), "%s", why);
	client_refuse(k, c, -EINVAL, &e);
}

void jetwatt_knobs_accept(struct jetwatt_knobs *k, int listen)
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
		k->shut_out++;
		close(fd);
		return;
	}
	/* A process to which an earlier client has passed a freezer may have frozen jobs after the
	 * client disconnected. */
	thaw_abandoned(k, 1);
	*c = (struct jetwatt_knobs_client){ .fd = fd, .pid = who.pid };
}
