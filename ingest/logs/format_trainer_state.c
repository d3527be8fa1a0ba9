// SPDX-License-Identifier: Apache-2.0
// trainer_state.json of Hugging Face's Trainer: what it logged, in a list, and some settings.
#include "ingest/json/json_cursor.h"
#include "ingest/json/json_outline.h"
#include "ingest/logs/log_text.h"
#include "ingest/logs/metric_tags.h"
#include "ingest/source/evidence_count.h"

#include <math.h>
#include <stdio.h>

enum { MOST_MEMBERS = 256, MOST_KEY = 96, MOST_EVALUATIONS = 10000 };

#define WRITER "hf"

// A number of an item, whose step may come after it.
struct member {
    char key[MOST_KEY];
    size_t len;
    double number;
};

struct state {
    const struct format_input *input;
    struct evidence *evidence;
    struct json_cursor json;
    struct member *members;
    size_t member_count;
};

static struct str key_of(const struct member *member)
{
    return (struct str){member->key, member->len};
}

// NAN if the item has no such number.
static double number_of(const struct state *state, const char *key)
{
    for (size_t i = 0; i < state->member_count; i++)
        if (str_equal(key_of(&state->members[i]), str_of(key)))
            return state->members[i].number;
    return NAN;
}

static void read_item(struct state *state)
{
    struct str key;
    struct json_value value;
    double number;
    state->member_count = 0;
    while (json_cursor_member(&state->json, &key, &value)) {
        if (key.len <= MOST_KEY && state->member_count < MOST_MEMBERS &&
            value.type == JSON_SCALAR && log_is_number(value.text, &number)) {
            struct member *member = &state->members[state->member_count++];
            memcpy(member->key, key.at, key.len);
            member->len = key.len;
            member->number = number;
        }
        json_cursor_pass(&state->json, &value);
    }
}

static bool note_evaluation(struct state *state, double loss, int64_t step, uint64_t pos,
                            struct err *err)
{
    char text[64];
    double seconds = number_of(state, "eval_runtime");
    struct log_event event = {.kind = LOG_EVALUATION,
                              .after_step = step,
                              .time_ns = LOG_NO_TIME,
                              .rank = -1,
                              .pos = pos,
                              .loss = loss};
    event.dur_ns = seconds >= 0 && seconds < 1e9 ? (int64_t)llround(seconds * 1e9) : -1;
    int len = snprintf(text, sizeof text, "eval_loss %g", loss);
    event.text = (struct str){text, (size_t)len};
    return state->evidence->log.event_count >= MOST_EVALUATIONS ||
           log_book_note(state->evidence, &event, err);
}

static bool take_member(struct state *state, const struct member *member, int64_t step,
                        uint64_t pos, struct err *err)
{
    struct metric_value value = {key_of(member), "simple_value", step, member->number};
    struct metric_scalar scalar = {key_of(member), member->number, step, LOG_NO_TIME, -1, pos};
    // The last item, of the whole job: its loss is the mean of all steps.
    bool whole = !isnan(number_of(state, "train_runtime")) && isnan(number_of(state, "loss"));
    return str_equal(value.name, STR("step")) ||
           (metric_book_add(state->evidence, &value, err) &&
            (whole || metric_take(state->evidence, &scalar, WRITER, err)));
}

static bool take_item(struct state *state, struct err *err)
{
    uint64_t pos = json_cursor_pos(&state->json);
    read_item(state);
    double number = number_of(state, "step"), loss = number_of(state, "eval_loss");
    state->evidence->metrics.records++;
    if (!(number >= 0 && number < 9e15))
        return true;
    int64_t step = (int64_t)number;
    if (!isnan(loss))
        return note_evaluation(state, loss, step, pos, err);
    for (size_t i = 0; i < state->member_count; i++)
        if (!take_member(state, &state->members[i], step, pos, err))
            return false;
    return true;
}

static bool take_root(struct state *state, struct err *err)
{
    struct str key;
    struct json_value value, item;
    while (json_cursor_member(&state->json, &key, &value)) {
        if (value.type == JSON_SCALAR || value.type == JSON_TEXT) {
            bool none = value.type == JSON_SCALAR && str_equal(value.text, STR("null"));
            if (!none && !evidence_set(state->evidence, key, value.text, err))
                return false;
            continue;
        }
        if (!str_equal(key, STR("log_history")) ||
            !json_cursor_enter(&state->json, &value, JSON_ARRAY)) {
            json_cursor_pass(&state->json, &value);
            continue;
        }
        while (json_cursor_item(&state->json, &item))
            if (json_cursor_enter(&state->json, &item, JSON_OBJECT) && !take_item(state, err))
                return false;
    }
    return true;
}

static bool read_all(struct state *state, struct err *err)
{
    struct json_value root;
    state->evidence->source = STR("hf-trainer");
    bool ok =
        json_cursor_open(&state->json, state->input->source, state->input->budget, &root, err);
    ok = ok && root.type == JSON_OBJECT && take_root(state, err);
    if (ok && state->json.stop == JSON_FAILED) {
        *err = state->json.err;
        ok = false;
    }
    json_cursor_close(&state->json);
    return ok;
}

static bool gather_state(const struct format_input *input, struct err *err)
{
    size_t bytes = MOST_MEMBERS * sizeof(struct member);
    struct state *state = budget_zalloc(input->budget, sizeof *state, err);
    if (!state)
        return false;
    state->input = input;
    state->evidence = input->evidence;
    state->members = budget_alloc(input->budget, bytes, err);
    bool ok = state->members && read_all(state, err);
    budget_free(input->budget, state->members, state->members ? bytes : 0);
    budget_free(input->budget, state, sizeof *state);
    if (ok || err->code != ERR_NONE)
        return ok;
    return err_set(err, ERR_FORMAT, "found JSON, expected the state of a trainer");
}

static void report_state(const struct evidence *evidence, struct figures *figures)
{
    int64_t global_step;
    double loss = NAN;
    figures_add(figures, evidence->metrics.records, "rows");
    for (size_t i = 0; i < evidence->setting_count; i++)
        if (str_equal(evidence->settings[i].name, STR("global_step")) &&
            str_to_i64(evidence->settings[i].value, &global_step))
            figures_add(figures, global_step, "global_step");
    for (size_t i = 0; i < evidence->log.step_count; i++)
        if (log_step_has(&evidence->log.steps[i], LOG_LOSS))
            loss = evidence->log.steps[i].values[LOG_LOSS];
    if (isfinite(loss))
        figures_real(figures, loss, "last_loss");
}

static bool count_state(const struct format_input *input, struct err *err)
{
    static const struct evidence_count how = {gather_state, report_state};
    return evidence_count(&how, input, err);
}

const struct format format_trainer_state = {
    .name = "trainer_state",
    .what = "the state of a trainer",
    .kind = FORMAT_RECORDS,
    .member = "log_history",
    .count = count_state,
    .gather = gather_state,
};
