-- SPDX-License-Identifier: Apache-2.0
-- Which states, numbers of ranks, severities and GPUs occur together, with their newest runs: lists
-- that sort by these, or look for several, go through it.
CREATE INDEX run_by_facet ON stored_run ((status || ' ' ||
    coalesce(CAST(coalesce(world_size, traced_world_size) AS TEXT), '') || ' ' ||
    coalesce(trust_severity, '') || ' ' || coalesce(gpu, '')), created_ns DESC, id, deleted_ns)
    WHERE deleted_ns IS NULL;
