// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt-sync: pushes the measurements of this device to the fleet's pool, and pulls those of
 * other devices. With --serve, it serves the profile database (door.h). It is a program of its
 * own, started by "jetwatt sync", so that devices without a pool need no libpq.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/connect.h"
#include "out/json.h"
#include "sync/door.h"
#include "sync/server.h"
#include "tune/profile_store.h"
#include "util/args.h"
#include "util/device_id.h"
#include "util/error.h"
#include "util/settings.h"

#define BOARDS_MAX	JETWATT_DOOR_BOARDS

enum { DEVICE = JETWATT_ARGS_LONG, BOARD, POOL, AGAIN, JSON, THROUGH, SERVE };

struct sync_input {
	struct jetwatt_args args;
	const char *db, *pool, *device, *through;
	const char *board[BOARDS_MAX];
	size_t boards;
	int json, again, serve;
};

static const struct argp_option options[] = {
	{ "pool", POOL, "CONNINFO", 0,
	  "Connection string of the pool, as for psql; default: JETWATT_POOL or the setting pool, otherwise libpq's variables", 0 },
	{ "board", BOARD, "NAME", 0,
	  "Pull measurements of boards of this name; can be given several times; default: this board, or if it is no Jetson, those in the database", 0 },
	{ "device", DEVICE, "NAME", 0, "Name of this device in the pool; default: a hash of its machine-id", 0 },
	{ "again", AGAIN, NULL, 0, "Push and pull all rows again, for example after the pool was restored from a backup", 0 },
	{ "json", JSON, NULL, 0, "Print the numbers of rows as JSON", 0 },
	{ "through", THROUGH, "SOCKET", 0, "Access the profile database through this Unix socket instead of opening it", 0 },
	{ "serve", SERVE, NULL, 0, "Serve the profile database to a client on standard input; started by systemd", 0 },
	{ 0 }
};

static error_t sync_parse(int key, char *arg, struct argp_state *state)
{
	struct sync_input *in = state->input;

	switch (key) {
	case POOL:
		in->pool = arg;
		break;
	case DEVICE:
		if (!*arg || strlen(arg) >= JETWATT_DEVICE_NAME)
			argp_error(state, "--device: 1 to 64 characters");
		in->device = arg;
		break;
	case BOARD:
		if (in->boards == BOARDS_MAX)
			argp_error(state, "--board: give at most %d boards", BOARDS_MAX);
		in->board[in->boards++] = arg;
		break;
	case AGAIN:
		in->again = 1;
		break;
	case JSON:
		in->json = 1;
		break;
	case THROUGH:
		in->through = arg;
		break;
	case SERVE:
		in->serve = 1;
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected \"%s\"", arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/**
 * struct sync - state of an exchange
 * @door: profile database
 * @server: the pool
 * @pushed: result of the push
 * @pulled: number of pulled rows of other devices that the database did not have
 * @invalid: number of rows of the pool that are not valid measurements
 */
struct sync {
	struct jetwatt_profile_access door;
	struct jetwatt_server server;
	struct jetwatt_server_pushed pushed;
	uint64_t pulled, invalid;
};

/* If no board was given, pull rows of this board; if this machine is no Jetson, pull rows of up to
 * BOARDS_MAX boards of which the database has own measurements. @name: buffer for the names of the
 * boards. Return: 0 or an exit code. */
static int find_boards(struct sync_input *in, struct jetwatt_profile_access *door, char name[BOARDS_MAX][96])
{
	struct jetwatt_board_roots_in at;
	struct jetwatt_board *board = NULL;
	struct jetwatt_error_text e;
	int n;

	if (in->boards)
		return 0;
	if (!jetwatt_board_open(&board, jetwatt_board_roots_in(getenv("JETWATT_ROOT"), &at), NULL) &&
	    jetwatt_board_is_jetson(board)) {
		snprintf(name[0], sizeof(name[0]), "%s", jetwatt_board_name(board));
		in->board[in->boards++] = name[0];
	}
	jetwatt_board_close(board);
	if (in->boards)
		return 0;
	n = jetwatt_profile_access_boards(door, name, &e);
	for (int i = 0; i < n; i++)
		in->board[in->boards++] = name[i];
	return n < 0 ? jetwatt_profile_store_error(n, &e) : 0;
}

/* Push the rows of this device with an id above @place->pushed, except those that set an optional
 * knob, and store the progress. Return: 0 or an exit code. */
static int push_rows(struct sync *y, const char *device, struct jetwatt_pool_progress *place)
{
	struct jetwatt_error_text e;
	int code = 0, n;

	do {
		struct jetwatt_pool_row *row = NULL;

		n = jetwatt_profile_access_read_own(&y->door, place->pushed, &row, &e);
		if (n < 0)
			return jetwatt_profile_store_error(n, &e);
		if (n)
			code = jetwatt_server_push(&y->server, device, row, (size_t)n, &y->pushed);
		if (n && !code) {
			place->pushed = row[n - 1].id;
			n = jetwatt_profile_access_progress_store(&y->door, y->server.id, place, &e) ?: n;
		}
		free(row);
	} while (!code && n == JETWATT_SYNC_ROWS);
	return code ?: n < 0 ? jetwatt_profile_store_error(n, &e) : 0;
}

/* Callback of jetwatt_server_pull(): store the valid ones of the rows of other devices. */
static int store_pulled(const struct jetwatt_pool_row *row, size_t n, void *arg)
{
	struct jetwatt_error_text e;
	struct sync *y = arg;
	int fresh = jetwatt_profile_access_store(&y->door, row, n, &y->invalid, &e);

	if (fresh < 0)
		return jetwatt_profile_store_error(fresh, &e);
	y->pulled += (uint64_t)fresh;
	return 0;
}

/* Pull the rows of one kind of board. The progress of the pull is stored for each kind of board
 * separately. Return: 0 or an exit code. */
static int pull_board(struct sync *y, const char *device, const char *board, int again)
{
	struct jetwatt_pool_progress place;
	struct jetwatt_error_text e;
	char pool[192], upto[32];
	int code, err;

	snprintf(pool, sizeof(pool), "%s %s", y->server.id, board);
	err = jetwatt_profile_access_progress(&y->door, pool, &place, &e);
	if (err)
		return jetwatt_profile_store_error(err, &e);
	code = jetwatt_server_pull(&y->server, device, board, again ? "" : place.seen, upto, store_pulled, y);
	if (code)
		return code;
	memcpy(place.seen, upto, sizeof(place.seen));
	err = jetwatt_profile_access_progress_store(&y->door, pool, &place, &e);
	return err ? jetwatt_profile_store_error(err, &e) : 0;
}

static void report_result(const struct sync_input *in, const struct sync *y)
{
	struct jetwatt_json j;

	if (in->json) {
		jetwatt_json_init(&j, stdout, 1);
		jetwatt_json_object(&j, NULL);
		jetwatt_json_uint(&j, "pushed", y->pushed.fresh);
		jetwatt_json_uint(&j, "pulled", y->pulled);
		jetwatt_json_uint(&j, "refused", y->invalid);
		jetwatt_json_uint(&j, "refused_by_pool", y->pushed.refused);
		jetwatt_json_end(&j);
		putchar('\n');
	} else if (!in->args.quiet) {
		printf("pushed %llu new rows of this device, pulled %llu new rows of other devices\n",
		       (unsigned long long)y->pushed.fresh, (unsigned long long)y->pulled);
	}
	if (y->invalid)
		jetwatt_notice("ignored rows of the pool that are not valid measurements: %llu",
				   (unsigned long long)y->invalid);
	if (y->pushed.refused)
		jetwatt_notice("rows of this device refused by the pool: %llu (%s); when the pool accepts them, run jetwatt sync --again",
				   (unsigned long long)y->pushed.refused, y->pushed.why);
}

static int sync_all(struct sync_input *in, struct sync *y, const char *device)
{
	char board[BOARDS_MAX][96], buf[512];
	struct jetwatt_pool_progress place;
	struct jetwatt_error_text e;
	int code = find_boards(in, &y->door, board), err;

	if (!code)
		code = jetwatt_server_open(&y->server, in->pool ? in->pool :
					   jetwatt_settings_get("pool", buf, sizeof(buf)));
	if (code)
		return code;
	err = jetwatt_profile_access_progress(&y->door, y->server.id, &place, &e);
	if (err)
		return jetwatt_profile_store_error(err, &e);
	if (in->again)
		place.pushed = 0;
	code = push_rows(y, device, &place);
	for (size_t i = 0; i < in->boards && !code; i++)
		code = pull_board(y, device, in->board[i], in->again);
	return code;
}

/* Open the database in this process. Return: 0 or an exit code; the error has been reported. */
static int open_db(const struct sync_input *in, struct jetwatt_profile_access *door)
{
	char buf[256];
	const char *path = jetwatt_profile_store_path(in->db, buf, sizeof(buf));
	struct jetwatt_error_text e;
	int err;

	*door = (struct jetwatt_profile_access){ .fd = -1 };
	if (!strcmp(path, "none"))
		return jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "use --db FILE", "no profile database to share");
	err = jetwatt_db_open(&door->db, path, true, &e);
	return err ? jetwatt_profile_store_error(err, &e) : 0;
}

static int serve_database(struct jetwatt_profile_access *door)
{
	int err = jetwatt_profile_access_serve(0, door->db);

	return err ? jetwatt_error_report(JETWATT_EXIT_FAILED,
				err == -EPROTO ? "the client sent data that is not a request" :
				       strerror(-err), "use the same version of jetwatt-sync on both ends",
				       "closed the connection to the client") : 0;
}

int main(int argc, char **argv)
{
	static const struct jetwatt_args_group group[] = {
		{ &jetwatt_profile_store_db_argp, offsetof(struct sync_input, db) }, { NULL, 0 },
	};
	struct sync_input in = { .db = NULL };
	char device[JETWATT_DEVICE_NAME];
	struct sync y = { .pushed = 0 };
	int code;

	jetwatt_args_parse_with("sync", "", "Share measured modes with the fleet: push those of this device, pull those of similar boards.\v"
				"Rows of other devices do not count as measurements of this device: --reuse uses "
				"them as a prior, and measures a few modes to check them.",
				options, sync_parse, group, argc, argv, &in);
	if (in.through && (in.db || in.serve))
		return jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
					    "use only one of these two options",
					 "--through cannot be combined with --%s", in.db ? "db" : "serve");
	code = in.serve ? 0 : jetwatt_device_name(in.device, device);
	if (code)
		return code;
	code = in.through ? jetwatt_profile_access_open(&y.door, in.through) : open_db(&in, &y.door);
	if (!code && in.serve)
		code = serve_database(&y.door);
	else if (!code)
		code = sync_all(&in, &y, device);
	if (!code && !in.serve)
		report_result(&in, &y);
	jetwatt_server_close(&y.server);
	jetwatt_profile_access_close(&y.door);
	return code;
}
