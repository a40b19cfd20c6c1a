/* SPDX-License-Identifier: GPL-2.0 */
/* Rails of the boards, as data: for the module and, as it is, for user/board. */
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
 * @label: as in the board's device tree
 * @parent: label of the rail that feeds it, NULL: none that is measured
 * @upstream: feeds the module and the carrier board: above the module's inputs, and never
 *	in a total of the module
 *
 * A list of them ends with one without a label. The module's inputs are those that are
 * not @upstream and whose parent, if they have one, is.
 */
struct jetwatt_node {
	const char *label;
	const char *parent;
	bool upstream;
};

/*
 * Labels, and what is fed by what, as in the device trees of L4T 35.3 and 36.4. Rails
 * that are not listed belong to the carrier board (IGX Orin's CVB_ATX_*): they are
 * upstream of the module or beside it, and never in its total.
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
 * As in the device trees of L4T 38: the module's tree (tegra264-p3834-common.dtsi) has the
 * INA3221, the carrier's (tegra264-p4071-0000.dtsi) the INA238 of VIN, which so feeds
 * the carrier as well. A carrier may come without.
 */
static const struct jetwatt_node thor_rails[] = {
	{ .label = "VIN", .upstream = true },
	{ .label = "VDD_GPU", .parent = "VIN" },
	{ .label = "VDD_CPU_SOC_MSS", .parent = "VIN" },
	{ .label = "VIN_SYS_5V0", .parent = "VIN" },
	{ }
};

/*
 * Of a board that isn't known: what a label means on any board. Where one of these
 * inputs is measured, rails that are not listed may be inside it.
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
 * jetwatt_node_find() - a rail by its label
 * @list: rails of a board
 * @label: the label, or NULL
 *
 * Return: the rail, NULL if it isn't listed.
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
 * jetwatt_node_input() - is this rail one of the module's inputs?
 * @list: rails of a board
 * @node: one of them
 *
 * Return: true if it is: nothing but rails of the whole board is above it.
 */
static inline bool jetwatt_node_input(const struct jetwatt_node *list,
				      const struct jetwatt_node *node)
{
	const struct jetwatt_node *parent = jetwatt_node_find(list, node->parent);

	return !node->upstream && (!node->parent || (parent && parent->upstream));
}

#endif
