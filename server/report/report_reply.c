// SPDX-License-Identifier: Apache-2.0
// Answers with a report in one of its formats.
#include "server/report/report_reply.h"

#include "analysis/analysis.h"
#include "server/report/report_content.h"

static const struct report_format *const formats[] = {&report_as_html, &report_as_markdown,
                                                      &report_as_xlsx, &report_as_json};

static const struct report_format *find_format(const struct request *request, struct err *err)
{
    struct str word = query_get(&request->query, "format");
    if (!word.len)
        return formats[0];
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (str_equal(word, str_of(formats[i]->word)))
            return formats[i];
    err_set(err, ERR_USAGE, "found format '%.*s', expected html, md, xlsx or json",
            (int)(word.len < 40 ? word.len : 40), word.at);
    return NULL;
}

static bool check_parameters(const struct request *request, struct err *err)
{
    for (size_t i = 0; i < request->query.count; i++) {
        struct str name = request->query.params[i].name;
        if (!str_equal(name, STR("run")) && !str_equal(name, STR("format")))
            return err_set(err, ERR_USAGE, "found parameter '%.*s', expected run and format",
                           (int)(name.len < 40 ? name.len : 40), name.at);
    }
    return true;
}

static bool write_report(struct request *request, struct response *response,
                         const struct compared *compared, const struct report_format *format,
                         struct err *err)
{
    struct document *doc = arena_alloc(request->arena, sizeof *doc, err);
    if (!doc)
        return false;
    *doc = (struct document){.arena = request->arena};
    return report_content(request, response, compared, doc, err) &&
           format->write(doc, &response->body, err);
}

bool report_get(struct request *request, struct response *response, struct err *err)
{
    struct compared compared;
    const struct report_format *format = find_format(request, err);
    if (!format || !check_parameters(request, err) ||
        !compare_sides_read(request, response, "run", &compared, err))
        return false;
    response->type = format->type;
    response->inline_style = format->inline_style; // also of a 304, whose policy browsers take
    if (response_data_unchanged(request, response, "r%d-%016llx", ANALYSIS_VERSION,
                                (unsigned long long)compare_sides_hash(request, &compared)))
        return true;
    if (!write_report(request, response, &compared, format, err))
        return false;
    if (!format->inline_style)
        response_header(response, request->arena, "Content-Disposition",
                        "attachment; filename=\"stepscope-report.%s\"", format->suffix);
    return true;
}
