/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The module's black box into a trace: what came before an over-current, heat or
 * a signal, and what came after.
 */
#ifndef JETWATT_MEASURE_BLACKBOX_H
#define JETWATT_MEASURE_BLACKBOX_H

#include "measure/session.h"

/* What is waited for. */
enum jetwatt_blackbox_trigger {
	JETWATT_BLACKBOX_NONE, JETWATT_BLACKBOX_SIGNAL, JETWATT_BLACKBOX_OVERCURRENT,
	JETWATT_BLACKBOX_THERMAL
};

/* "oc", "thermal" or "signal". Return: NONE: no such trigger. */
enum jetwatt_blackbox_trigger jetwatt_blackbox_parse(const char *text);

/**
 * jetwatt_blackbox_record() - wait for the trigger, write what was and what comes
 * @w: subscribed, with a probe; its waits of the last @pre_s are kept
 * @trace: described already
 * @pre_s: as far as the module's ring reaches
 *
 * SIGUSR1 is the signal; whatever the trigger, SIGINT and the like end the waiting.
 * What the box held already is what is written, without waiting. The box is
 * cleared when it is on its way into @trace. Says what is wrong.
 * Return: exit code.
 */
int jetwatt_blackbox_record(struct jetwatt_watch *w, struct jetwatt_trace_writer *trace,
			    enum jetwatt_blackbox_trigger trigger, double pre_s, double post_s);

#endif
