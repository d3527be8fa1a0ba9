-- SPDX-License-Identifier: Apache-2.0
-- Indexes for runs on a GPU, with a note, by a figure that lists show, and of a project in a state.
-- Notes are not in their index: they may have 4,000 bytes, and a key at most 2,704.
CREATE INDEX run_by_gpu ON stored_run (gpu, created_ns DESC, id, deleted_ns)
    WHERE deleted_ns IS NULL;
CREATE INDEX run_by_note ON stored_run (created_ns DESC, id, deleted_ns)
    WHERE deleted_ns IS NULL AND note <> '';
CREATE INDEX run_by_project_status ON stored_run (project, status, created_ns DESC, id, deleted_ns)
    WHERE deleted_ns IS NULL;
CREATE INDEX figure_by_value ON figure (metric, value, run_id)
    WHERE (metric = 'attention_ns' OR metric = 'busy_share'
        OR metric = 'exposed_comm_ns' OR metric = 'exposed_comm_share'
        OR metric = 'exposed_memory_ns' OR metric = 'findings'
        OR metric = 'gemm_ns' OR metric = 'hfu'
        OR metric = 'idle_host_wait_ns' OR metric = 'idle_other_ns'
        OR metric = 'loss' OR metric = 'memory_share'
        OR metric = 'mfu' OR metric = 'other_compute_ns'
        OR metric = 'power_w' OR metric = 'step_median_ns'
        OR metric = 'tflops_per_gpu' OR metric = 'tokens_per_j'
        OR metric = 'tokens_per_s_per_gpu' OR metric = 'unrecorded_ns');
