// SPDX-License-Identifier: Apache-2.0
// The protocol of PyTorch's Kineto with its daemon, byte by byte as a real one was seen to send it.
#include "server/collect/agent_state.h"
#include "server/collect/process_rank.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

// "req" of process 17955 with SLURM_JOB_ID=4242, as libkineto 114171df sent it.
static const unsigned char
    real[76] = {0x24, 0,    0,        0,        0,           0,    0,           0,    0x72,
                0x65, 0x71, [40] = 2, [44] = 5, [48] = 0x92, 0x10, [56] = 0x23, 0x46, 0,
                0,    0xf2, 0x45,     0,        0,           0xf1, 0x45,        0,    0,
                0xd7, 0x17, 0,        0,        0xd6,        0x17};

static enum fabric_kind parse(const unsigned char *bytes, size_t len,
                              struct fabric_message *message)
{
    return fabric_parse((struct str){(const char *)bytes, len}, message);
}

static void a_real_request_is_read(void **state)
{
    struct fabric_message message;
    (void)state;
    assert_int_equal(parse(real, sizeof real, &message), FABRIC_REQUEST);
    assert_int_equal(message.type, 2);
    assert_int_equal(message.job, 4242);
    assert_int_equal(message.pid_count, 5);
    assert_int_equal(message.pids[0], 17955);
    assert_int_equal(message.pids[4], 6102);
}

static void anything_else_is_refused(void **state)
{
    struct fabric_message message;
    unsigned char bytes[sizeof real + 8];
    (void)state;
    for (size_t len = 0; len < sizeof real; len++)
        assert_int_equal(parse(real, len, &message), FABRIC_BAD);
    static const struct {
        size_t at;
        unsigned char value;
    } wrong[] = {{0, 0x25}, {7, 1},  {8, 'x'}, {11, 'x'}, {39, 1},
                 {40, 4},   {44, 0}, {44, 4},  {44, 12},  {47, 0x80}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memcpy(bytes, real, sizeof real);
        bytes[wrong[i].at] = wrong[i].value;
        assert_int_equal(parse(bytes, sizeof real, &message), FABRIC_BAD);
    }
    memcpy(bytes, real, sizeof real);
    assert_int_equal(parse(bytes, sizeof real + 4, &message), FABRIC_BAD);
}

static void an_answer_is_never_empty_and_has_the_bytes_that_clients_expect(void **state)
{
    struct buf out = {0};
    (void)state;
    fabric_answer(STR(""), &out);
    assert_int_equal(out.len, 40);
    static const unsigned char nothing[40] = {[8] = 'r', 'e', 'q'};
    assert_memory_equal(out.at, nothing, 40);
    buf_clear(&out);
    fabric_answer(STR("A=1\n"), &out);
    assert_int_equal(out.len, 44);
    assert_int_equal(out.at[0], 4);
    buf_clear(&out);
    fabric_count(3, &out);
    assert_int_equal(out.len, 44);
    assert_memory_equal(out.at + 8, "ctxt", 5);
    assert_int_equal(out.at[40], 3);
    buf_free(&out);
}

static const struct fabric_capture capture = {
    .id = "c_1", .run = "exp42", .steps = 4, .warmup = 1, .roundup = 100};

static void settings_have_a_fixed_set_of_keys_and_safe_paths_alone(void **state)
{
    struct err err = {.pos = ERR_NO_POS};
    struct buf out = {0};
    (void)state;
    assert_true(fabric_settings(&capture, "/tmp/a/rank0.json", &out, &err));
    assert_string_equal(out.at,
                        "ACTIVITIES_LOG_FILE=/tmp/a/rank0.json\nACTIVITIES_DURATION_MSECS=0\n"
                        "PROFILE_START_ITERATION=0\nPROFILE_START_ITERATION_ROUNDUP=100\n"
                        "ACTIVITIES_WARMUP_ITERATIONS=1\nACTIVITIES_ITERATIONS=4\n"
                        "PROFILE_REPORT_INPUT_SHAPES=true\nREQUEST_TRACE_ID=c_1\n");
    static const char *const paths[] = {
        "a.json", "/tmp/../etc/x", "/tmp/a=b", "/tmp/a#b", "/tmp/a\nPROFILE_MEMORY=1", "/tmp/a b"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        assert_false(fabric_settings(&capture, paths[i], &out, &err));
    struct fabric_capture wrong = capture;
    assert_true(fabric_check(&wrong, &err));
    wrong.steps = 0;
    assert_false(fabric_check(&wrong, &err));
    wrong = capture;
    memcpy(wrong.id, "../x", 5);
    assert_false(fabric_check(&wrong, &err));
    buf_free(&out);
}

static socklen_t client(struct sockaddr_un *address, const char *folder, const char *name)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    int len = snprintf(address->sun_path + !folder, sizeof address->sun_path - 1, "%s%s%s",
                       folder ? folder : "", folder ? "/" : "", name);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)len + 1 + !folder);
}

// An answer to an address of another kind ends the training process.
static void answers_go_to_clients_of_the_same_kind_alone(void **state)
{
    static const char uuid[] = "dynoconfigclient01234567-89ab-cdef-0123-456789abcdef";
    struct sockaddr_un address;
    (void)state;
    socklen_t len = client(&address, NULL, uuid);
    assert_true(fabric_is_client(&address, len, NULL));
    assert_false(fabric_is_client(&address, len - 1, NULL));
    assert_false(fabric_is_client(&address, len, "/run/a"));
    assert_false(fabric_is_client(&address, offsetof(struct sockaddr_un, sun_path), NULL));
    len = client(&address, "/run/a", uuid);
    assert_true(fabric_is_client(&address, len, "/run/a"));
    assert_false(fabric_is_client(&address, len, "/run/b"));
    assert_false(fabric_is_client(&address, len, NULL));
    len = client(&address, NULL, "dynolog");
    assert_false(fabric_is_client(&address, len, NULL));
}

static void a_process_gets_a_capture_while_it_is_fresh_until_the_process_has_started(void **state)
{
    bool is_first;
    const int64_t second = 1000000000;
    struct agent_state *agent = calloc(1, sizeof *agent);
    struct fabric_message message = {.type = 2, .job = 7, .pids = {1}, .pid_count = 1};
    struct agent_process *a = agent_state_see(agent, "a", &message, 1);
    struct agent_process *b = agent_state_see(agent, "b", &message, 1);
    struct fabric_capture of_job = capture;
    (void)state;
    memcpy(of_job.id, "c_2", 4);
    memcpy(of_job.job, "8", 2);
    assert_ptr_equal(agent_state_see(agent, "a", &message, 2), a);
    assert_true(agent_state_add(agent, &capture, second));
    assert_true(agent_state_add(agent, &capture, second));
    assert_true(agent_state_add(agent, &of_job, second));
    a->own_pid = 11;
    b->own_pid = 12;
    assert_string_equal(agent_state_take(agent, a, second, &is_first)->id, "c_1");
    assert_true(is_first);
    assert_string_equal(agent_state_take(agent, a, second, &is_first)->id, "c_1");
    assert_false(is_first);
    agent_state_start(agent, "c_1", 12);
    assert_non_null(agent_state_take(agent, a, second, &is_first));
    agent_state_start(agent, "c_1", 11);
    assert_null(agent_state_take(agent, a, second, &is_first));
    b->started = 0;
    b->is_busy = true; // with something else
    assert_null(agent_state_take(agent, b, second, &is_first));
    b->is_busy = false;
    assert_null(agent_state_take(agent, b, 40 * second, &is_first));
    b->job = 8;
    assert_string_equal(agent_state_take(agent, b, second, &is_first)->id, "c_1");
    b->is_busy = true; // with c_1
    assert_null(agent_state_take(agent, b, second, &is_first));
    b->is_busy = false;
    assert_string_equal(agent_state_take(agent, b, second, &is_first)->id, "c_2");
    assert_true(is_first);
    agent_state_age(agent, 62 * second);
    assert_int_equal(agent->process_count, 0);
    free(agent);
}

static void a_rank_is_what_its_own_launcher_says(void **state)
{
    (void)state;
    assert_int_equal(process_rank_in(STR("")), -1);
    assert_int_equal(process_rank_in(STR("A=1\0RANK=12\0RANKS=3")), 12);
    assert_int_equal(process_rank_in(STR("RANK=-1\0XRANK=2\0")), -1);
    assert_int_equal(process_rank_in(STR("RANK=99999999999\0PMI_RANK=4\0")), 4);
    assert_int_equal(process_rank_in(STR("SLURM_PROCID=0\0OMPI_COMM_WORLD_RANK=3\0")), 3);
    assert_int_equal(process_rank_in(STR("OMPI_COMM_WORLD_RANK=3\0RANK=2\0")), 2);
    // srun, eight tasks a node; a batch script; srun, one task a node that starts the ranks.
    assert_int_equal(process_rank_in(STR("SLURM_PROCID=9\0SLURM_STEP_TASKS_PER_NODE=8(x2)\0")), 9);
    assert_int_equal(process_rank_in(STR("SLURM_PROCID=0\0SLURM_TASKS_PER_NODE=8\0")), -1);
    assert_int_equal(process_rank_in(STR("SLURM_PROCID=1\0SLURM_STEP_TASKS_PER_NODE=1(x2)\0")), -1);
}

// Eight ranks, each with 32 workers of its loader, after which the ranks were seen.
static void ranks_are_listed_before_the_workers_that_ask_too(void **state)
{
    enum { RANKS = 8, WORKERS = 32, MOST = 64 };
    const struct agent_process *listed[MOST];
    struct agent_state *agent = calloc(1, sizeof *agent);
    char name[16];
    (void)state;
    for (int round = 0; round < 2; round++) // the second time their rank is known to be there
        for (int i = 0; i < RANKS * (WORKERS + 1); i++) {
            int rank = i % RANKS, place = RANKS * (WORKERS + 1) - i;
            struct fabric_message message = {
                .type = 2, .pids = {1000 + place, 1000 + rank + 1}, .pid_count = 2};
            if (place <= RANKS)
                message.pids[1] = 1;
            snprintf(name, sizeof name, "p%d", place);
            struct agent_process *process = agent_state_see(agent, name, &message, 1);
            assert_non_null(process);
            process->rank = place <= RANKS ? place - 1 : rank;
            agent_state_place(agent, process, &message);
        }
    assert_int_equal(agent->process_count, RANKS * (WORKERS + 1));
    assert_int_equal(agent_state_list(agent, listed, MOST), MOST);
    for (int i = 0; i < MOST; i++)
        assert_int_equal(listed[i]->is_worker, i >= RANKS);
    assert_int_equal(agent_state_list(agent, listed, 3), 3);
    free(agent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_real_request_is_read),
        cmocka_unit_test(anything_else_is_refused),
        cmocka_unit_test(an_answer_is_never_empty_and_has_the_bytes_that_clients_expect),
        cmocka_unit_test(settings_have_a_fixed_set_of_keys_and_safe_paths_alone),
        cmocka_unit_test(answers_go_to_clients_of_the_same_kind_alone),
        cmocka_unit_test(a_process_gets_a_capture_while_it_is_fresh_until_the_process_has_started),
        cmocka_unit_test(a_rank_is_what_its_own_launcher_says),
        cmocka_unit_test(ranks_are_listed_before_the_workers_that_ask_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
