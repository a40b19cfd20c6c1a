/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fitted model in a file: the bytes of jetwatt_fitted_save(), and nothing else.
 */
#ifndef JETWATT_TUNE_MODEL_FILE_H
#define JETWATT_TUNE_MODEL_FILE_H

#include "model/estimator.h"

/* Return: 0; -EINVAL, -EPROTONOSUPPORT: as jetwatt_fitted_load(); -EFBIG; other
 * negative errno. */
int jetwatt_model_file_read(const char *path, struct jetwatt_fitted **f);
/* Written beside @path and renamed over it. Return: 0; -ENOTSUP: as jetwatt_fitted_save(); other negative errno, and then
 * @path is as before. */
int jetwatt_model_file_write(const char *path, const struct jetwatt_fitted *f);

#endif
