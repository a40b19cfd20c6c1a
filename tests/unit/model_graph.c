// SPDX-License-Identifier: GPL-2.0-only
/* Analysis of neural networks in ONNX files: tensor sizes, FLOP and bytes, and robustness against
 * malicious files. */
#include <errno.h>
#include <math.h>

#include "kselftest_harness.h"
#include "onnx_file.h"
#include "store/onnx.h"

FIXTURE(net) {
	struct out g, file, fn[2];
	struct jetwatt_graph graph;
	struct jetwatt_graph_size size[2];
	struct jetwatt_work *work;
	size_t n;
	uint32_t bad;
};

FIXTURE_SETUP(net)
{
	memset(self, 0, sizeof(*self));
}

FIXTURE_TEARDOWN(net)
{
	free(self->g.b);
	free(self->file.b);
	free(self->work);
	jetwatt_graph_free(&self->graph);
}

/* Parse the written model. The buffer has exactly the model's size, so that the address sanitizer
 * finds every read beyond its end. */
static int load(FIXTURE_DATA(net) *self)
{
	struct jetwatt_onnx_error e;
	int err;

	self->file = out_model(&self->g);
	for (int i = 0; i < 2; i++)
		if (self->fn[i].b)
			out_message(&self->file, 25, &self->fn[i]);
	self->file.b = realloc(self->file.b, self->file.n);
	err = jetwatt_onnx_parse(&self->graph, self->file.b, self->file.n, &e);
	if (!err)
		err = jetwatt_graph_infer(&self->graph, &self->bad);
	return err ? err : jetwatt_graph_work(&self->graph, &self->work, &self->n);
}

/* "1x8x3": dimensions of @name; "": not known. */
static const char *size(const struct jetwatt_graph *g, const char *name)
{
	static char buf[128];
	const struct jetwatt_graph_value *v;
	uint32_t text, at = JETWATT_GRAPH_NONE;
	size_t n = 0;

	for (uint32_t i = 0; i < g->value.n; i++) {
		v = jetwatt_graph_value_at(g, i);
		text = v->name;
		if (!v->body && !strcmp(jetwatt_graph_text(g, text), name))
			at = i;
	}
	buf[0] = '\0';
	if (at == JETWATT_GRAPH_NONE)
		return buf;
	v = jetwatt_graph_value_at(g, at);
	for (int i = 0; i < v->rank; i++)
		n += sprintf(buf + n, "%s%lld", i ? "x" : "", (long long)v->dim[i]);
	return buf;
}

/* All expected values of this file are computed by hand. */
TEST_F(net, work_of_convolutions_is_counted)
{
	struct out *g = &self->g;

	out_value(g, 11, "x", "1,4,10,9");
	out_weight(g, "w", 1, "6,2,3,3", NULL, 0);
	out_weight(g, "b", 1, "6", NULL, 0);
	out_node(g, "Conv", "x,w,b", "c", "group=2 pads=1,1,1,1 strides=2,2");
	out_node(g, "Relu", "c", "r", "");
	out_node(g, "MaxPool", "r", "p", "kernel_shape=3,3 strides=2,2 ceil_mode=1");
	out_node(g, "GlobalAveragePool", "p", "y", "");
	out_value(g, 12, "y", "1,6,1,1");
	ASSERT_EQ(0, load(self));
	ASSERT_EQ(4, self->n);
	EXPECT_STREQ("1x6x5x5", size(&self->graph, "c"));
	EXPECT_STREQ("1x6x2x2", size(&self->graph, "p"));
	/* The convolution has 150 outputs, 2 channels per group, 9 taps, and one bias per
	 * output. */
	EXPECT_EQ(2 * 150 * 2 * 9 + 150, self->work[0].flop);
	EXPECT_EQ(4 * (6 * 2 * 9 + 6), self->work[0].param_bytes);
	EXPECT_EQ(4 * (4 * 90 + 150), self->work[0].bytes);
	EXPECT_EQ(150, self->work[1].flop);
	EXPECT_EQ(24 * 8, self->work[2].flop);
	EXPECT_EQ(24, self->work[3].flop);
	EXPECT_EQ(4 * (108 + 6), jetwatt_graph_params(&self->graph));
	jetwatt_graph_scale(self->work, self->n, 8, 1);
	EXPECT_EQ(3 * 8 * (2 * 150 * 2 * 9 + 150), self->work[0].flop);
	EXPECT_EQ(3 * 4 * (6 * 2 * 9 + 6), self->work[0].param_bytes);
	EXPECT_EQ(3 * 8 * 4 * (4 * 90 + 150), self->work[0].bytes);
}

TEST_F(net, transposed_and_padded_convolutions)
{
	struct out *g = &self->g;

	out_value(g, 11, "x", "1,4,5,5");
	out_weight(g, "w", 1, "4,3,2,2", NULL, 0);
	out_weight(g, "v", 1, "8,3,3,3", NULL, 0);
	out_node(g, "ConvTranspose", "x,w", "t", "strides=2,2");
	out_node(g, "Conv", "t,v", "s", "auto_pad=SAME_UPPER strides=3,3");
	out_node(g, "Conv", "t,v", "d", "dilations=2,2");
	ASSERT_EQ(0, load(self));
	EXPECT_STREQ("1x3x10x10", size(&self->graph, "t"));
	EXPECT_EQ(2 * 100 * 3 * 4, self->work[0].flop);
	EXPECT_STREQ("1x8x4x4", size(&self->graph, "s"));
	EXPECT_STREQ("1x8x6x6", size(&self->graph, "d"));
}

TEST_F(net, work_of_products_and_recurrence_is_counted)
{
	struct out *g = &self->g;

	out_value(g, 11, "x", "35,2,20");
	out_weight(g, "w", 1, "1,120,20", NULL, 0);
	out_weight(g, "r", 1, "1,120,30", NULL, 0);
	out_weight(g, "b", 1, "1,240", NULL, 0);
	out_weight(g, "m", 1, "30,7", NULL, 0);
	out_weight(g, "f", 1, "9,7", NULL, 0);
	out_weight(g, "cut", 7, "2", (int64_t[]){ -1, 7 }, 2);
	out_node(g, "LSTM", "x,w,r,b", "y,h", "hidden_size=30");
	out_node(g, "Squeeze", "y", "s", "axes=1");
	out_node(g, "MatMul", "s,m", "p", "");
	out_node(g, "Reshape", "p,cut", "q", "");
	out_node(g, "Gemm", "q,f", "o", "transB=1");
	ASSERT_EQ(0, load(self));
	EXPECT_STREQ("35x1x2x30", size(&self->graph, "y"));
	EXPECT_STREQ("1x2x30", size(&self->graph, "h"));
	EXPECT_STREQ("35x2x7", size(&self->graph, "p"));
	EXPECT_STREQ("70x9", size(&self->graph, "o"));
	ASSERT_EQ(3, self->n);
	/* 35 steps of 2 items; 4 gates of 30 units; 30 operations in each unit. */
	EXPECT_EQ(2 * 70 * (4 * 20 * 30 + 4 * 30 * 30) + 70 * 30 * 30, self->work[0].flop);
	EXPECT_EQ(2 * 35 * 2 * 7 * 30, self->work[1].flop);
	EXPECT_EQ(2 * 70 * 9 * 7, self->work[2].flop);
	/* The first dimension is the number of steps, the second one the minibatch size. */
	EXPECT_EQ(2, jetwatt_graph_batch(&self->graph));
}

/* For x.view(x.size(0), -1), exporters emit nodes that compute the new size inside the graph. */
TEST_F(net, sizes_computed_in_the_graph)
{
	struct out *g = &self->g;

	out_value(g, 11, "x", "batch,3,side,side");
	out_weight(g, "zero", 7, "", (int64_t[]){ 0 }, 1);
	out_weight(g, "ax", 7, "1", (int64_t[]){ 0 }, 1);
	out_weight(g, "rest", 7, "1", (int64_t[]){ -1 }, 1);
	out_weight(g, "w", 1, "48,5", NULL, 0);
	out_node(g, "Shape", "x", "sh", "");
	out_node(g, "Gather", "sh,zero", "n", "axis=0");
	out_node(g, "Unsqueeze", "n,ax", "n1", "");
	out_node(g, "Concat", "n1,rest", "to", "axis=0");
	out_node(g, "Reshape", "x,to", "flat", "");
	out_node(g, "MatMul", "flat,w", "y", "");
	self->size[0] = (struct jetwatt_graph_size){ "side", 4 };
	self->graph.size = self->size;
	self->graph.sizes = 1;
	ASSERT_EQ(0, load(self));
	EXPECT_STREQ("1x48", size(&self->graph, "flat"));
	EXPECT_STREQ("1x5", size(&self->graph, "y"));
	EXPECT_EQ(3, self->graph.open.n);
	EXPECT_EQ(1, jetwatt_graph_batch(&self->graph));
	ASSERT_EQ(1, self->n);
	EXPECT_EQ(2 * 48 * 5, self->work[0].flop);
	EXPECT_EQ(1, self->work[0].live);
}

TEST_F(net, constant_lists_keep_their_length)
{
	struct out node = { NULL, 0 }, attr = { NULL, 0 };
	char many[70] = { 0 };

	/* One field with packed numbers, more of them than a graph stores. */
	out_text(&attr, 1, "value_ints");
	out_bytes(&attr, 8, many, sizeof(many));
	out_text(&node, 2, "y");
	out_text(&node, 4, "Constant");
	out_message(&node, 5, &attr);
	out_message(&self->g, 1, &node);
	ASSERT_EQ(0, load(self));
	EXPECT_STREQ("70", size(&self->graph, "y"));
}

TEST_F(net, least_and_greatest_of_several_inputs)
{
	struct out *g = &self->g;

	out_weight(g, "a", 7, "2", (int64_t[]){ 2, 9 }, 2);
	out_weight(g, "b", 7, "1", (int64_t[]){ 5 }, 1);
	out_weight(g, "c", 7, "2", (int64_t[]){ 3, 1 }, 2);
	out_node(g, "Min", "a,b,c", "min", "");
	out_node(g, "Max", "a,b,c", "max", "");
	out_node(g, "ConstantOfShape", "min", "least", "");
	out_node(g, "ConstantOfShape", "max", "most", "");
	ASSERT_EQ(0, load(self));
	EXPECT_STREQ("2x1", size(&self->graph, "least"));
	EXPECT_STREQ("5x9", size(&self->graph, "most"));
}

/* Writers of onnx.proto3, unlike those of onnx.proto, leave out a number that is 0. */
TEST_F(net, attribute_whose_zero_is_not_in_the_file)
{
	struct out *g = &self->g, n = { NULL, 0 }, axes = { NULL, 0 }, keep = { NULL, 0 };

	out_value(g, 11, "x", "2,6,8,8");
	out_text(&n, 1, "x");
	out_text(&n, 2, "m");
	out_text(&n, 4, "ReduceMean");
	out_text(&axes, 1, "axes");
	out_int(&axes, 8, 2);
	out_int(&axes, 8, 3);
	out_int(&axes, 20, 7);
	out_message(&n, 5, &axes);
	out_text(&keep, 1, "keepdims");
	out_int(&keep, 20, 2);
	out_message(&n, 5, &keep);
	out_message(g, 1, &n);
	ASSERT_EQ(0, load(self));
	EXPECT_STREQ("2x6", size(&self->graph, "m"));
}

TEST_F(net, views_and_slices_have_the_right_sizes)
{
	struct out *g = &self->g;

	out_value(g, 11, "x", "2,6,8,8");
	out_weight(g, "at", 7, "3", (int64_t[]){ 0, 2, 5 }, 3);
	out_weight(g, "lo", 7, "2", (int64_t[]){ -3, 1 }, 2);
	out_weight(g, "hi", 7, "2", (int64_t[]){ INT64_MAX, -1 }, 2);
	out_weight(g, "ax", 7, "2", (int64_t[]){ 1, 3 }, 2);
	out_weight(g, "by", 7, "2", (int64_t[]){ 1, 2 }, 2);
	out_node(g, "Transpose", "x", "t", "perm=0,2,3,1");
	out_node(g, "Gather", "x,at", "ga", "axis=1");
	out_node(g, "Slice", "x,lo,hi,ax,by", "sl", "");
	out_node(g, "Split", "x", "s1,s2,s3", "axis=1");
	out_node(g, "Concat", "s1,s3,x", "c", "axis=-3");
	out_node(g, "Flatten", "x", "f", "axis=2");
	out_node(g, "ReduceMean", "x", "m", "axes=2,3 keepdims=0");
	out_node(g, "DepthToSpace", "ga,", "never", "blocksize=1");
	out_node(g, "Add", "x,x", "a", "");
	out_node(g, "Softmax", "a", "sm", "");
	ASSERT_EQ(0, load(self));
	EXPECT_STREQ("2x8x8x6", size(&self->graph, "t"));
	EXPECT_STREQ("2x3x8x8", size(&self->graph, "ga"));
	EXPECT_STREQ("2x3x8x3", size(&self->graph, "sl"));
	EXPECT_STREQ("2x2x8x8", size(&self->graph, "s3"));
	EXPECT_STREQ("2x10x8x8", size(&self->graph, "c"));
	EXPECT_STREQ("12x64", size(&self->graph, "f"));
	EXPECT_STREQ("2x6", size(&self->graph, "m"));
	/* The memory traffic of a table lookup counts only the requested rows, not the whole
	 * table. */
	EXPECT_EQ(4 * 2 * 2 * 3 * 64 + 8 * 3, self->work[1].bytes);
	EXPECT_EQ(7 * 768, self->work[self->n - 1].flop);
}

/* The axes or the steps of a slice are not in the file: the sizes of all axes are open. */
TEST_F(net, slice_with_unknown_axes_or_steps)
{
	struct out *g = &self->g;

	out_value(g, 11, "x", "2,6,8,8");
	out_value(g, 11, "ax", "1");
	out_weight(g, "lo", 7, "1", (int64_t[]){ 0 }, 1);
	out_weight(g, "hi", 7, "1", (int64_t[]){ 1 }, 1);
	out_weight(g, "last", 7, "1", (int64_t[]){ 3 }, 1);
	out_node(g, "Slice", "x,lo,hi,ax", "axes", "");
	out_node(g, "Slice", "x,lo,hi,last,ax", "steps", "");
	out_node(g, "Slice", "x,lo,hi", "first", "");
	ASSERT_EQ(0, load(self));
	EXPECT_STREQ("-1x-1x-1x-1", size(&self->graph, "axes"));
	EXPECT_STREQ("-1x-1x-1x-1", size(&self->graph, "steps"));
	EXPECT_STREQ("1x6x8x8", size(&self->graph, "first"));
}

/* The name of a tensor in an attribute is no name of a value, even if a value has the same name. */
TEST_F(net, named_tensor_in_an_attribute)
{
	struct out n = { NULL, 0 }, a = { NULL, 0 }, t = { NULL, 0 }, *g = &self->g;

	out_value(g, 11, "x", "2,8");
	out_int(&t, 1, 3);
	out_int(&t, 2, 1);
	out_text(&t, 8, "x");
	out_text(&a, 1, "value");
	out_message(&a, 5, &t);
	out_text(&n, 2, "k");
	out_text(&n, 4, "Constant");
	out_message(&n, 5, &a);
	out_message(g, 1, &n);
	out_node(g, "Relu", "x", "y", "");
	out_value(g, 12, "y", "2,8");
	ASSERT_EQ(0, load(self));
	EXPECT_STREQ("2x8", size(&self->graph, "x"));
	EXPECT_STREQ("3", size(&self->graph, "k"));
	EXPECT_EQ(16, self->work[self->n - 1].flop);
}

/* A sparse weight of 5 values that are not zero has the shape of the whole tensor. */
TEST_F(net, sparse_weight)
{
	struct out w = { NULL, 0 }, t = { NULL, 0 }, *g = &self->g;

	out_value(g, 11, "x", "2,8");
	out_int(&t, 1, 5);
	out_int(&t, 2, 1);
	out_text(&t, 8, "w");
	out_message(&w, 1, &t);
	out_int(&w, 3, 8);
	out_int(&w, 3, 4);
	out_message(g, 15, &w);
	out_node(g, "MatMul", "x,w", "y", "");
	out_value(g, 12, "y", "2,4");
	ASSERT_EQ(0, load(self));
	EXPECT_STREQ("8x4", size(&self->graph, "w"));
	EXPECT_STREQ("2x4", size(&self->graph, "y"));
	EXPECT_EQ(2 * 2 * 8 * 4, self->work[0].flop);
	EXPECT_EQ(4 * 8 * 4, self->work[0].param_bytes);
}

TEST_F(net, unknown_operators_are_listed)
{
	struct out *g = &self->g;

	out_value(g, 11, "x", "1,16");
	out_node(g, "Swirl", "x", "u", "");
	out_node(g, "Relu", "u", "v", "");
	out_node(g, "Swirl", "x", "told", "");
	out_value(g, 13, "told", "1,32");
	out_node(g, "Relu", "told", "r", "");
	ASSERT_EQ(0, load(self));
	ASSERT_EQ(4, self->n);
	EXPECT_EQ(JETWATT_GRAPH_UNKNOWN_OP, self->work[0].doubt);
	EXPECT_EQ(JETWATT_GRAPH_UNKNOWN_SIZE, self->work[1].doubt);
	EXPECT_EQ(0, self->work[1].flop);
	EXPECT_EQ(JETWATT_GRAPH_UNKNOWN_OP, self->work[2].doubt);
	EXPECT_EQ(4 * (16 + 32), self->work[2].bytes);
	EXPECT_EQ(32, self->work[3].flop);
}

TEST_F(net, work_of_subgraphs_is_counted)
{
	struct out *g = &self->g, light = { NULL, 0 }, heavy = { NULL, 0 }, body = { NULL, 0 };
	struct out both = { NULL, 0 }, a = { NULL, 0 };

	/* The graph is y = c ? relu(x) : x @ x; then a loop multiplies y by w ten times. */
	out_node(&light, "Relu", "x", "l", "");
	out_value(&light, 12, "l", "16,16");
	out_node(&heavy, "MatMul", "x,x", "h", "");
	out_value(&heavy, 12, "h", "16,16");
	out_value(g, 11, "x", "16,16");
	out_value(g, 11, "c", "1");
	out_weight(g, "w", 1, "16,16", NULL, 0);
	out_weight(g, "ten", 7, "", (int64_t[]){ 10 }, 1);
	out_words(&both, 1, "c");
	out_words(&both, 2, "y");
	out_text(&both, 4, "If");
	out_text(&a, 1, "then_branch");
	out_message(&a, 6, &light);
	out_message(&both, 5, &a);
	out_text(&a, 1, "else_branch");
	out_message(&a, 6, &heavy);
	out_message(&both, 5, &a);
	out_message(g, 1, &both);
	out_value(&body, 11, "i", "1");
	out_value(&body, 11, "go", "1");
	out_value(&body, 11, "z", "");
	out_node(&body, "MatMul", "z,w", "zw", "");
	out_node(&body, "Identity", "go", "on", "");
	out_value(&body, 12, "on", "1");
	out_value(&body, 12, "zw", "16,16");
	out_value(&body, 12, "zw", "16,16");
	out_node_with(g, "Loop", "ten,,y", "last,all", "", "body", &body);
	ASSERT_EQ(0, load(self));
	EXPECT_STREQ("16x16", size(&self->graph, "y"));
	EXPECT_STREQ("16x16", size(&self->graph, "last"));
	EXPECT_STREQ("10x16x16", size(&self->graph, "all"));
	ASSERT_EQ(3, self->n);
	EXPECT_EQ(JETWATT_GRAPH_BRANCH, self->work[0].doubt);
	EXPECT_EQ(2 * 16 * 16 * 16, self->work[1].flop);
	EXPECT_EQ(10, self->work[2].times);
	EXPECT_EQ(2 * 16 * 16 * 16, self->work[2].flop);
}

/* One function of the file calls another twice; one call passes an attribute of the caller on. */
TEST_F(net, functions_of_the_file)
{
	struct out inner = { NULL, 0 }, outer = { NULL, 0 };
	double flop = 0;

	out_value(&self->g, 11, "x", "1,8,16,16");
	out_call(&self->g, "twice", "x", "y", "size=3,3");
	out_node(&self->g, "Relu", "y", "z", "");
	out_value(&self->g, 12, "z", "");
	out_node(&inner, "MaxPool", "a", "t", "kernel_shape=@kernel strides=@stride");
	out_node(&inner, "Relu", "t", "b", "");
	self->fn[0] = out_function("pool", "a", "b", &inner);
	out_call(&outer, "pool", "a", "t", "kernel=@size");
	out_call(&outer, "pool", "t", "b", "kernel=2,2 stride=2,2");
	self->fn[1] = out_function("twice", "a", "b", &outer);

	ASSERT_EQ(0, load(self));
	EXPECT_EQ(2, self->graph.functions);
	EXPECT_STREQ("1x8x7x7", size(&self->graph, "z"));
	ASSERT_EQ(5, self->n);
	for (size_t i = 0; i < self->n; i++) {
		EXPECT_EQ(JETWATT_GRAPH_SURE, self->work[i].doubt);
		flop += self->work[i].flop;
	}
	/* The expected FLOP: pooling of 3 x 3 without strides, of 2 x 2 with strides, and clipping
	 * at zero. */
	EXPECT_EQ(8 * (14 * 14 * (8 + 1) + 7 * 7 * (3 + 1 + 1)), flop);
}

TEST_F(net, recursive_function_is_refused)
{
	struct out body = { NULL, 0 };

	out_value(&self->g, 11, "x", "1,8");
	out_call(&self->g, "again", "x", "y", "");
	out_call(&body, "again", "a", "t", "");
	out_call(&body, "again", "t", "b", "");
	self->fn[0] = out_function("again", "a", "b", &body);
	EXPECT_EQ(-E2BIG, load(self));
}

TEST_F(net, cycles_are_refused)
{
	struct out *g = &self->g;

	out_value(g, 11, "x", "4");
	out_node(g, "Add", "x,b", "a", "");
	out_node(g, "Relu", "a", "b", "");
	EXPECT_EQ(-ELOOP, load(self));
	EXPECT_EQ(0, self->bad);
}

TEST_F(net, node_that_reads_its_own_output_is_refused)
{
	out_value(&self->g, 11, "x", "4");
	out_node(&self->g, "Add", "x,y", "y", "");
	EXPECT_EQ(-ELOOP, load(self));
}

TEST_F(net, deeply_nested_graphs_are_refused)
{
	struct out inner = { NULL, 0 };

	out_node(&inner, "Relu", "x", "y", "");
	for (int i = 0; i < 1000; i++) {
		struct out outer = { NULL, 0 };

		out_node_with(&outer, "Loop", "", "y", "", "body", &inner);
		inner = outer;
	}
	self->g = inner;
	EXPECT_EQ(-E2BIG, load(self));
}

/* Load every prefix of a file, and the file with each byte changed. */
TEST_F(net, damaged_files_never_crash)
{
	struct out *g = &self->g;
	struct jetwatt_onnx_error e;

	out_value(g, 11, "x", "n,4,10,9");
	out_weight(g, "w", 1, "6,2,3,3", NULL, 0);
	out_weight(g, "to", 7, "2", (int64_t[]){ 1, -1 }, 2);
	out_node(g, "Conv", "x,w", "c", "group=2 pads=1,1,1,1");
	out_node(g, "Reshape", "c,to", "r", "");
	out_node(g, "Split", "r", "s,t", "axis=1");
	ASSERT_EQ(0, load(self));
	for (size_t len = 0; len < self->file.n; len++) {
		unsigned char *cut = malloc(len ? len : 1);
		struct jetwatt_graph h;

		memcpy(cut, self->file.b, len);
		jetwatt_graph_init(&h);
		EXPECT_GT(0, jetwatt_onnx_parse(&h, cut, len, &e));
		EXPECT_NE('\0', e.text[0]);
		jetwatt_graph_free(&h);
		free(cut);
	}
	for (size_t i = 0; i < self->file.n * 256; i++) {
		unsigned char was = self->file.b[i / 256];
		struct jetwatt_work *w = NULL;
		struct jetwatt_graph h;
		size_t n = 0;

		self->file.b[i / 256] = (unsigned char)i;
		jetwatt_graph_init(&h);
		if (!jetwatt_onnx_parse(&h, self->file.b, self->file.n, &e) &&
		    !jetwatt_graph_infer(&h, &self->bad) && !jetwatt_graph_work(&h, &w, &n))
			for (size_t k = 0; k < n; k++)
				EXPECT_TRUE(w[k].flop >= 0 && w[k].bytes >= 0);
		free(w);
		jetwatt_graph_free(&h);
		self->file.b[i / 256] = was;
	}
}

TEST_HARNESS_MAIN
