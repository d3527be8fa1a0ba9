// SPDX-License-Identifier: Apache-2.0
// Members of a document that are kept as JSON text, without their secrets.
#ifndef INGEST_MEMBER_CLEAN_H
#define INGEST_MEMBER_CLEAN_H

#include "ingest/base/buf.h"

// The value of a member without what its key, or a name inside it, tells to be a secret. Both are
// raw JSON. The result is text itself or lies in clean, which is empty before; a text grown past
// the longest that can be kept is cut by whoever keeps it.
struct str member_clean(struct str key, struct str text, struct buf *clean);

#endif
