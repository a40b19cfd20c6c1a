/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fitted model in a file, as the bytes of jetwatt_fitted_save().
 */
#ifndef JETWATT_TUNE_MODEL_FILE_H
#define JETWATT_TUNE_MODEL_FILE_H

#include "model/estimator.h"

/*
 * Read a model. Return: 0; -EINVAL or -EPROTONOSUPPORT from jetwatt_fitted_load(); -EFBIG if the
 * file is too large; other negative errno.
 */
int jetwatt_model_file_read(const char *path, struct jetwatt_fitted **f);
/*
 * Write a model as by jetwatt_outfile_end(). Return: 0; -ENOTSUP from jetwatt_fitted_save(); other
 * negative errno.
 */
int jetwatt_model_file_write(const char *path, const struct jetwatt_fitted *f);

#endif
