// SPDX-License-Identifier: Apache-2.0
// The properties of a copy or memset on the device: its direction, its host memory, its size, its
// call.
#ifndef ANALYSIS_COPY_KIND_H
#define ANALYSIS_COPY_KIND_H

#include "analysis/facts/facts.h"

enum copy_host { COPY_HOST_UNKNOWN, COPY_HOST_PAGEABLE, COPY_HOST_PINNED, COPY_HOST_COUNT };
enum copy_wait { COPY_WAIT_UNKNOWN, COPY_WAIT_NO, COPY_WAIT_YES, COPY_WAIT_COUNT };

struct copy_kind {
    enum copy_direction direction;
    enum copy_host host;
    enum copy_wait wait; // whether the launching call returns only once the copy is done
    int64_t bytes;       // VALUE_ABSENT if not given
};

// The information in names, read once per name.
struct copy_names {
    const struct facts *facts;
    uint8_t *names; // per text
};

// Reads the names of the memory class's events and their launches; lives in arena.
MUST_CHECK bool copy_names_make(const struct facts *facts, struct arena *arena,
                                struct copy_names *names, struct err *err);

// For a device event of the memory class.
//
// The direction is what the launching call requested, if recorded (by HIP), because ROCm records
// copies from and to pinned host memory as device to device; otherwise it is taken from the name.
// The call waits if it ends no earlier than the copy. Calls that are not copies (graph launches)
// and asynchronous calls without pageable memory never wait; synchronous copies to the host always
// do, though clocks that differ by a microsecond may suggest otherwise.
struct copy_kind copy_kind_of(const struct copy_names *names, uint32_t device);

// Whether the launch is a call that copies or sets memory, so that its time counts as theirs.
bool copy_kind_is_call(const struct copy_names *names, uint32_t launch);

#endif
