// SPDX-License-Identifier: Apache-2.0
// Convolutions: each output is a product with the weights of its channel; each tensor is
// transferred once.
#include "analysis/work/work_models.h"

#include <inttypes.h>
#include <stdio.h>

#define MAX_SPATIAL 3

struct conv {
    const char *op;
    int8_t bias;                               // -1: none
    int8_t stride, padding, dilation;          // lists; dilation -1: 1
    int8_t transposed, output_padding, groups; // -1: not, none, not needed
    bool is_transposed;                        // by its name
    int8_t added;                              // a tensor added to the output, -1: none
};

// Positions follow the operators' schemas.
static const struct conv convs[] = {
    {"aten::convolution", 2, 3, 4, 5, 6, 7, 8, false, -1},
    {"aten::_convolution", 2, 3, 4, 5, 6, 7, 8, false, -1},
    {"aten::convolution_overrideable", 2, 3, 4, 5, 6, 7, 8, false, -1},
    {"aten::cudnn_convolution", -1, 3, 2, 4, -1, -1, 5, false, -1},
    {"aten::cudnn_convolution_transpose", -1, 4, 2, 5, -1, 3, 6, true, -1},
    {"aten::cudnn_convolution_relu", 2, 3, 4, 5, -1, -1, 6, false, -1},
    {"aten::cudnn_convolution_add_relu", 4, 5, 6, 7, -1, -1, 8, false, 2},
    {"aten::miopen_convolution", 2, 4, 3, 5, -1, -1, 6, false, -1},
    {"aten::miopen_convolution_transpose", 2, 5, 3, 6, -1, 4, 7, true, -1},
    {"aten::miopen_convolution_relu", 2, 3, 4, 5, -1, -1, 6, false, -1},
    {"aten::miopen_convolution_add_relu", 4, 5, 6, 7, -1, -1, 8, false, 2},
    {"aten::miopen_depthwise_convolution", 2, 4, 3, 5, -1, -1, 6, false, -1},
    {"aten::_conv_depthwise2d", 3, 4, 5, 6, -1, -1, -1, false, -1},
    {"aten::conv_depthwise3d", 3, 4, 5, 6, -1, -1, -1, false, -1},
    {"aten::_slow_conv2d_forward", 3, 4, 5, -1, -1, -1, -1, false, -1},
    {"aten::slow_conv3d_forward", 3, 4, 5, -1, -1, -1, -1, false, -1},
    {"aten::slow_conv_transpose2d", 3, 4, 5, 7, -1, 6, -1, true, -1},
    {"aten::slow_conv_transpose3d", 3, 4, 5, 7, -1, 6, -1, true, -1},
    {"aten::slow_conv_dilated2d", 3, 4, 5, 6, -1, -1, -1, false, -1},
    {"aten::slow_conv_dilated3d", 3, 4, 5, 6, -1, -1, -1, false, -1},
};

// A list with one value per dimension, or one for all.
static bool read_list(const struct arg_list *args, int index, uint32_t spatial, int64_t absent,
                      int64_t values[MAX_SPATIAL])
{
    uint32_t count = 1;
    values[0] = absent;
    if (index >= 0 && !op_args_ints(args, index, values, MAX_SPATIAL, &count))
        return false;
    for (uint32_t i = count; count == 1 && i < spatial; i++)
        values[i] = values[0];
    for (uint32_t i = 0; i < spatial && i < count; i++)
        if (values[i] < 0)
            return false;
    return count == 1 || count == spatial;
}

struct geometry {
    bool transposed;
    int64_t groups;
    int64_t stride[MAX_SPATIAL], padding[MAX_SPATIAL], dilation[MAX_SPATIAL];
    int64_t output_padding[MAX_SPATIAL];
};

static bool read_geometry(const struct conv *conv, const struct arg_list *args, uint32_t spatial,
                          struct geometry *g)
{
    g->transposed = conv->is_transposed;
    g->groups = 1;
    if (conv->transposed >= 0 && !op_args_bool(args, conv->transposed, &g->transposed))
        return false;
    if (g->transposed && conv->groups >= 0 && !op_args_int(args, conv->groups, &g->groups))
        return false;
    return read_list(args, conv->stride, spatial, 1, g->stride) &&
           read_list(args, conv->padding, spatial, 0, g->padding) &&
           read_list(args, conv->dilation, spatial, 1, g->dilation) &&
           read_list(args, g->transposed ? conv->output_padding : -1, spatial, 0,
                     g->output_padding);
}

// Elements along one dimension of the output, 0 if the filter does not fit.
static int64_t output_size(int64_t in, int64_t filter, const struct geometry *g, uint32_t i)
{
    int64_t reach = count_add(count_mul(g->dilation[i], filter - 1), 1);
    int64_t margin = count_mul(2, g->padding[i]);
    if (filter < 1 || in < 0 || g->stride[i] < 1 || !count_known(reach) || !count_known(margin))
        return COUNT_UNKNOWN;
    if (g->transposed) {
        int64_t size =
            count_add(count_add(count_mul(in - 1, g->stride[i]), reach), g->output_padding[i]);
        return size < margin ? COUNT_UNKNOWN : size - margin;
    }
    int64_t padded = count_add(in, margin);
    return padded < reach ? COUNT_UNKNOWN : (padded - reach) / g->stride[i] + 1;
}

static int64_t count_outputs(const struct op_arg *in, const struct op_arg *weights,
                             const struct geometry *g)
{
    int64_t channels = g->transposed ? count_mul(weights->dims[1], g->groups) : weights->dims[0];
    int64_t outputs = count_mul(in->dims[0], channels);
    for (uint32_t i = 2; i < in->rank; i++)
        outputs = count_mul(outputs, output_size(in->dims[i], weights->dims[i], g, i - 2));
    return outputs;
}

// Multiply-adds per output, or per input if transposed, times a channel's weights.
static int64_t count_flops(const struct op_arg *in, const struct op_arg *weights, int64_t outputs,
                           bool transposed)
{
    int64_t points = transposed ? in->elements : outputs;
    return count_mul(2, count_mul(points, work_product(weights, 1, weights->rank)));
}

static bool is_convolution(const struct op_arg *in, const struct op_arg *weights)
{
    return in && weights && in->rank == weights->rank && in->rank >= 3 &&
           in->rank <= 2 + MAX_SPATIAL;
}

static size_t put_dims(char *text, size_t size, const char *name, const struct op_arg *arg)
{
    size_t len = (size_t)snprintf(text, size, "%s", name);
    for (uint32_t i = 0; i < arg->rank && len < size; i++)
        len += (size_t)snprintf(text + len, size - len, "%s%" PRId64, i ? "x" : "", arg->dims[i]);
    return len < size ? len : size - 1;
}

static void describe(const struct op_arg *in, const struct op_arg *weights, bool transposed,
                     struct work *work)
{
    size_t size = sizeof work->problem;
    size_t len = put_dims(work->problem, size, "in=", in);
    len += put_dims(work->problem + len, size - len, " w=", weights);
    snprintf(work->problem + len, size - len, "%s", transposed ? " transposed" : "");
}

static void fill_forward(const struct conv *conv, const struct arg_list *args, struct work *work)
{
    const struct op_arg *in = op_args_tensor(args, 0), *weights = op_args_tensor(args, 1);
    struct geometry geometry;
    work->kind = WORK_CONV_FORWARD;
    if (!is_convolution(in, weights)) {
        work->note = work_note_shapes;
        return;
    }
    work->precision = dtype_precision(in->dtype);
    if (!read_geometry(conv, args, in->rank - 2, &geometry)) {
        work->note = work_note_concrete;
        return;
    }
    int64_t outputs = count_outputs(in, weights, &geometry);
    work->flops = count_flops(in, weights, outputs, geometry.transposed);
    work->bytes = count_add(count_add(op_arg_bytes(in), op_arg_bytes(weights)),
                            work_bytes(outputs, in->dtype));
    work->bytes = count_add(work->bytes, work_tensor_bytes(args, conv->bias));
    work->bytes = count_add(work->bytes, work_tensor_bytes(args, conv->added));
    describe(in, weights, geometry.transposed, work);
    if (!count_known(outputs))
        work->note = work_note_shapes;
}

// --- backward ------------------------------------------------------------------------------------

enum { GRADIENT = 0, INPUT = 1, WEIGHTS = 2, TRANSPOSED = 7, MASK = 10 };

// The gradient of the output is read once; then for each requested gradient: the input's, from the
// weights; the weights', from the input; the bias's.
static int64_t backward_bytes(const struct op_arg *gradient, const struct op_arg *in,
                              const struct op_arg *weights, const bool mask[3])
{
    int64_t both = count_add(op_arg_bytes(in), op_arg_bytes(weights));
    int64_t bytes = op_arg_bytes(gradient);
    int64_t channels = gradient->dims[1];
    for (int i = 0; i < 2; i++)
        bytes = mask[i] ? count_add(bytes, both) : bytes;
    return mask[2] ? count_add(bytes, work_bytes(channels, weights->dtype)) : bytes;
}

static void fill_backward(const struct arg_list *args, struct work *work)
{
    const struct op_arg *gradient = op_args_tensor(args, GRADIENT),
                        *in = op_args_tensor(args, INPUT), *weights = op_args_tensor(args, WEIGHTS);
    bool transposed, mask[3];
    uint32_t asked;
    work->kind = WORK_CONV_BACKWARD;
    if (!is_convolution(in, weights) || !gradient || gradient->rank != in->rank) {
        work->note = work_note_shapes;
        return;
    }
    work->precision = dtype_precision(in->dtype);
    if (!op_args_bool(args, TRANSPOSED, &transposed) ||
        !op_args_bools(args, MASK, mask, 3, &asked) || asked != 3) {
        work->note = work_note_concrete;
        return;
    }
    int64_t one = count_flops(in, weights, gradient->elements, transposed);
    work->flops = count_mul(one, mask[0] + mask[1]);
    work->bytes = backward_bytes(gradient, in, weights, mask);
    describe(in, weights, transposed, work);
}

bool work_conv(struct str op, const struct arg_list *args, struct work *work)
{
    if (str_equal(op, STR("aten::convolution_backward"))) {
        fill_backward(args, work);
        return true;
    }
    for (size_t i = 0; i < sizeof convs / sizeof *convs; i++)
        if (str_equal(op, str_of(convs[i].op))) {
            fill_forward(&convs[i], args, work);
            return true;
        }
    return false;
}
