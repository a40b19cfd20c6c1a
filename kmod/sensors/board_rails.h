/* SPDX-License-Identifier: GPL-2.0 */
/* Power rails of the supported boards, as data shared by the module and user/board. */
#ifndef JETWATT_BOARD_RAILS_H
#define JETWATT_BOARD_RAILS_H

#ifdef __KERNEL__
#include <linux/string.h>
#include <linux/types.h>
#else
#include <stdbool.h>
#include <string.h>
#endif

/**
 * struct jetwatt_node - one rail of a board
 * @label: label of the rail in the board's device tree
 * @parent: label of the rail that feeds this rail; NULL if no measured rail feeds it
 * @upstream: the rail feeds the carrier board as well as the module. An upstream rail is above the
 *	module's inputs in the graph and never part of the module's total.
 *
 * A list of nodes ends with a node without a label. The inputs of the module are the nodes that
 * are not @upstream and have either no parent or an @upstream parent.
 */
struct jetwatt_node {
	const char *label;
	const char *parent;
	bool upstream;
};

/*
 * Labels are from the device trees of L4T 35.3 and 36.4, parents inferred from the labels. Rails
 * that are not listed belong to the carrier board (CVB_ATX_* of IGX Orin): they feed the module's
 * inputs, or feed other parts of the carrier board, and are never part of the module's total.
 */
static const struct jetwatt_node agx_orin_rails[] = {
	{ .label = "VDD_GPU_SOC" },
	{ .label = "VDD_CPU_CV" },
	{ .label = "VIN_SYS_5V0" },
	{ .label = "VDDQ_VDD2_1V8AO", .parent = "VIN_SYS_5V0" },
	{ }
};
static const struct jetwatt_node one_input_rails[] = {
	{ .label = "VDD_IN" },
	{ .label = "VDD_CPU_GPU_CV", .parent = "VDD_IN" },
	{ .label = "VDD_SOC", .parent = "VDD_IN" },
	{ }
};
static const struct jetwatt_node agx_xavier_rails[] = {
	{ .label = "GPU" },
	{ .label = "CPU" },
	{ .label = "SOC" },
	{ .label = "CV" },
	{ .label = "VDDRQ" },
	{ .label = "SYS5V" },
	{ }
};
/*
 * From the device trees of L4T 38: the module's tree (tegra264-p3834-common.dtsi) has the
 * INA3221, the carrier's tree (tegra264-p4071-0000.dtsi) has the INA238 of VIN. VIN therefore
 * includes the carrier board. Carrier boards of other vendors may have no sensor for VIN.
 */
static const struct jetwatt_node thor_rails[] = {
	{ .label = "VIN", .upstream = true },
	{ .label = "VDD_GPU", .parent = "VIN" },
	{ .label = "VDD_CPU_SOC_MSS", .parent = "VIN" },
	{ .label = "VIN_SYS_5V0", .parent = "VIN" },
	{ }
};

/*
 * Rails of an unknown board: labels that have the same meaning and the same parent on all known
 * boards. On an unknown board, a rail that is not listed may be fed by a listed input.
 */
static const struct jetwatt_node anywhere_rails[] = {
	{ .label = "VDDQ_VDD2_1V8AO", .parent = "VIN_SYS_5V0" },
	{ .label = "VDD_CPU_GPU_CV", .parent = "VDD_IN" },
	{ .label = "VDD_CPU_GPU", .parent = "VDD_IN" },
	{ .label = "VDD_SOC", .parent = "VDD_IN" },
	{ .label = "VDD_SYS_CPU", .parent = "VDD_IN" },
	{ .label = "VDD_SYS_GPU", .parent = "VDD_IN" },
	{ .label = "VDD_SYS_SOC", .parent = "VDD_IN" },
	{ .label = "VDD_SYS_DDR", .parent = "VDD_IN" },
	{ .label = "VDD_5V0_DDR", .parent = "VDD_IN" },
	{ .label = "VDD_4V0_WIFI", .parent = "VDD_IN" },
	{ .label = "VDD_3V8_WIFI", .parent = "VDD_IN" },
	{ .label = "POM_5V_GPU", .parent = "POM_5V_IN" },
	{ .label = "POM_5V_CPU", .parent = "POM_5V_IN" },
	{ .label = "VDD_IN" },
	{ .label = "POM_5V_IN" },
	{ }
};

/**
 * jetwatt_node_find() - find a rail by its label
 * @list: rails of a board
 * @label: label of the rail, or NULL
 *
 * Return: the rail, or NULL if @label is NULL or not in @list.
 */
static inline const struct jetwatt_node *jetwatt_node_find(const struct jetwatt_node *list,
							   const char *label)
{
	for (; label && list->label; list++)
		if (!strcmp(list->label, label))
			return list;
	return NULL;
}

/**
 * jetwatt_node_input() - test whether a rail is one of the module's inputs
 * @list: rails of a board
 * @node: an entry of @list
 *
 * Return: true if @node is not an upstream rail and has either no parent or an upstream rail as its
 * parent.
 */
static inline bool jetwatt_node_input(const struct jetwatt_node *list,
				      const struct jetwatt_node *node)
{
	const struct jetwatt_node *parent = jetwatt_node_find(list, node->parent);

	return !node->upstream && (!node->parent || (parent && parent->upstream));
}

#endif
