// SPDX-License-Identifier: Apache-2.0
// The closed vocabularies for what the name of a kernel says. Each list is written once, as the
// words themselves; the enumerations and the texts come from it.
#ifndef ANALYSIS_KERNEL_WORDS_H
#define ANALYSIS_KERNEL_WORDS_H

// clang-format off
#define KERNEL_LIBRARIES(X) \
    X(cublas) X(cudnn) X(cutlass) X(pytorch) X(inductor) X(triton) X(xla) X(nccl) X(rccl) \
    X(flash_attn) X(flash_mla) X(xformers) X(flashinfer) X(vllm) X(sglang) X(tensorrt_llm) \
    X(transformer_engine) X(apex) X(deep_ep) X(deep_gemm) X(deepseek) X(hipblaslt) X(rocblas) \
    X(miopen) X(ck) X(ck_tile) X(aiter) X(fbgemm) X(cub) X(rocprim) X(magma) X(cusolver) X(cupy) \
    X(mamba) X(ggml) X(runtime)

#define KERNEL_OPS(X) \
    X(gemm) X(batched_gemm) X(grouped_gemm) X(moe_gemm) X(gemv) X(dot) X(gemm_splitk_reduce) \
    X(template_gemm) X(conv_fwd) X(conv_dgrad) X(conv_wgrad) X(conv) X(conv_helper) \
    X(causal_conv1d) X(attention_fwd) X(attention_bwd) X(attention_helper) X(linear_attention) \
    X(ssm_scan) X(elementwise) X(copy) X(fill) X(fused) X(fused_pointwise) X(fused_reduction) \
    X(fused_scan) X(foreach) X(optimizer) X(reduce) X(scan) X(sort) X(select) X(topk) X(search) \
    X(softmax_fwd) X(softmax_bwd) X(layer_norm_fwd) X(layer_norm_bwd) X(rms_norm_fwd) \
    X(rms_norm_bwd) X(batch_norm_fwd) X(batch_norm_bwd) X(group_norm_fwd) X(group_norm_bwd) \
    X(norm_stats) X(gather) X(scatter) X(index_put) X(index_copy) X(index_fill) X(index_add) \
    X(cat) X(pad) X(transpose) X(embedding_fwd) X(embedding_bwd) X(embedding_helper) X(dropout) \
    X(rng) X(loss_fwd) X(loss_bwd) X(pool_fwd) X(pool_bwd) X(upsample_fwd) X(upsample_bwd) \
    X(rope) X(act_and_mul) X(kv_cache_write) X(sampling) X(quantize) X(dequantize) \
    X(moe_routing) X(moe_permute) X(all_reduce) X(all_gather) X(reduce_scatter) X(broadcast) \
    X(reduce_coll) X(send_recv) X(all_to_all) X(collective) X(comm_helper) X(memcpy_h2d) \
    X(memcpy_d2h) X(memcpy_d2d) X(memcpy_p2p) X(memcpy_h2h) X(memset) X(linalg) X(spin)

#define KERNEL_TYPES(X) \
    X(f64) X(f32) X(tf32) X(bf16) X(f16) X(fp8_e4m3) X(fp8_e5m2) X(fp8) X(fp4_e2m1) X(mxfp8) \
    X(mxfp6) X(mxfp4) X(int64) X(int32) X(int16) X(int8) X(uint64) X(uint32) X(uint16) X(uint8) \
    X(bool) X(c64) X(c128)

#define KERNEL_FUNCS(X) \
    X(copy) X(fill) X(add) X(mul) X(div) X(floor_divide) X(trunc_divide) X(remainder) X(pow) \
    X(sqrt) X(rsqrt) X(reciprocal) X(exp) X(log) X(log2) X(neg) X(abs) X(sign) X(ceil) X(floor) \
    X(sin) X(cos) X(clamp) X(minimum) X(maximum) X(where) X(masked_fill) X(masked_scale) \
    X(eq_ne) X(compare) X(logical_and) X(logical_not) X(bitwise_and) X(bitwise_or) \
    X(bitwise_not) X(isnan) X(isfinite) X(nan_to_num) X(sigmoid) X(sigmoid_bwd) X(log_sigmoid) \
    X(tanh) X(tanh_bwd) X(gelu) X(gelu_bwd) X(silu) X(silu_bwd) X(relu) X(threshold) X(elu) \
    X(logit) X(logit_bwd) X(mse) X(mse_bwd) X(smooth_l1) X(lerp) X(addcmul) X(addcdiv) \
    X(arange) X(sum) X(mean) X(var) X(norm) X(max) X(min) X(argmax) X(argmin) X(all) X(any) \
    X(prod) X(sub) X(unscale_check) X(adam) X(sgd) X(normal) X(uniform) X(exponential) \
    X(bernoulli)

// A word that starts with a digit has an N before it here.
#define KERNEL_FLAGS(X) \
    X(simt) X(wmma) X(mfma) X(sparse) X(block_scaled) X(split_k) X(stream_k) X(sliced_k) X(bias) \
    X(bias_capable) X(activation_capable) X(epilogue_relu) X(epilogue_gelu) X(epilogue_silu) \
    X(epilogue_bias) X(epilogue_sigmoid) X(gelu) X(relu) X(silu) X(nvjet) X(N2sm) X(coopA) \
    X(coopB) X(pingpong) X(cooperative) X(fastaccum) X(raster_h) X(raster_v) X(asm) X(igemm) \
    X(winograd) X(fft) X(naive) X(preshuffled_b) X(marlin) X(weight_only_quant) X(swiglu) X(fa2) \
    X(fa3) X(fa4_cute) X(pytorch_bundled) X(mem_efficient) X(misaligned) X(sdpa) X(mla) X(paged) \
    X(decode) X(prefill) X(split_kv) X(combine) X(metadata) X(varlen) X(sliding_window) \
    X(persistent) X(dropout) X(dq_acc_f32) X(dq_acc_16bit) X(sage) X(strided) X(unrolled) \
    X(casting) X(cast_to_bf16) X(cast_to_f16) X(cast_to_f32) X(cast_to_fp8) X(cast_from_bf16) \
    X(cast_from_f16) X(elem1B) X(elem2B) X(elem4B) X(elem8B) X(elem16B) X(log) X(masked) X(add) \
    X(fill) X(fp8_kv) X(fused_add) X(fused_norm) X(fused_optimizer) X(gemm_epilogue) \
    X(transposing) X(opaque) X(truncated) X(triton) X(cute_dsl) X(fast_layer_norm) X(init) \
    X(fwd) X(bwd) X(symmetric) X(nvls) X(one_shot) X(two_shot) X(lamport) X(custom) X(msccl) \
    X(generic) X(unroll1) X(unroll2) X(unroll4) X(internode) X(intranode) X(low_latency) \
    X(dispatch) X(pageable) X(pinned) X(blit)
// clang-format on

// In each enumeration 0 means that the name does not say.
#define KERNEL_WORD_LIBRARY(word) LIBRARY_##word,
#define KERNEL_WORD_OP(word)      OP_##word,
#define KERNEL_WORD_TYPE(word)    TYPE_##word,
#define KERNEL_WORD_FUNC(word)    FUNC_##word,
#define KERNEL_WORD_FLAG(word)    FLAG_##word,
enum kernel_library { LIBRARY_NONE, KERNEL_LIBRARIES(KERNEL_WORD_LIBRARY) LIBRARY_COUNT };
enum kernel_op { OP_NONE, KERNEL_OPS(KERNEL_WORD_OP) OP_COUNT };
enum kernel_type { TYPE_NONE, KERNEL_TYPES(KERNEL_WORD_TYPE) TYPE_COUNT };
enum kernel_func { FUNC_NONE, KERNEL_FUNCS(KERNEL_WORD_FUNC) FUNC_COUNT };
enum kernel_flag { FLAG_NONE, KERNEL_FLAGS(KERNEL_WORD_FLAG) FLAG_COUNT };

// "cublas", "gemm", "bf16", "mul", "split_k"; NULL for none.
const char *kernel_library_word(enum kernel_library library);
const char *kernel_op_word(enum kernel_op op);
const char *kernel_type_word(enum kernel_type type);
const char *kernel_func_word(enum kernel_func func);
const char *kernel_flag_word(enum kernel_flag flag);

#endif
