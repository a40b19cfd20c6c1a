// SPDX-License-Identifier: GPL-2.0-only
/* Requests for the profile database: client and server side. Each end checks the data of the other
 * end before use. */
#include "sync/door.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "sync/server.h"
#include "util/error.h"

/* Version of the layout of requests, responses and rows; increase it with each change. */
#define FORM	1u

enum verb { PLACE, KEEP, OWN, TAKE, BOARDS, VERBS };

/**
 * struct door_request - a request
 * @form: FORM
 * @row: size of a row, in bytes, as a further check of the version
 * @verb: enum verb: read the progress (PLACE) or store it (KEEP), read rows of this device (OWN),
 *	store those of others (TAKE), or list the names of boards (BOARDS)
 * @rows: number of rows that follow
 * @after: OWN: rows with a higher id are returned
 * @pool: PLACE and KEEP: name of the pool
 * @place: KEEP: progress of the exchange with the pool
 */
struct door_request {
	uint32_t form, row, verb, rows;
	int64_t after;
	char pool[192];
	struct jetwatt_pool_progress place;
};

/**
 * struct door_response - a response
 * @rc: return value of the function that the request has called
 * @rows: number of rows that follow
 * @invalid: in the response to TAKE, number of rows that are not valid measurements
 * @place: in the response to PLACE, progress of the exchange with the pool
 * @board: in the response to BOARDS, names of the boards
 * @err: text of the error, if @rc is negative
 */
struct door_response {
	int32_t rc;
	uint32_t rows;
	uint64_t invalid;
	struct jetwatt_pool_progress place;
	char board[JETWATT_DOOR_BOARDS][JETWATT_DOOR_BOARD];
	struct jetwatt_error_text err;
};

/* Receive @len bytes. Return: 1 on success; 0: the connection was closed before the first byte;
 * -EPROTO: closed later; other negative errno. */
static int door_recv(int fd, void *buf, size_t len)
{
	size_t at = 0;
	ssize_t n;

	while (at < len) {
		n = recv(fd, (char *)buf + at, len - at, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : at ? -EPROTO : 0;
		at += (size_t)n;
	}
	return 1;
}

/* Send @len bytes. Return: 0, negative errno. */
static int door_send(int fd, const void *buf, size_t len)
{
	size_t at = 0;
	ssize_t n;

	while (at < len) {
		n = send(fd, (const char *)buf + at, len - at, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += (size_t)n;
	}
	return 0;
}

/* Terminate a text that was received. */
#define END(text)	((text)[sizeof(text) - 1] = '\0')

/* Make a received row safe to use: terminate its texts, and set @settled to 0 or 1. */
static void sanitize_row(struct jetwatt_pool_row *r)
{
	struct jetwatt_workload *w = &r->workload;
	unsigned char settled;

	END(r->device);
	END(w->command);
	END(w->cgroup);
	END(w->board);
	END(w->release);
	END(w->params);
	END(r->row.key);
	memcpy(&settled, &r->row.settled, 1);
	r->row.settled = settled != 0;
}

/* Describe a broken connection. Return: -EPROTO. */
static int connection_lost(struct jetwatt_error_text *err, int rc)
{
	snprintf(err->what, sizeof(err->what), "cannot reach the profile database");
	snprintf(err->why, sizeof(err->why), "%s",
		 rc == -EPROTO || !rc ? "the process behind the socket closed the connection, or is another version" :
		 strerror(-rc));
	snprintf(err->fix, sizeof(err->fix), "systemctl status jetwatt-profiles.socket; journalctl -u 'jetwatt-profiles*'");
	return -EPROTO;
}

/* Send a request and receive the response. @row: rows to send with the request, NULL: no rows.
 * Return: the return code in the response; -EPROTO if the connection fails or the response is not
 * valid. */
static int door_call(struct jetwatt_profile_access *d, struct door_request *q, const struct jetwatt_pool_row *row,
		     struct door_response *a, struct jetwatt_error_text *err)
{
	int rc;

	q->form = FORM;
	q->row = sizeof(*row);
	rc = door_send(d->fd, q, sizeof(*q));
	if (!rc && q->rows)
		rc = door_send(d->fd, row, q->rows * sizeof(*row));
	if (!rc)
		rc = door_recv(d->fd, a, sizeof(*a)) == 1 ? 0 : -EPROTO;
	if (rc || a->rows > JETWATT_SYNC_ROWS || a->rc > JETWATT_SYNC_ROWS)
		return connection_lost(err, rc);
	END(a->err.what);
	END(a->err.why);
	END(a->err.fix);
	END(a->place.seen);
	*err = a->err;
	return a->rc;
}

static void door_set_pool(struct door_request *q, const char *pool)
{
	snprintf(q->pool, sizeof(q->pool), "%s", pool);
}

int jetwatt_profile_access_progress(struct jetwatt_profile_access *d, const char *pool, struct jetwatt_pool_progress *p,
		       struct jetwatt_error_text *err)
{
	struct door_request q = { .verb = PLACE };
	struct door_response a;
	int rc;

	if (d->db)
		return jetwatt_pool_progress(d->db, pool, p, err);
	door_set_pool(&q, pool);
	rc = door_call(d, &q, NULL, &a, err);
	if (!rc)
		*p = a.place;
	return rc;
}

int jetwatt_profile_access_progress_store(struct jetwatt_profile_access *d, const char *pool, const struct jetwatt_pool_progress *p,
		      struct jetwatt_error_text *err)
{
	struct door_request q = { .verb = KEEP, .place = *p };
	struct door_response a;

	if (d->db)
		return jetwatt_pool_progress_store(d->db, pool, p, err);
	door_set_pool(&q, pool);
	return door_call(d, &q, NULL, &a, err);
}

int jetwatt_profile_access_read_own(struct jetwatt_profile_access *d, int64_t after, struct jetwatt_pool_row **row,
		     struct jetwatt_error_text *err)
{
	struct door_request q = { .verb = OWN, .after = after };
	struct door_response a;
	int rc;

	if (d->db)
		return jetwatt_pool_read_own(d->db, after, JETWATT_SYNC_ROWS, row, err);
	rc = door_call(d, &q, NULL, &a, err);
	if (rc <= 0)
		return rc;
	*row = calloc(JETWATT_SYNC_ROWS, sizeof(**row));
	if (!*row || (uint32_t)rc != a.rows || door_recv(d->fd, *row, a.rows * sizeof(**row)) != 1) {
		free(*row);
		*row = NULL;
		return connection_lost(err, -EPROTO);
	}
	for (int i = 0; i < rc; i++)
		sanitize_row(&(*row)[i]);
	return rc;
}

int jetwatt_profile_access_store(struct jetwatt_profile_access *d, const struct jetwatt_pool_row *row, size_t n,
		      uint64_t *invalid, struct jetwatt_error_text *err)
{
	struct door_request q = { .verb = TAKE, .rows = (uint32_t)n };
	struct door_response a;
	int rc;

	if (d->db)
		return jetwatt_pool_store(d->db, row, n, invalid, err);
	rc = door_call(d, &q, row, &a, err);
	if (rc >= 0)
		*invalid += a.invalid;
	return rc;
}

/* As jetwatt_profile_access_boards(), from the database. */
static int list_boards(struct jetwatt_db *db, char board[JETWATT_DOOR_BOARDS][JETWATT_DOOR_BOARD],
		       struct jetwatt_error_text *err)
{
	struct jetwatt_db_profile *p = NULL;
	int n = jetwatt_db_profiles(db, &p, err), nr = 0;

	for (int i = 0; i < n && nr < JETWATT_DOOR_BOARDS; i++) {
		int k = 0;

		while (k < nr && strcmp(board[k], p[i].workload.board))
			k++;
		if (k == nr && p[i].rows && *p[i].workload.board)
			snprintf(board[nr++], JETWATT_DOOR_BOARD, "%s", p[i].workload.board);
	}
	free(p);
	return n < 0 ? n : nr;
}

int jetwatt_profile_access_boards(struct jetwatt_profile_access *d, char board[JETWATT_DOOR_BOARDS][JETWATT_DOOR_BOARD],
			struct jetwatt_error_text *err)
{
	struct door_request q = { .verb = BOARDS };
	struct door_response a;
	int rc;

	if (d->db)
		return list_boards(d->db, board, err);
	rc = door_call(d, &q, NULL, &a, err);
	if (rc > JETWATT_DOOR_BOARDS)
		return connection_lost(err, -EPROTO);
	for (int i = 0; i < rc; i++) {
		END(a.board[i]);
		memcpy(board[i], a.board[i], JETWATT_DOOR_BOARD);
	}
	return rc;
}

int jetwatt_profile_access_open(struct jetwatt_profile_access *d, const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int err = ENAMETOOLONG;

	*d = (struct jetwatt_profile_access){ .fd = -1 };
	if (strlen(path) < sizeof(at.sun_path)) {
		strcpy(at.sun_path, path);
		d->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		err = d->fd < 0 || connect(d->fd, (struct sockaddr *)&at, sizeof(at)) ? errno : 0;
	}
	return err ? jetwatt_error_report(err == EACCES ? JETWATT_EXIT_PERMISSION : JETWATT_EXIT_FAILED, strerror(err),
				       "systemctl start jetwatt-profiles.socket",
				       "cannot reach the profile database at %s", path) : 0;
}

void jetwatt_profile_access_close(struct jetwatt_profile_access *d)
{
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
	jetwatt_db_close(d->db);
	d->db = NULL;
}

/* Execute a request and send the response. @row: the @q->rows rows that came with the request.
 * Return: 0, negative errno. */
static int door_respond(int fd, struct jetwatt_db *db, struct door_request *q, struct jetwatt_pool_row *row)
{
	struct jetwatt_pool_row *own = NULL;
	struct door_response a = { .rc = 0 };
	int rc;

	END(q->pool);
	END(q->place.seen);
	switch (q->verb) {
	case PLACE:
		a.rc = jetwatt_pool_progress(db, q->pool, &a.place, &a.err);
		break;
	case KEEP:
		a.rc = jetwatt_pool_progress_store(db, q->pool, &q->place, &a.err);
		break;
	case OWN:
		a.rc = jetwatt_pool_read_own(db, q->after, JETWATT_SYNC_ROWS, &own, &a.err);
		a.rows = a.rc > 0 ? (uint32_t)a.rc : 0;
		break;
	case TAKE:
		a.rc = jetwatt_pool_store(db, row, q->rows, &a.invalid, &a.err);
		break;
	default:
		a.rc = list_boards(db, a.board, &a.err);
	}
	rc = door_send(fd, &a, sizeof(a));
	if (!rc && a.rows)
		rc = door_send(fd, own, a.rows * sizeof(*own));
	free(own);
	return rc;
}

int jetwatt_profile_access_serve(int fd, struct jetwatt_db *db)
{
	struct jetwatt_pool_row *row = calloc(JETWATT_SYNC_ROWS, sizeof(*row));
	struct door_request q;
	int rc = row ? 1 : -ENOMEM;

	while (rc == 1) {
		rc = door_recv(fd, &q, sizeof(q));
		if (rc != 1)
			break;
		if (q.form != FORM || q.row != sizeof(*row) || q.verb >= VERBS ||
		    q.rows > (q.verb == TAKE ? JETWATT_SYNC_ROWS : 0)) {
			rc = -EPROTO;
			break;
		}
		rc = q.rows ? door_recv(fd, row, q.rows * sizeof(*row)) : 1;
		for (uint32_t i = 0; rc == 1 && i < q.rows; i++)
			sanitize_row(&row[i]);
		if (rc == 1)
			rc = door_respond(fd, db, &q, row) ?: 1;
		else if (!rc)
			rc = -EPROTO;
	}
	free(row);
	return rc;
}
