// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt-files: tells jetwattd which of six kinds of file a descriptor of another user's process
 * refers to, or that this is unknown. It is the only service with CAP_SYS_PTRACE, which permits a
 * process to write the memory of any other process. Before it serves requests, jetwatt-files
 * therefore installs a system call filter that allows only the few calls that it needs.
 */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/fdname.h"
#include "util/seccomp.h"
#include "util/listen.h"
#include "util/notify.h"

#define USER	"jetwatt"
#define CLIENTS	4

static int files_fail(const char *what, const char *why, const char *fix)
{
	fprintf(stderr, "jetwatt-files: %s\n  why: %s\n  fix: %s\n", what, why, fix);
	return 1;
}

static int usage(int status)
{
	fprintf(status ? stderr : stdout,
		"Usage: jetwatt-files [--socket PATH] [--user NAME]\n"
		"Tell jetwattd which kind of file a descriptor of another process refers to.\n\n"
		"  --socket PATH  socket for requests (" JETWATT_FILES_SOCKET ")\n"
		"  --user NAME    user that may connect, besides root (" USER ")\n");
	return status;
}

static int files_parse(int argc, char **argv, const char **socket, const char **user)
{
	static const struct option known[] = {
		{ "socket", required_argument, NULL, 's' },
		{ "user", required_argument, NULL, 'u' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) >= 0)
		switch (c) {
		case 's':
			*socket = optarg;
			break;
		case 'u':
			*user = optarg;
			break;
		case 'h':
			exit(usage(0));
		case 'v':
			puts("jetwatt-files " JETWATT_VERSION);
			exit(0);
		default:
			return usage(2);
		}
	return optind < argc ? usage(2) : 0;
}

/* Accept a connection if a slot is free and the client's user is root or @user. */
static void files_accept(int listen, uid_t user, struct pollfd *client)
{
	int fd = accept4(listen, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), i = 0;
	struct ucred who;
	socklen_t len = sizeof(who);

	while (i < CLIENTS && client[i].fd >= 0)
		i++;
	if (fd < 0)
		return;
	if (i == CLIENTS || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) ||
	    (who.uid && who.uid != user)) {
		close(fd);
		return;
	}
	client[i] = (struct pollfd){ fd, POLLIN, 0 };
}

/* Respond to a request. A client that sends a request of another length, or does not read the
 * response, is disconnected. */
static void files_respond(struct pollfd *client)
{
	struct jetwatt_files_request r;
	ssize_t got = recv(client->fd, &r, sizeof(r), MSG_DONTWAIT | MSG_TRUNC);
	int32_t what;

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got == sizeof(r)) {
		what = jetwatt_fdname_local(r.tgid, r.fd);
		what = what < 0 ? JETWATT_FDNAME_GONE : what;
		if (send(client->fd, &what, sizeof(what), MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(what))
			return;
	}
	close(client->fd);
	client->fd = -1;
}

static void __attribute__((noreturn)) files_serve(int listen, uid_t user)
{
	struct pollfd p[CLIENTS + 1];

	for (int i = 0; i < CLIENTS; i++)
		p[i] = (struct pollfd){ -1, POLLIN, 0 };
	p[CLIENTS] = (struct pollfd){ listen, POLLIN, 0 };
	for (;;) {
		if (ppoll(p, CLIENTS + 1, NULL, NULL) < 0 && errno != EINTR)
			_exit(1);
		for (int i = 0; i < CLIENTS; i++)
			if (p[i].fd >= 0 && p[i].revents)
				files_respond(&p[i]);
		if (p[CLIENTS].revents)
			files_accept(listen, user, p);
	}
}

int main(int argc, char **argv)
{
	const char *path = JETWATT_FILES_SOCKET, *name = USER;
	struct jetwattd_listener l;
	const struct passwd *user;
	int err = files_parse(argc, argv, &path, &name);

	if (err)
		return err;
	user = getpwnam(name);
	if (!user)
		return files_fail("no such user", name, "run systemd-sysusers, or use --user NAME");
	err = jetwattd_listen(&l, path, SOCK_SEQPACKET,
			      geteuid() == user->pw_uid ? (gid_t)-1 : user->pw_gid, 0, CLIENTS);
	if (err)
		return files_fail("cannot listen", err == -EADDRINUSE ? "another jetwatt-files listens on the socket" :
				  strerror(-err), path);
	/* Another process of the same user must not be able to trace jetwatt-files and use its
	 * capability. */
	prctl(PR_SET_DUMPABLE, 0);
	jetwattd_notify("READY=1");
	err = jetwatt_seccomp_links_only();
	if (err)
		return files_fail("cannot install the system call filter", strerror(-err),
				  "use a kernel with CONFIG_SECCOMP_FILTER, on arm64 or x86-64");
	files_serve(l.fd, user->pw_uid);
}
