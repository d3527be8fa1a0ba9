// SPDX-License-Identifier: Apache-2.0
// The parity ledger: per operator and shape what each side's GPU would allow, what it takes, and
// how much of the gap is the hardware's and how much the software's.
#include "analysis/compare/compare_pair.h"
#include "analysis/compare/parity_code.h"
#include "analysis/names/op_alias.h"
#include "analysis/report/tables.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_ROWS = 500 }; // the others are summed in the last row
#define MOST_NS 0x1p60    // of a part in all rows: a hostile report may have any number of calls

// What a side's roofline says about an operator and shape, over the whole traces of its runs.
struct side_work {
    double calls, events, roofline_ns;
    double compute_ns; // of the roofline: limited by operations
    bool is_known;     // the roofline, of all rows
    struct str note;
};

struct entry {
    struct str op, dims, types, strides, category;
    struct str kernels[SIDES];
    int64_t kernel_ns[SIDES]; // of the rows that named them
    int64_t waterfall, row_ns;
    int64_t ns[SIDES], events[SIDES]; // ns per step; events over all steady steps
    bool is_exact;                    // both sides have the operator in this shape
    bool computes;
    struct side_work work[SIDES];
    // The gap; unattributed if its parts are not known.
    bool is_attributed;
    double calls[SIDES], allowed_ns[SIDES]; // per step
    int64_t calls_ns, hardware_ns, software_ns, shortfall_ns;
    int behind; // the side whose software falls short
};

struct ledger {
    const struct pair *pair;
    struct entry *at;
    size_t count;
};

// --- the rows of the waterfall ------------------------------------------------------------------

static bool is_device_bar(struct str bar, bool *computes)
{
    *computes = false;
    for (int b = 0; b < BAR_DEVICE_COUNT; b++)
        if (str_equal(bar, str_of(category_bar_word((enum bar)b)))) {
            *computes = b == BAR_GEMM || b == BAR_ATTENTION || b == BAR_OTHER_COMPUTE;
            return true;
        }
    return false;
}

static struct entry entry_of(const struct table *fall, size_t row)
{
    struct str match = table_text(fall, row, COMPARE_WATERFALL_MATCH);
    struct entry entry = {.op = table_text(fall, row, COMPARE_WATERFALL_OP),
                          .dims = table_text(fall, row, COMPARE_WATERFALL_DIMS),
                          .types = table_text(fall, row, COMPARE_WATERFALL_TYPES),
                          .category = table_text(fall, row, COMPARE_WATERFALL_CATEGORY),
                          .waterfall = table_i64(fall, row, COMPARE_WATERFALL_ID, 0)};
    for (unsigned side = 0; side < SIDES; side++) {
        entry.kernels[side] = table_text(fall, row, COMPARE_WATERFALL_BASE_KERNEL + side);
        entry.ns[side] = table_i64(fall, row, COMPARE_WATERFALL_BASE_NS + side, 0);
        entry.events[side] = table_i64(fall, row, COMPARE_WATERFALL_BASE_CALLS + side, 0);
        entry.kernel_ns[side] = entry.ns[side];
        entry.row_ns += entry.ns[side];
    }
    entry.is_exact = entry.op.len && entry.dims.len &&
                     (str_equal(match, STR("module")) || str_equal(match, STR("shape")));
    return entry;
}

static bool read_waterfall(struct ledger *ledger, struct err *err)
{
    const struct table *fall = report_find(ledger->pair->report, table_compare_waterfall.name);
    size_t rows = fall ? fall->row_count : 0;
    ledger->at = arena_room(ledger->pair->scratch, rows + 1, sizeof *ledger->at, err);
    for (size_t row = 0; ledger->at && row < rows; row++) {
        bool computes;
        if (table_i64(fall, row, COMPARE_WATERFALL_CAND, 0) != ledger->pair->number ||
            !table_is(fall, row, COMPARE_WATERFALL_LEVEL, STR("shape")) ||
            !is_device_bar(table_text(fall, row, COMPARE_WATERFALL_BAR), &computes))
            continue;
        struct entry *entry = &ledger->at[ledger->count++];
        *entry = entry_of(fall, row);
        entry->computes = computes;
        if (!computes)
            entry->ns[BASE] = entry->ns[CAND] = entry->row_ns = 0;
    }
    return ledger->at != NULL;
}

static int compare_names(const struct entry *x, const struct entry *y)
{
    int order = str_compare(x->op, y->op);
    order = order ? order : str_compare(x->dims, y->dims);
    return order ? order : str_compare(x->types, y->types);
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = compare_names(x, y);
    order = order ? order : (x->row_ns < y->row_ns) - (x->row_ns > y->row_ns);
    return order ? order : (x->waterfall > y->waterfall) - (x->waterfall < y->waterfall);
}

static bool has_shape(const struct entry *entry)
{
    return entry->op.len && entry->dims.len;
}

// Parts of one operator call in several bars or categories are one entry, named by the largest.
static void add_entry(struct entry *to, const struct entry *from)
{
    to->is_exact |= from->is_exact;
    to->computes |= from->computes;
    for (int side = 0; side < SIDES; side++) {
        to->ns[side] += from->ns[side];
        to->events[side] += from->events[side];
        if (from->computes && from->kernel_ns[side] > to->kernel_ns[side]) {
            to->kernels[side] = from->kernels[side];
            to->kernel_ns[side] = from->kernel_ns[side];
        }
    }
}

static void join_entries(struct ledger *ledger)
{
    size_t kept = 0;
    if (ledger->count)
        qsort(ledger->at, ledger->count, sizeof *ledger->at, compare_entries);
    for (size_t i = 0; i < ledger->count; i++) {
        const struct entry *entry = &ledger->at[i];
        if (kept && has_shape(entry) && compare_names(&ledger->at[kept - 1], entry) == 0)
            add_entry(&ledger->at[kept - 1], entry);
        else
            ledger->at[kept++] = *entry;
    }
    ledger->count = kept;
}

// --- what the GPUs would allow ------------------------------------------------------------------

static int compare_key(const void *a, const void *b)
{
    return compare_names(a, b);
}

static struct entry *find_entry(const struct ledger *ledger, const struct table *roofline,
                                size_t row)
{
    struct entry key = {.op = op_alias_name(table_text(roofline, row, ROOFLINE_OP)),
                        .dims = table_text(roofline, row, ROOFLINE_DIMS),
                        .types = table_text(roofline, row, ROOFLINE_TYPES)};
    if (!has_shape(&key) || !ledger->count)
        return NULL;
    struct entry *found = bsearch(&key, ledger->at, ledger->count, sizeof key, compare_key);
    key.types = STR(""); // a recording without types matches by shapes
    return found ? found : bsearch(&key, ledger->at, ledger->count, sizeof key, compare_key);
}

static void take_work(const struct table *roofline, size_t row, struct side_work *work)
{
    struct str bound = table_text(roofline, row, ROOFLINE_BOUND);
    double allowed_ns = (double)table_i64(roofline, row, ROOFLINE_ROOFLINE_NS, 0);
    work->is_known = (work->calls == 0 || work->is_known) && bound.len && allowed_ns > 0;
    work->calls += (double)table_i64(roofline, row, ROOFLINE_CALLS, 0);
    work->events += (double)table_i64(roofline, row, ROOFLINE_KERNELS, 0);
    work->roofline_ns += allowed_ns;
    work->compute_ns += str_equal(bound, STR("compute")) ? allowed_ns : 0;
    if (!bound.len)
        work->note = table_text(roofline, row, ROOFLINE_NOTE);
}

static void read_roofline(const struct ledger *ledger, const struct table *roofline, int side)
{
    for (size_t row = 0; row < roofline->row_count; row++) {
        struct entry *entry = find_entry(ledger, roofline, row);
        if (!entry)
            continue;
        take_work(roofline, row, &entry->work[side]);
        if (!entry->strides.len) // the base's, where it has some; its longest calls come first
            entry->strides = table_text(roofline, row, ROOFLINE_STRIDES);
    }
}

static void read_rooflines(const struct ledger *ledger)
{
    for (int side = 0; side < SIDES; side++) {
        const struct compare_side *from = ledger->pair->sides[side]->side;
        for (size_t r = 0; r < from->run_count; r++) {
            const struct table *roofline = report_find(from->runs[r].rank, table_roofline.name);
            if (roofline)
                read_roofline(ledger, roofline, side);
        }
    }
}

// --- the parts of the gap -----------------------------------------------------------------------

static void rate_side(const struct pair *pair, int side, struct entry *entry)
{
    const struct side_work *work = &entry->work[side];
    const struct compare_pool *pool = pair->sides[side];
    if (work->calls <= 0 || work->events <= 0 || pool->weighed_steps <= 0)
        return;
    entry->calls[side] = (double)entry->events[side] * compare_pool_factor(pool) /
                         (double)pool->weighed_steps * work->calls / work->events;
    if (work->is_known)
        entry->allowed_ns[side] = entry->calls[side] * work->roofline_ns / work->calls;
}

static int64_t bounded(double ns)
{
    return llround(fmin(fmax(ns, -MOST_NS), MOST_NS));
}

// More or fewer calls at the base's time; then what the same share of the peaks would make of these
// on the candidate's GPU; the rest is how far its software is behind the base's, or ahead.
// A part beyond most_ns is no time: then the gap stays whole, so that sums stay exact.
static void attribute_gap(struct entry *entry, double most_ns)
{
    double base_ns = (double)entry->ns[BASE], cand_ns = (double)entry->ns[CAND];
    if (!entry->is_exact || base_ns <= 0 || cand_ns <= 0 || entry->allowed_ns[BASE] <= 0 ||
        entry->allowed_ns[CAND] <= 0)
        return;
    double calls = entry->calls[CAND] / entry->calls[BASE];
    double allowed = entry->allowed_ns[CAND] / entry->allowed_ns[BASE]; // with the calls
    double calls_ns = base_ns * (calls - 1), hardware_ns = base_ns * (allowed - calls);
    entry->is_attributed = fabs(calls_ns) <= most_ns && fabs(hardware_ns) <= most_ns;
    if (!entry->is_attributed)
        return;
    entry->calls_ns = llround(calls_ns);
    entry->hardware_ns = llround(hardware_ns);
    entry->software_ns = entry->ns[CAND] - entry->ns[BASE] - entry->calls_ns - entry->hardware_ns;
    entry->behind = entry->software_ns > 0 ? CAND : BASE;
    entry->shortfall_ns =
        entry->software_ns > 0 ? entry->software_ns : bounded(base_ns - cand_ns / allowed);
    if (entry->shortfall_ns < 0) // rounding
        entry->shortfall_ns = 0;
}

// The largest shortfall first; then rows whose gap cannot be attributed, the largest gap first.
static int compare_work(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->is_attributed != y->is_attributed)
        return x->is_attributed ? -1 : 1;
    int64_t left = x->shortfall_ns, right = y->shortfall_ns;
    if (!x->is_attributed) {
        left = llabs(x->ns[CAND] - x->ns[BASE]);
        right = llabs(y->ns[CAND] - y->ns[BASE]);
    }
    return left != right ? (left < right) - (left > right)
                         : (x->waterfall > y->waterfall) - (x->waterfall < y->waterfall);
}

static void keep_computing(struct ledger *ledger)
{
    size_t kept = 0;
    for (size_t i = 0; i < ledger->count; i++)
        if (ledger->at[i].computes && (ledger->at[i].ns[BASE] || ledger->at[i].ns[CAND]))
            ledger->at[kept++] = ledger->at[i];
    ledger->count = kept;
    if (kept)
        qsort(ledger->at, kept, sizeof *ledger->at, compare_work);
}

// --- rows ---------------------------------------------------------------------------------------

static const char *why_unattributed(const struct entry *entry)
{
    if (!entry->ns[CAND] || !entry->ns[BASE])
        return entry->ns[BASE] ? "only the base takes time for it"
                               : "only the candidate takes time for it";
    if (!has_shape(entry))
        return "not matched by operator and shape";
    return "the work of a call is not known, or a device's peak";
}

// The roofline's own note says more, if it has one.
static void put_note(const struct entry *entry, struct row *row)
{
    struct str note = entry->work[BASE].note.len ? entry->work[BASE].note : entry->work[CAND].note;
    if (entry->is_attributed)
        return;
    if (entry->is_exact && note.len)
        row_text(row, COMPARE_PARITY_NOTE, note);
    else
        row_word(row, COMPARE_PARITY_NOTE, why_unattributed(entry));
}

static void put_names(const struct entry *entry, struct row *row)
{
    row_i64(row, COMPARE_PARITY_WATERFALL, entry->waterfall);
    row_text_if(row, COMPARE_PARITY_OP, entry->op.len > 0, entry->op);
    row_text_if(row, COMPARE_PARITY_DIMS, entry->dims.len > 0, entry->dims);
    row_text_if(row, COMPARE_PARITY_TYPES, entry->types.len > 0, entry->types);
    row_text_if(row, COMPARE_PARITY_CATEGORY, entry->category.len > 0, entry->category);
    for (unsigned side = 0; side < SIDES; side++)
        row_text_if(row, COMPARE_PARITY_BASE_KERNEL + side, entry->kernels[side].len > 0,
                    entry->kernels[side]);
}

static void put_sides(const struct entry *entry, struct row *row)
{
    for (unsigned side = 0; side < SIDES; side++) {
        double allowed_ns = entry->allowed_ns[side];
        bool known = allowed_ns > 0;
        row_f64_if(row, COMPARE_PARITY_BASE_CALLS + side, entry->calls[side] > 0,
                   entry->calls[side]);
        row_i64_if(row, COMPARE_PARITY_BASE_ROOFLINE_NS + side, known,
                   known ? bounded(allowed_ns) : 0);
        row_f64_if(row, COMPARE_PARITY_BASE_PEAK_SHARE + side, known && entry->ns[side] > 0,
                   allowed_ns / fmax((double)entry->ns[side], 1));
    }
}

static void put_parts(const struct pair *pair, const struct entry *entry, struct row *row)
{
    const struct compare_run *behind = pair->sides[entry->behind]->side->runs;
    struct str gpu = compare_pool_setting(behind, STR("gpu"));
    bool attributed = entry->is_attributed;
    double per_call = attributed ? entry->allowed_ns[CAND] / entry->calls[CAND] /
                                       (entry->allowed_ns[BASE] / entry->calls[BASE])
                                 : NAN;
    row_f64(row, COMPARE_PARITY_HARDWARE_RATIO, per_call);
    row_i64_if(row, COMPARE_PARITY_CALLS_NS, attributed, entry->calls_ns);
    row_i64_if(row, COMPARE_PARITY_HARDWARE_NS, attributed, entry->hardware_ns);
    row_i64_if(row, COMPARE_PARITY_SOFTWARE_NS, attributed, entry->software_ns);
    row_i64_if(row, COMPARE_PARITY_UNATTRIBUTED_NS, !attributed, entry->ns[CAND] - entry->ns[BASE]);
    row_i64_if(row, COMPARE_PARITY_SHORTFALL_NS, attributed, entry->shortfall_ns);
    if (!attributed || !entry->shortfall_ns)
        return;
    row_word(row, COMPARE_PARITY_BEHIND, entry->behind == CAND ? "candidate" : "base");
    row_text_if(row, COMPARE_PARITY_GPU, gpu.len > 0, gpu);
}

static const char *bound_of(const struct entry *entry)
{
    const char *word = NULL;
    for (int side = 0; side < SIDES; side++) {
        const struct side_work *work = &entry->work[side];
        if (!work->is_known)
            continue;
        const char *own = 2 * work->compute_ns >= work->roofline_ns ? "compute" : "memory";
        if (word && word != own && strcmp(word, own) != 0)
            return NULL;
        word = own;
    }
    return word;
}

static void put_times(const int64_t ns[SIDES], struct row *row)
{
    row_i64(row, COMPARE_PARITY_BASE_NS, ns[BASE]);
    row_i64(row, COMPARE_PARITY_CAND_NS, ns[CAND]);
    row_i64(row, COMPARE_PARITY_DELTA_NS, ns[CAND] - ns[BASE]);
}

static bool add_row(const struct pair *pair, const struct entry *entry, struct err *err)
{
    struct row row = {.desc = &table_compare_parity};
    struct buf code = {.at = NULL};
    row_i64(&row, COMPARE_PARITY_CAND, pair->number);
    put_names(entry, &row);
    put_times(entry->ns, &row);
    put_sides(entry, &row);
    put_parts(pair, entry, &row);
    row_word(&row, COMPARE_PARITY_BOUND, bound_of(entry));
    struct op_arg_texts inputs = {
        .dims = entry->dims, .types = entry->types, .strides = entry->strides};
    const char *no_code = parity_code(entry->op, &inputs, &code);
    row_text_if(&row, COMPARE_PARITY_BENCHMARK, !no_code, (struct str){code.at, code.len});
    row_word(&row, COMPARE_PARITY_NO_BENCHMARK, no_code);
    put_note(entry, &row);
    bool ok = buf_ok(&code, err) && row_end(&row, pair->report, err);
    buf_free(&code);
    return ok;
}

// A row without a name: the sum of all others, so that the rows sum to the bars.
static bool add_rest(const struct pair *pair, const struct entry *rest, size_t count,
                     struct err *err)
{
    int64_t ns[SIDES] = {0}, calls_ns = 0, hardware_ns = 0, software_ns = 0;
    struct row row = {.desc = &table_compare_parity};
    for (size_t i = 0; i < count; i++) {
        ns[BASE] += rest[i].ns[BASE];
        ns[CAND] += rest[i].ns[CAND];
        calls_ns += rest[i].calls_ns;
        hardware_ns += rest[i].hardware_ns;
        software_ns += rest[i].software_ns;
    }
    row_i64(&row, COMPARE_PARITY_CAND, pair->number);
    put_times(ns, &row);
    row_i64(&row, COMPARE_PARITY_CALLS_NS, calls_ns);
    row_i64(&row, COMPARE_PARITY_HARDWARE_NS, hardware_ns);
    row_i64(&row, COMPARE_PARITY_SOFTWARE_NS, software_ns);
    row_i64(&row, COMPARE_PARITY_UNATTRIBUTED_NS,
            ns[CAND] - ns[BASE] - calls_ns - hardware_ns - software_ns);
    row_word(&row, COMPARE_PARITY_NOTE, "all other operators together");
    return row_end(&row, pair->report, err);
}

bool compare_parity_write(const struct pair *pair, struct err *err)
{
    struct ledger ledger = {.pair = pair};
    if (!read_waterfall(&ledger, err))
        return false;
    join_entries(&ledger);
    read_rooflines(&ledger);
    for (size_t i = 0; i < ledger.count; i++) {
        rate_side(pair, BASE, &ledger.at[i]);
        rate_side(pair, CAND, &ledger.at[i]);
        attribute_gap(&ledger.at[i], MOST_NS / (double)ledger.count);
    }
    keep_computing(&ledger);
    size_t shown = ledger.count > MOST_ROWS ? MOST_ROWS : ledger.count;
    for (size_t i = 0; i < shown; i++)
        if (!add_row(pair, &ledger.at[i], err))
            return false;
    return shown == ledger.count || add_rest(pair, ledger.at + shown, ledger.count - shown, err);
}
