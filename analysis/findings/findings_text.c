// SPDX-License-Identifier: Apache-2.0
// Texts of findings: facts with links to filtered views, lists of steps and ranks.
#include "analysis/findings/findings.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define QUERY_MAX 60 // bytes of a name to search for

double findings_percent(const struct finding_case *the_case, int64_t ns)
{
    return 100 * (double)ns / (double)the_case->step_ns;
}

const char *findings_per_step(const struct finding_case *the_case, int64_t total, char text[32])
{
    bool whole = total % the_case->steps == 0;
    double each = (double)total / (double)the_case->steps;
    snprintf(text, 32, "%s", mean_text(each, whole ? 0 : 1).text);
    return text;
}

PRINTF_LIKE(3, 0)
static void add_fact(struct evidence *evidence, const char *href, const char *fact, va_list args)
{
    char text[256];
    vsnprintf(text, sizeof text, fact, args);
    struct str shown = str_of(text);
    shown.len = str_valid_utf8(shown); // it may have been cut within a character
    buf_puts(&evidence->json, evidence->json.len ? ",{\"fact\":" : "[{\"fact\":");
    buf_json(&evidence->json, shown);
    buf_puts(&evidence->json, ",\"href\":");
    buf_json(&evidence->json, str_of(href));
    buf_putc(&evidence->json, '}');
}

void evidence_add(struct evidence *evidence, const char *href, const char *fact, ...)
{
    va_list args;
    va_start(args, fact);
    add_fact(evidence, href, fact, args);
    va_end(args);
}

const char *evidence_end(struct evidence *evidence, struct arena *arena, struct err *err)
{
    struct buf *json = &evidence->json;
    buf_puts(json, json->len ? "]" : "[]");
    const char *copy = NULL;
    if (buf_ok(json, err))
        copy = arena_strdup(arena, (struct str){json->at, json->len}, err);
    buf_free(json);
    return copy;
}

const char *findings_fact(const struct finding_case *the_case, const char *href, struct err *err,
                          const char *fact, ...)
{
    struct evidence evidence = {0};
    va_list args;
    va_start(args, fact);
    add_fact(&evidence, href, fact, args);
    va_end(args);
    return evidence_end(&evidence, the_case->arena, err);
}

struct href_text href_to(const char *table)
{
    struct href_text href;
    snprintf(href.text, sizeof href.text, "%s", table);
    return href;
}

void href_add(struct href_text *href, const char *key, struct str value)
{
    size_t at = strlen(href->text), room = sizeof href->text;
    struct str shown = {value.at, value.len < QUERY_MAX ? value.len : QUERY_MAX};
    shown.len = str_valid_utf8(shown);
    if (at + strlen(key) + 3 * shown.len + 3 > room)
        return;
    at += (size_t)snprintf(href->text + at, room - at, "%c%s=", strchr(href->text, '?') ? '&' : '?',
                           key);
    for (size_t i = 0; i < shown.len; i++) {
        unsigned char c = (unsigned char)shown.at[i];
        bool plain = c < 0x80 && (isalnum(c) || c == '_' || c == '-' || c == '.');
        at += (size_t)snprintf(href->text + at, room - at, plain ? "%c" : "%%%02X", c);
    }
}

void href_add_rank(struct href_text *href, int64_t rank)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, rank);
    href_add(href, "rank", str_of(text));
}

struct href_text href_of_kernel(struct str name)
{
    struct href_text href = href_to("kernels");
    href_add(&href, "q", name);
    return href;
}

const char *number_list(const int64_t *numbers, size_t count, struct arena *arena, struct err *err)
{
    struct buf text = {0};
    for (size_t i = 0, next; i < count; i = next) {
        next = i + 1;
        while (next < count && numbers[next] == numbers[next - 1] + 1)
            next++;
        buf_printf(&text, "%s%" PRId64, i ? "," : "", numbers[i]);
        if (next > i + 1)
            buf_printf(&text, "-%" PRId64, numbers[next - 1]);
    }
    const char *copy = NULL;
    if (buf_ok(&text, err))
        copy = arena_strdup(arena, (struct str){text.at, text.len}, err);
    buf_free(&text);
    return copy;
}
