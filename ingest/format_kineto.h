// SPDX-License-Identifier: Apache-2.0
// The format descriptor of PyTorch and Chrome trace JSON.
#ifndef INGEST_FORMAT_KINETO_H
#define INGEST_FORMAT_KINETO_H

#include "ingest/format.h"

extern const struct format format_kineto;

// Reads as format_kineto does, every event member by member: the twin that tests hold beside it.
MUST_CHECK bool kineto_read_plain(struct source *source, struct trace_builder *builder,
                                  struct budget *budget, struct progress *progress,
                                  struct err *err);

#endif
