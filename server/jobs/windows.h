// SPDX-License-Identifier: Apache-2.0
// The windows of the recording that the traces of an archive belong to.
#ifndef SERVER_WINDOWS_H
#define SERVER_WINDOWS_H

#include "server/jobs/members.h"

// The window of each member; "" if it belongs to the archive's run itself, as all do if there is
// one window only. Windows are folders iteration_N or step_N. If there are not several, but each
// process wrote several traces PROCESS.TIME.pt.trace.json, as torch.profiler's
// tensorboard_trace_handler names them, and all wrote equally many, the first of each process is in
// window_1, the second in window_2, and so on. NULL if memory is short.
MUST_CHECK struct str *windows_of(const struct member_list *members, struct arena *arena,
                                  struct err *err);

#endif
