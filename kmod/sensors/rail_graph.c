// SPDX-License-Identifier: GPL-2.0
/*
 * Determine which rail feeds which, and which rails make up the total, from the tables of
 * board_rails.h and the rails that are measured.
 */
#include "sensors/rail_graph.h"

#include <linux/bitops.h>
#include <linux/jetwatt.h>
#include <linux/kernel.h>
#include <linux/of.h>
#include <linux/string.h>
#include "sensors/board_rails.h"
#include "sensors/board.h"

/**
 * struct board_desc - a board with a table of rails
 * @compatible: substring of the root node's compatible string, usually the module's part number; in
 *	the strings of developer kits, the carrier's part number precedes it
 *	("p3737-0000+p3701-0000")
 * @scope: scope of the total if all inputs of the module are measured, enum jetwatt_scope
 * @shunt_offset: true if the chips read one LSB below zero when a shunt has no current
 * @node: table of the board's rails
 */
struct board_desc {
	const char *compatible;
	u32 scope;
	bool shunt_offset;
	const struct jetwatt_node *node;
};

/*
 * The board is the first entry whose @compatible is contained in one of the root node's compatible
 * strings.
 */
static const struct board_desc boards[] = {
	{ "p3701", JETWATT_SCOPE_MODULE, false, agx_orin_rails },	/* AGX and IGX Orin */
	{ "p3767", JETWATT_SCOPE_MODULE, false, one_input_rails },	/* Orin NX and Nano */
	{ "p2888", JETWATT_SCOPE_MODULE, true, agx_xavier_rails },
	{ "p2972", JETWATT_SCOPE_MODULE, true, agx_xavier_rails },	/* mainline's name */
	/* p2888-0008 and, on NVIDIA's e3366 carrier, p2888-0001 and -0006 (L4T 35) */
	{ "jetson-xavier-industrial", JETWATT_SCOPE_MODULE, true, agx_xavier_rails },
	{ "nvidia,galen", JETWATT_SCOPE_MODULE, true, agx_xavier_rails },
	{ "p3668", JETWATT_SCOPE_MODULE, false, one_input_rails },	/* Xavier NX */
	{ "p3834", JETWATT_SCOPE_MODULE, false, thor_rails },
	{ "nvidia,tegra264", JETWATT_SCOPE_MODULE, false, thor_rails },
};

static const struct board_desc unknown = { "", JETWATT_SCOPE_PARTIAL, false, anywhere_rails };

/*
 * Written under jetwatt_board.lock. A single field may be read without the lock; two fields read
 * without it may not match.
 */
static struct {
	u32 parent[JETWATT_RAILS_MAX];
	unsigned long total;
	u32 scope;
} graph = { .scope = JETWATT_SCOPE_PARTIAL };

static const struct board_desc *find_board(void)
{
	struct device_node *root = of_find_node_by_path("/");
	const struct board_desc *board = &unknown;
	struct property *prop;
	const char *name;
	unsigned int i;

	for (i = 0; root && i < ARRAY_SIZE(boards) && board == &unknown; i++)
		of_property_for_each_string(root, "compatible", prop, name)
			if (strstr(name, boards[i].compatible))
				board = &boards[i];
	of_node_put(root);
	return board;
}

static u32 find_rail(const char *label)
{
	unsigned int i;

	for (i = 0; label && i < jetwatt_rail_count(); i++)
		if (!strcmp(jetwatt_rail_at(i)->label, label))
			return i;
	return JETWATT_GRAPH_NO_PARENT;
}

/* The power of a rail is measured if its shunt resistance is known and its channel is enabled. */
static bool is_measured(u32 id)
{
	const struct jetwatt_sensor_rail *rail = jetwatt_rail_at(id);

	return rail->shunt_uohm &&
	       jetwatt_chip_channels(jetwatt_chip_at(rail->chip)) & BIT(rail->channel);
}

/*
 * Return the nearest measured rail above @node in the graph, or JETWATT_GRAPH_NO_PARENT. If
 * @in_total is true, upstream rails are skipped, because they are not part of the module's total.
 */
static u32 above(const struct jetwatt_node *list, const struct jetwatt_node *node, bool in_total)
{
	u32 id;

	while (node && node->parent) {
		id = find_rail(node->parent);
		node = jetwatt_node_find(list, node->parent);
		if (id != JETWATT_GRAPH_NO_PARENT && is_measured(id) &&
		    !(in_total && node && node->upstream))
			return id;
	}
	return JETWATT_GRAPH_NO_PARENT;
}

/*
 * Return the number of input rails of the module in @list; @found gets the number of those input
 * rails that are measured.
 */
static unsigned int count_inputs(const struct jetwatt_node *list, unsigned int *found)
{
	const struct jetwatt_node *node;
	unsigned int n = 0;
	u32 id;

	*found = 0;
	for (node = list; node->label; node++) {
		if (!jetwatt_node_input(list, node))
			continue;
		n++;
		id = find_rail(node->label);
		*found += id != JETWATT_GRAPH_NO_PARENT && is_measured(id);
	}
	return n;
}

/*
 * Find a table of rails by the labels of the rails, for boards whose compatible strings do not
 * identify the module: the carrier is made by another vendor, or the device tree names a module
 * that the hardware only emulates. Return anywhere_rails if one of its inputs is measured, else the
 * first board's table whose module inputs are all measured, else anywhere_rails.
 */
static const struct jetwatt_node *find_labels(void)
{
	unsigned int i, found;

	count_inputs(anywhere_rails, &found);
	for (i = 0; !found && i < ARRAY_SIZE(boards); i++) {
		if (count_inputs(boards[i].node, &found) == found)
			return boards[i].node;
		found = 0;
	}
	return anywhere_rails;
}

/**
 * jetwatt_graph_update() - recalculate the parents of all rails and the total
 *
 * The table is that of the board; if none of its inputs is measured, the table of find_labels().
 * The total is the sum of the measured rails that are in the table, are not upstream rails, and
 * have no parent in the total, so that no power is counted twice. On an unknown board without a
 * measured input in the table, rails that are not in the table are included too. If no rail meets
 * these conditions but upstream rails are measured, the total is the sum of the upstream rails, and
 * its scope is JETWATT_SCOPE_BOARD.
 *
 * In all other cases, the scope is that of the board if all inputs in the board's table are
 * measured, otherwise JETWATT_SCOPE_PARTIAL.
 *
 * Context: jetwatt_board.lock held.
 */
void jetwatt_graph_update(void)
{
	const struct board_desc *board = find_board();
	const struct jetwatt_node *list = board->node, *node;
	unsigned long inputs = 0, upstream = 0;
	unsigned int i, n, found;
	u32 scope = board->scope;

	n = count_inputs(list, &found);
	if (found < n)
		scope = JETWATT_SCOPE_PARTIAL;
	if (!found) {
		list = find_labels();
		count_inputs(list, &found);
	}
	for (i = 0; i < jetwatt_rail_count(); i++) {
		node = jetwatt_node_find(list, jetwatt_rail_at(i)->label);
		WRITE_ONCE(graph.parent[i], above(list, node, false));
		if (!is_measured(i))
			continue;
		if (node && node->upstream)
			upstream |= BIT(i);
		else if (above(list, node, true) == JETWATT_GRAPH_NO_PARENT &&
			 (node || (board == &unknown && !found)))
			inputs |= BIT(i);
	}
	if (!inputs && upstream) {
		inputs = upstream;
		scope = JETWATT_SCOPE_BOARD;
	}
	WRITE_ONCE(graph.total, inputs);
	WRITE_ONCE(graph.scope, scope);
}

/**
 * jetwatt_graph_total() - return the rails that make up the total
 * @scope: gets the scope of the total (enum jetwatt_scope); may be NULL
 *
 * Context: any. Return: a mask of rail ids.
 */
unsigned long jetwatt_graph_total(u32 *scope)
{
	if (scope)
		*scope = READ_ONCE(graph.scope);
	return READ_ONCE(graph.total);
}

/**
 * jetwatt_graph_parent() - return the rail that feeds a rail
 * @rail: id of the rail
 *
 * Context: any. Return: id of the nearest measured rail above @rail in the graph, or
 * JETWATT_GRAPH_NO_PARENT.
 */
u32 jetwatt_graph_parent(unsigned int rail)
{
	return READ_ONCE(graph.parent[rail]);
}

/**
 * jetwatt_graph_shunt_offset() - test whether the chips of this board need an offset correction
 *
 * On AGX Xavier, a shunt without current reads exactly one LSB below zero. L4T's hwmon driver
 * corrects only the reading of a shunt without current ("shunt-volt-offset-uv" in
 * tegra194-powermon-p2888.dtsi). rail.c uses the same property; this function is for device trees
 * that lack the property.
 *
 * Return: true if the board needs the correction.
 */
bool jetwatt_graph_shunt_offset(void)
{
	return find_board()->shunt_offset;
}
