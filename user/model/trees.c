// SPDX-License-Identifier: GPL-2.0-only
/*
 * The predictor "trees": gradient boosting of regression trees (Friedman, Greedy function
 * approximation: a gradient boosting machine, Annals of Statistics 2001) on log time and log power.
 * Features are the logarithms of the knobs and of the minibatch size. A tree is constant beyond the
 * outermost rows, so boosting starts from a log-linear regression, and the trees fit its residuals.
 * Standard deviations come from cross-validation (crossval.h).
 *
 * The hyper-parameters are round numbers that were not fitted to any measurement. Nothing is
 * random: equal rows, in any order and with any seed, give an equal model.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/crossval.h"
#include "model/form.h"
#include "model/linalg.h"
#include "model/order.h"

/* Number of trees, learning rate, and depth of a tree. */
#define ROUNDS		100
#define RATE		0.1
#define DEPTH		3
/* Smallest number of rows on each side of a split, and the weight, in rows, of the prior that the
 * value of a leaf is 0. */
#define LEAF_ROWS	2
#define LEAF_PRIOR	1.0
/* Ridge on the exponents of the log-linear regression. */
#define SLOPE_PRIOR	0.1
/* Largest number of rows used for a fit; more would only take longer. */
#define ROWS_MAX	4096

#define DIMS		JETWATT_FEATURES
#define NODES		((1 << DEPTH) - 1)
#define LEAVES		(1 << DEPTH)

/**
 * struct tree - a complete binary tree; the children of node k are 2k + 1 and 2k + 2
 * @dim: for each node, the feature by which it splits the rows
 * @at: rows whose value of the feature @dim is below @at go to the left child; INFINITY: no split
 * @leaf: value of each leaf of the tree
 */
struct tree {
	unsigned char dim[NODES];
	double at[NODES], leaf[LEAVES];
};

/**
 * struct boosted - boosted trees fitted to log time or log power
 * @mean: mean of each feature over the rows
 * @base: mean of log time or log power over the rows
 * @slope: exponents of the log-linear regression
 * @tree: the trees, which fit its residuals
 */
struct boosted {
	double mean[DIMS], base, slope[DIMS];
	struct tree tree[ROUNDS];
};

struct trees {
	struct boosted time, power;
};

/**
 * struct trees_table - rows during training
 * @n: number of rows
 * @x: features of the rows
 * @y: residuals of the rows: what the regression and the trees built so far leave unexplained
 * @order: for each feature, the row numbers sorted by this feature
 * @node: node of the current tree that each row is in
 */
struct trees_table {
	size_t n;
	double (*x)[DIMS], *y;
	size_t *order[DIMS], *node;
};

static size_t trees_leaf_of(const struct tree *t, const double *x)
{
	size_t k = 0;

	for (int level = 0; level < DEPTH; level++)
		k = 2 * k + 1 + (x[t->dim[k]] >= t->at[k]);
	return k - NODES;
}

static double trees_value(const struct boosted *b, const double *x)
{
	double v = b->base;

	for (int d = 0; d < DIMS; d++)
		v += b->slope[d] * (x[d] - b->mean[d]);
	for (int r = 0; r < ROUNDS; r++)
		v += b->tree[r].leaf[trees_leaf_of(&b->tree[r], x)];
	return v;
}

/* Fit the log-linear regression by ridge regression; @t->y becomes its residuals. Return: 0,
 * -EDOM. */
static int trees_power_laws(struct boosted *b, struct trees_table *t)
{
	double a[DIMS * DIMS] = { 0 }, v[DIMS] = { 0 };
	int err;

	for (size_t i = 0; i < t->n; i++) {
		b->base += t->y[i] / t->n;
		for (int d = 0; d < DIMS; d++)
			b->mean[d] += t->x[i][d] / t->n;
	}
	for (size_t i = 0; i < t->n; i++)
		for (int d = 0; d < DIMS; d++) {
			double by = t->x[i][d] - b->mean[d];

			v[d] += by * (t->y[i] - b->base);
			for (int k = 0; k < DIMS; k++)
				a[d * DIMS + k] += by * (t->x[i][k] - b->mean[k]);
		}
	for (int d = 0; d < DIMS; d++)
		a[d * DIMS + d] += SLOPE_PRIOR;
	err = jetwatt_linalg_chol(a, DIMS);
	if (err)
		return err;
	jetwatt_linalg_lower(a, DIMS, v, 1);
	jetwatt_linalg_upper(a, DIMS, v, 1);
	memcpy(b->slope, v, sizeof(v));
	for (size_t i = 0; i < t->n; i++) {
		t->y[i] -= b->base;
		for (int d = 0; d < DIMS; d++)
			t->y[i] -= b->slope[d] * (t->x[i][d] - b->mean[d]);
	}
	return 0;
}

/* Sum, last feature value and number of the rows of a node, or of the rows to the left of a
 * possible split. */
struct trees_part {
	double sum, last;
	size_t n;
};

/* Return: the reduction of the squared error by a leaf with @n rows, whose residuals have the sum
 * @sum. */
static double trees_gain(double sum, size_t n)
{
	return sum * sum / (n + LEAF_PRIOR);
}

/* Set the best split of each of the @wide nodes of one level of the tree, the first of which is
 * node @first. */
static void trees_split(const struct trees_table *t, struct tree *tree, size_t first, size_t wide)
{
	struct trees_part all[LEAVES] = { { 0, 0, 0 } }, left[LEAVES];
	double best[LEAVES] = { 0 };

	for (size_t i = 0; i < t->n; i++) {
		all[t->node[i] - first].sum += t->y[i];
		all[t->node[i] - first].n++;
	}
	for (size_t k = 0; k < wide; k++)
		tree->at[first + k] = INFINITY;
	for (int d = 0; d < DIMS; d++) {
		memset(left, 0, sizeof(left));
		for (size_t i = 0; i < t->n; i++) {
			size_t row = t->order[d][i], k = t->node[row] - first;
			struct trees_part *l = &left[k];
			double x = t->x[row][d], gain;

			if (l->n >= LEAF_ROWS && all[k].n - l->n >= LEAF_ROWS && x > l->last) {
				gain = trees_gain(l->sum, l->n) - trees_gain(all[k].sum, all[k].n) +
				       trees_gain(all[k].sum - l->sum, all[k].n - l->n);
				if (gain > best[k] + 1e-12) {
					best[k] = gain;
					tree->dim[first + k] = d;
					tree->at[first + k] = (l->last + x) / 2;
				}
			}
			l->sum += t->y[row];
			l->last = x;
			l->n++;
		}
	}
}

static void trees_grow(struct trees_table *t, struct tree *tree)
{
	struct trees_part leaf[LEAVES] = { { 0, 0, 0 } };

	memset(t->node, 0, t->n * sizeof(*t->node));
	for (int level = 0; level < DEPTH; level++) {
		trees_split(t, tree, ((size_t)1 << level) - 1, (size_t)1 << level);
		for (size_t i = 0; i < t->n; i++) {
			size_t k = t->node[i];

			t->node[i] = 2 * k + 1 + (t->x[i][tree->dim[k]] >= tree->at[k]);
		}
	}
	for (size_t i = 0; i < t->n; i++) {
		leaf[t->node[i] - NODES].sum += t->y[i];
		leaf[t->node[i] - NODES].n++;
	}
	for (size_t k = 0; k < LEAVES; k++)
		tree->leaf[k] = RATE * leaf[k].sum / (leaf[k].n + LEAF_PRIOR);
	for (size_t i = 0; i < t->n; i++)
		t->y[i] -= tree->leaf[t->node[i] - NODES];
}

static int trees_boost(struct boosted *b, struct trees_table *t)
{
	int err = trees_power_laws(b, t);

	for (int r = 0; r < ROUNDS && !err; r++)
		trees_grow(t, &b->tree[r]);
	return err;
}

struct tree_value {
	double x;
	size_t row;
};

static int trees_by_value(const void *a, const void *b)
{
	const struct tree_value *p = a, *q = b;

	return p->x != q->x ? (p->x > q->x) - (p->x < q->x) : (p->row > q->row) - (p->row < q->row);
}

static void trees_table_free(struct trees_table *t)
{
	free(t->x);
	free(t->y);
	free(t->node);
	for (int d = 0; d < DIMS; d++)
		free(t->order[d]);
}

static int trees_features(double *x, const struct jetwatt_mode *mode, uint32_t batch)
{
	struct jetwatt_features p;
	int err = jetwatt_features_of(&p, mode);

	if (err)
		return err;
	jetwatt_features_batch(&p, batch);
	memcpy(x, p.lg, sizeof(p.lg));
	return 0;
}

static int trees_table_make(struct trees_table *t, const struct jetwatt_row *row, size_t n,
			    int batch)
{
	struct tree_value *p = calloc(n, sizeof(*p));
	int err = p ? 0 : -ENOMEM;

	*t = (struct trees_table){ .n = n, .x = calloc(n, sizeof(*t->x)), .y = calloc(n, sizeof(*t->y)),
			     .node = calloc(n, sizeof(*t->node)) };
	if (!t->x || !t->y || !t->node)
		err = -ENOMEM;
	for (size_t i = 0; i < n && !err; i++)
		err = trees_features(t->x[i], &row[i].mode, batch ? row[i].batch : 0);
	for (int d = 0; d < DIMS && !err; d++) {
		t->order[d] = calloc(n, sizeof(*t->order[d]));
		if (!t->order[d]) {
			err = -ENOMEM;
			break;
		}
		for (size_t i = 0; i < n; i++)
			p[i] = (struct tree_value){ t->x[i][d], i };
		qsort(p, n, sizeof(*p), trees_by_value);
		for (size_t i = 0; i < n; i++)
			t->order[d][i] = p[i].row;
	}
	free(p);
	return err;
}

/* Sort the rows, so that sums do not depend on the caller's order. Of more than ROWS_MAX rows, an
 * evenly spread selection is used. */
static int trees_bare_fit(void **model, const struct jetwatt_predictor_input *in)
{
	size_t all = in->sample.n, n = all < ROWS_MAX ? all : ROWS_MAX;
	struct jetwatt_row *row;
	struct trees_table t = { .n = 0 };
	struct trees *m;
	int err = 0;

	*model = NULL;
	if (!all)
		return -ENODATA;
	for (size_t i = 0; i < all; i++)
		if (!(isfinite(in->sample.row[i].time_ms) && in->sample.row[i].time_ms > 0 &&
		      isfinite(in->sample.row[i].power_w) && in->sample.row[i].power_w > 0))
			return -EINVAL;
	row = malloc(all * sizeof(*row));
	m = calloc(1, sizeof(*m));
	if (!row || !m) {
		err = -ENOMEM;
		goto out;
	}
	memcpy(row, in->sample.row, all * sizeof(*row));
	qsort(row, all, sizeof(*row), jetwatt_order_rows);
	for (size_t i = 0; i < n; i++)
		row[i] = row[i * all / n];
	err = trees_table_make(&t, row, n, in->sample.batch != NULL);
	for (size_t i = 0; i < n && !err; i++)
		t.y[i] = log(row[i].time_ms);
	if (!err)
		err = trees_boost(&m->time, &t);
	for (size_t i = 0; i < n && !err; i++)
		t.y[i] = log(row[i].power_w);
	if (!err)
		err = trees_boost(&m->power, &t);
out:
	trees_table_free(&t);
	free(row);
	if (err)
		free(m);
	else
		*model = m;
	return err;
}

static int trees_bare_predict(const void *model, const struct jetwatt_mode *mode,
			      const uint32_t *batch, size_t n, struct jetwatt_prediction *out)
{
	const struct trees *m = model;
	double x[DIMS];

	for (size_t i = 0; i < n; i++) {
		int err = trees_features(x, &mode[i], batch ? batch[i] : 0);

		if (err)
			return err;
		out[i] = (struct jetwatt_prediction){
			.time_ms = exp(trees_value(&m->time, x)),
			.power_w = exp(trees_value(&m->power, x)),
		};
	}
	return 0;
}

/* The predictor of trees without standard deviations, which cross-validation uses. */
static const struct jetwatt_predictor trees_bare = {
	.kind = JETWATT_PREDICTOR_BATCH,
	.fit = trees_bare_fit,
	.predict = trees_bare_predict,
	.free = free,
};

static int trees_fit(void **model, const struct jetwatt_predictor_input *in)
{
	struct jetwatt_crossval *c = NULL;
	int err = jetwatt_crossval_fit(&c, &trees_bare, in);

	*model = c;
	return err;
}

static int trees_predict(const void *model, const struct jetwatt_mode *mode, const uint32_t *batch,
			 size_t n, struct jetwatt_prediction *out)
{
	return jetwatt_crossval_predict(model, mode, batch, n, out);
}

static void trees_free(void *model)
{
	jetwatt_crossval_free(model);
}

const struct jetwatt_predictor jetwatt_predictor_trees = {
	.name = "trees", .does = "gradient-boosted regression trees on power laws",
	.kind = JETWATT_PREDICTOR_INTERVAL | JETWATT_PREDICTOR_BATCH, .min_rows = 3,
	.fit = trees_fit, .predict = trees_predict, .free = trees_free,
};
