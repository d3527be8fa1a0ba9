// SPDX-License-Identifier: Apache-2.0
// The rule about attention composed of products and a softmax.
#include "analysis/facts/attention.h"
#include "analysis/findings/findings.h"

static int64_t claim_middle(const struct finding_case *the_case, const void *context,
                            const struct atom *atom)
{
    (void)context;
    return !atom->gap && attention_is_middle(the_case->facts, atom->device) ? atom->ns : 0;
}

// Counts kernels between the products, and softmaxes, in the steady steps.
static void count(const struct facts *facts, int64_t *kernels, int64_t *softmaxes)
{
    uint32_t op = FACTS_NONE;
    for (uint32_t l = 0; l < facts->launch_count; l++) {
        const struct launch *launch = &facts->launches[l];
        if (!attention_is_middle(facts, launch->first) || !facts_is_steady(facts, launch->first))
            continue;
        bool again = launch->op != FACTS_NONE && launch->op == op;
        *kernels += 1;
        *softmaxes += launch->attention == ATTENTION_SOFTMAX && !again;
        op = launch->op;
    }
}

static bool describe(const struct finding_case *the_case, struct finding *finding, struct err *err)
{
    char per_step[2][32];
    int64_t kernels = 0, softmaxes = 0;
    count(the_case->facts, &kernels, &softmaxes);
    finding->gain = FINDING_GAIN_DROPS;
    finding->confidence = "medium";
    finding->title = arena_printf(the_case->arena, err,
                                  "attention is not fused: %s %s between its products (%.1f %%)",
                                  time_text(finding->cost_ns).text, the_case->per,
                                  findings_percent(the_case, finding->cost_ns));
    finding->evidence =
        findings_fact(the_case, "op_shapes?category=attention", err,
                      "%s kernels %s around %s softmaxes, between batched products",
                      findings_per_step(the_case, kernels, per_step[0]), the_case->per,
                      findings_per_step(the_case, softmaxes, per_step[1]));
    return finding->title && finding->evidence;
}

static bool check(const struct finding_case *the_case, bool *fires, struct finding *finding,
                  struct err *err)
{
    if (!findings_cost(the_case, finding, claim_middle, NULL, err))
        return false;
    *fires = findings_costs(the_case, finding->cost_ns, FINDING_ATTENTION_SHARE);
    return !*fires || describe(the_case, finding, err);
}

const struct finding_rule finding_unfused_attention = {
    .name = "unfused_attention",
    .why = "The full score matrix is written to memory and read back for scaling, masking, softmax "
           "and dropout; a fused kernel keeps it on chip.",
    .advice =
        "torch.nn.functional.scaled_dot_product_attention, with inputs its fused backends accept "
        "(16 bits, head size up to 256, causal or no mask), or FlexAttention for other masks.",
    .method = "Owned time per steady step of the kernels launched between batched products around "
              "a softmax (scaling, masks, casts, dropout), forward and backward: the part of the "
              "attention bar that is not a matrix product; reported from 1 % of the step. The "
              "products themselves are needed either way. The gain is for a run without the "
              "profiler, whose time per operator goes away with the operators.",
    .false_alarms = "Attention that must return its scores cannot be fused.",
    .check = check,
};
