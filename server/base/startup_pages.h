// SPDX-License-Identifier: Apache-2.0
// What only starting took of a process's memory.
#ifndef SERVER_STARTUP_PAGES_H
#define SERVER_STARTUP_PAGES_H

// Hands back the pages of code and constant data, most of which the start-up of libraries touched.
// What is needed again comes back from the system's cache of files, at a minor fault a page.
void startup_pages_release(void);

#endif
