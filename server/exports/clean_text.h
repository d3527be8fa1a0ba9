// SPDX-License-Identifier: Apache-2.0
// Text as UTF-8 for formats that take nothing else.
#ifndef SERVER_CLEAN_TEXT_H
#define SERVER_CLEAN_TEXT_H

#include "ingest/base/buf.h"

// Appends the text; each byte that is not UTF-8 becomes U+FFFD.
static inline void clean_text(struct str text, struct buf *out)
{
    while (text.len) {
        size_t valid = str_valid_utf8(text), bad = valid < text.len;
        buf_add(out, text.at, valid);
        if (bad)
            buf_puts(out, "\xEF\xBF\xBD");
        text = (struct str){text.at + valid + bad, text.len - valid - bad};
    }
}

#endif
