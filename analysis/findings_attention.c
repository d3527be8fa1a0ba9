// SPDX-License-Identifier: Apache-2.0
// The rule about attention that is put together from products and a softmax.
#include "analysis/findings.h"

enum role { ROLE_OTHER, ROLE_PRODUCT, ROLE_SOFTMAX, ROLE_BREAK };

// Walks the launches of each thread in order of time; what lies between two batched products with a
// softmax among it is the middle of an attention, forward or backward.
struct attention_walk {
    const struct facts *facts;
    uint8_t *middle; // per launch
    uint32_t track;  // of the launches
    uint32_t step;
    uint32_t first; // launch behind the product begun with, FACTS_NONE without one
    uint32_t count; // of launches since then
    bool softmax;   // among them
    int64_t groups, kernels;
    uint32_t example; // a launch of the softmax
};

static bool is_softmax(const struct facts *facts, const struct launch *launch)
{
    str_id op = launch->op == FACTS_NONE ? 0 : facts->trace->name[launch->op];
    struct str name = facts_short_name(facts->trace, op);
    if (str_contains_nocase(name, STR("log_softmax")))
        return false;
    struct str kernel = facts_short_name(facts->trace, facts_device_name(facts, launch->first));
    return str_contains_nocase(name, STR("softmax")) ||
           (str_starts_with(kernel, STR("triton_")) && str_contains_nocase(kernel, STR("softmax")));
}

static enum role role_of(const struct facts *facts, const struct launch *launch)
{
    const struct device_event *device = &facts->devices[launch->first];
    if (launch->op == FACTS_NONE || launch->count > 1 || device->class == CLASS_COMMUNICATION)
        return ROLE_BREAK;
    struct str name = facts_short_name(facts->trace, facts->trace->name[launch->op]);
    if (str_equal(name, STR("aten::bmm")) || str_equal(name, STR("aten::baddbmm")))
        return ROLE_PRODUCT;
    if (device->category == CATEGORY_GEMM || device->category == CATEGORY_ATTENTION ||
        device->category == CATEGORY_CONVOLUTION || device->category == CATEGORY_OPTIMIZER)
        return ROLE_BREAK;
    return is_softmax(facts, launch) ? ROLE_SOFTMAX : ROLE_OTHER;
}

static void close_group(struct attention_walk *walk, uint32_t end)
{
    if (walk->first == FACTS_NONE || !walk->softmax || walk->count > FINDING_ATTENTION_KERNELS)
        return;
    walk->groups++;
    for (uint32_t l = walk->first; l < end; l++) {
        walk->middle[l] = 1;
        walk->kernels += walk->facts->launches[l].count;
    }
}

static void visit(struct attention_walk *walk, uint32_t l)
{
    const struct facts *facts = walk->facts;
    const struct launch *launch = &facts->launches[l];
    const struct track *track = &facts->trace->tracks[walk->track];
    uint32_t step = facts->devices[launch->first].step;
    if (launch->event >= track->first + track->count || step != walk->step)
        walk->first = FACTS_NONE;
    while (launch->event >=
           facts->trace->tracks[walk->track].first + facts->trace->tracks[walk->track].count)
        walk->track++;
    walk->step = step;
    enum role role = findings_is_steady(facts, launch->first) ? role_of(facts, launch) : ROLE_BREAK;
    if (role == ROLE_PRODUCT)
        close_group(walk, l);
    if (role == ROLE_PRODUCT || role == ROLE_BREAK) {
        walk->first = role == ROLE_PRODUCT ? l + 1 : FACTS_NONE;
        walk->softmax = false;
        walk->count = 0;
        return;
    }
    walk->count++;
    walk->softmax |= role == ROLE_SOFTMAX;
    if (role == ROLE_SOFTMAX && walk->example == FACTS_NONE)
        walk->example = l;
}

static int64_t claim_middle(const struct finding_case *the_case, const void *context,
                            const struct atom *atom)
{
    const struct attention_walk *walk = context;
    if (atom->gap)
        return 0;
    uint32_t launch = the_case->facts->devices[atom->device].launch;
    return launch != FACTS_NONE && walk->middle[launch] ? atom->ns : 0;
}

static bool describe(const struct finding_case *the_case, const struct attention_walk *walk,
                     struct finding *finding, struct err *err)
{
    char groups[32], kernels[32];
    finding->claim = claim_middle;
    finding->context = walk;
    finding->confidence = "medium";
    finding->title = arena_printf(
        the_case->arena, err, "attention is not fused: %s %s between its two products (%.1f %%)",
        time_text(finding->cost_ns).text, the_case->per,
        findings_percent(the_case, finding->cost_ns));
    finding->evidence =
        findings_fact(the_case, "op_shapes", err,
                      "%s kernels in %s places %s between two batched products, "
                      "with a softmax among them",
                      findings_per_step(the_case, walk->kernels, kernels),
                      findings_per_step(the_case, walk->groups, groups), the_case->per);
    return finding->title && finding->evidence;
}

static bool check(const struct finding_case *the_case, bool *fires, struct finding *finding,
                  struct err *err)
{
    const struct facts *facts = the_case->facts;
    struct attention_walk *walk = arena_array(the_case->arena, 1, sizeof *walk, err);
    if (!walk)
        return false;
    *walk = (struct attention_walk){
        .facts = facts, .step = FACTS_NONE, .first = FACTS_NONE, .example = FACTS_NONE};
    walk->middle = arena_array(the_case->arena, (size_t)facts->launch_count + 1, 1, err);
    if (!walk->middle)
        return false;
    for (uint32_t l = 0; l < facts->launch_count; l++)
        visit(walk, l);
    if (walk->groups == 0)
        return true;
    finding->cost_ns = findings_claimed(the_case, claim_middle, walk) / the_case->steps;
    *fires = findings_costs(the_case, finding->cost_ns, FINDING_ATTENTION_SHARE);
    return !*fires || describe(the_case, walk, finding, err);
}

const struct finding_rule finding_unfused_attention = {
    .name = "unfused_attention",
    .why = "Scores of every pair of positions are written to memory and read again for scaling, "
           "masking, softmax and dropout; a fused kernel keeps them on the chip.",
    .advice = "torch.nn.functional.scaled_dot_product_attention, with inputs that its fused "
              "backends take (16 bits, head sizes up to 256, a mask that is causal or none), or "
              "FlexAttention for other masks.",
    .method = "Owned time of what is launched between two batched products when a softmax is among "
              "it (at most 16 launches), forward and backward, per steady step; reported from 1 % "
              "of the step. The products themselves have to be worked out either way.",
    .false_alarms = "Attention whose scores are needed as a result cannot be fused.",
    .check = check,
};
