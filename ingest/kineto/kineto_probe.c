// SPDX-License-Identifier: Apache-2.0
#include "ingest/json/json_outline.h"
#include "ingest/kineto/format_kineto.h"

// Whether the first event of a list is one that begins apart from where it ends, as other programs
// write them.
static bool starts_apart(struct str head)
{
    size_t end = str_find(head, STR("}"));
    struct str first = {head.at, end == SIZE_MAX ? head.len : end};
    return str_find(first, STR("\"ph\": \"b\"")) != SIZE_MAX;
}

// Certain for JSON whose first members include one that only traces have.
static bool has_own_member(const struct json_outline *outline)
{
    static const char *const members[] = {
        "traceEvents",       "schemaVersion",   "baseTimeNanoseconds", "deviceProperties",
        "computeProperties", "distributedInfo", "displayTimeUnit"};
    if (outline->root == '[')
        return json_outline_has(outline, "ph");
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (json_outline_has(outline, members[i]))
            return true;
    return false;
}

enum format_likeness kineto_probe(const struct format_sample *sample)
{
    struct str text = sample->head;
    if (str_starts_with(text, STR("\xEF\xBB\xBF")))
        text = (struct str){text.at + 3, text.len - 3};
    while (text.len && memchr(" \t\r\n", *text.at, 4))
        text = (struct str){text.at + 1, text.len - 1};
    bool wide = text.len > 1 && text.at[1] == '\0'; // UTF-16
    if (!text.len || wide || (*text.at != '{' && *text.at != '['))
        return FORMAT_UNLIKE;
    bool apart = *text.at == '[' && starts_apart(text);
    return has_own_member(sample->outline) && !apart ? FORMAT_SURE : FORMAT_PERHAPS;
}
