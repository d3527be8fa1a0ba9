// SPDX-License-Identifier: Apache-2.0
// Which device the work is compared with, and how many there are.
#include "tests/unit/analysis/work/work_hand.h"

#include <math.h>

static void a_partition_is_not_compared_with_the_whole_device(void **state)
{
    (void)state;
    struct hand hand;
    begin_product(
        &hand, "[{\"name\":\"AMD Instinct MI300X\",\"numSms\":38,\"totalGlobalMem\":206141652992}]",
        "gemm");
    hand_analyze(&hand);
    assert_string_equal(hand_word(&hand, "summary", 0, "gpu"),
                        "AMD Instinct MI300X partition of 38 compute units");
    assert_true(hand_cell(&hand, "roofline", 0, "peak_tflops")->null);
    size_t hfu = hand_find(&hand, "utilization", "metric", "hfu");
    assert_true(hand_cell(&hand, "utilization", hfu, "value")->null);
    hand_end(&hand);
}

// Of a host with two models. Only CUDA's numbers are those of the list.
static void peaks_are_those_of_the_device_with_the_work(void **state)
{
    (void)state;
    for (int cuda = 0; cuda < 2; cuda++) {
        struct hand hand;
        hand_begin(&hand);
        hand_member(&hand, "deviceProperties",
                    "[{\"id\":1,\"name\":\"NVIDIA H100 PCIe\",\"totalGlobalMem\":85018279936},"
                    "{\"id\":0,\"name\":\"A100-SXM4-40GB\",\"totalGlobalMem\":42297524224}]");
        if (cuda)
            hand_member(&hand, "cuda_driver_version", "12090");
        launch(&hand, (struct hand_event){.name = "aten::mm", .correlation = 1, .dims = MM_1024},
               "gemm", 10000);
        hand_add(&hand, (struct hand_event){.kind = EVENT_MEMCPY,
                                            .name = "Memcpy PtoP (Device -> Device)",
                                            .pid = 1,
                                            .begin_ns = 20000,
                                            .dur_ns = 10});
        hand_analyze(&hand);
        assert_string_equal(hand_word(&hand, "summary", 0, "gpu"),
                            cuda ? "A100-SXM4-40GB" : "NVIDIA H100 PCIe");
        assert_true(hand_cell(&hand, "roofline", 0, "peak_tflops")->f == (cuda ? 312 : 756));
        assert_true(hand_cell(&hand, "roofline", 0, "peak_tbps")->f == (cuda ? 1.555 : 2));
        size_t memory = hand_find(&hand, "environment", "key", "gpu_memory_bytes");
        assert_string_equal(hand_word(&hand, "environment", memory, "value"),
                            cuda ? "42297524224" : "85018279936");
        hand_end(&hand);
    }
}

// PyTorch on ROCm writes a copy to the host under the number of a CPU: the device is one.
static void copies_to_the_host_add_no_device(void **state)
{
    (void)state;
    struct hand hand;
    begin_product(&hand, H100, "gemm_bf16");
    hand_add(&hand, (struct hand_event){.kind = EVENT_MEMCPY,
                                        .name = "Memcpy DtoH (Device -> Host)",
                                        .pid = 1,
                                        .begin_ns = 15000,
                                        .dur_ns = 10});
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "summary", 0, "devices"), 1);
    assert_int_equal(hand_rows(&hand, "devices"), 1);
    size_t hfu = hand_find(&hand, "utilization", "metric", "hfu");
    double value = hand_cell(&hand, "utilization", hfu, "value")->f;
    assert_true(fabs(value - 2147483648.0 / 989e3 / 10010) < 1e-12);
    hand_end(&hand);
}

// As Nsight Systems records shapes.
static void products_without_types_have_operations_and_no_utilization(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_member(&hand, "deviceProperties", H100);
    launch(&hand,
           (struct hand_event){
               .name = "aten::mm", .correlation = 1, .dims = "[[1024,1024],[1024,1024]]"},
           "gemm", 10000);
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "roofline", 0, "flops"), 2147483648);
    assert_true(hand_cell(&hand, "roofline", 0, "bytes")->null);
    size_t hfu = hand_find(&hand, "utilization", "metric", "hfu");
    assert_true(hand_cell(&hand, "utilization", hfu, "value")->null);
    assert_non_null(strstr(hand_word(&hand, "utilization", hfu, "help"), "types of inputs"));
    hand_end(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_without_types_have_operations_and_no_utilization),
        cmocka_unit_test(a_partition_is_not_compared_with_the_whole_device),
        cmocka_unit_test(peaks_are_those_of_the_device_with_the_work),
        cmocka_unit_test(copies_to_the_host_add_no_device),
    };
    return cmocka_run_group_tests_name("work_device", tests, NULL, NULL);
}
