// SPDX-License-Identifier: GPL-2.0
#include "graph.h"

#include <linux/bitops.h>
#include <linux/jetwatt.h>
#include <linux/kernel.h>
#include <linux/of.h>
#include <linux/string.h>
#include "chip.h"
#include "rails.h"

/**
 * struct board - what is known of a board
 * @compatible: the module's part number: carriers stand before it ("p3737-0000+p3701-0000")
 * @scope: enum jetwatt_scope: what its inputs together are, if all are there
 * @shunt_offset: its chips read a shunt without current as one step below zero
 * @node: its rails
 */
struct board {
	const char *compatible;
	u32 scope;
	bool shunt_offset;
	const struct jetwatt_node *node;
};

/* By a part of any of the root's compatible strings; the first one counts. */
static const struct board boards[] = {
	{ "p3701", JETWATT_SCOPE_MODULE, false, agx_orin_rails },
	{ "p3767", JETWATT_SCOPE_MODULE, false, one_input_rails },	/* Orin NX and Nano */
	{ "p2888", JETWATT_SCOPE_MODULE, true, agx_xavier_rails },
	{ "p3668", JETWATT_SCOPE_MODULE, false, one_input_rails },	/* Xavier NX */
	{ "p3834", JETWATT_SCOPE_MODULE, false, thor_rails },
	{ "nvidia,tegra264", JETWATT_SCOPE_MODULE, false, thor_rails },
};

static const struct board unknown = { "", JETWATT_SCOPE_PARTIAL, false, anywhere_rails };

/* Written by whoever attaches chips, one at a time; read by anybody, each for itself. */
static u32 parent[JETWATT_RAILS_MAX];
static unsigned long total;
static u32 scope = JETWATT_SCOPE_PARTIAL;

static const struct board *find_board(void)
{
	struct device_node *root = of_find_node_by_path("/");
	const struct board *board = &unknown;
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

static const struct jetwatt_node *find_node(const struct board *board, const char *label)
{
	const struct jetwatt_node *node;

	for (node = board->node; node->label; node++)
		if (!strcmp(node->label, label))
			return node;
	return NULL;
}

static u32 find_rail(const char *label)
{
	unsigned int i;

	for (i = 0; label && i < jetwatt_rail_count(); i++)
		if (!strcmp(jetwatt_rail_at(i)->label, label))
			return i;
	return JETWATT_GRAPH_NO_PARENT;
}

/* Can power be told? Not without a shunt's resistance or with its channel off. */
static bool measured(u32 id)
{
	const struct jetwatt_rail *rail = jetwatt_rail_at(id);

	return rail->shunt_uohm &&
	       jetwatt_chip_channels(jetwatt_chip_at(rail->chip)) & BIT(rail->channel);
}

/* The nearest rail above that is measured: one that is not stands for nothing. */
static u32 nearest(const struct board *board, const struct jetwatt_node *node)
{
	u32 id;

	while (node && node->parent) {
		id = find_rail(node->parent);
		if (id != JETWATT_GRAPH_NO_PARENT && measured(id))
			return id;
		node = find_node(board, node->parent);
	}
	return JETWATT_GRAPH_NO_PARENT;
}

static bool input_measured(const struct board *board)
{
	const struct jetwatt_node *node;
	u32 id;

	for (node = board->node; node->label; node++) {
		id = node->parent ? JETWATT_GRAPH_NO_PARENT : find_rail(node->label);
		if (id != JETWATT_GRAPH_NO_PARENT && measured(id))
			return true;
	}
	return false;
}

/**
 * jetwatt_graph_update() - work out the graph of the rails there are
 *
 * The total is made of the measured rails that are in the board's table and
 * inside no other measured one, so nothing is counted twice. On a board without a
 * table it is made of all of them, unless one is known as an input. It is called what
 * the board says only if every input of the board is in it.
 *
 * Context: jetwatt_chip_lock held.
 */
void jetwatt_graph_update(void)
{
	const struct board *board = find_board();
	const struct jetwatt_node *node;
	bool listed_only = board != &unknown || input_measured(board);
	unsigned long inputs = 0;
	u32 i, id, is = board->scope;

	for (i = 0; i < jetwatt_rail_count(); i++) {
		node = find_node(board, jetwatt_rail_at(i)->label);
		id = nearest(board, node);
		WRITE_ONCE(parent[i], id);
		if (id == JETWATT_GRAPH_NO_PARENT && measured(i) && (node || !listed_only))
			inputs |= BIT(i);
	}
	for (node = board->node; board != &unknown && node->label; node++) {
		id = find_rail(node->label);
		if (!node->parent && (id == JETWATT_GRAPH_NO_PARENT || !(inputs & BIT(id))))
			is = JETWATT_SCOPE_PARTIAL;
	}
	WRITE_ONCE(total, inputs);
	WRITE_ONCE(scope, is);
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
		*is = READ_ONCE(scope);
	return READ_ONCE(total);
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
	return READ_ONCE(parent[rail]);
}

/**
 * jetwatt_graph_shunt_offset() - does this board's -1 mean 0?
 *
 * On AGX Xavier a shunt without current reads as exactly one step below zero;
 * L4T's hwmon driver corrects that value and no other ("shunt-volt-offset-uv"
 * in tegra194-powermon-p2888.dtsi).
 *
 * Return: true if it is such a board.
 */
bool jetwatt_graph_shunt_offset(void)
{
	return find_board()->shunt_offset;
}
