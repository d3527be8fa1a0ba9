// SPDX-License-Identifier: Apache-2.0
// Operations, bytes and the roofline on cases computed by hand.
#include "tests/unit/analysis/work/work_hand.h"

#include "analysis/names/peaks.h"
#include "analysis/work/work_model.h"

#include <math.h>

// --- formulas ------------------------------------------------------------------------------------

struct inputs {
    const char *dims, *types, *strides, *concrete;
};

static struct work model(const char *op, struct inputs inputs)
{
    struct op_arg_texts texts = {str_of(inputs.dims), str_of(inputs.types), str_of(inputs.strides),
                                 str_of(inputs.concrete)};
    struct arg_list args;
    struct work work;
    op_args_parse(&texts, &args);
    work_model(str_of(op), &args, &work);
    return work;
}

static void check(const char *op, struct inputs inputs, int64_t flops, int64_t bytes)
{
    struct work work = model(op, inputs);
    if (work.flops != flops || work.bytes != bytes)
        fail_msg("%s: %lld operations and %lld bytes, expected %lld and %lld (%s)", op,
                 (long long)work.flops, (long long)work.bytes, (long long)flops, (long long)bytes,
                 work.note ? work.note : "");
}

static void a_product_multiplies_and_adds_for_each_output(void **state)
{
    (void)state;
    // 2 x 8 x 32 x 16; (8 x 16 + 16 x 32 + 8 x 32) elements
    check("aten::mm", (struct inputs){"[[8,16],[16,32]]", "[" BF16 "," BF16 "]", "", ""}, 8192,
          896 * 2);
    check("aten::mm", (struct inputs){"[[8,16],[16,32]]", "[" FP32 "," FP32 "]", "", ""}, 8192,
          896 * 4);
    check("aten::bmm", (struct inputs){"[[3,8,16],[3,16,32]]", "[" BF16 "," BF16 "]", "", ""},
          3 * 8192, 3 * 896 * 2);
    // An output in fp32 (out_dtype).
    check("aten::mm",
          (struct inputs){"[[8,16],[16,32],[]]", "[" BF16 "," BF16 ",\"Scalar\"]", "",
                          "[\"\",\"\",\"6\"]"},
          8192, 640 * 2 + 256 * 4);
    check("aten::mv", (struct inputs){"[[8,16],[16]]", "[" FP32 "," FP32 "]", "", ""}, 256,
          (128 + 16 + 8) * 4);
    check("aten::dot", (struct inputs){"[[16],[16]]", "[" FP32 "," FP32 "]", "", ""}, 32, 33 * 4);
    check("aten::_int_mm",
          (struct inputs){"[[8,16],[16,32]]", "[\"signed char\",\"signed char\"]", "", ""}, 8192,
          128 + 512 + 256 * 4);
    assert_int_equal(
        model("aten::_int_mm",
              (struct inputs){"[[8,16],[16,32]]", "[\"signed char\",\"signed char\"]", "", ""})
            .precision,
        PRECISION_INT8);
}

// The bias is a tensor with its own type and size: a row, a full matrix, or nothing if beta is 0.
static void a_bias_counts_what_it_is(void **state)
{
    (void)state;
    const char *types = "[" FP32 "," BF16 "," BF16 ",\"Scalar\",\"Scalar\"]";
    const char *row = "[[32],[8,16],[16,32],[],[]]", *full = "[[8,32],[8,16],[16,32],[],[]]";
    const char *one = "[\"\",\"\",\"\",\"1\",\"1\"]", *zero = "[\"\",\"\",\"\",\"0.\",\"1\"]";
    check("aten::addmm", (struct inputs){row, types, "", one}, 8192 + 256, 896 * 2 + 32 * 4);
    check("aten::addmm", (struct inputs){full, types, "", one}, 8192 + 256, 896 * 2 + 256 * 4);
    check("aten::addmm", (struct inputs){row, types, "", zero}, 8192, 896 * 2);
    check("aten::baddbmm", (struct inputs){"[[3,8,32],[3,8,16],[3,16,32],[],[]]", types, "", one},
          3 * (8192 + 256), 3 * 896 * 2 + 3 * 256 * 4);
    check("aten::linear",
          (struct inputs){"[[2,4,16],[32,16],[32]]", "[" BF16 "," BF16 "," BF16 "]", "", ""},
          8192 + 256, (896 + 32) * 2);
}

static void scaled_products_move_narrow_inputs_and_their_own_output(void **state)
{
    (void)state;
    const char *dims = "[[8,16],[16,32],[],[],[],[],[],[]]";
    const char *types = "[\"c10::Float8_e4m3fn\",\"c10::Float8_e4m3fn\",\"float\",\"float\",\"\","
                        "\"\",\"Scalar\",\"Scalar\"]";
    check("aten::_scaled_mm",
          (struct inputs){dims, types, "", "[\"\",\"\",\"\",\"\",\"\",\"\",\"6\",\"False\"]"}, 8192,
          128 + 512 + 256 * 4);
    struct work work = model("aten::_scaled_mm", (struct inputs){dims, types, "", ""});
    assert_int_equal(work.bytes, 128 + 512 + 256 * 2);
    assert_int_equal(work.precision, PRECISION_FP8);
    assert_non_null(work.note); // says what was assumed
    // PyTorch 2.1 to 2.4 had bias and type before the scales; here the bias has 32 values.
    check("aten::_scaled_mm",
          (struct inputs){"[[8,16],[16,32],[32],[],[],[],[],[]]",
                          "[\"c10::Float8_e4m3fn\",\"c10::Float8_e4m3fn\"," BF16
                          ",\"Scalar\",\"float\",\"float\",\"float\",\"Scalar\"]",
                          "", "[\"\",\"\",\"\",\"6\",\"\",\"\",\"\",\"False\"]"},
          8192 + 256, 128 + 512 + 256 * 4 + 32 * 2);
    // Two 4-bit values per byte: K is 32.
    check("aiter::gemm_a4w4",
          (struct inputs){"[[8,16],[32,16]]",
                          "[\"c10::Float4_e2m1fn_x2\",\"c10::Float4_e2m1fn_x2\"]", "", ""},
          16384, 128 + 512 + 256 * 2);
}

static void grouped_products_go_by_the_rows_they_share_out(void **state)
{
    (void)state;
    const char *types = "[" BF16 "," BF16 ",\"int\",\"\",\"\"]";
    // 8 rows over 2 experts of [16,32]
    check("aten::_grouped_mm", (struct inputs){"[[8,16],[2,16,32],[2],[],[]]", types, "", ""}, 8192,
          (128 + 1024 + 256) * 2);
    // K is split: each group has an output
    check("aten::_grouped_mm", (struct inputs){"[[8,16],[16,32],[2],[],[]]", types, "", ""}, 8192,
          (128 + 512 + 2 * 256) * 2);
}

static void shapes_that_do_not_fit_have_no_figures(void **state)
{
    (void)state;
    check("aten::mm", (struct inputs){"[[8,16],[17,32]]", "[" BF16 "," BF16 "]", "", ""}, -1, -1);
    check("aten::mm", (struct inputs){"[[8,16]]", "[" BF16 "]", "", ""}, -1, -1);
    check("aten::bmm", (struct inputs){"[[3,8,16],[2,16,32]]", "[" BF16 "," BF16 "]", "", ""}, -1,
          -1);
    // 2^21 x 2^21 x 2^21 x 2 is past 63 bits, its bytes are not
    struct work work = model("aten::mm", (struct inputs){"[[2097152,2097152],[2097152,2097152]]",
                                                         "[" BF16 "," BF16 "]", "", ""});
    assert_int_equal(work.flops, COUNT_UNKNOWN);
    assert_true(work.bytes == (int64_t)6 << 42);
    assert_non_null(work.note);
}

#define QKV(q, kv) "[[" q "],[" kv "],[" kv "],[],[],[],[]]"
#define SDPA_TYPES "[" BF16 "," BF16 "," BF16 ",\"Scalar\",\"Scalar\",\"Scalar\",\"Scalar\"]"
#define CAUSAL     "[\"\",\"\",\"\",\"0.\",\"True\",\"False\",\"\"]"
#define NOT_CAUSAL "[\"\",\"\",\"\",\"0.\",\"False\",\"False\",\"\"]"

static void attention_counts_both_products(void **state)
{
    (void)state;
    const char *op = "aten::_scaled_dot_product_flash_attention";
    // 2 x B 2 x H 4 x 8 x 8 x (16 + 16)
    check(op, (struct inputs){QKV("2,4,8,16", "2,4,8,16"), SDPA_TYPES, "", NOT_CAUSAL}, 32768,
          4 * 1024 * 2);
    check(op, (struct inputs){QKV("2,4,8,16", "2,4,8,16"), SDPA_TYPES, "", CAUSAL}, 16384,
          4 * 1024 * 2);
    // Grouped heads: all 4 compute; only the 2 of keys and values are read.
    check(op, (struct inputs){QKV("2,4,8,16", "2,2,8,16"), SDPA_TYPES, "", NOT_CAUSAL}, 32768,
          (1024 + 512 + 512 + 1024) * 2);
    // Causal, but with different numbers of queries and keys: not halved.
    struct work work =
        model(op, (struct inputs){QKV("2,4,8,16", "2,4,6,16"), SDPA_TYPES, "", CAUSAL});
    assert_int_equal(work.flops, 24576);
    assert_non_null(work.note);
    assert_non_null(strstr(work.problem, "Nq=8 Nkv=6"));
}

static void attention_bytes_follow_the_types(void **state)
{
    (void)state;
    const char *types = "[" FP32 "," FP32 "," FP32 ",\"Scalar\",\"Scalar\",\"Scalar\",\"Scalar\"]";
    check("aten::_scaled_dot_product_flash_attention",
          (struct inputs){QKV("2,4,8,16", "2,4,8,16"), types, "", NOT_CAUSAL}, 32768, 4 * 1024 * 4);
}

static void attention_whose_flag_was_not_recorded_has_bytes_only(void **state)
{
    (void)state;
    struct work work = model("aten::_scaled_dot_product_flash_attention",
                             (struct inputs){QKV("2,4,8,16", "2,4,8,16"), SDPA_TYPES, "", ""});
    assert_int_equal(work.flops, COUNT_UNKNOWN);
    assert_int_equal(work.bytes, 4 * 1024 * 2);
    assert_string_equal(work.note, "whether it is causal was not recorded");
}

// Layout [B,N,H,D]; keys are 16 wide, values 8. 2 x 2 x 4 x 8 x 8 x (3 x 16 + 2 x 8).
static void attention_backward_counts_five_products(void **state)
{
    (void)state;
    const char *op = "flash_attn::_flash_attn_backward";
    struct inputs inputs = {
        "[[2,8,4,8],[2,8,4,16],[2,8,4,16],[2,8,4,8],[2,8,4,8],[2,4,8],[],[],[],[],[],[]]",
        "[" BF16 "," BF16 "," BF16 "," BF16 "," BF16
        ",\"float\",\"\",\"\",\"\",\"Scalar\",\"Scalar\",\"Scalar\"]",
        "", "[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"0.\",\"0.25\",\"False\"]"};
    check(op, inputs, 2 * 2 * 4 * 8 * 8 * 64, 2 * (1024 + 1024 + 512 + 512) * 2);
}

// FlashAttention 2 has dropout, scale and causal, FlashAttention 3 scale, causal and deterministic.
static void causal_is_found_in_either_version_of_flash_attention(void **state)
{
    (void)state;
    static const struct {
        const char *values;
        int64_t flops;
    } cases[] = {{"[\"\",\"\",\"\",\"0.\",\"0.25\",\"True\",\"False\"]", 16384},
                 {"[\"\",\"\",\"\",\"0.\",\"\",\"False\",\"True\"]", 32768},
                 {"[\"\",\"\",\"\",\"0.25\",\"True\",\"False\",\"\"]", 16384},
                 {"[\"\",\"\",\"\",\"0.25\",\"False\",\"True\",\"\"]", 32768}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct work work = model("FlashAttnFunc", (struct inputs){QKV("2,8,4,16", "2,8,4,16"),
                                                                  SDPA_TYPES, "", cases[i].values});
        assert_int_equal(work.flops, cases[i].flops);
        assert_non_null(strstr(work.note, "sliding window"));
    }
}

static void templates_of_products_are_no_passes_over_their_arguments(void **state)
{
    (void)state;
    struct inputs inputs = {"[[8,16],[16,32],[8,32]]", "[" BF16 "," BF16 "," BF16 "]", "", ""};
    assert_int_equal(model("triton_poi_fused_add_0", inputs).bytes, (128 + 512 + 256) * 2);
    struct work work = model("triton_tem_fused_mm_0", inputs);
    assert_int_equal(work.kind, WORK_GEMM);
    assert_int_equal(work.bytes, COUNT_UNKNOWN);
}

static void packed_attention_is_known_when_all_sequences_are_equal(void **state)
{
    (void)state;
    const char *op = "flash_attn::_flash_attn_varlen_forward";
    const char *dims = "[[16,4,16],[16,4,16],[16,4,16],[3],[3],[],[],[],[],[]]";
    const char *types = "[" BF16 "," BF16 "," BF16
                        ",\"int\",\"int\",\"Scalar\",\"Scalar\",\"Scalar\",\"Scalar\",\"Scalar\"]";
    // Two sequences of 8: as the dense case above.
    check(op,
          (struct inputs){dims, types, "",
                          "[\"\",\"\",\"\",\"\",\"\",\"8\",\"8\",\"0.\",\"0.25\",\"False\"]"},
          32768, 4 * 1024 * 2);
    struct work work = model(
        op, (struct inputs){dims, types, "",
                            "[\"\",\"\",\"\",\"\",\"\",\"9\",\"9\",\"0.\",\"0.25\",\"False\"]"});
    assert_int_equal(work.flops, COUNT_UNKNOWN);
    assert_int_equal(work.bytes, 4 * 1024 * 2);
    assert_non_null(work.note);
}

#define CONV_TYPES                                                                         \
    "[" BF16 "," BF16 "," FP32 ",\"ScalarList\",\"ScalarList\",\"ScalarList\",\"Scalar\"," \
    "\"ScalarList\",\"Scalar\"]"

// The output of a 3x3 filter over 8x8 with stride 2 and padding 1: 4x4. The bias moves its own
// bytes.
static void a_convolution_multiplies_each_output_with_its_weights(void **state)
{
    (void)state;
    check("aten::convolution",
          (struct inputs){"[[2,3,8,8],[5,3,3,3],[5],[],[],[],[],[],[]]", CONV_TYPES, "",
                          "[\"\",\"\",\"\",\"[2, 2]\",\"[1, 1]\",\"[1, 1]\",\"False\",\"[0, 0]\","
                          "\"1\"]"},
          2 * (2 * 5 * 4 * 4) * (3 * 3 * 3), (384 + 135 + 160) * 2 + 5 * 4);
    // Dilation 2 makes the filter 5 wide: 8 - 5 + 1 = 4 without stride and padding.
    check("aten::cudnn_convolution",
          (struct inputs){"[[2,3,8,8],[5,3,3,3],[],[],[],[]]",
                          "[" BF16 "," BF16 ",\"\",\"\",\"\",\"\"]", "",
                          "[\"\",\"\",\"[0, 0]\",\"[1, 1]\",\"[2, 2]\",\"1\"]"},
          2 * (2 * 5 * 4 * 4) * (3 * 3 * 3), (384 + 135 + 160) * 2);
}

// The text "False" means false: taken as true, the convolution would count its inputs.
static void transposed_convolutions_are_known_by_the_text_of_the_flag(void **state)
{
    (void)state;
    const char *dims = "[[2,4,5,5],[4,3,3,3],[],[],[],[],[],[],[]]";
    const char *types = "[" BF16 "," BF16 ",\"\",\"\",\"\",\"\",\"\",\"\",\"\"]";
    // Transposed: (5 - 1) x 2 - 2 + 3 + 1 = 10 along each side, 3 x 2 channels out.
    check("aten::convolution",
          (struct inputs){dims, types, "",
                          "[\"\",\"\",\"\",\"[2, 2]\",\"[1, 1]\",\"[1, 1]\",\"True\",\"[1, 1]\","
                          "\"2\"]"},
          2 * (2 * 4 * 25) * (3 * 9), (200 + 108 + 2 * 6 * 100) * 2);
    struct work work = model(
        "aten::convolution",
        (struct inputs){dims, types, "",
                        "[\"\",\"\",\"\",\"[2, 2]\",\"[1, 1]\",\"[1, 1]\",\"bool(1)\",\"[1, 1]\","
                        "\"2\"]"});
    assert_int_equal(work.flops, COUNT_UNKNOWN);
    assert_non_null(work.note);
}

static void convolution_backward_counts_the_gradients_asked_for(void **state)
{
    (void)state;
    const char *dims = "[[2,5,4,4],[2,3,8,8],[5,3,3,3],[],[],[],[],[],[],[],[]]";
    const char *types =
        "[" BF16 "," BF16 "," BF16 ",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"ScalarList\"]";
    int64_t one = 2 * (2 * 5 * 4 * 4) * (3 * 3 * 3);
    check("aten::convolution_backward",
          (struct inputs){dims, types, "",
                          "[\"\",\"\",\"\",\"[5]\",\"[2, 2]\",\"[1, 1]\",\"[1, 1]\",\"False\","
                          "\"[0, 0]\",\"1\",\"[True, True, True]\"]"},
          2 * one, (160 + 2 * (384 + 135) + 5) * 2);
    check("aten::convolution_backward",
          (struct inputs){dims, types, "",
                          "[\"\",\"\",\"\",\"[5]\",\"[2, 2]\",\"[1, 1]\",\"[1, 1]\",\"False\","
                          "\"[0, 0]\",\"1\",\"[False, True, False]\"]"},
          one, (160 + 384 + 135) * 2);
}

// Only their bytes matter; FLOPs stay unknown.
static void elementwise_operators_move_what_they_read_and_write(void **state)
{
    (void)state;
    check("aten::add",
          (struct inputs){"[[4,8],[4,8],[]]", "[" BF16 "," BF16 ",\"Scalar\"]", "", ""}, -1,
          3 * 32 * 2);
    check("aten::mul", (struct inputs){"[[4,1],[1,8]]", "[" BF16 "," FP32 "]", "", ""}, -1,
          4 * 2 + 8 * 4 + 32 * 4);
    check("aten::add_", (struct inputs){"[[4,8],[8],[]]", "[" BF16 "," BF16 ",\"Scalar\"]", "", ""},
          -1, (32 + 8 + 32) * 2);
    check("aten::eq", (struct inputs){"[[4,8],[]]", "[" FP32 ",\"Scalar\"]", "", ""}, -1,
          32 * 4 + 32);
    check("aten::where",
          (struct inputs){"[[4,8],[4,8],[]]", "[\"bool\"," BF16 ",\"double\"]", "", ""}, -1,
          32 + 32 * 2 + 8 + 32 * 2);
    check("aten::copy_",
          (struct inputs){"[[4,8],[4,8],[]]", "[" BF16 "," FP32 ",\"Scalar\"]", "", ""}, -1,
          32 * 2 + 32 * 4);
    check("aten::zero_", (struct inputs){"[[4,8]]", "[" FP32 "]", "", ""}, -1, 32 * 4);
    // An expanded input is read once: its second dimension has stride 0.
    check("aten::mul", (struct inputs){"[[4,8],[4,8]]", "[" FP32 "," FP32 "]", "[[8,1],[1,0]]", ""},
          -1, (32 + 4 + 32) * 4);
    check("triton_poi_fused_add_0",
          (struct inputs){"[[4,8],[4,8],[]]", "[" BF16 "," FP32 ",\"Scalar\"]", "", ""}, -1,
          32 * 2 + 32 * 4);
}

// The output has the remaining size, not 1.
static void reductions_write_what_is_left(void **state)
{
    (void)state;
    const char *types = "[" FP32 ",\"ScalarList\",\"Scalar\",\"\"]", *dims = "[[4,8,2],[],[],[]]";
    check("aten::sum", (struct inputs){dims, types, "", "[\"\",\"[-1]\",\"True\",\"\"]"}, -1,
          (64 + 32) * 4);
    check("aten::sum", (struct inputs){dims, types, "", "[\"\",\"[0, 1]\",\"False\",\"\"]"}, -1,
          (64 + 2) * 4);
    check("aten::sum", (struct inputs){dims, types, "", "[\"\",\"[]\",\"False\",\"\"]"}, -1,
          (64 + 1) * 4);
    check("aten::sum", (struct inputs){dims, types, "", "[\"\",\"[1]\",\"False\",\"7\"]"}, -1,
          64 * 4 + 8 * 8);
    check("aten::sum", (struct inputs){"[[4,8],[]]", "[" FP32 ",\"\"]", "", "[\"\",\"\"]"}, -1,
          33 * 4);
    check("aten::sum", (struct inputs){"[[4,8],[]]", "[\"int\",\"\"]", "", "[\"\",\"\"]"}, -1,
          32 * 4 + 8);
    check("aten::max",
          (struct inputs){"[[4,8],[],[]]", "[" FP32 ",\"\",\"\"]", "", "[\"\",\"1\",\"False\"]"},
          -1, 32 * 4 + 4 * 4 + 4 * 8);
    check("aten::sum", (struct inputs){dims, types, "", "[\"\",\"[3]\",\"False\",\"\"]"}, -1, -1);
    check("aten::sum", (struct inputs){dims, types, "", ""}, -1, -1);
}

// Evaluation reads the running statistics; training also writes them and keeps those of the batch.
static void norms_tell_training_by_the_text_of_the_flag(void **state)
{
    (void)state;
    const char *dims = "[[2,4,8],[4],[4],[4],[4],[],[],[]]";
    const char *types = "[" BF16 "," FP32 "," FP32 "," FP32 "," FP32 ",\"\",\"\",\"\"]";
    int64_t moved = 2 * 64 * 2 + 2 * 4 * 4, running = 2 * 4 * 4;
    check(
        "aten::native_batch_norm",
        (struct inputs){dims, types, "", "[\"\",\"\",\"\",\"\",\"\",\"False\",\"0.1\",\"1e-05\"]"},
        -1, moved + running);
    check("aten::native_batch_norm",
          (struct inputs){dims, types, "", "[\"\",\"\",\"\",\"\",\"\",\"True\",\"0.1\",\"1e-05\"]"},
          -1, moved + 2 * running + 2 * 4 * 4);
    // 6 rows of 8: mean and deviation of each in fp32
    check("aten::native_layer_norm",
          (struct inputs){"[[2,3,8],[],[8],[8],[]]", "[" BF16 ",\"\"," BF16 "," BF16 ",\"\"]", "",
                          "[\"\",\"[8]\",\"\",\"\",\"1e-05\"]"},
          -1, (48 + 8 + 8 + 48) * 2 + 2 * 6 * 4);
}

static void engines_operators_move_what_their_schemas_say(void **state)
{
    (void)state;
    // (out, input, weight); (input, weight) that gives its output; (input, residual, weight), both
    // of which it changes
    check("_C::rms_norm",
          (struct inputs){"[[6,8],[6,8],[8]]", "[" BF16 "," BF16 "," BF16 "]", "", ""}, -1,
          (48 + 48 + 8) * 2);
    check("aiter::rms_norm", (struct inputs){"[[6,8],[8]]", "[" BF16 "," BF16 "]", "", ""}, -1,
          (48 + 48 + 8) * 2);
    check("sgl_kernel::fused_add_rmsnorm",
          (struct inputs){"[[6,8],[6,8],[8]]", "[" BF16 "," BF16 "," BF16 "]", "", ""}, -1,
          (2 * 48 + 2 * 48 + 8) * 2);
    check("flashinfer::silu_and_mul",
          (struct inputs){"[[6,8],[6,16]]", "[" BF16 "," BF16 "]", "", ""}, -1, (48 + 96) * 2);
    // 6 positions, 4 heads of 8 and 2 of them, tables of 4: half of each head is rotated
    check("_C::rotary_embedding",
          (struct inputs){"[[6],[6,32],[6,16],[],[100,4],[]]",
                          "[\"long int\"," BF16 "," BF16 ",\"Scalar\"," BF16 ",\"Scalar\"]", "",
                          "[\"\",\"\",\"\",\"8\",\"\",\"True\"]"},
          -1, 6 * 8 + 2 * (192 + 96) * 2 / 2 + 6 * 4 * 2);
    // 5 of 6 rows have a slot; the cache has one byte per element
    check("_C_cache_ops::reshape_and_cache_flash",
          (struct inputs){"[[6,2,8],[6,2,8],[9,16,2,8],[9,16,2,8],[5]]",
                          "[" BF16 "," BF16 ",\"unsigned char\",\"unsigned char\",\"long int\"]",
                          "", ""},
          -1, 2 * 5 * 16 * (2 + 1) + 5 * 8);
}

static void softmax_and_lookups_move_what_they_touch(void **state)
{
    (void)state;
    check("aten::_softmax",
          (struct inputs){"[[4,8],[],[]]", "[" BF16 ",\"\",\"\"]", "", "[\"\",\"-1\",\"True\"]"},
          -1, 32 * 2 + 32 * 4);
    // The gradient in the type of what the forward widened.
    check("aten::_softmax_backward_data",
          (struct inputs){"[[4,8],[4,8],[],[]]", "[" FP32 "," FP32 ",\"Scalar\",\"Scalar\"]", "",
                          "[\"\",\"\",\"-1\",\"15\"]"},
          -1, 2 * 32 * 4 + 32 * 2);
    // 6 rows of 16 read and written, 6 indices
    check("aten::embedding",
          (struct inputs){"[[100,16],[2,3],[],[],[]]", "[" BF16 ",\"long int\",\"\",\"\",\"\"]", "",
                          ""},
          -1, 6 * 8 + 2 * 6 * 16 * 2);
    check("aten::index_select",
          (struct inputs){"[[100,16],[],[6]]", "[" BF16 ",\"\",\"long int\"]", "",
                          "[\"\",\"0\",\"\"]"},
          -1, 6 * 8 + 2 * 6 * 16 * 2);
}

static void precision_of_fp32_products_is_known_by_the_kernel(void **state)
{
    (void)state;
    assert_int_equal(precision_refine(PRECISION_FP32, STR("sm80_xmma_gemm_f32f32_tf32f32_f32_nn")),
                     PRECISION_TF32);
    assert_int_equal(precision_refine(PRECISION_FP32, STR("ampere_sgemm_128x64_tn")),
                     PRECISION_FP32);
    assert_int_equal(precision_refine(PRECISION_BF16, STR("a_tf32_name")), PRECISION_BF16);
    assert_int_equal(precision_refine(PRECISION_FP32, STR("nvjet_sss_128x128_32x6_1x2_h_bz_TNN")),
                     PRECISION_TF32);
    assert_int_equal(precision_of_kernel(STR("nvjet_sm100_sss_128x256_32x4_2x1_2cta_h_bz_TNN")),
                     PRECISION_TF32);
    assert_int_equal(precision_of_kernel(STR("nvjet_tst_256x128_64x4_2x1_v_bz_coopA_NTN")),
                     PRECISION_BF16);
    assert_int_equal(precision_of_kernel(STR("Cijk_Alik_Bljk_HHS_BH_MT64x64x64")), PRECISION_FP16);
    assert_int_equal(precision_of_kernel(STR("Cijk_Alik_Bljk_B_BS_BH_Bias_HA_S_SAV_UserArgs_"
                                             "MT256x128x64_MI16x16x1")),
                     PRECISION_BF16);
    assert_int_equal(precision_of_kernel(STR("gemm_of_nobody")), PRECISION_NONE);
    assert_int_equal(precision_of_kernel(STR("void ck_tile::kentry<1, GroupedGemmKernel<...>>")),
                     PRECISION_NONE);
    assert_int_equal(precision_of_kernel(STR("volta_dgemm_64x64_nn")), PRECISION_FP64);
    assert_int_equal(precision_of_kernel(STR("sgemm_largek_lds64")), PRECISION_FP32);
}

// Such names also hold the types of scales and results.
static void precision_of_narrow_products_is_known_by_the_kernel(void **state)
{
    (void)state;
    assert_int_equal(precision_of_kernel(STR("nvjet_sm103_qqtst_128x256_128x4_2x1_2cta_v_bz_"
                                             "Avec32UE8M0_Bvec32UE8M0_TNT")),
                     PRECISION_FP8);
    assert_int_equal(
        precision_of_kernel(STR("cutlass3x_sm100_bstensorop_s256x256x64gemm_block_scaled_"
                                "ue4m3xf4_ue4m3xf4_f32_bf16_bf16_256x256x256")),
        PRECISION_FP4);
    assert_int_equal(precision_of_kernel(STR("aiter::f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128")),
                     PRECISION_FP4);
    assert_int_equal(precision_of_kernel(STR("aiter::I8gemm_bf16_perTokenI8_BpreShuffle_112x256")),
                     PRECISION_INT8);
    assert_int_equal(precision_of_kernel(STR("ampere_igemm_int8_128x128_ldg4_nn")), PRECISION_INT8);
    assert_int_equal(
        precision_of_kernel(
            STR("bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32_cga1x1x1")),
        PRECISION_FP8);
    assert_int_equal(
        precision_of_kernel(STR("bmm_E2m1_E2m1E2m1_Fp32_t128x16x256_s6_et128x16_m256x16x64")),
        PRECISION_FP4);
}

// --- the tables ----------------------------------------------------------------------------------

// 2 x 1024^3 operations in 10 us are 214.7 TFLOP/s; at 989 TFLOP/s they take 2.171 us, and the
// 6 MiB at 3.35 TB/s take 1.878 us.
static void rows_stand_against_the_roofline(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_member(&hand, "deviceProperties", H100);
    for (int i = 0; i < 3; i++)
        launch(
            &hand,
            (struct hand_event){
                .name = "aten::mm", .begin_ns = i * 100000, .correlation = i + 1, .dims = MM_1024},
            "sm90_xmma_gemm_bf16bf16", 10000 + 1000 * i);
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "roofline"), 1);
    assert_string_equal(hand_word(&hand, "roofline", 0, "kind"), "gemm");
    assert_string_equal(hand_word(&hand, "roofline", 0, "problem"), "M=1024 N=1024 K=1024");
    assert_string_equal(hand_word(&hand, "roofline", 0, "precision"), "bf16");
    assert_int_equal(hand_i64(&hand, "roofline", 0, "calls"), 3);
    assert_int_equal(hand_i64(&hand, "roofline", 0, "kernels"), 3);
    assert_int_equal(hand_i64(&hand, "roofline", 0, "busy_ns"), 33000);
    assert_int_equal(hand_i64(&hand, "roofline", 0, "median_ns"), 11000);
    assert_int_equal(hand_i64(&hand, "roofline", 0, "flops"), 2147483648);
    assert_int_equal(hand_i64(&hand, "roofline", 0, "bytes"), 6291456);
    assert_true(fabs(hand_cell(&hand, "roofline", 0, "tflops")->f - 195.225786) < 1e-6);
    assert_true(fabs(hand_cell(&hand, "roofline", 0, "intensity")->f - 341.333333) < 1e-6);
    assert_string_equal(hand_word(&hand, "roofline", 0, "bound"), "compute");
    assert_int_equal(hand_i64(&hand, "roofline", 0, "roofline_ns"), 6514); // 3 x 2171.369 ns
    assert_int_equal(hand_i64(&hand, "roofline", 0, "lost_ns"), 33000 - 6514);
    assert_true(fabs(hand_cell(&hand, "roofline", 0, "efficiency")->f - 0.197397) < 1e-6);
    assert_string_equal(hand_word(&hand, "roofline", 0, "kernel"), "sm90_xmma_gemm_bf16bf16");
    assert_null(hand_word(&hand, "roofline", 0, "note"));
    hand_end(&hand);
}

static void a_device_without_peaks_has_no_efficiency_and_says_so(void **state)
{
    (void)state;
    struct hand hand;
    begin_product(&hand, "[{\"name\":\"Unheard-of 1\"}]", "gemm");
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "roofline", 0, "flops"), 2147483648);
    assert_true(hand_cell(&hand, "roofline", 0, "efficiency")->null);
    assert_true(hand_cell(&hand, "roofline", 0, "bound")->null);
    assert_string_equal(hand_word(&hand, "roofline", 0, "note"),
                        "no peaks are listed for this device");
    size_t hfu = hand_find(&hand, "utilization", "metric", "hfu");
    assert_true(hand_cell(&hand, "utilization", hfu, "value")->null);
    assert_non_null(strstr(hand_word(&hand, "utilization", hfu, "help"), "--peaks"));
    hand_end(&hand);
}

static void peaks_of_the_user_go_before_those_built_in(void **state)
{
    (void)state;
    struct hand hand;
    struct peaks peaks;
    hand_begin(&hand);
    assert_true(peaks_parse(STR("device\tmemory_gib\tfp4\tfp8\tint8\tbf16\tfp16\ttf32\tfp32\tfp64\t"
                                "tbps\tsource\nH100\t-\t-\t-\t-\t500\t-\t-\t-\t-\t2\tours\n"),
                            &hand.arena, &peaks, &hand.err));
    hand.options.peaks = &peaks;
    hand_member(&hand, "deviceProperties", H100);
    launch(&hand, (struct hand_event){.name = "aten::mm", .correlation = 1, .dims = MM_1024},
           "gemm", 10000);
    hand_analyze(&hand);
    assert_true(hand_cell(&hand, "roofline", 0, "peak_tflops")->f == 500);
    assert_true(hand_cell(&hand, "roofline", 0, "peak_tbps")->f == 2);
    hand_end(&hand);
}

// aten::batch_norm calls aten::native_batch_norm, which launches: one row, counted once.
static void nested_operators_count_once_where_they_launch(void **state)
{
    (void)state;
    const char *dims = "[[2,4,8],[4],[4],[4],[4],[],[],[]]";
    const char *types = "[" BF16 "," FP32 "," FP32 "," FP32 "," FP32 ",\"\",\"\",\"\"]";
    struct hand hand;
    hand_begin(&hand);
    hand_add(&hand, (struct hand_event){.kind = EVENT_CPU_OP,
                                        .name = "aten::batch_norm",
                                        .pid = 1,
                                        .row = 1,
                                        .begin_ns = 0,
                                        .dur_ns = 90000,
                                        .dims = dims,
                                        .types = types});
    launch(
        &hand,
        (struct hand_event){.name = "aten::native_batch_norm",
                            .begin_ns = 10000,
                            .correlation = 1,
                            .dims = dims,
                            .types = types,
                            .concrete = "[\"\",\"\",\"\",\"\",\"\",\"False\",\"0.1\",\"1e-05\"]"},
        "batch_norm_kernel", 10000);
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "roofline"), 1);
    assert_string_equal(hand_word(&hand, "roofline", 0, "op"), "aten::native_batch_norm");
    assert_string_equal(hand_word(&hand, "roofline", 0, "kind"), "norm");
    assert_true(hand_cell(&hand, "roofline", 0, "flops")->null);
    assert_int_equal(hand_i64(&hand, "roofline", 0, "bytes"), 2 * 64 * 2 + 4 * 4 * 4);
    hand_end(&hand);
}

// Two products of different precision in a step of 100 us: their times at the peak, 2.171 us in
// bf16 and 4.338 us in tf32, divided by the step's time.
static void utilization_sums_the_time_at_each_precisions_peak(void **state)
{
    (void)state;
    struct hand hand;
    begin_product(&hand, H100, "gemm_bf16");
    launch(&hand,
           (struct hand_event){.name = "aten::mm",
                               .begin_ns = 80000,
                               .correlation = 2,
                               .dims = "[[1024,1024],[1024,1024]]",
                               .types = "[" FP32 "," FP32 "]"},
           "gemm_tf32tf32", 20000);
    hand_analyze(&hand);
    size_t hfu = hand_find(&hand, "utilization", "metric", "hfu");
    double want = (2147483648.0 / 989e3 + 2147483648.0 / 495e3) / 100000;
    assert_true(fabs(hand_cell(&hand, "utilization", hfu, "value")->f - want) < 1e-12);
    size_t flops = hand_find(&hand, "utilization", "metric", "flops_per_step");
    assert_true(hand_cell(&hand, "utilization", flops, "value")->f == 2 * 2147483648.0);
    size_t bf16 = hand_find(&hand, "utilization", "metric", "gemm_bf16_share");
    assert_true(fabs(hand_cell(&hand, "utilization", bf16, "value")->f - 1.0 / 3) < 1e-12);
    size_t tf32 = hand_find(&hand, "utilization", "metric", "gemm_tf32_share");
    assert_true(fabs(hand_cell(&hand, "utilization", tf32, "value")->f - 2.0 / 3) < 1e-12);
    size_t rate = hand_find(&hand, "utilization", "metric", "gemm_tflops");
    assert_true(fabs(hand_cell(&hand, "utilization", rate, "value")->f -
                     2 * 2147483648.0 / 30000 / 1e3) < 1e-9);
    size_t of_peak = hand_find(&hand, "utilization", "metric", "gemm_of_peak");
    assert_true(fabs(hand_cell(&hand, "utilization", of_peak, "value")->f - want * 100 / 30) <
                1e-12);
    size_t attention = hand_find(&hand, "utilization", "metric", "attention_tflops");
    assert_true(hand_cell(&hand, "utilization", attention, "value")->null);
    hand_end(&hand);
}

// The second product is in a forward repeated by checkpointing: the hardware does two, the model
// one.
static void recomputed_products_are_no_part_of_the_model(void **state)
{
    (void)state;
    struct hand hand;
    begin_product(&hand, H100, "gemm_bf16");
    hand_add(&hand, (struct hand_event){.kind = EVENT_PYTHON,
                                        .name = "torch/utils/checkpoint.py(1500): recompute_fn",
                                        .pid = 1,
                                        .row = 1,
                                        .begin_ns = 70000,
                                        .dur_ns = 60000});
    launch(&hand,
           (struct hand_event){
               .name = "aten::mm", .begin_ns = 80000, .correlation = 2, .dims = MM_1024},
           "gemm_bf16", 10000);
    hand_analyze(&hand);
    size_t hfu = hand_find(&hand, "utilization", "metric", "hfu");
    size_t mfu = hand_find(&hand, "utilization", "metric", "mfu");
    double hardware = hand_cell(&hand, "utilization", hfu, "value")->f;
    assert_true(fabs(hardware - 2 * 2147483648.0 / 989e3 / 90000) < 1e-12);
    assert_true(hand_cell(&hand, "utilization", mfu, "value")->f == hardware / 2);
    assert_int_equal(hand_i64(&hand, "roofline", 0, "recompute_calls"), 1);
    hand_end(&hand);
}

static bool is_unknown(struct hand *hand, const char *metric)
{
    size_t row = hand_find(hand, "utilization", "metric", metric);
    return hand_cell(hand, "utilization", row, "value")->null;
}

// 2 x 1024^3 operations take 32 us at the fp32 peak of 67 TFLOP/s: in 20 us they were not fp32.
static void work_faster_than_the_peak_makes_utilization_unknown(void **state)
{
    (void)state;
    static const char *const kernels[] = {"ampere_sgemm_128x64_nn",
                                          "nvjet_sss_128x128_32x6_1x2_h_bz_TNN"};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct hand hand;
        hand_begin(&hand);
        hand_member(&hand, "deviceProperties", H100);
        launch(&hand,
               (struct hand_event){.name = "aten::mm",
                                   .correlation = 1,
                                   .dims = "[[1024,1024],[1024,1024]]",
                                   .types = "[" FP32 "," FP32 "]"},
               kernels[i], 20000);
        hand_analyze(&hand);
        assert_string_equal(hand_word(&hand, "roofline", 0, "precision"), i ? "tf32" : "fp32");
        size_t hfu = hand_find(&hand, "utilization", "metric", "hfu");
        const struct cell *value = hand_cell(&hand, "utilization", hfu, "value");
        assert_int_equal(value->null, i == 0);
        assert_true(value->null || fabs(value->f - 2147483648.0 / 495e3 / 20000) < 1e-12);
        assert_int_equal(strstr(hand_word(&hand, "utilization", hfu, "help"), "misread") != NULL,
                         i == 0);
        assert_int_equal(is_unknown(&hand, "gemm_of_peak"), i == 0);
        assert_int_equal(is_unknown(&hand, "step_tflops"), i == 0);
        hand_end(&hand);
    }
}

static void unknown_operations_make_utilization_unknown(void **state)
{
    (void)state;
    struct hand hand;
    begin_product(&hand, H100, "gemm_bf16");
    hand_kernel(&hand, "sm90_xmma_gemm_replayed", 7, 40000, 30000);
    hand_analyze(&hand);
    assert_true(is_unknown(&hand, "hfu"));
    assert_true(is_unknown(&hand, "step_tflops"));
    size_t share = hand_find(&hand, "utilization", "metric", "flops_time_share");
    assert_true(fabs(hand_cell(&hand, "utilization", share, "value")->f - 0.25) < 1e-12);
    hand_end(&hand);
}

// Launched before the recording, which says nothing about the step.
static void unknown_operations_outside_of_steps_do_not_count(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_member(&hand, "deviceProperties", H100);
    hand_kernel(&hand, "sm90_xmma_gemm_earlier", 7, 0, 30000);
    hand_add(&hand, (struct hand_event){.kind = EVENT_ANNOTATION,
                                        .name = "ProfilerStep#1",
                                        .pid = 1,
                                        .row = 1,
                                        .begin_ns = 40000,
                                        .dur_ns = 50000});
    launch(&hand,
           (struct hand_event){
               .name = "aten::mm", .begin_ns = 50000, .correlation = 1, .dims = MM_1024},
           "gemm_bf16", 10000);
    hand_analyze(&hand);
    size_t share = hand_find(&hand, "utilization", "metric", "flops_time_share");
    assert_true(hand_cell(&hand, "utilization", share, "value")->f == 1);
    size_t hfu = hand_find(&hand, "utilization", "metric", "hfu");
    assert_false(hand_cell(&hand, "utilization", hfu, "value")->null);
    hand_end(&hand);
}

static void tokens_per_second_stand_on_the_median_step(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand.options.tokens_per_step = 4000;
    hand_member(&hand, "deviceProperties", H100);
    hand_member(&hand, "distributedInfo", "{\"rank\":0,\"world_size\":4}");
    hand_kernel(&hand, "kernel", 7, 0, 1000000); // one step of 1 ms
    hand_analyze(&hand);
    size_t all = hand_find(&hand, "utilization", "metric", "tokens_per_second");
    size_t one = hand_find(&hand, "utilization", "metric", "tokens_per_second_per_gpu");
    assert_true(fabs(hand_cell(&hand, "utilization", all, "value")->f - 4e6) < 1e-6);
    assert_true(fabs(hand_cell(&hand, "utilization", one, "value")->f - 1e6) < 1e-6);
    hand_end(&hand);
}

static void copies_over_a_link_are_not_held_against_the_memory(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_member(&hand, "deviceProperties", H100);
    launch(&hand,
           (struct hand_event){.name = "aten::copy_",
                               .correlation = 1,
                               .dims = "[[1024],[1024],[]]",
                               .types = "[" FP32 "," FP32 ",\"Scalar\"]"},
           "Memcpy HtoD (Pageable -> Device)", 10000);
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "roofline", 0, "bytes"), 8192);
    assert_true(hand_cell(&hand, "roofline", 0, "efficiency")->null);
    assert_non_null(hand_word(&hand, "roofline", 0, "note"));
    hand_end(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_product_multiplies_and_adds_for_each_output),
        cmocka_unit_test(a_bias_counts_what_it_is),
        cmocka_unit_test(scaled_products_move_narrow_inputs_and_their_own_output),
        cmocka_unit_test(grouped_products_go_by_the_rows_they_share_out),
        cmocka_unit_test(shapes_that_do_not_fit_have_no_figures),
        cmocka_unit_test(attention_counts_both_products),
        cmocka_unit_test(attention_bytes_follow_the_types),
        cmocka_unit_test(attention_whose_flag_was_not_recorded_has_bytes_only),
        cmocka_unit_test(attention_backward_counts_five_products),
        cmocka_unit_test(causal_is_found_in_either_version_of_flash_attention),
        cmocka_unit_test(templates_of_products_are_no_passes_over_their_arguments),
        cmocka_unit_test(packed_attention_is_known_when_all_sequences_are_equal),
        cmocka_unit_test(a_convolution_multiplies_each_output_with_its_weights),
        cmocka_unit_test(transposed_convolutions_are_known_by_the_text_of_the_flag),
        cmocka_unit_test(convolution_backward_counts_the_gradients_asked_for),
        cmocka_unit_test(elementwise_operators_move_what_they_read_and_write),
        cmocka_unit_test(reductions_write_what_is_left),
        cmocka_unit_test(norms_tell_training_by_the_text_of_the_flag),
        cmocka_unit_test(engines_operators_move_what_their_schemas_say),
        cmocka_unit_test(softmax_and_lookups_move_what_they_touch),
        cmocka_unit_test(precision_of_fp32_products_is_known_by_the_kernel),
        cmocka_unit_test(precision_of_narrow_products_is_known_by_the_kernel),
        cmocka_unit_test(rows_stand_against_the_roofline),
        cmocka_unit_test(a_device_without_peaks_has_no_efficiency_and_says_so),
        cmocka_unit_test(peaks_of_the_user_go_before_those_built_in),
        cmocka_unit_test(nested_operators_count_once_where_they_launch),
        cmocka_unit_test(utilization_sums_the_time_at_each_precisions_peak),
        cmocka_unit_test(recomputed_products_are_no_part_of_the_model),
        cmocka_unit_test(work_faster_than_the_peak_makes_utilization_unknown),
        cmocka_unit_test(unknown_operations_make_utilization_unknown),
        cmocka_unit_test(unknown_operations_outside_of_steps_do_not_count),
        cmocka_unit_test(tokens_per_second_stand_on_the_median_step),
        cmocka_unit_test(copies_over_a_link_are_not_held_against_the_memory),
    };
    return cmocka_run_group_tests_name("work", tests, NULL, NULL);
}
