// SPDX-License-Identifier: Apache-2.0
// Attention composed of batched products and a softmax: found once, so that bars, categories, parts
// and findings agree about it.
#ifndef ANALYSIS_ATTENTION_H
#define ANALYSIS_ATTENTION_H

#include "analysis/facts/facts.h"

// The role of a launch in such an attention, forward or backward.
enum attention_role {
    ATTENTION_NONE,
    ATTENTION_PRODUCT, // one of its batched products
    ATTENTION_SOFTMAX,
    ATTENTION_MIDDLE, // scaling, mask, dropout, casts: what a fused kernel keeps on chip
};

// Sets launch.attention, and the category of these launches' compute to attention. Needs the
// launches' context (context.h) and categories; linear in launches.
MUST_CHECK bool attention_make(struct facts *facts, struct err *err);

// Whether a device event is a matrix product, including those of unfused attention.
bool attention_is_product(const struct facts *facts, uint32_t device);

// Whether a device event is between the products of an unfused attention.
bool attention_is_middle(const struct facts *facts, uint32_t device);

#endif
