// SPDX-License-Identifier: Apache-2.0
// The error answer.
#include "server/http/problem.h"

#include <unistd.h>

int problem_status(enum err_code code)
{
    switch (code) {
    case ERR_USAGE: return 400;
    case ERR_NOT_FOUND: return 404;
    case ERR_DENIED: return 403;
    case ERR_CONFLICT: return 409;
    case ERR_FORMAT: return 422;
    case ERR_LIMIT: return 413;
    case ERR_UNSUPPORTED: return 415;
    case ERR_BUSY:
    case ERR_MEMORY:
    case ERR_IO: return 503; // the system refused, which is not a bug of ours
    case ERR_SPACE: return 507;
    case ERR_CANCELLED: return 408;
    case ERR_NONE:
    case ERR_INTERNAL: return 500;
    }
    return 500;
}

void problem_write(const struct request *request, struct response *response, const struct err *err)
{
    int status = response->status ? response->status : problem_status(err->code);
    const char *word = response->word ? response->word : err_code_word(err->code);
    response->status = status;
    response->word = word;
    response->type = "application/problem+json";
    response->inline_style = false;
    response->runs_module = false;
    response->borrowed = (struct str){NULL, 0};
    if (response->fd >= 0)
        close(response->fd);
    response->fd = -1;
    response->gzipped = false;
    response->etag = STR("");
    response->cache = CACHE_NEVER;
    struct buf *out = &response->body;
    buf_clear(out);
    buf_puts(out, "{\"type\":");
    buf_printf(out, "\"tag:stepscope,2026:problem/%s\",\"title\":", word);
    buf_json(out, str_of(response_phrase(status)));
    buf_printf(out, ",\"status\":%d,\"detail\":", status);
    buf_json(out, str_of(err->msg));
    if (err->code == ERR_FORMAT && err->pos != ERR_NO_POS)
        buf_printf(out, ",\"position\":%llu", (unsigned long long)err->pos);
    if (response->fix.len) {
        buf_puts(out, ",\"fix\":");
        buf_json(out, response->fix);
    }
    buf_puts(out, ",\"request_id\":");
    buf_json(out, str_of(request->id));
    buf_puts(out, "}\n");
}
