// SPDX-License-Identifier: Apache-2.0
// Each rule finds its planted case with the right cost, and a busy device gives no findings.
#include "tests/unit/findings_hand.h"

static void a_busy_device_gives_no_findings(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int i = 0; i < 10; i++)
        add_gemm(&hand, i * MS, MS, i * MS / 10 - MS);
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "findings"), 0);
    hand_end(&hand);
}

static void a_device_that_waits_for_launches_is_launch_bound(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_gemm(&hand, 0, 6 * MS, -MS);
    add_gemm(&hand, 9 * MS, MS, 8 * MS);  // launched in the gap: 3 ms
    add_gemm(&hand, 12 * MS, MS, 2 * MS); // launched long before the gap: not the host's
    hand_analyze(&hand);
    assert_int_equal(cost_of(&hand, "launch_bound"), 3 * MS);
    assert_string_equal(hand_word(&hand, "findings", 0, "severity"), "high"); // 3 of 13 ms
    assert_non_null(strstr(hand_word(&hand, "findings", 0, "evidence"), "\"href\":\"idle_gaps\""));
    assert_non_null(strstr(hand_word(&hand, "findings", 0, "evidence"),
                           "\"href\":\"timeline?at=6000000-9000000\""));
    hand_end(&hand);
}

// The host does something from 5 ms to 8 ms; the device waits for it from 6 ms to 9 ms.
static void starve(struct hand *hand, enum event_kind kind, const char *name)
{
    const char *launch = strncmp(name, "hip", 3) == 0 ? "hipLaunchKernel" : "cudaLaunchKernel";
    struct hand_event work = {.kind = EVENT_KERNEL, .name = "sgemm", .row = 7, .dur_ns = 6 * MS};
    hand_begin(hand);
    add_work(hand, work, launch, -MS);
    work.begin_ns = 9 * MS;
    work.dur_ns = MS;
    add_work(hand, work, launch, 8 * MS);
    hand_add(
        hand,
        (struct hand_event){
            .kind = kind, .name = name, .begin_ns = 5 * MS, .dur_ns = 3 * MS, .pid = 1, .row = 1});
    hand_analyze(hand);
}

static void starvation_is_split_by_what_the_host_did(void **state)
{
    (void)state;
    static const struct {
        enum event_kind kind;
        const char *name, *rule, *advice;
    } cases[] = {
        {EVENT_ANNOTATION, "enumerate(DataLoader)#Iter.__next__", "starved_data_loading",
         "workers"},
        {EVENT_RUNTIME, "cudaStreamSynchronize", "starved_sync", ".item()"},
        {EVENT_RUNTIME, "cudaMalloc", "starved_allocator", "set PYTORCH_CUDA_ALLOC_CONF"},
        {EVENT_RUNTIME, "cudaHostAlloc", "starved_allocator", "pin_memory"},
        {EVENT_RUNTIME, "hipMalloc", "starved_allocator", "Only new versions"},
        {EVENT_CPU_OP, "aten::add", "launch_bound", "1 ms or more"},
        {EVENT_RUNTIME, "cudaGraphLaunch", "launch_bound", "per launch"},
        {EVENT_ANNOTATION, "_compile.compile_inner (dynamo_timed)", "launch_bound", "TORCH_LOGS"},
        {EVENT_ANNOTATION, "gloo:all_reduce", "host_collectives", "nccl"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand hand;
        starve(&hand, cases[i].kind, cases[i].name);
        assert_int_equal(hand_rows(&hand, "findings"), 1);
        assert_int_equal(cost_of(&hand, cases[i].rule), 3 * MS);
        assert_non_null(strstr(hand_word(&hand, "findings", 0, "advice"), cases[i].advice));
        assert_string_equal(hand_word(&hand, "findings", 0, "id"), cases[i].rule);
        hand_end(&hand);
    }
}

static void jax_is_given_its_own_words(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    trace_builder_recorder(hand.builder, RECORDER_XLA);
    add_gemm(&hand, 0, 6 * MS, -MS);
    add_gemm(&hand, 9 * MS, MS, 8 * MS);
    hand_analyze(&hand);
    assert_int_equal(cost_of(&hand, "launch_bound"), 3 * MS);
    assert_non_null(strstr(hand_word(&hand, "findings", 0, "advice"), "jax.jit"));
    hand_end(&hand);
}

static void add_host(struct hand *hand, enum event_kind kind, const char *name, int64_t begin_ns,
                     int64_t correlation)
{
    hand_add(hand, (struct hand_event){.kind = kind,
                                       .name = name,
                                       .begin_ns = begin_ns,
                                       .dur_ns = kind == EVENT_CPU_OP ? 20 * US : 4 * US,
                                       .pid = 1,
                                       .row = 1,
                                       .correlation = correlation});
}

// The host reads a value each 100 us: 50 us after the kernel before, with the operator, the copy is
// done; 24 us later it has launched the next kernel.
static void calls_that_wait_often_are_found_though_each_is_short(void **state)
{
    (void)state;
    for (int64_t calls = 4; calls <= 6; calls += 2) {
        struct hand hand;
        hand_begin(&hand);
        add_gemm(&hand, 0, 20 * US, -MS);
        for (int64_t i = 0; i < calls; i++) {
            int64_t now_ns = (100 * i + 50) * US;
            add_host(&hand, EVENT_CPU_OP, "aten::item", now_ns, 0);
            add_host(&hand, EVENT_RUNTIME, "cudaMemcpyAsync", now_ns + 2 * US, 1000 * MS + i);
            hand_add(&hand, (struct hand_event){.kind = EVENT_MEMCPY,
                                                .name = "Memcpy DtoH (Device -> Pinned)",
                                                .begin_ns = now_ns + 7 * US,
                                                .dur_ns = US,
                                                .row = 7,
                                                .correlation = 1000 * MS + i});
            add_host(&hand, EVENT_RUNTIME, "cudaStreamSynchronize", now_ns + 8 * US, 0);
            add_gemm(&hand, now_ns + 32 * US, 38 * US, now_ns + 30 * US);
        }
        hand_analyze(&hand);
        assert_int_equal(has_finding(&hand, "frequent_syncs"), calls == 6);
        if (calls == 6) {
            size_t row = hand_find(&hand, "findings", "rule", "frequent_syncs");
            assert_non_null(strstr(hand_word(&hand, "findings", row, "title"),
                                   "6 synchronizing calls in the recording, most by aten::item"));
            // 37 us before each copy (the first: 37) and 24 after it.
            assert_int_equal(cost_of(&hand, "frequent_syncs"), 6 * (37 + 24) * US);
        }
        hand_end(&hand);
    }
}

// Values read from pageable memory, by calls of 40 us: without a wait for the stream, with one, and
// with one where no operators were recorded.
static void copies_that_wait_are_synchronizing_calls(void **state)
{
    (void)state;
    for (int waits = 0; waits < 3; waits++) {
        struct hand hand;
        hand_begin(&hand);
        add_gemm(&hand, 0, 20 * US, -MS);
        for (int64_t i = 0; i < 6; i++) {
            int64_t now_ns = (200 * i + 20) * US;
            if (waits < 2)
                hand_add(&hand, (struct hand_event){.kind = EVENT_CPU_OP,
                                                    .name = "aten::_local_scalar_dense",
                                                    .begin_ns = now_ns,
                                                    .dur_ns = 60 * US,
                                                    .pid = 1,
                                                    .row = 1});
            hand_add(&hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                                .name = "cudaMemcpyAsync",
                                                .begin_ns = now_ns + US,
                                                .dur_ns = 40 * US,
                                                .pid = 1,
                                                .row = 1,
                                                .correlation = 1000 * MS + i});
            hand_add(&hand, (struct hand_event){.kind = EVENT_MEMCPY,
                                                .name = "Memcpy DtoH (Device -> Pageable)",
                                                .begin_ns = now_ns + 30 * US,
                                                .dur_ns = US,
                                                .row = 7,
                                                .correlation = 1000 * MS + i});
            if (waits)
                add_host(&hand, EVENT_RUNTIME, "cudaStreamSynchronize", now_ns + 45 * US, 0);
            add_gemm(&hand, now_ns + 80 * US, 100 * US, now_ns + 70 * US);
        }
        hand_analyze(&hand);
        size_t row = hand_find(&hand, "findings", "rule", "frequent_syncs");
        assert_non_null(strstr(hand_word(&hand, "findings", row, "title"),
                               "6 synchronizing calls in the recording"));
        assert_true(evidence_has(&hand, "frequent_syncs",
                                 waits ? "a call takes 44.0 us" : "a call takes 40.0 us"));
        hand_end(&hand);
    }
}

static void add_comm(struct hand *hand, int64_t stream, int64_t begin_ns, int64_t dur_ns)
{
    hand_kernel(hand, "ncclDevKernel_AllReduce_Sum", stream, begin_ns, dur_ns);
}

static void communication_that_nothing_hides_is_found(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_gemm(&hand, 0, 10 * MS, -MS);
    add_comm(&hand, 20, 2 * MS, 7 * MS);
    add_comm(&hand, 20, 9 * MS, 3 * MS); // the last 2 ms run alone
    hand_analyze(&hand);
    assert_int_equal(cost_of(&hand, "exposed_communication"), 2 * MS);
    assert_false(has_finding(&hand, "low_overlap")); // 8 of 10 ms are hidden
    hand_end(&hand);
}

static void communication_beside_nothing_has_low_overlap(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_gemm(&hand, 0, 10 * MS, -MS);
    add_comm(&hand, 7, 10 * MS, 3 * MS);
    hand_analyze(&hand);
    assert_int_equal(cost_of(&hand, "low_overlap"), 3 * MS);
    size_t row = hand_find(&hand, "findings", "rule", "low_overlap");
    assert_string_equal(hand_word(&hand, "findings", row, "confidence"), "high"); // one stream
    assert_non_null(strstr(hand_word(&hand, "findings", row, "evidence"), "waiting for other"));
    hand_end(&hand);
}

// A product by an operator of the backward, if `training`, then an all_reduce of that group.
static void run_groups(struct hand *hand, bool training, const char *description)
{
    hand_begin(hand);
    if (training)
        hand_add(hand,
                 (struct hand_event){.kind = EVENT_CPU_OP,
                                     .name = "autograd::engine::evaluate_function: MmBackward0",
                                     .begin_ns = -2 * MS,
                                     .dur_ns = 2 * MS,
                                     .pid = 1,
                                     .row = 1});
    hand_add(hand, (struct hand_event){.kind = EVENT_CPU_OP,
                                       .name = "aten::mm",
                                       .begin_ns = -MS,
                                       .dur_ns = MS,
                                       .pid = 1,
                                       .row = 1});
    add_gemm(hand, 0, 10 * MS, -MS / 2);
    hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                       .name = "ncclDevKernel_AllReduce_Sum",
                                       .begin_ns = 10 * MS,
                                       .dur_ns = 3 * MS,
                                       .row = 7,
                                       .collective = "allreduce",
                                       .group = "2",
                                       .description = description});
    hand_analyze(hand);
}

static void results_that_are_needed_at_once_have_no_low_overlap(void **state)
{
    (void)state;
    static const struct {
        bool training;
        const char *group;
        bool found;
    } cases[] = {
        {true, "mesh_dp", true},   {true, "DATA_PARALLEL_GROUP_WITH_CONTEXT", true},
        {true, "undefined", true}, {false, "undefined", false}, // inference
        {true, "tp", false},       {true, "mesh_etp", false},
        {true, "mesh_sp", false},  {true, "dp_shard_sp", true},
        {true, "mesh_tp", false},  {true, "EXPERT_MODEL_PARALLEL_GROUP", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand hand;
        run_groups(&hand, cases[i].training, cases[i].group);
        if (has_finding(&hand, "low_overlap") != cases[i].found)
            fail_msg("%s", cases[i].group);
        assert_true(has_finding(&hand, "exposed_communication"));
        hand_end(&hand);
    }
}

static void of_collectives_known_by_start_and_wait_nothing_is_said_to_overlap(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_gemm(&hand, 0, 10 * MS, -MS);
    hand_add(&hand, (struct hand_event){.kind = EVENT_KERNEL,
                                        .name = "%all-gather-start.1",
                                        .begin_ns = 10 * MS,
                                        .dur_ns = US,
                                        .row = 7,
                                        .collective = "async_start"});
    hand_add(&hand, (struct hand_event){.kind = EVENT_KERNEL,
                                        .name = "%all-gather-done.1",
                                        .begin_ns = 10 * MS + US,
                                        .dur_ns = 3 * MS,
                                        .row = 7,
                                        .collective = "allgather"});
    hand_analyze(&hand);
    assert_false(has_finding(&hand, "low_overlap"));
    assert_true(has_finding(&hand, "exposed_communication"));
    hand_end(&hand);
}

static void point_to_point_communication_is_not_expected_to_overlap(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_gemm(&hand, 0, 10 * MS, -MS);
    hand_kernel(&hand, "ncclDevKernel_SendRecv", 7, 10 * MS, 3 * MS);
    hand_analyze(&hand);
    assert_false(has_finding(&hand, "low_overlap"));
    assert_true(has_finding(&hand, "exposed_communication"));
    hand_end(&hand);
}

static void many_kernels_under_ten_microseconds_are_found(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_gemm(&hand, 0, MS, -MS);
    for (int i = 0; i < 20; i++) // 5 us each, 15 us apart, each launched in its gap
        add_gemm(&hand, MS + 15 * US + i * 20 * US, 5 * US, MS + i * 20 * US + 10 * US);
    hand_analyze(&hand);
    assert_int_equal(cost_of(&hand, "tiny_kernels"), 20 * 20 * US);
    assert_true(evidence_has(&hand, "tiny_kernels", "waits 0.300 ms directly before them"));
    size_t row = hand_find(&hand, "findings", "rule", "launch_bound");
    assert_non_null(strstr(hand_word(&hand, "findings", row, "advice"), "torch.compile"));
    hand_end(&hand);
}

// Short kernels of 5 us, one after another, after 1 ms of work.
static void add_short_kernels(struct hand *hand, int count)
{
    add_gemm(hand, 0, MS, -MS);
    for (int i = 0; i < count; i++)
        add_gemm(hand, MS + i * 5 * US, 5 * US, -MS);
}

static void a_handful_of_short_kernels_is_not_many(void **state)
{
    (void)state;
    for (int count = 19; count <= 20; count++) {
        struct hand hand;
        hand_begin(&hand);
        add_short_kernels(&hand, count);
        hand_analyze(&hand);
        assert_int_equal(has_finding(&hand, "tiny_kernels"), count == 20);
        if (count == 20) // no wait is not worth a word
            assert_false(evidence_has(&hand, "tiny_kernels", "waits"));
        hand_end(&hand);
    }
}

static void a_long_wait_before_a_short_kernel_is_not_its_fault(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_short_kernels(&hand, 30);
    add_gemm(&hand, 2 * MS, 5 * US, 2 * MS - 10 * US); // waits 850 us, of which 100 count
    hand_analyze(&hand);
    size_t tiny = hand_find(&hand, "findings", "rule", "tiny_kernels");
    assert_int_equal(cost_of(&hand, "tiny_kernels"), 31 * 5 * US + 100 * US);
    assert_int_equal(cost_of(&hand, "launch_bound"), 850 * US);
    // The wait belongs to the costlier finding only.
    assert_string_equal(hand_word(&hand, "findings", tiny, "overlaps"), "launch_bound");
    assert_int_equal(hand_i64(&hand, "findings", tiny, "own_cost_ns"), 31 * 5 * US);
    hand_end(&hand);
}

static void the_longest_wait_is_named(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_gemm(&hand, 0, 6 * MS, -MS);
    add_gemm(&hand, 2000 * MS, MS, 1999 * MS);
    add_gemm(&hand, 2002 * MS, MS, 2002 * MS - 10 * US);
    hand_analyze(&hand);
    assert_string_equal(hand_word(&hand, "findings", 0, "title"),
                        "the device waits 1,995 ms in the recording for the host (99.6 %) "
                        "while it runs Python and operators, or launches");
    assert_non_null(
        strstr(hand_word(&hand, "findings", 0, "evidence"), "2 such gaps in the recording"));
    assert_non_null(strstr(hand_word(&hand, "findings", 0, "evidence"),
                           "the longest, 1,994 ms, ends with sgemm"));
    hand_end(&hand);
}

static void collectives_beside_each_other_hide_nothing(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_gemm(&hand, 0, 10 * MS, -MS);
    add_comm(&hand, 20, 10 * MS, 3 * MS);
    add_comm(&hand, 21, 10 * MS, 3 * MS);
    hand_analyze(&hand);
    assert_int_equal(cost_of(&hand, "low_overlap"), 3 * MS);
    size_t row = hand_find(&hand, "findings", "rule", "low_overlap");
    assert_true(str_starts_with(str_of(hand_word(&hand, "findings", row, "title")),
                                STR("only 0 % of 3.00 ms communication")));
    hand_end(&hand);
}

// Two devices; each kernel takes 1 ms: those of a row are at the same time.
static void run_devices(struct hand *hand, const bool (*works)[2], int64_t pid)
{
    hand_begin(hand);
    for (int i = 0; i < 10; i++) {
        for (int device = 0; device < 2; device++) {
            int64_t correlation = 1 + 2 * i + device;
            if (!works[i][device])
                continue;
            hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                               .name = "sgemm",
                                               .pid = device,
                                               .row = 7,
                                               .begin_ns = i * MS,
                                               .dur_ns = MS,
                                               .correlation = correlation});
            hand_add(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                               .name = "cudaLaunchKernel",
                                               .begin_ns = correlation * US - MS,
                                               .dur_ns = US,
                                               .pid = 100 + device * pid,
                                               .row = 1,
                                               .correlation = correlation});
        }
    }
    hand_analyze(hand);
}

static void devices_that_take_turns_are_found(void **state)
{
    (void)state;
    static const bool turns[10][2] = {{1, 0}, {1, 0}, {1, 0}, {0, 1}, {0, 1},
                                      {1, 1}, {1, 1}, {1, 0}, {1, 0}, {1, 0}};
    static const bool even[10][2] = {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 0},
                                     {1, 1}, {0, 1}, {1, 1}, {1, 1}, {1, 1}};
    struct hand hand;
    run_devices(&hand, turns, 0);
    assert_int_equal(cost_of(&hand, "idle_devices"), 4 * MS); // 8 of 10 ms one of two idles
    size_t row = hand_find(&hand, "findings", "rule", "idle_devices");
    assert_non_null(strstr(hand_word(&hand, "findings", row, "advice"), "Inference: tensor"));
    assert_true(evidence_has(&hand, "idle_devices", "device 0, the busiest, is busy for 80 %"));
    assert_true(evidence_has(&hand, "idle_devices", "device 1, the least busy, is busy for 40 %"));
    hand_end(&hand);
    run_devices(&hand, even, 0);
    assert_false(has_finding(&hand, "idle_devices"));
    hand_end(&hand);
    run_devices(&hand, turns, 1); // ranks in one file
    assert_false(has_finding(&hand, "idle_devices"));
    hand_end(&hand);
}

static void a_device_that_helps_does_not_idle(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int device = 0; device < 2; device++)
        for (int i = 0; i < (device ? 1 : 11); i++) // a kernel on the second one, eleven here
            add_work(&hand,
                     (struct hand_event){.kind = EVENT_KERNEL,
                                         .name = "sgemm",
                                         .pid = device,
                                         .row = 7,
                                         .begin_ns = i * MS + device,
                                         .dur_ns = MS},
                     "cudaLaunchKernel", -MS);
    hand_analyze(&hand);
    assert_false(has_finding(&hand, "idle_devices"));
    hand_end(&hand);
}

// --- memory --------------------------------------------------------------------------------------

#define GB INT64_C(1000000000)

static void add_memory(struct hand *hand, int64_t time_ns, int64_t bytes, int64_t allocated,
                       int64_t reserved)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_ALLOCATION,
                                       .name = "[memory]",
                                       .begin_ns = time_ns,
                                       .pid = 1,
                                       .row = 1,
                                       .address = time_ns,
                                       .bytes = bytes,
                                       .allocated = allocated,
                                       .reserved = reserved,
                                       .device_type = 1});
}

// A device of 80 GB with this much allocated and reserved at its peak; the rules that fire.
static void use_memory(struct hand *hand, int64_t allocated, int64_t reserved)
{
    hand_begin(hand);
    hand_member(hand, "deviceProperties", "[{\"id\": 0, \"totalGlobalMem\": 80000000000}]");
    add_gemm(hand, 0, 10 * MS, -MS);
    add_memory(hand, MS, 8, allocated, reserved);
    hand_analyze(hand);
}

static const char *severity_of(const struct hand *hand, const char *rule)
{
    return hand_word(hand, "findings", hand_find(hand, "findings", "rule", rule), "severity");
}

static void memory_that_runs_short_lies_free_or_is_fragmented_is_found(void **state)
{
    (void)state;
    static const struct {
        int64_t allocated, reserved;
        const char *full, *headroom, *fragmentation; // severities, NULL if silent
    } cases[] = {
        {72 * GB, 73 * GB, NULL, NULL, NULL},         {73 * GB, 74 * GB, "medium", NULL, NULL},
        {40 * GB, 41 * GB, NULL, NULL, NULL},         {38 * GB, 40 * GB, NULL, "info", NULL},
        {GB, GB + GB / 2, NULL, "info", NULL}, // a third, but less than 1 GB
        {40 * GB, 50 * GB, NULL, NULL, "low"},        {41 * GB, 50 * GB, NULL, NULL, NULL},
        {40 * GB, 76 * GB, "medium", NULL, "medium"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static const char *const rules[] = {"memory_near_capacity", "memory_headroom",
                                            "memory_fragmentation"};
        const char *expected[] = {cases[i].full, cases[i].headroom, cases[i].fragmentation};
        struct hand hand;
        use_memory(&hand, cases[i].allocated, cases[i].reserved);
        for (size_t r = 0; r < 3; r++) {
            if (has_finding(&hand, rules[r]) != (expected[r] != NULL))
                fail_msg("case %zu: %s", i, rules[r]);
            if (expected[r])
                assert_string_equal(severity_of(&hand, rules[r]), expected[r]);
        }
        hand_end(&hand);
    }
}

static void a_device_of_unknown_size_is_neither_full_nor_free(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_gemm(&hand, 0, 10 * MS, -MS);
    add_memory(&hand, MS, 8, 8, 8);
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "findings"), 0);
    hand_end(&hand);
}

static void add_step(struct hand *hand, int number)
{
    char name[32];
    snprintf(name, sizeof name, "ProfilerStep#%d", number);
    hand_add(hand, (struct hand_event){.kind = EVENT_ANNOTATION,
                                       .name = name,
                                       .begin_ns = 10 * number * MS,
                                       .dur_ns = 10 * MS,
                                       .pid = 1,
                                       .row = 1});
}

// Ten steps that each keep some bytes.
static void grow_memory(struct hand *hand, int64_t bytes)
{
    hand_begin(hand);
    for (int i = 0; i < 10; i++) {
        add_step(hand, i);
        add_gemm(hand, 10 * i * MS + MS, 9 * MS, 10 * i * MS + US);
        add_memory(hand, 10 * i * MS + 2 * MS, bytes, (i + 1) * bytes, GB);
    }
    hand_analyze(hand);
}

static void memory_that_grows_is_found_and_graded_by_bytes_per_step(void **state)
{
    (void)state;
    static const struct {
        int64_t bytes;
        const char *severity;
    } cases[] = {{100000, NULL},      {200000, "low"},      {999999, "low"},
                 {1000000, "medium"}, {99999999, "medium"}, {100000000, "high"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand hand;
        grow_memory(&hand, cases[i].bytes);
        assert_int_equal(has_finding(&hand, "memory_leak"), cases[i].severity != NULL);
        if (cases[i].severity)
            assert_string_equal(severity_of(&hand, "memory_leak"), cases[i].severity);
        hand_end(&hand);
    }
}

// Steps of 10 ms, in each of which the host takes 4 ms for its operators and the launch.
static const char *title_of_launches(struct hand *hand, enum trace_recorder recorder, int operators)
{
    hand_begin(hand);
    trace_builder_recorder(hand->builder, recorder);
    for (int i = 0; i < 10; i++) {
        add_step(hand, i);
        for (int k = 0; k < operators; k++)
            add_host(hand, EVENT_CPU_OP, "aten::add", 10 * i * MS + 2 * MS / operators * k, 0);
        add_gemm(hand, (10 * i + 4) * MS, 6 * MS, (10 * i + 3) * MS);
    }
    hand_analyze(hand);
    return hand_word(hand, "findings", hand_find(hand, "findings", "rule", "launch_bound"),
                     "title");
}

static void only_the_profiler_of_pytorch_is_known_to_slow_the_host(void **state)
{
    (void)state;
    struct hand hand;
    assert_non_null(strstr(title_of_launches(&hand, RECORDER_PYTORCH, 100),
                           " %, 38 % or more without the profiler)"));
    hand_end(&hand);
    assert_non_null(strstr(title_of_launches(&hand, RECORDER_PYTORCH, 1300),
                           " %, perhaps none without the profiler)"));
    hand_end(&hand);
    assert_null(strstr(title_of_launches(&hand, RECORDER_XLA, 100), "without the profiler"));
    hand_end(&hand);
}

static void a_damaged_trace_is_a_finding(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    trace_builder_repair(hand.builder, REPAIR_TRUNCATED, 5);
    add_gemm(&hand, 0, 10 * MS, -MS);
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "findings"), 1);
    assert_string_equal(hand_word(&hand, "findings", 0, "rule"), "data_quality");
    assert_int_equal(hand_i64(&hand, "findings", 0, "cost_ns"), 0);
    hand_end(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_busy_device_gives_no_findings),
        cmocka_unit_test(a_device_that_waits_for_launches_is_launch_bound),
        cmocka_unit_test(starvation_is_split_by_what_the_host_did),
        cmocka_unit_test(jax_is_given_its_own_words),
        cmocka_unit_test(calls_that_wait_often_are_found_though_each_is_short),
        cmocka_unit_test(copies_that_wait_are_synchronizing_calls),
        cmocka_unit_test(communication_that_nothing_hides_is_found),
        cmocka_unit_test(communication_beside_nothing_has_low_overlap),
        cmocka_unit_test(results_that_are_needed_at_once_have_no_low_overlap),
        cmocka_unit_test(devices_that_take_turns_are_found),
        cmocka_unit_test(a_device_that_helps_does_not_idle),
        cmocka_unit_test(of_collectives_known_by_start_and_wait_nothing_is_said_to_overlap),
        cmocka_unit_test(point_to_point_communication_is_not_expected_to_overlap),
        cmocka_unit_test(many_kernels_under_ten_microseconds_are_found),
        cmocka_unit_test(a_handful_of_short_kernels_is_not_many),
        cmocka_unit_test(a_long_wait_before_a_short_kernel_is_not_its_fault),
        cmocka_unit_test(the_longest_wait_is_named),
        cmocka_unit_test(collectives_beside_each_other_hide_nothing),
        cmocka_unit_test(memory_that_runs_short_lies_free_or_is_fragmented_is_found),
        cmocka_unit_test(a_device_of_unknown_size_is_neither_full_nor_free),
        cmocka_unit_test(memory_that_grows_is_found_and_graded_by_bytes_per_step),
        cmocka_unit_test(only_the_profiler_of_pytorch_is_known_to_slow_the_host),
        cmocka_unit_test(a_damaged_trace_is_a_finding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
