// SPDX-License-Identifier: Apache-2.0
// Collectives and ranks by the ranges of NCCL in exports of Nsight Systems.
#include "tests/unit/nsys_hand.h"

#include <stdlib.h>

// Of NCCL, in domain 1.
#define NCCL(start, end, name, payload)                                           \
    "INSERT INTO NVTX_EVENTS VALUES(" start "," end ", 59, '" name "', NULL, " T0 \
    ", NULL, 1, " payload ");"
#define SCHEMAS                                                                                  \
    "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES(domainId, schemaId, idx, type, name, offset);"     \
    "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES(1, 9, 0, 18, 'NCCL communicator ID', NULL)," \
    "(1, 9, 1, 22, 'Message size [bytes]', 8), (1, 9, 2, 5, 'Peer rank', 16),"                   \
    "(1, 8, 0, 18, 'NCCL communicator ID', NULL), (1, 8, 1, 5, 'No. of ranks', 8),"              \
    "(1, 8, 2, 5, 'Rank', 12), (1, 7, 0, 18, 'NCCL communicator ID', NULL),"                     \
    "(1, 7, 1, 18, 'Parent NCCL communicator ID', 8), (1, 7, 2, 5, 'No. of ranks', 16),"         \
    "(1, 7, 3, 5, 'Rank', 20);"
// Hexadecimal: domain 1, schema 9 or 8, 24 bytes; communicator 0xAB, then 4096 bytes or 4 ranks.
#define HEAD_OF(schema)                \
    "01000000"                         \
    "00000000" schema "00000000000000" \
    "1800000000000000"                 \
    "3800000000000000"
#define MESSAGE                           \
    "x'" HEAD_OF("09") "AB00000000000000" \
                       "0010000000000000" \
                       "0200000000000000'"
// 0xCD from 0xAB, of 4 ranks.
#define SPLIT                             \
    "x'" HEAD_OF("07") "CD00000000000000" \
                       "AB00000000000000" \
                       "0400000003000000'"
#define OF_SPLIT                          \
    "x'" HEAD_OF("09") "CD00000000000000" \
                       "0010000000000000" \
                       "0200000000000000'"
#define MADE                              \
    "x'" HEAD_OF("08") "AB00000000000000" \
                       "0400000003000000" \
                       "0000000000000000'"

static const struct collective *collective_of(const struct trace *trace, uint32_t event)
{
    uint32_t index = device_of(trace, event)->collective;
    return index == ARGS_NONE ? NULL : &trace->collectives[index];
}

static void a_kernel_of_nccl_has_the_size_of_its_range(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    struct trace *trace =
        open_one(&file, STRINGS KERNELS CALLS RANGES SCHEMAS KERNEL("100", "200", "5", P0, "3")
                            CALL("30", "35", T0, "5") NCCL("1", "2", "ncclCommInitRank", MADE)
                                NCCL("20", "40", "ncclAllReduce", MESSAGE));
    const struct collective *collective = collective_of(trace, foreign_event(trace, EVENT_KERNEL));
    assert_non_null(collective);
    assert_true(str_equal(trace_text(trace, collective->name), STR("allreduce")));
    assert_true(str_equal(trace_text(trace, collective->group), STR("0xab")));
    assert_int_equal(collective->in_elems, 4096);
    assert_int_equal(collective->group_size, 4);
    assert_int_equal(trace->job.rank, 3);
    assert_int_equal(trace->job.world_size, 4);
    assert_int_equal(trace->group_count, 1);
    foreign_close(&file);
}

#define MADE_WITHOUT_ID(ranks, rank) \
    "x'" HEAD_OF("08") "0000000000000000" ranks rank "0000000000000000'"

// Outside a group the communicator has no number yet when its range is written.
static void communicators_without_a_number_are_several(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    struct trace *trace = open_one(
        &file, STRINGS KERNELS RANGES SCHEMAS KERNEL("10", "20", "1", P0, "1")
                   NCCL("1", "2", "ncclCommInitRank", MADE_WITHOUT_ID("02000000", "01000000"))
                       NCCL("3", "4", "ncclCommInitRank", MADE_WITHOUT_ID("08000000", "05000000")));
    assert_int_equal(trace->job.rank, 5);
    assert_int_equal(trace->job.world_size, 8);
    foreign_close(&file);
}

#define OF_OLDER OF_SPLIT

// One that is used but was not made in the recording may be that of the whole job.
static void a_part_of_the_job_does_not_say_the_rank(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    struct trace *trace =
        open_one(&file, STRINGS KERNELS CALLS RANGES SCHEMAS KERNEL("100", "200", "5", P0, "3")
                            CALL("30", "35", T0, "5") NCCL("1", "2", "ncclCommInitRank", MADE)
                                NCCL("20", "40", "ncclAllReduce", OF_OLDER));
    const struct collective *collective = collective_of(trace, foreign_event(trace, EVENT_KERNEL));
    assert_non_null(collective);
    assert_true(str_equal(trace_text(trace, collective->group), STR("0xcd")));
    assert_true(trace->job.rank == VALUE_ABSENT);
    assert_true(trace->job.world_size == VALUE_ABSENT);
    foreign_close(&file);
}

static void a_communicator_that_was_split_off_has_an_unknown_size(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    struct trace *trace =
        open_one(&file, STRINGS KERNELS CALLS RANGES SCHEMAS KERNEL("100", "200", "5", P0, "3")
                            CALL("30", "35", T0, "5") NCCL("1", "2", "ncclCommSplit", SPLIT)
                                NCCL("20", "40", "ncclAllGather", OF_SPLIT));
    const struct collective *collective = collective_of(trace, foreign_event(trace, EVENT_KERNEL));
    assert_non_null(collective);
    assert_true(str_equal(trace_text(trace, collective->group), STR("0xcd")));
    assert_int_equal(collective->group_size, VALUE_ABSENT);
    assert_int_equal(collective->out_elems, VALUE_ABSENT);
    assert_int_equal(trace->job.rank, 3); // of the parent
    assert_int_equal(trace->job.world_size, 4);
    foreign_close(&file);
}

#define TWO_EXCHANGES                                                                       \
    STRINGS KERNELS CALLS RANGES SCHEMAS KERNEL("100", "200", "5", P0, "7")                 \
        CALL("30", "35", T0, "5") NCCL("10", "11", "ncclGroupStart", "NULL")                \
            NCCL("12", "13", "ncclSend", MESSAGE) NCCL("14", "15", "ncclRecv", MESSAGE)     \
                NCCL("16", "17", "ncclSend", MESSAGE) NCCL("18", "19", "ncclRecv", MESSAGE) \
                    NCCL("20", "40", "ncclGroupEnd", "NULL")

static void a_group_of_calls_is_one_kernel(void **state)
{
    (void)state;
    static const struct {
        const char *statements, *name;
    } groups[] = {
        {TWO_EXCHANGES, "all_to_all"}, // of two ranks, for all that is known
        {TWO_EXCHANGES NCCL("1", "2", "ncclCommInitRank", MADE), "send_recv"}, // of four
    };
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        struct foreign_file file = {0};
        struct trace *trace = open_one(&file, groups[i].statements);
        const struct collective *collective =
            collective_of(trace, foreign_event(trace, EVENT_KERNEL));
        assert_non_null(collective);
        assert_true(str_equal(trace_text(trace, collective->name), str_of(groups[i].name)));
        assert_int_equal(collective->in_elems, 8192);
        assert_int_equal(collective->out_elems, 8192);
        foreign_close(&file);
    }
}

static void a_send_knows_its_peer(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    struct trace *trace =
        open_one(&file, STRINGS KERNELS CALLS RANGES SCHEMAS KERNEL("100", "200", "5", P0, "7")
                            CALL("30", "35", T0, "5") NCCL("20", "40", "ncclSend", MESSAGE));
    const struct collective *collective = collective_of(trace, foreign_event(trace, EVENT_KERNEL));
    assert_non_null(collective);
    assert_true(str_equal(trace_text(trace, collective->name), STR("send")));
    assert_int_equal(collective->peer_in_group, 2);
    foreign_close(&file);
}

static void without_a_payload_a_kernel_has_no_collective(void **state)
{
    (void)state;
    static const char *const payloads[] = {NCCL("20", "40", "ncclAllReduce", "NULL"),
                                           NCCL("20", "40", "ncclAllReduce", "'text'"),
                                           NCCL("20", "40", "ncclAllReduce", "x'0100'"),
                                           NCCL("20", "40", "ncclAllReduce", "zeroblob(4000)"),
                                           NCCL("50", "60", "ncclAllReduce", MESSAGE)};
    for (size_t i = 0; i < sizeof payloads / sizeof *payloads; i++) {
        struct foreign_file file = {0};
        char sql[8192];
        snprintf(sql, sizeof sql, "%s%s",
                 STRINGS KERNELS CALLS RANGES SCHEMAS KERNEL("100", "200", "5", P0, "3")
                     CALL("30", "35", T0, "5"),
                 payloads[i]);
        struct trace *trace = open_one(&file, sql);
        assert_null(collective_of(trace, foreign_event(trace, EVENT_KERNEL)));
        foreign_close(&file);
    }
}

// A pair of ranks may make a communicator, and a launcher may start one process a node.
static void the_larger_job_says_the_rank(void **state)
{
    (void)state;
    static const struct {
        const char *rank, *world_size;
        int64_t of_trace, ranks;
    } jobs[] = {{"37", "64", 37, 64}, {"0", "1", 3, 4}};
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        char statements[4096];
        struct foreign_file file = {0};
        snprintf(statements, sizeof statements,
                 STRINGS KERNELS RANGES SCHEMAS KERNEL("10", "20", "1", P0, "1")
                     NCCL("1", "2", "ncclCommInitRankConfig",
                          MADE) "CREATE TABLE META_DATA_CAPTURE(name, value);"
                                "INSERT INTO META_DATA_CAPTURE VALUES"
                                "('PROCESS_0:ENVIRONMENT_VARIABLE', 'RANK=\"%s\"'),"
                                "('PROCESS_0:ENVIRONMENT_VARIABLE', 'WORLD_SIZE=\"%s\"');",
                 jobs[i].rank, jobs[i].world_size);
        struct trace *trace = open_one(&file, statements);
        assert_int_equal(trace->job.rank, jobs[i].of_trace);
        assert_int_equal(trace->job.world_size, jobs[i].ranks);
        foreign_close(&file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_of_nccl_has_the_size_of_its_range),
        cmocka_unit_test(communicators_without_a_number_are_several),
        cmocka_unit_test(a_part_of_the_job_does_not_say_the_rank),
        cmocka_unit_test(a_communicator_that_was_split_off_has_an_unknown_size),
        cmocka_unit_test(a_group_of_calls_is_one_kernel),
        cmocka_unit_test(a_send_knows_its_peer),
        cmocka_unit_test(without_a_payload_a_kernel_has_no_collective),
        cmocka_unit_test(the_larger_job_says_the_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
