// SPDX-License-Identifier: Apache-2.0
// Jansson on members of the file, bounded in size.
#include "analysis/facts/member_json.h"

#define MAX_BYTES ((size_t)4 << 20) // Jansson takes about ten times the text

json_t *member_json_parse(struct str text)
{
    if (text.len == 0 || text.len > MAX_BYTES)
        return NULL;
    return json_loadb(text.at, text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
}

json_t *member_json_find(const struct trace *trace, struct str key)
{
    return member_json_parse(trace_member_text(trace, key));
}

bool member_json_i64(const json_t *value, int64_t *number)
{
    if (json_is_integer(value)) {
        *number = json_integer_value(value);
        return true;
    }
    const char *text = json_string_value(value);
    return text && str_to_i64((struct str){text, json_string_length(value)}, number);
}
