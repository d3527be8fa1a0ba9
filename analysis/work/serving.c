// SPDX-License-Identifier: Apache-2.0
// Names of passes: vLLM's execute_context_N(TOKENS)_generation_M(TOKENS), which may give sums of
// lengths instead of tokens (sq, sk, sqsq, sqsk); SGLang's step[EXTEND bs=N toks=N], whose roofline
// annotations add the same sums by c_ and g_; ATOM's prefill[bs=N tok=N] and decode[...].
#include "analysis/work/serving.h"

#include "ingest/base/search.h"

#include <stdlib.h>

static const struct serving_batch unknown = {COUNT_UNKNOWN, COUNT_UNKNOWN, COUNT_UNKNOWN,
                                             COUNT_UNKNOWN, COUNT_UNKNOWN};
static const struct serving_batch none = {0, 0, 0, 0, 0};

// --- names ---------------------------------------------------------------------------------------

static bool skip(struct str *text, struct str word)
{
    if (!str_starts_with(*text, word))
        return false;
    *text = (struct str){text->at + word.len, text->len - word.len};
    return true;
}

// "8(512)" or "8(sq512sk512sqsq262144sqsk262144)"
static bool read_batch(struct str *text, struct serving_batch *batch)
{
    *batch = unknown;
    if (!str_take_i64(text, &batch->requests) || !skip(text, STR("(")))
        return false;
    if (skip(text, STR("sq"))) {
        if (!str_take_i64(text, &batch->tokens) || !skip(text, STR("sk")) ||
            !str_take_i64(text, &batch->keys) || !skip(text, STR("sqsq")) ||
            !str_take_i64(text, &batch->squares) || !skip(text, STR("sqsk")) ||
            !str_take_i64(text, &batch->pairs))
            return false;
    } else if (!str_take_i64(text, &batch->tokens)) {
        return false;
    }
    return skip(text, STR(")"));
}

static enum serving_phase phase_of(const struct serving_pass *pass)
{
    if (pass->context.requests > 0)
        return pass->generation.requests > 0 ? SERVING_MIXED : SERVING_PREFILL;
    return pass->generation.requests > 0 ? SERVING_DECODE : SERVING_NONE;
}

// execute_context_1(512)_generation_2(2), or with all tokens after execute_
static bool read_execute(struct str text, struct serving_pass *pass)
{
    int64_t all;
    if (!skip(&text, STR("execute_")))
        return false;
    if (str_take_i64(&text, &all) && !skip(&text, STR("_")))
        return false;
    if (!skip(&text, STR("context_")) || !read_batch(&text, &pass->context) ||
        !skip(&text, STR("_generation_")) || !read_batch(&text, &pass->generation))
        return false;
    pass->phase = phase_of(pass);
    return true;
}

// The value of "key=" among words separated by spaces.
static int64_t value_of(struct str text, struct str key)
{
    int64_t value = COUNT_UNKNOWN;
    for (size_t i = 0; i + key.len < text.len; i++) {
        struct str rest = {text.at + i, text.len - i};
        bool begins = i == 0 || text.at[i - 1] == ' ';
        if (begins && skip(&rest, key) && skip(&rest, STR("=")))
            return str_take_i64(&rest, &value) ? value : COUNT_UNKNOWN;
    }
    return value;
}

static const struct {
    const char *word;
    enum serving_phase phase;
} modes[] = {
    {"step[EXTEND ", SERVING_PREFILL},       {"step[SPLIT_PREFILL ", SERVING_PREFILL},
    {"step[DECODE ", SERVING_DECODE},        {"step[MIXED ", SERVING_MIXED},
    {"step[TARGET_VERIFY ", SERVING_VERIFY}, {"step[VERIFY ", SERVING_VERIFY},
    {"step[DRAFT_EXTEND ", SERVING_DRAFT},   {"step[DRAFT_EXTEND_V2 ", SERVING_DRAFT},
    {"prefill[", SERVING_PREFILL},           {"decode[", SERVING_DECODE},
};

static struct serving_batch sums_of(struct str words, const char *const keys[3])
{
    struct serving_batch batch = unknown;
    batch.keys = value_of(words, str_of(keys[0]));
    batch.squares = value_of(words, str_of(keys[1]));
    batch.pairs = value_of(words, str_of(keys[2]));
    return batch;
}

static int64_t first_known(int64_t a, int64_t b)
{
    return count_known(a) ? a : b;
}

static void read_words(struct str words, enum serving_phase phase, struct serving_pass *pass)
{
    static const char *const context[] = {"c_sk", "c_sqsq", "c_sqsk"};
    static const char *const generation[] = {"g_sk", "g_sqsq", "g_sqsk"};
    int64_t requests = value_of(words, STR("bs"));
    int64_t tokens = first_known(value_of(words, STR("toks")), value_of(words, STR("tok")));
    *pass = (struct serving_pass){phase, none, none};
    if (phase == SERVING_PREFILL || phase == SERVING_MIXED) {
        pass->context = sums_of(words, context);
        pass->context.requests = phase == SERVING_MIXED ? value_of(words, STR("c")) : requests;
        pass->context.tokens = first_known(value_of(words, STR("c_sq")), tokens);
    }
    if (phase != SERVING_PREFILL) {
        pass->generation = sums_of(words, generation);
        pass->generation.requests = phase == SERVING_MIXED ? value_of(words, STR("g")) : requests;
        pass->generation.tokens = phase == SERVING_DECODE ? requests : value_of(words, STR("g_sq"));
    }
}

void serving_read(struct str name, struct serving_pass *pass)
{
    *pass = (struct serving_pass){SERVING_NONE, unknown, unknown};
    if (read_execute(name, pass))
        return;
    *pass = (struct serving_pass){SERVING_NONE, unknown, unknown};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        struct str words = name;
        if (!skip(&words, str_of(modes[i].word)) || words.len == 0 ||
            words.at[words.len - 1] != ']' || !str_starts_with(words, STR("bs=")))
            continue;
        words.len--;
        read_words(words, modes[i].phase, pass);
        return;
    }
}

const char *serving_phase_word(enum serving_phase phase)
{
    static const char *const words[SERVING_PHASE_COUNT] = {
        [SERVING_NONE] = "between", [SERVING_PREFILL] = "prefill", [SERVING_DECODE] = "decode",
        [SERVING_MIXED] = "mixed",  [SERVING_DRAFT] = "draft",     [SERVING_VERIFY] = "verify",
    };
    return words[phase];
}

// --- passes of a trace ---------------------------------------------------------------------------

static struct serving_batch joined(struct serving_batch a, struct serving_batch b)
{
    return (struct serving_batch){first_known(a.requests, b.requests),
                                  first_known(a.tokens, b.tokens), first_known(a.keys, b.keys),
                                  first_known(a.pairs, b.pairs), first_known(a.squares, b.squares)};
}

static int by_begin(const void *a, const void *b)
{
    const struct serving_step *x = a, *y = b;
    if (x->mark_begin_ns != y->mark_begin_ns)
        return x->mark_begin_ns < y->mark_begin_ns ? -1 : 1;
    return (x->mark_end_ns < y->mark_end_ns) - (x->mark_end_ns > y->mark_end_ns);
}

// Marks of one pass may overlap: SGLang's builds may write two, devices one per stream. The
// outermost is kept and gets the information of all.
static void join_marks(struct serving_steps *steps)
{
    uint32_t kept = 0;
    if (steps->count)
        qsort(steps->items, steps->count, sizeof *steps->items, by_begin);
    for (uint32_t i = 0; i < steps->count; i++) {
        struct serving_step *item = &steps->items[i];
        struct serving_step *last = kept ? &steps->items[kept - 1] : NULL;
        if (!last || item->mark_begin_ns >= last->mark_end_ns) {
            steps->items[kept++] = *item;
        } else if (item->pass.phase == last->pass.phase) {
            last->pass.context = joined(last->pass.context, item->pass.context);
            last->pass.generation = joined(last->pass.generation, item->pass.generation);
        }
    }
    steps->count = kept;
}

// Whether any name of the trace is a pass: there are far fewer names than events.
static bool has_marks(const struct trace *trace)
{
    struct serving_pass pass = {.phase = SERVING_NONE};
    for (uint32_t s = 0; s < trace->strings.count && pass.phase == SERVING_NONE; s++) {
        struct str name = trace_text(trace, s);
        if (name.len && strchr("edps", name.at[0])) // all names of passes start with one of these
            serving_read(name, &pass);
    }
    return pass.phase != SERVING_NONE;
}

static bool find_marks(const struct facts *facts, enum event_kind kind, struct arena *arena,
                       struct serving_steps *steps, struct err *err)
{
    const struct trace *trace = facts->trace;
    struct serving_pass pass;
    uint32_t count = 0;
    for (uint32_t round = 0; round < 2; round++) {
        if (round && count)
            steps->items = arena_room(arena, count, sizeof *steps->items, err);
        if (round && (!count || !steps->items))
            return !count;
        for (uint32_t e = 0; e < trace->event_count; e++) {
            if (trace->kind[e] != kind)
                continue;
            serving_read(trace_text(trace, trace->name[e]), &pass);
            if (pass.phase == SERVING_NONE)
                continue;
            if (round)
                steps->items[steps->count++] = (struct serving_step){
                    trace->begin_ns[e], facts_event_end(trace, e), 0, 0, pass};
            else
                count++;
        }
    }
    join_marks(steps);
    return true;
}

const struct serving_step *serving_at(const struct serving_steps *steps, int64_t time_ns)
{
    uint32_t begun = count_upto_i64(FIRST_OF(steps->items, mark_begin_ns), steps->count,
                                    sizeof *steps->items, time_ns);
    const struct serving_step *last = begun ? &steps->items[begun - 1] : NULL;
    return last && time_ns < last->mark_end_ns ? last : NULL;
}

// For each pass, from the first event it launched to the end of the last one.
static void find_spans(const struct facts *facts, struct serving_steps *steps)
{
    for (uint32_t i = 0; i < steps->count; i++) {
        steps->items[i].begin_ns = INT64_MAX;
        steps->items[i].end_ns = INT64_MIN;
    }
    for (uint32_t d = 0; d < facts->device_count; d++) {
        const struct device_event *device = &facts->devices[d];
        if (device->launch == FACTS_NONE)
            continue;
        uint32_t event = facts->launches[device->launch].event;
        const struct serving_step *at = serving_at(steps, facts->trace->begin_ns[event]);
        if (!at)
            continue;
        struct serving_step *step = &steps->items[at - steps->items];
        step->begin_ns = device->begin_ns < step->begin_ns ? device->begin_ns : step->begin_ns;
        step->end_ns = device->end_ns > step->end_ns ? device->end_ns : step->end_ns;
    }
}

// Within the window and after the previous pass; a pass without events has no time.
static void bound_spans(const struct facts *facts, struct serving_steps *steps)
{
    int64_t free_ns = facts->begin_ns;
    for (uint32_t i = 0; i < steps->count; i++) {
        struct serving_step *step = &steps->items[i];
        if (step->begin_ns < free_ns || step->begin_ns > step->end_ns)
            step->begin_ns = free_ns;
        if (step->end_ns > facts->end_ns)
            step->end_ns = facts->end_ns;
        if (step->end_ns < step->begin_ns)
            step->end_ns = step->begin_ns;
        free_ns = step->end_ns;
    }
}

void serving_spans(const struct facts *facts, struct serving_steps *steps)
{
    find_spans(facts, steps);
    bound_spans(facts, steps);
}

bool serving_make(const struct facts *facts, struct arena *arena, struct serving_steps *steps,
                  struct err *err)
{
    *steps = (struct serving_steps){0};
    if (!has_marks(facts->trace))
        return true;
    if (!find_marks(facts, EVENT_ANNOTATION, arena, steps, err))
        return false;
    bool on_host = steps->count > 0;
    if (!on_host && !find_marks(facts, EVENT_GPU_ANNOTATION, arena, steps, err))
        return false;
    if (on_host) {
        serving_spans(facts, steps);
        return true;
    }
    for (uint32_t i = 0; i < steps->count; i++) {
        steps->items[i].begin_ns = steps->items[i].mark_begin_ns;
        steps->items[i].end_ns = steps->items[i].mark_end_ns;
    }
    bound_spans(facts, steps);
    return true;
}
