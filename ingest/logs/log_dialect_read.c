// SPDX-License-Identifier: Apache-2.0
// Reads a line as a step, as its row in log_dialects says.
#include "ingest/logs/log_dialects.h"
#include "ingest/logs/log_text.h"

#include <math.h>

// --- fields -------------------------------------------------------------------------------------

static bool is_key(const struct log_field *field, struct str key)
{
    size_t len = strlen(field->key);
    if (*field->key == '*')
        return str_ends_with(key, str_of(field->key + 1));
    if (field->key[len - 1] == '*')
        return str_starts_with(key, (struct str){field->key, len - 1});
    return key.len == len && memcmp(key.at, field->key, len) == 0;
}

// The row of a key; the number of rows if there is none.
static size_t row_of(const struct log_dialect *dialect, struct str key, unsigned char *hint)
{
    if (*hint < dialect->field_count && is_key(&dialect->fields[*hint], key))
        return *hint;
    for (size_t i = 0; i < dialect->field_count; i++)
        if (is_key(&dialect->fields[i], key)) {
            *hint = (unsigned char)i;
            return i;
        }
    return dialect->field_count;
}

// Whether a number ends here, or one of its units follows. *factor: of a unit such as
// "K".
static bool ends_number(const char *units, struct str rest, double *factor)
{
    static const struct {
        char letter;
        double factor;
    } counts[] = {{'K', 1e3}, {'M', 1e6}, {'B', 1e9}, {'G', 1e9}, {'T', 1e12}, {'P', 1e15}};
    if (rest.len == 0 || memchr(" \t/(%,])}|", *rest.at, 11))
        return true;
    for (const char *unit = units; unit && *unit;) {
        size_t len = strcspn(unit, " ");
        bool is = str_starts_with(rest, (struct str){unit, len});
        for (size_t i = 0; is && len == 1 && i < sizeof counts / sizeof *counts; i++)
            *factor = counts[i].letter == *unit ? counts[i].factor : *factor;
        if (is)
            return ends_number(NULL, log_from(rest, len), factor);
        unit += len + (unit[len] == ' ');
    }
    return false;
}

// NumPy 2 prints its numbers as "np.float64(0.5)".
static struct str without_type(struct str value)
{
    size_t bracket = str_starts_with(value, STR("np.")) ? str_find(value, STR("(")) : SIZE_MAX;
    return bracket < value.len ? log_from(value, bracket + 1) : value;
}

// "100.0", or "1/94", of which the second is the last step. False if the value is garbled.
static bool take_step_number(struct str value, struct log_step *step)
{
    double number, ignored = 1;
    struct str rest;
    enum log_number found = log_number(value, &number, &rest);
    if (found != LOG_NUMBER || !ends_number(NULL, rest, &ignored))
        return found == LOG_NO_NUMBER;
    if (number >= 0 && number < 0x1p53 && floor(number) == number)
        step->step = (int64_t)number;
    return true;
}

// How many digits of a number say something: 2 of "0.012", 4 of "0.2000".
static size_t significant_digits(struct str number)
{
    size_t digits = 0;
    for (number = log_trim(number); number.len; number = log_from(number, 1)) {
        if (*number.at != '.' && !str_is_digit(*number.at))
            break;
        digits += *number.at != '.' && (digits || *number.at != '0');
    }
    return digits;
}

// Steps per second are turned into seconds of a step, or since the job began. The few decimals that
// these programs print say too little of slow steps.
static void take_rate(int value, double rate, struct str text, struct log_step *step)
{
    enum { LEAST_DIGITS = 3 };
    if (!(rate > 0) || (value == LOG_STEPS_PER_S && significant_digits(text) < LEAST_DIGITS))
        return;
    if (value == LOG_STEPS_PER_S)
        log_step_set(step, LOG_STEP_S, 1 / rate);
    else
        log_step_set(step, LOG_RUN_S, 1 / rate); // per step, until its number is known
}

// "0.000" of a learning rate says only that it has more decimals.
static bool is_rounded_away(const struct log_field *field, double number, struct str value)
{
    size_t dot = str_find(value, STR(".000"));
    return field->value == LOG_LEARNING_RATE && number == 0 && dot < value.len &&
           str_find(value, STR("E")) == SIZE_MAX && str_find(value, STR("e")) == SIZE_MAX;
}

// What a program prints while it has no rate yet, or does not see the memory of its device.
static bool is_none(const struct log_field *field, double number)
{
    return number == 0 &&
           (field->value == LOG_TOKENS_PER_S || field->value == LOG_MFU ||
            field->value == LOG_JOB_TOKENS_PER_S || field->value == LOG_MEMORY_BYTES);
}

// False if the value is garbled.
static bool take_value(const struct log_field *field, struct str value, struct log_step *step)
{
    double number, factor = 1;
    struct str rest;
    bool has = field->value >= 0 && log_step_has(step, (enum log_value)field->value);
    if (field->value == LOG_UNUSED || (has && field->value != LOG_MEMORY_BYTES))
        return true;
    if (field->value == LOG_ITS_STEP)
        return take_step_number(value, step);
    enum log_number found = log_number(without_type(value), &number, &rest);
    if (found != LOG_NUMBER || !ends_number(field->units, rest, &factor))
        return found == LOG_NO_NUMBER;
    number *= field->scale * factor;
    if (field->value == LOG_LOSS_IF_ANY && number != -1)
        log_step_set(step, LOG_LOSS, number);
    if (field->value == LOG_STEPS_PER_S || field->value == LOG_ALL_STEPS_PER_S)
        take_rate(field->value, number, value, step);
    if (field->value < 0 || (field->value == LOG_MFU && number < 0) ||
        is_rounded_away(field, number, value) || is_none(field, number))
        return true;
    if (has) // of several figures of memory the highest
        number = fmax(number, step->values[field->value]);
    log_step_set(step, (enum log_value)field->value, number);
    if (field->value == LOG_JOB_TOKENS_PER_S && rest.len && *rest.at == '(' &&
        log_number(log_from(rest, 1), &number, &rest) == LOG_NUMBER)
        log_step_set(step, LOG_COPY_TOKENS_PER_S, number);
    return true;
}

// The job ran for as many steps at the mean time of one.
static void take_run(struct log_step *step)
{
    step->values[LOG_RUN_S] *= (double)(step->step > 0 ? step->step : 0);
    if (step->step <= 0)
        step->has &= ~(1u << LOG_RUN_S);
}

// A key that comes twice belongs to another line that was written into this one.
static bool take_fields(const struct log_dialect *dialect, struct log_fields *fields,
                        struct log_hints *hints, struct log_step *step)
{
    struct str key, value;
    uint64_t seen = 0;
    bool mean_rate = false;
    for (size_t i = 0; i < LOG_MOST_FIELDS && log_fields_next(fields, &key, &value); i++) {
        size_t row = row_of(dialect, key, &hints->rows[i]);
        if (row == dialect->field_count)
            continue;
        if (seen >> row & 1 || !take_value(&dialect->fields[row], value, step))
            return false;
        seen |= UINT64_C(1) << row;
        mean_rate = mean_rate || dialect->fields[row].value == LOG_ALL_STEPS_PER_S;
    }
    if (mean_rate)
        take_run(step);
    return (step->has & dialect->needs) == dialect->needs;
}

// --- lines --------------------------------------------------------------------------------------

// What follows the number of a step: "/100", " |", ".000", ":", a quote in JSON. Lightning prints
// "1.23e+4" for 12,345, which is not exact.
static bool ends_step(struct str rest)
{
    bool fraction = rest.len && *rest.at == '.';
    while (rest.len && (*rest.at == '0' || *rest.at == '.'))
        rest = log_from(rest, 1);
    if (fraction && rest.len && (str_is_digit(*rest.at) || *rest.at == 'e'))
        return false;
    return rest.len == 0 || fraction || memchr(" /|,:\"", *rest.at, 6);
}

static struct str without_colon(struct str text)
{
    return text.len && *text.at == ':' ? log_from(text, 1) : text;
}

// "12345", or "12,345".
static bool count_step(struct str text, int64_t *step, struct str *rest)
{
    int64_t group;
    bool found = log_count(text, step, rest), grouped = *step < 1000;
    while (found && grouped && log_is_group(*rest, 0))
        found = log_count(log_from(*rest, 1), &group, rest) &&
                !__builtin_mul_overflow(*step, 1000, step) &&
                !__builtin_add_overflow(*step, group, step);
    return found;
}

// The number of the step, what follows it, and in *at where its name is.
static bool find_step(const struct log_dialect *dialect, const char *step_name, struct str text,
                      struct log_step *step, size_t *at)
{
    struct str name = str_of(step_name), after = text, rest;
    bool bracket = str_ends_with(name, STR("[")) && step_name != dialect->in_epoch;
    for (;;) {
        size_t found = str_find(after, name);
        if (found == SIZE_MAX)
            return false;
        *at = (size_t)(after.at - text.at) + found;
        after = log_from(text, *at + name.len);
        bool other = dialect->not_after &&
                     str_ends_with((struct str){text.at, *at}, str_of(dialect->not_after));
        if (!other && count_step(without_colon(after), &step->step, &rest) &&
            (ends_step(rest) || (bracket && str_starts_with(rest, STR("]")))))
            return true;
    }
}

// The number after a text, and a bracket: "Epoch 2", "Epoch: [2/100]", "Epoch(train)   [2]".
static bool number_after(struct str text, const char *after, int64_t *number)
{
    struct str rest;
    size_t at = str_find(text, str_of(after));
    if (at == SIZE_MAX)
        return false;
    for (text = log_from(text, at + strlen(after)); text.len && memchr(" [", *text.at, 2);)
        text = log_from(text, 1);
    return log_count(text, number, &rest);
}

// "Epoch 2:  12%| | 3/25 [": the 53rd step, if epochs have 25 each. `at`: of what is before the 3.
// Without the 25 only the steps of the first epoch have numbers.
static void count_epochs(const struct log_dialect *dialect, struct str text, size_t at,
                         struct log_step *step)
{
    int64_t epoch, total, ignored;
    struct str rest = without_colon(log_from(text, at + strlen(dialect->in_epoch)));
    bool has = number_after(text, dialect->epoch, &epoch) && epoch >= dialect->first_epoch;
    if (has && epoch == dialect->first_epoch)
        return;
    if (!has || !log_count(rest, &ignored, &rest) || !str_starts_with(rest, STR("/")) ||
        !log_count(log_from(rest, 1), &total, &rest) ||
        __builtin_mul_overflow(epoch - dialect->first_epoch, total, &total) ||
        __builtin_add_overflow(step->step, total, &step->step))
        step->step = LOG_NO_STEP;
}

// The number within an epoch, or of a bar, which is "12% 3/25" in notebooks. A bar at 0 has the
// figures of the one before it.
static bool number_in_epoch(const struct log_dialect *dialect, struct str text,
                            struct log_step *step, size_t *at)
{
    bool found = find_step(dialect, dialect->in_epoch, text, step, at) ||
                 (dialect->bar && find_step(dialect, "% ", text, step, at));
    if (!found || (dialect->bar && step->step == 0))
        return false;
    if (dialect->epoch)
        count_epochs(dialect, text, *at, step);
    return true;
}

static bool number_step(const struct log_dialect *dialect, struct str text, struct log_step *step,
                        size_t *at)
{
    *at = 0;
    step->step = LOG_NO_STEP;
    for (size_t i = 0; i < 2 && dialect->steps[i]; i++)
        if (find_step(dialect, dialect->steps[i], text, step, at)) {
            step->step += dialect->counts_before && step->step < INT64_MAX;
            return true;
        }
    return dialect->in_epoch ? number_in_epoch(dialect, text, step, at) : !dialect->steps[0];
}

// The part of a line that has the fields; false if it is not complete.
static bool find_fields(const struct log_dialect *dialect, struct str text, size_t at,
                        struct str *part)
{
    size_t mark = str_find(text, str_of(dialect->mark)), close = 0;
    bool whole = dialect->style == LOG_BARS || dialect->whole;
    *part = log_from(text, whole ? 0 : at);
    if (dialect->below)
        *part = log_from(text, mark < text.len ? mark : text.len);
    if (dialect->style != LOG_DICT)
        return true;
    struct str after = log_from(text, mark);
    const char *open = mark == SIZE_MAX ? NULL : memrchr(text.at, '{', mark);
    if (!open && after.len) // behind the number of the step
        open = memchr(after.at, '{', after.len);
    close = str_find(after, STR("}"));
    if (!open || close == SIZE_MAX || after.at + close < open)
        return false;
    *part = (struct str){open + 1, (size_t)(after.at + close - open) - 1};
    return true;
}

// Whether a progress bar, of which any loop may have one, is that of an epoch of training.
static bool is_training_bar(struct str text, const char *mark)
{
    static const char *const others[] = {"Valid", "Eval", "Test"};
    size_t end = str_find(text, str_of(mark));
    struct str before = {text.at, end < text.len ? end : text.len};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (str_find(before, str_of(others[i])) != SIZE_MAX)
            return false;
    return str_find(before, STR("Epoch ")) != SIZE_MAX;
}

// A step takes as long as all of its batches.
static bool take_batches(const struct log_dialect *dialect, struct str text, struct log_step *step)
{
    size_t at;
    struct log_step batches = {.step = LOG_NO_STEP};
    if (str_find(text, STR("(step)")) == SIZE_MAX || step->step <= 0 ||
        !find_step(dialect, dialect->batches, text, &batches, &at))
        return false;
    if (batches.step % step->step == 0)
        step->values[LOG_STEP_S] *= (double)(batches.step / step->step);
    else
        step->has &= ~(1u << LOG_STEP_S);
    return true;
}

static void take_bar_time(struct str text, struct log_step *step)
{
    struct log_bar bar;
    step->bar_time = !log_step_has(step, LOG_STEP_S);
    if (step->bar_time && log_bar_find(&text, &bar) && bar.seconds > 0)
        log_step_set(step, LOG_STEP_S, bar.seconds);
}

bool log_dialect_read(const struct log_dialect *dialect, const struct log_written *line,
                      struct log_hints *hints, struct log_step *step, bool *utc)
{
    size_t at;
    struct str text = line->text, part;
    *step = (struct log_step){.step = LOG_NO_STEP, .time_ns = LOG_NO_TIME, .rank = -1};
    if (dialect->any_bar && !is_training_bar(text, dialect->mark))
        return false;
    if (!number_step(dialect, text, step, &at) || !find_fields(dialect, text, at, &part))
        return false;
    struct log_fields fields = {dialect->style, part, line->ended || dialect->style == LOG_DICT};
    if (!take_fields(dialect, &fields, hints, step) ||
        (dialect->batches && !take_batches(dialect, text, step)))
        return false;
    if (dialect->bar)
        take_bar_time(text, step);
    if (!step->has && !dialect->heads && !dialect->block)
        return false;
    struct log_prefix prefix = log_prefix_of(text);
    step->rank = prefix.rank;
    step->time_ns = prefix.time_ns;
    *utc = prefix.utc;
    return true;
}

bool log_dialect_below(const struct log_dialect *dialect, const struct log_written *line,
                       struct log_step *step)
{
    enum { MOST_PREFIXES = 8 }; // a launcher's labels may look like fields
    struct str key, value, text = line->text;
    struct log_fields fields = {dialect->style, text, line->ended};
    unsigned char hint = 0;
    *step = (struct log_step){.step = LOG_NO_STEP, .time_ns = LOG_NO_TIME, .rank = -1};
    if (!text.len || !memchr(text.at, dialect->style == LOG_ASSIGN ? '=' : ':', text.len))
        return false;
    for (size_t i = 0; i < MOST_PREFIXES && log_fields_next(&fields, &key, &value); i++) {
        size_t row = row_of(dialect, key, &hint);
        if (row < dialect->field_count && !take_value(&dialect->fields[row], value, step))
            step->has = 0;
    }
    return true;
}
