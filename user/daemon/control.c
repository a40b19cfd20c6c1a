// SPDX-License-Identifier: GPL-2.0-only
/*
 * The control socket: one line of a request, one answer, good-bye. Who may ask and who
 * may change things is told by the groups that the kernel says the other end has.
 */
#include "daemon/jetwattd.h"

#include "util/listen.h"
#include "util/unix_request.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "measure/session.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/units.h"

#define CLIENTS		16
#define LINE		256
#define PATIENCE_NS	5000000000ull	/* with somebody who does not end his line */
#define GROUPS		256

struct client {
	int fd;
	size_t len;
	uint64_t since_ns;
	char line[LINE];
};

struct jetwattd_control {
	struct jetwattd *d;
	pthread_t thread;
	struct jetwattd_listener listen;
	int end, started;
	struct client client[CLIENTS];
	gid_t readers, writers;
	char text[JETWATTD_ASK_TEXT];
};

/* Is the other end root, or in a group? */
static int is_in(int fd, gid_t group)
{
	struct ucred who;
	gid_t groups[GROUPS];
	socklen_t len = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len))
		return 0;
	if (!who.uid || who.uid == geteuid())
		return 1;
	if (group == (gid_t)-1)
		return 0;
	if (who.gid == group)
		return 1;
	len = sizeof(groups);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &len))
		return 0;
	for (size_t i = 0; i < len / sizeof(*groups); i++)
		if (groups[i] == group)
			return 1;
	return 0;
}

static const char *budget(struct jetwattd *d, const char *text)
{
	double w = 0;

	if (strcmp(text, "policy") && (jetwatt_unit_parse(text, "W", &w) || w < 0.1 || w > 1000))
		return "budget: from 0.1W to 1000W, or policy";
	pthread_mutex_lock(&d->lock);
	d->told_w = w;
	/* Whoever lowers it is in a hurry; the policy's is looked up by the loop. */
	if (w > 0)
		jetwattd_budget(d, w);
	pthread_mutex_unlock(&d->lock);
	return NULL;
}

static const char *stop(struct jetwattd *d, int pause)
{
	pthread_mutex_lock(&d->lock);
	d->pause = pause;
	atomic_store(&d->cut, 1);
	pthread_mutex_unlock(&d->lock);
	return NULL;
}

/* Return: NULL: done; what is wrong. */
static const char *obey(struct jetwattd *d, const char *line)
{
	if (!strncmp(line, "budget ", 7))
		return budget(d, line + 7);
	if (!strcmp(line, "pause"))
		return stop(d, 1);
	if (!strcmp(line, "resume"))
		return stop(d, 0);
	return "status, status json, metrics, metrics openmetrics, budget WATTS, budget policy, pause or resume";
}

/* In room of its own: what is asked for every few seconds for months is to leave no holes. */
static void answer(struct jetwattd_control *c, struct client *k)
{
	FILE *f = fmemopen(c->text, sizeof(c->text), "w");
	const char *no;
	long len;

	if (!f)
		return;
	if (!is_in(k->fd, c->readers) && !is_in(k->fd, c->writers))
		fprintf(f, "refused: not in the group that may ask\n");
	else if (!strcmp(k->line, "status") || !strcmp(k->line, "status json"))
		jetwattd_status(c->d, strlen(k->line) > 6, f);
	else if (!strcmp(k->line, "metrics") || !strcmp(k->line, "metrics openmetrics"))
		jetwattd_metrics(c->d, strlen(k->line) > 7, f);
	else if (!is_in(k->fd, c->writers))
		fprintf(f, "refused: not in the group that may change things\n");
	else if ((no = obey(c->d, k->line)))
		fprintf(f, "refused: %s\n", no);
	else
		fprintf(f, "done\n");
	len = fflush(f) ? -1 : ftell(f);
	fclose(f);
	if (len < 0)
		len = snprintf(c->text, sizeof(c->text), "refused: the answer is too long\n");
	/* Who does not read has no answer; it is short enough for any buffer. */
	if (send(k->fd, c->text, (size_t)len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		errno = 0;
}

static void let_go(struct client *k)
{
	close(k->fd);
	k->fd = -1;
}

static void hear(struct jetwattd_control *c, struct client *k)
{
	ssize_t got = recv(k->fd, k->line + k->len, LINE - 1 - k->len, MSG_DONTWAIT);
	char *end;

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got > 0)
		k->len += (size_t)got;
	k->line[k->len] = '\0';
	end = memchr(k->line, '\n', k->len);
	if (end) {
		*end = '\0';
		/* What hides something behind a NUL is nothing that we know. */
		if (strlen(k->line) != (size_t)(end - k->line))
			*k->line = '\0';
		answer(c, k);
	}
	if (end || got <= 0 || k->len == LINE - 1)
		let_go(k);
}

static void welcome(struct jetwattd_control *c)
{
	int fd = accept4(c->listen.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct client *oldest = NULL;

	for (int i = 0; fd >= 0 && i < CLIENTS; i++) {
		struct client *k = &c->client[i];

		if (!oldest || (oldest->fd >= 0 && (k->fd < 0 || k->since_ns < oldest->since_ns)))
			oldest = k;
	}
	if (fd < 0)
		return;
	/* Sixteen who say nothing do not keep out a seventeenth. */
	if (oldest->fd >= 0)
		let_go(oldest);
	*oldest = (struct client){ .fd = fd, .since_ns = jetwatt_clock_ns() };
}

static void *run(void *arg)
{
	struct jetwattd_control *c = arg;
	struct pollfd p[CLIENTS + 2];

	for (;;) {
		p[0] = (struct pollfd){ c->end, POLLIN, 0 };
		p[1] = (struct pollfd){ c->listen.fd, POLLIN, 0 };
		for (int i = 0; i < CLIENTS; i++)
			p[i + 2] = (struct pollfd){ c->client[i].fd, POLLIN, 0 };
		if (poll(p, CLIENTS + 2, 1000) < 0 && errno != EINTR)
			return NULL;
		if (p[0].revents)
			return NULL;
		for (int i = 0; i < CLIENTS; i++) {
			struct client *k = &c->client[i];

			if (k->fd >= 0 && p[i + 2].revents)
				hear(c, k);
			else if (k->fd >= 0 && jetwatt_clock_ns() - k->since_ns > PATIENCE_NS)
				let_go(k);
		}
		if (p[1].revents)
			welcome(c);
	}
}

/* @usual: where the policy names none, and it is there. */
static int group(const char *name, const char *usual, gid_t *gid)
{
	struct group *g = getgrnam(*name ? name : usual);

	*gid = g ? g->gr_gid : (gid_t)-1;
	return *name && !g ? jetwatt_error_say(JETWATT_EXIT_USAGE, "no such group",
					       "addgroup --system NAME, or leave the line away",
					       "readers or writers = %s", name) : 0;
}

/* The directories above the socket. */
static void make_dir(const char *path)
{
	char dir[sizeof(((struct sockaddr_un *)0)->sun_path)];
	char *slash;

	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	if (slash && slash != dir) {
		*slash = '\0';
		mkdir(dir, 0755);
	}
}

static int open_socket(struct jetwattd_control *c)
{
	const char *path = c->d->policy->control;
	gid_t owner = c->readers != (gid_t)-1 ? c->readers : c->writers;
	/* Two groups may knock: who it is, is asked when they do. */
	int two = c->readers != c->writers && c->writers != (gid_t)-1;

	make_dir(path);
	return jetwattd_listen(&c->listen, path, SOCK_STREAM, owner, two, CLIENTS);
}

int jetwattd_control_start(struct jetwattd *d, struct jetwattd_control **out)
{
	struct jetwattd_control *c = calloc(1, sizeof(*c));
	int err;

	*out = c;
	if (!c)
		return jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(ENOMEM), NULL, "cannot start");
	c->d = d;
	c->listen.fd = -1;
	c->end = eventfd(0, EFD_CLOEXEC);
	for (int i = 0; i < CLIENTS; i++)
		c->client[i].fd = -1;
	err = group(d->policy->readers, "jetwatt", &c->readers);
	if (!err)
		err = group(d->policy->writers, "jetwatt-control", &c->writers);
	if (err)
		return err;
	err = open_socket(c);
	if (!err)
		err = -pthread_create(&c->thread, NULL, run, c);
	if (err == -EADDRINUSE)
		return jetwatt_error_say(JETWATT_EXIT_FAILED, "another jetwattd answers there",
					 "end that one (systemctl stop jetwattd), or control = PATH in "
					 JETWATTD_CONF, "cannot listen on %s", d->policy->control);
	if (err)
		return jetwatt_error_say(JETWATT_EXIT_FAILED,
					 err == -EEXIST ? "a file that is no socket is there" : strerror(-err),
					 "control = PATH in " JETWATTD_CONF, "cannot listen on %s",
					 d->policy->control);
	c->started = 1;
	return 0;
}

void jetwattd_control_stop(struct jetwattd_control *c)
{
	if (!c)
		return;
	if (c->started) {
		eventfd_write(c->end, 1);
		pthread_join(c->thread, NULL);
	}
	for (int i = 0; i < CLIENTS; i++)
		if (c->client[i].fd >= 0)
			let_go(&c->client[i]);
	jetwattd_listen_end(&c->listen, c->d->policy->control);
	close(c->end);
	free(c);
}
