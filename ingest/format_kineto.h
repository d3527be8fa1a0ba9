// SPDX-License-Identifier: Apache-2.0
// The format descriptor of PyTorch and Chrome trace JSON.
#ifndef INGEST_FORMAT_KINETO_H
#define INGEST_FORMAT_KINETO_H

#include "ingest/format.h"

extern const struct format format_kineto;

#endif
