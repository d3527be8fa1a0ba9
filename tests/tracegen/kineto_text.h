// SPDX-License-Identifier: Apache-2.0
// Shared by the two files that write a trace: identities and layout.
#pragma once

#include "tests/tracegen/kineto.h"

enum { KINETO_EVENT_BYTES = 16384 }; // more than any event takes
enum { KINETO_AUTOGRAD_TID = 97 };   // added to the process id

// The white space around an event's members.
struct layout {
    const char *open, *line, *args, *args_end, *close;
};

// As requested on the command line.
const struct layout *kineto_layout(const struct arguments *arguments);

struct kineto {
    struct outfile *out;
    const struct machine *machine;
    const struct rank *rank;
    const struct layout *layout;
    int32_t pid, device;
    uint64_t event_index;
    int64_t sample_ns, sample_busy_ns; // of counters: the current sample
};

void kineto_head(struct kineto *kineto);
void kineto_tail(struct kineto *kineto);

// Writes the counters of the machine's last step.
void counters_step(struct kineto *kineto);
