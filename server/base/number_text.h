// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_NUMBER_TEXT_H
#define SERVER_NUMBER_TEXT_H

#include "ingest/base/buf.h"

// A number with its unit as people read it: "28.67 ms", "68.7 GB", "41.2 %", "11,250".
void number_text_add(double number, const char *unit, struct buf *out);

#endif
