// SPDX-License-Identifier: GPL-2.0-only
/*
 * The control socket: a client sends a request of one line, gets one response, and is disconnected.
 * Read and write permissions depend on the user and groups of the client, as the kernel reports them.
 * The control socket has a thread of its own, so that jetwattd responds while the loop measures.
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
/* Time after which poll() is called again after it has failed. */
#define RETRY_S		1
/* Time after the connection from which a client that sends nothing is disconnected. */
#define PATIENCE_NS	5000000000ull
#define GROUPS		256

/**
 * struct client - a connection
 * @fd: socket, -1: unused
 * @len: number of bytes received
 * @since_ns: time of the connection, CLOCK_MONOTONIC
 * @line: bytes received
 */
struct client {
	int fd;
	size_t len;
	uint64_t since_ns;
	char line[LINE];
};

/**
 * struct jetwattd_control - the thread and its sockets
 * @d: jetwattd
 * @thread: the thread
 * @listen: listening socket
 * @end: eventfd that ends the thread
 * @started: 1: @thread runs
 * @client: connections
 * @readers: id of the group whose members may send requests that read, -1: no group
 * @writers: id of the group whose members may also send requests that change settings, -1: no group
 * @text: buffer of a response
 */
struct jetwattd_control {
	struct jetwattd *d;
	pthread_t thread;
	struct jetwattd_listener listen;
	int end, started;
	struct client client[CLIENTS];
	gid_t readers, writers;
	char text[JETWATTD_RESPONSE_MAX];
};

/* Return: 1 if the client is root, has jetwattd's user id, or is a member of @group; else 0. */
static int peer_may(int fd, gid_t group)
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

static const char *set_budget(struct jetwattd *d, const char *text)
{
	double w = 0;

	if (strcmp(text, "policy") && (jetwatt_unit_parse(text, "W", &w) || w < 0.1 || w > 1000))
		return "the budget must be from 0.1W to 1000W, or the word policy";
	pthread_mutex_lock(&d->lock);
	d->override_w = w;
	/* A budget in watts takes effect at once; after "policy", the loop sets the policy's
	 * budget at its next housekeeping. */
	if (w > 0)
		jetwattd_budget(d, w);
	pthread_mutex_unlock(&d->lock);
	return NULL;
}

static const char *set_pause(struct jetwattd *d, int pause)
{
	pthread_mutex_lock(&d->lock);
	d->pause = pause;
	atomic_store(&d->invalidate, 1);
	pthread_mutex_unlock(&d->lock);
	return NULL;
}

/* Execute a request that changes the budget or the state of jetwattd. Return: NULL; or why it
 * is refused. */
static const char *control_execute(struct jetwattd *d, const char *line)
{
	if (!strncmp(line, "budget ", 7))
		return set_budget(d, line + 7);
	if (!strcmp(line, "pause"))
		return set_pause(d, 1);
	if (!strcmp(line, "resume"))
		return set_pause(d, 0);
	return "unknown request; known are status, status json, metrics, metrics openmetrics, budget WATTS, budget policy, pause, resume";
}

/* Send the response. The response is built in a fixed buffer, so that months of periodic requests
 * do not fragment the heap. */
static void control_respond(struct jetwattd_control *c, struct client *k)
{
	FILE *f = fmemopen(c->text, sizeof(c->text), "w");
	const char *no;
	long len;

	if (!f)
		return;
	if (!peer_may(k->fd, c->readers) && !peer_may(k->fd, c->writers))
		fprintf(f, JETWATTD_NOT_PERMITTED "read\n");
	else if (!strcmp(k->line, "status") || !strcmp(k->line, "status json"))
		jetwattd_status(c->d, strlen(k->line) > 6, f);
	else if (!strcmp(k->line, "metrics") || !strcmp(k->line, "metrics openmetrics"))
		jetwattd_metrics(c->d, strlen(k->line) > 7, f);
	else if (!peer_may(k->fd, c->writers))
		fprintf(f, JETWATTD_NOT_PERMITTED "change settings\n");
	else if ((no = control_execute(c->d, k->line)))
		fprintf(f, JETWATTD_REFUSED "%s\n", no);
	else
		fprintf(f, "done\n");
	len = fflush(f) ? -1 : ftell(f);
	fclose(f);
	if (len < 0)
		len = snprintf(c->text, sizeof(c->text), JETWATTD_REFUSED "the response is too long\n");
	/* Every response fits in the socket buffer, so do not wait until the client reads it. */
	if (send(k->fd, c->text, (size_t)len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		errno = 0;
}

static void control_close(struct client *k)
{
	close(k->fd);
	k->fd = -1;
}

static void control_receive(struct jetwattd_control *c, struct client *k)
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
		/* A request line with a NUL byte is not a known request. */
		if (strlen(k->line) != (size_t)(end - k->line))
			*k->line = '\0';
		control_respond(c, k);
	}
	if (end || got <= 0 || k->len == LINE - 1)
		control_close(k);
}

static void control_accept(struct jetwattd_control *c)
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
	/* If all slots are in use, close the oldest connection, so that idle connections do not
	 * keep out a further client. */
	if (oldest->fd >= 0)
		control_close(oldest);
	*oldest = (struct client){ .fd = fd, .since_ns = jetwatt_clock_ns() };
}

/* Wait for clients, at most 1 s. If poll() fails, for example for lack of memory, report the first
 * failure. @failed: 1: the last call failed; updated. Return: 1 if the thread is to end. */
static int control_wait(struct jetwattd_control *c, struct pollfd *p, int *failed)
{
	eventfd_t ends;
	int was = *failed;

	*failed = poll(p, CLIENTS + 2, 1000) < 0 && errno != EINTR;
	if (!*failed)
		return p[0].revents != 0;
	if (!was)
		jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(errno), jetwatt_error_advice(errno),
				  "cannot wait for requests on the control socket, trying again");
	sleep(RETRY_S);
	return !eventfd_read(c->end, &ends);
}

static void *control_run(void *arg)
{
	struct jetwattd_control *c = arg;
	struct pollfd p[CLIENTS + 2];
	int failed = 0;

	for (;;) {
		p[0] = (struct pollfd){ c->end, POLLIN, 0 };
		p[1] = (struct pollfd){ c->listen.fd, POLLIN, 0 };
		for (int i = 0; i < CLIENTS; i++)
			p[i + 2] = (struct pollfd){ c->client[i].fd, POLLIN, 0 };
		if (control_wait(c, p, &failed))
			return NULL;
		for (int i = 0; i < CLIENTS; i++) {
			struct client *k = &c->client[i];

			if (k->fd >= 0 && p[i + 2].revents)
				control_receive(c, k);
			else if (k->fd >= 0 && jetwatt_clock_ns() - k->since_ns > PATIENCE_NS)
				control_close(k);
		}
		if (p[1].revents)
			control_accept(c);
	}
}

/* Look up a group. @usual: group used if the policy names none; this group may be missing on the
 * system. @gid: set to the group, -1: missing. Return: 0 or an exit code; the error has been reported. */
static int find_group(const char *name, const char *usual, gid_t *gid)
{
	struct group *g = getgrnam(*name ? name : usual);

	*gid = g ? g->gr_gid : (gid_t)-1;
	return *name && !g ? jetwatt_error_report(JETWATT_EXIT_USAGE, "no such group",
					       "addgroup --system NAME, or remove the line",
					       "readers or writers = %s", name) : 0;
}

/* Create the directory of the control socket. */
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

static int control_listen(struct jetwattd_control *c)
{
	const char *path = c->d->policy->control;
	gid_t owner = c->readers != (gid_t)-1 ? c->readers : c->writers;
	/* A socket file has only one group: if readers and writers are different groups, any
	 * user may connect, and peer_may() checks each request. */
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
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(ENOMEM), NULL, "cannot start");
	c->d = d;
	c->listen.fd = -1;
	c->end = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	for (int i = 0; i < CLIENTS; i++)
		c->client[i].fd = -1;
	if (c->end < 0)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(errno), NULL, "cannot start");
	err = find_group(d->policy->readers, "jetwatt", &c->readers);
	if (!err)
		err = find_group(d->policy->writers, "jetwatt-control", &c->writers);
	if (err)
		return err;
	err = control_listen(c);
	if (!err)
		err = -pthread_create(&c->thread, NULL, control_run, c);
	if (err == -EADDRINUSE)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, "another jetwattd listens on it",
					 "stop it (systemctl stop jetwattd), or set control = PATH in "
					 JETWATTD_CONF, "cannot listen on %s", d->policy->control);
	if (err)
		return jetwatt_error_report(JETWATT_EXIT_FAILED,
					 err == -EEXIST ? "the file exists and is not a socket" : strerror(-err),
					 "set control = PATH in " JETWATTD_CONF, "cannot listen on %s",
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
			control_close(&c->client[i]);
	jetwattd_listen_end(&c->listen, c->d->policy->control);
	close(c->end);
	free(c);
}
