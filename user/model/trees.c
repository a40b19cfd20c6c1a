// SPDX-License-Identifier: GPL-2.0-only
/*
 * The predictor trees: gradient boosting of regression trees (Friedman, Greedy function
 * approximation: a gradient boosting machine, Annals of Statistics 2001) on log time and
 * log power. Features are the logarithms of the knobs and of the batch size. A tree is
 * constant beyond the outermost rows, so boosting begins with a log-linear regression:
 * trees learn what a power law of each knob leaves. Spreads by cross-validation (cross.h).
 *
 * The hyper-parameters are round numbers, not fitted to any measurement. Nothing is random:
 * the same rows, in any order, give the same model whatever the seed.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/cross.h"
#include "model/form.h"
#include "model/linalg.h"
#include "model/order.h"

#define ROUNDS		100
#define RATE		0.1
#define DEPTH		3
/* Rows that a leaf needs, and how many rows' worth of belief there is that its value is 0. */
#define LEAF_ROWS	2
#define LEAF_PRIOR	1.0
/* The same for the exponents of the power laws. */
#define SLOPE_PRIOR	0.1
/* More rows would only take longer. */
#define ROWS_MAX	4096

#define DIMS		JETWATT_FEATURES
#define NODES		((1 << DEPTH) - 1)
#define LEAVES		(1 << DEPTH)

/**
 * struct tree - complete: node k's children are 2k + 1 and 2k + 2
 * @dim, @at: below @at in feature @dim to the left; @at INFINITY: not split
 */
struct tree {
	unsigned char dim[NODES];
	double at[NODES], leaf[LEAVES];
};

/**
 * struct boosted - one surface
 * @mean: of the features; @base, @slope: the log-linear regression about it
 */
struct boosted {
	double mean[DIMS], base, slope[DIMS];
	struct tree tree[ROUNDS];
};

struct trees {
	struct boosted time, power;
};

/**
 * struct trees_table - rows as they are learned from
 * @x: features of @n rows; @y: of each what the trees so far leave
 * @order: row numbers by each feature; @node: where each row is in the tree
 */
struct trees_table {
	size_t n;
	double (*x)[DIMS], *y;
	size_t *order[DIMS], *node;
};

static size_t leaf_of(const struct tree *t, const double *x)
{
	size_t k = 0;

	for (int level = 0; level < DEPTH; level++)
		k = 2 * k + 1 + (x[t->dim[k]] >= t->at[k]);
	return k - NODES;
}

static double value(const struct boosted *b, const double *x)
{
	double v = b->base;

	for (int d = 0; d < DIMS; d++)
		v += b->slope[d] * (x[d] - b->mean[d]);
	for (int r = 0; r < ROUNDS; r++)
		v += b->tree[r].leaf[leaf_of(&b->tree[r], x)];
	return v;
}

/* Ridge regression; @t->y becomes what it leaves. */
static int power_laws(struct boosted *b, struct trees_table *t)
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

/* Sum and number of the rows of a node, or of those to the left of where a split may be. */
struct part {
	double sum, last;
	size_t n;
};

static double worth(double sum, size_t n)
{
	return sum * sum / (n + LEAF_PRIOR);
}

/* The best split of every node of a level, from @first on, @wide of them. */
static void split(const struct trees_table *t, struct tree *tree, size_t first, size_t wide)
{
	struct part all[LEAVES] = { { 0, 0, 0 } }, left[LEAVES];
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
			struct part *l = &left[k];
			double x = t->x[row][d], gain;

			if (l->n >= LEAF_ROWS && all[k].n - l->n >= LEAF_ROWS && x > l->last) {
				gain = worth(l->sum, l->n) - worth(all[k].sum, all[k].n) +
				       worth(all[k].sum - l->sum, all[k].n - l->n);
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

static void grow(struct trees_table *t, struct tree *tree)
{
	struct part leaf[LEAVES] = { { 0, 0, 0 } };

	memset(t->node, 0, t->n * sizeof(*t->node));
	for (int level = 0; level < DEPTH; level++) {
		split(t, tree, ((size_t)1 << level) - 1, (size_t)1 << level);
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

static int boost(struct boosted *b, struct trees_table *t)
{
	int err = power_laws(b, t);

	for (int r = 0; r < ROUNDS && !err; r++)
		grow(t, &b->tree[r]);
	return err;
}

struct tree_place {
	double x;
	size_t row;
};

static int by_place(const void *a, const void *b)
{
	const struct tree_place *p = a, *q = b;

	return p->x != q->x ? (p->x > q->x) - (p->x < q->x) : (p->row > q->row) - (p->row < q->row);
}

static void table_free(struct trees_table *t)
{
	free(t->x);
	free(t->y);
	free(t->node);
	for (int d = 0; d < DIMS; d++)
		free(t->order[d]);
}

static int features(double *x, const struct jetwatt_mode *mode, uint32_t batch)
{
	struct jetwatt_point p;
	int err = jetwatt_point_of(&p, mode);

	if (err)
		return err;
	jetwatt_point_batch(&p, batch);
	memcpy(x, p.lg, sizeof(p.lg));
	return 0;
}

static int table_make(struct trees_table *t, const struct jetwatt_row *row, size_t n, int batch)
{
	struct tree_place *p = calloc(n, sizeof(*p));
	int err = p ? 0 : -ENOMEM;

	*t = (struct trees_table){ .n = n, .x = calloc(n, sizeof(*t->x)), .y = calloc(n, sizeof(*t->y)),
			     .node = calloc(n, sizeof(*t->node)) };
	if (!t->x || !t->y || !t->node)
		err = -ENOMEM;
	for (size_t i = 0; i < n && !err; i++)
		err = features(t->x[i], &row[i].mode, batch ? row[i].batch : 0);
	for (int d = 0; d < DIMS && !err; d++) {
		t->order[d] = calloc(n, sizeof(*t->order[d]));
		if (!t->order[d]) {
			err = -ENOMEM;
			break;
		}
		for (size_t i = 0; i < n; i++)
			p[i] = (struct tree_place){ t->x[i][d], i };
		qsort(p, n, sizeof(*p), by_place);
		for (size_t i = 0; i < n; i++)
			t->order[d][i] = p[i].row;
	}
	free(p);
	return err;
}

/* Sorted, so that sums do not depend on the caller's order; an even selection of very many. */
static int bare_fit(void **model, const struct jetwatt_predictor_input *in)
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
	err = table_make(&t, row, n, in->sample.batch != NULL);
	for (size_t i = 0; i < n && !err; i++)
		t.y[i] = log(row[i].time_ms);
	if (!err)
		err = boost(&m->time, &t);
	for (size_t i = 0; i < n && !err; i++)
		t.y[i] = log(row[i].power_w);
	if (!err)
		err = boost(&m->power, &t);
out:
	table_free(&t);
	free(row);
	if (err)
		free(m);
	else
		*model = m;
	return err;
}

static int bare_predict(const void *model, const struct jetwatt_mode *mode, const uint32_t *batch,
			size_t n, struct jetwatt_prediction *out)
{
	const struct trees *m = model;
	double x[DIMS];

	for (size_t i = 0; i < n; i++) {
		int err = features(x, &mode[i], batch ? batch[i] : 0);

		if (err)
			return err;
		out[i] = (struct jetwatt_prediction){
			.time_ms = exp(value(&m->time, x)), .power_w = exp(value(&m->power, x)),
		};
	}
	return 0;
}

static const struct jetwatt_predictor bare = {
	.kind = JETWATT_PREDICTOR_BATCH, .fit = bare_fit, .predict = bare_predict, .free = free,
};

static int trees_fit(void **model, const struct jetwatt_predictor_input *in)
{
	struct jetwatt_cross *c = NULL;
	int err = jetwatt_cross_fit(&c, &bare, in);

	*model = c;
	return err;
}

static int trees_predict(const void *model, const struct jetwatt_mode *mode, const uint32_t *batch,
			 size_t n, struct jetwatt_prediction *out)
{
	return jetwatt_cross_predict(model, mode, batch, n, out);
}

static void trees_free(void *model)
{
	jetwatt_cross_free(model);
}

const struct jetwatt_predictor jetwatt_predictor_trees = {
	.name = "trees", .does = "gradient-boosted regression trees on power laws",
	.kind = JETWATT_PREDICTOR_INTERVAL | JETWATT_PREDICTOR_BATCH, .least = 3,
	.fit = trees_fit, .predict = trees_predict, .free = trees_free,
};
