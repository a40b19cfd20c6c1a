/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Unique labels of rails. Programs name metrics, JSON members and columns by the labels of the
 * rails, but two chips may have channels with the same label: the device tree may name both, or
 * neither ("in1").
 */
#ifndef JETWATT_LIB_RAIL_LABEL_H
#define JETWATT_LIB_RAIL_LABEL_H

#include "jetwatt.h"

/* Append " (ID)" to the label of @rails[n] if one of the @n rails before it has the same label.
 * Without space, the end of the label is cut. The device tree's labels and the ids do not change
 * while the module is loaded, so a rail has the same label in each list. */
void jetwatt_rail_label_unique(struct jetwatt_rail *rails, int n);

#endif
