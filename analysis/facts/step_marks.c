// SPDX-License-Identifier: Apache-2.0
// Looks for step marks, from the most to the least certain kind.
#include "analysis/facts/step_marks.h"

#include "analysis/stats/groups.h"
#include "analysis/stats/sort.h"
#include "ingest/base/hash.h"

#include <ctype.h>

#define REPEATS_MIN   3   // a top-level annotation that occurs less often is not a step
#define COVER_PERCENT 50  // and it must cover this much of the device window
#define NUMBERED_MAX  256 // bytes of the longest name whose numbers may differ

bool step_marks_fit(struct str pattern, struct str name)
{
    if (pattern.len && pattern.at[pattern.len - 1] == '*')
        return str_starts_with(name, (struct str){pattern.at, pattern.len - 1});
    return str_equal(pattern, name);
}

int64_t step_marks_number(struct str name, int64_t fallback)
{
    int64_t number;
    size_t at = str_find(name, STR("#"));
    if (at == SIZE_MAX || !str_to_i64((struct str){name.at + at + 1, name.len - at - 1}, &number))
        return fallback;
    return number;
}

static bool fits(const struct facts *facts, enum mark_source source, struct str name)
{
    switch (source) {
    case MARKS_CHOSEN:
        return facts->options && facts->options->step_pattern &&
               step_marks_fit(str_of(facts->options->step_pattern), name);
    case MARKS_PROFILER: return str_starts_with(name, STR("ProfilerStep#"));
    case MARKS_OPTIMIZER: return str_starts_with(name, STR("Optimizer.step#"));
    case MARKS_NONE:
    case MARKS_REPEATED: return false;
    }
    return false;
}

// Annotations in column order, each passed to the visitor.
static uint32_t next_annotation(const struct trace *trace, uint32_t event)
{
    while (event < trace->event_count && trace->kind[event] != EVENT_ANNOTATION)
        event++;
    return event;
}

static uint32_t count_fitting(const struct facts *facts, enum mark_source source)
{
    const struct trace *trace = facts->trace;
    uint32_t count = 0;
    for (uint32_t e = next_annotation(trace, 0); e < trace->event_count;
         e = next_annotation(trace, e + 1))
        count += fits(facts, source, trace_text(trace, trace->name[e]));
    return count;
}

bool step_marks_missed(const struct facts *facts)
{
    bool chosen = facts->options && facts->options->step_pattern;
    return chosen && count_fitting(facts, MARKS_CHOSEN) == 0;
}

// Whether two marks belong to the same step, as may happen with two threads: most of the shorter
// one is in both.
static bool same_step(const struct step_mark *a, const struct step_mark *b)
{
    int64_t until_ns = a->end_ns < b->end_ns ? a->end_ns : b->end_ns;
    double a_ns = (double)a->end_ns - (double)a->begin_ns;
    double b_ns = (double)b->end_ns - (double)b->begin_ns;
    double shared_ns = (double)until_ns - (double)b->begin_ns;
    return 2 * shared_ns > (a_ns < b_ns ? a_ns : b_ns);
}

// Adds a mark that starts no earlier than those before. Thread clocks and rounding make neighbors
// overlap a little; the overlap belongs to the earlier one.
static void add_mark(struct step_marks *marks, struct step_mark mark)
{
    struct step_mark *last = marks->count ? &marks->marks[marks->count - 1] : NULL;
    if (last && mark.begin_ns < last->end_ns) {
        if (mark.end_ns <= last->end_ns || same_step(last, &mark)) {
            last->end_ns = mark.end_ns > last->end_ns ? mark.end_ns : last->end_ns;
            marks->joined++;
            return;
        }
        mark.begin_ns = last->end_ns;
    }
    marks->marks[marks->count++] = mark;
}

static bool order_marks(const struct facts *facts, struct keyed *items, uint32_t count,
                        struct step_marks *marks, struct err *err)
{
    const struct trace *trace = facts->trace;
    sort_keyed(items, items + count, count);
    marks->marks = arena_array(facts->arena, count, sizeof *marks->marks, err);
    if (!marks->marks)
        return false;
    for (uint32_t i = 0; i < count; i++)
        add_mark(marks,
                 (struct step_mark){items[i].key, facts_event_end(trace, items[i].a), items[i].a});
    if (marks->source != MARKS_OPTIMIZER)
        return true;
    for (uint32_t i = 0; i + 1 < marks->count; i++)
        marks->marks[i].end_ns = marks->marks[i + 1].begin_ns;
    return true;
}

// Whether a word starts like that: not "criterion_0" and "writer_1" of "iter".
static bool has_word(struct str name, struct str start)
{
    for (size_t at = 0; at + start.len <= name.len; at++) {
        struct str here = {name.at + at, start.len};
        bool begins = at == 0 || !isalpha((unsigned char)name.at[at - 1]) ||
                      isupper((unsigned char)name.at[at]);
        if (begins && str_equal_nocase(here, start))
            return true;
    }
    return false;
}

// Whether a name says that it is a step, which may contain other numbers each time: "iteration 5",
// vLLM's "execute_context_1(512)_generation_0(0)".
static bool says_step(struct str name)
{
    return name.len <= NUMBERED_MAX &&
           (str_contains_nocase(name, STR("step")) || has_word(name, STR("iter")) ||
            str_starts_with(name, STR("execute_"))) &&
           !str_contains_nocase(name, STR("micro"));
}

// What the annotations of all steps have in common: the name, without the numbers if it says step.
static struct group_key family_of(const struct trace *trace, str_id name)
{
    struct str text = trace_text(trace, name);
    char bare[NUMBERED_MAX];
    size_t len = 0;
    if (!says_step(text))
        return (struct group_key){name, 0};
    for (size_t i = 0; i < text.len; i++)
        if (!str_is_digit(text.at[i]))
            bare[len++] = text.at[i];
        else if (i == 0 || !str_is_digit(text.at[i - 1]))
            bare[len++] = '0';
    return (struct group_key){hash_bytes(bare, len), 1};
}

static bool is_of(const struct trace *trace, const struct group_key *family, str_id name)
{
    struct group_key key = family_of(trace, name);
    return key.a == family->a && key.b == family->b;
}

// The annotations of one kind, or of one family (source MARKS_REPEATED).
static bool gather(const struct facts *facts, uint32_t count, const struct group_key *family,
                   struct step_marks *marks, struct err *err)
{
    const struct trace *trace = facts->trace;
    size_t size = 2 * (size_t)count * sizeof(struct keyed);
    struct keyed *items = budget_alloc(facts->budget, size, err);
    if (!items)
        return false;
    uint32_t found = 0;
    for (uint32_t e = next_annotation(trace, 0); e < trace->event_count && found < count;
         e = next_annotation(trace, e + 1))
        if (family ? is_of(trace, family, trace->name[e])
                   : fits(facts, marks->source, trace_text(trace, trace->name[e])))
            items[found++] = (struct keyed){trace->begin_ns[e], e, 0};
    bool ok = order_marks(facts, items, found, marks, err);
    budget_free(facts->budget, items, size);
    return ok;
}

// How often an annotation occurs at the top of a thread, and how much time it covers there.
struct repeated {
    uint32_t count;
    int64_t covered_ns;
};

// Calls visit for each annotation that no other annotation of its thread encloses.
static bool sum_track(const struct trace *trace, const struct track *track, struct groups *names,
                      struct repeated *sums, struct err *err)
{
    int64_t busy_until_ns = INT64_MIN;
    for (uint32_t i = 0; i < track->count; i++) {
        uint32_t event = track->first + i, index;
        if (trace->kind[event] != EVENT_ANNOTATION || trace->begin_ns[event] < busy_until_ns)
            continue;
        busy_until_ns = facts_event_end(trace, event);
        struct group_key family = family_of(trace, trace->name[event]);
        if (!groups_index(names, family.a, family.b, &index, err))
            return false;
        if (!sums)
            continue;
        sums[index].count++;
        if (__builtin_add_overflow(sums[index].covered_ns, trace->dur_ns[event],
                                   &sums[index].covered_ns))
            sums[index].covered_ns = INT64_MAX;
    }
    return true;
}

static bool sum_names(const struct trace *trace, struct groups *names, struct repeated *sums,
                      struct err *err)
{
    for (uint32_t t = 0; t < trace->track_count; t++)
        if (trace->tracks[t].family == TRACK_HOST &&
            !sum_track(trace, &trace->tracks[t], names, sums, err))
            return false;
    return true;
}

// The family that covers most, among those that occur often enough and cover enough.
static bool pick_repeated(const struct facts *facts, struct groups *names, struct group_key *family,
                          struct err *err)
{
    if (!sum_names(facts->trace, names, NULL, err))
        return false;
    size_t size = names->count * sizeof(struct repeated);
    struct repeated *sums = budget_alloc(facts->budget, size, err);
    if (!sums)
        return false;
    memset(sums, 0, size);
    bool ok = sum_names(facts->trace, names, sums, err);
    int64_t best_ns = (facts->end_ns - facts->begin_ns) / 100 * COVER_PERCENT;
    for (uint32_t i = 0; ok && i < names->count; i++) {
        if (sums[i].count < REPEATS_MIN || sums[i].covered_ns <= best_ns)
            continue;
        best_ns = sums[i].covered_ns;
        *family = names->keys[i];
    }
    budget_free(facts->budget, sums, size);
    return ok;
}

static bool find_repeated(const struct facts *facts, struct step_marks *marks, struct err *err)
{
    struct groups names;
    groups_init(&names, facts->budget);
    const struct trace *trace = facts->trace;
    struct group_key family = {0};
    bool ok = pick_repeated(facts, &names, &family, err);
    groups_free(&names);
    if (!ok || !family.a)
        return ok;
    uint32_t count = 0;
    for (uint32_t e = next_annotation(trace, 0); e < trace->event_count;
         e = next_annotation(trace, e + 1))
        count += is_of(trace, &family, trace->name[e]);
    marks->source = MARKS_REPEATED;
    return gather(facts, count, &family, marks, err);
}

bool step_marks_find(const struct facts *facts, struct step_marks *marks, struct err *err)
{
    *marks = (struct step_marks){0};
    for (int s = MARKS_CHOSEN; s <= MARKS_OPTIMIZER; s++) {
        enum mark_source source = (enum mark_source)s;
        uint32_t count = count_fitting(facts, source);
        if (count == 0)
            continue;
        marks->source = source;
        return gather(facts, count, NULL, marks, err);
    }
    return find_repeated(facts, marks, err);
}
