// SPDX-License-Identifier: Apache-2.0
// Device events are compute, communication or memory, as in the reference and a little beyond.
#include "ingest/trace/event_kind.h"

#include "ingest/base/name_index.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

static enum device_class class_of(const char *kernel)
{
    return event_device_class(EVENT_KERNEL, str_of(kernel), false);
}

static void check_all(const char *const *names, size_t count, enum device_class class)
{
    for (size_t i = 0; i < count; i++)
        if (class_of(names[i]) != class)
            fail_msg("%s is %s", names[i], event_device_class_word(class_of(names[i])));
}

static void collectives_of_libraries_are_communication(void **state)
{
    (void)state;
    static const char *const names[] = {
        "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)",
        "ncclSymDevKernel_AllGather_LL(ncclSymDevArgs)",
        "void rccl_generic",
        "mscclKernel_Sum_half_Simple",
        "void mscclpp::allreduceAllPairs<float>(x)",
        "oneccl_allreduce",
        "hcclBroadcast",
        "void c10d::symmetric_memory::barrier_kernel(unsigned int**)",
    };
    check_all(names, sizeof names / sizeof *names, CLASS_COMMUNICATION);
}

static void collectives_of_frameworks_are_communication(void **state)
{
    (void)state;
    static const char *const names[] = {
        "void vllm::cross_device_reduce_1stage<__hip_bfloat16, 8>(x)",
        "_ZN5aiter26cross_device_reduce_2stageIDF16bLi8EEE",
        "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(x)",
        "void (anonymous namespace)::multimem_one_shot_all_reduce_kernel<float, 16>(x)",
        "void (anonymous namespace)::multimem_all_gather_kernel<16>(char*)",
        "void (anonymous namespace)::one_shot_all_reduce_kernel<c10::BFloat16, 16, 8>(x)",
        "void (anonymous namespace)::two_shot_all_reduce_kernel<c10::BFloat16, 16, 8>(x)",
        "void quickreduce::allreduce_prototype_twoshot<quickreduce::AllReduceTwoshot>(x)",
        "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<x>(y)",
        "void flashinfer::trtllm_mnnvl_allreduce::oneshotAllreduceFusionKernel<8>(x)",
        "void (anonymous namespace)::all_reduce_one_shot_push_kernel<__nv_bfloat16, 8u>(x)",
        "void (anonymous namespace)::all_reduce_two_shot_kernel<__nv_bfloat16, 8u, true>(x)",
        "_ZN5trtll21allreduceTwoShotSync",
        "void tensorrt_llm::kernels::oneShotAllReduceKernel<half, 8>(x)",
        "void tensorrt_llm::kernels::lamport_style_one_shot_all_reduce_norm_kernel<half>(x)",
        "_ZN5aiter17allgather_lastdimIDF16bE",
        "void aiter::reduce_scatter_cross_device_store<8>(x)",
        "kuserbuffers_pushsend(int*, int*, int4*, int4*, int)",
        "void userbuffers_fp16_sum_inplace_gpu_rr_rs_oop<8>(int)",
        "nvshmemi_transfer_rma_p2p",
        "void barrier_on_stream_kernel_threadgroup<(threadgroup_t)1>(int, int)",
        "_Z36barrier_on_stream_kernel_threadgroupIL13threadgroup_t1EEvii",
        "sync_all_on_stream_kernel_warp",
        "exchangeSplitAndOffset(long*, int, int)",
        "void deep_ep::intranode::dispatch<8, 768, 8192>(int4*)",
        "_ZN7deep_ep11internode_ll7combineILb0EE",
        "void dpsk::ep::internode::combine_ll<3, 10, 7168, 9>(void*)",
        "void dpsk::ep::cuda::get_dispatch_layout<256, 32, 8>(long const*)",
        "void primus_turbo::deep_ep::intranode::dispatch<8, 1024, 8192>(int4*)",
        "FastllmCustomAllReduceKernel",
        "void hybrid_ep::dispatch_kernel<float>(float*)",
        "flashinfer::comm::ulysses_pcie::UlyssesPcieBarrier(unsigned long*, int)",
        "_ZN4uccl11internode_ll8dispatchE",
        "_ZN4mori3moe25EpDispatchIntraNodeKernelI14__hip_bfloat16EE",
        "void pplx::a2a_dispatch_send<1, true>(x)",
        "low_latency_dispatch_kernel",
        "on_device_all_to_all_v_kernel",
        "moeAllToAllKernel",
        "void moeA2ACombineKernel<float>(x)",
    };
    check_all(names, sizeof names / sizeof *names, CLASS_COMMUNICATION);
}

static void work_that_is_named_alike_is_compute(void **state)
{
    (void)state;
    static const char *const names[] = {
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float> >(x)",
        "void at::native::vectorized_gather_kernel<16, long>(char*)",
        "batch_norm_elemt_SyncBatchNorm",
        "gridwise_generic_reduce_dma",
        "triton_poi_fused_all_gather_into_tensor_wait_tensor_0",
        "triton_poi_fused__to_copy_reduce_scatter_tensor_1",
        "moe_align_block_size_kernel",
        "deepep_permute_triton_kernel",
        "deepep_post_reorder_triton_kernel",
        ("void cutlass::Kernel2<bytedance::flux::FluxGemmKernel<bytedance::flux::GemmMeta<"
         "cute::tuple<bytedance::flux::ReduceScatterMeta<false, false> > > > >(Params)"),
        "multimem_",
        "reduce multimem_",
        "low_latency_gemm",
        "dispatch low_latency",
        "",
        "n",
    };
    check_all(names, sizeof names / sizeof *names, CLASS_COMPUTE);
}

static void copies_and_fills_are_memory_also_with_a_collective(void **state)
{
    (void)state;
    static const char *const names[] = {
        "MEMORY_COPY_DEVICE_TO_DEVICE",
        "__amd_rocclr_copyBuffer",
        "__amd_rocclr_fillBufferAligned",
        "CopyDeviceToHost",
        "hipMemcpyAsync",
        "Memset (Device)",
        "Memcpy DtoD nccl",
    };
    check_all(names, sizeof names / sizeof *names, CLASS_MEMORY);
    assert_int_equal(event_device_class(EVENT_KERNEL, STR("Memset"), true), CLASS_MEMORY);
    assert_int_equal(event_device_class(EVENT_MEMCPY, STR("ncclKernel"), true), CLASS_MEMORY);
    assert_int_equal(event_device_class(EVENT_KERNEL, STR("memcpy32"), false), CLASS_COMPUTE);
    assert_int_equal(event_device_class(EVENT_KERNEL, STR("gemm"), true), CLASS_COMMUNICATION);
}

static bool plain_contains(struct str name, const char *text)
{
    return str_contains_nocase(name, str_of(text));
}

// The reference's patterns, matched in the simplest way.
static bool reference_says_communication(struct str name)
{
    static const char *const parts[] = {
        "nccl",
        "rccl",
        "mscclkernel",
        "cross_device_reduce",
        "one_shot_all_reduce",
        "quickreduce",
        "nvshmem",
        "deepep",
        "two_shot_all_reduce",
        "quick_reduce",
        "deep_ep",
        "oneccl",
        "hccl",
        "all_reduce_fusion",
        "all_reduce_kernel",
        "allreduce_fusion",
        "allreduce_kernel",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (plain_contains(name, parts[i]))
            return true;
    for (size_t i = 0; i + 9 <= name.len; i++) {
        struct str rest = {name.at + i + 9, name.len - i - 9};
        if (str_equal_nocase((struct str){name.at + i, 9}, STR("multimem_")) &&
            (plain_contains(rest, "reduce") || plain_contains(rest, "gather")))
            return true;
    }
    return false;
}

// Assembled from significant pieces and padding, so that texts straddle the windows that are
// searched.
static size_t random_name(char *name, size_t size)
{
    static const char *const pieces[] = {
        "multimem_", "MultiMem_", "reduce", "Gather", "quick",  "_reduce",  "deep", "_ep",  "nc",
        "cl",        "allreduce", "_kern",  "el",     "_fused", "one_shot", "_all", "msccl"};
    static const char fused[] = "triton_"; // for which only the reference counts
    size_t len = sizeof fused - 1, target = len + (size_t)rand() % (size - len);
    memcpy(name, fused, len);
    while (len < target) {
        size_t padding = rand() % 3 ? 0 : (size_t)rand() % (NAME_INDEX_MAX + 8);
        for (size_t i = 0; i < padding && len < target; i++)
            name[len++] = '_';
        const char *piece = pieces[(size_t)rand() % (sizeof pieces / sizeof *pieces)];
        for (size_t i = 0; piece[i] && len < target; i++)
            name[len++] = piece[i];
    }
    return len;
}

static void long_names_are_classed_as_the_reference_does(void **state)
{
    (void)state;
    static char name[5 * NAME_INDEX_MAX];
    size_t communicate = 0;
    srand(11);
    for (int round = 0; round < 3000; round++) {
        struct str made = {name, random_name(name, round % 4 ? 60 : sizeof name)};
        bool expected = reference_says_communication(made);
        bool found = event_device_class(EVENT_KERNEL, made, false) == CLASS_COMMUNICATION;
        if (found != expected)
            fail_msg("%.*s", (int)made.len, made.at);
        communicate += found;
    }
    assert_in_range(communicate, 300, 2700); // both answers occur often
}

static void categories_of_both_generations_name_kinds(void **state)
{
    (void)state;
    assert_int_equal(event_kind_of_category(STR("Kernel")), EVENT_KERNEL);
    assert_int_equal(event_kind_of_category(STR("gpu_memset")), EVENT_MEMSET);
    assert_int_equal(event_kind_of_category(STR("Memcpy")), EVENT_MEMCPY);
    assert_int_equal(event_kind_of_category(STR("Operator")), EVENT_CPU_OP);
    assert_int_equal(event_kind_of_category(STR("cuda_driver")), EVENT_DRIVER);
    assert_int_equal(event_kind_of_category(STR("cuda_runtime")), EVENT_RUNTIME);
    assert_int_equal(event_kind_of_category(STR("xpu_runtime")), EVENT_RUNTIME);
    assert_int_equal(event_kind_of_category(STR("privateuse1_runtime")), EVENT_RUNTIME);
    assert_int_equal(event_kind_of_category(STR("MTIA_Runtime")), EVENT_RUNTIME);
    assert_int_equal(event_kind_of_category(STR("xpu_driver")), EVENT_DRIVER);
    assert_int_equal(event_kind_of_category(STR("driver")), EVENT_OTHER);
    assert_int_equal(event_kind_of_category(STR("mtia_ccp_events")), EVENT_OTHER);
    assert_int_equal(event_kind_of_category(STR("something")), EVENT_OTHER);
    assert_int_equal(event_kind_of_category(STR("")), EVENT_OTHER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collectives_of_libraries_are_communication),
        cmocka_unit_test(collectives_of_frameworks_are_communication),
        cmocka_unit_test(work_that_is_named_alike_is_compute),
        cmocka_unit_test(copies_and_fills_are_memory_also_with_a_collective),
        cmocka_unit_test(long_names_are_classed_as_the_reference_does),
        cmocka_unit_test(categories_of_both_generations_name_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
