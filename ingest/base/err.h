// SPDX-License-Identifier: Apache-2.0
// The one error type: a code for callers, a position in the input, and a sentence for people.
#ifndef INGEST_BASE_ERR_H
#define INGEST_BASE_ERR_H

#include <stdbool.h>
#include <stdint.h>

#define MUST_CHECK        __attribute__((warn_unused_result))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))

// What went wrong, as far as callers care. server/http/http.c maps it to an HTTP status and
// server/cli/main.c to an exit code, each in one switch.
enum err_code {
    ERR_NONE,
    ERR_USAGE,       // the request or command line is wrong
    ERR_NOT_FOUND,   // no such run, file, table
    ERR_DENIED,      // the caller is not allowed to do this
    ERR_CONFLICT,    // the object exists with other content, or has changed in the meantime
    ERR_FORMAT,      // the input is not what it claims to be; see pos
    ERR_LIMIT,       // a budget or limit is exceeded
    ERR_MEMORY,      // out of memory for now; try again later
    ERR_UNSUPPORTED, // recognized, but not supported by this build
    ERR_BUSY,        // try again later
    ERR_SPACE,       // no space left on the device
    ERR_IO,          // the operating system refused a read or write
    ERR_CANCELLED,   // cancelled on request
    ERR_INTERNAL,    // a bug of ours
};

#define ERR_NO_POS UINT64_MAX

struct err {
    enum err_code code;
    uint64_t pos; // byte offset in the (decompressed) input, or ERR_NO_POS
    char msg[240];
};

// Fills *err and returns false, so that a caller can write `return err_set(...)`. err may be NULL.
bool err_set(struct err *err, enum err_code code, const char *fmt, ...) PRINTF_LIKE(3, 4);

// Same, with a byte position.
bool err_set_at(struct err *err, enum err_code code, uint64_t pos, const char *fmt, ...)
    PRINTF_LIKE(4, 5);

// Reports errno of a failed system call: "what: text of errno". ENOSPC and EDQUOT become ERR_SPACE.
bool err_set_errno(struct err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

// Puts "prefix: " before the message to add context on the way up. Returns false.
bool err_wrap(struct err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

// A short stable word for the code ("not-found"), used in API problem types.
const char *err_code_word(enum err_code code);

#endif
