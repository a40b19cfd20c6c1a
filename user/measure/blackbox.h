/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records the module's black box to a trace: the samples before and after an over-current, a
 * thermal trip or a signal.
 */
#ifndef JETWATT_MEASURE_BLACKBOX_H
#define JETWATT_MEASURE_BLACKBOX_H

#include "measure/session.h"

/* The event that starts a recording; NONE: not a trigger. */
enum jetwatt_blackbox_trigger {
	JETWATT_BLACKBOX_NONE, JETWATT_BLACKBOX_SIGNAL, JETWATT_BLACKBOX_OVERCURRENT,
	JETWATT_BLACKBOX_THERMAL
};

/* Parse "oc", "thermal" or "signal". Return: JETWATT_BLACKBOX_NONE: another text. */
enum jetwatt_blackbox_trigger jetwatt_blackbox_parse(const char *text);

/**
 * jetwatt_blackbox_record() - wait for a trigger and record the samples around it
 * @w: a session that has subscribed to samples and has a probe; its waits of about the last @pre_s
 *	are recorded too
 * @trace: the trace, whose description has been written
 * @trigger: event that starts the recording; "signal" means SIGUSR1
 * @pre_s: duration of samples before the trigger, s; limited by the module's ring
 * @post_s: duration of samples after the trigger, s
 *
 * If the black box was filled by the trigger before the call, it is recorded at once. The box is
 * emptied when its samples have been read, or if another event has filled it. SIGINT, SIGQUIT,
 * SIGTERM and SIGHUP end the waiting; after the trigger, they end the recording before @post_s.
 * Prints an error.
 *
 * Return: exit code.
 */
int jetwatt_blackbox_record(struct jetwatt_session *w, struct jetwatt_trace_writer *trace,
			    enum jetwatt_blackbox_trigger trigger, double pre_s, double post_s);

#endif
