// SPDX-License-Identifier: Apache-2.0
#include "ingest/logs/log_validation.h"

#include "ingest/logs/log_text.h"

enum { MOST = 1 << 30 }; // batches of an epoch, and epochs

void log_validation_bar(struct log_validation *validation, struct str text)
{
    struct log_bar bar;
    if (!log_bar_of(text, true, &bar) || bar.total > MOST || validation->before > MOST)
        return;
    if (bar.step < validation->at) // another one
        validation->before += validation->total;
    validation->at = bar.step;
    validation->total = bar.total;
}

// The steps before an epoch: after those of the epoch before it, or by how many each epoch had so
// far; of the first in the file all batches count.
static int64_t steps_before(const struct log_validation *validation, int64_t epoch, int64_t all)
{
    int64_t validated = validation->counted ? validation->before + validation->total : 0;
    int64_t length = validation->all > validated ? validation->all - validated : all;
    if (validation->epoch >= 0 && epoch == validation->epoch + 1)
        return validation->begin + length;
    return epoch * (validation->epoch > 0 ? validation->begin / validation->epoch : length);
}

static void begin_epoch(struct log_validation *validation, int64_t epoch, int64_t all)
{
    *validation = (struct log_validation){.epoch = epoch,
                                          .begin = steps_before(validation, epoch, all),
                                          .counted = validation->counted};
}

// Of a validation that is over, the training's bar may have moved on as far by chance, but then its
// loss is another.
static bool may_be_within(const struct log_validation *validation, const struct log_step *last,
                          const struct log_step *step)
{
    bool losses = last && log_step_has(last, LOG_LOSS) && log_step_has(step, LOG_LOSS);
    if (losses)
        return last->values[LOG_LOSS] == step->values[LOG_LOSS];
    return validation->at < validation->total;
}

// Whether the training's bar moved on by what was validated.
static bool moved_along(const struct log_validation *validation, const struct log_bar *bar,
                        int64_t validated)
{
    int64_t batches = validated - validation->validated;
    bool more = batches > 1 || validation->at < validation->total;
    return more && validation->count > 0 && batches > 0 && bar->step - validation->count == batches;
}

void log_validation_number(struct log_validation *validation, struct str text,
                           const struct log_step *last, struct log_step *step)
{
    struct log_bar bar;
    if (step->step == LOG_NO_STEP || str_find(text, STR("global_step=")) != SIZE_MAX ||
        !log_bar_of(text, true, &bar) || bar.total <= 0 || bar.total > MOST ||
        step->step < bar.step || (step->step - bar.step) % bar.total != 0)
        return;
    int64_t epoch = (step->step - bar.step) / bar.total;
    if (epoch > MOST)
        return;
    if (epoch != validation->epoch)
        begin_epoch(validation, epoch, bar.total);
    int64_t validated = validation->before + validation->at;
    if (moved_along(validation, &bar, validated) && may_be_within(validation, last, step))
        validation->counted = true;
    validation->count = bar.step;
    validation->all = bar.total;
    validation->validated = validated;
    if (validation->counted && validated < bar.step)
        step->step = validation->begin + bar.step - validated;
}
