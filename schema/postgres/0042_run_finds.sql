-- SPDX-License-Identifier: Apache-2.0
-- Runs of a GPU, by a figure that lists show, and of a project in a state.
CREATE INDEX run_by_gpu ON stored_run (gpu, created_ns DESC, id, deleted_ns)
    WHERE deleted_ns IS NULL;
CREATE INDEX run_by_project_status ON stored_run (project, status, created_ns DESC, id, deleted_ns)
    WHERE deleted_ns IS NULL;
CREATE INDEX figure_by_value ON figure (metric, value, run_id)
    WHERE metric IN ('attention_ns', 'busy_share', 'exposed_comm_ns', 'exposed_comm_share',
        'exposed_memory_ns', 'findings', 'gemm_ns', 'hfu', 'idle_host_wait_ns', 'idle_other_ns',
        'loss', 'memory_share', 'mfu', 'other_compute_ns', 'power_w', 'step_median_ns',
        'tflops_per_gpu', 'tokens_per_j', 'tokens_per_s_per_gpu', 'unrecorded_ns');
