// SPDX-License-Identifier: GPL-2.0-only
/* jetwatt export -f profile: writes profiles of the database as CSV. */
#include "cmd/export/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/csv.h"
#include "store/pool.h"
#include "tune/profile_query.h"
#include "tune/profile_store.h"
#include "util/error.h"

/* Rows of all given profiles one after the other, and their minibatch sizes. @differ: 1: the
 * profiles have different minibatch sizes. */
struct rows {
	struct jetwatt_row *row;
	uint32_t *batch;
	size_t n;
	int differ;
};

/* Read a profile's own rows, or with --pooled those of other devices, releases or cgroups, merged
 * to one row for each mode. Return: number of rows; -1 - exit code after printing the error. */
static int export_read_rows(const struct jetwatt_export_args *o, struct jetwatt_db *db,
			    const struct jetwatt_db_profile *p, struct jetwatt_row **out)
{
	struct jetwatt_db_row *own = NULL;
	struct jetwatt_error_text e;
	int n = o->pooled ? jetwatt_pool_read_prior(db, &p->workload, out, &e) :
		jetwatt_db_rows(db, p->id, &own, &e);

	if (n < 0)
		return -1 - jetwatt_profile_store_error(n, &e);
	if (!o->pooled) {
		*out = calloc((size_t)n + 1, sizeof(**out));
		for (int i = 0; *out && i < n; i++)
			(*out)[i] = own[i].row;
	}
	free(own);
	return n;
}

static int export_gather_profile(const struct jetwatt_export_args *o, const char *name,
				 struct rows *all)
{
	struct jetwatt_row *row = NULL, *more;
	struct jetwatt_db_profile p;
	struct jetwatt_db *db = NULL;
	int err = jetwatt_profiles_find(o->db, name, &db, &p), n;
	uint32_t *sizes;

	if (err)
		return err;
	n = export_read_rows(o, db, &p, &row);
	jetwatt_db_close(db);
	if (n < 0)
		return -1 - n;
	more = reallocarray(all->row, all->n + (size_t)n + 1, sizeof(*more));
	all->row = more ? more : all->row;
	sizes = reallocarray(all->batch, all->n + (size_t)n + 1, sizeof(*sizes));
	all->batch = sizes ? sizes : all->batch;
	if (!more || !sizes || (n && !row))
		err = jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(ENOMEM),
					jetwatt_error_advice(ENOMEM), "cannot export");
	for (int i = 0; i < n && !err; i++) {
		all->differ |= all->n && all->batch[0] != p.workload.batch;
		all->batch[all->n] = p.workload.batch;
		all->row[all->n++] = row[i];
	}
	free(row);
	return err;
}

int jetwatt_export_profile(struct jetwatt_export_args *o, const struct jetwatt_export_format *format)
{
	struct rows all = { NULL, NULL, 0, 0 };
	int err = 0, rc;

	(void)format;
	for (int i = 0; i < (o->nr_what ? o->nr_what : 1) && !err; i++)
		err = export_gather_profile(o, o->nr_what ? o->what[i] : NULL, &all);
	for (size_t i = 0; i < all.n && all.differ && !err; i++)
		if (!all.batch[i])
			err = jetwatt_error_report(JETWATT_EXIT_FAILED,
						"the minibatch size of some profiles is unknown",
						"export one profile at a time",
						"cannot write profiles of different minibatch sizes into one file");
	if (!err && !all.n)
		err = jetwatt_error_report(JETWATT_EXIT_FAILED,
					o->pooled ? "no other device or release has measured this workload" :
						    "only other devices or releases have measured this workload",
					o->pooled ? "leave out --pooled" : "--pooled writes their measurements",
					"the profile has no rows");
	rc = err ? 0 : jetwatt_csv_print(o->f, all.row, all.differ ? all.batch : NULL, all.n, o->errors);
	if (rc)
		err = jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-rc),
					jetwatt_error_advice(-rc), "cannot write the profile");
	free(all.row);
	free(all.batch);
	return err;
}
