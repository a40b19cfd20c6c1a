/* SPDX-License-Identifier: GPL-2.0 */
/* Rails of the boards, as data: for the module and, as it is, for user/board. */
#ifndef JETWATT_RAILS_H
#define JETWATT_RAILS_H

/**
 * struct jetwatt_node - one rail of a board
 * @label: as in the board's device tree
 * @parent: label of the rail that feeds it, NULL: it is an input of the board's
 *
 * A list of them ends with one without a label.
 */
struct jetwatt_node {
	const char *label;
	const char *parent;
};

/*
 * Labels, and what is fed by what, as in the device trees of L4T 35.5. Rails
 * that are not listed belong to the carrier board: they are upstream of the
 * module or beside it, and never in its total.
 */
static const struct jetwatt_node agx_orin_rails[] = {
	{ "VDD_GPU_SOC", NULL }, { "VDD_CPU_CV", NULL }, { "VIN_SYS_5V0", NULL },
	{ "VDDQ_VDD2_1V8AO", "VIN_SYS_5V0" },
	{ }
};
static const struct jetwatt_node one_input_rails[] = {
	{ "VDD_IN", NULL }, { "VDD_CPU_GPU_CV", "VDD_IN" }, { "VDD_SOC", "VDD_IN" },
	{ }
};
static const struct jetwatt_node agx_xavier_rails[] = {
	{ "GPU", NULL }, { "CPU", NULL }, { "SOC", NULL }, { "CV", NULL }, { "VDDRQ", NULL },
	{ "SYS5V", NULL },
	{ }
};
/* VIN is on an INA238, the others on an INA3221. */
static const struct jetwatt_node thor_rails[] = {
	{ "VIN", NULL }, { "VDD_GPU", "VIN" }, { "VDD_CPU_SOC_MSS", "VIN" }, { "VIN_SYS_5V0", "VIN" },
	{ }
};

/*
 * Of a board that nobody has described: what a label means wherever it is. Where one
 * of these inputs is measured, rails that are not listed may be inside it.
 */
static const struct jetwatt_node anywhere_rails[] = {
	{ "VDDQ_VDD2_1V8AO", "VIN_SYS_5V0" },
	{ "VDD_CPU_GPU_CV", "VDD_IN" }, { "VDD_CPU_GPU", "VDD_IN" }, { "VDD_SOC", "VDD_IN" },
	{ "VDD_SYS_CPU", "VDD_IN" }, { "VDD_SYS_GPU", "VDD_IN" }, { "VDD_SYS_SOC", "VDD_IN" },
	{ "VDD_SYS_DDR", "VDD_IN" }, { "VDD_4V0_WIFI", "VDD_IN" },
	{ "POM_5V_GPU", "POM_5V_IN" }, { "POM_5V_CPU", "POM_5V_IN" },
	{ "VDD_IN", NULL }, { "POM_5V_IN", NULL },
	{ }
};

#endif
