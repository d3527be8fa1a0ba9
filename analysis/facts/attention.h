// SPDX-License-Identifier: Apache-2.0
// Attention that is put together from batched products and a softmax: found once, so that bars,
// categories, parts and findings agree about it.
#ifndef ANALYSIS_ATTENTION_H
#define ANALYSIS_ATTENTION_H

#include "analysis/facts/facts.h"

// What a launch does in such an attention, forward or backward.
enum attention_role {
    ATTENTION_NONE,
    ATTENTION_PRODUCT, // one of its batched products
    ATTENTION_SOFTMAX,
    ATTENTION_MIDDLE, // scaling, mask, dropout, casts: what a fused kernel keeps on the chip
};

// Fills launch.attention, and makes the compute of these launches attention. Needs what surrounds
// the launches (context.h) and the categories; linear in launches.
MUST_CHECK bool attention_make(struct facts *facts, struct err *err);

// Whether a device event is a matrix product, those of unfused attention among them.
bool attention_is_product(const struct facts *facts, uint32_t device);

// Whether a device event is what stands between the products of an unfused attention.
bool attention_is_middle(const struct facts *facts, uint32_t device);

#endif
