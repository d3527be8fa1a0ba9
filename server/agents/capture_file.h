// SPDX-License-Identifier: Apache-2.0
// Requested captures, saved to a file so that they survive a restart of the service.
#ifndef SERVER_CAPTURE_FILE_H
#define SERVER_CAPTURE_FILE_H

#include "server/agents/known_agents.h"

MUST_CHECK bool capture_file_save(const char *path, const struct wanted_capture *captures,
                                  size_t count, struct err *err);

// Returns how many were read: none if the file is missing or damaged, so that the service starts
// anyway.
size_t capture_file_load(const char *path, struct wanted_capture captures[AGENTS_MOST_CAPTURES]);

#endif
