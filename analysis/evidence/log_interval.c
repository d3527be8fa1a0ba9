// SPDX-License-Identifier: Apache-2.0
#include "analysis/evidence/log_interval.h"

#include "analysis/evidence/log_values.h"

#include <string.h>

static bool is_nemo(const struct log_line *line)
{
    return line->printed->writer && strcmp(line->printed->writer, "nemo2") == 0;
}

// Whether lines are of several steps each.
static bool has_intervals(const struct log_sequence *sequence)
{
    bool several = false;
    for (size_t i = 1; i < sequence->count; i++) {
        const struct log_line *line = &sequence->lines[i];
        if (!is_nemo(line) || line->segment != line[-1].segment)
            continue;
        if (line->step - 1 == line[-1].step)
            return false;
        several = true;
    }
    return several;
}

// 0 unknown.
static double batch_of(const struct log_line *line)
{
    return log_has_whole(line->printed, LOG_GLOBAL_BATCH) ? line->printed->values[LOG_GLOBAL_BATCH]
                                                          : 0;
}

// How many of the usual number of steps are in a line: the size of a batch is one of the figures,
// and differs from that of the lines around by as much. It may grow, but not for a line alone.
static double share_of(const struct log_sequence *sequence, size_t at)
{
    const struct log_line *line = &sequence->lines[at];
    bool first = at == 0 || line->segment != line[-1].segment;
    size_t last = at + (first ? 2 : 1);
    if (last >= sequence->count || sequence->lines[last].segment != line->segment)
        return 1;
    double usual = batch_of(&line[1]), batch = batch_of(line);
    bool alone = usual == batch_of(first ? &line[2] : &line[-1]);
    bool is = alone && usual > 0 && batch > 0 && (!first || batch < usual);
    return is ? batch / usual : 1;
}

bool log_interval_correct(struct log_sequence *sequence, struct arena *arena, struct err *err)
{
    if (!has_intervals(sequence))
        return true;
    struct log_step *means = arena_array(arena, sequence->count, sizeof *means, err);
    for (size_t i = 0; means && i < sequence->count; i++) {
        struct log_line *line = &sequence->lines[i];
        double share = share_of(sequence, i);
        if (!is_nemo(line))
            continue;
        means[i] = *line->printed;
        means[i].has &= ~(1u << LOG_CONSUMED_SAMPLES);
        for (size_t value = 0; value < LOG_VALUES; value++)
            means[i].values[value] /= share;
        if (share != 1) // whole, as that of the lines around
            means[i].values[LOG_GLOBAL_BATCH] = round(means[i].values[LOG_GLOBAL_BATCH]);
        line->printed = &means[i];
    }
    sequence->corrected = true;
    return means;
}
