// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt daemon: send one request line to the control socket of jetwattd and print the response.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "cmd/verbs.h"
#include "util/args.h"
#include "util/error.h"
#include "util/unix_request.h"

enum { SOCKET = JETWATT_ARGS_LONG };

struct daemon_input {
	struct jetwatt_args args;
	const char *socket;
	int json;
	char line[200];
};

static const struct argp_option options[] = {
	{ "socket", SOCKET, "PATH", 0, "Control socket of jetwattd; default: " JETWATT_CONTROL_SOCKET, 0 },
	{ 0 }
};

static error_t daemon_parse(int key, char *arg, struct argp_state *state)
{
	struct daemon_input *in = state->input;
	size_t at = strlen(in->line);

	switch (key) {
	case SOCKET:
		in->socket = arg;
		break;
	case ARGP_KEY_ARG:
		if (strchr(arg, '\n') || at + strlen(arg) + 8 > sizeof(in->line))
			argp_error(state, "not a valid request: %s", arg);
		snprintf(in->line + at, sizeof(in->line) - at, "%s%s", at ? " " : "", arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int daemon_request_failed(const char *path, int err)
{
	return jetwatt_error_report(err == EACCES ? JETWATT_EXIT_PERMISSION : JETWATT_EXIT_FAILED,
				 err == ENOENT || err == ECONNREFUSED ? "jetwattd is not running" :
				 strerror(err),
				 err == EACCES ?
				 "run as root, or join the group that may query jetwattd (default: jetwatt)" :
				 "systemctl status jetwattd; if it uses another socket: --socket PATH",
				 "cannot send a request to jetwattd at %s", path);
}

int jetwatt_cmd_daemon(int argc, char **argv)
{
	struct daemon_input in = { .socket = JETWATT_CONTROL_SOCKET };
	static const struct jetwatt_args_group group[] = {
		{ &jetwatt_args_json_argp, offsetof(struct daemon_input, json) }, { NULL, 0 },
	};
	static char answer[JETWATTD_RESPONSE_MAX + 1];
	int err;

	jetwatt_args_parse_with("daemon", "[status]\nmetrics [openmetrics]\nbudget WATTS|policy\npause\nresume",
			   "Query and control jetwattd.\v"
			   "\"budget WATTS\" is in force until jetwattd ends or \"budget policy\" "
			   "is sent. \"pause\" restores the knobs, and jetwattd sets no knob until "
			   "\"resume\".",
			   options, daemon_parse, group, argc, argv, &in);
	if (!*in.line)
		strcpy(in.line, "status");
	strcat(in.line, in.json && !strcmp(in.line, "status") ? " json\n" : "\n");
	err = jetwatt_unix_request(in.socket, SOCK_STREAM, in.line, answer, sizeof(answer));
	if (err)
		return daemon_request_failed(in.socket, -err);
	if (!strncmp(answer, JETWATTD_REFUSED, strlen(JETWATTD_REFUSED))) {
		answer[strcspn(answer, "\n")] = '\0';
		return jetwatt_error_report(!strncmp(answer, JETWATTD_NOT_PERMITTED, strlen(JETWATTD_NOT_PERMITTED)) ?
					 JETWATT_EXIT_PERMISSION : JETWATT_EXIT_USAGE, NULL,
					 answer + strlen(JETWATTD_REFUSED), "jetwattd refused the request");
	}
	if (strcmp(answer, "done\n"))
		fputs(answer, stdout);
	return 0;
}
