// SPDX-License-Identifier: Apache-2.0
// Which rank of its job a process is, by what a launcher put into its environment.
#ifndef SERVER_PROCESS_RANK_H
#define SERVER_PROCESS_RANK_H

#include "ingest/base/str.h"

#include <stdint.h>
#include <sys/types.h>

// environment: variables, each ended by NUL. RANK comes before that of MPI, and that before that of
// Slurm, which is only a rank if srun started several tasks on the node: otherwise a script has it,
// too, and all that it starts. -1: unknown.
int64_t process_rank_in(struct str environment);

// That of a process, as far as this user may see it.
int64_t process_rank_of(pid_t pid);

#endif
