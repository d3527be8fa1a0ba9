// SPDX-License-Identifier: Apache-2.0
// Error formatting.
#include "ingest/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

PRINTF_LIKE(3, 0)
static void fill(struct err *err, enum err_code code, const char *fmt, va_list args)
{
    err->code = code;
    err->pos = ERR_NO_POS;
    vsnprintf(err->msg, sizeof err->msg, fmt, args);
}

bool err_set(struct err *err, enum err_code code, const char *fmt, ...)
{
    if (err) {
        va_list args;
        va_start(args, fmt);
        fill(err, code, fmt, args);
        va_end(args);
    }
    return false;
}

bool err_set_at(struct err *err, enum err_code code, uint64_t pos, const char *fmt, ...)
{
    if (err) {
        va_list args;
        va_start(args, fmt);
        fill(err, code, fmt, args);
        va_end(args);
        err->pos = pos;
    }
    return false;
}

// EFBIG: over the file size limit of this process.
static bool is_full(int number)
{
    return number == ENOSPC || number == EDQUOT || number == EFBIG;
}

bool err_set_errno(struct err *err, const char *fmt, ...)
{
    int number = errno;
    if (!err)
        return false;
    va_list args;
    va_start(args, fmt);
    fill(err, is_full(number) ? ERR_SPACE : ERR_IO, fmt, args);
    va_end(args);
    size_t len = strlen(err->msg);
    snprintf(err->msg + len, sizeof err->msg - len, ": %s", strerror(number));
    return false;
}

bool err_wrap(struct err *err, const char *fmt, ...)
{
    if (!err)
        return false;
    char inner[sizeof err->msg];
    memcpy(inner, err->msg, sizeof inner);
    va_list args;
    va_start(args, fmt);
    vsnprintf(err->msg, sizeof err->msg, fmt, args);
    va_end(args);
    size_t len = strlen(err->msg);
    snprintf(err->msg + len, sizeof err->msg - len, ": %.200s", inner);
    return false;
}

const char *err_code_word(enum err_code code)
{
    switch (code) {
    case ERR_NONE: return "none";
    case ERR_USAGE: return "usage";
    case ERR_NOT_FOUND: return "not-found";
    case ERR_DENIED: return "denied";
    case ERR_CONFLICT: return "conflict";
    case ERR_FORMAT: return "format";
    case ERR_LIMIT: return "limit";
    case ERR_MEMORY: return "memory";
    case ERR_UNSUPPORTED: return "unsupported";
    case ERR_BUSY: return "busy";
    case ERR_SPACE: return "space";
    case ERR_IO: return "io";
    case ERR_CANCELLED: return "cancelled";
    case ERR_INTERNAL: return "internal";
    }
    return "internal";
}
