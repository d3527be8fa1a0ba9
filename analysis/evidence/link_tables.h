// SPDX-License-Identifier: Apache-2.0
// The tables of tests and records of links.
#ifndef ANALYSIS_EVIDENCE_LINK_TABLES_H
#define ANALYSIS_EVIDENCE_LINK_TABLES_H

#include "analysis/report/report.h"
#include "ingest/evidence/evidence.h"

enum { LINK_TABLE_ROWS = 20000 }; // at most, of each table

// Adds link_tests, link_topology, link_ports, link_records and link_communicators, and to the trust
// report what was left out or wrong; nothing for a file without any of it.
MUST_CHECK bool link_tables_add(const struct evidence *evidence, struct str file,
                                struct report *report, struct err *err);

// Adds the tables of records: link_records and link_communicators. Adds to *left_out the rows
// beyond LINK_TABLE_ROWS.
MUST_CHECK bool link_records_add(const struct link_tests *links, struct str file,
                                 struct report *report, size_t *left_out, struct err *err);

#endif
