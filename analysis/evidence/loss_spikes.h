// SPDX-License-Identifier: Apache-2.0
// Tells sudden rises of a loss from its noise.
#ifndef ANALYSIS_EVIDENCE_LOSS_SPIKES_H
#define ANALYSIS_EVIDENCE_LOSS_SPIKES_H

#include <stdbool.h>
#include <stddef.h>

enum { LOSS_WINDOW = 64, LOSS_LEAST = 16 };

// The losses before; starts as zeros.
struct loss_window {
    double latest[LOSS_WINDOW]; // a ring
    double sorted[LOSS_WINDOW];
    size_t count, next;
};

// Whether a loss is a spike, judged by the LOSS_WINDOW before it: more than 6 standard deviations
// (1.4826 times the median absolute deviation) and 2 % above their median. Never with fewer than
// LOSS_LEAST before it. Then adds it; it must be finite.
bool loss_spikes(struct loss_window *window, double loss);

#endif
