// SPDX-License-Identifier: Apache-2.0
// A growing byte buffer for building text. Once an addition fails, it stays failed; check at the
// end.
#ifndef INGEST_BASE_BUF_H
#define INGEST_BASE_BUF_H

#include "ingest/base/err.h"
#include "ingest/base/str.h"

struct buf {
    char *at; // NUL-terminated once anything was added
    size_t len;
    size_t cap;
    bool failed; // out of memory
};

void buf_free(struct buf *buf);
void buf_clear(struct buf *buf);
void buf_add(struct buf *buf, const void *bytes, size_t len);
void buf_add_str(struct buf *buf, struct str text);
void buf_puts(struct buf *buf, const char *text);
void buf_putc(struct buf *buf, char c);
void buf_i64(struct buf *buf, int64_t value);
void buf_printf(struct buf *buf, const char *fmt, ...) PRINTF_LIKE(2, 3);

// Shortest decimal text that reads back as the same double; "null" for NaN and infinities.
void buf_f64(struct buf *buf, double value);

// Untrusted text; invalid UTF-8 and control characters become U+FFFD.
void buf_add_shown(struct buf *buf, struct str raw);

// A quoted JSON string; the text must be UTF-8 (other bytes become U+FFFD).
void buf_json(struct buf *buf, struct str text);
void buf_json_or_null(struct buf *buf, const char *text); // null for NULL

// False with ERR_LIMIT if any addition ran out of memory.
MUST_CHECK bool buf_ok(const struct buf *buf, struct err *err);

#endif
