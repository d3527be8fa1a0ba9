// SPDX-License-Identifier: Apache-2.0
// Figures of runs: from logs, from traces and from both.
#include "analysis/names/peaks.h"
#include "analysis/report/row.h"
#include "analysis/report/tables.h"
#include "analysis/run/run_figures.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define GIB (INT64_C(1) << 30)

struct fixture {
    struct arena arena;
    struct report run, rank;
    struct err err;
};

static int set_up(void **state)
{
    static struct fixture f;
    f = (struct fixture){.err = {.pos = ERR_NO_POS}};
    arena_init(&f.arena, NULL);
    f.run = f.rank = (struct report){.arena = &f.arena};
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    arena_free(&f->arena);
    return 0;
}

static void end(struct fixture *f, struct row *row, struct report *report)
{
    assert_true(row_end(row, report, &f->err));
}

static void set(struct fixture *f, const char *standard, const char *value)
{
    struct row row = {.desc = &table_job_settings};
    row_word(&row, JOB_SETTINGS_STANDARD, standard);
    row_word(&row, JOB_SETTINGS_STANDARD_VALUE, value);
    end(f, &row, &f->run);
}

// A log of 100 steps of half a second.
static struct row log_row(void)
{
    struct row row = {.desc = &table_logs};
    row_word(&row, LOGS_FILE, "train.log");
    row_i64(&row, LOGS_STEPS, 100);
    row_i64(&row, LOGS_STEP_MEDIAN_NS, 500000000);
    return row;
}

// A trace with steps of 0.6 seconds, whose device is busy for 3/4 of them.
static void add_trace(struct fixture *f, int64_t world_size)
{
    struct row row = {.desc = &table_run_summary};
    row_i64(&row, RUN_SUMMARY_HEADLINE_RANK, 3);
    row_i64(&row, RUN_SUMMARY_STEADY_STEPS, 4);
    row_i64(&row, RUN_SUMMARY_STEP_MEDIAN_NS, 600000000);
    row_f64(&row, RUN_SUMMARY_BUSY_SHARE, 0.75);
    row_i64(&row, RUN_SUMMARY_WORLD_SIZE, world_size);
    row_i64(&row, RUN_SUMMARY_RESERVED_BYTES, 60 * GIB);
    row_i64(&row, RUN_SUMMARY_CAPACITY_BYTES, 80 * GIB);
    end(f, &row, &f->run);
}

static void add_utilization(struct fixture *f, const char *metric, double value)
{
    struct row row = {.desc = &table_utilization};
    row_word(&row, UTILIZATION_METRIC, metric);
    row_f64(&row, UTILIZATION_VALUE, value);
    end(f, &row, &f->rank);
}

static void add_mfu(struct fixture *f, double mfu)
{
    add_utilization(f, "mfu", mfu);
}

static bool load(void *context, size_t index, const struct table_desc *const *known,
                 struct report *report, struct err *err)
{
    struct fixture *f = context;
    assert_int_equal(index, 1); // of the headline rank
    for (; *known; known++) {
        const struct table *table = report_find(&f->rank, (*known)->name);
        if (table && !report_borrow(report, table, err))
            return false;
    }
    return true;
}

static const struct table *figures_of(struct fixture *f)
{
    static const int64_t ranks[] = {0, 3};
    struct rank_source source = {.ranks = ranks, .count = 2, .context = f, .load = load};
    if (!report_find(&f->run, "figures"))
        assert_true(run_add_figures(&source, &f->run, &f->err));
    return report_find(&f->run, "figures");
}

// The figure that stands for the run; NAN if there is none. Of the source, or any with NULL.
static double figure(struct fixture *f, const char *metric, const char *source)
{
    const struct table *table = figures_of(f);
    double value = (double)NAN;
    int stand = 0;
    for (size_t i = 0; table && i < table->row_count; i++) {
        bool stands = table_cell(table, i, RUN_FIGURES_PREFERRED)->i;
        if (!table_is(table, i, RUN_FIGURES_METRIC, str_of(metric)))
            continue;
        stand += stands;
        if (source ? table_is(table, i, RUN_FIGURES_SOURCE, str_of(source)) : stands)
            value = table_cell(table, i, RUN_FIGURES_VALUE)->f;
    }
    assert_true(stand <= 1);
    return value;
}

static void assert_figure(struct fixture *f, const char *metric, const char *source, double wanted)
{
    double found = figure(f, metric, source);
    if (!(fabs(found - wanted) <= 1e-9 * fabs(wanted)))
        fail_msg("%s is %.17g, expected %.17g", metric, found, wanted);
}

static void a_log_stands_before_a_trace(void **state)
{
    struct fixture *f = *state;
    struct row log = log_row();
    end(f, &log, &f->run);
    add_trace(f, 8);
    assert_figure(f, "step_ns", NULL, 5e8);
    assert_figure(f, "step_ns", "log", 5e8);
    assert_figure(f, "step_ns", "trace", 6e8);
    assert_figure(f, "busy_share", NULL, 0.75);
}

static void mark_no_step(struct fixture *f, int64_t rank)
{
    struct row row = {.desc = &table_run_trust};
    row_i64(&row, RUN_TRUST_RANK, rank);
    row_word(&row, RUN_TRUST_ITEM, "no_steps");
    end(f, &row, &f->run);
}

static void a_recording_without_steps_has_no_step_time(void **state)
{
    struct fixture *f = *state;
    mark_no_step(f, 3);
    add_trace(f, 8);
    set(f, "global_batch_size", "64");
    assert_true(isnan(figure(f, "step_ns", NULL)));
    assert_true(isnan(figure(f, "samples_per_s", NULL)));
    assert_figure(f, "busy_share", NULL, 0.75);
}

static void a_log_beside_a_recording_without_steps_gives_the_step(void **state)
{
    struct fixture *f = *state;
    struct row log = log_row();
    end(f, &log, &f->run);
    mark_no_step(f, 3);
    add_trace(f, 8);
    assert_figure(f, "step_ns", NULL, 5e8);
}

static void steps_that_another_rank_lacks_are_those_of_the_headline_rank(void **state)
{
    struct fixture *f = *state;
    mark_no_step(f, 0);
    add_trace(f, 8);
    assert_figure(f, "step_ns", NULL, 6e8);
}

static void rates_follow_from_what_a_step_is(void **state)
{
    struct fixture *f = *state;
    struct row log = log_row();
    end(f, &log, &f->run);
    add_trace(f, 8);
    set(f, "global_batch_size", "64");
    set(f, "seq_length", "2048");
    assert_figure(f, "samples_per_s", "log", 128);
    assert_figure(f, "job_tokens_per_s", "log", 128 * 2048);
    assert_figure(f, "tokens_per_s_per_gpu", "log", 128 * 2048 / 8.0);
    assert_figure(f, "tokens_per_s_per_gpu", "trace", 64 * 2048 / 0.6 / 8);
}

// Of a bar that counts batches it is unknown what a step is.
static void batches_give_no_rates(void **state)
{
    struct fixture *f = *state;
    struct row log = log_row();
    row_word(&log, LOGS_FRAMEWORK, "openrlhf-bar");
    end(f, &log, &f->run);
    set(f, "global_batch_size", "64");
    set(f, "seq_length", "2048");
    assert_true(isnan(figure(f, "samples_per_s", NULL)));
    assert_true(isnan(figure(f, "job_tokens_per_s", NULL)));
}

static void what_a_log_states_is_not_computed(void **state)
{
    struct fixture *f = *state;
    struct row log = log_row();
    row_f64(&log, LOGS_TOKENS_PER_S, 9000);
    row_f64(&log, LOGS_POWER_W, 600);
    end(f, &log, &f->run);
    set(f, "world_size", "16");
    assert_figure(f, "tokens_per_s_per_gpu", NULL, 9000);
    assert_figure(f, "job_tokens_per_s", NULL, 144000);
    assert_figure(f, "tokens_per_j", "computed", 15);
    assert_figure(f, "energy_j_per_step", "computed", 300);
}

static void tokens_of_the_job_give_those_of_a_gpu(void **state)
{
    struct fixture *f = *state;
    struct row log = log_row();
    row_f64(&log, LOGS_JOB_TOKENS_PER_S, 8000);
    end(f, &log, &f->run);
    set(f, "world_size", "8");
    set(f, "parameters", "1000000000");
    assert_figure(f, "job_tokens_per_s", "log", 8000);
    assert_figure(f, "tokens_per_s_per_gpu", "log", 1000);
    assert_figure(f, "tflops_per_gpu", "computed", 6);
}

static void assert_basis_of(struct fixture *f, const char *metric, const char *source,
                            const char *wanted)
{
    const struct table *table = figures_of(f);
    for (size_t i = 0; i < table->row_count; i++)
        if (table_is(table, i, RUN_FIGURES_METRIC, str_of(metric)) &&
            table_is(table, i, RUN_FIGURES_SOURCE, str_of(source))) {
            const struct cell *basis = table_cell(table, i, RUN_FIGURES_BASIS);
            if (basis->null || !str_equal(basis->s, str_of(wanted)))
                fail_msg("%.*s", basis->null ? 0 : (int)basis->s.len, basis->s.at);
            return;
        }
    fail_msg("no %s of %s", metric, source);
}

static void assert_basis(struct fixture *f, const char *metric, const char *wanted)
{
    assert_basis_of(f, metric, "computed", wanted);
}

static void memory_and_utilization_are_the_trace_s(void **state)
{
    struct fixture *f = *state;
    add_trace(f, 8);
    add_mfu(f, 0.41);
    assert_figure(f, "mfu", "trace", 0.41);
    assert_figure(f, "memory_bytes", "trace", 60.0 * GIB);
    assert_figure(f, "memory_share", "computed", 0.75);
}

static void shares_are_of_the_recorded_time(void **state)
{
    struct fixture *f = *state;
    struct row row = {.desc = &table_run_breakdown};
    row_word(&row, RUN_BREAKDOWN_SCOPE, "run_median");
    row_i64(&row, RUN_BREAKDOWN_WINDOW_NS, 1000);
    row_i64(&row, RUN_BREAKDOWN_UNRECORDED_NS, 600);
    row_i64(&row, RUN_BREAKDOWN_TOTAL_COMM_NS, 100);
    end(f, &row, &f->run);
    add_trace(f, 8);
    assert_figure(f, "comm_share", "trace", 0.25);
}

// Of two GPUs, one of which nobody used.
static void add_monitors(struct fixture *f)
{
    for (int i = 0; i < 2; i++) {
        struct row row = {.desc = &table_monitors};
        row_word(&row, MONITORS_FILE, "smi.csv");
        row_word(&row, MONITORS_NAME, "NVIDIA H100 80GB HBM3");
        row_f64(&row, MONITORS_IDLE_SHARE, i ? 1 : 0.1);
        row_f64(&row, MONITORS_POWER_W, i ? 70 : 600);
        row_i64(&row, MONITORS_MEMORY_BYTES, i ? 79 * GIB : 60 * GIB);
        row_i64(&row, MONITORS_CAPACITY_BYTES, 80 * GIB);
        end(f, &row, &f->run);
    }
}

static void a_run_without_a_trace_has_its_gpu_from_the_monitor(void **state)
{
    struct fixture *f = *state;
    struct row log = log_row();
    row_f64(&log, LOGS_TFLOPS, 494.5);
    end(f, &log, &f->run);
    add_monitors(f);
    static const int64_t no_ranks[] = {0};
    struct rank_source source = {.ranks = no_ranks, .context = f, .load = load};
    assert_true(run_add_figures(&source, &f->run, &f->err));
    assert_figure(f, "mfu", "computed", 0.5);
    assert_figure(f, "power_w", "monitor", 600);
    assert_figure(f, "memory_bytes", "monitor", 60.0 * GIB);
    assert_figure(f, "memory_share", "computed", 0.75);
}

static void utilization_is_of_the_peak_at_the_job_s_precision(void **state)
{
    struct fixture *f = *state;
    struct row log = log_row();
    row_f64(&log, LOGS_TFLOPS, 494.75);
    end(f, &log, &f->run);
    set(f, "gpu", "H100");
    set(f, "precision", "bf16");
    set(f, "fp8", "hybrid");
    assert_figure(f, "mfu", "computed", 0.25);
    assert_basis(f, "mfu", "of 1979 TFLOP/s, the dense fp8 peak of H100");
}

static void peaks_of_the_user_go_before_those_built_in(void **state)
{
    struct fixture *f = *state;
    struct row log = log_row();
    row_f64(&log, LOGS_TFLOPS, 100);
    end(f, &log, &f->run);
    set(f, "gpu", "H100");
    static const int64_t no_ranks[] = {0};
    struct peak own = {.device = STR("H100"), .tflops[PRECISION_BF16] = 200};
    struct peaks peaks = {&own, 1};
    struct rank_source source = {.ranks = no_ranks, .context = f, .load = load, .peaks = &peaks};
    assert_true(run_add_figures(&source, &f->run, &f->err));
    assert_figure(f, "mfu", "computed", 0.5);
    assert_basis(f, "mfu", "of 200 TFLOP/s, the dense bf16 peak of H100");
}

static void what_a_log_says_of_utilization_stands(void **state)
{
    struct fixture *f = *state;
    struct row log = log_row();
    row_f64(&log, LOGS_TFLOPS, 494.5);
    row_f64(&log, LOGS_MFU_SHARE, 0.4);
    end(f, &log, &f->run);
    set(f, "gpu", "H100");
    assert_figure(f, "mfu", NULL, 0.4);
    assert_figure(f, "mfu", "computed", 0.5);
}

// A log of 1,000 tokens per second and GPU on H100s, and no word of TFLOP/s.
static void add_tokens(struct fixture *f)
{
    struct row log = log_row();
    row_f64(&log, LOGS_TOKENS_PER_S, 1000);
    end(f, &log, &f->run);
    set(f, "gpu", "H100");
}

static void tokens_with_a_label_are_not_all_that_were_computed(void **state)
{
    struct fixture *f = *state;
    struct row log = log_row();
    row_word(&log, LOGS_FRAMEWORK, "torchtune");
    row_f64(&log, LOGS_TOKENS_PER_S, 1000);
    end(f, &log, &f->run);
    set(f, "parameters", "1000000000");
    assert_figure(f, "tokens_per_s_per_gpu", "log", 1000);
    assert_true(isnan(figure(f, "tflops_per_gpu", NULL)));
}

static void what_is_counted_in_part_is_a_lower_bound(void **state)
{
    struct fixture *f = *state;
    add_trace(f, 8);
    add_mfu(f, 0.41);
    add_utilization(f, "flops_time_share", 0.667);
    assert_basis_of(f, "mfu", "trace",
                    "a lower bound: operations are known for 67 % of the time of matrix products, "
                    "attention and convolutions");
}

static void tokens_and_parameters_give_the_utilization(void **state)
{
    struct fixture *f = *state;
    add_tokens(f);
    set(f, "parameters", "8000000000");
    assert_figure(f, "tflops_per_gpu", "computed", 48);
    assert_figure(f, "mfu", NULL, 48 / 989.0);
    assert_basis(f, "mfu",
                 "6 N operations per token: N = 8,000,000,000 (parameters as stated); attention is "
                 "not counted, as layers, hidden size and sequence length are not all stated; of "
                 "989 TFLOP/s, the dense bf16 peak of H100");
}

static void attention_counts_where_the_shape_is_stated(void **state)
{
    struct fixture *f = *state;
    add_tokens(f);
    set(f, "rank_parameters", "8000000000");
    set(f, "layers", "32");
    set(f, "hidden_size", "4096");
    set(f, "seq_length", "8192");
    assert_figure(f, "tflops_per_gpu", "computed", 1e-9 * (48e9 + 12.0 * 32 * 4096 * 8192));
    assert_basis(
        f, "tflops_per_gpu",
        "6 N + 12 L H S operations per token: N = 8,000,000,000 (parameters as stated), L = "
        "32 layers, H = 4,096 wide, S = 8,192 tokens");
}

// Llama 3 8B without its input embedding: 7,504,658,432 weights.
static void set_llama(struct fixture *f)
{
    static const char *const shape[][2] = {
        {"layers", "32"}, {"hidden_size", "4096"}, {"ffn_hidden_size", "14336"},
        {"heads", "32"},  {"kv_heads", "8"},       {"gated_mlp", "true"}};
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        set(f, shape[i][0], shape[i][1]);
}

static void the_shape_of_a_model_gives_its_weights(void **state)
{
    struct fixture *f = *state;
    add_tokens(f);
    set_llama(f);
    set(f, "vocabulary_size", "128256");
    assert_figure(f, "tflops_per_gpu", "computed", 6 * 7504658432e-9);
}

static void a_shape_without_a_vocabulary_gives_none(void **state)
{
    struct fixture *f = *state;
    add_tokens(f);
    set_llama(f);
    assert_true(isnan(figure(f, "mfu", NULL)));
}

static void set_all(struct fixture *f, const char *const (*settings)[2], size_t count)
{
    for (size_t i = 0; i < count; i++)
        set(f, settings[i][0], settings[i][1]);
}

static void named(struct fixture *f, const char *name, const char *value)
{
    struct row row = {.desc = &table_job_settings};
    row_word(&row, JOB_SETTINGS_NAME, name);
    row_word(&row, JOB_SETTINGS_VALUE, value);
    end(f, &row, &f->run);
}

static void clear(struct fixture *f)
{
    f->run = (struct report){.arena = &f->arena};
    add_tokens(f);
}

#define SET_ALL(f, settings) set_all(f, settings, sizeof(settings) / sizeof *(settings))

// Mixtral 8x7B: 46,702,792,704 parameters. An expert has 3 x 4096 x 14336 = 176,160,768 weights, of
// which 6 of 8 rest in each of 32 layers: 46,702,792,704 - 32 x 6 x 176,160,768.
static const char *const mixtral[][2] = {
    {"layers", "32"},      {"hidden_size", "4096"}, {"ffn_hidden_size", "14336"},
    {"gated_mlp", "true"}, {"experts", "8"},        {"experts_per_token", "2"},
    {"heads", "32"},       {"kv_heads", "8"}};
#define MIXTRAL_ACTIVE 12879925248.0

static void of_experts_those_of_a_token_count(void **state)
{
    struct fixture *f = *state;
    add_tokens(f);
    SET_ALL(f, mixtral);
    set(f, "parameters", "46702792704");
    assert_figure(f, "tflops_per_gpu", "computed", 6e-9 * MIXTRAL_ACTIVE);
    assert_basis(
        f, "tflops_per_gpu",
        "6 N operations per token: N = 12,879,925,248 (parameters as stated, with 2 of 8 "
        "experts per token); attention is not counted, as layers, hidden size and sequence "
        "length are not all stated");
}

// Without its input embedding of 131,072,000 and the norms' 266,240; a router has 4096 x 8 weights.
static void the_shape_of_experts_gives_their_weights(void **state)
{
    struct fixture *f = *state;
    add_tokens(f);
    SET_ALL(f, mixtral);
    set(f, "vocabulary_size", "32000");
    assert_figure(f, "tflops_per_gpu", "computed", 6e-9 * (MIXTRAL_ACTIVE - 131072000 - 266240));
}

// DeepSeek-V2-Lite: 15,706,484,224 parameters; attention of 27 layers with latents, a dense layer,
// 26 with 6 of 64 experts of 1,408 and two shared ones.
static void latent_attention_and_dense_layers_count(void **state)
{
    static const char *const shape[][2] = {{"layers", "27"},
                                           {"hidden_size", "2048"},
                                           {"heads", "16"},
                                           {"kv_heads", "16"},
                                           {"ffn_hidden_size", "10944"},
                                           {"gated_mlp", "true"},
                                           {"experts", "64"},
                                           {"experts_per_token", "6"},
                                           {"expert_ffn_hidden_size", "1408"},
                                           {"shared_experts", "2"},
                                           {"dense_layers", "1"},
                                           {"latent_kv_size", "512"},
                                           {"latent_key_size", "128"},
                                           {"latent_rotary_size", "64"},
                                           {"latent_value_size", "128"},
                                           {"vocabulary_size", "102400"}};
    const double attention = 2048.0 * 16 * 192 + 2048 * 576 + 512 * 16 * 256 + 16 * 128 * 2048;
    const double experts = 3.0 * 2048 * 1408 * 8 + 2048 * 64, dense = 3.0 * 2048 * 10944;
    const double active = 27 * attention + 26 * experts + dense + 2048.0 * 102400;
    struct fixture *f = *state;
    add_tokens(f);
    SET_ALL(f, shape);
    set(f, "seq_length", "4096");
    assert_figure(f, "tflops_per_gpu", "computed",
                  1e-9 * (6 * active + 12.0 * 27 * (16 * (192 + 128) / 2.0) * 4096));
    clear(f);
    SET_ALL(f, shape);
    set(f, "parameters", "15706484224");
    assert_figure(f, "tflops_per_gpu", "computed",
                  6e-9 * (15706484224 - 26 * 58 * 3.0 * 2048 * 1408));
    clear(f);
    SET_ALL(f, shape);
    set(f, "active_parameters", "2661150720"); // as the framework counted
    assert_figure(f, "tflops_per_gpu", "computed", 6e-9 * 2661150720);
}

static void attention_of_unknown_width_is_not_counted(void **state)
{
    static const char *const shape[][2] = {{"layers", "27"},
                                           {"hidden_size", "2048"},
                                           {"heads", "16"},
                                           {"seq_length", "4096"},
                                           {"latent_kv_size", "512"},
                                           {"latent_rotary_size", "64"},
                                           {"latent_value_size", "128"},
                                           {"parameters", "1000000000"}};
    struct fixture *f = *state;
    add_tokens(f);
    SET_ALL(f, shape);
    assert_figure(f, "tflops_per_gpu", "computed", 6);
}

static void layers_with_experts_are_those_of_the_pattern(void **state)
{
    static const struct {
        const char *pattern;
        double layers;
    } cases[] = {{"([0]*1+[1]*31)", 31}, {"[0,1]*16", 16}, {"2", 16}, {"1", 32}};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        clear(f);
        SET_ALL(f, mixtral);
        set(f, "expert_layers", cases[i].pattern);
        set(f, "parameters", "46702792704");
        assert_figure(f, "tflops_per_gpu", "computed",
                      6e-9 * (46702792704 - cases[i].layers * 6 * 176160768));
    }
}

static void assert_why(struct fixture *f, const char *part)
{
    assert_true(isnan(figure(f, "mfu", NULL)));
    const struct table *trust = report_find(&f->run, "trust");
    assert_non_null(trust);
    assert_true(table_is(trust, 0, RUN_TRUST_ITEM, STR("model_flops_unknown")));
    struct str detail = table_cell(trust, 0, RUN_TRUST_DETAIL)->s;
    if (!str_contains_nocase(detail, str_of(part)))
        fail_msg("%.*s", (int)detail.len, detail.at);
}

static void what_is_missing_for_the_utilization_is_said(void **state)
{
    struct fixture *f = *state;
    clear(f);
    assert_why(f, "no file states the size of the model");
    clear(f);
    set(f, "parameters", "46702792704");
    set(f, "experts", "8");
    assert_why(f, "how many of them a token uses");
    clear(f);
    set(f, "parameters", "46702792704");
    set(f, "experts", "8");
    set(f, "experts_per_token", "2");
    assert_why(f, "how large one is");
    clear(f);
    SET_ALL(f, mixtral);
    set(f, "expert_layers", "([0]*1+[1]*26)");
    set(f, "parameters", "46702792704");
    assert_why(f, "not understood");
    clear(f);
    set(f, "rank_parameters", "2000000000");
    set(f, "pipeline_parallel_size", "4");
    assert_why(f, "4 pipeline stages, and the files state the parameters of 0 of 4 ranks");
    clear(f);
    set(f, "trainable_parameters", "41943040");
    assert_why(f, "only trainable parameters");
}

// Forward and the gradients of activations pass through frozen weights: 4 operations, not 6.
static void frozen_weights_take_four_operations(void **state)
{
    struct fixture *f = *state;
    clear(f);
    set(f, "parameters", "8072204288");
    set(f, "trainable_parameters", "41943040");
    assert_figure(f, "tflops_per_gpu", "computed", 1e-9 * (4 * 8030261248.0 + 6 * 41943040.0));
    assert_basis(
        f, "tflops_per_gpu",
        "4 N + 6 A operations per token: N = 8,030,261,248 frozen (parameters as stated), A = "
        "41,943,040 trained; attention is not counted, as layers, hidden size and sequence "
        "length are not all stated");
    clear(f);
    named(f, "peft.lora_r", "16");
    set(f, "parameters", "8000000000");
    assert_figure(f, "tflops_per_gpu", "computed", 32);
    clear(f);
    set(f, "adapter", "qlora");
    set(f, "parameters", "8000000000");
    assert_figure(f, "tflops_per_gpu", "computed", 32);
}

static void what_only_sounds_like_an_adapter_is_none(void **state)
{
    struct fixture *f = *state;
    clear(f);
    named(f, "rollout.exploration_rate", "0.1");
    named(f, "q_lora_rank", "1536");
    named(f, "lora_r", "0");
    named(f, "adapter_path_template", "x");
    set(f, "parameters", "8000000000");
    set(f, "trainable_parameters", "8000000000");
    assert_figure(f, "tflops_per_gpu", "computed", 48);
    clear(f);
    named(f, "lora_r", "16"); // a default of what does not use it
    named(f, "use_peft", "False");
    set(f, "parameters", "8000000000");
    assert_figure(f, "tflops_per_gpu", "computed", 48);
}

static void ranks_that_hold_a_model_together_give_its_parameters(void **state)
{
    struct fixture *f = *state;
    clear(f);
    set(f, "rank_parameters", "4000000000");
    set(f, "tensor_parallel_size", "2");
    assert_figure(f, "tflops_per_gpu", "computed", 48);
    clear(f);
    set(f, "tensor_parallel_size", "2");
    set(f, "pipeline_parallel_size", "2");
    set(f, "rank_parameters", "2100000000");
    named(f, "rank_parameters.0.0", "2100000000");
    named(f, "rank_parameters.1.0", "2100000000");
    named(f, "rank_parameters.0.1", "1900000000");
    named(f, "rank_parameters.0.1", "1900000000"); // of another file
    named(f, "rank_parameters.1.1", "1900000000");
    assert_figure(f, "tflops_per_gpu", "computed", 48);
    assert_basis(f, "tflops_per_gpu",
                 "6 N operations per token: N = 8,000,000,000 (parameters of 4 ranks together); "
                 "attention is not counted, as layers, hidden size and sequence length are not all "
                 "stated");
}

// A rank of Mixtral with experts over 4: 2 of 8 are its own, so that all it has works on a token.
static void experts_over_ranks_are_counted_as_a_rank_has_them(void **state)
{
    struct fixture *f = *state;
    clear(f);
    SET_ALL(f, mixtral);
    set(f, "expert_parallel_size", "4");
    set(f, "rank_parameters", "12879925248");
    assert_figure(f, "tflops_per_gpu", "computed", 6e-9 * MIXTRAL_ACTIVE);
    clear(f);
    SET_ALL(f, mixtral);
    set(f, "expert_parallel_size", "8");
    set(f, "rank_parameters", "7242780672"); // 1 of 8: 32 x 176,160,768 less
    assert_figure(f, "tflops_per_gpu", "computed", 6e-9 * MIXTRAL_ACTIVE);
}

static void what_is_unknown_has_no_row(void **state)
{
    struct fixture *f = *state;
    struct row log = log_row();
    end(f, &log, &f->run);
    set(f, "global_batch_size", "many");
    assert_int_equal(figures_of(f)->row_count, 1); // the step time
    assert_true(isnan(figure(f, "samples_per_s", NULL)));
}

static void figures_are_known_by_name(void **state)
{
    (void)state;
    assert_non_null(run_figure_named(STR("mfu")));
    assert_null(run_figure_named(STR("mf")));
    for (size_t i = 0; i < RUN_FIGURE_COUNT; i++)
        assert_ptr_equal(run_figure_named(str_of(run_figures[i].metric)), &run_figures[i]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_log_stands_before_a_trace),
        TEST(a_recording_without_steps_has_no_step_time),
        TEST(a_log_beside_a_recording_without_steps_gives_the_step),
        TEST(steps_that_another_rank_lacks_are_those_of_the_headline_rank),
        TEST(rates_follow_from_what_a_step_is),
        TEST(batches_give_no_rates),
        TEST(what_a_log_states_is_not_computed),
        TEST(tokens_of_the_job_give_those_of_a_gpu),
        TEST(tokens_with_a_label_are_not_all_that_were_computed),
        TEST(memory_and_utilization_are_the_trace_s),
        TEST(shares_are_of_the_recorded_time),
        TEST(a_run_without_a_trace_has_its_gpu_from_the_monitor),
        TEST(what_is_counted_in_part_is_a_lower_bound),
        TEST(utilization_is_of_the_peak_at_the_job_s_precision),
        TEST(peaks_of_the_user_go_before_those_built_in),
        TEST(what_a_log_says_of_utilization_stands),
        TEST(tokens_and_parameters_give_the_utilization),
        TEST(attention_counts_where_the_shape_is_stated),
        TEST(the_shape_of_a_model_gives_its_weights),
        TEST(a_shape_without_a_vocabulary_gives_none),
        TEST(of_experts_those_of_a_token_count),
        TEST(the_shape_of_experts_gives_their_weights),
        TEST(latent_attention_and_dense_layers_count),
        TEST(attention_of_unknown_width_is_not_counted),
        TEST(layers_with_experts_are_those_of_the_pattern),
        TEST(what_is_missing_for_the_utilization_is_said),
        TEST(frozen_weights_take_four_operations),
        TEST(what_only_sounds_like_an_adapter_is_none),
        TEST(ranks_that_hold_a_model_together_give_its_parameters),
        TEST(experts_over_ranks_are_counted_as_a_rank_has_them),
        TEST(what_is_unknown_has_no_row),
        cmocka_unit_test(figures_are_known_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
