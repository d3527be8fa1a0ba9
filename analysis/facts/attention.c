// SPDX-License-Identifier: Apache-2.0
// Walks the launches of each thread in time order and looks for products on either side of a
// softmax that work on the same scores; then gives their backward the same role.
//
// Recorded shapes decide. Without them, a softmax between two batched products with no other
// product or norm in between counts.
#include "analysis/facts/attention.h"

#include "analysis/facts/attention_scores.h"
#include "analysis/names/category.h"
#include "analysis/facts/op_calls.h"

#define PRODUCTS  8  // that may still find their softmax
#define SOFTMAXES 4  // that may still find their products
#define REACH     48 // launches from the first product to the first after the softmax, with shapes
#define NEAR      16 // same without shapes
#define CACHED    64
#define DEEP      64 // operators around a launch that are searched for PyTorch's fallback

enum kind {
    KIND_UNASKED,
    KIND_PASSING, // communication, copies: launched in between
    KIND_OTHER,
    KIND_PRODUCT,
    KIND_SOFTMAX,
    KIND_APART, // other products and norms: they may come between but are no part of it
    KIND_BREAK,
};

// A call of a product or softmax whose attention has not been found yet.
struct call {
    uint32_t launch; // the call's first
    struct scores_shape shape;
};

struct cached {
    uint32_t inputs; // index into the trace's op_inputs plus 1, 0: empty
    enum kind kind;
    struct scores_shape shape;
};

struct attention_walk {
    struct facts *facts;
    uint8_t *names; // enum kind per string, of an operator or kernel
    uint8_t *marks; // a bit per event: operators that are part of an unfused attention
    struct cached cache[CACHED];
    uint32_t op; // of the previous launch
    struct call products[PRODUCTS], softmaxes[SOFTMAXES];
    uint32_t product_count, softmax_count;
    uint32_t apart; // launch after the latest KIND_APART: without shapes the first to count
    // The attention found last.
    uint32_t end;  // launch after it
    uint32_t more; // products that may still belong to it
    bool shaped;   // by its scores' shape
    int64_t batch;
    struct matrix scores;
};

// --- classifying a launch -----------------------------------------------------------------------

static bool is_softmax(struct str name)
{
    return str_contains_nocase(name, STR("softmax")) &&
           !str_contains_nocase(name, STR("log_softmax")) &&
           !str_contains_nocase(name, STR("logsoftmax"));
}

static bool is_product(struct str name)
{
    return str_equal(name, STR("aten::bmm")) || str_equal(name, STR("aten::baddbmm")) ||
           (str_starts_with(name, STR("triton_tem_")) && str_contains_nocase(name, STR("bmm")));
}

static enum kind ask(struct attention_walk *walk, str_id name)
{
    if (walk->names[name] == KIND_UNASKED) {
        struct str text = trace_text(walk->facts->trace, name);
        walk->names[name] = is_product(text)   ? KIND_PRODUCT
                            : is_softmax(text) ? KIND_SOFTMAX
                                               : KIND_OTHER;
    }
    return (enum kind)walk->names[name];
}

static enum kind kind_of_category(enum category category)
{
    switch (category) {
    case CATEGORY_GEMM:
    case CATEGORY_NORMALIZATION: return KIND_APART;
    case CATEGORY_ATTENTION:
    case CATEGORY_CONVOLUTION:
    case CATEGORY_OPTIMIZER:
    case CATEGORY_MOE: return KIND_BREAK;
    default: return KIND_OTHER;
    }
}

// By the operator; if none is known, and for compiler-generated ones, by the kernel.
static enum kind kind_of(struct attention_walk *walk, const struct launch *launch)
{
    const struct facts *facts = walk->facts;
    const struct device_event *device = &facts->devices[launch->first];
    if (device->class != CLASS_COMPUTE)
        return KIND_PASSING;
    if (launch->count > 1 || device->category == CATEGORY_MOE)
        return KIND_BREAK;
    enum kind kind = KIND_OTHER;
    str_id kernel = facts_device_name(facts, launch->first);
    if (launch->op != FACTS_NONE)
        kind = ask(walk, facts->trace->name[launch->op]);
    if (kind == KIND_OTHER && (launch->op == FACTS_NONE ||
                               str_starts_with(trace_text(facts->trace, kernel), STR("triton_"))))
        kind = ask(walk, kernel);
    if (kind == KIND_OTHER && launch->attention == ATTENTION_NONE)
        kind = kind_of_category((enum category)device->category);
    return kind;
}

// The shapes of a call; most calls have the inputs of one in the previous layer.
static struct scores_shape shape_of(struct attention_walk *walk, enum kind kind, uint32_t op)
{
    struct scores_shape shape = {0};
    uint32_t inputs = op == FACTS_NONE ? ARGS_NONE : op_calls_inputs(walk->facts->trace, op);
    if (inputs == ARGS_NONE)
        return shape;
    struct cached *cached = &walk->cache[inputs % CACHED];
    if (cached->inputs != inputs + 1 || cached->kind != kind) {
        *cached = (struct cached){.inputs = inputs + 1, .kind = kind};
        if (kind == KIND_PRODUCT)
            scores_of_product(walk->facts, op, &cached->shape);
        else
            scores_of_softmax(walk->facts, op, &cached->shape);
    }
    return cached->shape;
}

// --- marks ---------------------------------------------------------------------------------------

static void mark_op(struct attention_walk *walk, uint32_t op)
{
    if (op != FACTS_NONE)
        walk->marks[op / 8] |= (uint8_t)(1u << op % 8);
}

static bool is_marked(const struct attention_walk *walk, uint32_t op)
{
    return op != FACTS_NONE && walk->marks[op / 8] >> op % 8 & 1;
}

static void mark(struct attention_walk *walk, uint32_t l)
{
    struct facts *facts = walk->facts;
    struct launch *launch = &facts->launches[l];
    enum kind kind = launch->attention ? KIND_BREAK : kind_of(walk, launch);
    if (kind == KIND_PASSING || kind == KIND_APART || kind == KIND_BREAK)
        return;
    launch->attention = kind == KIND_PRODUCT   ? ATTENTION_PRODUCT
                        : kind == KIND_SOFTMAX ? ATTENTION_SOFTMAX
                                               : ATTENTION_MIDDLE;
    facts->devices[launch->first].category = CATEGORY_ATTENTION;
    facts->devices[launch->first].bar = BAR_ATTENTION;
    mark_op(walk, launch->op);
}

static void mark_range(struct attention_walk *walk, uint32_t from, uint32_t to)
{
    for (uint32_t l = from; l < to; l++)
        mark(walk, l);
    walk->end = to;
}

// Inside PyTorch's fallback operator, scaling the inputs is part of it.
static uint32_t extend(struct attention_walk *walk, uint32_t from)
{
    const struct facts *facts = walk->facts;
    uint32_t whole = FACTS_NONE, at = facts->launches[from].op;
    for (int up = 0; at != FACTS_NONE && up < DEEP; at = facts->op_parent[at], up++) {
        struct str name = facts_short_name(facts->trace, facts->trace->name[at]);
        if (!str_contains_nocase(name, STR("scaled_dot_product")))
            continue;
        mark_op(walk, at);
        whole = at;
    }
    while (whole != FACTS_NONE && from > walk->end && facts->launches[from - 1].event > whole)
        from--;
    return from;
}

// --- the walk ------------------------------------------------------------------------------------

static void forget(struct attention_walk *walk)
{
    walk->product_count = walk->softmax_count = walk->more = 0;
}

static void remember(struct call *calls, uint32_t *count, uint32_t max, struct call call)
{
    if (*count == max) {
        memmove(calls, calls + 1, (max - 1) * sizeof *calls);
        --*count;
    }
    calls[(*count)++] = call;
}

// How many products before launch `to` and within reach of l work on the scores, and the first of
// them in *from. 0 unless one of them produced the scores.
static uint32_t count_users(const struct attention_walk *walk, uint32_t to, uint32_t l,
                            uint32_t *from)
{
    uint32_t count = 0;
    bool made = false;
    for (uint32_t i = 0; i < walk->product_count; i++) {
        const struct call *call = &walk->products[i];
        if (call->launch >= to || l - call->launch > REACH ||
            !scores_used(&call->shape, walk->batch, walk->scores))
            continue;
        made |= scores_made(&call->shape, walk->batch, walk->scores);
        *from = count++ ? *from : call->launch;
    }
    return made ? count : 0;
}

// Whether the product reads scores that a softmax processed and an earlier product made.
static bool find_shaped(struct attention_walk *walk, const struct call *product, uint32_t *from)
{
    for (int i = 0; product->shape.known && i < 2; i++) {
        walk->batch = product->shape.batch;
        walk->scores = product->shape.in[i];
        for (uint32_t s = walk->softmax_count; s-- > 0;) {
            const struct call *softmax = &walk->softmaxes[s];
            if (!scores_softened(&softmax->shape, walk->batch, walk->scores))
                continue;
            walk->more = count_users(walk, softmax->launch, product->launch, from);
            if (walk->more)
                return true;
        }
    }
    return false;
}

// Same if some shape was not recorded.
static bool find_near(struct attention_walk *walk, const struct call *product, uint32_t *from)
{
    bool known = product->shape.known;
    uint32_t softmax = walk->softmax_count ? walk->softmaxes[walk->softmax_count - 1].launch : 0;
    if (!walk->softmax_count || softmax < walk->apart)
        return false;
    for (uint32_t i = 0; i < walk->product_count; i++) {
        const struct call *call = &walk->products[i];
        if (call->launch < walk->apart || call->launch > softmax ||
            product->launch - call->launch > NEAR)
            continue;
        known &= call->shape.known;
        *from = walk->more++ ? *from : call->launch;
    }
    if (known)
        walk->more = 0;
    return walk->more > 0;
}

static bool follows(const struct attention_walk *walk, const struct call *product)
{
    return walk->more && product->launch - walk->end <= NEAR &&
           (!walk->shaped || scores_used(&product->shape, walk->batch, walk->scores));
}

// An attention has as many products after its softmax as before it: one forward, two backward.
static void meet_product(struct attention_walk *walk, uint32_t l)
{
    struct call product = {l, shape_of(walk, KIND_PRODUCT, walk->facts->launches[l].op)};
    uint32_t from = l;
    if (follows(walk, &product)) {
        mark_range(walk, walk->end, l + 1);
        walk->more--;
        return;
    }
    walk->more = 0;
    walk->shaped = find_shaped(walk, &product, &from);
    if (!walk->shaped && !find_near(walk, &product, &from)) {
        remember(walk->products, &walk->product_count, PRODUCTS, product);
        return;
    }
    mark_range(walk, extend(walk, from), l + 1);
    walk->product_count = walk->softmax_count = 0;
    walk->more--;
}

static void visit(struct attention_walk *walk, uint32_t l)
{
    const struct launch *launch = &walk->facts->launches[l];
    enum kind kind = kind_of(walk, launch);
    bool again = launch->op != FACTS_NONE && launch->op == walk->op;
    if (kind == KIND_PASSING)
        return;
    walk->op = launch->op;
    if (again && is_marked(walk, launch->op)) {
        mark_range(walk, l, l + 1); // other kernels of the product
    } else if (kind == KIND_PRODUCT && !again) {
        meet_product(walk, l);
    } else if (kind == KIND_SOFTMAX && !again) {
        struct call softmax = {l, shape_of(walk, kind, launch->op)};
        remember(walk->softmaxes, &walk->softmax_count, SOFTMAXES, softmax);
        walk->more = 0;
    } else if (kind == KIND_APART) {
        walk->apart = l + 1;
        walk->more = walk->shaped ? walk->more : 0;
    } else if (kind == KIND_BREAK) {
        forget(walk);
    }
}

static void walk_launches(struct attention_walk *walk)
{
    const struct facts *facts = walk->facts;
    uint32_t track = 0;
    for (uint32_t l = 0; l < facts->launch_count; l++) {
        const struct track *tracks = facts->trace->tracks;
        uint32_t event = facts->launches[l].event;
        if (event - tracks[track].first >= tracks[track].count)
            forget(walk);
        while (event - tracks[track].first >= tracks[track].count)
            track++;
        visit(walk, l);
    }
}

// What the engine launches for an operator that is part of an attention is part of it, too.
static void follow_backward(struct attention_walk *walk)
{
    const struct facts *facts = walk->facts;
    for (uint32_t l = 0; l < facts->launch_count; l++) {
        const struct launch *launch = &facts->launches[l];
        if (launch->backward && is_marked(walk, launch->forward))
            mark(walk, l);
    }
}

static bool has_product(struct attention_walk *walk)
{
    const struct facts *facts = walk->facts;
    for (uint32_t l = 0; l < facts->launch_count; l++)
        if (kind_of(walk, &facts->launches[l]) == KIND_PRODUCT)
            return true;
    return false;
}

bool attention_make(struct facts *facts, struct err *err)
{
    size_t names = facts->trace->strings.count, marks = facts->trace->event_count / 8 + (size_t)1;
    struct attention_walk walk = {.facts = facts, .op = FACTS_NONE};
    walk.names = budget_alloc(facts->budget, names, err);
    if (!walk.names)
        return false;
    memset(walk.names, 0, names);
    bool ok = true;
    if (has_product(&walk)) {
        walk.marks = budget_alloc(facts->budget, marks, err);
        ok = walk.marks;
    }
    if (walk.marks) {
        memset(walk.marks, 0, marks);
        walk_launches(&walk);
        follow_backward(&walk);
        budget_free(facts->budget, walk.marks, marks);
    }
    budget_free(facts->budget, walk.names, names);
    return ok;
}

static enum attention_role role_of(const struct facts *facts, uint32_t device)
{
    uint32_t launch = facts->devices[device].launch;
    return launch == FACTS_NONE ? ATTENTION_NONE
                                : (enum attention_role)facts->launches[launch].attention;
}

bool attention_is_product(const struct facts *facts, uint32_t device)
{
    return facts->devices[device].category == CATEGORY_GEMM ||
           role_of(facts, device) == ATTENTION_PRODUCT;
}

bool attention_is_middle(const struct facts *facts, uint32_t device)
{
    enum attention_role role = role_of(facts, device);
    return role == ATTENTION_SOFTMAX || role == ATTENTION_MIDDLE;
}
