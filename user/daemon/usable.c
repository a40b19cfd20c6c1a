// SPDX-License-Identifier: GPL-2.0-only
/* Check the predictor and the idle mode of a policy. */
#include "daemon/jetwattd.h"

#include "tune/method.h"
#include "util/error.h"

int jetwattd_method(const struct jetwattd_policy *p, const struct jetwatt_predictor **by)
{
	char fix[160];

	*by = NULL;
	if (!*p->method)
		return 0;
	*by = jetwatt_method_to_fit(p->method);
	if (!*by)
		return JETWATT_EXIT_USAGE;
	if (jetwatt_method_light(*by))
		return 0;
	return jetwatt_error_report(JETWATT_EXIT_USAGE,
				 (*by)->kind & JETWATT_PREDICTOR_REFERENCE ?
				 "it needs a training corpus, which jetwattd does not have" :
				 "fitting it takes seconds of CPU time that the job needs",
				 jetwatt_method_list(fix, sizeof(fix), "method = ", jetwatt_method_light),
				 "method = %s cannot be used by jetwattd", p->method);
}

int jetwattd_usable(struct jetwattd *d, const struct jetwattd_policy *p)
{
	struct jetwatt_error_text e = { "", "", "" };
	const struct jetwatt_predictor *by;
	struct jetwatt_mode mode;
	int err = jetwattd_method(p, &by);

	if (err)
		return err;
	if (!*p->idle || (!jetwatt_board_mode_parse(d->act.board, p->idle, &mode) &&
			  !jetwatt_board_check_mode(d->act.board, &mode, &e)))
		return 0;
	return jetwatt_error_report(JETWATT_EXIT_USAGE, *e.what ? e.what : NULL, "jetwatt list modes",
				 "idle = %s is not a mode of this board", p->idle);
}
