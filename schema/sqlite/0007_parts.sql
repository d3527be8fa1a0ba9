-- SPDX-License-Identifier: Apache-2.0
-- What the bars of a run consist of is kept of each rank only (trace_table), by shapes and modules.
DROP TABLE run_parts;
