// SPDX-License-Identifier: Apache-2.0
// Who changed what, and when: rows that nobody can change, and the same as lines of a file.
#ifndef SERVER_AUDIT_H
#define SERVER_AUDIT_H

#include "server/http/response.h"
#include "server/store/store.h"

struct audit;

#define AUDIT_FILE      "audit.log"
#define AUDIT_MAX_FILES 1000 // most rotated files

// Lines go to DIR/audit.log. ERR_IO if that cannot be written. Pair with audit_close.
MUST_CHECK struct audit *audit_open(struct store *store, const char *data_dir, struct err *err);
void audit_close(struct audit *audit); // NULL is allowed; before the store is closed

// From now on a file of file_bytes is rotated to audit.log.1, that to audit.log.2 and so on, up to
// the given number; older ones are removed. 0 bytes: never. Call before other threads use it.
void audit_rotate(struct audit *audit, uint64_t file_bytes, int64_t files);

struct audit_entry {
    struct str who, peer, action, object, request_id;
    int status;
};

// Writes one entry with the time. If that fails it is logged: the change itself has happened. Equal
// refused requests (status from 400 on) share one entry per hour.
void audit_write(struct audit *audit, const struct audit_entry *entry);

// Stores the counts of refused requests in the database, and ends those of past hours.
void audit_settle(struct audit *audit); // NULL is allowed

// Bytes of the file and its rotated copies.
uint64_t audit_file_bytes(const struct audit *audit);

// Records the upload, its run and the bytes received as the object of the request.
void audit_name_upload(struct request *request, const struct upload *upload);

// Writes the entry of an answered request, if it is of a kind that is logged: changes, sessions,
// downloads of raw files.
void audit_request(struct request *request, const struct response *response);

#endif
