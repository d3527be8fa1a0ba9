// SPDX-License-Identifier: Apache-2.0
// Which program this is.
#ifndef SERVER_PROGRAM_VERSION_H
#define SERVER_PROGRAM_VERSION_H

extern const char *const program_commit;  // that it was built from; "" if that was not recorded
extern const char *const program_version; // with the commit: programs that differ have another

#endif
