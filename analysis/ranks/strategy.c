// SPDX-License-Identifier: Apache-2.0
// Each team of ranks gets roles from its traffic; teams with equal role and size are one row.
#include "analysis/ranks/strategy.h"

#include "analysis/ranks/pipeline_stages.h"
#include "analysis/report/row.h"
#include "analysis/stats/sort.h"
#include "analysis/report/tables.h"

#include <inttypes.h>

#define MAX_FAMILIES 32
// Less than this share of a team's bytes cannot be every layer's activations: batch norms, losses.
#define LAYER_SHARE 0.1
// Less than this share cannot be parameters fetched from their owners.
#define PARAMETER_SHARE 0.01
// A use that occurs less often than this per step does not count.
#define SELDOM 0.5
// A shared layer has two reductions, one in attention and one after it.
#define LAYERED 2

enum role {
    ROLE_TENSOR,
    ROLE_CONTEXT,
    ROLE_CONTEXT_JOINT,
    ROLE_EXPERT,
    ROLE_PIPELINE,
    ROLE_FSDP,
    ROLE_ZERO1,
    ROLE_ZERO2,
    ROLE_DDP,
    ROLE_COUNT,
    ROLE_NONE = ROLE_COUNT
};

struct role_text {
    const char *dimension, *variant, *reason;
    enum use_kind first, last; // uses that show it
};

static const struct role_text role_texts[ROLE_COUNT] = {
    [ROLE_TENSOR] = {"tensor", "TP",
                     "activations are combined within the layers, forward and backward",
                     USE_ALL_REDUCE, USE_REDUCE_SCATTER},
    [ROLE_CONTEXT] = {"context", "CP", "every rank sends data to a neighbor, forward and backward",
                      USE_SEND, USE_RECV},
    [ROLE_CONTEXT_JOINT] = {"context", "CP",
                            "attention gathers or exchanges its inputs, by the group's description",
                            USE_ALL_GATHER, USE_ALL_TO_ALL},
    [ROLE_EXPERT] = {"expert", "EP", "tokens move between ranks", USE_ALL_TO_ALL, USE_ALL_TO_ALL},
    [ROLE_PIPELINE] = {"pipeline", "PP", "ranks send activations and gradients to the next stage",
                       USE_SEND, USE_RECV},
    [ROLE_FSDP] = {"data", "FSDP", "parameters are gathered for both passes, gradients scattered",
                   USE_ALL_REDUCE, USE_REDUCE_SCATTER},
    [ROLE_ZERO1] = {"data", "ZeRO-1",
                    "gradients are all-reduced, parameters are gathered from their owners",
                    USE_ALL_REDUCE, USE_BROADCAST},
    [ROLE_ZERO2] =
        {"data", "ZeRO-2",
         "gradients are scattered in the backward, parameters not gathered for both passes",
         USE_ALL_REDUCE, USE_BROADCAST},
    [ROLE_DDP] = {"data", "DDP", "gradients are reduced, parameters never move", USE_ALL_REDUCE,
                  USE_REDUCE_SCATTER},
};

// Teams with equal role and size.
struct family {
    enum role role;
    int64_t degree; // -1: unknown
    uint32_t teams;
    uint32_t shown;      // the team with most calls, as evidence
    bool phased, listed; // phases and ranks are known
};

struct strategy {
    struct run_comm *comm;
    const struct run_passes *passes;
    struct strategy_use use;
    struct pipeline_stages stages;
    struct family families[MAX_FAMILIES];
    uint32_t family_count;
    enum role *main_role; // per team
    int64_t turns;        // forwards followed by backwards in a step, median; 0: unknown
};

// --- roles of a team ----------------------------------------------------------------------------

static bool often(const struct team *team, enum use_kind kind, enum comm_phase phase)
{
    return team->uses[kind][phase].per_step >= SELDOM;
}

// In or after the optimizer's step.
static bool often_late(const struct team *team, enum use_kind kind)
{
    return team->uses[kind][PHASE_OPTIMIZER].per_step + team->uses[kind][PHASE_OTHER].per_step >=
           SELDOM;
}

static int64_t bytes_of(const struct team *team, enum use_kind kind)
{
    double bytes = 0;
    for (int phase = 0; phase < COMM_PHASE_COUNT; phase++)
        bytes += (double)team->uses[kind][phase].bytes;
    return bytes < 9e18 ? (int64_t)bytes : INT64_MAX;
}

static bool has_phases(const struct team *team)
{
    double known = 0, unknown = 0;
    for (int kind = 0; kind < USE_KIND_COUNT; kind++)
        for (int phase = 0; phase < COMM_PHASE_COUNT; phase++)
            *(phase == PHASE_UNKNOWN ? &unknown : &known) += team->uses[kind][phase].per_step;
    return known > unknown;
}

// Activations are also reduced in the forward, where data parallelism has batch norms at most.
static bool is_tensor(const struct team *team)
{
    const struct use *forward = &team->uses[USE_ALL_REDUCE][PHASE_FORWARD];
    bool large = (double)forward->bytes >= LAYER_SHARE * (double)bytes_of(team, USE_ALL_REDUCE);
    bool gathers = often(team, USE_ALL_GATHER, PHASE_FORWARD);
    bool scatters = often(team, USE_REDUCE_SCATTER, PHASE_FORWARD);
    if (scatters && gathers)
        return true;
    return often(team, USE_ALL_REDUCE, PHASE_FORWARD) && large &&
           !often(team, USE_REDUCE_SCATTER, PHASE_BACKWARD);
}

// Without phases: reductions alone carry gradients if the job trains. If nothing shows that it
// does, they carry activations, which every layer reduces: a single one per step is neither.
static enum role role_without_phases(const struct strategy *all, const struct team *team)
{
    bool gathers = strategy_use_of_kind(team, USE_ALL_GATHER) >= SELDOM;
    bool scatters = strategy_use_of_kind(team, USE_REDUCE_SCATTER) >= SELDOM;
    bool reduces = strategy_use_of_kind(team, USE_ALL_REDUCE) >= SELDOM;
    bool trains = all->turns || all->passes->trains;
    if (gathers && scatters)
        return ROLE_FSDP;
    if (scatters)
        return ROLE_ZERO2;
    if (reduces && trains)
        return gathers ? ROLE_ZERO1 : ROLE_DDP;
    return strategy_use_of_kind(team, USE_ALL_REDUCE) >= LAYERED ? ROLE_TENSOR : ROLE_NONE;
}

static enum role scattering_role(const struct team *team)
{
    bool forward = often(team, USE_ALL_GATHER, PHASE_FORWARD);
    if (forward && often(team, USE_ALL_GATHER, PHASE_BACKWARD))
        return ROLE_FSDP;
    return often(team, USE_REDUCE_SCATTER, PHASE_BACKWARD) ? ROLE_ZERO2 : ROLE_ZERO1;
}

// Parameters are sent once per step, gradients perhaps once per micro-batch. An all_gather in the
// forward may also be of a batch's norms or a loss.
static bool sends_parameters(const struct team *team)
{
    double reduced = (double)bytes_of(team, USE_ALL_REDUCE);
    double gathered = (double)bytes_of(team, USE_ALL_GATHER);
    if (often_late(team, USE_BROADCAST) || often_late(team, USE_ALL_GATHER))
        return gathered + (double)bytes_of(team, USE_BROADCAST) >= PARAMETER_SHARE * reduced;
    return often(team, USE_ALL_GATHER, PHASE_FORWARD) && gathered >= LAYER_SHARE * reduced;
}

static double calls_of(const struct team *team, enum role role)
{
    double calls = 0;
    for (int kind = (int)role_texts[role].first; kind <= (int)role_texts[role].last; kind++)
        calls += strategy_use_of_kind(team, (enum use_kind)kind);
    return calls;
}

// How a team shares parameters, or ROLE_NONE.
static enum role joint_role(const struct strategy *all, const struct team *team)
{
    if (team->context)
        return calls_of(team, ROLE_CONTEXT_JOINT) >= SELDOM ? ROLE_CONTEXT_JOINT : ROLE_NONE;
    if (!has_phases(team))
        return role_without_phases(all, team);
    if (is_tensor(team))
        return ROLE_TENSOR;
    bool scatters =
        often(team, USE_REDUCE_SCATTER, PHASE_BACKWARD) || often_late(team, USE_REDUCE_SCATTER);
    bool reduces = often(team, USE_ALL_REDUCE, PHASE_BACKWARD) ||
                   (often_late(team, USE_ALL_REDUCE) && bytes_of(team, USE_ALL_REDUCE) > 0);
    if (scatters)
        return scattering_role(team);
    if (!reduces)
        return ROLE_NONE;
    return sends_parameters(team) ? ROLE_ZERO1 : ROLE_DDP;
}

// --- families -----------------------------------------------------------------------------------

static struct family *family_of(struct strategy *all, enum role role, int64_t degree)
{
    for (uint32_t f = 0; f < all->family_count; f++)
        if (all->families[f].role == role && all->families[f].degree == degree)
            return &all->families[f];
    if (all->family_count == MAX_FAMILIES)
        return NULL; // such a job is no mesh
    struct family *family = &all->families[all->family_count++];
    *family = (struct family){.role = role, .degree = degree, .phased = true, .listed = true};
    return family;
}

static void add_role(struct strategy *all, uint32_t index, enum role role)
{
    const struct team *team = &all->use.teams[index];
    if (team->size == 1)
        return;
    struct family *family = family_of(all, role, team->size);
    if (!family)
        return;
    if (family->teams++ == 0 ||
        calls_of(team, role) > calls_of(&all->use.teams[family->shown], role))
        family->shown = index;
    family->phased &= has_phases(team);
    family->listed &= team->list.len != 0;
    enum role *main_role = &all->main_role[index];
    if (*main_role == ROLE_NONE || calls_of(team, role) > calls_of(team, *main_role))
        *main_role = role;
}

static bool swaps(const struct team *team)
{
    return strategy_use_of_kind(team, USE_ALL_TO_ALL) >= 1;
}

static bool sends(const struct team *team)
{
    return strategy_use_of_kind(team, USE_SEND) + strategy_use_of_kind(team, USE_RECV) >= SELDOM;
}

static void find_roles(struct strategy *all)
{
    for (uint32_t t = 0; t < all->use.team_count; t++) {
        const struct team *team = &all->use.teams[t];
        enum role joint = joint_role(all, team);
        all->main_role[t] = ROLE_NONE;
        if (joint != ROLE_NONE)
            add_role(all, t, joint);
        if (swaps(team) && !team->context)
            add_role(all, t, ROLE_EXPERT);
        if (sends(team) && all->stages.ring[t])
            add_role(all, t, ROLE_CONTEXT);
        else if (sends(team) && all->main_role[t] == ROLE_NONE)
            all->main_role[t] = ROLE_PIPELINE;
    }
    for (uint32_t g = 0; g < all->comm->group_count; g++) {
        enum role role = all->main_role[all->use.team_of[g]];
        all->comm->groups[g].dimension = role == ROLE_NONE ? NULL : role_texts[role].dimension;
    }
}

// A family of unknown size is merged with the one of known size that does the same.
static void drop_ghosts(struct strategy *all)
{
    uint32_t kept = 0;
    for (uint32_t f = 0; f < all->family_count; f++) {
        bool ghost = false;
        for (uint32_t g = 0; all->families[f].degree <= 0 && g < all->family_count; g++)
            ghost |= all->families[g].role == all->families[f].role && all->families[g].degree > 0;
        if (!ghost)
            all->families[kept++] = all->families[f];
    }
    all->family_count = kept;
}

// Which of two families is listed first: by dimension, then the larger one.
static bool comes_first(const struct family *a, const struct family *b)
{
    return a->role != b->role ? a->role < b->role : a->degree > b->degree;
}

static void sort_families(struct strategy *all)
{
    for (uint32_t i = 1; i < all->family_count; i++)
        for (uint32_t j = i; j > 0 && comes_first(&all->families[j], &all->families[j - 1]); j--) {
            struct family family = all->families[j];
            all->families[j] = all->families[j - 1];
            all->families[j - 1] = family;
        }
}

// Whose turns count.
enum turn_ranks { TURNS_OF_ALL, TURNS_OF_LAST_STAGE };

static bool turns_count(const struct strategy *all, uint32_t rank, enum turn_ranks of)
{
    return of == TURNS_OF_ALL || (all->stages.stage[rank] != RUN_NONE &&
                                  all->stages.stage[rank] + 1 == all->stages.stage_count);
}

// Forward and backward turns in a step, the median over these ranks and their steady steps.
static int64_t median_turns(const struct strategy *all, enum turn_ranks of, int64_t *values,
                            size_t room)
{
    const struct run_passes *passes = all->passes;
    size_t count = 0;
    for (uint32_t r = 0; r < passes->count; r++)
        for (uint32_t s = 0; s < passes->ranks[r].count && turns_count(all, r, of); s++) {
            const struct step_times *step = &passes->ranks[r].steps[s];
            if (step->micro_batches > 0 && (step->steady || !all->use.steady))
                values[count++] = step->micro_batches;
        }
    sort_i64(values, values + room, count);
    return count ? values[(count - 1) / 2] : 0;
}

// Where sizes differ between micro-batches, the most frequent size says too few. The last stage
// takes a backward after each forward, unless it has several chunks or does all forwards first.
static bool count_turns(struct strategy *all, struct arena *arena, struct err *err)
{
    const struct run_passes *passes = all->passes;
    struct pipeline_stages *stages = &all->stages;
    size_t room = 0;
    for (uint32_t r = 0; r < passes->count; r++)
        room += passes->ranks[r].count;
    int64_t *values = arena_array(arena, 2 * room, sizeof *values, err);
    if (!values)
        return false;
    all->turns = median_turns(all, TURNS_OF_ALL, values, room);
    int64_t last = stages->stage_count > 1 && stages->chunks == 1
                       ? median_turns(all, TURNS_OF_LAST_STAGE, values, room)
                       : 0;
    if (stages->micro_batches && last > stages->micro_batches)
        stages->micro_batches = last;
    return true;
}

// --- rows ---------------------------------------------------------------------------------------

static void put_evidence(const struct strategy *all, const struct family *family, struct buf *text)
{
    const struct team *team = &all->use.teams[family->shown];
    const struct role_text *role = &role_texts[family->role];
    buf_puts(text, "per rank and step ");
    strategy_use_text(team, role->first, role->last, text);
    if (team->list.len && team->list.len <= 64)
        buf_printf(text, " among ranks %.*s", (int)team->list.len, team->list.at);
    bool guessed = family->role == ROLE_TENSOR && !family->phased;
    buf_printf(text, ": %s",
               guessed ? "nothing shows that the job trains, so they combine activations"
                       : role->reason);
}

enum confidence { CONFIDENCE_LOW, CONFIDENCE_MEDIUM, CONFIDENCE_HIGH };

static const char *const confidence_words[] = {"low", "medium", "high"};

static enum confidence confidence_of(const struct family *family)
{
    if (!family->phased || family->degree <= 0)
        return CONFIDENCE_LOW;
    return family->listed ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM;
}

static enum confidence confidence_of_stages(const struct pipeline_stages *stages)
{
    return stages->from_peers ? CONFIDENCE_HIGH : CONFIDENCE_LOW;
}

static bool add_row(struct row *row, struct buf *text, struct report *report, struct err *err)
{
    return buf_ok(text, err) && row_end(row, report, err);
}

static struct str text_of(const struct buf *text)
{
    return (struct str){text->at ? text->at : "", text->len};
}

static bool add_family(const struct strategy *all, const struct family *family, struct buf *text,
                       struct report *report, struct err *err)
{
    buf_clear(text);
    put_evidence(all, family, text);
    struct row row = {.desc = &table_run_strategy};
    row_word(&row, RUN_STRATEGY_DIMENSION, role_texts[family->role].dimension);
    row_word(&row, RUN_STRATEGY_VARIANT, role_texts[family->role].variant);
    row_i64_if(&row, RUN_STRATEGY_DEGREE, family->degree > 0, family->degree);
    row_i64(&row, RUN_STRATEGY_GROUPS, family->teams);
    row_text(&row, RUN_STRATEGY_EVIDENCE, text_of(text));
    row_word(&row, RUN_STRATEGY_CONFIDENCE, confidence_words[confidence_of(family)]);
    return add_row(&row, text, report, err);
}

static bool add_pipeline(const struct strategy *all, struct buf *text, struct report *report,
                         struct err *err)
{
    const struct pipeline_stages *stages = &all->stages;
    buf_clear(text);
    for (uint32_t t = 0; t < all->use.team_count && !text->len; t++)
        if (sends(&all->use.teams[t]) && !stages->ring[t]) {
            buf_puts(text, "per rank and step ");
            strategy_use_text(&all->use.teams[t], USE_SEND, USE_RECV, text);
        }
    buf_printf(text, "; %u ranks in a row: %s", stages->stage_count,
               role_texts[ROLE_PIPELINE].reason);
    if (stages->chunks > 1)
        buf_printf(text, ", %" PRId64 " chunks of layers each", stages->chunks);
    struct row row = {.desc = &table_run_strategy};
    row_word(&row, RUN_STRATEGY_DIMENSION, role_texts[ROLE_PIPELINE].dimension);
    row_word(&row, RUN_STRATEGY_VARIANT, role_texts[ROLE_PIPELINE].variant);
    row_i64(&row, RUN_STRATEGY_DEGREE, stages->stage_count);
    row_i64(&row, RUN_STRATEGY_GROUPS, stages->chain_count);
    row_text(&row, RUN_STRATEGY_EVIDENCE, text_of(text));
    row_word(&row, RUN_STRATEGY_CONFIDENCE, confidence_words[confidence_of_stages(stages)]);
    return add_row(&row, text, report, err);
}

// Whether some kernel may be a send without any metadata.
static bool may_pass_on(const struct run_comm *comm)
{
    for (uint32_t i = 0; i < comm->op_count; i++) {
        const struct comm_op *op = &comm->ops[i];
        if (op->kernel.len && (op->kind == KIND_SEND_RECV || op->kind == KIND_UNKNOWN))
            return true;
    }
    return false;
}

// Micro-batches of a pipeline, or gradients accumulated over several passes.
static bool add_count(const struct strategy *all, struct report *report, struct err *err)
{
    bool pipeline = all->stages.stage_count > 1;
    int64_t batches = all->stages.micro_batches;
    const char *evidence = "receives of a stage per step from the previous one";
    if (!pipeline || batches == 0) {
        batches = all->turns;
        evidence = may_pass_on(all->comm)
                       ? "forward passes followed by a backward per step; kernels without metadata "
                         "may instead be sends along a pipeline"
                       : "forward passes followed by a backward per step";
    }
    // A pipeline with unknown traffic may do all forwards first, and then all backwards.
    if (batches < (all->stages.micro_batches ? 1 : 2))
        return true;
    struct row row = {.desc = &table_run_strategy};
    row_word(&row, RUN_STRATEGY_DIMENSION, pipeline ? "micro_batches" : "gradient_accumulation");
    row_i64(&row, RUN_STRATEGY_DEGREE, batches);
    row_word(&row, RUN_STRATEGY_EVIDENCE, evidence);
    bool doubtful = pipeline ? !all->stages.micro_batches : may_pass_on(all->comm);
    row_word(&row, RUN_STRATEGY_CONFIDENCE, doubtful ? "low" : "high");
    return row_end(&row, report, err);
}

// "TP2 x PP4 x DDP4"; a name that ends with a digit is separated from the degree.
static void put_word(struct buf *text, enum role role, int64_t degree)
{
    const char *variant = role_texts[role].variant;
    size_t len = strlen(variant);
    bool digit = str_is_digit(variant[len - 1]);
    buf_printf(text, "%s%s%s", text->len ? " x " : "", variant, digit && degree > 0 ? ":" : "");
    if (degree > 0)
        buf_i64(text, degree);
}

// Among families that differ only in size, only the largest is named: experts share less than the
// rest.
static bool add_overall(const struct strategy *all, struct buf *text, struct report *report,
                        struct err *err)
{
    bool pipeline = all->stages.stage_count > 1, added = false;
    enum confidence least = pipeline ? confidence_of_stages(&all->stages) : CONFIDENCE_HIGH;
    buf_clear(text);
    for (uint32_t f = 0; f < all->family_count; f++) {
        const struct family *family = &all->families[f];
        if (pipeline && !added && family->role > ROLE_PIPELINE) {
            put_word(text, ROLE_PIPELINE, all->stages.stage_count);
            added = true;
        }
        if (f == 0 || all->families[f - 1].role != family->role)
            put_word(text, family->role, family->degree);
        least = confidence_of(family) < least ? confidence_of(family) : least;
    }
    if (pipeline && !added)
        put_word(text, ROLE_PIPELINE, all->stages.stage_count);
    if (text->len == 0)
        return true;
    struct row row = {.desc = &table_run_strategy};
    row_word(&row, RUN_STRATEGY_DIMENSION, "overall");
    row_text(&row, RUN_STRATEGY_VARIANT, text_of(text));
    row_word(&row, RUN_STRATEGY_EVIDENCE, "all rows of this table in one line");
    row_word(&row, RUN_STRATEGY_CONFIDENCE, confidence_words[least]);
    return add_row(&row, text, report, err);
}

static bool add_rows(const struct strategy *all, struct report *report, struct err *err)
{
    struct buf text = {0};
    bool ok = add_overall(all, &text, report, err), added = all->stages.stage_count < 2;
    for (uint32_t f = 0; ok && f < all->family_count; f++) {
        if (!added && all->families[f].role > ROLE_PIPELINE) {
            ok = add_pipeline(all, &text, report, err);
            added = true;
        }
        ok = ok && add_family(all, &all->families[f], &text, report, err);
    }
    ok = ok && (added || add_pipeline(all, &text, report, err)) && add_count(all, report, err);
    buf_free(&text);
    return ok;
}

bool strategy_add(struct run_comm *comm, const struct run_passes *passes, struct report *report,
                  struct err *err)
{
    struct arena arena;
    arena_init(&arena, comm->budget);
    struct strategy all = {.comm = comm, .passes = passes};
    bool ok = strategy_use_make(comm, &arena, &all.use, err) &&
              pipeline_stages_find(comm, &all.use, &arena, &all.stages, err) &&
              count_turns(&all, &arena, err);
    if (ok) {
        all.main_role = arena_array(&arena, all.use.team_count, sizeof *all.main_role, err);
        ok = all.main_role;
    }
    if (ok) {
        find_roles(&all);
        drop_ghosts(&all);
        sort_families(&all);
        ok = add_rows(&all, report, err) &&
             pipeline_stages_add(comm, passes, &all.stages, report, err);
    }
    arena_free(&arena);
    return ok;
}
