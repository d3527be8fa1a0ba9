// SPDX-License-Identifier: Apache-2.0
// Looks for step marks, from the most to the least certain kind.
#include "analysis/facts/step_marks.h"

#include "analysis/facts/optimizer_marks.h"
#include "analysis/stats/groups.h"
#include "analysis/stats/sort.h"
#include "ingest/base/hash.h"
#include "ingest/base/search.h"

#include <ctype.h>

#define REPEATS_MIN   3   // a top-level annotation that occurs less often is not a step
#define COVER_PERCENT 50  // and it must cover this much of the device window
#define NUMBERED_MAX  256 // bytes of the longest name whose numbers may differ
#define CANDIDATES    4   // families for which it is found out what they launch

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

// Index of the mark that covers the host time, or FACTS_NONE.
static uint32_t mark_at(const struct step_marks *marks, int64_t time_ns)
{
    uint32_t begun = count_upto_i64(FIRST_OF(marks->marks, begin_ns), marks->count,
                                    sizeof *marks->marks, time_ns);
    return begun && time_ns < marks->marks[begun - 1].end_ns ? begun - 1 : FACTS_NONE;
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

// The next event of a kind, in column order.
static uint32_t next_of(const struct trace *trace, enum event_kind kind, uint32_t event)
{
    while (event < trace->event_count && trace->kind[event] != kind)
        event++;
    return event;
}

static uint32_t next_annotation(const struct trace *trace, uint32_t event)
{
    return next_of(trace, EVENT_ANNOTATION, event);
}

static uint32_t count_fitting(const struct facts *facts, enum event_kind kind,
                              enum mark_source source)
{
    const struct trace *trace = facts->trace;
    uint32_t count = 0;
    for (uint32_t e = next_of(trace, kind, 0); e < trace->event_count;
         e = next_of(trace, kind, e + 1))
        count += fits(facts, source, trace_text(trace, trace->name[e]));
    return count;
}

bool step_marks_missed(const struct facts *facts)
{
    bool chosen = facts->options && facts->options->step_pattern;
    return chosen && count_fitting(facts, EVENT_ANNOTATION, MARKS_CHOSEN) == 0;
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
    return marks->source != MARKS_OPTIMIZER || optimizer_marks_settle(facts, marks, err);
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

// Parts of steps, and steps before those that count.
static bool says_other(struct str name)
{
    return str_contains_nocase(name, STR("micro")) || str_contains_nocase(name, STR("warm")) ||
           (str_contains_nocase(name, STR("backward")) &&
            !str_contains_nocase(name, STR("forward")));
}

// Whether a name says that it is a step, which may contain other numbers each time: "iteration 5",
// vLLM's "execute_context_1(512)_generation_0(0)", SGLang's "scheduler.run_batch".
static bool says_step(struct str name)
{
    return name.len <= NUMBERED_MAX &&
           (str_contains_nocase(name, STR("step")) || has_word(name, STR("iter")) ||
            str_starts_with(name, STR("execute_")) || str_ends_with(name, STR("run_batch"))) &&
           !says_other(name);
}

// SGLang's "step[DECODE bs=8]", ATOM's "prefill[bs=2 tok=512]": steps of all kinds are one family.
static bool says_pass(struct str name)
{
    static const char *const starts[] = {"step[", "prefill[", "decode[", "eager_decode["};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        struct str start = str_of(starts[i]);
        if (str_starts_with(name, start) && name.len > start.len)
            return isalpha((unsigned char)name.at[start.len]) && str_ends_with(name, STR("]"));
    }
    return false;
}

enum { SAYS_UNKNOWN, SAYS_NOTHING, SAYS_STEP, SAYS_PASS };

// A search among the annotations, whose names are looked at once.
struct search {
    const struct facts *facts;
    uint8_t *says; // by text
};

static unsigned says_of(const struct search *search, str_id name)
{
    struct str text = trace_text(search->facts->trace, name);
    if (search->says[name] == SAYS_UNKNOWN)
        search->says[name] = says_pass(text)   ? SAYS_PASS
                             : says_step(text) ? SAYS_STEP
                                               : SAYS_NOTHING;
    return search->says[name];
}

// What the annotations of all steps have in common: the name, without the numbers if it says step.
// b is 0 if it does not.
static struct group_key family_of(const struct search *search, str_id name)
{
    struct str text = trace_text(search->facts->trace, name);
    unsigned says = says_of(search, name);
    char bare[NUMBERED_MAX];
    size_t len = 0;
    if (says != SAYS_STEP)
        return says == SAYS_PASS ? (struct group_key){1, 2} : (struct group_key){name, 0};
    for (size_t i = 0; i < text.len; i++)
        if (!str_is_digit(text.at[i]))
            bare[len++] = text.at[i];
        else if (i == 0 || !str_is_digit(text.at[i - 1]))
            bare[len++] = '0';
    return (struct group_key){hash_bytes(bare, len), 1};
}

static bool is_of(const struct search *search, const struct group_key *family, str_id name)
{
    struct group_key key = family_of(search, name);
    return key.a == family->a && key.b == family->b;
}

// Which events are marks: annotations of a family (source MARKS_REPEATED), or those that fit the
// source.
struct wanted {
    enum event_kind kind;
    uint32_t count;
    const struct group_key *family;
};

static bool gather(const struct search *search, const struct wanted *wanted,
                   struct step_marks *marks, struct err *err)
{
    const struct facts *facts = search->facts;
    const struct trace *trace = facts->trace;
    const struct group_key *family = wanted->family;
    size_t size = 2 * (size_t)wanted->count * sizeof(struct keyed);
    struct keyed *items = budget_alloc(facts->budget, size, err);
    if (!items)
        return false;
    uint32_t found = 0;
    for (uint32_t e = next_of(trace, wanted->kind, 0);
         e < trace->event_count && found < wanted->count; e = next_of(trace, wanted->kind, e + 1))
        if (family ? is_of(search, family, trace->name[e])
                   : fits(facts, marks->source, trace_text(trace, trace->name[e])))
            items[found++] = (struct keyed){trace->begin_ns[e], e, 0};
    bool ok =
        marks->source != MARKS_OPTIMIZER || optimizer_marks_outside(facts, items, &found, err);
    ok = ok && (found == 0 || order_marks(facts, items, found, marks, err));
    budget_free(facts->budget, items, size);
    return ok;
}

static bool gather_family(const struct search *search, const struct group_key *family,
                          struct step_marks *marks, struct err *err)
{
    const struct trace *trace = search->facts->trace;
    uint32_t count = 0;
    for (uint32_t e = next_annotation(trace, 0); e < trace->event_count;
         e = next_annotation(trace, e + 1))
        count += is_of(search, family, trace->name[e]);
    *marks = (struct step_marks){.source = MARKS_REPEATED};
    return gather(search, &(struct wanted){EVENT_ANNOTATION, count, family}, marks, err);
}

// --- what annotations cover on the host ---------------------------------------------------------

// How often an annotation occurs, how often at the top of a thread, and what it covers there.
struct repeated {
    uint32_t count, top;
    int64_t covered_ns;
};

struct families {
    struct groups names;
    struct repeated *sums; // by name
    bool steps;            // only those that say step, whatever single ones are around them
};

enum pass { PASS_NAMES, PASS_COUNTS, PASS_COVERS };

static void cover(struct repeated *sum, int64_t dur_ns)
{
    sum->top++;
    if (__builtin_add_overflow(sum->covered_ns, dur_ns, &sum->covered_ns))
        sum->covered_ns = INT64_MAX;
}

static bool pass_track(const struct search *search, const struct track *track,
                       struct families *families, enum pass pass, struct err *err)
{
    const struct trace *trace = search->facts->trace;
    int64_t busy_until_ns = INT64_MIN;
    for (uint32_t i = 0; i < track->count; i++) {
        uint32_t event = track->first + i, index;
        if (trace->kind[event] != EVENT_ANNOTATION || trace->begin_ns[event] < busy_until_ns)
            continue;
        struct group_key family = family_of(search, trace->name[event]);
        if (families->steps && !family.b)
            continue;
        if (!groups_index(&families->names, family.a, family.b, &index, err))
            return false;
        if (pass == PASS_COUNTS)
            families->sums[index].count++;
        if (families->steps && (pass != PASS_COVERS || families->sums[index].count < REPEATS_MIN))
            continue;
        busy_until_ns = facts_event_end(trace, event);
        if (pass == PASS_COVERS)
            cover(&families->sums[index], trace->dur_ns[event]);
    }
    return true;
}

static bool pass_all(const struct search *search, struct families *families, enum pass pass,
                     struct err *err)
{
    const struct trace *trace = search->facts->trace;
    for (uint32_t t = 0; t < trace->track_count; t++)
        if (trace->tracks[t].family == TRACK_HOST &&
            !pass_track(search, &trace->tracks[t], families, pass, err))
            return false;
    return true;
}

static size_t sums_size(const struct families *families)
{
    return families->names.count * sizeof *families->sums;
}

static bool families_make(const struct search *search, struct families *families, struct err *err)
{
    struct budget *budget = search->facts->budget;
    groups_init(&families->names, budget);
    if (!pass_all(search, families, PASS_NAMES, err))
        return false;
    families->sums = budget_alloc(budget, sums_size(families), err);
    if (!families->sums)
        return false;
    memset(families->sums, 0, sums_size(families));
    return (!families->steps || pass_all(search, families, PASS_COUNTS, err)) &&
           pass_all(search, families, PASS_COVERS, err);
}

static void families_free(const struct facts *facts, struct families *families)
{
    budget_free(facts->budget, families->sums, sums_size(families));
    groups_free(&families->names);
}

// Takes the family that covers most, among those with a name that occur often enough and cover more
// than that.
static bool take_most(struct families *families, int64_t least_ns, struct group_key *family)
{
    uint32_t most = FACTS_NONE;
    for (uint32_t i = 0; i < families->names.count; i++)
        if (families->names.keys[i].a && families->sums[i].top >= REPEATS_MIN &&
            families->sums[i].covered_ns > least_ns) {
            most = i;
            least_ns = families->sums[i].covered_ns;
        }
    if (most == FACTS_NONE)
        return false;
    *family = families->names.keys[most];
    families->sums[most].top = 0;
    return true;
}

static bool find_covering(const struct search *search, struct step_marks *marks, struct err *err)
{
    const struct facts *facts = search->facts;
    struct families families = {0};
    struct group_key family = {0};
    bool ok = families_make(search, &families, err);
    if (ok &&
        take_most(&families, (facts->end_ns - facts->begin_ns) / 100 * COVER_PERCENT, &family))
        ok = gather_family(search, &family, marks, err);
    families_free(facts, &families);
    return ok;
}

// --- what annotations launch --------------------------------------------------------------------

// Whether more than half of the device's time was launched inside the marks.
static bool launch_most(const struct facts *facts, const struct step_marks *marks)
{
    double inside_ns = 0, all_ns = 0;
    for (uint32_t i = 0; i < facts->device_count; i++) {
        const struct device_event *device = &facts->devices[i];
        double dur_ns = (double)(device->end_ns - device->begin_ns);
        all_ns += dur_ns;
        if (device->launch == FACTS_NONE)
            continue;
        int64_t at_ns = facts->trace->begin_ns[facts->launches[device->launch].event];
        if (mark_at(marks, at_ns) != FACTS_NONE)
            inside_ns += dur_ns;
    }
    return 2 * inside_ns > all_ns;
}

// Where the host runs ahead of the device, as with graphs, its steps cover little time.
static bool find_launching(const struct search *search, struct step_marks *marks, struct err *err)
{
    struct families families = {.steps = true};
    struct group_key family = {0};
    struct step_marks found = {0};
    bool ok = families_make(search, &families, err), most = false;
    for (int i = 0; ok && !most && i < CANDIDATES && take_most(&families, -1, &family); i++) {
        ok = gather_family(search, &family, &found, err);
        most = ok && launch_most(search->facts, &found);
    }
    families_free(search->facts, &families);
    if (most)
        *marks = found;
    return ok;
}

static bool find_repeated(const struct facts *facts, struct step_marks *marks, struct err *err)
{
    size_t size = facts->trace->strings.count;
    struct search search = {facts, budget_zalloc(facts->budget, size, err)};
    if (!search.says)
        return false;
    bool ok = find_covering(&search, marks, err) &&
              ((marks->count && launch_most(facts, marks)) || find_launching(&search, marks, err));
    budget_free(facts->budget, search.says, size);
    return ok;
}

static bool find_of(const struct facts *facts, enum event_kind kind, enum mark_source source,
                    struct step_marks *marks, struct err *err)
{
    uint32_t count = count_fitting(facts, kind, source);
    *marks = (struct step_marks){.source = source};
    return count == 0 ||
           gather(&(struct search){facts, NULL}, &(struct wanted){kind, count, NULL}, marks, err);
}

bool step_marks_find(const struct facts *facts, struct step_marks *marks, struct err *err)
{
    for (int s = MARKS_CHOSEN; s <= MARKS_OPTIMIZER; s++) {
        if (!find_of(facts, EVENT_ANNOTATION, (enum mark_source)s, marks, err))
            return false;
        if (marks->count)
            return true;
    }
    *marks = (struct step_marks){0};
    return find_repeated(facts, marks, err);
}

bool step_marks_find_on_device(const struct facts *facts, struct step_marks *marks, struct err *err)
{
    return find_of(facts, EVENT_GPU_ANNOTATION, MARKS_PROFILER, marks, err);
}

bool step_marks_find_updates(const struct facts *facts, struct step_marks *marks, struct err *err)
{
    return find_of(facts, EVENT_ANNOTATION, MARKS_OPTIMIZER, marks, err);
}
