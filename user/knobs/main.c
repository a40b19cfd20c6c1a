// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt-knobs: the part of jetwattd that has the right to write knobs. jetwatt-knobs knows only
 * the board (user/board), seven requests (request.c), and the cgroups of the policy's line "turns";
 * jetwattd, which runs without this right, decides which mode to apply.
 *
 * The board is restored, whichever process ends first: if jetwattd ends, by this program; if this
 * program is killed, by its guardian process (board/guardian.c); if both are, by jetwatt-knobs
 * --restore (ExecStopPost of the unit) or by jetwattd at its next start.
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
#include "util/seccomp.h"
#include "util/listen.h"
#include "util/notify.h"

#define USER		"jetwatt"
#define POLL_MS		1000

struct options {
	const char *socket, *user, *root, *conf;
	int restore;
};

static int knobs_fail(const char *what, const char *why, const char *fix)
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
		"  --socket PATH  socket for requests (" JETWATT_REMOTE_SOCKET ")\n"
		"  --user NAME    user that may connect, besides root (" USER ")\n"
		"  --conf FILE    jetwattd's policy, which names the cgroups that may be frozen\n"
		"  --restore      thaw the jobs, restore the board and exit\n"
		"  --root DIR     use /sys, /proc, /etc and /var/lib below DIR\n");
	return status;
}

static int knobs_parse(int argc, char **argv, struct options *o)
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

/* Open the board below @root. Return: 0 or an exit code; the error has been reported. */
static int knobs_open_board(const char *root, struct jetwatt_board **b)
{
	struct jetwatt_error_text e = { "", "", "" };
	char sys[256], proc[256], etc[256], state[256];
	struct jetwatt_board_roots roots = { .sys = sys, .proc = proc, .etc = etc, .state = state };

	snprintf(sys, sizeof(sys), "%s/sys", root);
	snprintf(proc, sizeof(proc), "%s/proc", root);
	snprintf(etc, sizeof(etc), "%s/etc", root);
	snprintf(state, sizeof(state), "%s/var/lib/jetwatt", root);
	return jetwatt_board_open(b, &roots, &e) ? knobs_fail(e.what, e.why, e.fix) : 0;
}

/* Listen on the socket. The group of the socket is the group of the user who may connect; the
 * systemd unit gives this process the same group. The user who connects is checked for each
 * connection. Return: as jetwattd_listen(). */
static int knobs_listen(const struct options *o, const struct passwd *user,
			struct jetwattd_listener *l)
{
	gid_t group = geteuid() == user->pw_uid ? (gid_t)-1 : user->pw_gid;

	return jetwattd_listen(l, o->socket, SOCK_SEQPACKET, group, 0, JETWATT_KNOBS_CLIENTS);
}

/* Block the signals that end the program, and receive these signals through a descriptor.
 * Return: the descriptor; -1 with errno. */
static int block_signals(void)
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

/* Serve requests. Return: 0 if a signal ended the program; 1 after an error, which has been
 * reported. */
static int knobs_serve(struct jetwatt_knobs *k, int listen, int signals)
{
	struct pollfd p[JETWATT_KNOBS_CLIENTS + 2];

	for (;;) {
		p[0] = (struct pollfd){ signals, POLLIN, 0 };
		p[1] = (struct pollfd){ listen, POLLIN, 0 };
		for (int i = 0; i < JETWATT_KNOBS_CLIENTS; i++)
			p[i + 2] = (struct pollfd){ k->client[i].fd, POLLIN, 0 };
		if (poll(p, JETWATT_KNOBS_CLIENTS + 2, POLL_MS) < 0 && errno != EINTR)
			return knobs_fail("cannot wait for requests", strerror(errno), "");
		jetwattd_notify("WATCHDOG=1");
		if (p[0].revents)
			return 0;
		if (!jetwatt_board_guarded(k->board))
			return knobs_fail("ending, because the guardian process has ended",
					  "without the guardian, a mode would stay applied if jetwatt-knobs were killed",
					  "nothing to do: systemd restarts both");
		for (int i = 0; i < JETWATT_KNOBS_CLIENTS; i++)
			if (p[i + 2].revents)
				jetwatt_knobs_receive(k, &k->client[i]);
		if (p[1].revents)
			jetwatt_knobs_accept(k, listen);
		if (k->owed && !k->holder)
			jetwatt_knobs_restore(k);
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
	err = knobs_parse(argc, argv, &o);
	if (!err)
		err = knobs_open_board(o.root, &k.board);
	if (err)
		return err;
	/* Jobs may be frozen if an earlier jetwatt-knobs and its guardian were killed. */
	jetwatt_board_thaw_all(k.board);
	if (o.restore)
		return jetwatt_knobs_restore(&k) != 0;
	user = getpwnam(o.user);
	if (!user)
		return knobs_fail("no such user", o.user, "run systemd-sysusers, or use --user NAME");
	k.user = user->pw_uid;
	k.policy = o.conf;
	err = jetwatt_seccomp_deny();
	if (err && !jetwatt_seccomp_unsupported(err))
		return knobs_fail("cannot install the system call filter", strerror(-err),
				  "allow seccomp(2) in the service or container");
	signals = block_signals();
	/* Start the guardian before the socket is opened, because the guardian must not inherit
	 * the socket. */
	if (jetwatt_board_guardian(k.board, &e))
		return knobs_fail(e.what, e.why, e.fix);
	listening = knobs_listen(&o, user, &l);
	if (listening == -EADDRINUSE)
		return knobs_fail("cannot listen", "another jetwatt-knobs listens on the socket", o.socket);
	if (listening < 0 || signals < 0)
		return knobs_fail("cannot listen", listening < 0 ? strerror(-listening) : strerror(errno),
				  o.socket);
	jetwattd_notify("READY=1");
	err = knobs_serve(&k, l.fd, signals);
	jetwattd_notify("STOPPING=1");
	jetwattd_listen_end(&l, o.socket);
	jetwatt_board_thaw_all(k.board);
	if ((k.holder || k.owed) && jetwatt_knobs_restore(&k))
		err = 1;
	jetwatt_board_close(k.board);
	return err;
}
