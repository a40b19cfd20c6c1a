// SPDX-License-Identifier: GPL-2.0-only
/*
 * An inference server: takes the requests that have arrived, up to a maximum minibatch, runs them
 * on the GPU and responds to each. The server does not know which other programs use the board.
 *
 *   serve [--port N] [--batch N] [--batch-file FILE] [--base PERMILLE] [--each PERMILLE] [--busy 1]
 *         [--tcp 1]
 *
 *   --port N           UDP port on loopback (7000); a response is a copy of the request
 *   --tcp 1            TCP instead of UDP; a request is eight bytes
 *   --batch N          maximum minibatch (1)
 *   --batch-file FILE  file with the maximum minibatch, which may change
 *   --busy 1           run full minibatches without requests, as in benchmarks of servers
 *   --base, --each     a minibatch of k requests takes base + k x each permille of a training
 *                      minibatch's time on the GPU (60, 40)
 *
 * Exits with status 0 on SIGTERM or SIGINT.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gpu_uapi.h"

#define BATCH_MAX	256
#define REQUEST_MAX	512
#define RECORD		8	/* size of a request over TCP */
#define PEERS		16

static struct {
	long port, batch, base, each, busy, tcp;
	const char *file;
} opt = { .port = 7000, .batch = 1, .base = 60, .each = 40 };

/* @fd: socket for the response */
struct request {
	int fd;
	struct sockaddr_in from;
	size_t len;
	char text[REQUEST_MAX];
};

static int gpu, render;
static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static void fail(const char *what)
{
	fprintf(stderr, "serve: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void options(int argc, char **argv)
{
	static const char *const name[] = { "--port", "--batch", "--base", "--each", "--busy", "--tcp" };
	long *const value[] = { &opt.port, &opt.batch, &opt.base, &opt.each, &opt.busy,
				&opt.tcp };
	const int names = sizeof(name) / sizeof(name[0]);

	for (int i = 1; i < argc; i += 2) {
		int k = 0;

		while (k < names && strcmp(argv[i], name[k]))
			k++;
		if (i + 1 < argc && k < names)
			*value[k] = atol(argv[i + 1]);
		else if (i + 1 < argc && !strcmp(argv[i], "--batch-file"))
			opt.file = argv[i + 1];
		else
			argc = 0;
	}
	if (argc && opt.port > 0 && opt.batch > 0 && opt.batch <= BATCH_MAX && opt.base >= 0 &&
	    opt.each >= 0)
		return;
	fprintf(stderr, "usage: serve [--port N] [--batch N] [--batch-file FILE] [--base PERMILLE] [--each PERMILLE] [--busy 1] [--tcp 1]\n");
	exit(2);
}

static int listen_at(long port)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, (opt.tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC, 0);
	int room = 1 << 20;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)) ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at)) || (opt.tcp && listen(fd, PEERS)))
		fail("socket");
	return fd;
}

static long batch_now(void)
{
	long n = 0;
	FILE *f = opt.file ? fopen(opt.file, "re") : NULL;

	if (f) {
		if (fscanf(f, "%ld", &n) != 1)
			n = 0;
		fclose(f);
	}
	return n > 0 && n <= BATCH_MAX ? n : opt.batch;
}

/* As gather() below, for the requests of all TCP connections. */
static long gather_tcp(int fd, struct request *r, long most)
{
	static struct pollfd p[1 + PEERS];
	static nfds_t peers;
	long n = 0;

	p[0] = (struct pollfd){ fd, POLLIN, 0 };
	while (!n && !stop) {
		if (poll(p, 1 + peers, -1) < 0 && errno != EINTR)
			fail("poll");
		if (p[0].revents && peers < PEERS) {
			int peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

			if (peer >= 0)
				p[1 + peers++] = (struct pollfd){ peer, POLLIN, 0 };
		}
		for (nfds_t i = 1; i <= peers; i++) {
			ssize_t got = -1;

			while (n < most && (got = recv(p[i].fd, r[n].text, RECORD, MSG_DONTWAIT)) == RECORD) {
				r[n].fd = p[i].fd;
				r[n++].len = RECORD;
			}
			if (!got) {
				close(p[i].fd);
				p[i--] = p[peers--];
			}
		}
	}
	return stop ? 0 : n;
}

/* Wait for a request, and collect up to @most that have arrived. Return: their number; 0 to exit. */
static long gather(int fd, struct request *r, long most)
{
	long n = 0;

	while (n < most && !stop) {
		socklen_t len = sizeof(r[n].from);
		ssize_t got = recvfrom(fd, r[n].text, sizeof(r[n].text), n ? MSG_DONTWAIT : 0,
				       (struct sockaddr *)&r[n].from, &len);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && n && errno == EAGAIN)
			break;
		if (got < 0)
			fail("recvfrom");
		r[n].fd = fd;
		r[n++].len = got;
	}
	return stop ? 0 : n;
}

static void run(long n)
{
	struct sim_submit s = { .kind = SIM_KIND_INFER, .permille = opt.base + n * opt.each,
				.piece = 1, .pieces = 1 };
	struct sim_syncpoint_wait w = { .timeout_ns = INT64_MAX };

	if (ioctl(gpu, SIM_SUBMIT, &s))
		fail("submit");
	w.id = s.syncpt;
	w.threshold = s.threshold;
	while (ioctl(render, SIM_SYNCPOINT_WAIT, &w))
		if (errno != EINTR)
			fail("SYNCPOINT_WAIT");
}

int main(int argc, char **argv)
{
	static struct request r[BATCH_MAX];
	struct sigaction sa = { .sa_handler = on_signal };
	long n;
	int fd;

	options(argc, argv);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	gpu = open("/dev/jetwatt-sim-gpu", O_RDWR | O_CLOEXEC);
	if (gpu < 0)
		fail("/dev/jetwatt-sim-gpu");
	render = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	if (render < 0)
		fail("/dev/dri/renderD128");
	while (opt.busy && !stop)
		run(opt.batch);
	if (stop)
		return 0;
	fd = listen_at(opt.port);
	while ((n = (opt.tcp ? gather_tcp : gather)(fd, r, batch_now())) > 0) {
		run(n);
		for (long i = 0; i < n; i++)
			sendto(r[i].fd, r[i].text, r[i].len, MSG_NOSIGNAL,
			       opt.tcp ? NULL : (struct sockaddr *)&r[i].from,
			       opt.tcp ? 0 : sizeof(r[i].from));
	}
	return 0;
}
