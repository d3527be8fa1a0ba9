// SPDX-License-Identifier: Apache-2.0
// Collects the ranks' times per call, and compares each rank with the equally fast ones.
#include "analysis/ranks/run_rates.h"

#include "analysis/findings/findings.h"
#include "analysis/ranks/run_split.h"
#include "analysis/stats/sort.h"
#include "analysis/stats/stats.h"
#include "analysis/report/tables.h"

#include <math.h>

#define COMMON_SHARE   0.05 // of a rank's time must be work that others have, too
#define RECORDED_SHARE 0.50 // of a rank's time is known to be different work from that of others
#define BASIS_SHARE    0.25 // of the time makes a basis sufficient
#define SPLIT_GAP      0.03 // between equally fast ranks and slow ones
#define RATIO_UNIT     1e9
#define CALLS_UNIT     1e3
#define MOST           9e18 // of a whole number
#define SAME_CALLS     0.01 // largest difference, for kernels of which only the name is recorded

// How calls are known to do equal work, best first; then those whose time depends on values.
enum basis { BASIS_STRONG, BASIS_FEW_BLOCKS, BASIS_NAME, BASIS_VALUES, BASIS_COUNT };

bool run_rates_open(struct run_rates *rates, size_t ranks, struct budget *budget, struct err *err)
{
    *rates = (struct run_rates){.budget = budget};
    arena_init(&rates->arena, budget);
    groups_init(&rates->names, budget);
    groups_init(&rates->keys, budget);
    rates->ranks = arena_array(&rates->arena, ranks, sizeof *rates->ranks, err);
    rates->steps = arena_array(&rates->arena, ranks, sizeof *rates->steps, err);
    rates->job = arena_array(&rates->arena, ranks, sizeof *rates->job, err);
    rates->first = arena_array(&rates->arena, ranks + 1, sizeof *rates->first, err);
    return rates->ranks && rates->steps && rates->job && rates->first;
}

void run_rates_close(struct run_rates *rates)
{
    if (!rates->budget)
        return;
    budget_free(rates->budget, rates->texts, rates->text_cap * sizeof *rates->texts);
    budget_free(rates->budget, rates->about, rates->about_cap * sizeof *rates->about);
    budget_free(rates->budget, rates->entries, rates->entry_cap * sizeof *rates->entries);
    groups_free(&rates->names);
    groups_free(&rates->keys);
    arena_free(&rates->arena);
}

// --- taking -------------------------------------------------------------------------------------

static enum basis basis_of(const struct cell *cell)
{
    if (cell->null)
        return BASIS_NAME;
    return str_equal(cell->s, STR("values"))       ? BASIS_VALUES
           : str_equal(cell->s, STR("few_blocks")) ? BASIS_FEW_BLOCKS
                                                   : BASIS_STRONG;
}

static bool find_name(struct run_rates *rates, struct str name, uint32_t *index, struct err *err)
{
    uint32_t known = rates->names.count;
    if (!groups_index(&rates->names, hash_bytes(name.at, name.len), name.len, index, err))
        return false;
    if (*index < known)
        return true;
    struct str *texts = budget_room(rates->budget, rates->texts, &rates->text_cap,
                                    known + (size_t)1, sizeof *texts, err);
    if (!texts)
        return false;
    rates->texts = texts;
    texts[known] = (struct str){arena_strdup(&rates->arena, name, err), name.len};
    return texts[known].at != NULL;
}

static bool find_key(struct run_rates *rates, const struct table *table, size_t row,
                     uint32_t *index, struct err *err)
{
    uint32_t known = rates->keys.count, job = rates->job[rates->count], name;
    if (!find_name(rates, table_cell(table, row, KERNEL_RATES_KERNEL)->s, &name, err) ||
        !groups_index(&rates->keys, (uint64_t)job << 32 | name,
                      (uint64_t)table_cell(table, row, KERNEL_RATES_WORK)->i, index, err))
        return false;
    if (*index < known)
        return true;
    struct rate_key *about = budget_room(rates->budget, rates->about, &rates->about_cap,
                                         known + (size_t)1, sizeof *about, err);
    if (!about)
        return false;
    rates->about = about;
    about[known] =
        (struct rate_key){name, (uint8_t)basis_of(table_cell(table, row, KERNEL_RATES_BASIS))};
    return true;
}

static bool add_entry(struct run_rates *rates, const struct table *table, size_t row,
                      struct err *err)
{
    struct rate_entry entry = {.rank = rates->count,
                               .calls = table_cell(table, row, KERNEL_RATES_CALLS)->i,
                               .total_ns = table_cell(table, row, KERNEL_RATES_TOTAL_NS)->i};
    if (entry.calls <= 0 || entry.total_ns <= 0)
        return true;
    struct rate_entry *entries = budget_room(rates->budget, rates->entries, &rates->entry_cap,
                                             rates->entry_count + 1, sizeof *entries, err);
    if (!entries)
        return false;
    rates->entries = entries;
    if (!find_key(rates, table, row, &entry.key, err))
        return false;
    entries[rates->entry_count++] = entry;
    return true;
}

bool run_rates_add(struct run_rates *rates, int64_t rank, uint32_t job, const struct report *report,
                   struct err *err)
{
    const struct table *summary = report_find(report, "summary");
    const struct table *table = report_find(report, "kernel_rates");
    const struct cell *steady =
        summary && summary->row_count ? table_cell(summary, 0, SUMMARY_STEADY_STEPS) : NULL;
    bool known = steady && !steady->null && steady->i > 0;
    rates->ranks[rates->count] = (struct rank_rate){.rank = rank, .ratio = NAN};
    rates->steps[rates->count] = known ? steady->i : 1;
    rates->job[rates->count] = job;
    for (size_t row = 0; table && row < table->row_count; row++)
        if (!add_entry(rates, table, row, err))
            return false;
    rates->first[++rates->count] = rates->entry_count;
    return true;
}

// --- comparing ----------------------------------------------------------------------------------

// What calls with a key usually take, and how many there are per step; count: ranks that have it.
struct usual {
    double ns, calls;
    uint32_t count;
};

struct judge {
    struct run_rates *rates;
    struct usual *usual;               // per key
    struct keyed *by_key;              // entries sorted by key
    bool *base;                        // per rank: others are compared with it
    int64_t *values, *calls, *scratch; // room for one per rank
    double *ratios;                    // per rank
    double *ascending;                 // room for one per rank
    struct keyed *order;               // room for one per rank, twice
    uint32_t *seen;                    // per name: last rank counted + 1
    enum basis worst;                  // that is acceptable
};

static double call_ns(const struct rate_entry *entry)
{
    return (double)entry->total_ns / (double)entry->calls;
}

static double calls_of(const struct run_rates *rates, const struct rate_entry *entry)
{
    return (double)entry->calls / (double)rates->steps[entry->rank];
}

// 0 without values.
static int64_t median_of(struct judge *judge, int64_t *values, size_t count)
{
    sort_i64(values, judge->scratch, count);
    return count ? stats_median(values, count) : 0;
}

static int64_t whole(double value)
{
    return (int64_t)fmin(fmax(value, -MOST), MOST);
}

// Medians over the base ranks of one key's entries, by_key[first] to by_key[past - 1].
static struct usual usual_of(struct judge *judge, size_t first, size_t past)
{
    const struct run_rates *rates = judge->rates;
    struct usual usual = {.count = 0};
    uint32_t rank = UINT32_MAX; // truncated names may make a rank have it twice
    size_t count = 0;
    for (size_t i = first; i < past; i++) {
        const struct rate_entry *entry = &rates->entries[judge->by_key[i].a];
        bool again = entry->rank == rank;
        rank = entry->rank;
        usual.count += !again;
        if (again || !judge->base[rank])
            continue;
        judge->calls[count] = whole(CALLS_UNIT * calls_of(rates, entry));
        judge->values[count++] = entry->total_ns / entry->calls;
    }
    usual.ns = (double)median_of(judge, judge->values, count);
    usual.calls = (double)median_of(judge, judge->calls, count) / CALLS_UNIT;
    return usual;
}

static void find_usual(struct judge *judge)
{
    size_t count = judge->rates->entry_count;
    for (size_t first = 0, past; first < count; first = past) {
        for (past = first; past < count && judge->by_key[past].key == judge->by_key[first].key;)
            past++;
        judge->usual[judge->by_key[first].key] = usual_of(judge, first, past);
    }
}

// Whether other ranks do what the entry does, as far as recorded.
static bool is_common(const struct judge *judge, const struct rate_entry *entry)
{
    const struct usual *usual = &judge->usual[entry->key];
    enum basis basis = (enum basis)judge->rates->about[entry->key].basis;
    if (usual->count < 2 || usual->ns <= 0 || basis > judge->worst)
        return false;
    double apart = fabs(calls_of(judge->rates, entry) - usual->calls);
    return basis < BASIS_NAME || apart <= SAME_CALLS * usual->calls;
}

static double ratio_of(const struct judge *judge, uint32_t rank)
{
    const struct run_rates *rates = judge->rates;
    double own_ns = 0, usual_ns = 0, all_ns = 0;
    for (size_t i = rates->first[rank]; i < rates->first[rank + 1]; i++) {
        const struct rate_entry *entry = &rates->entries[i];
        all_ns += (double)entry->total_ns;
        if (!is_common(judge, entry))
            continue;
        own_ns += (double)entry->total_ns;
        usual_ns += (double)entry->calls * judge->usual[entry->key].ns;
    }
    return own_ns > 0 && own_ns >= COMMON_SHARE * all_ns ? own_ns / usual_ns : NAN;
}

// The ranks by job, and within each by ratio; those without one come last.
static size_t order_ranks(struct judge *judge)
{
    const struct run_rates *rates = judge->rates;
    size_t count = 0;
    for (uint32_t r = 0; r < rates->count; r++)
        if (!isnan(judge->ratios[r]))
            judge->order[count++] = (struct keyed){whole(judge->ratios[r] * RATIO_UNIT), r, 0};
    sort_keyed(judge->order, judge->order + rates->count, count);
    for (size_t i = 0; i < count; i++)
        judge->order[i] = (struct keyed){rates->job[judge->order[i].a], judge->order[i].a, 0};
    sort_keyed(judge->order, judge->order + rates->count, count);
    return count;
}

// For each job, the equally fast ranks.
static void keep_fast(struct judge *judge)
{
    size_t count = order_ranks(judge);
    for (uint32_t r = 0; r < judge->rates->count; r++)
        judge->base[r] = false;
    for (size_t first = 0, past; first < count; first = past) {
        for (past = first; past < count && judge->order[past].key == judge->order[first].key;
             past++)
            judge->ascending[past - first] = judge->ratios[judge->order[past].a];
        size_t fast = run_split_low(judge->ascending, past - first, SPLIT_GAP);
        for (size_t i = 0; i < fast; i++)
            judge->base[judge->order[first + i].a] = true;
    }
}

// Compares with the base ranks, first all, until only the equally fast ones are left.
static void compare(struct judge *judge)
{
    const struct run_rates *rates = judge->rates;
    for (uint32_t r = 0; r < rates->count; r++)
        judge->base[r] = true;
    for (int pass = 0; pass < 2; pass++) {
        find_usual(judge);
        for (uint32_t r = 0; r < rates->count; r++)
            judge->ratios[r] = ratio_of(judge, r);
        if (pass == 0)
            keep_fast(judge);
    }
}

// The best basis that covers enough of the time.
static void choose_basis(struct judge *judge)
{
    double ns[BASIS_COUNT] = {0}, all_ns = 0, sum_ns = 0;
    for (size_t i = 0; i < judge->rates->entry_count; i++) {
        const struct rate_entry *entry = &judge->rates->entries[i];
        ns[judge->rates->about[entry->key].basis] += (double)entry->total_ns;
    }
    for (int basis = 0; basis <= BASIS_NAME; basis++)
        all_ns += ns[basis];
    for (int basis = 0; basis <= BASIS_NAME; basis++) {
        sum_ns += ns[basis];
        judge->worst = (enum basis)basis;
        if (sum_ns >= BASIS_SHARE * all_ns)
            return;
    }
}

// Whether the work of most of the rank's kernels is recorded, so that what others lack is other
// work.
static bool is_recorded(const struct judge *judge, uint32_t rank)
{
    const struct run_rates *rates = judge->rates;
    double recorded_ns = 0, all_ns = 0;
    for (size_t i = rates->first[rank]; i < rates->first[rank + 1]; i++) {
        enum basis basis = (enum basis)rates->about[rates->entries[i].key].basis;
        all_ns += (double)rates->entries[i].total_ns;
        recorded_ns +=
            basis < BASIS_NAME && basis <= judge->worst ? (double)rates->entries[i].total_ns : 0;
    }
    return all_ns > 0 && recorded_ns >= RECORDED_SHARE * all_ns;
}

// --- slow ranks ---------------------------------------------------------------------------------

// By how much a rank's kernels take longer.
struct longer {
    double common_ns, slow_ns, excess_ns;
    double worst_ns;
};

// Work that others lack, and work that depends on values, is assumed to be longer by the same
// factor.
static void add_longer(struct judge *judge, const struct rate_entry *entry, struct rank_rate *rate,
                       struct longer *longer)
{
    const struct run_rates *rates = judge->rates;
    const struct usual *usual = &judge->usual[entry->key];
    uint32_t name = rates->about[entry->key].name;
    if (!is_common(judge, entry)) {
        longer->excess_ns += (double)entry->total_ns * (1 - 1 / rate->ratio);
        return;
    }
    double excess_ns = (double)entry->total_ns - (double)entry->calls * usual->ns;
    longer->common_ns += (double)entry->total_ns;
    longer->excess_ns += excess_ns;
    if (call_ns(entry) < (1 + rate->ratio) / 2 * usual->ns)
        return;
    longer->slow_ns += (double)entry->total_ns;
    rate->kernels += judge->seen[name] != entry->rank + 1;
    judge->seen[name] = entry->rank + 1;
    if (excess_ns <= longer->worst_ns)
        return;
    longer->worst_ns = excess_ns;
    rate->kernel = rates->texts[name];
    rate->call_ns = entry->total_ns / entry->calls;
    rate->usual_ns = whole(usual->ns);
}

static void judge_rank(struct judge *judge, uint32_t rank)
{
    struct run_rates *rates = judge->rates;
    struct rank_rate *rate = &rates->ranks[rank];
    struct longer longer = {0};
    rate->ratio = judge->ratios[rank];
    if (isnan(rate->ratio) && is_recorded(judge, rank))
        rate->ratio = 1; // it does other work: nothing shows that it is slow
    rate->sure = judge->worst < BASIS_NAME;
    if (judge->base[rank] || isnan(rate->ratio) || rate->ratio < FINDING_RANK_KERNEL_RATIO)
        return;
    for (size_t i = rates->first[rank]; i < rates->first[rank + 1]; i++)
        add_longer(judge, &rates->entries[i], rate, &longer);
    rate->slow = rate->kernels >= FINDING_RANK_KERNELS &&
                 longer.slow_ns >= FINDING_RANK_KERNELS_TIME * longer.common_ns;
    rate->slow_ns = whole(longer.excess_ns / (double)rates->steps[rank]);
}

static bool sort_entries(struct judge *judge, struct arena *scratch, struct err *err)
{
    size_t count = judge->rates->entry_count;
    judge->by_key = arena_room(scratch, 2 * count + 1, sizeof *judge->by_key, err);
    if (!judge->by_key)
        return false;
    for (size_t i = 0; i < count; i++)
        judge->by_key[i] = (struct keyed){judge->rates->entries[i].key, (uint32_t)i, 0};
    sort_keyed(judge->by_key, judge->by_key + count, count);
    return true;
}

static bool make_room(struct judge *judge, struct arena *scratch, struct err *err)
{
    const struct run_rates *rates = judge->rates;
    size_t ranks = rates->count;
    judge->usual = arena_array(scratch, (size_t)rates->keys.count + 1, sizeof *judge->usual, err);
    judge->base = arena_array(scratch, ranks + 1, sizeof *judge->base, err);
    judge->values = arena_room(scratch, ranks + 1, sizeof *judge->values, err);
    judge->calls = arena_room(scratch, ranks + 1, sizeof *judge->calls, err);
    judge->scratch = arena_room(scratch, ranks + 1, sizeof *judge->scratch, err);
    judge->ratios = arena_room(scratch, ranks + 1, sizeof *judge->ratios, err);
    judge->ascending = arena_room(scratch, ranks + 1, sizeof *judge->ascending, err);
    judge->order = arena_room(scratch, 2 * ranks + 1, sizeof *judge->order, err);
    judge->seen = arena_array(scratch, (size_t)rates->names.count + 1, sizeof *judge->seen, err);
    return judge->usual && judge->base && judge->values && judge->calls && judge->scratch &&
           judge->ratios && judge->ascending && judge->order && judge->seen &&
           sort_entries(judge, scratch, err);
}

bool run_rates_judge(struct run_rates *rates, struct err *err)
{
    struct arena scratch;
    struct judge judge = {.rates = rates};
    arena_init(&scratch, rates->budget);
    bool ok = make_room(&judge, &scratch, err);
    if (ok) {
        choose_basis(&judge);
        compare(&judge);
        for (uint32_t r = 0; r < rates->count; r++)
            judge_rank(&judge, r);
    }
    arena_free(&scratch);
    return ok;
}
