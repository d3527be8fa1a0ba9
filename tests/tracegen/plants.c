// SPDX-License-Identifier: Apache-2.0
// Writes faults; other precisions are faster or slower than bf16 as in the data sheets.
#include "tests/tracegen/plants.h"

#include "tests/tracegen/idle.h"

enum { CALLS = 4, ROWS = 8192, INNER = 2048, ODD = 1001, BAD_TIMES = 6, ALIGNED = 128 };
enum { LENGTH = 1024, HEAD = 64, WIDE_HEAD = 96, SEQUENCES = 8 };
enum { LIST_CHUNKS = 8, FUSED_BYTES = 28, LISTS_BYTES = 72 };
enum {
    LAUNCHING_NS = 7000,
    WAIT_NS = 45000,
    WAITING_NS = 12000,
    COVER_NS = 400000,
    PIECE_NS = 500000,
    FLOOR_NS = 2500
};
enum { PERIOD = 4, UNSTABLE_OF = 16, UNSTABLE = 3 };
enum {
    PREFETCH_BYTES_PER_NS = 50,
    SMALL_ELEMENTS = 16384,
    SMALL_COPY_NS = 60000,
    COPY_BYTES = 360000
};

// --- work ---------------------------------------------------------------------------------------

// A vendor's kernel under another name.
static const struct kernel *like(struct builder *b, enum role role, const char *cuda,
                                 const char *rocm)
{
    struct kernel *kernel = builder_table(b, 1, sizeof *kernel);
    *kernel = b->vendor->kernels[role];
    kernel->name = b->arguments->flavour == VENDOR_ROCM ? rocm : cuda;
    return kernel;
}

// An operator with one kernel, cost_ns of whose time are due to the fault.
struct planted {
    enum plant plant;
    const char *op, *args;
    const struct kernel *kernel;
    int64_t ns, cost_ns;
};

static void compute(struct builder *b, const struct planted *what)
{
    struct instruction work = {
        .code = CODE_LAUNCH,
        .kernel = what->kernel,
        .ns = what->ns,
        .grid = {4096, 1, 1},
        .plant = what->plant,
        .planted_ns = what->cost_ns,
    };
    if (what->kernel->launch->grid_in_items)
        work.grid[0] *= what->kernel->block[0];
    builder_op(b, what->op, what->args);
    builder_work(b, &work);
    builder_end(b);
}

static int64_t wanted_ns(const struct builder *b, enum plant plant)
{
    return b->arguments->plant_ns[plant];
}

static int64_t at_least(int64_t least, int64_t number)
{
    return number > least ? number : least;
}

static const char *product_args(struct builder *b, const char *type, int64_t m, int n)
{
    return builder_text(b,
                        "\"Concrete Inputs\": [\"\", \"\"], \"Input type\": [\"%s\", \"%s\"], "
                        "\"Input Strides\": [[%d, 1], [%d, 1]], "
                        "\"Input Dims\": [[%lld, %d], [%d, %d]]",
                        type, type, INNER, n, (long long)m, INNER, INNER, n);
}

// --- products -----------------------------------------------------------------------------------

// Time of a product at a share of the bf16 speed.
static int64_t product_ns(const struct builder *b, int64_t m, int64_t n, int64_t slower_ppm)
{
    int64_t flop = 2 * m * n * INNER;
    return (int64_t)((double)flop / (double)b->vendor->gemm_flop_per_ns * (double)slower_ppm / 1e6);
}

// bf16 speed over fp32 speed, in millionths.
static int64_t fp32_ppm(const struct builder *b)
{
    return b->arguments->flavour == VENDOR_ROCM ? INT64_C(1307400000) * 10 / 1634
                                                : INT64_C(989000000) / 67;
}

// Rows of a product that loses about this much time by running slower.
static int64_t rows_for(const struct builder *b, int64_t lost_ns, int64_t n, int64_t slower_ppm)
{
    double row_ns = (double)product_ns(b, ROWS, n, slower_ppm - 1000000) / (double)ROWS;
    return at_least(1, (int64_t)((double)lost_ns / row_ns) / ALIGNED) * ALIGNED;
}

static void plant_fp32(struct builder *b)
{
    int64_t ppm = fp32_ppm(b);
    int64_t m = rows_for(b, wanted_ns(b, PLANT_FP32_GEMM) / CALLS, INNER, ppm);
    struct planted product = {
        PLANT_FP32_GEMM,
        "aten::mm",
        product_args(b, "float", m, INNER),
        like(b, ROLE_GEMM_FORWARD,
             "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_"
             "aligna4_alignc4_execute_kernel__5x_cublas",
             "Cijk_Ailk_Bljk_S_B_Bias_HA_S_SAV_UserArgs_MT128x128x16_MI16x16x1_SN_K1_MIWT4_4"),
        product_ns(b, m, INNER, ppm),
        product_ns(b, m, INNER, ppm - 1000000),
    };
    for (int i = 0; i < CALLS; i++)
        compute(b, &product);
}

// Some products in fp8; what the others would save is counted in plants_change.
static void plant_fp8(struct builder *b)
{
    bool rocm = b->arguments->flavour == VENDOR_ROCM;
    const char *type = rocm ? "c10::Float8_e4m3fnuz" : "c10::Float8_e4m3fn";
    int64_t ns = wanted_ns(b, PLANT_FP8_UNUSED) / CALLS;
    int64_t m = at_least(1, ns * ROWS / product_ns(b, ROWS, INNER, 500000) / ALIGNED) * ALIGNED;
    const char *args = builder_text(
        b,
        "\"Concrete Inputs\": [\"\", \"\", \"\", \"\", \"\", \"\", \"15\", \"True\"], "
        "\"Input type\": [\"%s\", \"%s\", \"float\", \"float\", \"\", \"\", \"Scalar\", "
        "\"Scalar\"], \"Input Strides\": [[%d, 1], [1, %d], [], [], [], [], [], []], "
        "\"Input Dims\": [[%lld, %d], [%d, %d], [], [], [], [], [], []]",
        type, type, INNER, INNER, (long long)m, INNER, INNER, INNER);
    struct planted product = {
        .plant = PLANT_FP8_UNUSED,
        .op = "aten::_scaled_mm",
        .args = args,
        .kernel = like(b, ROLE_GEMM_FORWARD, "nvjet_qqtst_128x256_128x6_2x1_v_bz_coopA_TNT",
                       "Cijk_Alik_Bljk_F8BS_BH_Bias_HA_S_SAB_SAV_UserArgs_MT256x256x128_SN"),
        .ns = product_ns(b, m, INNER, 500000),
    };
    for (int i = 0; i < CALLS; i++)
        compute(b, &product);
}

// Unaligned rows.
static void plant_bad_gemm(struct builder *b)
{
    int64_t ppm = INT64_C(1000000) * BAD_TIMES;
    int64_t m = rows_for(b, wanted_ns(b, PLANT_BAD_GEMM) / CALLS, ODD, ppm);
    struct planted product = {
        PLANT_BAD_GEMM,
        "aten::mm",
        product_args(b, "c10::BFloat16", m, ODD),
        like(
            b, ROLE_GEMM_FORWARD,
            "void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x1_nn_"
            "align1>(cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x1_nn_align1::Params)",
            "Cijk_Ailk_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT32x32x16_MI16x16x1_SN_GRVWA1_GRVWB1"),
        product_ns(b, m, ODD, ppm),
        product_ns(b, m, ODD, ppm - 1000000),
    };
    for (int i = 0; i < CALLS; i++)
        compute(b, &product);
}

// --- attention ----------------------------------------------------------------------------------

static void plant_bad_attention(struct builder *b)
{
    int64_t flop = (int64_t)2 * SEQUENCES * LENGTH * LENGTH * WIDE_HEAD;
    double head_ns = (double)flop / (double)b->vendor->attention_flop_per_ns;
    double lost_ns = head_ns * (BAD_TIMES - 1);
    double wanted = (double)wanted_ns(b, PLANT_BAD_ATTENTION) / (double)CALLS;
    int64_t heads = at_least(1, (int64_t)(wanted / lost_ns));
    const char *dims =
        builder_text(b, "[%d, %d, %lld, %d]", SEQUENCES, LENGTH, (long long)heads, WIDE_HEAD);
    const char *args = builder_text(
        b,
        "\"Concrete Inputs\": [\"\", \"\", \"\", \"\", \"\", \"%d\", \"%d\", \"0.\", \"True\", "
        "\"False\", \"0.1\"], \"Input type\": [\"c10::BFloat16\", \"c10::BFloat16\", "
        "\"c10::BFloat16\", \"\", \"\", \"Scalar\", \"Scalar\", \"Scalar\", \"Scalar\", "
        "\"Scalar\", \"Scalar\"], \"Input Dims\": [%s, %s, %s, [], [], [], [], [], [], [], []]",
        LENGTH, LENGTH, dims, dims, dims);
    struct planted attention = {
        .plant = PLANT_BAD_ATTENTION,
        .op = "aten::_flash_attention_forward",
        .args = args,
        .kernel = &b->vendor->kernels[ROLE_ATTENTION_FORWARD],
        .ns = (int64_t)(head_ns * (double)BAD_TIMES * (double)heads),
        .cost_ns = (int64_t)(lost_ns * (double)heads),
    };
    for (int i = 0; i < CALLS; i++)
        compute(b, &attention);
}

// A kernel that counts as attention because of its use.
static const struct kernel *attending(struct builder *b, enum role role)
{
    struct kernel *kernel = builder_table(b, 1, sizeof *kernel);
    *kernel = b->vendor->kernels[role];
    kernel->category = CATEGORY_ATTENTION;
    return kernel;
}

// One of the two products, limited by memory.
static void multiply_heads(struct builder *b, int64_t heads, bool scores)
{
    int64_t bytes = heads * 2 * (LENGTH * LENGTH + 2 * LENGTH * HEAD);
    int k = scores ? HEAD : LENGTH, n = scores ? LENGTH : HEAD;
    const char *dims = builder_text(b, "[[%lld, %d, %d], [%lld, %d, %d]]", (long long)heads, LENGTH,
                                    k, (long long)heads, k, n);
    struct planted product = {
        .op = "aten::bmm",
        .args = builder_text(b,
                             "\"Concrete Inputs\": [\"\", \"\"], \"Input type\": "
                             "[\"c10::BFloat16\", \"c10::BFloat16\"], \"Input Dims\": %s",
                             dims),
        .kernel = attending(b, ROLE_GEMM_WGRAD),
        .ns = bytes / b->vendor->bytes_per_ns + FLOOR_NS,
    };
    compute(b, &product);
}

// What each operator between the products reads and writes per score.
struct middle {
    const char *op;
    enum role role;
    int64_t bytes;
};

static const struct middle forward_middle[] = {{"aten::mul", ROLE_ADD, 4},
                                               {"aten::add", ROLE_ADD, 4},
                                               {"aten::_softmax", ROLE_LOG_SOFTMAX, 4},
                                               {"aten::native_dropout", ROLE_GELU, 5}};
static const struct middle backward_middle[] = {
    {"aten::native_dropout_backward", ROLE_GELU_BACKWARD, 5},
    {"aten::_softmax_backward_data", ROLE_LOG_SOFTMAX_BACKWARD, 6},
    {"aten::mul", ROLE_ADD, 4}};
enum { FORWARD_MIDDLE = 4, BACKWARD_MIDDLE = 3, MIDDLE_BYTES = 32 };

static int64_t heads_planted(const struct builder *b)
{
    int64_t head_bytes = (int64_t)MIDDLE_BYTES * LENGTH * LENGTH;
    int64_t wanted = wanted_ns(b, PLANT_UNFUSED_ATTENTION) / CALLS;
    return at_least(1, wanted * b->vendor->bytes_per_ns / head_bytes);
}

static void run_middle(struct builder *b, const struct middle *middle, int count)
{
    int64_t scores = heads_planted(b) * LENGTH * LENGTH;
    for (int i = 0; i < count; i++) {
        int64_t ns = scores * middle[i].bytes / b->vendor->bytes_per_ns;
        compute(b, &(struct planted){PLANT_UNFUSED_ATTENTION, middle[i].op, NULL,
                                     attending(b, middle[i].role), ns, ns});
    }
}

static int32_t attend(struct builder *b)
{
    int32_t sequence = builder_forward(b, "aten::scaled_dot_product_attention", NULL);
    builder_inner(b, "aten::_scaled_dot_product_attention_math", NULL, sequence);
    multiply_heads(b, heads_planted(b), true);
    run_middle(b, forward_middle, FORWARD_MIDDLE);
    multiply_heads(b, heads_planted(b), false);
    builder_end(b);
    builder_end(b);
    return sequence;
}

static void plant_unfused_attention(struct builder *b)
{
    for (int i = 0; i < CALLS; i++)
        b->attentions[i] = attend(b);
    compute(b, &(struct planted){
                   .op = "aten::add", .kernel = &b->vendor->kernels[ROLE_ADD], .ns = WAITING_NS});
}

// Each product has two in its backward.
void plants_write_backward(struct builder *b)
{
    for (int i = CALLS - 1; wanted_ns(b, PLANT_UNFUSED_ATTENTION) && i >= 0; i--) {
        builder_backward(b, "ScaledDotProductAttentionMathBackward0", b->attentions[i]);
        multiply_heads(b, heads_planted(b), false);
        multiply_heads(b, heads_planted(b), true);
        run_middle(b, backward_middle, BACKWARD_MIDDLE);
        multiply_heads(b, heads_planted(b), false);
        multiply_heads(b, heads_planted(b), false);
        builder_backward_end(b);
    }
}

// --- optimizer ----------------------------------------------------------------------------------

// What each pass over a list of parameters reads and writes per parameter, in fp32.
static const struct {
    const char *op;
    int64_t bytes;
} passes[] = {{"aten::_foreach_mul_", 8},      {"aten::_foreach_lerp_", 12},
              {"aten::_foreach_addcmul_", 12}, {"aten::_foreach_sqrt", 8},
              {"aten::_foreach_div_", 8},      {"aten::_foreach_add_", 8},
              {"aten::_foreach_addcdiv_", 16}};
enum { PASSES = sizeof passes / sizeof *passes };

static void run_pass(struct builder *b, int pass, int64_t elements)
{
    static const char name[] =
        "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
        "namespace)::TensorListMetadata<2>, at::native::(anonymous namespace)::"
        "BinaryOpScalarFunctor<float, 2, 1, 1>, std::multiplies<float>, float>";
    const struct kernel *kernel = like(b, ROLE_ADAM, name, name);
    int64_t ns = elements * passes[pass].bytes / b->vendor->bytes_per_ns;
    builder_op(b, passes[pass].op, NULL);
    for (int i = 0; i < LIST_CHUNKS; i++)
        builder_work(b, &(struct instruction){
                            .code = CODE_LAUNCH,
                            .kernel = kernel,
                            .ns = ns,
                            .grid = {320, 1, 1},
                            .plant = PLANT_UNFUSED_OPTIMIZER,
                            .planted_ns = ns * (LISTS_BYTES - FUSED_BYTES) / LISTS_BYTES,
                        });
    builder_end(b);
}

void plants_write_optimizer(struct builder *b)
{
    int64_t wanted = wanted_ns(b, PLANT_UNFUSED_OPTIMIZER);
    int64_t elements =
        wanted * b->vendor->bytes_per_ns / ((LISTS_BYTES - FUSED_BYTES) * LIST_CHUNKS);
    for (int pass = 0; wanted && pass < PASSES; pass++)
        run_pass(b, pass, elements);
}

// --- the host -----------------------------------------------------------------------------------

static void wait_for_host(struct builder *b, enum plant plant, int64_t idle_ns,
                          const struct instruction *work)
{
    builder_op(b, plant == PLANT_PERIODIC_STEPS ? "checkpoint::write" : "aten::add", NULL);
    builder_add(b, &(struct instruction){.code = CODE_HOLD, .idle_ns = idle_ns});
    builder_work(b, work);
    builder_end(b);
}

static struct instruction awaited(const struct builder *b, enum plant plant, int64_t ns)
{
    return (struct instruction){.code = CODE_LAUNCH,
                                .kernel = &b->vendor->kernels[ROLE_ADD],
                                .ns = ns,
                                .grid = {4096, 1, 1},
                                .plant = plant,
                                .planted_gap = true};
}

// Kernels shorter than the time the host needs for the next one.
static void launch_slowly(struct builder *b, enum plant plant)
{
    struct instruction work = awaited(b, plant, WAITING_NS);
    int64_t count = wanted_ns(b, plant) / (WAIT_NS + LAUNCHING_NS);
    for (int64_t i = 0; i < count; i++)
        wait_for_host(b, plant, WAIT_NS, &work);
    idle_cover(b, IDLE_UNTOLD);
}

static void plant_launch_bound(struct builder *b)
{
    launch_slowly(b, PLANT_LAUNCH_BOUND);
}

// Same within a generator that yields what a model computes.
static void plant_generator(struct builder *b)
{
    builder_python(b, "transformers/pipelines/pt_utils.py(124): __next__");
    launch_slowly(b, PLANT_GENERATOR);
    builder_python_end(b);
}

static void copy_to_device(struct builder *b, const struct instruction *copy)
{
    builder_op(b, "aten::to", NULL);
    builder_op(b, "aten::_to_copy", NULL);
    builder_op(b, "aten::copy_", NULL);
    builder_add(b, copy);
    builder_end(b);
    builder_end(b);
    builder_end(b);
}

// The host prepares an input while the device runs dry; copying it blocks, but not for long.
static void plant_preprocessing(struct builder *b)
{
    builder_op(b, "aten::sort", NULL);
    builder_add(
        b, &(struct instruction){.code = CODE_HOLD, .idle_ns = wanted_ns(b, PLANT_PREPROCESSING)});
    builder_end(b);
    copy_to_device(b, &(struct instruction){.code = CODE_COPY,
                                            .ns = SMALL_COPY_NS,
                                            .bytes = COPY_BYTES,
                                            .pageable = true,
                                            .cause = IDLE_HOST_COMPUTE});
    idle_cover(b, IDLE_UNTOLD);
}

// --- copies ahead -------------------------------------------------------------------------------

// The next batch, on a separate stream alongside compute.
static void plant_prefetch(struct builder *b)
{
    int64_t ns = wanted_ns(b, PLANT_PREFETCH);
    copy_to_device(b, &(struct instruction){.code = CODE_COPY,
                                            .ns = ns,
                                            .bytes = ns * PREFETCH_BYTES_PER_NS,
                                            .stream = STREAM_SIDE});
}

// --- gradients ----------------------------------------------------------------------------------

// An all_reduce for each of many parameters, where one for all would do.
void plants_write_gradients(struct builder *b)
{
    int64_t count = wanted_ns(b, PLANT_SMALL_COLLECTIVES) / b->vendor->collective_latency_ns;
    for (int64_t i = 0; i < count; i++) {
        size_t from = b->program->count;
        builder_collective(b, ROLE_ALL_REDUCE, SMALL_ELEMENTS, false);
        for (; from < b->program->count; from++)
            b->program->instructions[from].plant = PLANT_SMALL_COLLECTIVES;
    }
}

// --- some steps ---------------------------------------------------------------------------------

bool plants_are_due(enum schedule schedule, int32_t step)
{
    int32_t place = step % UNSTABLE_OF;
    if (schedule == SCHEDULE_FIRST)
        return step == 0;
    if (schedule == SCHEDULE_PERIODIC)
        return step % PERIOD == PERIOD - 1;
    return schedule == SCHEDULE_ALL || place == 4 || place == 5 || place == 9;
}

static void restrict_to(struct builder *b, size_t from, enum schedule schedule)
{
    for (size_t i = from; i < b->program->count; i++)
        b->program->instructions[i].schedule = schedule;
}

// When the recording starts, the device is still running earlier launches that have no row.
void plants_write_start(struct builder *b)
{
    size_t from = b->program->count;
    if (!wanted_ns(b, PLANT_BACKLOG))
        return;
    idle_write(b, IDLE_UNRECORDED, wanted_ns(b, PLANT_BACKLOG));
    restrict_to(b, from, SCHEDULE_FIRST);
}

// The host writes a checkpoint every few steps.
static void plant_periodic(struct builder *b)
{
    size_t from = b->program->count;
    struct instruction work = awaited(b, PLANT_PERIODIC_STEPS, COVER_NS);
    work.planted_ns = COVER_NS;
    wait_for_host(b, PLANT_PERIODIC_STEPS, wanted_ns(b, PLANT_PERIODIC_STEPS) * PERIOD - COVER_NS,
                  &work);
    restrict_to(b, from, SCHEDULE_PERIODIC);
}

// Some steps have more to do than others.
static void plant_unstable(struct builder *b)
{
    size_t from = b->program->count;
    int64_t count = wanted_ns(b, PLANT_UNSTABLE_STEPS) * UNSTABLE_OF / UNSTABLE / PIECE_NS;
    for (int64_t i = 0; i < count; i++)
        compute(b, &(struct planted){PLANT_UNSTABLE_STEPS, "aten::add_", NULL,
                                     &b->vendor->kernels[ROLE_ADD], PIECE_NS, PIECE_NS});
    restrict_to(b, from, SCHEDULE_UNSTABLE);
}

void plants_write_model(struct builder *b)
{
    static const struct {
        enum plant plant;
        void (*write)(struct builder *b);
    } writers[] = {
        {PLANT_FP32_GEMM, plant_fp32},
        {PLANT_FP8_UNUSED, plant_fp8},
        {PLANT_BAD_GEMM, plant_bad_gemm},
        {PLANT_BAD_ATTENTION, plant_bad_attention},
        {PLANT_UNFUSED_ATTENTION, plant_unfused_attention},
        {PLANT_LAUNCH_BOUND, plant_launch_bound},
        {PLANT_GENERATOR, plant_generator},
        {PLANT_PREPROCESSING, plant_preprocessing},
        {PLANT_PREFETCH, plant_prefetch},
        {PLANT_PERIODIC_STEPS, plant_periodic},
        {PLANT_UNSTABLE_STEPS, plant_unstable},
    };
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
        if (wanted_ns(b, writers[i].plant))
            writers[i].write(b);
}

// --- changes ------------------------------------------------------------------------------------

static struct instruction *find_first(struct builder *b, enum role role)
{
    for (size_t i = 0; i < b->program->count; i++)
        if (b->program->instructions[i].kernel == &b->vendor->kernels[role])
            return &b->program->instructions[i];
    return NULL;
}

// The model's own activations, by layer.
static bool is_activation(const struct builder *b, const struct instruction *work)
{
    return work->kernel == &b->vendor->kernels[ROLE_GELU] && work->planted_ns == 0;
}

static int32_t count_activations(const struct builder *b)
{
    int32_t count = 0;
    for (size_t i = 0; i < b->program->count; i++)
        count += is_activation(b, &b->program->instructions[i]);
    return count;
}

// Another layer in each step.
static void slow_one_layer(struct builder *b)
{
    int32_t layer = 0, layers = count_activations(b);
    for (size_t i = 0; i < b->program->count; i++) {
        struct instruction *work = &b->program->instructions[i];
        if (!is_activation(b, work))
            continue;
        work->late_ns = wanted_ns(b, PLANT_SLOW_CALLS);
        work->turn = layer++;
        work->turns = layers;
    }
}

// The same layers in every step: they have more to do, which the shapes do not show.
static void slow_every_second_layer(struct builder *b)
{
    int32_t layer = 0, layers = count_activations(b);
    for (size_t i = 0; i < b->program->count; i++) {
        struct instruction *work = &b->program->instructions[i];
        if (!is_activation(b, work) || layer++ % 2 == 0)
            continue;
        int64_t more_ns = wanted_ns(b, PLANT_UNEVEN_LAYERS) / (layers / 2);
        work->ns += more_ns;
        work->plant = PLANT_UNEVEN_LAYERS;
        work->planted_ns = more_ns;
    }
}

void plants_change(struct builder *b)
{
    struct instruction *gelu = find_first(b, ROLE_GELU);
    if (wanted_ns(b, PLANT_SLOW_CALLS))
        slow_one_layer(b);
    if (wanted_ns(b, PLANT_UNEVEN_LAYERS))
        slow_every_second_layer(b);
    if (gelu && wanted_ns(b, PLANT_OVERRUN))
        gelu->overrun_ns = wanted_ns(b, PLANT_OVERRUN);
    for (size_t i = 0; wanted_ns(b, PLANT_FP8_UNUSED) && i < b->program->count; i++) {
        struct instruction *work = &b->program->instructions[i];
        bool product = work->kernel && work->kernel->category == CATEGORY_GEMM;
        if (!product || work->plant == PLANT_FP8_UNUSED || work->planted_ns)
            continue;
        work->plant = PLANT_FP8_UNUSED;
        work->planted_ns = work->ns / 2;
    }
}
