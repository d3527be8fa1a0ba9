// SPDX-License-Identifier: Apache-2.0
#include "server/hooks/hook_news.h"

#include "analysis/report/report.h"
#include "ingest/base/clock.h"
#include "ingest/base/log.h"
#include "ingest/base/visible.h"
#include "server/base/number_text.h"
#include "server/store/server_tables.h"
#include "server/store/store_announced.h"
#include "server/store/store_tracking.h"

#include <math.h>
#include <stdio.h>

#define DAY_NS   86400000000000LL
#define QUIET_NS 60000000000LL
enum { PAGE_RUNS = 200 };

// Anything older is known, or came with a restored copy of the data.
static int64_t since(const struct hook_queue *queue)
{
    int64_t day_ago = clock_wall_ns() - DAY_NS;
    return queue->since_ns > day_ago ? queue->since_ns : day_ago;
}

static bool has_seen_here(const struct hook_news *news, const struct hook_queue *queue,
                          const char *key)
{
    pthread_mutex_lock(news->lock);
    bool seen = hook_queue_has_seen(queue, key);
    pthread_mutex_unlock(news->lock);
    return seen;
}

// Whether it was announced, by this service or by one that looked after webhooks before. If the
// store does not answer, the next look asks again.
static bool has_seen(const struct hook_news *news, struct hook_queue *queue, const char *key)
{
    struct err err;
    bool was = false;
    bool is_here = has_seen_here(news, queue, key);
    if (is_here || !store_is_shared(news->store))
        return is_here;
    if (!store_was_announced(news->store, key, &was, &err))
        return true;
    pthread_mutex_lock(news->lock);
    if (was && !hook_queue_mark(queue, key, &err))
        log_warn("webhook %s: %s", key, err.msg);
    pthread_mutex_unlock(news->lock);
    return was;
}

static bool add(const struct hook_news *news, struct hook_queue *queue,
                const struct hook_event *event, struct err *err)
{
    pthread_mutex_lock(news->lock);
    bool ok = hook_queue_add(queue, event, err);
    pthread_mutex_unlock(news->lock);
    return ok;
}

static void put_duration(int64_t ns, struct buf *out)
{
    if (ns >= 1000000000)
        buf_printf(out, "%.3f s", (double)ns / 1e9);
    else
        buf_printf(out, "%.3f ms", (double)ns / 1e6);
}

// --- runs ---------------------------------------------------------------------------------------

static bool is_settled(const struct run *run)
{
    return run->active == 0 &&
           (run->status == RUN_DONE || run->status == RUN_FAILED || run->status == RUN_PARTIAL);
}

// All ranks are there, or nothing has come for a minute.
static bool is_quiet(struct hook_news *news, const struct run *run)
{
    int64_t now = clock_mono_ns();
    if (run->finalized || (run->world_size > 0 && run->received >= run->world_size))
        return true;
    for (size_t i = 0; i < news->quiet_count; i++) {
        struct hook_quiet_run *quiet = &news->quiet[i];
        if (!str_equal(str_of(quiet->id), run->id))
            continue;
        if (quiet->revision == run->revision && now - quiet->since_ns >= QUIET_NS) {
            *quiet = news->quiet[--news->quiet_count];
            return true;
        }
        quiet->since_ns = quiet->revision == run->revision ? quiet->since_ns : now;
        quiet->revision = run->revision;
        return false;
    }
    if (news->quiet_count == HOOK_QUIET_RUNS)
        return true;
    struct hook_quiet_run *quiet = &news->quiet[news->quiet_count++];
    snprintf(quiet->id, sizeof quiet->id, "%.*s", (int)run->id.len, run->id.at);
    quiet->revision = run->revision;
    quiet->since_ns = now;
    return false;
}

static void put_run_text(const struct run *run, struct buf *out)
{
    buf_add_visible(out, run->name);
    buf_puts(out, run->status == RUN_FAILED ? " failed: " : " is analyzed: ");
    if (run->status == RUN_FAILED) {
        buf_add_visible(out, run->error);
        return;
    }
    if (run->step_median_ns.null)
        buf_puts(out, "no steps");
    else {
        buf_puts(out, run->no_steps.null ? "step " : "no step is marked, recording ");
        put_duration(run->step_median_ns.i, out);
    }
    buf_printf(out, ", %lld", (long long)run->received);
    if (run->world_size > 0)
        buf_printf(out, " of %lld", (long long)run->world_size);
    buf_puts(out, run->world_size == 1 ? " rank" : " ranks");
    if (run->failed)
        buf_printf(out, ", %lld of them failed", (long long)run->failed);
}

static void put_run_data(const struct run *run, struct buf *out)
{
    buf_puts(out, "{\"run\":");
    buf_json(out, run->id);
    buf_puts(out, ",\"name\":");
    buf_json(out, run->name);
    buf_puts(out, ",\"series\":");
    buf_json(out, run->series);
    buf_printf(out, ",\"status\":\"%s\",\"step_median_ns\":", run_status_word(run->status));
    if (run->step_median_ns.null)
        buf_puts(out, "null");
    else
        buf_i64(out, run->step_median_ns.i);
    buf_printf(out, ",\"received\":%lld,\"failed\":%lld}", (long long)run->received,
               (long long)run->failed);
}

struct news_texts {
    struct buf text, data, url;
};

// Adds an event with these texts, which it frees.
static bool add_with_texts(const struct hook_news *news, struct hook_queue *queue,
                           struct hook_event *event, struct news_texts *texts, struct err *err)
{
    event->text = (struct str){texts->text.at, texts->text.len};
    event->url = (struct str){texts->url.at, texts->url.len};
    event->data = (struct str){texts->data.at, texts->data.len};
    event->at_ns = clock_wall_ns();
    bool ok = buf_ok(&texts->text, err) && buf_ok(&texts->data, err) && buf_ok(&texts->url, err) &&
              add(news, queue, event, err);
    buf_free(&texts->text);
    buf_free(&texts->data);
    buf_free(&texts->url);
    return ok;
}

static bool queue_run(const struct hook_news *news, struct hook_queue *queue, const struct run *run,
                      const char *key, struct err *err)
{
    struct news_texts texts = {0};
    put_run_text(run, &texts.text);
    put_run_data(run, &texts.data);
    buf_printf(&texts.url, "%s/runs/%.*s", news->base_url, (int)run->id.len, run->id.at);
    struct hook_event event = {.key = key,
                               .type = run->status == RUN_FAILED ? "run.failed" : "run.finished",
                               .project = run->project};
    return add_with_texts(news, queue, &event, &texts, err);
}

// What cannot be queued does not keep others from it.
static bool look_at_run(struct hook_news *news, struct hook_queue *queue, const struct run *run,
                        bool *again, struct err *err)
{
    char key[STORE_ID_SIZE + 8];
    snprintf(key, sizeof key, "run-%.*s", (int)run->id.len, run->id.at);
    if (!is_settled(run) || has_seen(news, queue, key))
        return true;
    bool quiet = is_quiet(news, run);
    *again |= !quiet;
    return !quiet || queue_run(news, queue, run, key, err);
}

// Page by page, so that no number of runs hides one. A run created or removed meanwhile shifts the
// pages; the next look finds what this one missed.
static bool look_at_runs(struct hook_news *news, struct hook_queue *queue, bool *again,
                         struct err *err)
{
    struct run_query query = {.since_ns = since(queue), .limit = PAGE_RUNS};
    struct run_list list = {.total = 1};
    bool ok = true, all = true;
    for (; ok && query.offset < list.total; query.offset += PAGE_RUNS) {
        struct arena arena;
        arena_init(&arena, NULL);
        ok = store_list_runs(news->store, &query, &arena, &list, err);
        for (size_t i = 0; ok && i < list.count; i++)
            all &= look_at_run(news, queue, &list.runs[i], again, err);
        arena_free(&arena);
    }
    return ok && all;
}

// --- alerts -------------------------------------------------------------------------------------

static void put_value(const struct table *table, size_t row, unsigned column, struct buf *text)
{
    char unit[16];
    struct str word = table_text(table, row, ALERTS_UNIT);
    snprintf(unit, sizeof unit, "%.*s", (int)word.len, word.at);
    number_text_add(table_f64(table, row, column, NAN), unit, text);
}

// "MFU 10.0 % lower than before, 40.0 % became 36.0 %"
static void put_change(const struct table *table, size_t row, struct buf *text)
{
    enum { OTHER, STEP, RECORDING };
    static const char *const words[][2] = {
        [OTHER] = {"higher", "lower"},
        [STEP] = {"slower", "faster"},
        [RECORDING] = {"longer", "shorter"},
    };
    double share = table_cell(table, row, ALERTS_CHANGE_SHARE)->f;
    bool of_step = !table_cell(table, row, ALERTS_BEFORE_NS)->null;
    bool whole = table_i64(table, row, ALERTS_NO_STEPS, 0);
    int kind = !of_step ? OTHER : whole ? RECORDING : STEP;
    const struct str names[] = {table_text(table, row, ALERTS_LABEL), STR("step"),
                                STR("recording")};
    buf_add_str(text, names[kind]);
    buf_printf(text, " %.1f %% %s than before, ", 100 * fabs(share), words[kind][share < 0]);
    put_value(table, row, ALERTS_BEFORE_VALUE, text);
    buf_puts(text, " became ");
    put_value(table, row, ALERTS_AFTER_VALUE, text);
}

static void put_values(const struct table *table, size_t row, struct buf *data)
{
    const struct cell *before = table_cell(table, row, ALERTS_BEFORE_NS);
    const struct cell *after = table_cell(table, row, ALERTS_AFTER_NS);
    if (!before->null && !after->null)
        buf_printf(data, ",\"before_ns\":%lld,\"after_ns\":%lld", (long long)before->i,
                   (long long)after->i);
    buf_puts(data, ",\"metric\":");
    buf_json(data, table_text(table, row, ALERTS_METRIC));
    buf_puts(data, ",\"before\":");
    buf_f64(data, table_f64(table, row, ALERTS_BEFORE_VALUE, NAN));
    buf_puts(data, ",\"after\":");
    buf_f64(data, table_f64(table, row, ALERTS_AFTER_VALUE, NAN));
    buf_puts(data, ",\"change_share\":");
    buf_f64(data, table_cell(table, row, ALERTS_CHANGE_SHARE)->f);
}

static void put_alert(const struct table *table, size_t row, struct buf *text, struct buf *data)
{
    buf_add_visible(text, table_cell(table, row, ALERTS_RUN_NAME)->s);
    buf_puts(text, ": ");
    put_change(table, row, text);
    buf_puts(data, "{\"alert\":");
    buf_json(data, table_cell(table, row, ALERTS_ID)->s);
    buf_puts(data, ",\"series\":");
    buf_json(data, table_cell(table, row, ALERTS_SERIES)->s);
    buf_puts(data, ",\"run\":");
    buf_json(data, table_cell(table, row, ALERTS_RUN)->s);
    buf_puts(data, ",\"name\":");
    buf_json(data, table_cell(table, row, ALERTS_RUN_NAME)->s);
    buf_puts(data, ",\"kind\":");
    buf_json(data, table_cell(table, row, ALERTS_KIND)->s);
    put_values(table, row, data);
    buf_putc(data, '}');
}

static bool queue_alert(const struct hook_news *news, struct hook_queue *queue,
                        const struct table *table, size_t row, struct err *err)
{
    char key[STORE_ID_SIZE + 8], earliest[CLOCK_RFC3339_SIZE];
    struct str id = table_cell(table, row, ALERTS_ID)->s;
    snprintf(key, sizeof key, "alert-%.*s", (int)id.len, id.at);
    clock_rfc3339(since(queue), earliest);
    if (str_compare(table_cell(table, row, ALERTS_CREATED)->s, str_of(earliest)) < 0 ||
        has_seen(news, queue, key))
        return true;
    struct news_texts texts = {0};
    put_alert(table, row, &texts.text, &texts.data);
    buf_printf(&texts.url, "%s/alerts", news->base_url);
    struct hook_event event = {
        .key = key, .type = "alert.raised", .project = table_cell(table, row, ALERTS_PROJECT)->s};
    return add_with_texts(news, queue, &event, &texts, err);
}

static bool look_at_alerts(struct hook_news *news, struct hook_queue *queue, struct arena *arena,
                           struct err *err)
{
    const struct alert_query query = {
        .status = STR("new"), .project = STR(""), .series = STR(""), .metric = STR("")};
    struct table table;
    if (!store_list_alerts(news->store, &query, arena, &table, err))
        return false;
    bool ok = true;
    for (size_t row = 0; row < table.row_count; row++)
        ok &= queue_alert(news, queue, &table, row, err);
    return ok;
}

bool hook_news_look(struct hook_news *news, struct hook_queue *queue, bool *again, struct err *err)
{
    struct arena arena;
    arena_init(&arena, NULL);
    *again = false;
    bool ok = look_at_runs(news, queue, again, err);
    ok &= look_at_alerts(news, queue, &arena, err);
    arena_free(&arena);
    return ok;
}
