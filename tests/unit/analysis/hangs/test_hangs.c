// SPDX-License-Identifier: Apache-2.0
// Diagnoses of jobs that hang, on made-up jobs whose fault is known and on dumps by hand.
#include "tests/unit/hangs_hand.h"

// --- made-up jobs -------------------------------------------------------------------------------

static void dump_job(struct hand *hand, const struct job *job)
{
    for (int rank = 0; rank < job->ranks; rank++) {
        struct buf json = {0}, pickle = {0};
        if (job->at[rank].undumped)
            continue;
        job_put_dump(job, rank, &json);
        if (rank % 2)
            pickle_of_json(&pickle, json.at);
        add_dump(hand, rank % 2 ? (struct str){pickle.at, pickle.len} : str_of(json.at), rank);
        buf_free(&json);
        buf_free(&pickle);
    }
}

static const char *const fault_words[FAULTS] = {"none", "host", "device", "mismatch",
                                                "skip", "swap", "pass",   "gone"};

struct trial {
    struct job *job;
    enum job_fault fault;
    int rank, at, ahead;
    int second; // breaks in the same way; -1: none
    int lost;   // its dump was not collected; -1: none
};

static void fail_trial(const struct trial *trial, const struct hand *hand)
{
    const struct job *job = trial->job;
    fail_msg("pp %d dp %d tp %d, %s of rank %d at %d, ahead %d, ring %d%s%s: %zu suspects: %s",
             job->pp, job->dp, job->tp, fault_words[trial->fault], trial->rank, trial->at,
             trial->ahead, job->ring, job->all_entries ? " of all" : "",
             job->statuses ? " with status" : "", hand->hangs.suspect_count,
             hand->hangs.findings[0].verdict);
}

// The kinds by which a fault may be found.
static bool is_kind(enum job_fault fault, enum hang_kind kind)
{
    switch (fault) {
    case FAULT_NONE: return kind == HANG_QUIET;
    case FAULT_HOST: return kind == HANG_HOST || kind == HANG_PIPELINE;
    case FAULT_DEVICE: return kind == HANG_DEVICE;
    case FAULT_MISMATCH:
    case FAULT_SWAP:
    case FAULT_PASS:
    case FAULT_SKIP: return kind == HANG_MISMATCH;
    case FAULT_GONE: return kind == HANG_NO_DUMP;
    case FAULTS: break;
    }
    return false;
}

static bool is_suspect(const struct hangs *hangs, int64_t rank)
{
    for (size_t i = 0; i < hangs->suspect_count; i++)
        if (hangs->suspects[i] == rank)
            return true;
    return false;
}

static void check_trial(const struct trial *trial)
{
    struct hand *hand = hand_new();
    job_start(trial->job);
    if (trial->fault != FAULT_NONE)
        job_break(trial->job, trial->fault, trial->rank, trial->at);
    if (trial->second >= 0)
        job_break(trial->job, trial->fault, trial->second, trial->at);
    if (trial->lost >= 0)
        trial->job->at[trial->lost].undumped = true;
    job_run(trial->job, trial->ahead);
    dump_job(hand, trial->job);
    diagnose(hand);
    const struct hangs *hangs = &hand->hangs;
    size_t expected = (trial->fault != FAULT_NONE) + (trial->second >= 0);
    // Of two that differ, either may be wrong.
    bool pairs = trial->job->dp == 2 || trial->job->tp == 2;
    if (hangs->findings[0].kind == HANG_MISMATCH && hangs->findings[0].confidence != HANG_HIGH &&
        pairs && hangs->suspect_count == 2)
        expected = 2;
    if (trial->fault == FAULT_PASS) // either end may be wrong
        expected = 2;
    if (hangs->suspect_count != expected || (expected && !is_suspect(hangs, trial->rank)) ||
        (trial->second >= 0 && !is_suspect(hangs, trial->second)) ||
        !is_kind(trial->fault, hangs->findings[0].kind))
        fail_trial(trial, hand);
    hand_free(hand);
}

static const int shapes[][3] = {{2, 2, 4}, {4, 2, 2}, {1, 8, 4}, {4, 4, 4}, {1, 16, 1}, {2, 4, 4}};

static bool can_break(const struct job *job, enum job_fault fault)
{
    return (fault != FAULT_SWAP || job->dp > 1) && (fault != FAULT_PASS || job->pp > 1);
}

static void try_all(enum job_fault fault)
{
    enum { TRIALS = 3 };
    struct job *job = calloc(1, sizeof *job);
    uint32_t random = 12345 + (uint32_t)fault;
    for (size_t shape = 0; shape < sizeof shapes / sizeof *shapes; shape++)
        for (int i = 0; i < TRIALS; i++) {
            random = random * 1664525 + 1013904223;
            *job = (struct job){.pp = shapes[shape][0],
                                .dp = shapes[shape][1],
                                .tp = shapes[shape][2],
                                .all_entries = i > 0,
                                .statuses = i != 1,
                                .ring = i > 0 ? 60 : 1000};
            struct trial trial = {job, fault, 0, 0, 4 + (int)(random >> 8) % 20, -1, -1};
            trial.rank = (int)((random >> 12) % (unsigned)(job->pp * job->dp * job->tp));
            trial.at = job->tp == 1 ? 0 : 20 + (int)((random >> 16) % 30);
            if (can_break(job, fault))
                check_trial(&trial);
        }
    free(job);
}

static void a_rank_stuck_on_its_host_is_named(void **state)
{
    (void)state;
    try_all(FAULT_HOST);
}

static void a_rank_stuck_on_its_device_is_named(void **state)
{
    (void)state;
    try_all(FAULT_DEVICE);
}

static void a_rank_that_calls_another_operation_is_named(void **state)
{
    (void)state;
    try_all(FAULT_MISMATCH);
}

static void a_rank_that_skips_a_collective_is_named(void **state)
{
    (void)state;
    try_all(FAULT_SKIP);
}

static void a_rank_with_another_order_of_groups_is_named(void **state)
{
    (void)state;
    try_all(FAULT_SWAP);
}

static void two_ranks_whose_send_and_receive_differ_are_named(void **state)
{
    (void)state;
    try_all(FAULT_PASS);
}

static void a_rank_without_a_dump_is_named(void **state)
{
    (void)state;
    try_all(FAULT_GONE);
}

// Ranks of tensor groups of 4 and data groups of 4 in two stages.
static void try_more(enum job_fault fault, bool second, bool lost)
{
    struct job *job = calloc(1, sizeof *job);
    for (int rank = 0; rank < 32; rank += 5) {
        *job = (struct job){.pp = 2, .dp = 4, .tp = 4, .statuses = true, .ring = 1000};
        struct trial trial = {job, fault, rank, 30, 12, -1, -1};
        trial.second = second ? rank ^ 5 : -1; // in the same stage, in no common small group
        trial.lost = lost ? rank ^ 2 : -1;
        check_trial(&trial);
    }
    free(job);
}

static void two_ranks_that_are_stuck_are_both_named(void **state)
{
    (void)state;
    try_more(FAULT_HOST, true, false);
    try_more(FAULT_DEVICE, true, false);
}

static void a_dump_that_was_not_collected_hides_no_fault(void **state)
{
    (void)state;
    try_more(FAULT_HOST, false, true);
    try_more(FAULT_DEVICE, false, true);
    try_more(FAULT_MISMATCH, false, true);
}

static void nobody_is_named_in_a_job_that_ends(void **state)
{
    (void)state;
    try_all(FAULT_NONE);
}

// --- dumps by hand ------------------------------------------------------------------------------

struct hand_entry {
    const char *group; // by its name
    int seq;
    const char *op, *state, *sizes;
};

#define PAIR "\"1\": {\"desc\": \"pair\", \"ranks\": \"[0, 1]\"}"
#define FOUR "\"2\": {\"desc\": \"four\", \"ranks\": \"[0, 1, 2, 3]\"}"

static void add_hand(struct hand *hand, int rank, const char *groups,
                     const struct hand_entry *entries, size_t count)
{
    struct buf json = {0};
    buf_printf(&json, "{\"pg_config\": {%s}, \"entries\": [", groups);
    for (size_t i = 0; i < count; i++)
        buf_printf(&json,
                   "%s{\"process_group\": [\"%s\", \"\"], \"collective_seq_id\": %d, "
                   "\"p2p_seq_id\": %d, \"profiling_name\": \"nccl:%s\", \"state\": \"%s\", "
                   "\"is_p2p\": %s, "
                   "\"input_sizes\": %s, \"time_created_ns\": 1700000000000000000}",
                   i ? ", " : "", entries[i].group, entries[i].seq, entries[i].seq, entries[i].op,
                   entries[i].state, strpbrk(entries[i].op, "<>") ? "true" : "false",
                   entries[i].sizes ? entries[i].sizes : "[]");
    buf_puts(&json, "]}");
    add_dump(hand, (struct str){json.at, json.len}, rank);
    buf_free(&json);
}

static void assert_verdict(struct hand *hand, const char *expected)
{
    diagnose(hand);
    assert_string_equal(hand->hangs.findings[0].verdict, expected);
    hand_free(hand);
}

static void the_verdict_says_who_waits_where(void **state)
{
    (void)state;
    static const struct hand_entry waits = {"2", 7, "all_reduce", "started", NULL};
    struct hand *hand = hand_new();
    for (int rank = 0; rank < 4; rank++)
        add_hand(hand, rank, FOUR, &waits, rank != 2);
    assert_verdict(hand, "Look at the host of rank 2: nothing is queued there, while ranks 0-1,3 "
                         "wait in all_reduce number 7 of four.");
}

// Before version 2.
static void a_group_may_have_no_name(void **state)
{
    (void)state;
    struct hand *hand = hand_new();
    const struct hand_entry at_7 = {"", 7, "all_reduce", "scheduled", NULL};
    const struct hand_entry at_8 = {"", 8, "all_reduce", "scheduled", NULL};
    for (int rank = 0; rank < 2; rank++)
        add_hand(hand, rank, "\"\": {\"desc\": \"\", \"ranks\": \"[0, 1]\"}",
                 rank == 1 ? &at_7 : &at_8, 1);
    assert_verdict(hand, "Look at the GPU of rank 1: rank 1 has not finished all_reduce number 7 "
                         "of the process group of ranks [0, 1], which other members have, and is "
                         "behind in 1 process group.");
}

static void a_rank_that_others_have_passed_is_on_its_device(void **state)
{
    (void)state;
    struct hand *hand = hand_new();
    const struct hand_entry at_7 = {"2", 7, "all_reduce", "scheduled", NULL};
    const struct hand_entry at_8 = {"2", 8, "all_reduce", "scheduled", NULL};
    for (int rank = 0; rank < 4; rank++)
        add_hand(hand, rank, FOUR, rank == 1 ? &at_7 : &at_8, 1);
    assert_verdict(hand, "Look at the GPU of rank 1: rank 1 has not finished all_reduce number 7 "
                         "of four, which other members have, and is behind in 1 process group.");
}

static void different_calls_are_shown_side_by_side(void **state)
{
    (void)state;
    struct hand *hand = hand_new();
    const struct hand_entry most = {"2", 7, "all_reduce", "scheduled", "[[4, 2]]"};
    const struct hand_entry odd = {"2", 7, "all_reduce", "scheduled", "[[4, 3]]"};
    for (int rank = 0; rank < 4; rank++)
        add_hand(hand, rank, FOUR, rank == 3 ? &odd : &most, 1);
    assert_verdict(hand, "Look at the program of rank 3: rank 3 called all_reduce of [4, 3] where "
                         "rank 0 called all_reduce of [4, 2], as all_reduce number 7 of four.");
}

// As gloo wrote it on a real job of 4 ranks: each call "scheduled" and retired, the last as well,
// which was given up after 8 s.
static void add_gloo(struct hand *hand, int rank, int calls, int64_t last_created_ns)
{
    struct buf json = {0};
    buf_puts(&json, "{\"pg_config\": {\"\": {\"name\": \"\", \"desc\": \"\", "
                    "\"ranks\": \"[0, 1, 2, 3]\"}}, \"entries\": [");
    for (int i = 1; i <= calls; i++)
        buf_printf(
            &json,
            "%s{\"pg_id\": 0, \"process_group\": [\"0\", \"default_pg\"], "
            "\"collective_seq_id\": %d, \"p2p_seq_id\": 0, "
            "\"profiling_name\": \"gloo:all_reduce\", \"time_created_ns\": %lld, "
            "\"input_sizes\": [[1000]], \"input_dtypes\": [\"Float\"], "
            "\"state\": \"scheduled\", \"retired\": true, \"timeout_ms\": 8000, "
            "\"is_p2p\": false}",
            i > 1 ? ", " : "", i,
            (long long)(i == calls ? last_created_ns : INT64_C(1795721519266000000) + i * 700000));
    buf_printf(&json,
               "], \"pg_status\": {\"0\": {\"last_enqueued_collective\": %d, "
               "\"last_started_collective\": -1, \"last_completed_collective\": %d}}}",
               calls, calls);
    add_dump(hand, (struct str){json.at, json.len}, rank);
    buf_free(&json);
}

static void gloo_says_of_no_call_that_it_is_completed(void **state)
{
    (void)state;
    struct hand *hand = hand_new();
    for (int rank = 0; rank < 4; rank++)
        add_gloo(hand, rank, rank == 2 ? 9 : 10, INT64_C(1795721519276000000));
    assert_int_equal(hand->dumps[0]->entries[8].state, FLIGHT_COMPLETED);
    assert_int_equal(hand->dumps[0]->entries[9].state, FLIGHT_SCHEDULED);
    assert_verdict(hand, "Look at the host of rank 2: nothing is queued there, while ranks 0-1,3 "
                         "wait in all_reduce number 10 of default_pg.");
}

static void a_rank_that_came_after_the_others_gave_up_is_named(void **state)
{
    (void)state;
    struct hand *hand = hand_new();
    for (int rank = 0; rank < 4; rank++)
        add_gloo(hand, rank, 6, INT64_C(1795721519270097747) + (rank == 2 ? 12000000000 : 0));
    assert_verdict(hand, "Look at the host of rank 2: it entered all_reduce number 6 of default_pg "
                         "12.0 s after its previous call, longer than the timeout of 8.0 s.");
    hand = hand_new();
    for (int rank = 0; rank < 4; rank++)
        add_gloo(hand, rank, 6, INT64_C(1795721519270097747) + (rank < 3 ? 12000000000 : 0));
    diagnose(hand);
    assert_int_equal(hand->hangs.findings[0].kind, HANG_TOGETHER);
    hand_free(hand);
}

// As many elements in another shape are the same to the library, and parts of an exchange may
// differ.
static void shapes_that_may_differ_are_no_mismatch(void **state)
{
    (void)state;
    struct hand *hand = hand_new();
    const struct hand_entry flat = {"2", 7, "all_reduce", "scheduled", "[[8]]"};
    const struct hand_entry square = {"2", 7, "all_reduce", "scheduled", "[[4, 2]]"};
    const struct hand_entry parts[] = {{"1", 3, "all_to_all", "scheduled", "[[5]]"},
                                       {"1", 3, "all_to_all", "scheduled", "[[6]]"}};
    for (int rank = 0; rank < 4; rank++)
        add_hand(hand, rank, FOUR, rank ? &flat : &square, 1);
    diagnose(hand);
    assert_int_equal(hand->hangs.findings[0].kind, HANG_TOGETHER);
    assert_int_equal(hand->hangs.suspect_count, 0);
    hand_free(hand);
    hand = hand_new();
    for (int rank = 0; rank < 2; rank++)
        add_hand(hand, rank, PAIR, &parts[rank], 1);
    diagnose(hand);
    assert_int_equal(hand->hangs.findings[0].kind, HANG_TOGETHER);
    hand_free(hand);
}

// The root of a broadcast leaves early, so a rank that waits for another one is no suspect.
static void being_passed_by_the_root_of_a_broadcast_is_no_fault(void **state)
{
    (void)state;
    struct hand *hand = hand_new();
    const struct hand_entry root = {"2", 8, "broadcast", "scheduled", NULL};
    const struct hand_entry other = {"2", 7, "broadcast", "scheduled", NULL};
    for (int rank = 0; rank < 4; rank++)
        add_hand(hand, rank, FOUR, rank ? &other : &root, rank != 3);
    diagnose(hand);
    assert_int_equal(hand->hangs.suspect_count, 1);
    assert_int_equal(hand->hangs.suspects[0], 3);
    hand_free(hand);
}

static void sends_and_receives_blame_nobody_who_waits(void **state)
{
    (void)state;
    struct hand *hand = hand_new();
    const struct hand_entry first = {"1", 1, "recv 0<->1", "scheduled", NULL};
    const struct hand_entry second = {"1", 1, "recv 1<->0", "scheduled", NULL};
    add_hand(hand, 0, PAIR, &first, 1);
    add_hand(hand, 1, PAIR, &second, 1);
    diagnose(hand);
    assert_int_equal(hand->hangs.findings[0].kind, HANG_UNDECIDED);
    assert_int_equal(hand->hangs.suspect_count, 0);
    hand_free(hand);
}

static void two_ranks_that_both_send_first_are_named(void **state)
{
    (void)state;
    for (int batch = 0; batch < 2; batch++) {
        struct hand *hand = hand_new();
        const struct hand_entry first[] = {{"1", 1, "send 0->1", "scheduled", NULL},
                                           {"1", 2 - batch, "recv 0<-1", "scheduled", NULL}};
        const struct hand_entry second[] = {{"1", 1, "send 1->0", "scheduled", NULL},
                                            {"1", 2 - batch, "recv 1<-0", "scheduled", NULL}};
        add_hand(hand, 0, PAIR, first, 2);
        add_hand(hand, 1, PAIR, second, 2);
        diagnose(hand);
        assert_int_equal(hand->hangs.findings[0].kind, batch ? HANG_UNDECIDED : HANG_MISMATCH);
        assert_int_equal(hand->hangs.suspect_count, batch ? 0 : 2);
        hand_free(hand);
    }
}

// A stage of a pipeline that keeps a group for each direction has posted its receive, too.
static void sends_that_nobody_receives_wait_for_each_other(void **state)
{
    (void)state;
    static const char groups[] = PAIR ", \"3\": {\"desc\": \"back\", \"ranks\": \"[0, 1]\"}";
    for (size_t receives = 0; receives < 2; receives++) {
        struct hand *hand = hand_new();
        const struct hand_entry first[] = {{"1", 1, "send 0->1", "started", NULL},
                                           {"3", 1, "recv 0<-1", "started", NULL}};
        const struct hand_entry second = {"1", 1, "send 1->0", "started", NULL};
        add_hand(hand, 0, groups, first, 1 + receives);
        add_hand(hand, 1, groups, &second, 1);
        diagnose(hand);
        assert_int_equal(hand->hangs.findings[0].kind, receives ? HANG_UNDECIDED : HANG_MISMATCH);
        assert_int_equal(hand->hangs.suspect_count, receives ? 0 : 2);
        hand_free(hand);
    }
}

static void diagnose_started(struct hand *hand, int started, size_t unstarted)
{
    char groups[256];
    snprintf(groups, sizeof groups,
             FOUR "}, \"pg_status\": {\"2\": {\"last_enqueued_collective\": \"7\", "
                  "\"last_started_collective\": \"%d\", \"last_completed_collective\": \"6\"}",
             started);
    for (size_t rank = 0; rank < 4; rank++) {
        const char *now = rank < unstarted ? "scheduled" : "started";
        const struct hand_entry call = {"2", 7, "all_reduce", now, NULL};
        add_hand(hand, (int)rank, groups, &call, 1);
    }
    diagnose(hand);
}

static void a_rank_whose_gpu_has_not_started_is_named(void **state)
{
    (void)state;
    struct hand *hand = hand_new();
    diagnose_started(hand, 6, 1);
    assert_int_equal(hand->hangs.findings[0].kind, HANG_DEVICE);
    assert_string_equal(hand->hangs.findings[0].verdict,
                        "Look at the GPU of rank 0: it has not started all_reduce number 7 of "
                        "four, which the other members are in.");
    hand_free(hand);
}

static void scheduled_says_nothing_without_timing_or_of_most_ranks(void **state)
{
    (void)state;
    for (int timed = 0; timed < 2; timed++) {
        struct hand *hand = hand_new();
        diagnose_started(hand, timed ? 6 : -1, timed ? 3 : 1);
        assert_int_equal(hand->hangs.findings[0].kind, HANG_TOGETHER);
        hand_free(hand);
    }
}

// Ranks 2 and 3 are in one group only and have finished nothing of another, whatever it is called.
static void groups_without_a_description_are_not_alike(void **state)
{
    (void)state;
    static const char *const words[][2] = {
        {"default_pg", "mesh_tp"}, {"undefined", "undefined"}, {"", ""}, {"same", "same"}};
    const struct hand_entry first[] = {{"0", 8, "all_reduce", "completed", NULL},
                                       {"1", 5, "all_reduce", "started", NULL},
                                       {"0", 9, "all_reduce", "scheduled", NULL}};
    const struct hand_entry others[] = {{"0", 8, "all_reduce", "completed", NULL},
                                        {"0", 9, "all_reduce", "started", NULL},
                                        {"1", 5, "all_reduce", "scheduled", NULL}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct hand *hand = hand_new();
        char groups[200];
        snprintf(groups, sizeof groups,
                 "\"0\": {\"desc\": \"%s\", \"ranks\": \"[0, 1, 2, 3]\"}, "
                 "\"1\": {\"desc\": \"%s\", \"ranks\": \"[0, 1]\"}",
                 words[i][0], words[i][1]);
        for (int rank = 0; rank < 4; rank++)
            add_hand(hand, rank, groups, rank ? others : first, rank < 2 ? 3 : 2);
        diagnose(hand);
        assert_int_equal(hand->hangs.findings[0].kind, HANG_MISMATCH);
        assert_int_equal(hand->hangs.suspect_count, 1);
        assert_int_equal(hand->hangs.suspects[0], 0);
        hand_free(hand);
    }
}

static void few_dumps_of_many_ranks_blame_nobody(void **state)
{
    (void)state;
    struct hand *hand = hand_new();
    const struct hand_entry waits = {"2", 7, "all_reduce", "scheduled", NULL};
    add_hand(hand, 0, FOUR, &waits, 1);
    assert_verdict(hand, "Collect more dumps: most are missing, those of ranks 1-3 among them, "
                         "while rank 0 waits in all_reduce number 7 of four.");
}

static void no_dumps_are_no_hang(void **state)
{
    (void)state;
    assert_verdict(hand_new(), "Nothing is unfinished: the dumps show no hang.");
}

// --- tables -------------------------------------------------------------------------------------

static void tables_say_the_same(void **state)
{
    (void)state;
    static const struct hand_entry entries[] = {{"1", 4, "broadcast", "completed", NULL},
                                                {"2", 7, "all_reduce", "started", "[[4, 2]]"}};
    struct hand *hand = hand_new();
    for (int rank = 0; rank < 4; rank++)
        add_hand(hand, rank, PAIR ", " FOUR, entries, rank == 2 ? 0 : 2);
    diagnose(hand);
    const struct table *verdicts = report_find(&hand->report, "hang_verdict");
    assert_true(table_is(verdicts, 0, HANG_VERDICT_KIND, STR("host")));
    assert_true(table_is(verdicts, 0, HANG_VERDICT_RANKS, STR("2")));
    assert_true(table_is(verdicts, 0, HANG_VERDICT_CONFIDENCE, STR("high")));
    const struct table *groups = report_find(&hand->report, "hang_groups");
    assert_int_equal(groups->row_count, 1);
    assert_true(table_is(groups, 0, HANG_GROUPS_STATE, STR("absent")));
    assert_true(table_is(groups, 0, HANG_GROUPS_RANKS, STR("0-3")));
    assert_true(table_is(groups, 0, HANG_GROUPS_WAITING, STR("0-1,3")));
    assert_true(table_is(groups, 0, HANG_GROUPS_ABSENT, STR("2")));
    assert_true(table_is(groups, 0, HANG_GROUPS_SIZES, STR("[4, 2]")));
    assert_int_equal(table_i64(groups, 0, HANG_GROUPS_SEQUENCE, 0), 7);
    assert_true(table_cell(groups, 0, HANG_GROUPS_BEHIND)->null);
    const struct table *ranks = report_find(&hand->report, "hang_ranks");
    assert_int_equal(ranks->row_count, 4);
    assert_true(table_is(ranks, 0, HANG_RANKS_LAST_COMPLETED, STR("broadcast number 4 of pair")));
    assert_true(
        table_is(ranks, 0, HANG_RANKS_FIRST_UNFINISHED, STR("all_reduce number 7 of four")));
    assert_true(table_is(ranks, 0, HANG_RANKS_SINCE, STR("2023-11-14T22:13:20.000Z")));
    assert_int_equal(table_i64(ranks, 2, HANG_RANKS_ABSENT_IN, 0), 1);
    hand_free(hand);
}

// Their names differ from rank to rank: the n-th of one is the n-th of the other.
static void groups_of_one_description_are_matched_by_their_order(void **state)
{
    (void)state;
    enum { SAME = 200, LATE = 150 };
    struct hand *hand = hand_new();
    for (int rank = 0; rank < 2; rank++) {
        struct buf json = {0};
        buf_puts(&json, "{\"pg_config\": {");
        for (int i = 0; i < SAME; i++)
            buf_printf(&json, "%s\"%d\": {\"desc\": \"same\", \"ranks\": \"[0, 1]\"}",
                       i ? ", " : "", 2 * i + rank);
        buf_puts(&json, "}, \"entries\": [");
        for (int i = 0; i < SAME; i++)
            buf_printf(&json,
                       "%s{\"process_group\": [\"%d\", \"\"], \"collective_seq_id\": %d, "
                       "\"profiling_name\": \"nccl:all_reduce\"}",
                       i ? ", " : "", 2 * i + rank, i == LATE && rank == 1 ? 6 : 7);
        buf_puts(&json, "]}");
        add_dump(hand, (struct str){json.at, json.len}, rank);
        buf_free(&json);
    }
    diagnose(hand);
    assert_int_equal(report_find(&hand->report, "hang_groups")->row_count, SAME);
    assert_int_equal(hand->hangs.suspect_count, 1);
    assert_int_equal(hand->hangs.suspects[0], 1);
    assert_int_equal(hand->hangs.dump_count, 2);
    hand_free(hand);
}

// --- rows ---------------------------------------------------------------------------------------

static void rows_of_a_long_dump_are_few_and_count_the_rest(void **state)
{
    (void)state;
    enum { LONG = 3000 };
    struct hand *hand = hand_new();
    struct hand_entry *entries = calloc(LONG, sizeof *entries);
    assert_non_null(entries);
    for (int i = 0; i < LONG; i++)
        entries[i] = (struct hand_entry){"1", i, "all_reduce", i < 2000 ? "completed" : "scheduled",
                                         "[[8]]"};
    add_hand(hand, 0, PAIR, entries, LONG);
    add_hand(hand, 1, PAIR, entries, 1980);
    free(entries);
    diagnose(hand);
    assert_int_equal(hand->hangs.findings[0].kind, HANG_HOST);
    struct report rows = {.arena = &hand->arena};
    assert_true(flight_tables_add(&hand->evidence[0], STR("dump"), &rows, &hand->err));
    const struct table *calls = report_find(&rows, "flight_entries");
    assert_true(calls->row_count >= HANG_KEEP_BEFORE);
    assert_true(calls->row_count <= HANG_KEEP_BEFORE + HANG_KEEP_AFTER + 4);
    const struct table *ranks = report_find(&hand->report, "hang_ranks");
    assert_int_equal(table_i64(ranks, 0, HANG_RANKS_ENTRIES, 0), LONG);
    assert_int_equal(table_i64(ranks, 0, HANG_RANKS_UNFINISHED, 0), 1000);
    hand_free(hand);
}

static void rows_of_no_group_are_left_out(void **state)
{
    (void)state;
    struct hand *hand = hand_new();
    struct report rows = {.arena = &hand->arena};
    struct cell cells[TABLE_MAX_COLUMNS];
    struct evidence evidence;
    bool is;
    for (unsigned i = 0; i < TABLE_MAX_COLUMNS; i++)
        cells[i] = cell_null();
    assert_true(report_add(&rows, &table_flight, cells, &hand->err));
    assert_true(report_add(&rows, &table_flight_groups, cells, &hand->err));
    for (int64_t group = -1; group <= 1; group++) {
        cells[column_place(&table_flight_entries, FLIGHT_ENTRIES_GROUP)] = cell_i64(group);
        assert_true(report_add(&rows, &table_flight_entries, cells, &hand->err));
    }
    evidence_init(&evidence, &hand->budget);
    assert_true(flight_tables_read(&rows, &evidence, &is, &hand->err));
    assert_true(is);
    assert_int_equal(evidence.flight.rank, -1);
    assert_int_equal(evidence.flight.entry_count, 1);
    assert_int_equal(evidence.flight.left.entries, 0);
    evidence_free(&evidence);
    hand_free(hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rank_stuck_on_its_host_is_named),
        cmocka_unit_test(a_rank_stuck_on_its_device_is_named),
        cmocka_unit_test(a_rank_that_calls_another_operation_is_named),
        cmocka_unit_test(a_rank_that_skips_a_collective_is_named),
        cmocka_unit_test(a_rank_with_another_order_of_groups_is_named),
        cmocka_unit_test(two_ranks_whose_send_and_receive_differ_are_named),
        cmocka_unit_test(a_rank_without_a_dump_is_named),
        cmocka_unit_test(two_ranks_that_are_stuck_are_both_named),
        cmocka_unit_test(a_dump_that_was_not_collected_hides_no_fault),
        cmocka_unit_test(nobody_is_named_in_a_job_that_ends),
        cmocka_unit_test(the_verdict_says_who_waits_where),
        cmocka_unit_test(a_group_may_have_no_name),
        cmocka_unit_test(a_rank_that_others_have_passed_is_on_its_device),
        cmocka_unit_test(different_calls_are_shown_side_by_side),
        cmocka_unit_test(gloo_says_of_no_call_that_it_is_completed),
        cmocka_unit_test(a_rank_that_came_after_the_others_gave_up_is_named),
        cmocka_unit_test(shapes_that_may_differ_are_no_mismatch),
        cmocka_unit_test(being_passed_by_the_root_of_a_broadcast_is_no_fault),
        cmocka_unit_test(sends_and_receives_blame_nobody_who_waits),
        cmocka_unit_test(two_ranks_that_both_send_first_are_named),
        cmocka_unit_test(sends_that_nobody_receives_wait_for_each_other),
        cmocka_unit_test(a_rank_whose_gpu_has_not_started_is_named),
        cmocka_unit_test(scheduled_says_nothing_without_timing_or_of_most_ranks),
        cmocka_unit_test(groups_without_a_description_are_not_alike),
        cmocka_unit_test(few_dumps_of_many_ranks_blame_nobody),
        cmocka_unit_test(no_dumps_are_no_hang),
        cmocka_unit_test(tables_say_the_same),
        cmocka_unit_test(groups_of_one_description_are_matched_by_their_order),
        cmocka_unit_test(rows_of_a_long_dump_are_few_and_count_the_rest),
        cmocka_unit_test(rows_of_no_group_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
