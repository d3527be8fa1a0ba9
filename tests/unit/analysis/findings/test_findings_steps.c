// SPDX-License-Identifier: Apache-2.0
// Rules about steps, calls that vary, graphs, optimizers and recomputation: each with the right
// cost, silent otherwise.
#include "tests/unit/findings_hand.h"

#define DIMS  "[[4096,4096],[4096,4096]]"
#define TYPES "[\"c10::BFloat16\",\"c10::BFloat16\"]"

static struct busy_work product(int64_t dur_ns)
{
    return (struct busy_work){.op = "aten::mm",
                              .kernel = "nvjet_tst_256x128",
                              .dims = DIMS,
                              .types = TYPES,
                              .dur_ns = dur_ns};
}

// --- slow steps ----------------------------------------------------------------------------------

// Steps of one kernel each, in tenths of a ms; 0 ends the list. The first step is left out as
// warm-up.
static void run_steps(struct busy *busy, const int *tenths)
{
    busy_begin(busy);
    for (int i = 0; tenths[i]; i++) {
        int64_t mark_ns = busy_step_begin(busy);
        busy_run(busy, (struct busy_work){
                           .op = "aten::add", .kernel = "add", .dur_ns = tenths[i] * MS / 10});
        busy_step_end(busy, mark_ns, i);
    }
    hand_analyze(&busy->hand);
}

static void steps_that_are_slow_at_equal_distances_are_periodic(void **state)
{
    (void)state;
    struct busy busy;
    run_steps(&busy, (const int[]){100, 100, 100, 140, 100, 100, 140, 100, 100, 140, 0});
    assert_int_equal(cost_of(&busy.hand, "periodic_slow_steps"), 3 * 4 * MS / 9);
    assert_string_equal(finding_word(&busy.hand, "periodic_slow_steps", "steps"), "3,6,9");
    assert_true(str_starts_with(str_of(finding_word(&busy.hand, "periodic_slow_steps", "title")),
                                STR("every 3rd step takes 4.00 ms longer")));
    assert_int_equal(hand_rows(&busy.hand, "findings"), 1);
    hand_end(&busy.hand);
}

static void distances_are_worded_as_people_say_them(void **state)
{
    (void)state;
    static const struct {
        int distance;
        const char *title;
    } cases[] = {{2, "every 2nd step"}, {11, "every 11th step"}, {21, "every 21st step"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int tenths[128], count = 1 + 4 * cases[i].distance;
        struct busy busy;
        for (int step = 0; step < count; step++)
            tenths[step] = step && step % cases[i].distance == 1 ? 140 : 100;
        tenths[count] = 0;
        run_steps(&busy, tenths);
        if (!has_finding(&busy.hand, "periodic_slow_steps"))
            fail_msg("%s", cases[i].title);
        const char *title = finding_word(&busy.hand, "periodic_slow_steps", "title");
        assert_true(str_starts_with(str_of(title), str_of(cases[i].title)));
        hand_end(&busy.hand);
    }
}

static void slow_steps_now_and_then_are_unstable(void **state)
{
    (void)state;
    struct busy busy;
    run_steps(&busy, (const int[]){100, 100, 100, 140, 150, 100, 100, 100, 100, 100, 0});
    assert_int_equal(cost_of(&busy.hand, "unstable_steps"), 9 * MS / 9);
    assert_string_equal(finding_word(&busy.hand, "unstable_steps", "steps"), "3-4");
    assert_non_null(
        strstr(finding_word(&busy.hand, "unstable_steps", "evidence"), "other compute grew most"));
    assert_int_equal(hand_rows(&busy.hand, "findings"), 1);
    hand_end(&busy.hand);
}

static void steps_that_jitter_are_not_slow(void **state)
{
    (void)state;
    static const int cases[][12] = {
        {100, 100, 103, 101, 107, 99, 100, 102, 100, 107, 0}, // under 8 %
        {100, 90, 110, 92, 108, 94, 106, 96, 104, 111, 0},    // no more than their spread
        {100, 100, 100, 100, 140, 0},                         // too few to tell
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct busy busy;
        run_steps(&busy, cases[i]);
        assert_int_equal(hand_rows(&busy.hand, "findings"), 0);
        hand_end(&busy.hand);
    }
}

static void what_slows_steps_down_is_counted_once(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    for (int i = 0; i < 10; i++) {
        int64_t mark_ns = busy_step_begin(&busy);
        bool slow = i == 3 || i == 6 || i == 9;
        busy_run(&busy, product(5 * MS));
        if (slow)
            busy_host(&busy, EVENT_ANNOTATION, "enumerate(DataLoader)#Iter.__next__",
                      busy.now_ns - MS, 5 * MS - 3 * US);
        struct busy_work work = product(5 * MS);
        work.wait_ns = slow ? 4 * MS : 0;
        busy_run(&busy, work);
        busy_step_end(&busy, mark_ns, i);
        busy.host_ns = busy.now_ns - MS;
    }
    hand_analyze(&busy.hand);
    int64_t wait_ns = 3 * 4 * MS / 9;
    assert_int_equal(cost_of(&busy.hand, "periodic_slow_steps"), wait_ns);
    assert_int_equal(cost_of(&busy.hand, "starved_data_loading"), wait_ns);
    size_t periodic = finding_row(&busy.hand, "periodic_slow_steps");
    assert_string_equal(hand_word(&busy.hand, "findings", periodic, "overlaps"),
                        "starved_data_loading");
    assert_int_equal(hand_i64(&busy.hand, "findings", periodic, "own_cost_ns"), 0);
    hand_end(&busy.hand);
}

// One step in ten with an evaluation of 40 kernels: other findings keep their time, and its share
// is that of the mean step.
static void an_evaluation_takes_no_time_from_other_findings(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    for (int i = 0; i < 11; i++) {
        int64_t mark_ns = busy_step_begin(&busy);
        busy_host(&busy, EVENT_ANNOTATION, "enumerate(DataLoader)#Iter.__next__", busy.now_ns - MS,
                  5 * MS - 3 * US);
        struct busy_work work = product(6 * MS);
        work.wait_ns = 4 * MS;
        busy_run(&busy, work);
        busy_repeat(&busy, i == 5 ? 40 : 0, product(6 * MS));
        busy_step_end(&busy, mark_ns, i);
    }
    hand_analyze(&busy.hand);
    const char *slow = "unstable_steps", *starved = "starved_data_loading";
    size_t row = finding_row(&busy.hand, slow);
    assert_int_equal(cost_of(&busy.hand, slow), 240 * MS / 10);
    assert_string_equal(finding_word(&busy.hand, slow, "title"),
                        "1 of 10 steps are slow: 24.0 ms per step on average (70.6 % of the mean "
                        "step); p95 / median is 25.00");
    assert_non_null(strstr(finding_word(&busy.hand, slow, "evidence"),
                           "they run 41 device events each, the others 1: more work"));
    assert_non_null(strstr(finding_word(&busy.hand, slow, "advice"), "evaluation"));
    assert_int_equal(hand_i64(&busy.hand, "findings", row, "own_cost_ns"), 24 * MS);
    assert_null(hand_word(&busy.hand, "findings", row, "overlaps"));
    row = finding_row(&busy.hand, starved);
    assert_int_equal(cost_of(&busy.hand, starved), 4 * MS);
    assert_int_equal(hand_i64(&busy.hand, "findings", row, "own_cost_ns"), 4 * MS);
    hand_end(&busy.hand);
}

// Every third step is longer; those with an optimizer are these, or all.
static void steps_that_update_parameters_are_not_slow(void **state)
{
    (void)state;
    for (int all = 0; all < 2; all++) {
        struct busy busy;
        busy_begin(&busy);
        for (int i = 0; i < 13; i++) {
            int64_t mark_ns = busy_step_begin(&busy);
            busy_run(&busy,
                     (struct busy_work){.op = "aten::add", .kernel = "add", .dur_ns = 10 * MS});
            int64_t begin_ns = busy.host_ns;
            if (i % 3 == 0)
                busy_run(&busy, (struct busy_work){.op = "aten::_fused_adamw_",
                                                   .kernel = "FusedOptimizerTensorList",
                                                   .dur_ns = 4 * MS});
            if (all || i % 3 == 0)
                busy_host(&busy, EVENT_ANNOTATION, "Optimizer.step#AdamW.step", begin_ns,
                          busy.host_ns - begin_ns);
            busy_step_end(&busy, mark_ns, i);
        }
        hand_analyze(&busy.hand);
        assert_int_equal(has_finding(&busy.hand, "periodic_slow_steps"), all);
        assert_int_equal(hand_rows(&busy.hand, "findings"), all);
        hand_end(&busy.hand);
    }
}

// The host compiles for 4 ms before the work of some of 8 steady steps.
static void compilation_is_a_cold_start_unless_it_goes_on(void **state)
{
    (void)state;
    static const struct {
        const char *compiles; // per step
        bool cold;
    } cases[] = {{".###.....", true},
                 {".#####...", false},
                 {".##....#.", true}, // once more
                 {"...#..#..", false},
                 {".#..#..#.", false}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct busy busy;
        busy_begin(&busy);
        for (int i = 0; i < 9; i++) {
            int64_t mark_ns = busy_step_begin(&busy);
            struct busy_work work = product(10 * MS);
            if (cases[c].compiles[i] == '#') {
                busy_host(&busy, EVENT_ANNOTATION, "_compile.compile_inner (dynamo_timed)",
                          busy.now_ns - MS, 5 * MS - 3 * US);
                work.wait_ns = 4 * MS;
            }
            busy_run(&busy, work);
            busy_step_end(&busy, mark_ns, i);
            busy.host_ns = busy.now_ns - MS;
        }
        hand_analyze(&busy.hand);
        assert_int_equal(has_finding(&busy.hand, "launch_bound"), !cases[c].cold);
        if (!cases[c].cold)
            assert_non_null(
                strstr(finding_word(&busy.hand, "launch_bound", "title"), "while it compiles"));
        hand_end(&busy.hand);
    }
}

// --- odd steps -----------------------------------------------------------------------------------

// Steps with some tenths of a ms of communication, then 40 ms of compute. The first is left out as
// warm-up; a negative number ends the list.
static void run_communicating_steps(struct busy *busy, const int *tenths)
{
    busy_begin(busy);
    for (int i = 0; tenths[i] >= 0; i++) {
        int64_t mark_ns = busy_step_begin(busy);
        if (tenths[i])
            busy_run(busy, (struct busy_work){.op = "c10d::allreduce_",
                                              .kernel = "ncclDevKernel_AllReduce_Sum",
                                              .dur_ns = tenths[i] * MS / 10});
        busy_run(busy, (struct busy_work){.op = "aten::add", .kernel = "add", .dur_ns = 40 * MS});
        busy_step_end(busy, mark_ns, i);
    }
    hand_analyze(&busy->hand);
}

// CASES.md, "One odd step".
static void one_odd_step_does_not_stand_for_all(void **state)
{
    (void)state;
    struct busy busy;
    run_communicating_steps(&busy, (const int[]){596, 596, 596, 1190, -1});
    const char *rule = "exposed_communication";
    assert_int_equal(cost_of(&busy.hand, rule), 596 * MS / 10);
    assert_true(str_starts_with(str_of(finding_word(&busy.hand, rule, "title")),
                                STR("59.6 ms of communication per step is not hidden by compute "
                                    "(59.8 %)"))); // of 99.6 ms
    assert_non_null(strstr(finding_word(&busy.hand, rule, "evidence"),
                           "not counted: step 3, which has 119 ms of it"));
    assert_int_equal(hand_i64(&busy.hand, "findings", finding_row(&busy.hand, rule), "own_cost_ns"),
                     596 * MS / 10);
    hand_end(&busy.hand);
}

static void what_comes_again_and_again_is_part_of_the_typical_step(void **state)
{
    (void)state;
    struct busy busy;
    run_communicating_steps(&busy, (const int[]){0, 0, 0, 0, 400, 0, 0, 0, 400, -1});
    assert_int_equal(cost_of(&busy.hand, "exposed_communication"), 2 * 40 * MS / 8);
    hand_end(&busy.hand);
}

// --- slow calls ----------------------------------------------------------------------------------

static void calls_slower_than_others_of_their_shape_are_found(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    busy_repeat(&busy, 10, product(200 * US));
    hand_kernel(&busy.hand, "ncclDevKernel_AllReduce_Sum", 20, busy.now_ns + 10 * US, 100 * US);
    busy_repeat(&busy, 2, product(300 * US));
    busy_run(&busy, product(250 * US)); // 1.25 times: within the usual range
    hand_analyze(&busy.hand);
    assert_int_equal(cost_of(&busy.hand, "slow_calls"), 2 * 100 * US);
    assert_non_null(strstr(finding_word(&busy.hand, "slow_calls", "evidence"),
                           "\"href\":\"kernels?q=nvjet_tst_256x128\""));
    assert_non_null(strstr(finding_word(&busy.hand, "slow_calls", "evidence"),
                           "communication runs during 50 % of the slow calls' time"));
    assert_int_equal(hand_rows(&busy.hand, "findings"), 1);
    hand_end(&busy.hand);
}

// Steps of twelve layers whose products take `us` each; with `odd` one more takes 300 us in step 4.
static void run_layers(struct busy *busy, const int *us, bool odd)
{
    busy_begin(busy);
    for (int step = 0; step < 6; step++) {
        int64_t mark_ns = busy_step_begin(busy);
        for (int layer = 0; layer < 12; layer++)
            busy_run(busy, product((odd && step == 4 && layer == 1 ? 300 : us[layer]) * US));
        busy_step_end(busy, mark_ns, step);
    }
    hand_analyze(&busy->hand);
}

// CASES.md, "Same place, same time".
static void layers_that_differ_in_every_step_have_no_slow_calls(void **state)
{
    (void)state;
    static const int alternating[] = {200, 300, 200, 300, 200, 300, 200, 300, 200, 300, 200, 300};
    static const int some[] = {300, 200, 200, 300, 200, 200, 200, 200, 300, 200, 200, 200};
    struct busy busy;
    run_layers(&busy, alternating, false);
    assert_int_equal(hand_rows(&busy.hand, "findings"), 0);
    hand_end(&busy.hand);
    run_layers(&busy, some, false);
    assert_int_equal(hand_rows(&busy.hand, "findings"), 0);
    hand_end(&busy.hand);
    run_layers(&busy, some, true); // 100 us more in one of five steps of 2.7 ms
    assert_int_equal(hand_rows(&busy.hand, "findings"), 0); // less than 1 %
    hand_end(&busy.hand);
}

static void a_call_slower_than_its_place_is_slow(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    for (int step = 0; step < 6; step++) {
        int64_t mark_ns = busy_step_begin(&busy);
        for (int layer = 0; layer < 4; layer++) { // in steps 1 to 4 a different layer each
            int usual = layer % 2 ? 300 : 200;
            busy_run(&busy, product((step == layer + 1 ? 500 : usual) * US));
        }
        busy_step_end(&busy, mark_ns, step);
    }
    hand_analyze(&busy.hand);
    assert_int_equal(cost_of(&busy.hand, "slow_calls"), (2 * 300 + 2 * 200) * US / 5);
    hand_end(&busy.hand);
}

static void layers_that_alternate_in_one_forward_have_no_slow_calls(void **state)
{
    (void)state;
    static const int periods[] = {2, 6, 8};
    for (size_t p = 0; p < sizeof periods / sizeof *periods; p++) {
        struct busy busy;
        busy_begin(&busy);
        for (int layer = 0; layer < 24; layer++)
            busy_run(&busy, product((layer % periods[p] == periods[p] - 1 ? 400 : 200) * US));
        hand_analyze(&busy.hand);
        assert_int_equal(hand_rows(&busy.hand, "findings"), 0);
        hand_end(&busy.hand);
    }
}

// Of 24 layers the ninth and the seventeenth are slow, eight apart, but the first is not: two calls
// are always some distance apart, and it takes more of them to make a period.
static void two_slow_calls_are_no_period(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    for (int layer = 0; layer < 24; layer++)
        busy_run(&busy, product((layer == 8 || layer == 16 ? 400 : 200) * US));
    hand_analyze(&busy.hand);
    assert_int_equal(cost_of(&busy.hand, "slow_calls"), 2 * 200 * US);
    hand_end(&busy.hand);
}

// Four launches of a graph with twelve kernels, the third of which takes twice as long.
static void places_of_a_replay_are_compared_with_themselves(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    for (int replay = 0; replay < 4; replay++) {
        struct busy_work first = product(200 * US);
        int64_t correlation = 1 + busy.now_ns;
        busy_run(&busy, first);
        for (int i = 1; i < 12; i++) {
            int64_t dur_ns = (i == 2 || (replay == 3 && i == 5) ? 400 : 200) * US;
            hand_add(&busy.hand, (struct hand_event){.kind = EVENT_KERNEL,
                                                     .name = first.kernel,
                                                     .begin_ns = busy.now_ns,
                                                     .dur_ns = dur_ns,
                                                     .row = 7,
                                                     .correlation = correlation});
            busy.now_ns += dur_ns;
        }
    }
    hand_analyze(&busy.hand);
    assert_int_equal(cost_of(&busy.hand, "slow_calls"), 200 * US); // of the last replay only
    hand_end(&busy.hand);
}

static void calls_of_other_shapes_or_grids_are_not_compared(void **state)
{
    (void)state;
    static const struct busy_work others[] = {
        {.op = "aten::mul", .kernel = "mul", .dims = "[[8192],[]]", .dur_ns = 300 * US},
        {.op = "aten::mul", .kernel = "mul", .dims = "[[4096],[]]", .dur_ns = 300 * US, .grid = 9},
        {.op = "aten::mul_", .kernel = "mul", .dims = "[[4096],[]]", .dur_ns = 300 * US},
    };
    struct busy busy;
    busy_begin(&busy);
    busy_repeat(&busy, 12,
                (struct busy_work){
                    .op = "aten::mul", .kernel = "mul", .dims = "[[4096],[]]", .dur_ns = 200 * US});
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        busy_run(&busy, others[i]);
    hand_analyze(&busy.hand);
    assert_int_equal(hand_rows(&busy.hand, "findings"), 0);
    hand_end(&busy.hand);
}

static void calls_without_recorded_shapes_are_not_compared(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    for (int i = 0; i < 15; i++)
        busy_run(&busy, (struct busy_work){
                            .op = "aten::mul", .kernel = "mul", .dur_ns = i ? 200 * US : 900 * US});
    hand_analyze(&busy.hand);
    assert_int_equal(hand_rows(&busy.hand, "findings"), 0);
    hand_end(&busy.hand);
}

// --- graphs --------------------------------------------------------------------------------------

// Six steps of `kernels` kernels of 30 us, before each of which the device waits; more: how many
// kernels each step has more than the one before.
static void run_launches(struct busy *busy, int kernels, int more, int64_t wait_ns)
{
    busy_begin(busy);
    for (int i = 0; i < 6; i++) {
        int64_t mark_ns = busy_step_begin(busy);
        busy_repeat(busy, kernels + i * more,
                    (struct busy_work){
                        .op = "aten::add", .kernel = "add", .dur_ns = 30 * US, .wait_ns = wait_ns});
        busy_step_end(busy, mark_ns, i);
    }
    hand_analyze(&busy->hand);
}

static void steps_that_launch_the_same_again_could_be_graphs(void **state)
{
    (void)state;
    static const struct {
        int kernels, more;
        int64_t wait_ns;
        bool fires;
    } cases[] = {
        {60, 0, 20 * US, true},
        {49, 0, 20 * US, false}, // few
        {60, 0, 3 * US, false},  // hardly any wait
        {60, 1, 20 * US, false}, // never the same
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct busy busy;
        run_launches(&busy, cases[i].kernels, cases[i].more, cases[i].wait_ns);
        if (has_finding(&busy.hand, "no_cuda_graphs") != cases[i].fires)
            fail_msg("case %zu", i);
        if (cases[i].fires) // the first of the last step's waits is in the step before
            assert_in_range(cost_of(&busy.hand, "no_cuda_graphs"), 59 * 20 * US, 60 * 20 * US);
        hand_end(&busy.hand);
    }
}

static void a_long_wait_is_none_that_a_graph_saves(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    for (int i = 0; i < 6; i++) {
        int64_t mark_ns = busy_step_begin(&busy);
        busy_run(&busy, (struct busy_work){
                            .op = "aten::add", .kernel = "add", .dur_ns = MS, .wait_ns = MS});
        busy_repeat(&busy, 60,
                    (struct busy_work){.op = "aten::add", .kernel = "add", .dur_ns = 30 * US});
        busy_step_end(&busy, mark_ns, i);
    }
    hand_analyze(&busy.hand);
    assert_false(has_finding(&busy.hand, "no_cuda_graphs"));
    hand_end(&busy.hand);
}

// --- optimizer -----------------------------------------------------------------------------------

// 10 ms of products, and an optimizer of ten parameters that runs these operators for each.
static void run_optimizer(struct busy *busy, const char *mark, const struct busy_work *works)
{
    busy_begin(busy);
    busy_repeat(busy, 50, product(200 * US));
    int64_t begin_ns = busy->host_ns;
    for (int parameter = 0; parameter < 10; parameter++)
        for (int i = 0; works[i].op; i++)
            busy_run(busy, works[i]);
    busy_host(busy, EVENT_ANNOTATION, mark, begin_ns, busy->host_ns - begin_ns);
    hand_analyze(&busy->hand);
}

static const struct busy_work adam[] = {
    {.op = "aten::mul_", .kernel = "mul", .dur_ns = 40 * US},
    {.op = "aten::lerp_", .kernel = "lerp", .dur_ns = 60 * US},
    {.op = "aten::addcmul_", .kernel = "addcmul", .dur_ns = 60 * US},
    {.op = "aten::sqrt", .kernel = "sqrt", .dur_ns = 40 * US},
    {.op = "aten::addcdiv_", .kernel = "addcdiv", .dur_ns = 80 * US},
    {.op = NULL},
};

static void an_optimizer_of_many_kernels_costs_more_than_one_pass(void **state)
{
    (void)state;
    struct busy busy;
    run_optimizer(&busy, "Optimizer.step#AdamW.step", adam);
    assert_about(cost_of(&busy.hand, "unfused_optimizer"), 10 * (280e3 - 1.75 * 80e3));
    assert_int_equal(hand_rows(&busy.hand, "findings"), 1);
    hand_end(&busy.hand);
}

static void fused_optimizers_and_other_phases_are_not_found(void **state)
{
    (void)state;
    static const struct busy_work fused[] = {
        {.op = "aten::_foreach_add_", .kernel = "multi_tensor_apply", .dur_ns = 20 * US},
        {.op = "aten::_foreach_add_", .kernel = "multi_tensor_apply", .dur_ns = 20 * US},
        {.op = "aten::_fused_adamw_", .kernel = "FusedOptimizerTensorList", .dur_ns = 100 * US},
        {.op = NULL},
    };
    struct busy busy;
    run_optimizer(&busy, "Optimizer.step#AdamW.step", fused);
    assert_int_equal(hand_rows(&busy.hand, "findings"), 0);
    hand_end(&busy.hand);
    run_optimizer(&busy, "forward", adam);
    assert_int_equal(hand_rows(&busy.hand, "findings"), 0);
    hand_end(&busy.hand);
}

static void products_of_an_optimizer_are_not_to_be_fused(void **state)
{
    (void)state;
    static const struct busy_work muon[] = {
        {.op = "aten::mm", .kernel = "nvjet_hsh_128x128", .dur_ns = 200 * US},
        {.op = "aten::addmm", .kernel = "nvjet_hsh_128x64", .dur_ns = 200 * US},
        {.op = "aten::baddbmm", .kernel = "nvjet_hsh_64x64", .dur_ns = 200 * US},
        {.op = "aten::mul", .kernel = "mul", .dur_ns = 12 * US},
        {.op = "aten::add_", .kernel = "add", .dur_ns = 12 * US},
        {.op = NULL},
    };
    struct busy busy;
    run_optimizer(&busy, "Optimizer.step#Muon.step", muon);
    assert_false(has_finding(&busy.hand, "unfused_optimizer"));
    hand_end(&busy.hand);
}

// --- recomputation -------------------------------------------------------------------------------

static void repeated_forwards_are_their_own_cost(void **state)
{
    (void)state;
    for (int repeats = 0; repeats < 2; repeats++) {
        struct busy busy;
        busy_begin(&busy);
        busy_repeat(&busy, 20, product(200 * US));
        int64_t begin_ns = busy.host_ns;
        busy_repeat(&busy, 3, product(200 * US));
        busy_host(&busy, EVENT_PYTHON,
                  repeats ? "torch/utils/checkpoint.py(1500): recompute_fn"
                          : "torch/utils/checkpoint.py(488): checkpoint",
                  begin_ns, busy.host_ns - begin_ns);
        hand_analyze(&busy.hand);
        assert_int_equal(hand_rows(&busy.hand, "findings"), repeats);
        if (repeats)
            assert_int_equal(cost_of(&busy.hand, "recompute"), 3 * 200 * US);
        hand_end(&busy.hand);
    }
}

// --- together ------------------------------------------------------------------------------------

static void own_costs_never_exceed_the_step(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    int64_t first_ns = busy.now_ns;
    busy_repeat(&busy, 40,
                (struct busy_work){
                    .op = "aten::add", .kernel = "add", .dur_ns = 5 * US, .wait_ns = 150 * US});
    int64_t begin_ns = busy.host_ns;
    for (int i = 0; i < 10; i++)
        for (int w = 0; adam[w].op; w++) {
            struct busy_work work = adam[w];
            work.wait_ns = 60 * US;
            busy_run(&busy, work);
        }
    busy_host(&busy, EVENT_ANNOTATION, "Optimizer.step#AdamW.step", begin_ns,
              busy.host_ns - begin_ns);
    hand_analyze(&busy.hand);
    assert_true(has_finding(&busy.hand, "launch_bound"));
    assert_true(has_finding(&busy.hand, "unfused_optimizer"));
    assert_own_costs_fit(&busy.hand, busy.now_ns - first_ns);
    hand_end(&busy.hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_that_are_slow_at_equal_distances_are_periodic),
        cmocka_unit_test(distances_are_worded_as_people_say_them),
        cmocka_unit_test(slow_steps_now_and_then_are_unstable),
        cmocka_unit_test(steps_that_jitter_are_not_slow),
        cmocka_unit_test(what_slows_steps_down_is_counted_once),
        cmocka_unit_test(an_evaluation_takes_no_time_from_other_findings),
        cmocka_unit_test(steps_that_update_parameters_are_not_slow),
        cmocka_unit_test(compilation_is_a_cold_start_unless_it_goes_on),
        cmocka_unit_test(one_odd_step_does_not_stand_for_all),
        cmocka_unit_test(what_comes_again_and_again_is_part_of_the_typical_step),
        cmocka_unit_test(calls_slower_than_others_of_their_shape_are_found),
        cmocka_unit_test(layers_that_differ_in_every_step_have_no_slow_calls),
        cmocka_unit_test(a_call_slower_than_its_place_is_slow),
        cmocka_unit_test(layers_that_alternate_in_one_forward_have_no_slow_calls),
        cmocka_unit_test(two_slow_calls_are_no_period),
        cmocka_unit_test(places_of_a_replay_are_compared_with_themselves),
        cmocka_unit_test(calls_of_other_shapes_or_grids_are_not_compared),
        cmocka_unit_test(calls_without_recorded_shapes_are_not_compared),
        cmocka_unit_test(steps_that_launch_the_same_again_could_be_graphs),
        cmocka_unit_test(a_long_wait_is_none_that_a_graph_saves),
        cmocka_unit_test(an_optimizer_of_many_kernels_costs_more_than_one_pass),
        cmocka_unit_test(fused_optimizers_and_other_phases_are_not_found),
        cmocka_unit_test(products_of_an_optimizer_are_not_to_be_fused),
        cmocka_unit_test(repeated_forwards_are_their_own_cost),
        cmocka_unit_test(own_costs_never_exceed_the_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
