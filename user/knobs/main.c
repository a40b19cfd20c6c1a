// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt-knobs: the part of jetwattd that may write knobs, and nothing else. It knows the
 * board (user/board) and seven requests (request.c); what they are worth is decided by
 * jetwattd, which runs without that right.
 *
 * Whatever ends first, the board is restored: if jetwattd does, by this program; if this
 * program does, by its guardian (board/guardian.c); if both do, by jetwatt-knobs --restore
 * (ExecStopPost) or by the next start.
 */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "board/remote.h"
#include "knobs/serve.h"
#include "policy/policy.h"
#include "util/error.h"
#include "util/fence.h"
#include "util/listen.h"
#include "util/notify.h"

#define USER		"jetwatt"
#define TURN_MS		1000

struct options {
	const char *socket, *user, *root, *conf;
	int restore;
};

static int fail(const char *what, const char *why, const char *fix)
{
	fprintf(stderr, "jetwatt-knobs: %s\n  why: %s\n  fix: %s\n", what, why, fix);
	return 1;
}

static int usage(int status)
{
	fprintf(status ? stderr : stdout,
		"Usage: jetwatt-knobs [--socket PATH] [--user NAME] [--conf FILE] [--root DIR]\n"
		"       jetwatt-knobs --restore [--root DIR]\n"
		"Write the knobs of this board for jetwattd.\n\n"
		"  --socket PATH  where it asks (" JETWATT_REMOTE_SOCKET ")\n"
		"  --user NAME    who may ask, besides root (" USER ")\n"
		"  --conf FILE    jetwattd's policy, which says whose jobs may be held\n"
		"  --restore      take back what was applied, and end\n"
		"  --root DIR     look for /sys, /proc, /etc and /var/lib below it\n");
	return status;
}

static int parse(int argc, char **argv, struct options *o)
{
	static const struct option known[] = {
		{ "socket", required_argument, NULL, 's' },
		{ "user", required_argument, NULL, 'u' },
		{ "conf", required_argument, NULL, 'c' },
		{ "root", required_argument, NULL, 'r' },
		{ "restore", no_argument, NULL, 'b' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) >= 0)
		switch (c) {
		case 's':
			o->socket = optarg;
			break;
		case 'u':
			o->user = optarg;
			break;
		case 'c':
			o->conf = optarg;
			break;
		case 'r':
			o->root = optarg;
			break;
		case 'b':
			o->restore = 1;
			break;
		case 'h':
			exit(usage(0));
		case 'v':
			puts("jetwatt-knobs " JETWATT_VERSION);
			exit(0);
		default:
			return usage(2);
		}
	return optind < argc ? usage(2) : 0;
}

static int open_board(const char *root, struct jetwatt_board **b)
{
	struct jetwatt_error_text e = { "", "", "" };
	char sys[256], proc[256], etc[256], state[256];
	struct jetwatt_board_roots roots = { .sys = sys, .proc = proc, .etc = etc, .state = state };

	snprintf(sys, sizeof(sys), "%s/sys", root);
	snprintf(proc, sizeof(proc), "%s/proc", root);
	snprintf(etc, sizeof(etc), "%s/etc", root);
	snprintf(state, sizeof(state), "%s/var/lib/jetwatt", root);
	return jetwatt_board_open(b, &roots, &e) ? fail(e.what, e.why, e.fix) : 0;
}

/* For the user's group, which is ours in the unit; by hand root gives it away. Who of
 * them it is the kernel tells, at the door. */
static int open_socket(const struct options *o, const struct passwd *user,
		       struct jetwattd_listener *l)
{
	gid_t group = geteuid() == user->pw_uid ? (gid_t)-1 : user->pw_gid;

	return jetwattd_listen(l, o->socket, SOCK_SEQPACKET, group, 0, JETWATT_KNOBS_CLIENTS);
}

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

/* Return: 0: told to end; 1: cannot go on. */
static int serve(struct jetwatt_knobs *k, int listen, int signals)
{
	struct pollfd p[JETWATT_KNOBS_CLIENTS + 2];

	for (;;) {
		p[0] = (struct pollfd){ signals, POLLIN, 0 };
		p[1] = (struct pollfd){ listen, POLLIN, 0 };
		for (int i = 0; i < JETWATT_KNOBS_CLIENTS; i++)
			p[i + 2] = (struct pollfd){ k->client[i].fd, POLLIN, 0 };
		if (poll(p, JETWATT_KNOBS_CLIENTS + 2, TURN_MS) < 0 && errno != EINTR)
			return fail("cannot wait for requests", strerror(errno), "");
		jetwattd_notify("WATCHDOG=1");
		if (p[0].revents)
			return 0;
		if (!jetwatt_board_guarded(k->board))
			return fail("the guardian of the knobs has been ended: so do we",
				    "without it a mode could outlive us",
				    "systemd starts both again");
		for (int i = 0; i < JETWATT_KNOBS_CLIENTS; i++)
			if (p[i + 2].revents)
				jetwatt_knobs_hear(k, &k->client[i]);
		if (p[1].revents)
			jetwatt_knobs_welcome(k, listen);
		if (k->owed && !k->holder)
			jetwatt_knobs_put_back(k);
	}
}

int main(int argc, char **argv)
{
	struct options o = { .socket = JETWATT_REMOTE_SOCKET, .user = USER, .root = "",
			     .conf = JETWATTD_CONF };
	struct jetwatt_error_text e = { "", "", "" };
	struct jetwatt_knobs k = { .owed = 0 };
	const struct passwd *user;
	struct jetwattd_listener l;
	int listening, signals, err;

	for (int i = 0; i < JETWATT_KNOBS_CLIENTS; i++)
		k.client[i].fd = -1;
	jetwatt_error_name("jetwatt-knobs");
	err = parse(argc, argv, &o);
	if (!err)
		err = open_board(o.root, &k.board);
	if (err)
		return err;
	/* Of one of us that was killed, and its guardian. */
	jetwatt_board_thaw(k.board);
	if (o.restore)
		return jetwatt_knobs_put_back(&k) != 0;
	user = getpwnam(o.user);
	if (!user)
		return fail("there is no user to serve", o.user,
			    "systemd-sysusers, or --user NAME");
	k.user = user->pw_uid;
	k.policy = o.conf;
	err = jetwattd_fence();
	if (err && !jetwattd_fence_lacks(err))
		return fail("cannot give up system calls", strerror(-err), "allow seccomp(2) where it runs");
	signals = open_signals();
	/* Before it has anything that a guardian should not have. */
	if (jetwatt_board_guardian(k.board, &e))
		return fail(e.what, e.why, e.fix);
	listening = open_socket(&o, user, &l);
	if (listening == -EADDRINUSE)
		return fail("cannot listen", "another jetwatt-knobs answers there", o.socket);
	if (listening < 0 || signals < 0)
		return fail("cannot listen", listening < 0 ? strerror(-listening) : strerror(errno),
			    o.socket);
	jetwattd_notify("READY=1");
	err = serve(&k, l.fd, signals);
	jetwattd_notify("STOPPING=1");
	jetwattd_listen_end(&l, o.socket);
	jetwatt_board_thaw(k.board);
	if ((k.holder || k.owed) && jetwatt_knobs_put_back(&k))
		err = 1;
	jetwatt_board_close(k.board);
	return err;
}
