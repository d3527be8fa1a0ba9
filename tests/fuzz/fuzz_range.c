// SPDX-License-Identifier: Apache-2.0
// Any text as the Range of a file of any size, with any If-Range: the whole file, a part inside it
// that matches Content-Range, or 416.
#include "server/http/file_range.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static struct str content_range(const struct response *response)
{
    for (size_t i = 0; i < response->header_count; i++)
        if (str_equal(response->headers[i].name, STR("Content-Range")))
            return response->headers[i].value;
    return (struct str){"", 0};
}

static void check_part(const struct response *response, uint64_t size)
{
    unsigned long long first, last, whole;
    check(sscanf(content_range(response).at, "bytes %llu-%llu/%llu", &first, &last, &whole) == 3);
    check(whole == size && first <= last && last < size);
    check(response->file_bytes == last - first + 1);
    check((uint64_t)lseek(response->fd, 0, SEEK_CUR) == first);
}

static void apply(struct request *request, uint64_t size)
{
    struct response response;
    struct err err = {0};
    response_init(&response);
    response.fd = memfd_create("file", 0);
    response.file_bytes = size;
    response.etag = STR("\"tag\"");
    bool ok = file_range_apply(request, &response, &err);
    check(ok ? response.status == 0 || response.status == 206 : response.status == 416);
    if (response.status == 206)
        check_part(&response, size);
    else
        check(response.file_bytes == size);
    response_free(&response);
}

// A byte for the size, then If-Range up to the end of line, if any, then Range.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t sizes[] = {0, 1, 500, (uint64_t)1 << 40, INT64_MAX};
    if (size == 0)
        return 0;
    uint64_t file_bytes = sizes[data[0] % (sizeof(sizes) / sizeof(*sizes))];
    struct str text = {(const char *)data + 1, size - 1}, version = {NULL, 0};
    const char *end = text.len ? memchr(text.at, '\n', text.len) : NULL;
    if (end) {
        version = (struct str){text.at, (size_t)(end - text.at)};
        text = (struct str){end + 1, text.len - version.len - 1};
    }
    struct arena arena;
    struct request_header headers[] = {{STR("range"), text}, {STR("If-Range"), version}};
    struct request request = {
        .arena = &arena, .method = STR("GET"), .headers = headers, .header_count = end ? 2 : 1};
    arena_init(&arena, NULL);
    apply(&request, file_bytes);
    arena_free(&arena);
    return 0;
}
