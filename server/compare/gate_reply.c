// SPDX-License-Identifier: Apache-2.0
// A gate for CI jobs that must not let a slower step through: the HTTP status is the answer.
#include "server/compare/compare_reply.h"

#include "server/api/api_parts.h"
#include "server/compare/compare_sides.h"
#include "server/compare/gate.h"
#include "server/hooks/hooks.h"

#include "ingest/base/clock.h"
#include "ingest/base/hash.h"
#include "ingest/base/visible.h"

#include <math.h>
#include <stdio.h>

enum { STATUS_FAIL = 409 };
enum gate_format { GATE_JSON, GATE_TEXT, GATE_MARKDOWN };

struct gate_request {
    struct compared compared;
    double max_regression;
    bool undecided_fails, sequential, notify;
    enum gate_format format;
    const struct run_figure *figure; // that is judged instead of the step time; NULL: none
};

// --- the request --------------------------------------------------------------------------------

static bool read_undecided(const struct query *query, bool *fails, struct err *err)
{
    struct str word = query_get(query, "undecided");
    *fails = word.at && str_equal(word, STR("fail"));
    return !word.at || *fails || str_equal(word, STR("pass")) ||
           err_set(err, ERR_USAGE, "found undecided=%.*s, expected pass or fail",
                   (int)(word.len < 40 ? word.len : 40), word.at);
}

static bool read_flag(const struct query *query, const char *name, bool *flag, struct err *err)
{
    struct str word = query_get(query, name);
    *flag = word.at && str_equal(word, STR("true"));
    return !word.at || *flag || str_equal(word, STR("false")) ||
           err_set(err, ERR_USAGE, "found %s=%.*s, expected true or false", name,
                   (int)(word.len < 40 ? word.len : 40), word.at);
}

// The parameter takes precedence over the header.
static bool read_format(const struct request *request, enum gate_format *format, struct err *err)
{
    static const char *const words[] = {"json", "text", "markdown"};
    struct str word = query_get(&request->query, "format");
    bool wants_text = request_accepts(request, "Accept", "text/plain") &&
                      !request_accepts(request, "Accept", "application/json");
    *format = wants_text ? GATE_TEXT : GATE_JSON;
    for (size_t i = 0; word.at && i < sizeof words / sizeof *words; i++)
        if (str_equal(word, str_of(words[i]))) {
            *format = (enum gate_format)i;
            return true;
        }
    return !word.at ||
           err_set(err, ERR_USAGE, "found format '%.*s', expected json, text or markdown",
                   (int)(word.len < 40 ? word.len : 40), word.at);
}

static bool read_figure(const struct query *query, struct gate_request *gate, struct err *err)
{
    struct str name = query_get(query, "metric");
    gate->figure = name.len ? run_figure_named(name) : NULL;
    if (name.len && !gate->figure)
        return api_refuse_metric(name, err);
    return !gate->figure || !gate->sequential ||
           err_set(err, ERR_USAGE, "found sequential=true, which applies to step times only");
}

// Word to others is a change, although this is a GET: not for who may only look, nor for a link on
// another page or in a mail.
static bool check_notify(struct request *request, struct err *err)
{
    struct str site = request_header(request, "Sec-Fetch-Site");
    request->notifies = true;
    if (!(request->who.scopes & (SCOPE_UPLOAD | SCOPE_WRITE | SCOPE_ADMIN)))
        return err_set(err, ERR_DENIED, "notify=true requires the scope upload or write");
    return !site.at || str_equal(site, STR("same-origin")) ||
           err_set(err, ERR_DENIED, "found notify=true in a link, expected it from a program only");
}

static bool read_gate(struct request *request, struct response *response, struct gate_request *gate,
                      struct err *err)
{
    static const char *const known[] = {
        "metric", "base", "cand", "max_regression", "undecided",      "sequential",  "format",
        "notify", "per",  "rank", "alpha",          "relevant_share", "relevant_ns", NULL};
    struct query_number limit = {"max_regression", 0.03, GATE_LEAST_REGRESSION,
                                 GATE_MOST_REGRESSION};
    if (!query_allow(&request->query, known, err) ||
        !query_get_number(&request->query, limit, &gate->max_regression, err) ||
        !read_undecided(&request->query, &gate->undecided_fails, err) ||
        !read_flag(&request->query, "sequential", &gate->sequential, err) ||
        !read_flag(&request->query, "notify", &gate->notify, err) ||
        (gate->notify && !check_notify(request, err)) || !read_figure(&request->query, gate, err) ||
        !read_format(request, &gate->format, err) ||
        !compare_sides_find(request, response, &gate->compared, err))
        return false;
    return gate->compared.side_count == 2 ||
           err_set(err, ERR_USAGE,
                   "found %zu candidates, expected one; join repeats of one by commas",
                   gate->compared.side_count - 1);
}

// --- the answer ---------------------------------------------------------------------------------

static void put_ids(const struct compared_side *side, struct buf *out)
{
    for (size_t i = 0; i < side->count; i++) {
        buf_puts(out, i ? "," : "");
        buf_add_str(out, side->runs[i].id);
    }
}

// The comparison's page, with runs by id, so that it shows the same tomorrow.
static bool put_url(const struct request *request, const struct compared *compared, struct buf *out,
                    struct err *err)
{
    struct str base;
    if (!request_base_url(request, &base, err))
        return false;
    buf_add_str(out, base);
    buf_puts(out, "/compare?base=");
    put_ids(&compared->sides[0], out);
    buf_puts(out, "&cand=");
    put_ids(&compared->sides[1], out);
    buf_puts(out, compared->options.per_token ? "&per=token" : "");
    buf_puts(out, compared->options.slowest ? "&rank=slowest" : "");
    return true;
}

static void put_text(const struct gate_answer *answer, struct str url, struct buf *out)
{
    for (int i = 0; i < GATE_LINES; i++) {
        buf_add_visible(out, str_of(answer->lines[i]));
        buf_putc(out, '\n');
    }
    buf_add_str(out, url);
    buf_putc(out, '\n');
}

// Text in Markdown: names come from outside, and must not become links, tags or mentions.
static void put_escaped(struct str text, struct buf *out)
{
    struct buf visible = {0};
    buf_add_visible(&visible, text);
    for (size_t i = 0; i < visible.len; i++) {
        if (strchr("\\`*_{}[]<>#|~@", visible.at[i]))
            buf_putc(out, '\\');
        buf_putc(out, visible.at[i]);
    }
    out->failed |= visible.failed;
    buf_free(&visible);
}

// A comment for a pull request.
static void put_markdown(const struct gate_request *gate, const struct gate_answer *answer,
                         struct str url, struct buf *out)
{
    static const char *const words[] = {
        [GATE_PASS] = "pass", [GATE_FAIL] = "**fail**", [GATE_UNDECIDED] = "undecided"};
    const struct compared_side *sides = gate->compared.sides;
    buf_printf(out, "### %s: %s\n\n", gate->figure ? gate->figure->label : "Step time",
               words[answer->gate]);
    for (int i = 0; i < GATE_LINES; i++) {
        put_escaped(str_of(answer->lines[i]), out);
        buf_puts(out, i + 1 < GATE_LINES ? "  \n" : "\n\n");
    }
    buf_printf(out, "%zu run%s of the base, %zu of the candidate; limit %+.1f %%.", sides[0].count,
               sides[0].count == 1 ? "" : "s", sides[1].count, 100 * gate->max_regression);
    if (answer->gate == GATE_UNDECIDED && answer->anytime.has_forecast &&
        answer->anytime.more_pairs)
        buf_printf(out, " About %zu more run%s of each would decide.", answer->anytime.more_pairs,
                   answer->anytime.more_pairs == 1 ? "" : "s");
    buf_puts(out, " [Open the comparison](");
    buf_add_str(out, url);
    buf_puts(out, ")\n");
}

// metric: NULL: step times are judged.
static void put_metric(const struct gate_metric *metric, struct buf *out)
{
    if (!metric) {
        buf_puts(out, ",\"metric\":null");
        return;
    }
    buf_printf(out,
               ",\"metric\":{\"name\":\"%s\",\"unit\":\"%s\",\"base\":", metric->figure->metric,
               metric->figure->unit);
    buf_f64(out, metric->medians[0]);
    buf_puts(out, ",\"cand\":");
    buf_f64(out, metric->medians[1]);
    buf_putc(out, '}');
}

static void put_json(const struct gate_request *gate, const struct gate_metric *metric,
                     const struct gate_answer *answer, struct str url, struct buf *out)
{
    buf_printf(out, "{\"result\":\"%s\",\"lines\":[", verdict_gate_word(answer->gate));
    for (int i = 0; i < GATE_LINES; i++) {
        buf_puts(out, i ? "," : "");
        buf_json(out, str_of(answer->lines[i]));
    }
    buf_puts(out, "],\"url\":");
    buf_json(out, url);
    buf_puts(out, ",\"judgement\":");
    gate_judgement_json(&answer->judgement, out);
    buf_puts(out, ",\"anytime\":");
    gate_anytime_json(gate->compared.options.limits.alpha, answer, out);
    put_metric(metric, out);
    buf_puts(out, ",\"max_regression\":");
    buf_f64(out, gate->max_regression);
    buf_printf(out,
               ",\"undecided\":\"%s\",\"thresholds\":", gate->undecided_fails ? "fail" : "pass");
    gate_limits_json(&gate->compared.options.limits, out);
    buf_puts(out, "}\n");
}

static void set_status(struct request *request, struct response *response,
                       const struct gate_request *gate, const struct gate_answer *answer)
{
    bool is_undecided = answer->gate == GATE_UNDECIDED;
    // Without steps nothing was measured, so no change may pass.
    bool fails = answer->gate == GATE_FAIL ||
                 (is_undecided && (gate->undecided_fails || !answer->has_steps));
    response->status = fails ? STATUS_FAIL : 200;
    response->cache = CACHE_NEVER;
    if (is_undecided)
        response_header(response, request->arena, "Warning",
                        "199 stepscope \"undecided: the limit could not be checked\"");
}

// Announces the gate's answer if the request asks for it, once for these runs, this figure and this
// answer: other limits than the first, of which there are any number, bring no other word of it.
static bool notify(const struct request *request, const struct gate_request *gate,
                   const struct gate_answer *answer, struct str url, struct err *err)
{
    char key[40], type[32];
    struct buf text = {0}, data = {0};
    const char *word = verdict_gate_word(answer->gate);
    buf_printf(&text, "Gate: %s\n", word);
    put_text(answer, STR(""), &text);
    buf_printf(&data, "{\"result\":\"%s\",\"metric\":", word);
    buf_json_or_null(&data, gate->figure ? gate->figure->metric : NULL);
    buf_puts(&data, ",\"base\":\"");
    put_ids(&gate->compared.sides[0], &data);
    buf_puts(&data, "\",\"cand\":\"");
    put_ids(&gate->compared.sides[1], &data);
    size_t known_by = data.len;
    buf_puts(&data, "\",\"max_regression\":");
    buf_f64(&data, gate->max_regression);
    buf_putc(&data, '}');
    bool ok = buf_ok(&text, err) && buf_ok(&data, err);
    if (ok) {
        snprintf(key, sizeof key, "gate-%016llx",
                 (unsigned long long)hash_bytes(data.at, known_by));
        snprintf(type, sizeof type, "gate.%s",
                 answer->gate == GATE_PASS   ? "passed"
                 : answer->gate == GATE_FAIL ? "failed"
                                             : "undecided");
        const struct hook_event event = {.key = key,
                                         .type = type,
                                         .project = gate->compared.sides[1].runs[0].project,
                                         .text = {text.at, text.len - 2}, // without empty lines
                                         .url = url,
                                         .data = {data.at, data.len},
                                         .at_ns = clock_wall_ns()};
        (void)hooks_post(request->services->hooks, &event); // the answer does not depend on it
    }
    buf_free(&text);
    buf_free(&data);
    return ok;
}

static bool reply(struct request *request, struct response *response,
                  const struct gate_request *gate, const struct gate_metric *metric,
                  const struct gate_answer *answer, struct err *err)
{
    static const char *const types[] = {"application/json", "text/plain; charset=utf-8",
                                        "text/markdown; charset=utf-8"};
    struct buf url = {0};
    bool ok = put_url(request, &gate->compared, &url, err) && buf_ok(&url, err);
    struct str address = {url.at, url.len};
    response->type = types[gate->format];
    if (ok && gate->format == GATE_TEXT)
        put_text(answer, address, &response->body);
    else if (ok && gate->format == GATE_MARKDOWN)
        put_markdown(gate, answer, address, &response->body);
    else if (ok)
        put_json(gate, metric, answer, address, &response->body);
    ok = ok && (!gate->notify || notify(request, gate, answer, address, err));
    buf_free(&url);
    set_status(request, response, gate, answer);
    return ok && buf_ok(&response->body, err);
}

static bool answer_steps(struct request *request, struct response *response,
                         const struct gate_request *gate, struct gate_answer *answer,
                         struct err *err)
{
    struct comparison comparison;
    if (!compare_sides_analyze(request, response, &gate->compared, &comparison, err))
        return false;
    const struct gate_question question = {.pair = {.report = &comparison.report,
                                                    .cand = 1,
                                                    .base = &comparison.sides[0],
                                                    .side = &comparison.sides[1],
                                                    .per_token = gate->compared.options.per_token},
                                           .limits = gate->compared.options.limits,
                                           .max_regression = gate->max_regression,
                                           .sequential = gate->sequential,
                                           .base_note = gate->compared.base_note};
    return gate_answer(&question, request->arena, answer, err);
}

// --- another figure than the step time ----------------------------------------------------------

// Where the newest run of a side that has the figure has it from; "" if none has it.
static struct str source_of(const struct gate_request *gate, int side)
{
    const struct compared_side *runs = &gate->compared.sides[side];
    size_t place = (size_t)(gate->figure - run_figures);
    struct str source = STR("");
    for (size_t i = 0; i < runs->count; i++)
        if (isfinite(runs->runs[i].figures[place]))
            source = runs->runs[i].figure_sources[place];
    return source;
}

// Only values from the candidate's source count: a log and a trace may measure differently.
static bool counts(const struct gate_request *gate, const struct run *run, struct str source)
{
    size_t place = (size_t)(gate->figure - run_figures);
    struct str own = run->figure_sources[place];
    return isfinite(run->figures[place]) && (!own.len || !source.len || str_equal(own, source));
}

static bool take_side(struct request *request, const struct gate_request *gate, int side,
                      struct gate_metric *metric, struct err *err)
{
    const struct compared_side *runs = &gate->compared.sides[side];
    double *values = arena_array(request->arena, runs->count + 1, sizeof *values, err);
    size_t place = (size_t)(gate->figure - run_figures);
    for (size_t i = 0; values && i < runs->count; i++)
        if (counts(gate, &runs->runs[i], metric->sources[1]))
            values[metric->counts[side]++] = runs->runs[i].figures[place];
    metric->values[side] = values;
    metric->names[side] = contributors_clean(runs->runs[0].name, 60, request->arena);
    if (values && metric->names[side] && runs->count > 1)
        metric->names[side] =
            arena_printf(request->arena, err, "%s and %zu more run%s", metric->names[side],
                         runs->count - 1, runs->count > 2 ? "s" : "");
    return values && metric->names[side];
}

static bool answer_metric(struct request *request, const struct gate_request *gate,
                          struct gate_metric *metric, struct gate_answer *answer, struct err *err)
{
    *metric = (struct gate_metric){.figure = gate->figure,
                                   .sources = {source_of(gate, 0), source_of(gate, 1)},
                                   .limits = gate->compared.options.limits,
                                   .max_regression = gate->max_regression,
                                   .base_note = gate->compared.base_note};
    return take_side(request, gate, 0, metric, err) && take_side(request, gate, 1, metric, err) &&
           gate_metric_answer(metric, request->arena, answer, err);
}

bool compare_get_gate(struct request *request, struct response *response, struct err *err)
{
    struct gate_request gate = {0};
    struct gate_metric metric;
    struct gate_answer answer;
    if (!read_gate(request, response, &gate, err))
        return false;
    if (gate.figure)
        return answer_metric(request, &gate, &metric, &answer, err) &&
               reply(request, response, &gate, &metric, &answer, err);
    return answer_steps(request, response, &gate, &answer, err) &&
           reply(request, response, &gate, NULL, &answer, err);
}
