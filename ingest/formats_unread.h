// SPDX-License-Identifier: Apache-2.0
// Formats that are recognized but not read, each with advice on what to do instead.
#ifndef INGEST_FORMATS_UNREAD_H
#define INGEST_FORMATS_UNREAD_H

#include "ingest/source/format.h"

extern const struct format formats_unread[];
extern const size_t formats_unread_count;

#endif
