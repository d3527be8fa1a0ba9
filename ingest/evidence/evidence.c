// SPDX-License-Identifier: Apache-2.0
#include "ingest/evidence/evidence.h"

#include "ingest/base/buf.h"
#include "ingest/base/secrets.h"

enum { MOST_TEXT = 1024, MOST_LINE = 240, MOST_SETTINGS = 10000 };

void evidence_init(struct evidence *evidence, struct budget *budget)
{
    *evidence = (struct evidence){
        .budget = budget, .source = STR(""), .flight.rank = -1, .metrics.rank = -1};
    arena_init(&evidence->arena, budget);
}

void evidence_free(struct evidence *evidence)
{
    struct budget *budget = evidence->budget;
    struct log_book *log = &evidence->log;
    budget_free(budget, log->steps, log->step_cap * sizeof *log->steps);
    budget_free(budget, log->events, log->event_cap * sizeof *log->events);
    metric_book_free(&evidence->metrics, budget);
    flight_free(&evidence->flight, budget);
    budget_free(budget, evidence->settings, evidence->setting_cap * sizeof *evidence->settings);
    link_tests_free(&evidence->links, budget);
    samples_free(&evidence->samples, budget);
    arena_free(&evidence->arena);
}

// --- texts --------------------------------------------------------------------------------------

static struct str cut(struct str text, size_t most)
{
    size_t len = text.len > most ? str_valid_utf8((struct str){text.at, most}) : text.len;
    return (struct str){text.at, len};
}

// Secrets go before the text is cut: half of one no longer looks like one. name: that of a setting,
// which may give its value away; or empty.
static bool keep(struct evidence *evidence, struct str name, struct str raw, struct str *text,
                 struct err *err)
{
    struct buf shown = {0}, clean = {0};
    *text = STR("");
    if (raw.len == 0)
        return true;
    buf_add_shown(&shown, raw);
    secrets_redact_value(name, (struct str){shown.at, shown.len}, &clean);
    bool ok = buf_ok(&shown, err) && buf_ok(&clean, err);
    struct str kept = cut((struct str){clean.at, clean.len}, MOST_TEXT);
    char *copy = ok ? arena_strdup(&evidence->arena, kept, err) : NULL;
    *text = (struct str){copy, kept.len};
    buf_free(&shown);
    buf_free(&clean);
    return copy;
}

bool evidence_text(struct evidence *evidence, struct str raw, struct str *text, struct err *err)
{
    return keep(evidence, STR(""), raw, text, err);
}

// --- settings -----------------------------------------------------------------------------------

static struct evidence_setting *find_setting(const struct evidence *evidence, struct str name)
{
    for (size_t i = 0; i < evidence->setting_count; i++)
        if (str_equal(evidence->settings[i].name, name))
            return &evidence->settings[i];
    return NULL;
}

static bool add_setting(struct evidence *evidence, const struct evidence_setting *setting,
                        struct err *err)
{
    if (evidence->setting_count >= MOST_SETTINGS)
        return true;
    struct evidence_setting *grown =
        budget_room(evidence->budget, evidence->settings, &evidence->setting_cap,
                    evidence->setting_count + 1, sizeof *grown, err);
    if (!grown)
        return false;
    evidence->settings = grown;
    evidence->settings[evidence->setting_count++] = *setting;
    return true;
}

bool evidence_set(struct evidence *evidence, struct str name, struct str value, struct err *err)
{
    struct evidence_setting setting;
    if (!evidence_text(evidence, name, &setting.name, err) ||
        !keep(evidence, name, value, &setting.value, err))
        return false;
    struct evidence_setting *before = find_setting(evidence, setting.name);
    if (!before)
        return add_setting(evidence, &setting, err);
    *before = setting;
    return true;
}

// --- training logs ------------------------------------------------------------------------------

bool log_book_add(struct evidence *evidence, const struct log_step *step, struct err *err)
{
    struct log_book *log = &evidence->log;
    struct log_step *grown = budget_room(evidence->budget, log->steps, &log->step_cap,
                                         log->step_count + 1, sizeof *grown, err);
    if (!grown)
        return false;
    log->steps = grown;
    log->steps[log->step_count++] = *step;
    return true;
}

bool log_book_note(struct evidence *evidence, const struct log_event *event, struct err *err)
{
    struct log_book *log = &evidence->log;
    struct log_event *grown = budget_room(evidence->budget, log->events, &log->event_cap,
                                          log->event_count + 1, sizeof *grown, err);
    if (!grown)
        return false;
    log->events = grown;
    struct log_event *added = &log->events[log->event_count];
    *added = *event;
    if (!evidence_text(evidence, event->text, &added->text, err))
        return false;
    added->text = cut(added->text, MOST_LINE);
    log->event_count++;
    return true;
}
