// SPDX-License-Identifier: Apache-2.0
#include "ingest/evidence/evidence.h"

#include "ingest/base/buf.h"
#include "ingest/base/secrets.h"

#include <math.h>

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
    memory_snapshot_free(evidence->memory, budget);
    budget_free(budget, evidence->settings, evidence->setting_cap * sizeof *evidence->settings);
    budget_free(budget, evidence->results, evidence->result_cap * sizeof *evidence->results);
    link_tests_free(&evidence->links, budget);
    samples_free(&evidence->samples, budget);
    kernel_profiles_free(&evidence->profiles, budget);
    strtab_free(&evidence->names);
    arena_free(&evidence->arena);
}

// --- texts --------------------------------------------------------------------------------------

static struct str cut(struct str text, size_t most)
{
    size_t len = text.len > most ? str_valid_utf8((struct str){text.at, most}) : text.len;
    return (struct str){text.at, len};
}

// Secrets go before the text is cut: half of one no longer looks like one. name: that of a setting,
// which may give its value away; or empty. clean is the caller's to free, also on failure.
static bool make_fit(struct str name, struct str raw, struct buf *clean, struct err *err)
{
    struct buf shown = {0};
    if (raw.len) {
        buf_add_shown(&shown, raw);
        secrets_redact_value(name, (struct str){shown.at, shown.len}, clean);
    }
    bool ok = buf_ok(&shown, err) && buf_ok(clean, err);
    buf_free(&shown);
    clean->len = clean->len ? cut((struct str){clean->at, clean->len}, MOST_TEXT).len : 0;
    return ok;
}

static bool keep(struct evidence *evidence, const struct buf *clean, struct str *text,
                 struct err *err)
{
    *text = STR("");
    if (clean->len == 0)
        return true;
    text->at = arena_strdup(&evidence->arena, (struct str){clean->at, clean->len}, err);
    text->len = text->at ? clean->len : 0;
    return text->at;
}

bool evidence_text(struct evidence *evidence, struct str raw, struct str *text, struct err *err)
{
    struct buf clean = {0};
    bool ok = make_fit(STR(""), raw, &clean, err) && keep(evidence, &clean, text, err);
    buf_free(&clean);
    return ok;
}

// --- settings -----------------------------------------------------------------------------------

static bool add_setting(struct evidence *evidence, struct str name, struct err *err)
{
    str_id id;
    struct evidence_setting setting = {.value = STR("")};
    struct evidence_setting *grown =
        budget_room(evidence->budget, evidence->settings, &evidence->setting_cap,
                    evidence->setting_count + 1, sizeof *grown, err);
    if (!grown)
        return false;
    evidence->settings = grown;
    setting.name.at = arena_strdup(&evidence->arena, name, err);
    setting.name.len = name.len;
    if (!setting.name.at || !strtab_intern(&evidence->names, name, &id, err))
        return false;
    evidence->settings[evidence->setting_count++] = setting;
    return true;
}

// Finds or adds the setting of a name that is fit to be stored; NULL if there are too many.
static bool find_setting(struct evidence *evidence, struct str name,
                         struct evidence_setting **setting, struct err *err)
{
    *setting = NULL;
    if (!evidence->names.slots && !strtab_init(&evidence->names, evidence->budget, err))
        return false;
    str_id id = strtab_find(&evidence->names, name);
    if (id == 0 && evidence->setting_count >= MOST_SETTINGS)
        return true;
    if (id == 0 && !add_setting(evidence, name, err))
        return false;
    *setting = &evidence->settings[id ? id - 1 : evidence->setting_count - 1];
    return true;
}

static bool set(struct evidence *evidence, struct str name, const struct buf *value,
                struct err *err)
{
    struct evidence_setting *setting;
    if (name.len == 0)
        return true;
    if (!find_setting(evidence, name, &setting, err))
        return false;
    bool same = !setting || str_equal(setting->value, (struct str){value->at, value->len});
    return same || keep(evidence, value, &setting->value, err);
}

bool evidence_set(struct evidence *evidence, struct str name, struct str value, struct err *err)
{
    struct buf clean_name = {0}, clean_value = {0};
    bool ok = make_fit(STR(""), name, &clean_name, err) &&
              make_fit(name, value, &clean_value, err) &&
              set(evidence, (struct str){clean_name.at, clean_name.len}, &clean_value, err);
    buf_free(&clean_name);
    buf_free(&clean_value);
    return ok;
}

bool evidence_add_result(struct evidence *evidence, struct str name, double value, const char *unit,
                         struct err *err)
{
    if (evidence->result_count >= MOST_SETTINGS || !isfinite(value))
        return true;
    struct evidence_result *grown =
        budget_room(evidence->budget, evidence->results, &evidence->result_cap,
                    evidence->result_count + 1, sizeof *grown, err);
    if (!grown)
        return false;
    evidence->results = grown;
    struct evidence_result *added = &grown[evidence->result_count];
    *added = (struct evidence_result){.unit = unit, .value = value};
    if (!evidence_text(evidence, name, &added->name, err))
        return false;
    evidence->result_count++;
    return true;
}

// --- training logs ------------------------------------------------------------------------------

void log_step_fill(struct log_step *step, const struct log_step *from)
{
    for (unsigned value = 0; value < LOG_VALUES; value++)
        if (log_step_has(from, value) && !log_step_has(step, value))
            log_step_set(step, value, from->values[value]);
    step->rank = step->rank < 0 ? from->rank : step->rank;
    step->time_ns = step->time_ns == LOG_NO_TIME ? from->time_ns : step->time_ns;
}

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
