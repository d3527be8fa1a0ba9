// SPDX-License-Identifier: Apache-2.0
#include "ingest/logs/log_figures.h"

#include "ingest/logs/log_text.h"

#include <math.h>
#include <stdlib.h>

// Steps of one framework, and room for a value of each.
struct group {
    const struct log_book *log;
    const char *writer;
    struct figures *figures;
    double *values;
};

static bool is_of(const struct group *group, const struct log_step *step)
{
    return strcmp(step->writer, group->writer) == 0;
}

struct value_figures {
    size_t count;
    double first, last, least, median, most, sum;
};

static int compare_values(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

// The median is the mean of the two in the middle, as in scripts that people compare with.
static struct value_figures figures_of(struct group *group, enum log_value value)
{
    struct value_figures found = {0};
    for (size_t i = 0; i < group->log->step_count; i++) {
        const struct log_step *step = &group->log->steps[i];
        if (is_of(group, step) && log_step_has(step, value) && isfinite(step->values[value]))
            group->values[found.count++] = step->values[value];
    }
    if (!found.count)
        return found;
    found.first = group->values[0];
    found.last = group->values[found.count - 1];
    for (size_t i = 0; i < found.count; i++)
        found.sum += group->values[i];
    qsort(group->values, found.count, sizeof *group->values, compare_values);
    size_t half = found.count / 2;
    found.least = group->values[0];
    found.most = group->values[found.count - 1];
    found.median =
        found.count % 2 ? group->values[half] : (group->values[half - 1] + group->values[half]) / 2;
    return found;
}

static void put_real(const struct group *group, bool known, double value, const char *name)
{
    if (known)
        figures_real(group->figures, value, "%s" IN "%s", group->writer, name);
}

static void put_count(const struct group *group, bool known, int64_t value, const char *name)
{
    if (known)
        figures_add(group->figures, value, "%s" IN "%s", group->writer, name);
}

// --- numbers of steps ---------------------------------------------------------------------------

struct step_numbers {
    int64_t lines, first, last, most, distinct, goes_back;
};

static struct step_numbers numbers_of(const struct group *group)
{
    struct step_numbers found = {.most = INT64_MIN};
    for (size_t i = 0; i < group->log->step_count; i++) {
        const struct log_step *step = &group->log->steps[i];
        if (!is_of(group, step))
            continue;
        found.first = found.lines ? found.first : step->step;
        found.goes_back += found.lines && step->step <= found.last;
        found.distinct += step->step > found.most;
        found.most = step->step > found.most ? step->step : found.most;
        found.last = step->step;
        found.lines++;
    }
    return found;
}

static void list_steps(const struct group *group)
{
    int64_t place = 0;
    for (size_t i = 0; i < group->log->step_count; i++)
        if (is_of(group, &group->log->steps[i]))
            figures_add(group->figures, group->log->steps[i].step, "%s" IN "steps" IN "%lld",
                        group->writer, (long long)place++);
}

// --- each framework -----------------------------------------------------------------------------

static void put_megatron(struct group *group, const struct step_numbers *numbers)
{
    struct value_figures time = figures_of(group, LOG_STEP_S), loss = figures_of(group, LOG_LOSS);
    struct value_figures tflops = figures_of(group, LOG_TFLOPS);
    struct value_figures tokens = figures_of(group, LOG_TOKENS_PER_S);
    put_count(group, true, numbers->first, "first_iter");
    put_count(group, true, numbers->last, "last_iter");
    put_count(group, true, numbers->goes_back, "goes_back");
    put_real(group, time.count, time.median * 1e3, "median_ms");
    put_real(group, time.count, time.least * 1e3, "min_ms");
    put_real(group, time.count, time.most * 1e3, "max_ms");
    put_count(group, true, (int64_t)loss.count, "with_loss");
    put_real(group, loss.count, loss.last, "last_loss");
    put_count(group, true, (int64_t)figures_of(group, LOG_SKIPPED).sum, "skipped_sum");
    put_count(group, true, (int64_t)figures_of(group, LOG_NAN).sum, "nan_sum");
    put_real(group, tflops.count, tflops.median, "median_tflops");
    put_real(group, tokens.count, tokens.median, "median_tps");
    struct value_figures batch = figures_of(group, LOG_GLOBAL_BATCH);
    figures_list(group->figures, "%s" IN "gbs" IN, group->writer);
    for (size_t i = 0, place = 0; i < batch.count; i++) // sorted by figures_of
        if (i == 0 || group->values[i] != group->values[i - 1])
            figures_add(group->figures, (int64_t)group->values[i], "%s" IN "gbs" IN "%zu",
                        group->writer, place++);
}

static void put_torchtitan(struct group *group, const struct step_numbers *numbers)
{
    struct value_figures tokens = figures_of(group, LOG_TOKENS_PER_S);
    struct value_figures loss = figures_of(group, LOG_LOSS), mfu = figures_of(group, LOG_MFU);
    struct value_figures memory = figures_of(group, LOG_MEMORY_BYTES);
    struct value_figures tflops = figures_of(group, LOG_TFLOPS);
    put_count(group, true, numbers->distinct, "distinct_steps");
    put_count(group, true, numbers->first, "first_step");
    put_count(group, true, numbers->last, "last_step");
    put_real(group, tokens.count, tokens.median, "median_tps");
    put_real(group, loss.count, loss.last, "last_loss");
    put_real(group, memory.count, memory.most / 0x1p30, "max_mem_gib");
    put_real(group, mfu.count, mfu.median * 100, "median_mfu");
    put_real(group, tflops.count, tflops.median, "median_tflops");
}

static void put_deepspeed(struct group *group, const struct step_numbers *numbers)
{
    struct value_figures mean = figures_of(group, LOG_MEAN_SAMPLES_PER_S);
    struct value_figures current = figures_of(group, LOG_SAMPLES_PER_S);
    (void)numbers;
    list_steps(group);
    put_real(group, mean.count, mean.last, "last_avg_sps");
    put_real(group, current.count, current.median, "median_curr_sps");
}

static void put_nemo(struct group *group, const struct step_numbers *numbers)
{
    struct value_figures time = figures_of(group, LOG_STEP_S), loss = figures_of(group, LOG_LOSS);
    put_count(group, true, numbers->most, "max_global_step");
    put_count(group, true, numbers->goes_back, "goes_back");
    put_real(group, time.count, time.median, "median_s");
    put_real(group, loss.count, loss.first, "first_loss");
    put_real(group, loss.count, loss.last, "last_loss");
}

static void put_automodel(struct group *group, const struct step_numbers *numbers)
{
    struct value_figures loss = figures_of(group, LOG_LOSS);
    struct value_figures job = figures_of(group, LOG_JOB_TOKENS_PER_S);
    struct value_figures tokens = figures_of(group, LOG_TOKENS_PER_S);
    put_count(group, true, numbers->first, "first_step");
    put_count(group, true, numbers->last, "last_step");
    put_real(group, loss.count, loss.last, "last_loss");
    put_real(group, job.count, job.median, "median_tps");
    put_real(group, tokens.count, tokens.median, "median_tps_gpu");
}

static void put_trainer(struct group *group, const struct step_numbers *numbers)
{
    struct value_figures loss = figures_of(group, LOG_LOSS);
    (void)numbers;
    put_real(group, loss.count, loss.first, "first_loss");
    put_real(group, loss.count, loss.last, "last_loss");
}

static void put_maxtext(struct group *group, const struct step_numbers *numbers)
{
    struct value_figures time = figures_of(group, LOG_STEP_S), loss = figures_of(group, LOG_LOSS);
    struct value_figures tflops = figures_of(group, LOG_TFLOPS);
    put_count(group, true, numbers->first, "first_step");
    put_count(group, true, numbers->last, "last_step");
    put_real(group, time.count, time.median, "median_s");
    put_real(group, tflops.count, tflops.median, "median_tflops");
    put_real(group, loss.count, loss.last, "last_loss");
}

static const struct {
    const char *writer;
    void (*put)(struct group *group, const struct step_numbers *numbers);
} writers[] = {{"megatron", put_megatron},   {"torchtitan", put_torchtitan},
               {"deepspeed", put_deepspeed}, {"nemo2", put_nemo},
               {"automodel", put_automodel}, {"hf", put_trainer},
               {"maxtext", put_maxtext},     {"nanotron", put_nemo}};

// --- beside steps -------------------------------------------------------------------------------

// Of the dicts that Hugging Face's Trainer prints, those that are no step count as its lines.
static void put_end_of_trainer(const struct evidence *evidence, struct figures *figures)
{
    for (size_t i = 0; i < evidence->setting_count; i++) {
        const struct evidence_setting *setting = &evidence->settings[i];
        double number;
        if (!str_starts_with(setting->name, STR("train_")) || !log_number(setting->value, &number))
            continue;
        figures_real(figures, number, "hf" IN "%.*s", (int)setting->name.len, setting->name.at);
        if (str_equal(setting->name, STR("train_runtime"))) {
            figures_add(figures, 1, "hf" IN "records");
            figures_add(figures, 1, "lines_by_kind" IN "hf");
        }
    }
}

static const char *const event_words[LOG_EVENT_KINDS] = {
    [LOG_CHECKPOINT] = "checkpoints",
    [LOG_EVALUATION] = "evaluations",
    [LOG_GARBAGE] = "garbage_collections",
    [LOG_PROFILER] = "profiler_dumps",
    [LOG_FAULT] = "faults",
};

bool log_figures_add(const struct evidence *evidence, struct figures *figures, struct err *err)
{
    const struct log_book *log = &evidence->log;
    struct group group = {.log = log, .figures = figures};
    size_t bytes = (log->step_count + 1) * sizeof *group.values;
    group.values = budget_alloc(evidence->budget, bytes, err);
    if (!group.values)
        return false;
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
        group.writer = writers[i].writer;
        struct step_numbers numbers = numbers_of(&group);
        if (!numbers.lines)
            continue;
        figures_add(figures, numbers.lines, "lines_by_kind" IN "%s", group.writer);
        put_count(&group, true, numbers.lines, "records");
        writers[i].put(&group, &numbers);
    }
    put_end_of_trainer(evidence, figures);
    for (size_t i = 0; i < log->event_count; i++)
        figures_add(figures, 1, "%s", event_words[log->events[i].kind]);
    budget_free(evidence->budget, group.values, bytes);
    return true;
}
