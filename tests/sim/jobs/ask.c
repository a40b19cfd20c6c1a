// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clients of an inference server: send requests at random or even times, whether or not earlier
 * ones were answered, and measure the latency of each response.
 *
 *   ask [--port N] [--rate MILLIHERTZ] [--then MILLIHERTZ] [--requests N] [--seed N] [--even] [--tcp]
 *
 *   --rate      requests per 1000 seconds (40000), at the times of a Poisson process
 *   --then      rate for the second half of the requests
 *   --requests  number of requests (1000)
 *   --even      send at constant intervals
 *   --tcp       send all requests over one TCP connection; default: UDP
 *
 * Prints one line per request: time at which it was due, in us since the first request, and latency
 * of the response in us; -1 if there was none within ten seconds after the last request.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_NS	10000000000ull

static struct {
	long port, rate, then, requests, seed;
	int even, tcp;
} opt = { .port = 7000, .rate = 40000, .requests = 1000, .seed = 1 };

struct entry {
	uint64_t sent_ns, answered_ns;
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void options(int argc, char **argv)
{
	static const char *const name[] = { "--port", "--rate", "--then", "--requests", "--seed" };
	long *const value[] = { &opt.port, &opt.rate, &opt.then, &opt.requests, &opt.seed };

	for (int i = 1; i < argc; i++) {
		int k = 0;

		while (k < 5 && strcmp(argv[i], name[k]))
			k++;
		if (!strcmp(argv[i], "--even"))
			opt.even = 1;
		else if (!strcmp(argv[i], "--tcp"))
			opt.tcp = 1;
		else if (k < 5 && i + 1 < argc)
			*value[k] = atol(argv[++i]);
		else
			argc = 0;
	}
	opt.then = opt.then ? opt.then : opt.rate;
	if (argc && opt.rate > 0 && opt.then > 0 && opt.requests > 0)
		return;
	fprintf(stderr, "usage: ask [--port N] [--rate MILLIHERTZ] [--then MILLIHERTZ] [--requests N] [--seed N] [--even] [--tcp]\n");
	exit(2);
}

static uint64_t gap(long i)
{
	double mean = 1e12 / (i < opt.requests / 2 ? opt.rate : opt.then);

	return opt.even ? mean : -mean * log(1 - drand48());
}

static void hear(int fd, struct entry *e)
{
	uint64_t i;

	while (recv(fd, &i, sizeof(i), MSG_DONTWAIT) == sizeof(i))
		if (i < (uint64_t)opt.requests && !e[i].answered_ns)
			e[i].answered_ns = now();
}

/* Receive responses until @until. */
static void wait_until(int fd, struct entry *e, uint64_t until)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t t;

	while ((t = now()) < until) {
		struct timespec left = { (until - t) / 1000000000, (until - t) % 1000000000 };

		if (ppoll(&p, 1, &left, NULL) > 0)
			hear(fd, e);
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd, room = 1 << 20, yes = 1;
	struct entry *e;
	uint64_t at;
	long left;

	options(argc, argv);
	fd = socket(AF_INET, (opt.tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC, 0);
	srand48(opt.seed);
	to.sin_port = htons(opt.port);
	e = calloc(opt.requests, sizeof(*e));
	if (!e || fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)) ||
	    (opt.tcp && setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes))) ||
	    connect(fd, (struct sockaddr *)&to, sizeof(to))) {
		fprintf(stderr, "ask: %s\n", strerror(errno));
		return 1;
	}
	at = now();
	for (uint64_t i = 0; i < (uint64_t)opt.requests; i++) {
		wait_until(fd, e, at);
		/* Measure the latency from the time at which the request was due, so that a delay
		 * of this program counts as latency. */
		e[i].sent_ns = at;
		if (send(fd, &i, sizeof(i), 0) < 0 && errno != ECONNREFUSED)
			perror("ask: send");
		at += gap(i);
	}
	left = opt.requests;
	for (at = now() + PATIENCE_NS; left && now() < at;) {
		wait_until(fd, e, now() + 10000000);
		left = 0;
		for (long i = 0; i < opt.requests; i++)
			left += !e[i].answered_ns;
	}
	for (long i = 0; i < opt.requests; i++)
		printf("%lld %lld\n", (long long)(e[i].sent_ns - e[0].sent_ns) / 1000,
		       e[i].answered_ns ? (long long)(e[i].answered_ns - e[i].sent_ns) / 1000 : -1);
	return 0;
}
