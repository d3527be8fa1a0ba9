// SPDX-License-Identifier: Apache-2.0
// The tables of the two vendors: an H100 under CUDA and an MI300X under ROCm.
#include "tests/tracegen/vendor.h"

#include <stddef.h>

#define BF16_ADD_NAME(width)                                                       \
    "void at::native::vectorized_elementwise_kernel<" width                        \
    ", at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int, " \
    "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)"
#define GELU_LAMBDA                                                                       \
    "(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::operator()() const::" \
    "{lambda()#4}::operator()() const::"
#define GELU_NAME(width)                                        \
    "void at::native::vectorized_elementwise_kernel<" width     \
    ", at::native::GeluCUDAKernelImpl" GELU_LAMBDA              \
    "{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int, " \
    "at::native::GeluCUDAKernelImpl" GELU_LAMBDA                \
    "{lambda(c10::BFloat16)#1}, std::array<char*, 2ul>)"
#define GELU_BACKWARD_NAME(width)                                              \
    "void at::native::vectorized_elementwise_kernel<" width                    \
    ", at::native::GeluBackwardCUDAKernelImpl" GELU_LAMBDA                     \
    "{lambda(c10::BFloat16, c10::BFloat16)#1}, std::array<char*, 3ul> >(int, " \
    "at::native::GeluBackwardCUDAKernelImpl" GELU_LAMBDA                       \
    "{lambda(c10::BFloat16, c10::BFloat16)#1}, std::array<char*, 3ul>)"
#define FLOAT_FUNCTOR_NAME(width, functor, arity)                        \
    "void at::native::vectorized_elementwise_kernel<" width ", " functor \
    ", std::array<char*, " arity "ul> >(int, " functor ", std::array<char*, " arity "ul>)"
#define CAST_LAMBDA \
    "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}"
#define SQRT_LAMBDA                                                                             \
    "at::native::sqrt_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}::operator()() const::" \
    "{lambda()#2}::operator()() const::{lambda(float)#1}"
#define MUL_FUNCTOR                                                                \
    "at::native::AUnaryFunctor<float, float, float, at::native::binary_internal::" \
    "MulFunctor<float> >"
#define SUM_OP                                                                       \
    "at::native::ReduceOp<c10::BFloat16, at::native::func_wrapper_t<c10::BFloat16, " \
    "at::native::sum_functor<c10::BFloat16, float, c10::BFloat16>::operator()"       \
    "(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, c10::BFloat16, 4, 8>"
#define SUM_NAME "void at::native::reduce_kernel<128, 4, " SUM_OP " >(" SUM_OP ")"
#define NORM_NAME                                                                                \
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>" \
    "(int, float, c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, float*, "    \
    "float*, c10::BFloat16*)"
#define NORM_INPUT_NAME                                                                 \
    "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized"   \
    "<c10::BFloat16, float>(c10::BFloat16 const*, c10::BFloat16 const*, float const*, " \
    "float const*, c10::BFloat16 const*, c10::BFloat16*, int)"
#define NORM_WEIGHT_NAME                                                                          \
    "void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernelTemplate<c10::BFloat16, " \
    "float, 32u, 32u, 256u, true, true, false>(long, long, c10::BFloat16 const*, "                \
    "c10::BFloat16 const*, float const*, float const*, c10::BFloat16*, c10::BFloat16*)"
#define EMBEDDING_NAME                                                                          \
    "void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, "       \
    "unsigned int, 2, 2, -2, true>(at::cuda::detail::TensorInfo<c10::BFloat16, unsigned int>, " \
    "at::cuda::detail::TensorInfo<c10::BFloat16 const, unsigned int>, "                         \
    "at::cuda::detail::TensorInfo<long const, unsigned int>, int, int, unsigned int, "          \
    "unsigned int, long)"
#define EMBEDDING_BACKWARD_NAME                                                                 \
    "void at::native::(anonymous namespace)::embedding_backward_feature_kernel<c10::BFloat16, " \
    "float, long>(long const*, c10::BFloat16 const*, c10::BFloat16*, int, long, int)"
#define SOFTMAX_NAME                                                                            \
    "void at::native::(anonymous namespace)::cunn_SoftMaxForwardSmem<8, c10::BFloat16, float, " \
    "float, at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue, long>(float*, "       \
    "c10::BFloat16 const*, long)"
#define SOFTMAX_BACKWARD_NAME                                                        \
    "void at::native::(anonymous namespace)::cunn_SoftMaxBackward<4, float, float, " \
    "c10::BFloat16, at::native::(anonymous namespace)::LogSoftMaxBackwardEpilogue>"  \
    "(c10::BFloat16*, float const*, float const*, long)"
#define NLL_NAME                                                                               \
    "void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<float, "   \
    "float, long>(float*, float*, float const*, long const*, float const*, bool, long, long, " \
    "long, long)"
#define NLL_BACKWARD_NAME                                                                         \
    "void at::native::(anonymous namespace)::nll_loss_backward_reduce_cuda_kernel_2d<float, "     \
    "long>(float*, float const*, long const*, float const*, float const*, bool, int, int, long, " \
    "long)"
#define ADAM_LIST "at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>"
#define ADAM_MATH                                                        \
    "at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4, " \
    "(at::native::ADAM_MODE)1, false>"
#define ADAM_NAME                                                                                 \
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<" ADAM_LIST ", " ADAM_MATH \
    ", float const*, double, double, double, double, double, bool, float*, float*>(" ADAM_LIST    \
    ", " ADAM_MATH ", float const*, double, double, double, double, double, bool, float*, float*)"
#define TENSILE(layout, tile, tail)                                                              \
    "Cijk_" layout "_BBS_BH_Bias_HA_S_SAV_UserArgs_" tile                                        \
    "_MI16x16x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS0_DTVA0_DTVB0_EPS0_FDSI0_GRPM1_GRVWA8_" \
    "GRVWB8_GSUAMB_GLS0_ISA942_IU1_K1_LBSPPA1024_LBSPPB512_LBSPPM0_LPA16_LPB16_LPM0_LRVW8_"      \
    "LWPMn1_" tail "_MO40_NTn1_NTA0_NTB0_NTC0_NTD0_NTM0_NEPBS16_NLCA1_NLCB1_ONLL1_PGR2_PLR1_"    \
    "PKA1_SIA3_SS1_SPO0_SRVW0_SSO0_SVW8_SK0_SKXCCM0_TLDS1_ULSGRO0_USL1_UIOFGRO0_USFGROn1_VSn1_"  \
    "VWA8_VWB4_WSGRA0_WSGRB0_WS64_WG32_8_1"
#define CUSTOM_ALL_REDUCE_NAME                                                  \
    "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*, " \
    "vllm::RankSignals, vllm::Signal*, __nv_bfloat16*, int, int)"
#define FLASH_TRAITS                                                                  \
    "pytorch_flash::Flash_bwd_kernel_traits<64, 128, 128, 8, 4, 4, 4, false, false, " \
    "cutlass::bfloat16_t, pytorch_flash::Flash_kernel_traits<64, 128, 128, 8, "       \
    "cutlass::bfloat16_t> >"

static const struct vendor_api cuda_launch = {"cudaLaunchKernel", 211, false, false, NULL};
static const struct vendor_api cuda_launch_exc = {"cudaLaunchKernelExC", 430, false, false, NULL};
static const struct vendor_api cuda_launch_driver = {"cuLaunchKernelEx", 652, true, false, NULL};
static const struct vendor_api cuda_copy = {"cudaMemcpyAsync", 41, false, false, NULL};
static const struct vendor_api cuda_set = {"cudaMemsetAsync", 51, false, false, NULL};
static const struct vendor_api cuda_event_record = {"cudaEventRecord", 135, false, false, NULL};
static const struct vendor_api cuda_stream_wait = {"cudaStreamWaitEvent", 147, false, false, NULL};
static const struct vendor_api cuda_event_sync = {"cudaEventSynchronize", 137, false, false,
                                                  "Event Sync"};
static const struct vendor_api cuda_stream_sync = {"cudaStreamSynchronize", 131, false, false,
                                                   "Stream Sync"};
static const struct vendor_api cuda_device_sync = {"cudaDeviceSynchronize", 165, false, false,
                                                   "Context Sync"};

static const struct vendor_api cuda_graph = {"cudaGraphLaunch", 311, false, false, NULL};
static const struct vendor_api cuda_malloc = {"cudaMalloc", 20, false, false, NULL};
static const struct vendor_api cuda_value_wait = {"cuStreamWaitValue32_v2", 629, true, false, NULL};
static const struct vendor_api cuda_module_load = {"cuLibraryLoadData", 671, true, false, NULL};

static const struct vendor_api hip_launch = {"hipLaunchKernel", 107, false, false, NULL};
static const struct vendor_api hip_launch_ext = {"hipExtLaunchKernel", 62, false, false, NULL};
static const struct vendor_api hip_launch_module = {"hipExtModuleLaunchKernel", 65, false, true,
                                                    NULL};
static const struct vendor_api hip_launch_triton = {"hipModuleLaunchKernel", 169, false, false,
                                                    NULL};
static const struct vendor_api hip_copy = {"hipMemcpyAsync", 134, false, false, NULL};
static const struct vendor_api hip_blocking_copy = {"hipMemcpyWithStream", 153, false, false, NULL};
static const struct vendor_api hip_set = {"hipMemsetAsync", 159, false, false, NULL};
static const struct vendor_api hip_event_record = {"hipEventRecord", 58, false, false, NULL};
static const struct vendor_api hip_stream_wait = {"hipStreamWaitEvent", 200, false, false, NULL};
static const struct vendor_api hip_event_sync = {"hipEventSynchronize", 60, false, false, NULL};
static const struct vendor_api hip_stream_sync = {"hipStreamSynchronize", 198, false, false, NULL};
static const struct vendor_api hip_device_sync = {"hipDeviceSynchronize", 48, false, false, NULL};
static const struct vendor_api hip_graph = {"hipGraphLaunch", 92, false, false, NULL};
static const struct vendor_api hip_malloc = {"hipMalloc", 125, false, false, NULL};
static const struct vendor_api hip_value_wait = {"hipStreamWaitValue32", 201, false, false, NULL};
static const struct vendor_api hip_module_load = {"hipModuleLoadData", 171, false, false, NULL};

// name, category, launch call, registers, shared memory, block, tile
static const struct kernel cuda_kernels[ROLE_COUNT] = {
    [ROLE_GEMM_FORWARD] = {"nvjet_tst_256x128_64x4_1x2_h_bz_coopA_bias_TNT",
                           CATEGORY_GEMM,
                           &cuda_launch_driver,
                           168,
                           213248,
                           {384, 1},
                           256},
    [ROLE_GEMM_DGRAD] = {"nvjet_tst_256x128_64x4_2x1_v_bz_coopA_NNT",
                         CATEGORY_GEMM,
                         &cuda_launch_driver,
                         168,
                         213248,
                         {384, 1},
                         256},
    [ROLE_GEMM_WGRAD] = {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_nt_n_tilesize128x128x64_warpgroup"
                         "size1x1x1_execute_segment_k_off_kernel__5x_cublas",
                         CATEGORY_GEMM,
                         &cuda_launch_exc,
                         168,
                         231424,
                         {384, 1},
                         128},
    [ROLE_ATTENTION_FORWARD] =
        {"void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, "
         "128, 4, false, false, cutlass::bfloat16_t, pytorch_flash::Flash_kernel_traits<64, 128, "
         "128, 4, cutlass::bfloat16_t> >, false, true, false, false, true, true, false>"
         "(pytorch_flash::Flash_fwd_params)",
         CATEGORY_ATTENTION,
         &cuda_launch,
         255,
         49152,
         {128, 1},
         128},
    [ROLE_ATTENTION_PREPARE] = {"void pytorch_flash::flash_bwd_dot_do_o_kernel<true, " FLASH_TRAITS
                                " >(pytorch_flash::Flash_bwd_params)",
                                CATEGORY_ATTENTION,
                                &cuda_launch,
                                60,
                                0,
                                {256, 1},
                                128},
    [ROLE_ATTENTION_BACKWARD] =
        {"void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<" FLASH_TRAITS
         ", false, true, false, false, true, true, false>(pytorch_flash::Flash_bwd_params)",
         CATEGORY_ATTENTION,
         &cuda_launch,
         255,
         147456,
         {256, 1},
         128},
    [ROLE_NORM_FORWARD] = {NORM_NAME, CATEGORY_NORM, &cuda_launch, 34, 24, {32, 4}, 2048},
    [ROLE_NORM_BACKWARD_INPUT] =
        {NORM_INPUT_NAME, CATEGORY_NORM, &cuda_launch, 40, 32, {256, 1}, 2048},
    [ROLE_NORM_BACKWARD_WEIGHT] =
        {NORM_WEIGHT_NAME, CATEGORY_NORM, &cuda_launch, 62, 8448, {32, 32}, 65536},
    [ROLE_GELU] = {GELU_NAME("4"), CATEGORY_ELEMENTWISE, &cuda_launch, 30, 0, {128, 1}, 512},
    [ROLE_GELU_BACKWARD] =
        {GELU_BACKWARD_NAME("4"), CATEGORY_ELEMENTWISE, &cuda_launch, 32, 0, {128, 1}, 512},
    [ROLE_ADD] = {BF16_ADD_NAME("4"), CATEGORY_ELEMENTWISE, &cuda_launch, 24, 0, {128, 1}, 512},
    [ROLE_CAST] = {FLOAT_FUNCTOR_NAME("4", CAST_LAMBDA, "2"),
                   CATEGORY_ELEMENTWISE,
                   &cuda_launch,
                   22,
                   0,
                   {128, 1},
                   512},
    [ROLE_SUM] = {SUM_NAME, CATEGORY_REDUCTION, &cuda_launch, 48, 16, {32, 16}, 32768},
    [ROLE_EMBEDDING] = {EMBEDDING_NAME, CATEGORY_EMBEDDING, &cuda_launch, 32, 0, {128, 1}, 512},
    [ROLE_EMBEDDING_BACKWARD] =
        {EMBEDDING_BACKWARD_NAME, CATEGORY_EMBEDDING, &cuda_launch, 38, 8320, {32, 32}, 4096},
    [ROLE_LOG_SOFTMAX] =
        {SOFTMAX_NAME, CATEGORY_REDUCTION, &cuda_launch, 32, 65664, {1024, 1}, 16384},
    [ROLE_LOG_SOFTMAX_BACKWARD] =
        {SOFTMAX_BACKWARD_NAME, CATEGORY_REDUCTION, &cuda_launch, 40, 128, {1024, 1}, 16384},
    [ROLE_NLL] = {NLL_NAME, CATEGORY_REDUCTION, &cuda_launch, 26, 256, {32, 1}, 1 << 20},
    [ROLE_NLL_BACKWARD] =
        {NLL_BACKWARD_NAME, CATEGORY_REDUCTION, &cuda_launch, 22, 0, {32, 1}, 1 << 20},
    [ROLE_FILL] = {FLOAT_FUNCTOR_NAME("4", "at::native::FillFunctor<float>", "1"),
                   CATEGORY_ELEMENTWISE,
                   &cuda_launch,
                   16,
                   0,
                   {128, 1},
                   512},
    [ROLE_ADAM] = {ADAM_NAME, CATEGORY_OPTIMIZER, &cuda_launch, 56, 0, {512, 1}, 65536},
    [ROLE_TINY_MUL] = {FLOAT_FUNCTOR_NAME("4", MUL_FUNCTOR, "2"),
                       CATEGORY_ELEMENTWISE,
                       &cuda_launch,
                       16,
                       0,
                       {128, 1},
                       512},
    [ROLE_TINY_ADD] = {FLOAT_FUNCTOR_NAME("4", "at::native::CUDAFunctorOnSelf_add<float>", "2"),
                       CATEGORY_ELEMENTWISE,
                       &cuda_launch,
                       16,
                       0,
                       {128, 1},
                       512},
    [ROLE_TINY_SQRT] = {FLOAT_FUNCTOR_NAME("4", SQRT_LAMBDA, "2"),
                        CATEGORY_ELEMENTWISE,
                        &cuda_launch,
                        18,
                        0,
                        {128, 1},
                        512},
    [ROLE_ALL_REDUCE] =
        {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
         CATEGORY_COMM,
         &cuda_launch_exc,
         96,
         84968,
         {512, 1},
         0},
    [ROLE_ALL_GATHER] = {"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                         CATEGORY_COMM,
                         &cuda_launch_exc,
                         96,
                         84968,
                         {512, 1},
                         0},
    [ROLE_REDUCE_SCATTER] =
        {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
         CATEGORY_COMM,
         &cuda_launch_exc,
         96,
         84968,
         {512, 1},
         0},
    [ROLE_ALL_TO_ALL] = {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
                         CATEGORY_COMM,
                         &cuda_launch_exc,
                         96,
                         84968,
                         {512, 1},
                         0},
    [ROLE_CUSTOM_ALL_REDUCE] =
        {CUSTOM_ALL_REDUCE_NAME, CATEGORY_COMM, &cuda_launch, 32, 0, {512, 1}, 512},
};

static const struct kernel hip_kernels[ROLE_COUNT] = {
    [ROLE_GEMM_FORWARD] = {TENSILE("Alik_Bljk", "MT256x256x64", "MIWT8_8"),
                           CATEGORY_GEMM,
                           &hip_launch_module,
                           0,
                           0,
                           {256, 1},
                           256},
    [ROLE_GEMM_DGRAD] = {TENSILE("Ailk_Bljk", "MT256x256x64", "MIWT8_8"),
                         CATEGORY_GEMM,
                         &hip_launch_module,
                         0,
                         0,
                         {256, 1},
                         256},
    [ROLE_GEMM_WGRAD] = {TENSILE("Ailk_Bjlk", "MT256x128x64", "MIWT8_4"),
                         CATEGORY_GEMM,
                         &hip_launch_module,
                         0,
                         0,
                         {256, 1},
                         128},
    [ROLE_ATTENTION_FORWARD] =
        {"attn_fwd", CATEGORY_ATTENTION, &hip_launch_triton, 0, 0, {256, 1}, 128},
    [ROLE_ATTENTION_PREPARE] =
        {"bwd_preprocess", CATEGORY_ATTENTION, &hip_launch_triton, 0, 0, {128, 1}, 128},
    [ROLE_ATTENTION_BACKWARD] =
        {"bwd_kernel_dk_dv", CATEGORY_ATTENTION, &hip_launch_triton, 0, 0, {256, 1}, 128},
    [ROLE_NORM_FORWARD] = {NORM_NAME, CATEGORY_NORM, &hip_launch, 0, 0, {64, 4}, 2048},
    [ROLE_NORM_BACKWARD_INPUT] =
        {NORM_INPUT_NAME, CATEGORY_NORM, &hip_launch, 0, 0, {256, 1}, 2048},
    [ROLE_NORM_BACKWARD_WEIGHT] =
        {NORM_WEIGHT_NAME, CATEGORY_NORM, &hip_launch, 0, 0, {64, 16}, 65536},
    [ROLE_GELU] = {GELU_NAME("8"), CATEGORY_ELEMENTWISE, &hip_launch, 0, 0, {256, 1}, 2048},
    [ROLE_GELU_BACKWARD] =
        {GELU_BACKWARD_NAME("8"), CATEGORY_ELEMENTWISE, &hip_launch, 0, 0, {256, 1}, 2048},
    [ROLE_ADD] = {BF16_ADD_NAME("8"), CATEGORY_ELEMENTWISE, &hip_launch, 0, 0, {256, 1}, 2048},
    [ROLE_CAST] = {FLOAT_FUNCTOR_NAME("4", CAST_LAMBDA, "2"),
                   CATEGORY_ELEMENTWISE,
                   &hip_launch,
                   0,
                   0,
                   {256, 1},
                   1024},
    [ROLE_SUM] = {SUM_NAME, CATEGORY_REDUCTION, &hip_launch, 0, 0, {64, 8}, 32768},
    [ROLE_EMBEDDING] = {EMBEDDING_NAME, CATEGORY_EMBEDDING, &hip_launch, 0, 0, {512, 1}, 2048},
    [ROLE_EMBEDDING_BACKWARD] =
        {EMBEDDING_BACKWARD_NAME, CATEGORY_EMBEDDING, &hip_launch, 0, 0, {64, 16}, 4096},
    [ROLE_LOG_SOFTMAX] = {SOFTMAX_NAME, CATEGORY_REDUCTION, &hip_launch, 0, 0, {1024, 1}, 16384},
    [ROLE_LOG_SOFTMAX_BACKWARD] =
        {SOFTMAX_BACKWARD_NAME, CATEGORY_REDUCTION, &hip_launch, 0, 0, {1024, 1}, 16384},
    [ROLE_NLL] = {NLL_NAME, CATEGORY_REDUCTION, &hip_launch, 0, 0, {64, 1}, 1 << 20},
    [ROLE_NLL_BACKWARD] =
        {NLL_BACKWARD_NAME, CATEGORY_REDUCTION, &hip_launch, 0, 0, {64, 1}, 1 << 20},
    [ROLE_FILL] = {FLOAT_FUNCTOR_NAME("4", "at::native::FillFunctor<float>", "1"),
                   CATEGORY_ELEMENTWISE,
                   &hip_launch,
                   0,
                   0,
                   {256, 1},
                   1024},
    [ROLE_ADAM] = {ADAM_NAME, CATEGORY_OPTIMIZER, &hip_launch, 0, 0, {512, 1}, 65536},
    [ROLE_TINY_MUL] = {FLOAT_FUNCTOR_NAME("4", MUL_FUNCTOR, "2"),
                       CATEGORY_ELEMENTWISE,
                       &hip_launch,
                       0,
                       0,
                       {256, 1},
                       1024},
    [ROLE_TINY_ADD] = {FLOAT_FUNCTOR_NAME("4", "at::native::CUDAFunctorOnSelf_add<float>", "2"),
                       CATEGORY_ELEMENTWISE,
                       &hip_launch,
                       0,
                       0,
                       {256, 1},
                       1024},
    [ROLE_TINY_SQRT] = {FLOAT_FUNCTOR_NAME("4", SQRT_LAMBDA, "2"),
                        CATEGORY_ELEMENTWISE,
                        &hip_launch,
                        0,
                        0,
                        {256, 1},
                        1024},
    [ROLE_ALL_REDUCE] = {"ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)",
                         CATEGORY_COMM,
                         &hip_launch_ext,
                         0,
                         0,
                         {256, 1},
                         0},
    [ROLE_ALL_GATHER] = {"ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)",
                         CATEGORY_COMM,
                         &hip_launch_ext,
                         0,
                         0,
                         {256, 1},
                         0},
    [ROLE_REDUCE_SCATTER] = {"ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)",
                             CATEGORY_COMM,
                             &hip_launch_ext,
                             0,
                             0,
                             {256, 1},
                             0},
    [ROLE_ALL_TO_ALL] = {"ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)",
                         CATEGORY_COMM,
                         &hip_launch_ext,
                         0,
                         0,
                         {256, 1},
                         0},
    [ROLE_CUSTOM_ALL_REDUCE] =
        {CUSTOM_ALL_REDUCE_NAME, CATEGORY_COMM, &hip_launch, 0, 0, {512, 1}, 512},
};

// Speeds are about two thirds of the data sheets' peaks, so that efficiencies are plausible.
static const struct vendor vendors[] = {
    [VENDOR_CUDA] =
        {
            .device_name = "NVIDIA H100 80GB HBM3",
            .device_properties = "\"regsPerMultiprocessor\": 65536, \"sharedMemPerBlockOptin\": "
                                 "232448, \"sharedMemPerMultiprocessor\": 233472",
            .versions = "\"cupti_version\": 26,\n  \"cuda_runtime_version\": 12090,\n  "
                        "\"cuda_driver_version\": 12090",
            .process = "python3",
            .memory_bytes = 85018279936,
            .sms = 132,
            .warp_size = 32,
            .gemm_flop_per_ns = 640000,
            .attention_flop_per_ns = 420000,
            .bytes_per_ns = 2600,
            .copy_bytes_per_ns = 50,
            .bus_bytes_per_ns = 380,
            .collective_latency_ns = 18000,
            .first_device = 0,
            .compute_stream = 7,
            .comm_stream = 20,
            .side_stream = 24,
            .kernels = cuda_kernels,
            .copy = &cuda_copy,
            .blocking_copy = &cuda_copy,
            .set = &cuda_set,
            .event_record = &cuda_event_record,
            .stream_wait = &cuda_stream_wait,
            .event_sync = &cuda_event_sync,
            .stream_sync = &cuda_stream_sync,
            .device_sync = &cuda_device_sync,
            .graph = &cuda_graph,
            .malloc = &cuda_malloc,
            .value_wait = &cuda_value_wait,
            .module_load = &cuda_module_load,
            .blocking_copy_needs_sync = true,
        },
    [VENDOR_ROCM] =
        {
            .device_name = "AMD Instinct MI300X",
            .device_properties = "\"maxSharedMemoryPerMultiProcessor\": 65536",
            .versions = "\"roctracer_version\": 4.1,\n  \"hip_runtime_version\": 60443483,\n  "
                        "\"hip_driver_version\": 60443483",
            .process = "python3",
            .memory_bytes = 206141652992,
            .sms = 304,
            .warp_size = 64,
            .gemm_flop_per_ns = 620000,
            .attention_flop_per_ns = 380000,
            .bytes_per_ns = 3700,
            .copy_bytes_per_ns = 48,
            .bus_bytes_per_ns = 310,
            .collective_latency_ns = 22000,
            .first_device = 2, // the agents before it are the two processors
            .compute_stream = 0,
            .comm_stream = 4,
            .side_stream = 6,
            .kernels = hip_kernels,
            .copy = &hip_copy,
            .blocking_copy = &hip_blocking_copy,
            .set = &hip_set,
            .event_record = &hip_event_record,
            .stream_wait = &hip_stream_wait,
            .event_sync = &hip_event_sync,
            .stream_sync = &hip_stream_sync,
            .device_sync = &hip_device_sync,
            .graph = &hip_graph,
            .malloc = &hip_malloc,
            .value_wait = &hip_value_wait,
            .module_load = &hip_module_load,
            .blocking_copy_needs_sync = false,
        },
};

const struct vendor *vendor_get(enum vendor_flavour flavour)
{
    return &vendors[flavour];
}

const char *vendor_category_name(enum category category)
{
    static const char *const names[CATEGORY_COUNT] = {
        [CATEGORY_GEMM] = "gemm",           [CATEGORY_ATTENTION] = "attention",
        [CATEGORY_NORM] = "norm",           [CATEGORY_ELEMENTWISE] = "elementwise",
        [CATEGORY_REDUCTION] = "reduction", [CATEGORY_EMBEDDING] = "embedding",
        [CATEGORY_OPTIMIZER] = "optimizer", [CATEGORY_COMM] = "comm",
        [CATEGORY_COPY] = "copy",
    };
    return names[category];
}
