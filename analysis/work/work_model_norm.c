// SPDX-License-Identifier: Apache-2.0
// Normalizations and embedding lookups: what they read and write, once each.
#include "analysis/work/work_models.h"

// --- normalization -------------------------------------------------------------------------------

enum statistics {
    STATISTICS_NONE,
    STATISTICS_ROWS,     // a mean and a deviation for each row: of layers
    STATISTICS_ROW,      // a deviation for each row: of root mean squares
    STATISTICS_CHANNELS, // per channel, plus running ones that training also writes: of batches
};

struct norm {
    const char *op;
    int8_t input, weight, bias;
    enum statistics statistics;
    int8_t training; // STATISTICS_CHANNELS: position of the flag; running ones are at 3 and 4
};

static const struct norm norms[] = {
    {"aten::native_layer_norm", 0, 2, 3, STATISTICS_ROWS, -1},
    {"aten::_fused_rms_norm", 0, 2, -1, STATISTICS_ROW, -1},
    {"aten::native_batch_norm", 0, 1, 2, STATISTICS_CHANNELS, 5},
    {"aten::cudnn_batch_norm", 0, 1, 2, STATISTICS_CHANNELS, 5},
    {"aten::miopen_batch_norm", 0, 1, 2, STATISTICS_CHANNELS, 5},
    {"aten::_native_batch_norm_legit", 0, 1, 2, STATISTICS_CHANNELS, 5},
    {"aten::native_group_norm", 0, 1, 2, STATISTICS_NONE, -1},
    {"aten::rms_norm", 0, 2, -1, STATISTICS_NONE, -1},
    {"fb::rms_norm", 0, 1, 2, STATISTICS_NONE, -1},
};

// Statistics of narrow types are kept in fp32.
static enum dtype statistics_type(enum dtype dtype)
{
    return dtype == DTYPE_BF16 || dtype == DTYPE_FP16 ? DTYPE_FP32 : dtype;
}

// Rows: the dimensions before the normalized ones, which the weight has.
static int64_t count_rows(const struct arg_list *args, const struct op_arg *in)
{
    int64_t shape[OP_ARGS_MAX_RANK];
    uint32_t normalized;
    const struct op_arg *weight = op_args_tensor(args, 2);
    if (weight)
        normalized = weight->rank;
    else if (!op_args_ints(args, 1, shape, OP_ARGS_MAX_RANK, &normalized))
        return COUNT_UNKNOWN;
    if (in->rank > OP_ARGS_MAX_RANK || normalized > in->rank)
        return COUNT_UNKNOWN;
    return work_product(in, 0, in->rank - normalized);
}

// Training reads and writes the running statistics and keeps those of the batch for the backward
// pass; otherwise the running ones are only read.
static int64_t channel_statistics(const struct norm *norm, const struct arg_list *args,
                                  const struct op_arg *in)
{
    bool training;
    int64_t running = count_add(work_tensor_bytes(args, 3), work_tensor_bytes(args, 4));
    if (!op_args_bool(args, norm->training, &training) || in->rank < 2)
        return COUNT_UNKNOWN;
    if (!training)
        return running;
    int64_t kept = work_bytes(count_mul(2, in->dims[1]), statistics_type(in->dtype));
    return count_add(count_mul(2, running), kept);
}

static int64_t statistics_bytes(const struct norm *norm, const struct arg_list *args,
                                const struct op_arg *in)
{
    switch (norm->statistics) {
    case STATISTICS_NONE: return 0;
    case STATISTICS_ROWS:
        return work_bytes(count_mul(2, count_rows(args, in)), statistics_type(in->dtype));
    case STATISTICS_ROW: return work_bytes(count_rows(args, in), statistics_type(in->dtype));
    case STATISTICS_CHANNELS: return channel_statistics(norm, args, in);
    }
    return COUNT_UNKNOWN;
}

static void fill_norm(const struct norm *norm, const struct arg_list *args, struct work *work)
{
    const struct op_arg *in = op_args_tensor(args, norm->input);
    work->kind = WORK_NORM;
    if (!in) {
        work->note = work_note_shapes;
        return;
    }
    int64_t bytes = count_mul(2, op_arg_bytes(in));
    bytes = count_add(bytes, work_tensor_bytes(args, norm->weight));
    bytes = count_add(bytes, work_tensor_bytes(args, norm->bias));
    int64_t statistics = statistics_bytes(norm, args, in);
    if (!count_known(statistics))
        work->note = work_note_concrete;
    work->bytes = count_add(bytes, statistics);
}

// --- its backward --------------------------------------------------------------------------------

struct norm_backward {
    const char *op;
    int8_t input, weight;
    int8_t mask;    // position of output_mask, -1: all three gradients
    int8_t running; // tensors at this position and the next are passed but only read in evaluation
};

static const struct norm_backward norm_backwards[] = {
    {"aten::native_layer_norm_backward", 1, 5, 7, -1},
    {"aten::_fused_rms_norm_backward", 1, 4, 5, -1},
    {"aten::native_batch_norm_backward", 1, 2, 9, 3},
    {"aten::cudnn_batch_norm_backward", 0, 2, -1, 3},
    {"aten::miopen_batch_norm_backward", 0, 2, -1, 3},
    {"aten::native_group_norm_backward", 1, 4, 9, -1},
};

// All given tensors except the running statistics.
static int64_t read_bytes(const struct norm_backward *norm, const struct arg_list *args)
{
    int64_t bytes = 0;
    for (int i = 0; i < (int)args->count; i++)
        if (norm->running < 0 || (i != norm->running && i != norm->running + 1))
            bytes = count_add(bytes, work_tensor_bytes(args, i));
    return bytes;
}

static void fill_norm_backward(const struct norm_backward *norm, const struct arg_list *args,
                               struct work *work)
{
    const struct op_arg *in = op_args_tensor(args, norm->input);
    bool mask[3] = {true, true, true};
    uint32_t count = 3;
    work->kind = WORK_NORM;
    if (!in) {
        work->note = work_note_shapes;
        return;
    }
    bool masked = norm->mask < 0 || op_args_bools(args, norm->mask, mask, 3, &count);
    if (!masked) {
        work->note = work_note_concrete;
        return;
    }
    work->bytes = read_bytes(norm, args);
    if (mask[0])
        work->bytes = count_add(work->bytes, op_arg_bytes(in));
    for (uint32_t i = 1; i < count; i++) // gradients of weight and bias are as large as the weight
        if (mask[i])
            work->bytes = count_add(work->bytes, work_tensor_bytes(args, norm->weight));
}

bool work_norm(struct str op, const struct arg_list *args, struct work *work)
{
    for (size_t i = 0; i < sizeof norms / sizeof *norms; i++)
        if (str_equal(op, str_of(norms[i].op))) {
            fill_norm(&norms[i], args, work);
            return true;
        }
    for (size_t i = 0; i < sizeof norm_backwards / sizeof *norm_backwards; i++)
        if (str_equal(op, str_of(norm_backwards[i].op))) {
            fill_norm_backward(&norm_backwards[i], args, work);
            return true;
        }
    return false;
}

// --- lookups -------------------------------------------------------------------------------------

// Each index reads a row of the table and writes it to the output; repeated rows count each time.
static void fill_rows(const struct op_arg *table, const struct op_arg *indices, uint32_t dim,
                      struct work *work)
{
    if (!table || !indices || table->rank > OP_ARGS_MAX_RANK || dim >= table->rank) {
        work->note = work_note_shapes;
        return;
    }
    int64_t row = count_mul(work_product(table, 0, dim), work_product(table, dim + 1, table->rank));
    int64_t rows = work_bytes(count_mul(row, indices->elements), table->dtype);
    work->bytes = count_add(op_arg_bytes(indices), count_mul(2, rows));
}

static void fill_select(const struct arg_list *args, struct work *work)
{
    const struct op_arg *table = op_args_tensor(args, 0);
    int64_t dim;
    if (!table || !op_args_int(args, 1, &dim)) {
        work->note = work_note_concrete;
        return;
    }
    dim += dim < 0 ? (int64_t)table->rank : 0;
    fill_rows(table, op_args_tensor(args, 2), dim < 0 ? UINT32_MAX : (uint32_t)dim, work);
}

// gather(self, dim, index): an element for each index.
static void fill_gather(const struct arg_list *args, struct work *work)
{
    const struct op_arg *table = op_args_tensor(args, 0), *indices = op_args_tensor(args, 2);
    if (!table || !indices) {
        work->note = work_note_shapes;
        return;
    }
    work->bytes =
        count_add(op_arg_bytes(indices), count_mul(2, work_bytes(indices->elements, table->dtype)));
}

// embedding_dense_backward(grad_output, indices, num_weights, ...): the whole table is written.
static void fill_dense_backward(const struct arg_list *args, struct work *work)
{
    const struct op_arg *gradient = op_args_tensor(args, 0), *indices = op_args_tensor(args, 1);
    int64_t rows;
    if (!gradient || !indices || gradient->rank < 1 || gradient->rank > OP_ARGS_MAX_RANK) {
        work->note = work_note_shapes;
        return;
    }
    if (!op_args_int(args, 2, &rows) || rows < 0) {
        work->note = work_note_concrete;
        return;
    }
    int64_t table =
        work_bytes(count_mul(rows, gradient->dims[gradient->rank - 1]), gradient->dtype);
    work->bytes = count_add(count_add(op_arg_bytes(gradient), op_arg_bytes(indices)), table);
}

bool work_embedding(struct str op, const struct arg_list *args, struct work *work)
{
    enum work_kind before = work->kind;
    work->kind = WORK_EMBEDDING;
    if (str_equal(op, STR("aten::embedding")))
        fill_rows(op_args_tensor(args, 0), op_args_tensor(args, 1), 0, work);
    else if (str_equal(op, STR("aten::index_select")))
        fill_select(args, work);
    else if (str_equal(op, STR("aten::gather")))
        fill_gather(args, work);
    else if (str_equal(op, STR("aten::embedding_dense_backward")))
        fill_dense_backward(args, work);
    else
        work->kind = before;
    return work->kind == WORK_EMBEDDING;
}
