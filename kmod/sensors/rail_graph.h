/* SPDX-License-Identifier: GPL-2.0 */
/* The rail graph: which rail feeds which, and which rails make up the total. */
#ifndef JETWATT_RAIL_GRAPH_H
#define JETWATT_RAIL_GRAPH_H

#include <linux/types.h>

#define JETWATT_GRAPH_NO_PARENT	(~0U)

void jetwatt_graph_update(void);
unsigned long jetwatt_graph_total(u32 *scope);
u32 jetwatt_graph_parent(unsigned int rail);
bool jetwatt_graph_shunt_offset(void);

#endif
