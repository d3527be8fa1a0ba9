// SPDX-License-Identifier: Apache-2.0
// The heap of a process that reads traces and then ends.
#ifndef SERVER_BASE_JOB_HEAP_H
#define SERVER_BASE_JOB_HEAP_H

// Before the first thread starts: all threads share one heap in huge pages where the system has
// them, and what they free stays there for the next step of the job. Otherwise every large block is
// mapped, filled page by page and unmapped again, which took a sixth of a job. Does nothing under
// another allocator.
void job_heap_begin(void);

#endif
