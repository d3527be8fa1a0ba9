// SPDX-License-Identifier: Apache-2.0
// Any bytes as the head of a request, and a file range in it: never a crash, no line without its
// header in a head that passes, and no range outside the file.
#include "server/http/file_range.h"
#include "tests/unit/http_head_cut.h"

#include <fcntl.h>
#include <stdlib.h>

#define FILE_BYTES 1000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// A head that passes has a header for each line from the first header's to the empty one. (After CR
// CR following the version, nothing is visible any more.)
static void check_lines(const struct cut *cut, struct str head)
{
    size_t count = 0;
    const struct mg_request_info *info = &cut->info;
    if (info->num_headers == 0 || info->num_headers == MG_MAX_HEADERS)
        return; // refused because of no Host, or several
    for (size_t i = (size_t)(info->http_headers[0].name - cut->text); i < head.len; i++)
        count += head.at[i] == '\n';
    if (count != (size_t)info->num_headers + 1)
        abort();
}

static void check_range(const struct request *request)
{
    struct response response;
    struct err err = {0};
    response_init(&response);
    response.fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    response.file_bytes = FILE_BYTES;
    response.etag = STR("\"v\"");
    bool ok = file_range_apply(request, &response, &err);
    if (ok != (response.status != 416) || response.file_bytes > FILE_BYTES ||
        (response.status == 206 && response.file_bytes == 0))
        abort();
    response_free(&response);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};
    struct request_header headers[MG_MAX_HEADERS];
    struct arena arena;
    struct response response;
    struct err err = {0};
    struct cut *cut = malloc(sizeof *cut);
    if (!cut)
        return 0;
    arena_init(&arena, NULL);
    response_init(&response);
    struct request request = {.arena = &arena};
    if (cut_head(cut, text)) {
        http_head_read(&cut->info, headers, &request);
        if (http_head_check(&cut->info, &request, &response, &err))
            check_lines(cut, (struct str){text.at, head_size(text)});
        check_range(&request);
    }
    response_free(&response);
    arena_free(&arena);
    free(cut);
    return 0;
}
