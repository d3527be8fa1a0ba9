// SPDX-License-Identifier: Apache-2.0
#include "server/base/program_version.h"

const char *const program_commit = BUILT_FROM;
const char *const program_version = STEPSCOPE_VERSION "-" BUILT_FROM;
