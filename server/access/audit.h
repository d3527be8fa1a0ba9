// SPDX-License-Identifier: Apache-2.0
// Who changed what, and when: rows that nobody can change, and the same as lines of a file.
#ifndef SERVER_AUDIT_H
#define SERVER_AUDIT_H

#include "server/http/response.h"
#include "server/store/store.h"

struct audit;

#define AUDIT_FILE      "audit.log"
#define AUDIT_MAX_FILES 1000 // put aside beside it

// Lines go to DIR/audit.log. ERR_IO when that cannot be written. Pair with audit_close.
MUST_CHECK struct audit *audit_open(struct store *store, const char *data_dir, struct err *err);
void audit_close(struct audit *audit); // NULL is allowed; before the store's

// From now on a file of so many bytes is put aside as audit.log.1, that as audit.log.2 and so on,
// of which so many stay; older ones go. 0 bytes: never. Before other threads use it.
void audit_rotate(struct audit *audit, uint64_t file_bytes, int64_t files);

struct audit_entry {
    struct str who, peer, action, object, request_id;
    int status;
};

// Writes one entry, with the time. What cannot be written is logged: the change itself is made.
// Requests that were refused alike (status from 400 on) have one entry for each hour.
void audit_write(struct audit *audit, const struct audit_entry *entry);

// Brings the counts of refused requests into the database, and ends those of hours that are over.
void audit_settle(struct audit *audit); // NULL is allowed

// Bytes of the file and of those put aside.
uint64_t audit_file_bytes(const struct audit *audit);

// Names the upload, its run and the bytes that came, as what the request was about.
void audit_name_upload(struct request *request, const struct upload *upload);

// Writes the entry of a request that was answered, if it is one that counts: changes, sessions,
// downloads of raw files.
void audit_request(struct request *request, const struct response *response);

#endif
