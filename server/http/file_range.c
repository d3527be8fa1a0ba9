// SPDX-License-Identifier: Apache-2.0
// Ranges of bytes (RFC 9110, 14).
#include "server/http/file_range.h"

#include <unistd.h>

#define MAX_DIGITS 18 // any such number fits in int64_t

struct range {
    uint64_t first, end; // end is after the last byte
};

enum found { RANGE_NONE, RANGE_FINE, RANGE_OUTSIDE };

static bool read_number(struct str text, uint64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return false;
        *number = *number * 10 + (uint64_t)(text.at[i] - '0');
    }
    return text.len > 0 && text.len <= MAX_DIGITS;
}

// "-500": the last ones.
static enum found read_suffix(struct str count, uint64_t size, struct range *range)
{
    uint64_t bytes;
    if (!read_number(count, &bytes))
        return RANGE_NONE;
    *range = (struct range){bytes < size ? size - bytes : 0, size};
    return bytes > 0 && size > 0 ? RANGE_FINE : RANGE_OUTSIDE;
}

// "bytes=0-499", "bytes=500-", "bytes=-500".
static enum found read_range(struct str text, uint64_t size, struct range *range)
{
    static const struct str unit = {"bytes=", 6};
    if (!str_starts_with(text, unit))
        return RANGE_NONE;
    text = (struct str){text.at + unit.len, text.len - unit.len};
    size_t dash = str_find(text, STR("-"));
    if (dash == SIZE_MAX)
        return RANGE_NONE;
    struct str first = {text.at, dash}, last = {text.at + dash + 1, text.len - dash - 1};
    uint64_t end = size;
    if (first.len == 0)
        return read_suffix(last, size, range);
    if (!read_number(first, &range->first) || (last.len && !read_number(last, &end)) ||
        (last.len && end < range->first))
        return RANGE_NONE;
    range->end = last.len && end < size ? end + 1 : size;
    return range->first < size ? RANGE_FINE : RANGE_OUTSIDE;
}

// Whether what the client has is from this version; a date never proves that.
static bool is_same_version(const struct request *request, const struct response *response)
{
    struct str version = request_header(request, "If-Range");
    return !version.at || (version.len && str_equal(version, response->etag));
}

bool file_range_apply(const struct request *request, struct response *response, struct err *err)
{
    struct range range = {0};
    uint64_t size = response->file_bytes;
    struct str asked = request_header(request, "Range");
    response_header(response, request->arena, "Accept-Ranges", "bytes");
    if (!asked.at || !str_equal(request->method, STR("GET")) || !is_same_version(request, response))
        return true;
    enum found found = read_range(asked, size, &range);
    if (found == RANGE_OUTSIDE) {
        response_header(response, request->arena, "Content-Range", "bytes */%llu",
                        (unsigned long long)size);
        return response_refuse(response, err, (struct refusal){416, "range"},
                               "found a range outside the file's %llu bytes",
                               (unsigned long long)size);
    }
    if (found == RANGE_NONE)
        return true;
    if (lseek(response->fd, (off_t)range.first, SEEK_SET) < 0)
        return err_set_errno(err, "a part of the file");
    response->status = 206;
    response->file_bytes = range.end - range.first;
    response_header(response, request->arena, "Content-Range", "bytes %llu-%llu/%llu",
                    (unsigned long long)range.first, (unsigned long long)(range.end - 1),
                    (unsigned long long)size);
    return true;
}
