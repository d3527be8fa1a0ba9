// SPDX-License-Identifier: Apache-2.0
// A comparison of two sides for a terminal, and for programs.
#ifndef SERVER_PRINT_COMPARE_H
#define SERVER_PRINT_COMPARE_H

#include "server/compare/gate.h"

#include <stdio.h>

// The three lines, the sides, settings that differ, the eight bars, the largest changes.
void print_compare_text(const struct gate_question *question, const struct gate_answer *answer,
                        FILE *out);

// The same plus all tables of the comparison as one object.
MUST_CHECK bool print_compare_json(const struct gate_question *question,
                                   const struct gate_answer *answer, FILE *out, struct err *err);

#endif
