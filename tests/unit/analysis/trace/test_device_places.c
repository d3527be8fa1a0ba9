// SPDX-License-Identifier: Apache-2.0
// Where the devices of a trace are on their host, by what the recording says.
#include "tests/unit/hand_trace.h"

// The numbers of devices mean something else in each recording: device 3 of a process that may see
// the GPUs 4 to 7.
static void a_number_is_understood_as_its_recorder_counts(void **state)
{
    (void)state;
    static const struct {
        const char *version, *basis;
        int64_t gpu;
    } cases[] = {
        {"cuda_driver_version", "visible devices", 7},
        {"roctracer_version", "agent", 3},
        {"rocprofiler-sdk_version", "trace", 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand hand;
        hand_begin(&hand);
        hand_member(&hand, cases[i].version, "\"1\"");
        hand_member(&hand, "env", "{\"CUDA_VISIBLE_DEVICES\": \"4,5,6,7\"}");
        hand_add(&hand,
                 (struct hand_event){
                     .kind = EVENT_KERNEL, .name = "gemm", .pid = 3, .row = 7, .dur_ns = 100});
        // A copy to the host, which may be under the number of a CPU.
        hand_add(&hand, (struct hand_event){.kind = EVENT_MEMCPY,
                                            .name = "Memcpy DtoH (Device -> Host)",
                                            .begin_ns = 100,
                                            .dur_ns = 10});
        hand_analyze(&hand);
        assert_int_equal(hand_rows(&hand, "devices"), 1);
        assert_string_equal(hand_word(&hand, "devices", 0, "device"), "3");
        assert_string_equal(hand_word(&hand, "devices", 0, "gpu_basis"), cases[i].basis);
        assert_int_equal(hand_i64(&hand, "devices", 0, "gpu"), cases[i].gpu);
        hand_end(&hand);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_is_understood_as_its_recorder_counts),
    };
    return cmocka_run_group_tests_name("device_places", tests, NULL, NULL);
}
