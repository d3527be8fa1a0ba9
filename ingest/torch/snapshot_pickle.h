// SPDX-License-Identifier: Apache-2.0
// Reads a pickled memory snapshot, which may be a file or embedded in one.
#ifndef INGEST_TORCH_SNAPSHOT_PICKLE_H
#define INGEST_TORCH_SNAPSHOT_PICKLE_H

#include "ingest/source/format.h"

MUST_CHECK bool snapshot_pickle_gather(const struct format_input *input, struct err *err);

#endif
