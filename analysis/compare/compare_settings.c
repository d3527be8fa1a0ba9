// SPDX-License-Identifier: Apache-2.0
// How the runs of both sides were made: what people entered, else what the traces say, else the
// runs' other files.
#include "analysis/compare/compare_pair.h"
#include "analysis/compare/compare_settings.h"
#include "analysis/run/run.h"
#include "analysis/report/tables.h"
#include "ingest/evidence/standard_settings.h"

#include <inttypes.h>
#include <stdlib.h>

#define MAX_VALUES 3 // shown per setting

static int compare_values(const void *a, const void *b)
{
    const struct setting *x = a, *y = b;
    int order = str_compare(x->key, y->key);
    return order ? order : str_compare(x->value, y->value);
}

static int compare_weights(const void *a, const void *b)
{
    const struct setting *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return str_compare(x->value, y->value);
}

static size_t count_rows(const struct compare_side *side)
{
    size_t count = 0;
    for (size_t i = 0; i < side->run_count; i++) {
        const struct table *table = report_find(side->runs[i].run, "environment");
        count += side->runs[i].meta_count + (table ? table->row_count : 0) + 1;
        count += compare_count_files(&side->runs[i]);
    }
    return count;
}

static bool is_given(const struct compare_run *run, struct str key)
{
    for (size_t i = 0; i < run->meta_count; i++)
        if (str_equal(run->meta[i].key, key))
            return true;
    return false;
}

static void take(struct settings *settings, struct setting setting)
{
    settings->at[settings->count++] = setting;
}

// The number of ranks is a setting that no trace contains.
static bool take_ranks(struct settings *settings, const struct compare_run *run,
                       struct arena *arena, struct err *err)
{
    const struct table *summary = report_find(run->run, "summary");
    if (!summary || !summary->row_count || is_given(run, STR("ranks")))
        return true;
    const char *text =
        arena_printf(arena, err, "%" PRId64, table_cell(summary, 0, RUN_SUMMARY_RANKS)->i);
    if (text)
        take(settings, (struct setting){.key = STR("ranks"), .value = str_of(text), .weight = 1});
    return text != NULL;
}

static bool take_run(struct settings *settings, const struct compare_run *run, struct arena *arena,
                     struct err *err)
{
    const struct table *table = report_find(run->run, "environment");
    for (size_t i = 0; i < run->meta_count; i++)
        take(settings, (struct setting){.key = run->meta[i].key,
                                        .value = run->meta[i].value,
                                        .source = FROM_PEOPLE,
                                        .weight = 1});
    for (size_t i = 0; table && i < table->row_count; i++) {
        struct str key = table_text(table, i, RUN_ENVIRONMENT_KEY);
        if (!is_given(run, key))
            take(settings,
                 (struct setting){.key = key,
                                  .value = table_text(table, i, RUN_ENVIRONMENT_VALUE),
                                  .weight = table_cell(table, i, RUN_ENVIRONMENT_RANKS)->i});
    }
    return compare_take_files(settings, run, arena, err) && take_ranks(settings, run, arena, err);
}

// What belongs to a key rather than to one of its values.
static void join_facts(struct setting *joined, const struct setting *with)
{
    joined->source = with->source > joined->source ? with->source : joined->source;
    joined->file = joined->file.len ? joined->file : with->file;
    joined->unit = joined->unit.len ? joined->unit : with->unit;
    joined->standard |= with->standard;
    joined->contradicts |= with->contradicts;
}

// Adds up the weights of equal values, which are adjacent.
static size_t join_equal(struct setting *at, size_t count, struct setting *facts)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        join_facts(facts, &at[i]);
        if (kept && str_equal(at[kept - 1].value, at[i].value))
            at[kept - 1].weight += at[i].weight;
        else
            at[kept++] = at[i];
    }
    return kept;
}

// All values of one key in one line, the most frequent first.
static bool join_values(struct setting *at, size_t count, struct arena *arena,
                        struct setting *joined, struct err *err)
{
    struct setting facts = {.file = STR(""), .unit = STR("")};
    count = join_equal(at, count, &facts);
    qsort(at, count, sizeof *at, compare_weights);
    facts.key = at[0].key;
    facts.value = at[0].value;
    *joined = facts;
    for (size_t i = 1; i < count && i < MAX_VALUES; i++) {
        const char *text = arena_printf(arena, err, "%.*s | %.*s%s", (int)joined->value.len,
                                        joined->value.at, (int)at[i].value.len, at[i].value.at,
                                        i + 1 == MAX_VALUES && count > MAX_VALUES ? " | ..." : "");
        if (!text)
            return false;
        joined->value = str_of(text);
    }
    return true;
}

// A side's settings by key, once each.
static bool read_settings(const struct compare_side *side, struct arena *arena,
                          struct settings *settings, struct err *err)
{
    *settings =
        (struct settings){arena_array(arena, count_rows(side), sizeof *settings->at, err), 0};
    if (!settings->at)
        return false;
    for (size_t i = 0; i < side->run_count; i++)
        if (!take_run(settings, &side->runs[i], arena, err))
            return false;
    if (settings->count)
        qsort(settings->at, settings->count, sizeof *settings->at, compare_values);
    size_t kept = 0;
    for (size_t from = 0, to; from < settings->count; from = to) {
        for (to = from + 1; to < settings->count; to++)
            if (!str_equal(settings->at[to].key, settings->at[from].key))
                break;
        if (!join_values(settings->at + from, to - from, arena, &settings->at[kept++], err))
            return false;
    }
    settings->count = kept;
    return true;
}

// --- both sides ---------------------------------------------------------------------------------

// In the order in which they are written: what only one side has is less likely to matter.
enum likeness { DIFFERENT, ONE_SIDED, UNKNOWN, EQUAL };

// One setting of both sides; NULL where a side lacks it.
struct both {
    const struct setting *base, *cand;
    enum likeness likeness;
    size_t weight; // of the key: low ones first
};

// What a comparison depends on most, in this order; then other standard settings, then all others.
static size_t weight_of(struct str key)
{
    static const char *const keys[] = {"gpu",        "ranks",     "flavour",         "precision",
                                       "batch_size", "seq_len",   "tokens_per_step", "model",
                                       "data",       "framework", "driver",          "commit"};
    const size_t count = sizeof keys / sizeof *keys;
    for (size_t i = 0; i < count; i++)
        if (str_equal(key, str_of(keys[i])))
            return i;
    size_t place = standard_setting_place(key);
    return count + (place == SIZE_MAX ? STANDARD_MOST : place);
}

static struct str key_of(const struct both *both)
{
    return both->base ? both->base->key : both->cand->key;
}

static int compare_boths(const void *a, const void *b)
{
    const struct both *x = a, *y = b;
    if (x->likeness != y->likeness)
        return x->likeness < y->likeness ? -1 : 1;
    if (x->weight != y->weight)
        return x->weight < y->weight ? -1 : 1;
    return str_compare(key_of(x), key_of(y));
}

// The machine a side was recorded on is not a setting: it is shown, but not compared.
static bool is_compared(const struct setting *setting)
{
    return setting && (setting->source == FROM_PEOPLE || !run_place_is_host(setting->key));
}

// A setting that only one framework's files name: it comes after all that others may have as well.
static bool is_own(const struct both *both)
{
    const struct setting *one = both->base ? both->base : both->cand;
    return one->source == FROM_FILE && !one->standard;
}

static struct both make_both(const struct setting *base, const struct setting *cand)
{
    struct both both = {base, cand, ONE_SIDED, 0};
    if (base && cand)
        both.likeness = str_equal(base->value, cand->value) ? EQUAL : DIFFERENT;
    if (!is_compared(base) && !is_compared(cand))
        both.likeness = EQUAL;
    both.weight = weight_of(key_of(&both)) + is_own(&both);
    return both;
}

// What a file of one side says is a difference only if the other side has that file, too.
static void forgive_files(const struct pair *pair, struct both *both, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct setting *one = both[i].base ? both[i].base : both[i].cand;
        const struct compare_side *other = pair->sides[both[i].base ? CAND : BASE]->side;
        if (both[i].likeness == ONE_SIDED && one->source == FROM_FILE &&
            !compare_has_file(other, one->file))
            both[i].likeness = UNKNOWN;
    }
}

// Profilers record different settings, and graphs as a whole hide some: what only one of two can
// say is no difference.
static void forgive_recorders(const struct pair *pair, struct both *both, size_t count)
{
    bool differ = pair_hides_kernels(pair);
    for (size_t i = 0; i < count; i++)
        differ |= both[i].likeness == DIFFERENT && str_equal(key_of(&both[i]), STR("recorder"));
    for (size_t i = 0; differ && i < count; i++) {
        const struct setting *one = both[i].base ? both[i].base : both[i].cand;
        if (both[i].likeness == ONE_SIDED && one->source == FROM_TRACE)
            both[i].likeness = UNKNOWN;
    }
}

// Walks both lists by key. Returns how many pairs there are.
static size_t zip(struct settings base, struct settings cand, struct both *out)
{
    size_t count = 0;
    for (size_t b = 0, c = 0; b < base.count || c < cand.count;) {
        int order = b == base.count   ? 1
                    : c == cand.count ? -1
                                      : str_compare(base.at[b].key, cand.at[c].key);
        const struct setting *left = order <= 0 ? &base.at[b++] : NULL;
        const struct setting *right = order >= 0 ? &cand.at[c++] : NULL;
        out[count++] = make_both(left, right);
    }
    return count;
}

static const char *source_of(const struct setting *setting)
{
    static const char *const words[] = {
        [FROM_TRACE] = "trace", [FROM_FILE] = "file", [FROM_PEOPLE] = "upload"};
    return setting ? words[setting->source] : NULL;
}

static bool is_of_file(const struct setting *setting)
{
    return setting && setting->source == FROM_FILE;
}

static bool add_setting(const struct pair *pair, const struct both *both, struct err *err)
{
    const struct setting *base = both->base, *cand = both->cand;
    struct row row = {.desc = &table_compare_settings};
    row_i64(&row, COMPARE_SETTINGS_CAND, pair->number);
    row_text(&row, COMPARE_SETTINGS_KEY, key_of(both));
    row_text_if(&row, COMPARE_SETTINGS_BASE, base != NULL, base ? base->value : (struct str){0});
    row_text_if(&row, COMPARE_SETTINGS_CAND_VALUE, cand != NULL,
                cand ? cand->value : (struct str){0});
    row_bool(&row, COMPARE_SETTINGS_DIFFERS, both->likeness <= ONE_SIDED);
    row_word(&row, COMPARE_SETTINGS_BASE_SOURCE, source_of(base));
    row_word(&row, COMPARE_SETTINGS_CAND_SOURCE, source_of(cand));
    row_text_if(&row, COMPARE_SETTINGS_BASE_FILE, is_of_file(base), base ? base->file : STR(""));
    row_text_if(&row, COMPARE_SETTINGS_CAND_FILE, is_of_file(cand), cand ? cand->file : STR(""));
    row_bool_if(&row, COMPARE_SETTINGS_BASE_CONTRADICTS, base, base && base->contradicts);
    row_bool_if(&row, COMPARE_SETTINGS_CAND_CONTRADICTS, cand, cand && cand->contradicts);
    struct str unit = base && base->unit.len ? base->unit : cand ? cand->unit : STR("");
    row_text_if(&row, COMPARE_SETTINGS_UNIT, unit.len, unit);
    return row_end(&row, pair->report, err);
}

bool compare_settings_write(const struct pair *pair, struct err *err)
{
    struct settings settings[SIDES];
    for (int side = 0; side < SIDES; side++)
        if (!read_settings(pair->sides[side]->side, pair->scratch, &settings[side], err))
            return false;
    size_t room = settings[BASE].count + settings[CAND].count;
    struct both *both = arena_array(pair->scratch, room + 1, sizeof *both, err);
    if (!both)
        return false;
    size_t count = zip(settings[BASE], settings[CAND], both);
    forgive_recorders(pair, both, count);
    forgive_files(pair, both, count);
    qsort(both, count, sizeof *both, compare_boths);
    for (size_t i = 0; i < count; i++)
        if (!(is_own(&both[i]) && both[i].likeness > ONE_SIDED) &&
            !add_setting(pair, &both[i], err))
            return false;
    return true;
}
