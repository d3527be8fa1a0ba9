// SPDX-License-Identifier: Apache-2.0
// Names from outside as text that hides nothing and does not reorder what is around it.
#ifndef INGEST_VISIBLE_H
#define INGEST_VISIBLE_H

#include "ingest/base/buf.h"

// Adds untrusted text for people, on one line: characters without width, that change the direction
// of text or that control a terminal become their code, "[U+202E]"; invalid UTF-8 becomes U+FFFD.
// Joiners and selectors, which emoji and some scripts need, stay.
void buf_add_visible(struct buf *buf, struct str raw);

#endif
