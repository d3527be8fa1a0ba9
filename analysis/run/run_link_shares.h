// SPDX-License-Identifier: Apache-2.0
// How much of what the links have reached in tests the collectives of a run reach.
#ifndef ANALYSIS_RUN_LINK_SHARES_H
#define ANALYSIS_RUN_LINK_SHARES_H

#include "analysis/report/report.h"

// Adds link_curves from the table link_tests of the same report, and fills the group reference of
// comm_waits and collectives; does nothing for a report without tests of collectives.
MUST_CHECK bool run_link_shares(struct report *report, struct err *err);

#endif
