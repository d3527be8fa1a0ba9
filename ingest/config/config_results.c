// SPDX-License-Identifier: Apache-2.0
#include "ingest/config/config_results.h"

enum { MOST_NAME = 128 };

enum how { IS, ENDS, HAS };

struct rule {
    enum how how;
    const char *text;
    const char *unit; // unless the end of the name says another; "" unknown
};

static const struct rule rules[] = {
    {HAS, "tokens_per_s", "tokens/s"},
    {IS, "tps", "tokens/s"},
    {HAS, "samples_per_s", "samples/s"},
    {HAS, "steps_per_s", "steps/s"},
    {HAS, "images_per_s", "images/s"},
    {HAS, "throughput", ""},
    {HAS, "step_time", "s"},
    {HAS, "iteration_time", "s"},
    {HAS, "iter_time", "s"},
    {HAS, "time_per_step", "s"},
    {HAS, "total_time", "s"},
    {HAS, "training_time", "s"},
    {HAS, "elapsed", "s"},
    {ENDS, "runtime", "s"},
    {HAS, "latency", ""},
    {HAS, "step_ms", "ms"},
    {HAS, "tflop", "TFLOP/s"},
    {ENDS, "mfu", ""},
    {HAS, "mfu_", ""},
    {ENDS, "hfu", ""},
    {ENDS, "loss", ""},
    {IS, "perplexity", ""},
    {ENDS, "accuracy", ""},
    {HAS, "memory_allocated", ""},
    {HAS, "memory_reserved", ""},
    {HAS, "peak_mem", ""},
    {HAS, "peak_vram", ""},
    {HAS, "avg_power", "W"},
    {HAS, "mean_power", "W"},
    {HAS, "energy", ""},
};

// Statistics: "mean_ms", or "mean" within "step_time_ms".
static const char *const statistics[] = {"mean", "avg", "average", "min", "max", "median",
                                         "std",  "p50", "p90",     "p95", "p99", NULL};

static const struct {
    const char *end, *unit;
} ends[] = {
    {"_ms", "ms"},   {"_us", "us"},       {"_ns", "ns"},     {"_seconds", "s"}, {"_secs", "s"},
    {"_sec", "s"},   {"_s", "s"},         {"_gb", "GB"},     {"_gib", "GiB"},   {"_mb", "MB"},
    {"_mib", "MiB"}, {"_bytes", "bytes"}, {"_percent", "%"}, {"_pct", "%"},     {"_watts", "W"},
    {"_w", "W"},     {"_joules", "J"},    {"_j", "J"},
};

// --- names --------------------------------------------------------------------------------------

// In lower case, with _ for other signs but dots; "" if it is too long.
static struct str plain_name(struct str name, char room[MOST_NAME])
{
    if (name.len > MOST_NAME)
        return STR("");
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        bool upper = c >= 'A' && c <= 'Z';
        bool plain = (c >= 'a' && c <= 'z') || str_is_digit(c) || c == '.';
        room[i] = upper ? (char)(c | 0x20) : plain ? c : '_';
    }
    return (struct str){room, name.len};
}

// The last level of *path, which is removed from it.
static struct str last_level(struct str *path)
{
    size_t from = path->len;
    while (from > 0 && path->at[from - 1] != '.')
        from--;
    struct str level = {path->at + from, path->len - from};
    path->len = from ? from - 1 : 0;
    return level;
}

static bool follows(const struct rule *rule, struct str name)
{
    struct str text = str_of(rule->text);
    return rule->how == IS     ? str_equal(name, text)
           : rule->how == ENDS ? str_ends_with(name, text)
                               : str_find(name, text) != SIZE_MAX;
}

// The unit that ends a name; NULL: none.
static const char *unit_of_end(struct str name)
{
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (str_ends_with(name, str_of(ends[i].end)))
            return ends[i].unit;
    return NULL;
}

static bool is_statistic(struct str name, bool whole)
{
    for (size_t i = 0; statistics[i]; i++)
        if (whole ? str_equal(name, str_of(statistics[i]))
                  : str_starts_with(name, str_of(statistics[i])) &&
                        name.len > strlen(statistics[i]) && name.at[strlen(statistics[i])] == '_')
            return true;
    return false;
}

// --- results ------------------------------------------------------------------------------------

static const char *unit_of_level(struct str name)
{
    const char *unit = unit_of_end(name);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (follows(&rules[i], name)) {
            bool open = *rules[i].unit == '\0' || strcmp(rules[i].unit, "s") == 0;
            return unit && open ? unit : rules[i].unit;
        }
    return unit && is_statistic(name, false) ? unit : NULL;
}

const char *config_result_unit(struct str name)
{
    char room[MOST_NAME];
    struct str path = plain_name(name, room);
    if (str_find(path, STR("config")) != SIZE_MAX || str_find(path, STR("args")) != SIZE_MAX)
        return NULL;
    struct str level = last_level(&path);
    if (is_statistic(level, true) && path.len)
        level = last_level(&path);
    return unit_of_level(level);
}

// --- series -------------------------------------------------------------------------------------

static double scale_of(struct str name)
{
    const char *unit = unit_of_end(name);
    return !unit                     ? 1
           : strcmp(unit, "ms") == 0 ? 1e-3
           : strcmp(unit, "us") == 0 ? 1e-6
           : strcmp(unit, "ns") == 0 ? 1e-9
                                     : 1;
}

bool config_series_of(struct str name, struct config_series *series)
{
    static const struct {
        struct rule rule;
        enum log_value value;
    } lists[] = {
        {{ENDS, "loss", ""}, LOG_LOSS},
        {{ENDS, "losses", ""}, LOG_LOSS},
        {{ENDS, "loss_values", ""}, LOG_LOSS},
        {{ENDS, "loss_history", ""}, LOG_LOSS},
        {{ENDS, "loss_curve", ""}, LOG_LOSS},
        {{HAS, "step_time", ""}, LOG_STEP_S},
        {{HAS, "iteration_time", ""}, LOG_STEP_S},
        {{HAS, "iter_time", ""}, LOG_STEP_S},
        {{HAS, "learning_rates", ""}, LOG_LEARNING_RATE},
        {{HAS, "grad_norm", ""}, LOG_GRAD_NORM},
    };
    char room[MOST_NAME];
    struct str path = plain_name(name, room), level = last_level(&path);
    if (str_find(level, STR("val_")) != SIZE_MAX || str_find(level, STR("valid")) != SIZE_MAX)
        return false; // eval_ as well
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (follows(&lists[i].rule, level)) {
            double scale = lists[i].value == LOG_STEP_S ? scale_of(level) : 1;
            *series = (struct config_series){lists[i].value, scale};
            return true;
        }
    return false;
}
