// SPDX-License-Identifier: Apache-2.0
// NCCL, RCCL, MSCCL, DeepEP and the all-reduces that frameworks bring themselves.
#include "analysis/kernel_names/families.h"

static const struct {
    const char *word;
    enum kernel_op op;
    bool reduces;
} kinds[] = {
    {"AllReduce", OP_all_reduce, true},      {"ReduceScatter", OP_reduce_scatter, true},
    {"Reduce", OP_reduce_coll, true},        {"AllGather", OP_all_gather, false},
    {"Broadcast", OP_broadcast, false},      {"SendRecv", OP_send_recv, false},
    {"AllToAllPivot", OP_all_to_all, false}, {"AlltoAll", OP_all_to_all, false},
    {"AllToAll", OP_all_to_all, false},
};

// The name of a kernel says what was compiled, not what ran: any other algorithm or protocol may
// run in it.
static void read_word(struct str token, bool reduces, struct kernel_decoded *out)
{
    if (str_equal_nocase(token, STR("ring")))
        out->algo = KERNEL_ALGO_RING;
    else if (str_equal_nocase(token, STR("tree")))
        out->algo = KERNEL_ALGO_TREE;
    else if (str_equal(token, STR("LL")))
        out->proto = KERNEL_PROTO_LL;
    else if (str_equal(token, STR("LL128")))
        out->proto = KERNEL_PROTO_LL128;
    else if (str_equal_nocase(token, STR("simple")))
        out->proto = KERNEL_PROTO_SIMPLE;
    else if (reduces && !out->dtype)
        out->dtype = scan_type(token) ? scan_type(token) : scan_cpp_type(token);
}

static const char *kind_after(struct str token, struct kernel_decoded *out, bool *reduces)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_starts_with(token, str_of(kinds[i].word))) {
            out->op = kinds[i].op;
            *reduces = kinds[i].reduces;
            return kinds[i].word;
        }
    return NULL;
}

// "int8_t" and "__nv_bfloat16" hold underscores themselves.
static void read_types_of_old(struct str name, struct kernel_decoded *out)
{
    static const char *const types[] = {"__nv_bfloat16", "hip_bfloat16", "rccl_bfloat16",
                                        "uint8_t",       "int8_t",       "uint32_t",
                                        "int32_t",       "uint64_t",     "int64_t"};
    for (size_t i = 0; i < sizeof types / sizeof *types && !out->dtype; i++)
        if (kernel_has(name, types[i]))
            out->dtype = kernel_has(str_of(types[i]), "bfloat16")       ? TYPE_bf16
                         : str_equal(str_of(types[i]), STR("uint32_t")) ? TYPE_uint32
                         : str_equal(str_of(types[i]), STR("uint64_t"))
                             ? TYPE_uint64
                             : scan_cpp_type(str_of(types[i]));
}

static void set_unroll(struct kernel_decoded *out, int32_t unroll)
{
    set_flag_if(out, FLAG_unroll1, unroll == 1);
    set_flag_if(out, FLAG_unroll2, unroll == 2);
    set_flag_if(out, FLAG_unroll4, unroll == 4);
}

static void read_generic(const struct kernel_tokens *tokens, size_t at, struct kernel_decoded *out)
{
    int32_t unroll;
    out->op = OP_collective;
    set_flag(out, FLAG_generic);
    bool says_unroll = at + 1 < tokens->count && scan_number(tokens->at[at + 1], &unroll);
    if (!says_unroll)
        return;
    out->library = LIBRARY_rccl;
    set_unroll(out, unroll);
}

static void read_nccl(const struct kernel_text *text, const struct kernel_tokens *tokens, size_t at,
                      struct kernel_decoded *out)
{
    bool reduces = false;
    if (str_equal(tokens->at[at], STR("Generic"))) {
        read_generic(tokens, at, out);
        return;
    }
    out->library = LIBRARY_nccl;
    if (!kind_after(tokens->at[at], out, &reduces)) {
        out->doubts |= DOUBT_LIBRARY; // names of RCCL start the same
        return;
    }
    size_t complete = tokens->count - (text->cut ? 1 : 0);
    out->settled = at < complete ? DOUBT_ALL : 0;
    if (reduces && at + 1 == tokens->count) // Reduce or ReduceScatter: operation and type follow
        doubt_unsettled(out);
    for (size_t i = at + 1; i < complete; i++)
        read_word(tokens->at[i], reduces, out);
    if (reduces && !text->cut)
        read_types_of_old(text->base, out);
}

// ncclAllReduceRingLLKernel_sum_f32, of NCCL before 2.10.
static bool read_oldest(const struct kernel_tokens *tokens, struct kernel_decoded *out)
{
    struct str token = {tokens->at[0].at + 4, tokens->at[0].len - 4};
    bool reduces = false;
    const char *kind = kernel_matches(token, "*Kernel") ? kind_after(token, out, &reduces) : NULL;
    if (!kind)
        return false;
    out->library = LIBRARY_nccl;
    out->algo = kernel_has(token, "Ring")   ? KERNEL_ALGO_RING
                : kernel_has(token, "Tree") ? KERNEL_ALGO_TREE
                                            : KERNEL_ALGO_UNSAID;
    out->proto = kernel_has(token, "LL128") ? KERNEL_PROTO_LL128
                 : kernel_has(token, "LL")  ? KERNEL_PROTO_LL
                                            : KERNEL_PROTO_UNSAID;
    for (size_t i = 1; i < tokens->count; i++)
        read_word(tokens->at[i], reduces, out);
    return true;
}

// ncclSymkDevKernel_AllReduce_RSxLDMC_AGxSTMC_sum_bf16: MC is multicast.
static void read_symmetric(const struct kernel_tokens *tokens, struct kernel_decoded *out)
{
    bool reduces = false;
    out->library = LIBRARY_nccl;
    set_flag(out, FLAG_symmetric);
    kind_after(tokens->at[1], out, &reduces);
    for (size_t i = 2; i < tokens->count; i++) {
        set_flag_if(out, FLAG_nvls, kernel_matches(tokens->at[i], "*MC"));
        if (reduces && scan_type(tokens->at[i]))
            out->dtype = scan_type(tokens->at[i]);
    }
}

static bool decode_nccl(const struct kernel_text *text, struct kernel_decoded *out)
{
    struct kernel_tokens tokens;
    if (!str_starts_with(text->base, STR("nccl")))
        return false;
    kernel_tokens_of(text->base, &tokens);
    bool has_kind = tokens.count > 1;
    struct str first = tokens.at[0];
    if (has_kind && (kernel_matches(first, "ncclSymkDevKernel*") ||
                     kernel_matches(first, "ncclSymDevKernel*"))) {
        read_symmetric(&tokens, out);
        return true;
    }
    if (has_kind &&
        (kernel_matches(first, "ncclDevKernel*") || str_equal(first, STR("ncclKernel")))) {
        read_nccl(text, &tokens, 1, out);
        return true;
    }
    return read_oldest(&tokens, out);
}

// rcclGenericKernel<unroll, ...>, of newer RCCL.
static bool decode_rccl(const struct kernel_text *text, struct kernel_decoded *out)
{
    int32_t unroll;
    if (!str_equal(text->base, STR("rcclGenericKernel")))
        return false;
    out->library = LIBRARY_rccl;
    out->op = OP_collective;
    out->settled = DOUBT_ALL;
    set_flag(out, FLAG_generic);
    if (text->args.count && scan_number(text->args.at[0], &unroll))
        set_unroll(out, unroll);
    return true;
}

// mscclKernel_Sum_half_Simple_false
static bool decode_msccl(const struct kernel_text *text, struct kernel_decoded *out)
{
    struct kernel_tokens tokens;
    if (!str_starts_with(text->base, STR("mscclKernel_")))
        return false;
    kernel_tokens_of(text->base, &tokens);
    out->library = LIBRARY_rccl;
    out->op = OP_collective;
    set_flag(out, FLAG_msccl);
    for (size_t i = 2; i < tokens.count; i++)
        read_word(tokens.at[i], true, out);
    read_types_of_old(text->base, out);
    return true;
}

// What precedes and follows the exchange.
static bool helps_deep_ep(struct str base)
{
    static const char *const patterns[] = {"notify_*", "cached_notify*",       "clean_*",
                                           "barrier*", "get_dispatch_layout*", "*_barrier*"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (kernel_matches(base, patterns[i]))
            return true;
    return false;
}

// deep_ep::internode_ll::combine<...>, under other namespaces in DeepSeek's own.
static bool decode_deep_ep(const struct kernel_text *text, struct kernel_decoded *out)
{
    struct str place = kernel_last_of(text->space);
    bool low_latency = str_equal(place, STR("internode_ll")) || kernel_matches(text->base, "*_ll");
    bool internode = kernel_matches(place, "internode*");
    bool intranode = str_equal(place, STR("intranode"));
    bool is_own =
        kernel_matches(text->space, "deep_ep*") || kernel_matches(text->space, "dpsk::ep*");
    if (!internode && !intranode && !is_own)
        return false;
    out->library = LIBRARY_deep_ep;
    set_flag_if(out, FLAG_internode, internode);
    set_flag_if(out, FLAG_intranode, intranode);
    bool dispatch = kernel_matches(text->base, "dispatch*");
    bool combine = kernel_matches(text->base, "combine*");
    out->op = dispatch || combine         ? OP_all_to_all
              : helps_deep_ep(text->base) ? OP_comm_helper
                                          : OP_NONE;
    out->settled = text->base_cut ? DOUBT_LIBRARY : DOUBT_ALL;
    if (combine || dispatch)
        out->dtype = scan_first_float(&text->args);
    set_flag_if(out, FLAG_low_latency, low_latency);
    set_flag_if(out, FLAG_dispatch, dispatch);
    set_flag_if(out, FLAG_combine, combine);
    return true;
}

static const struct kernel_rule rules[] = {
    {NULL,
     "*cross_device_reduce_1stage*",
     0,
     OP_all_reduce,
     FROM_FLOAT,
     {FLAG_custom, FLAG_one_shot},
     0},
    {NULL,
     "*cross_device_reduce_2stage*",
     0,
     OP_all_reduce,
     FROM_FLOAT,
     {FLAG_custom, FLAG_two_shot},
     0},
    {NULL,
     "*allreduce_fusion_kernel_oneshot_lamport*",
     0,
     OP_all_reduce,
     FROM_FLOAT,
     {FLAG_one_shot, FLAG_lamport, FLAG_fused_norm},
     0},
    {NULL,
     "*allreduce_fusion_kernel_twoshot*",
     0,
     OP_all_reduce,
     FROM_FLOAT,
     {FLAG_two_shot, FLAG_fused_norm},
     0},
    {NULL,
     "multimem_one_shot_all_reduce*",
     LIBRARY_pytorch,
     OP_all_reduce,
     FROM_FLOAT,
     {FLAG_symmetric, FLAG_nvls, FLAG_one_shot},
     0},
    {NULL,
     "multimem_all_reduce*",
     LIBRARY_pytorch,
     OP_all_reduce,
     FROM_FLOAT,
     {FLAG_symmetric, FLAG_nvls},
     0},
    {NULL,
     "multimem_one_shot_reduce*",
     LIBRARY_pytorch,
     OP_reduce_coll,
     FROM_FLOAT,
     {FLAG_symmetric, FLAG_nvls, FLAG_one_shot},
     0},
    {NULL,
     "multimem_all_gather*",
     LIBRARY_pytorch,
     OP_all_gather,
     FROM_NOWHERE,
     {FLAG_symmetric, FLAG_nvls},
     0},
    {NULL,
     "one_shot_all_reduce*",
     LIBRARY_pytorch,
     OP_all_reduce,
     FROM_FLOAT,
     {FLAG_symmetric, FLAG_one_shot},
     0},
    {NULL,
     "two_shot_all_reduce*",
     LIBRARY_pytorch,
     OP_all_reduce,
     FROM_FLOAT,
     {FLAG_symmetric, FLAG_two_shot},
     0},
    {NULL, "*all_reduce_one_shot*", 0, OP_all_reduce, FROM_FLOAT, {FLAG_one_shot}, 0},
    {NULL, "*all_reduce_two_shot*", 0, OP_all_reduce, FROM_FLOAT, {FLAG_two_shot}, 0},
    {NULL, "oneshotAllreduce*", 0, OP_all_reduce, FROM_FLOAT, {FLAG_one_shot}, 0},
    {NULL, "twoshotAllreduce*", 0, OP_all_reduce, FROM_FLOAT, {FLAG_two_shot}, 0},
    {"", "rccl_main_kernel*", LIBRARY_rccl, OP_collective, FROM_NOWHERE, {0}, 0},
    {"*tensorrt_llm*",
     "oneShotAllReduceKernel",
     LIBRARY_tensorrt_llm,
     OP_all_reduce,
     FROM_FLOAT,
     {FLAG_custom, FLAG_one_shot},
     0},
    {"*tensorrt_llm*",
     "twoShotAllReduceKernel",
     LIBRARY_tensorrt_llm,
     OP_all_reduce,
     FROM_FLOAT,
     {FLAG_custom, FLAG_two_shot},
     0},
    {NULL,
     "userbuffers_*rs_*",
     LIBRARY_transformer_engine,
     OP_reduce_scatter,
     FROM_NOWHERE,
     {0},
     0},
    {NULL, "userbuffers_*ag_*", LIBRARY_transformer_engine, OP_all_gather, FROM_NOWHERE, {0}, 0},
    {NULL, "kuserbuffers_*", LIBRARY_transformer_engine, OP_comm_helper, FROM_NOWHERE, {0}, 0},
    {NULL, "barrier_kernel", 0, OP_comm_helper, FROM_NOWHERE, {0}, 0},
};

bool family_collectives(const struct kernel_text *text, struct kernel_decoded *out)
{
    if (decode_nccl(text, out) || decode_rccl(text, out) || decode_msccl(text, out) ||
        decode_deep_ep(text, out))
        return true;
    if (!apply_rules(rules, sizeof rules / sizeof *rules, text, out))
        return false;
    if (!out->library && is_bare(text))
        out->doubts |= DOUBT_OP;
    return true;
}
