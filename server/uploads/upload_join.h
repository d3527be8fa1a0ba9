// SPDX-License-Identifier: Apache-2.0
// Files of an upload that are read as one become one.
#ifndef SERVER_UPLOAD_JOIN_H
#define SERVER_UPLOAD_JOIN_H

#include "server/uploads/upload_form.h"

// Joins the sets among the form's files. The files of a set have the same rank, or none.
MUST_CHECK bool upload_join(struct request *request, struct upload_form *form, struct err *err);

#endif
