// SPDX-License-Identifier: Apache-2.0
// The tables of tokens and of the audit log as the API shows them.
#ifndef SERVER_ACCESS_TABLES_H
#define SERVER_ACCESS_TABLES_H

#include "analysis/report/report.h"

extern const struct table_desc table_tokens;
extern const struct table_desc table_audit;

// Both, NULL-terminated.
extern const struct table_desc *const access_tables[];

#endif
