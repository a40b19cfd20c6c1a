// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "args.h"
#include "error.h"
#include "verbs.h"

#define USUAL		"/run/jetwatt/control"
#define PATIENCE_S	5

enum { SOCKET = JETWATT_ARGS_LONG };

struct input {
	struct jetwatt_args args;
	const char *socket;
	int json;
	char line[200];
};

static const struct argp_option options[] = {
	{ "socket", SOCKET, "PATH", 0, "The daemon's socket (" USUAL ")", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct input *in = state->input;
	size_t at = strlen(in->line);

	switch (key) {
	case SOCKET:
		in->socket = arg;
		break;
	case ARGP_KEY_ARG:
		if (strchr(arg, '\n') || at + strlen(arg) + 8 > sizeof(in->line))
			argp_error(state, "that is no request: %s", arg);
		snprintf(in->line + at, sizeof(in->line) - at, "%s%s", at ? " " : "", arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int cannot(const char *path, int err)
{
	return jetwatt_error_say(err == EACCES ? JETWATT_EXIT_PERMISSION : JETWATT_EXIT_FAILED,
				 err == ENOENT || err == ECONNREFUSED ? "it does not run" : strerror(err),
				 err == EACCES ? "become a member of the group that may ask, or root" :
				 "systemctl status jetwattd; another socket: --socket PATH",
				 "cannot ask jetwattd at %s", path);
}

static int ask(const char *path, const char *line, char *answer, size_t room)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct timeval patience = { PATIENCE_S, 0 };
	size_t len = 0;
	ssize_t got;
	int fd, err;

	if (strlen(path) >= sizeof(at.sun_path))
		return cannot(path, ENAMETOOLONG);
	strcpy(at.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return cannot(path, errno);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	errno = 0;
	if (connect(fd, (struct sockaddr *)&at, sizeof(at)) ||
	    send(fd, line, strlen(line), MSG_NOSIGNAL) < 0) {
		err = errno;
		close(fd);
		return cannot(path, err);
	}
	while (len < room - 1 && (got = recv(fd, answer + len, room - 1 - len, 0)) > 0)
		len += (size_t)got;
	err = errno;
	close(fd);
	answer[len] = '\0';
	return len ? 0 : cannot(path, err ? err : EPROTO);
}

int jetwatt_cmd_daemon(int argc, char **argv)
{
	struct input in = { .socket = USUAL };
	static const struct jetwatt_args_group group[] = {
		{ &jetwatt_args_json_argp, offsetof(struct input, json) }, { NULL, 0 },
	};
	static char answer[65536];
	int err;

	jetwatt_args_parse_with("daemon", "[status]\nmetrics [openmetrics]\nbudget WATTS|policy\npause\nresume",
			   "Ask jetwattd what it does, or tell it to do something else.\v"
			   "A budget that is told holds until the daemon ends, or \"budget policy\". "
			   "Paused, it leaves the board as it was found.",
			   options, parse, group, argc, argv, &in);
	if (!*in.line)
		strcpy(in.line, "status");
	strcat(in.line, in.json && !strcmp(in.line, "status") ? " json\n" : "\n");
	err = ask(in.socket, in.line, answer, sizeof(answer));
	if (err)
		return err;
	if (!strncmp(answer, "refused: ", 9)) {
		answer[strcspn(answer, "\n")] = '\0';
		return jetwatt_error_say(strstr(answer, "group") ? JETWATT_EXIT_PERMISSION :
					 JETWATT_EXIT_USAGE, NULL, answer + 9, "jetwattd refuses");
	}
	if (strcmp(answer, "done\n"))
		fputs(answer, stdout);
	return 0;
}
