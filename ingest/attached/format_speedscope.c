// SPDX-License-Identifier: Apache-2.0
// Profiles for speedscope, such as py-spy's: stacks of the host on a clock that no trace shares.
// Counted and kept.
#include "ingest/attached/name_tally.h"
#include "ingest/source/format.h"
#include "ingest/json/json_cursor.h"
#include "ingest/json/json_number.h"
#include "ingest/json/json_outline.h"

#include <stdlib.h>

enum { DEEPEST = 1024, MOST_FRAMES = 1 << 22 };

struct numbers {
    double *at;
    size_t count, cap;
};

struct speedscope {
    struct json_cursor json;
    struct budget *budget;
    struct numbers tops, weights; // of the samples of a profile: the frame that ran, how long
    double *self;                 // by frame: time on top of the stack, or samples
    size_t cap;
    int64_t open[DEEPEST]; // frames
    size_t depth;
    double at; // of the last event
    int64_t profiles, samples, events;
    str_id *frames; // their names
    size_t frame_count, frame_cap;
    struct name_tally names;
    struct buf name;
};

static bool is(struct str key, const char *name)
{
    return str_equal(key, str_of(name));
}

static double real(const struct json_value *value)
{
    char text[32];
    if (value->type != JSON_SCALAR || value->text.len >= sizeof text)
        return 0;
    memcpy(text, value->text.at, value->text.len);
    text[value->text.len] = '\0';
    return strtod(text, NULL);
}

static int64_t index_of(const struct json_value *value)
{
    int64_t number;
    bool whole = value->type == JSON_SCALAR && json_to_i64(value->text, &number);
    return whole && number >= 0 && number < MOST_FRAMES ? number : -1;
}

static void add_self(struct speedscope *speedscope, int64_t frame, double weight)
{
    struct err err = {.pos = ERR_NO_POS};
    size_t before = speedscope->cap;
    if (frame < 0)
        return;
    double *self = budget_room(speedscope->budget, speedscope->self, &speedscope->cap,
                               (size_t)frame + 1, sizeof *self, &err);
    if (!self) {
        json_cursor_fail(&speedscope->json, &err);
        return;
    }
    speedscope->self = self;
    for (size_t i = before; i < speedscope->cap; i++)
        self[i] = 0;
    self[frame] += weight;
}

// Calls take with each object of an array.
static void each_object(struct speedscope *speedscope, void (*take)(struct speedscope *speedscope))
{
    struct json_value item;
    while (json_cursor_item(&speedscope->json, &item))
        if (json_cursor_enter(&speedscope->json, &item, JSON_OBJECT))
            take(speedscope);
}

// --- profiles -----------------------------------------------------------------------------------

static void keep_number(struct speedscope *speedscope, struct numbers *numbers, double number)
{
    struct err err = {.pos = ERR_NO_POS};
    double *at = budget_room(speedscope->budget, numbers->at, &numbers->cap, numbers->count + 1,
                             sizeof *at, &err);
    if (!at) {
        json_cursor_fail(&speedscope->json, &err);
        return;
    }
    numbers->at = at;
    at[numbers->count++] = number;
}

// The last frame of a sample is the one that ran.
static void take_samples(struct speedscope *speedscope)
{
    struct json_value stack, frame;
    while (json_cursor_item(&speedscope->json, &stack)) {
        int64_t last = -1;
        if (!json_cursor_enter(&speedscope->json, &stack, JSON_ARRAY))
            continue;
        while (json_cursor_item(&speedscope->json, &frame)) {
            last = index_of(&frame);
            json_cursor_pass(&speedscope->json, &frame);
        }
        speedscope->samples++;
        keep_number(speedscope, &speedscope->tops, (double)last);
    }
}

static void take_weights(struct speedscope *speedscope)
{
    struct json_value weight;
    while (json_cursor_item(&speedscope->json, &weight)) {
        keep_number(speedscope, &speedscope->weights, real(&weight));
        json_cursor_pass(&speedscope->json, &weight);
    }
}

// Weights may come before or after the samples.
static void weigh_samples(struct speedscope *speedscope)
{
    const struct numbers *tops = &speedscope->tops, *weights = &speedscope->weights;
    for (size_t i = 0; i < tops->count; i++)
        add_self(speedscope, (int64_t)tops->at[i], i < weights->count ? weights->at[i] : 1);
}

static void take_event(struct speedscope *speedscope)
{
    struct str key;
    struct json_value value;
    int64_t frame = -1;
    double at = 0;
    bool opens = false;
    while (json_cursor_member(&speedscope->json, &key, &value)) {
        if (is(key, "type"))
            opens = value.type == JSON_TEXT && str_equal(value.text, STR("O"));
        else if (is(key, "frame"))
            frame = index_of(&value);
        else if (is(key, "at"))
            at = real(&value);
        json_cursor_pass(&speedscope->json, &value);
    }
    speedscope->events++;
    if (speedscope->depth)
        add_self(speedscope, speedscope->open[speedscope->depth - 1], at - speedscope->at);
    speedscope->at = at;
    if (opens && speedscope->depth < DEEPEST)
        speedscope->open[speedscope->depth++] = frame;
    else if (!opens && speedscope->depth)
        speedscope->depth--;
}

static void take_profile(struct speedscope *speedscope)
{
    struct str key;
    struct json_value value;
    speedscope->profiles++;
    speedscope->depth = speedscope->tops.count = speedscope->weights.count = 0;
    while (json_cursor_member(&speedscope->json, &key, &value)) {
        if (is(key, "samples") && value.type == JSON_ARRAY)
            take_samples(speedscope);
        else if (is(key, "weights") && value.type == JSON_ARRAY)
            take_weights(speedscope);
        else if (is(key, "events") && value.type == JSON_ARRAY)
            each_object(speedscope, take_event);
        else
            json_cursor_pass(&speedscope->json, &value);
    }
    weigh_samples(speedscope);
}

// --- frames -------------------------------------------------------------------------------------

// Frames may come before or after the profiles that use them.
static bool keep_frame(struct speedscope *speedscope, struct err *err)
{
    str_id *names = budget_room(speedscope->budget, speedscope->frames, &speedscope->frame_cap,
                                speedscope->frame_count + 1, sizeof *names, err);
    if (!names)
        return false;
    speedscope->frames = names;
    return buf_ok(&speedscope->name, err) &&
           name_tally_id(
               &speedscope->names,
               (struct str){speedscope->name.len ? speedscope->name.at : "", speedscope->name.len},
               &names[speedscope->frame_count++], err);
}

static void take_frame(struct speedscope *speedscope)
{
    struct str key;
    struct json_value value;
    struct err err = {.pos = ERR_NO_POS};
    buf_clear(&speedscope->name);
    while (json_cursor_member(&speedscope->json, &key, &value)) {
        if (is(key, "name") && value.type == JSON_TEXT)
            (void)json_text_decode(value.text, &speedscope->name);
        json_cursor_pass(&speedscope->json, &value);
    }
    if (!keep_frame(speedscope, &err))
        json_cursor_fail(&speedscope->json, &err);
}

static void take_shared(struct speedscope *speedscope)
{
    struct str key;
    struct json_value value;
    while (json_cursor_member(&speedscope->json, &key, &value))
        if (is(key, "frames") && value.type == JSON_ARRAY)
            each_object(speedscope, take_frame);
        else
            json_cursor_pass(&speedscope->json, &value);
}

// --- the file -----------------------------------------------------------------------------------

static void take_root(struct speedscope *speedscope)
{
    struct str key;
    struct json_value value;
    while (json_cursor_member(&speedscope->json, &key, &value))
        if (is(key, "profiles") && value.type == JSON_ARRAY)
            each_object(speedscope, take_profile);
        else if (is(key, "shared") && value.type == JSON_OBJECT)
            take_shared(speedscope);
        else
            json_cursor_pass(&speedscope->json, &value);
}

static void report(struct speedscope *speedscope, struct figures *figures)
{
    for (size_t i = 0; i < speedscope->frame_count && i < speedscope->cap; i++)
        name_tally_weigh(&speedscope->names, speedscope->frames[i], speedscope->self[i]);
    figures_add(figures, speedscope->profiles, "profiles");
    figures_add(figures, (int64_t)speedscope->frame_count, "frames");
    if (speedscope->samples)
        figures_add(figures, speedscope->samples, "samples");
    if (speedscope->events)
        figures_add(figures, speedscope->events, "events");
    name_tally_report(&speedscope->names, figures, "top_frames");
}

static bool count(struct speedscope *speedscope, const struct format_input *input, struct err *err)
{
    struct json_value root;
    if (!json_cursor_open(&speedscope->json, input->source, input->budget, &root, err))
        return false;
    if (root.type == JSON_OBJECT)
        take_root(speedscope);
    if (speedscope->json.stop == JSON_FAILED) {
        *err = speedscope->json.err;
        return false;
    }
    if (!speedscope->profiles)
        return err_set(err, ERR_FORMAT, "found no profile in it, expected a speedscope file");
    report(speedscope, input->figures);
    return true;
}

static bool count_speedscope(const struct format_input *input, struct err *err)
{
    struct budget *budget = input->budget;
    struct speedscope *speedscope = budget_zalloc(budget, sizeof *speedscope, err);
    if (!speedscope)
        return false;
    speedscope->budget = budget;
    bool ok = name_tally_init(&speedscope->names, budget, err);
    if (ok) {
        ok = count(speedscope, input, err);
        json_cursor_close(&speedscope->json);
        name_tally_free(&speedscope->names);
    }
    budget_free(budget, speedscope->tops.at, speedscope->tops.cap * sizeof(double));
    budget_free(budget, speedscope->weights.at, speedscope->weights.cap * sizeof(double));
    budget_free(budget, speedscope->self, speedscope->cap * sizeof *speedscope->self);
    budget_free(budget, speedscope->frames, speedscope->frame_cap * sizeof *speedscope->frames);
    buf_free(&speedscope->name);
    budget_free(budget, speedscope, sizeof *speedscope);
    return ok;
}

static enum format_likeness probe_speedscope(const struct format_sample *sample)
{
    bool named = str_find(sample->head, STR("speedscope.app/file-format-schema")) != SIZE_MAX;
    return sample->outline->json && (named || json_outline_has(sample->outline, "profiles"))
               ? FORMAT_SURE
               : FORMAT_UNLIKE;
}

const struct format format_speedscope = {
    .name = "speedscope",
    .what = "a speedscope profile",
    .kind = FORMAT_RECORDS,
    .probe = probe_speedscope,
    .count = count_speedscope,
    .advice = "it has no clock that a trace shares; record with torch.profiler(with_stack=True)",
};
