// SPDX-License-Identifier: Apache-2.0
// Members of a document that are kept as JSON text, with their secrets redacted.
#ifndef INGEST_MEMBER_CLEAN_H
#define INGEST_MEMBER_CLEAN_H

#include "ingest/base/buf.h"

// The value of a member without what its key, or a name inside it, marks as a secret. Both are raw
// JSON. The result is text itself or is in clean, which starts empty; the caller cuts a text that
// has grown beyond what can be kept.
struct str member_clean(struct str key, struct str text, struct buf *clean);

#endif
