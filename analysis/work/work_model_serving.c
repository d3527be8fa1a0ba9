// SPDX-License-Identifier: Apache-2.0
// Operators of inference engines that only move data: norms, gated activations, quantization,
// rotary embedding and writing keys and values to their cache. Positions follow the operators'
// schemas in vLLM (csrc/torch_bindings.cpp), SGLang (sgl-kernel/csrc/common_extension.cc),
// FlashInfer and aiter.
#include "analysis/work/work_models.h"

#include <inttypes.h>
#include <stdio.h>

// --- each tensor once ----------------------------------------------------------------------------

// All tensors among the arguments are read or written once, those changed in place both. An output
// that is not an argument is as large as the first input.
struct pass {
    const char *op; // after its namespace
    enum work_kind kind;
    int8_t in_place[2]; // positions, NONE for none
};

#define NONE (-1)
#define NOWHERE    \
    {              \
        NONE, NONE \
    }

static const struct pass passes[] = {
    {"rms_norm", WORK_NORM, NOWHERE}, // (out, input, weight, eps)
    {"rmsnorm", WORK_NORM, NOWHERE},
    {"rms_norm_cu", WORK_NORM, NOWHERE},
    {"gemma_rmsnorm", WORK_NORM, NOWHERE},
    {"rms_norm_static_fp8_quant", WORK_NORM, NOWHERE},
    {"fused_add_rms_norm", WORK_NORM, {0, 1}}, // (input, residual, weight, eps)
    {"fused_add_rmsnorm", WORK_NORM, {0, 1}},
    {"gemma_fused_add_rmsnorm", WORK_NORM, {0, 1}},
    {"fused_add_rms_norm_cu", WORK_NORM, {0, 1}},
    {"fused_add_rms_norm_static_fp8_quant", WORK_NORM, {2, NONE}},
    {"add_rmsnorm", WORK_NORM, NOWHERE}, // (out, input, residual, its sum, weight, eps)
    {"rmsnorm2d_fwd_with_add", WORK_NORM, NOWHERE},
    {"rmsnorm2d_fwd_with_add_ck", WORK_NORM, NOWHERE},
    {"rmsnorm2d_fwd", WORK_NORM, NOWHERE}, // (input, weight, eps), returns the output
    {"rmsnorm2d_fwd_ck", WORK_NORM, NOWHERE},

    {"silu_and_mul", WORK_ELEMENTWISE, NOWHERE}, // (out, input)
    {"mul_and_silu", WORK_ELEMENTWISE, NOWHERE},
    {"gelu_and_mul", WORK_ELEMENTWISE, NOWHERE},
    {"gelu_tanh_and_mul", WORK_ELEMENTWISE, NOWHERE},
    {"fatrelu_and_mul", WORK_ELEMENTWISE, NOWHERE},
    {"swigluoai_and_mul", WORK_ELEMENTWISE, NOWHERE},
    {"scaled_silu_and_mul", WORK_ELEMENTWISE, NOWHERE},
    {"silu_and_mul_quant", WORK_ELEMENTWISE, NOWHERE},
    {"gelu_new", WORK_ELEMENTWISE, NOWHERE},
    {"gelu_fast", WORK_ELEMENTWISE, NOWHERE},
    {"gelu_quick", WORK_ELEMENTWISE, NOWHERE},

    {"static_scaled_fp8_quant", WORK_ELEMENTWISE, NOWHERE},
    {"dynamic_scaled_fp8_quant", WORK_ELEMENTWISE, NOWHERE},
    {"dynamic_per_token_scaled_fp8_quant", WORK_ELEMENTWISE, NOWHERE},
    {"sgl_per_tensor_quant_fp8", WORK_ELEMENTWISE, NOWHERE},
    {"sgl_per_token_quant_fp8", WORK_ELEMENTWISE, NOWHERE},
    {"sgl_per_token_group_quant_fp8", WORK_ELEMENTWISE, NOWHERE},
    {"sgl_per_token_group_quant_8bit", WORK_ELEMENTWISE, NOWHERE},
};

static void fill_pass(const struct pass *pass, const struct arg_list *args, struct work *work)
{
    work->kind = pass->kind;
    if (!op_args_tensor(args, 0)) {
        work->note = work_note_shapes;
        return;
    }
    // A norm whose second tensor is the weight returns its output instead of taking it.
    const struct op_arg *second = op_args_tensor(args, 1);
    bool gives = pass->kind == WORK_NORM && pass->in_place[0] == NONE && second &&
                 second->rank == 1 && args->args[0].rank > 1;
    work->bytes = gives ? work_tensor_bytes(args, 0) : 0;
    for (int i = 0; i < (int)args->count; i++)
        work->bytes = count_add(work->bytes, work_tensor_bytes(args, i));
    for (int i = 0; i < 2; i++)
        if (pass->in_place[i] != NONE)
            work->bytes = count_add(work->bytes, work_tensor_bytes(args, pass->in_place[i]));
}

// --- rotary embedding ----------------------------------------------------------------------------

struct rotary {
    const char *op;
    int8_t first, last; // tensors that are rotated, or read and written
    bool in_place;
    int8_t head_size;        // position of the number, NONE: all of a head is rotated
    int8_t table, table_end; // of cosines and sines, a row per position
    int8_t positions;
    int8_t fused; // if this is a tensor, the call also writes the cache, which has no formula
};

static const struct rotary rotaries[] = {
    {"rotary_embedding", 1, 2, true, 3, 4, 4, 0, NONE},
    {"batched_rotary_embedding", 1, 2, true, 3, 4, 4, 0, NONE},
    {"apply_rope_pos_ids_cos_sin_cache", 0, 3, false, NONE, 4, 4, 5, 8},
    {"rope_cached_positions_2c_fwd_impl", 0, 3, false, NONE, 4, 5, 6, NONE},
};

// Only the first elements of a head are rotated if the table is narrower.
static int64_t rotated(const struct rotary *rotary, const struct arg_list *args, int64_t bytes)
{
    const struct op_arg *table = op_args_tensor(args, rotary->table);
    int64_t head, width = table->dims[table->rank - 1];
    if (rotary->head_size == NONE)
        return bytes;
    if (!op_args_int(args, rotary->head_size, &head) || head <= 0)
        return COUNT_UNKNOWN;
    return width < head && count_known(bytes) ? bytes / head * width : bytes;
}

static void fill_rotary(const struct rotary *rotary, const struct arg_list *args, struct work *work)
{
    const struct op_arg *positions = op_args_tensor(args, rotary->positions);
    int64_t bytes = 0;
    work->kind = WORK_ELEMENTWISE;
    for (int i = rotary->table; i <= rotary->table_end; i++) {
        const struct op_arg *table = op_args_tensor(args, i);
        if (!positions || !table || table->rank < 1 || table->rank > OP_ARGS_MAX_RANK ||
            !op_args_tensor(args, rotary->first) || op_args_tensor(args, rotary->fused)) {
            work->note = work_note_shapes;
            return;
        }
        int64_t row = work_bytes(table->dims[table->rank - 1], table->dtype);
        bytes = count_add(bytes, count_mul(positions->elements, row));
    }
    int64_t turned = 0;
    for (int i = rotary->first; i <= rotary->last; i++)
        turned = count_add(turned, work_tensor_bytes(args, i));
    turned = rotated(rotary, args, turned);
    if (!count_known(turned))
        work->note = work_note_concrete;
    bytes = count_add(bytes, count_mul(rotary->in_place ? 2 : 1, turned));
    work->bytes = count_add(bytes, op_arg_bytes(positions));
}

// --- the cache of keys and values ----------------------------------------------------------------

struct store {
    const char *op;
    int8_t rows, caches; // of the first of keys and values, and of their caches
    int8_t count;        // of each; a cache shared by both follows itself
    bool shared;
    int8_t slots; // where each row goes
};

static const struct store stores[] = {
    {"reshape_and_cache", 0, 2, 2, false, 4},   {"reshape_and_cache_flash", 0, 2, 2, false, 4},
    {"store_cache", 0, 2, 2, false, 4},         // SGLang's compiled one
    {"store_kv_cache", 3, 0, 2, false, 2},      // (k_cache, v_cache, locations, k, v)
    {"concat_and_cache_mla", 0, 2, 2, true, 3}, // (latent, rotary part, cache, slots, ...)
};

// Each slot reads a row and writes it in the cache's own type.
static void fill_store(const struct store *store, const struct arg_list *args, struct work *work)
{
    const struct op_arg *slots = op_args_tensor(args, store->slots);
    work->kind = WORK_EMBEDDING;
    int64_t bytes = slots ? op_arg_bytes(slots) : COUNT_UNKNOWN;
    for (int i = 0; i < store->count; i++) {
        const struct op_arg *rows = op_args_tensor(args, store->rows + i);
        const struct op_arg *cache = op_args_tensor(args, store->caches + (store->shared ? 0 : i));
        if (!slots || !rows || !cache || rows->rank < 2 || rows->rank > OP_ARGS_MAX_RANK) {
            work->note = work_note_shapes;
            return;
        }
        int64_t elements = count_mul(slots->elements, work_product(rows, 1, rows->rank));
        bytes = count_add(bytes, work_bytes(elements, rows->dtype));
        bytes = count_add(bytes, work_bytes(elements, cache->dtype));
    }
    work->bytes = bytes;
}

// --- attention over the cache --------------------------------------------------------------------

// The lengths of the sequences are not among the inputs; the engine's annotation may give them.
struct paged {
    const char *op;
    int8_t query, key, value; // (..., heads, width), or any order for old caches
    int8_t kv_heads;          // position of the number, NONE: the dimension before the last
};

static const struct paged pages[] = {
    {"aiter::mha_batch_prefill", 0, 1, 2, NONE},
    {"aiter::mha_varlen_fwd", 0, 1, 2, NONE},
    {"aiter::fmha_v3_varlen_fwd", 0, 1, 2, NONE},
    {"sgl_kernel::fwd", 0, 1, 2, NONE},
    {"_vllm_fa2_C::varlen_fwd", 0, 1, 2, NONE},
    {"_vllm_fa3_C::fwd", 0, 1, 2, NONE},
    {"vllm::unified_attention", 0, 1, 2, NONE},
    {"vllm::unified_attention_with_output", 0, 1, 2, NONE},
    {"_C::paged_attention_v1", 1, 2, 3, 4},
    {"_C::paged_attention_v2", 4, 5, 6, 7},
    {"_rocm_C::paged_attention", 4, 5, 6, 7},
};

static const struct paged *find_paged(struct str op)
{
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        if (str_equal(op, str_of(pages[i].op)))
            return &pages[i];
    return NULL;
}

bool work_is_paged(struct str op)
{
    return find_paged(op) != NULL;
}

struct heads {
    int64_t queries, heads, width, kv_heads, v_width;
    enum dtype type, kv_type;
};

static bool read_heads(const struct paged *paged, const struct arg_list *args, struct heads *heads)
{
    const struct op_arg *q = op_args_tensor(args, paged->query);
    const struct op_arg *k = op_args_tensor(args, paged->key);
    const struct op_arg *v = op_args_tensor(args, paged->value);
    if (!q || !k || !v || q->rank != 3 || k->rank < 3 || k->rank > OP_ARGS_MAX_RANK ||
        v->rank < 3 || v->rank > OP_ARGS_MAX_RANK)
        return false;
    *heads = (struct heads){.queries = q->dims[0],
                            .heads = q->dims[1],
                            .width = q->dims[2],
                            .kv_heads = k->dims[k->rank - 2],
                            .v_width = v->dims[v->rank - 1],
                            .type = q->dtype,
                            .kv_type = k->dtype};
    if (paged->kv_heads != NONE) {
        heads->v_width = heads->width;
        return op_args_int(args, paged->kv_heads, &heads->kv_heads) && heads->kv_heads > 0;
    }
    return k->dims[k->rank - 1] == heads->width;
}

// The sums over the sequences of a call, selected by its number of queries: those of prompts, those
// that grow by a token, or both. For prompts the half above the diagonal is left out.
static bool choose_lengths(const struct serving_pass *pass, int64_t queries, int64_t *keys,
                           int64_t *pairs)
{
    const struct serving_batch *context = &pass->context, *generation = &pass->generation;
    bool prompts = context->tokens > 0, growing = generation->tokens > 0;
    if (prompts && growing && queries == context->tokens)
        growing = false;
    else if (prompts && growing && queries == generation->tokens)
        prompts = false;
    else if (queries != count_add(context->tokens, generation->tokens))
        return false;
    *keys = *pairs = 0;
    if (prompts) {
        if (!count_known(context->pairs) || !count_known(context->squares) ||
            context->squares > context->pairs)
            return false;
        *keys = context->keys;
        *pairs = context->pairs - context->squares / 2;
    }
    if (growing) {
        *keys = count_add(*keys, generation->keys);
        *pairs = count_add(*pairs, generation->pairs);
    }
    return (prompts || growing) && count_known(*keys) && count_known(*pairs);
}

void work_paged(struct str op, const struct arg_list *args, const struct serving_pass *pass,
                struct work *work)
{
    const struct paged *paged = find_paged(op);
    struct heads h;
    int64_t keys, pairs;
    if (!paged || args->problem || !read_heads(paged, args, &h) ||
        !choose_lengths(pass, h.queries, &keys, &pairs))
        return;
    int64_t widths = count_add(h.width, h.v_width);
    work->kind = WORK_ATTENTION_FORWARD;
    work->precision = dtype_precision(h.type);
    work->flops = count_mul(count_mul(2, pairs), count_mul(h.heads, widths));
    work->bytes = count_add(work_bytes(count_mul(h.queries, count_mul(h.heads, widths)), h.type),
                            work_bytes(count_mul(keys, count_mul(h.kv_heads, widths)), h.kv_type));
    work->note = "sequence lengths from the annotation of the pass";
    snprintf(work->problem, sizeof work->problem,
             "H=%" PRId64 " Hkv=%" PRId64 " Nq=%" PRId64 " sum Nkv=%" PRId64 " dqk=%" PRId64
             " dv=%" PRId64,
             h.heads, h.kv_heads, h.queries, keys, h.width, h.v_width);
}

// --- which of them -------------------------------------------------------------------------------

// The operator without an engine's namespace; empty for others.
static struct str bare_name(struct str op)
{
    static const char *const spaces[] = {"_C::",     "_C_cache_ops::", "_rocm_C::", "sgl_kernel::",
                                         "sglang::", "flashinfer::",   "aiter::",   "vllm::"};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        struct str space = str_of(spaces[i]);
        if (str_starts_with(op, space))
            return (struct str){op.at + space.len, op.len - space.len};
    }
    return (struct str){op.at, 0};
}

bool work_serving(struct str op, const struct arg_list *args, struct work *work)
{
    struct str name = bare_name(op);
    for (size_t i = 0; name.len && i < sizeof passes / sizeof *passes; i++)
        if (str_equal(name, str_of(passes[i].op))) {
            fill_pass(&passes[i], args, work);
            return true;
        }
    for (size_t i = 0; name.len && i < sizeof rotaries / sizeof *rotaries; i++)
        if (str_equal(name, str_of(rotaries[i].op))) {
            fill_rotary(&rotaries[i], args, work);
            return true;
        }
    for (size_t i = 0; name.len && i < sizeof stores / sizeof *stores; i++)
        if (str_equal(name, str_of(stores[i].op))) {
            fill_store(&stores[i], args, work);
            return true;
        }
    return false;
}
