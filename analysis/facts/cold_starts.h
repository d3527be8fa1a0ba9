// SPDX-License-Identifier: Apache-2.0
// Calls that took long because they were the first of their kind: code loading, context creation,
// first allocations. And compilation by torch.compile, where few steps have any.
#ifndef ANALYSIS_COLD_STARTS_H
#define ANALYSIS_COLD_STARTS_H

#include "analysis/facts/facts.h"
#include "analysis/names/host_traits.h"

// The first call of a kind takes at least this long and this many times the median of later ones.
// Or, without later ones, it takes COLD_ALONE_NS, or is a kernel launch while first launches take
// COLD_FROM_NS more than COLD_OFTEN times as often as later ones.
#define COLD_FROM_NS  1000000
#define COLD_TIMES    10
#define COLD_ALONE_NS 10000000
#define COLD_OFTEN    2
// One step cannot show whether the next would allocate again: there, a call that allocates or frees
// and occurs once is cold if it takes this long, as only context creation does.
#define COLD_ALONE_ALLOCATOR_NS 100000000

// Makes traits treat these first calls as cold (host_traits_of). The kind of a launch is its
// kernel, that of any other call, and of a graph launch, its own name; calls that copy or wait for
// the device are excluded. The list lives in arena. Linear. Compilations of COLD_FROM_NS or more
// are cold starts where fewer than half of the steady steps contain one, and at most one of these
// follows one without: what is compiled again and again is not.
MUST_CHECK bool cold_starts_find(const struct facts *facts, struct arena *arena,
                                 struct host_traits *traits, struct err *err);

#endif
