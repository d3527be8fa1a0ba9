// SPDX-License-Identifier: Apache-2.0
// Copies of pageable memory whose call waits for the device although it is an asynchronous one.
#ifndef ANALYSIS_AWAITED_COPIES_H
#define ANALYSIS_AWAITED_COPIES_H

#include "analysis/facts/facts.h"
#include "analysis/names/host_traits.h"

// Makes traits treat such calls as synchronizing (host_traits_of): the copy had ended when its call
// returned. CUDA promises that for copies to pageable memory, which `tensor.cpu()` makes. The list
// lives in arena. Linear.
MUST_CHECK bool awaited_copies_find(const struct facts *facts, struct arena *arena,
                                    struct host_traits *traits, struct err *err);

#endif
