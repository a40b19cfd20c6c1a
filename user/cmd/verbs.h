/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The verbs, one function per verb; jetwatt.c calls them. argv[0] is the verb's name. Return: the
 * exit status of jetwatt: JETWATT_EXIT_* of util/error.h, or the exit status of the command that
 * the verb ran.
 */
#ifndef JETWATT_CMD_VERBS_H
#define JETWATT_CMD_VERBS_H

/* ROW(group, NAME, text): the verb NAME is the function jetwatt_cmd_NAME(). jetwatt --help and
 * jetwatt(1) list the rows in this order. */
#define JETWATT_VERBS(ROW) \
	ROW(inspect, doctor, "Check board, module and probe; say how to fix problems") \
	ROW(inspect, list, "List rails, clocks, knobs, modes, presets, profiles") \
	ROW(measure, stat, "Measure time, power and energy per minibatch of a job") \
	ROW(measure, mark, "Mark the start and the end of a minibatch") \
	ROW(measure, top, "Show rails, clocks and jobs, live or from a trace") \
	ROW(measure, record, "Record all samples and waits of a job in a trace") \
	ROW(measure, report, "Print the statistics of a trace, or write an HTML page") \
	ROW(measure, compare, "Show which quantities differ between two traces") \
	ROW(model, profile, "Measure a running job in a few power modes") \
	ROW(model, predict, "Predict all power modes from a profile") \
	ROW(model, eval, "Evaluate a method or strategy on measured modes") \
	ROW(model, roofline, "Count the operations and bytes of a neural network") \
	ROW(control, optimize, "Find, apply and verify the best mode under a budget") \
	ROW(control, schedule, "Run training and a server in alternating time slices") \
	ROW(control, apply, "Switch to a power mode; roll back if a knob fails") \
	ROW(control, restore, "Restore the knob values from before the first switch") \
	ROW(control, daemon, "Query and control jetwattd") \
	ROW(share, import, "Import measured modes from a file into the database") \
	ROW(share, sync, "Share measured modes with a fleet of devices") \
	ROW(share, export, "Convert a trace, profile or modes for other programs")

#define JETWATT_VERB_DECLARE(group, name, does)	int jetwatt_cmd_##name(int argc, char **argv);
JETWATT_VERBS(JETWATT_VERB_DECLARE)

#endif
