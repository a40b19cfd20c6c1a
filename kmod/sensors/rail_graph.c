// SPDX-License-Identifier: GPL-2.0
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
 * @compatible: the module's part number: carriers stand before it ("p3737-0000+p3701-0000")
 * @scope: enum jetwatt_scope: what its inputs together are, if all are there
 * @shunt_offset: its chips read a shunt without current as one step below zero
 * @node: its rails
 */
struct board_desc {
	const char *compatible;
	u32 scope;
	bool shunt_offset;
	const struct jetwatt_node *node;
};

/* By a part of any of the root's compatible strings; the first one counts. */
static const struct board_desc boards[] = {
	{ "p3701", JETWATT_SCOPE_MODULE, false, agx_orin_rails },	/* AGX and IGX Orin */
	{ "p3767", JETWATT_SCOPE_MODULE, false, one_input_rails },	/* Orin NX and Nano */
	{ "p2888", JETWATT_SCOPE_MODULE, true, agx_xavier_rails },
	{ "p2972", JETWATT_SCOPE_MODULE, true, agx_xavier_rails },	/* as mainline has it */
	/* p2888-0008 and, on NVIDIA's e3366 carrier, p2888-0001 and -0006 (L4T 35) */
	{ "jetson-xavier-industrial", JETWATT_SCOPE_MODULE, true, agx_xavier_rails },
	{ "nvidia,galen", JETWATT_SCOPE_MODULE, true, agx_xavier_rails },
	{ "p3668", JETWATT_SCOPE_MODULE, false, one_input_rails },	/* Xavier NX */
	{ "p3834", JETWATT_SCOPE_MODULE, false, thor_rails },
	{ "nvidia,tegra264", JETWATT_SCOPE_MODULE, false, thor_rails },
};

static const struct board_desc unknown = { "", JETWATT_SCOPE_PARTIAL, false, anywhere_rails };

/* Written under jetwatt_board.lock; each field is read without it, for itself. */
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

/* Is its power known? Not without a shunt's resistance or with its channel off. */
static bool is_measured(u32 id)
{
	const struct jetwatt_rail *rail = jetwatt_rail_at(id);

	return rail->shunt_uohm &&
	       jetwatt_chip_channels(jetwatt_chip_at(rail->chip)) & BIT(rail->channel);
}

/*
 * The nearest measured rail above @node: one that is not measured stands for nothing.
 * In a total only those count that may be in it themselves.
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

/* How many inputs of a module with these rails there are, and how many are measured. */
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
 * The rails as their labels say, where the root's compatible strings do not: on a carrier of
 * another vendor, or where a tree is named after a module that it only emulates.
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
 * jetwatt_graph_update() - work out the graph of the rails there are
 *
 * The total is made of the measured rails that are in the board's table, don't feed
 * more than the module, and are inside no other rail of the total: nothing is counted
 * twice. On a board without a table it is made of all of them, unless their labels tell
 * more. It is called what the board says only if every input of the module is in it. Where
 * none is, the rails that feed the whole board are the total.
 *
 * Context: jetwatt_board.lock held.
 */
void jetwatt_graph_update(void)
{
	const struct board_desc *board = find_board();
	const struct jetwatt_node *list = board->node, *node;
	unsigned long inputs = 0, upstream = 0;
	unsigned int i, n, found;
	u32 is = board->scope;

	n = count_inputs(list, &found);
	if (found < n)
		is = JETWATT_SCOPE_PARTIAL;
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
		is = JETWATT_SCOPE_BOARD;
	}
	WRITE_ONCE(graph.total, inputs);
	WRITE_ONCE(graph.scope, is);
}

/**
 * jetwatt_graph_total() - what the total is
 * @is: gets the enum jetwatt_scope, or NULL
 *
 * Context: any. Return: a mask of rails.
 */
unsigned long jetwatt_graph_total(u32 *is)
{
	if (is)
		*is = READ_ONCE(graph.scope);
	return READ_ONCE(graph.total);
}

/**
 * jetwatt_graph_parent() - what feeds a rail
 * @rail: its id
 *
 * Context: any. Return: id of the nearest measured rail that it is inside of,
 * or JETWATT_GRAPH_NO_PARENT.
 */
u32 jetwatt_graph_parent(unsigned int rail)
{
	return READ_ONCE(graph.parent[rail]);
}

/**
 * jetwatt_graph_shunt_offset() - does this board's -1 mean 0?
 *
 * On AGX Xavier a shunt without current reads as exactly one step below zero;
 * L4T's hwmon driver corrects that value and no other ("shunt-volt-offset-uv"
 * in tegra194-powermon-p2888.dtsi).
 *
 * The property counts (rail.c); this is for trees that lack it.
 *
 * Return: true if it is such a board.
 */
bool jetwatt_graph_shunt_offset(void)
{
	return find_board()->shunt_offset;
}
