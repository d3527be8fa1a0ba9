// SPDX-License-Identifier: Apache-2.0
// The text that a training job prints.
#include "ingest/evidence/evidence.h"
#include "ingest/source/format.h"
#include "ingest/json/json_outline.h"
#include "ingest/logs/log_figures.h"
#include "ingest/logs/log_has_step.h"
#include "ingest/logs/log_reader.h"
#include "ingest/source/evidence_count.h"

static bool count_log(const struct format_input *input, struct err *err)
{
    struct evidence evidence;
    figures_add(input->figures, 0, "lines_by_kind" IN);
    bool ok = evidence_gathered(input, log_read, &evidence, err) &&
              log_report(&evidence, input->figures, err);
    evidence_free(&evidence);
    return ok;
}

static bool is_text(struct str head)
{
    for (size_t i = 0; i < head.len; i++)
        if ((unsigned char)head.at[i] < ' ' && !memchr("\t\n\r\f\b\x1b", head.at[i], 6))
            return false;
    return head.len > 0;
}

static bool is_named_like_one(struct str name)
{
    static const char *const words[] = {"log", ".out", ".err", ".txt", "stdout", "stderr"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_contains_nocase(name, str_of(words[i])))
            return true;
    return false;
}

// Text with a step at its start, or with a name like that of a log: the first step may come late.
static enum format_likeness probe_log(const struct format_sample *sample)
{
    bool more = sample->outline->ended && sample->outline->after;
    bool prefixed = more && sample->outline->root == '['; // "[1,0]<stdout>: ..."
    bool fairseq = more && json_outline_has(sample->outline, "num_updates");
    if (sample->outline->json && !prefixed && !fairseq)
        return FORMAT_UNLIKE;
    if (log_has_step(sample->head))
        return FORMAT_SURE;
    return is_text(sample->head) && is_named_like_one(sample->filename) ? FORMAT_PERHAPS
                                                                        : FORMAT_UNLIKE;
}

const struct format format_training_log = {
    .name = "training-log",
    .what = "the log of a training job",
    .kind = FORMAT_TEXT,
    .probe = probe_log,
    .count = count_log,
    .gather = log_read,
};
