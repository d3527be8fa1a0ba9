// SPDX-License-Identifier: Apache-2.0
// The command line of `tracegen mesh`.
#include "tests/tracegen/mesh.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 65536 };

static const char usage[] =
    "usage: tracegen mesh [--tp N] [--pp N] [--dp N] [--ep N] [--sequence-parallel]\n"
    "  [--data ddp|fsdp|zero1|zero2|zero3]\n"
    "  [--micro-batches N] [--schedule gpipe|1f1b] [--layers N] [--steps N] [--node-gpus N]\n"
    "  [--seed N] [--noise PPM] [--skew NS] [--jitter NS]\n"
    "  [--straggler RANK=NS_PER_STEP] [--cause WORD] [--slow-link NODE[-NODE]=PERCENT]\n"
    "  [--slow-ranks RANKS=PERCENT] [--more RANKS=longer|layers|experts:PERCENT] [--later NS]\n"
    "  [--drop RANK=COUNT] [--without RANK] [--no-sequence] [--no-metadata] [--metadata-ranks N]\n"
    "  [--passing own|lent|batched] [--sends-only] [--flavour cuda|rocm]\n"
    "  [--drift RANK=PPM] [--jump RANK=NS]\n"
    "  [--format json|gz|zst] --out DIR\n"
    "causes: compute_slower more_work data_loading host copies\n";

const char *mesh_cause_name(enum mesh_cause cause)
{
    static const char *const names[CAUSE_COUNT] = {
        [CAUSE_COMPUTE_SLOWER] = "compute_slower",
        [CAUSE_MORE_WORK] = "more_work",
        [CAUSE_DATA_LOADING] = "data_loading",
        [CAUSE_HOST] = "host",
        [CAUSE_COPIES] = "copies",
    };
    return names[cause];
}

static bool refuse(const char *what, const char *text)
{
    fprintf(stderr, "tracegen: found \"%s\", expected %s\n%s", text, what, usage);
    return false;
}

static bool parse_i64(const char *text, int64_t least, int64_t *value)
{
    char *end = NULL;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return (!errno && end != text && !*end && *value >= least) ||
           refuse("a whole number in range", text);
}

static bool parse_i32(const char *text, int32_t least, int32_t *value)
{
    int64_t number = 0;
    if (!parse_i64(text, least, &number))
        return false;
    *value = (int32_t)number;
    return number <= 1 << 20 || refuse("a smaller number", text);
}

// "RANK=NUMBER".
static bool parse_pair(const char *text, int32_t *rank, int64_t *number)
{
    char *end = NULL;
    long first = strtol(text, &end, 10);
    if (end == text || *end != '=' || first < 0 || first > 1 << 20)
        return refuse("two numbers around =", text);
    *rank = (int32_t)first;
    return parse_i64(end + 1, 1, number);
}

// "RANK=NUMBER", possibly negative.
static bool parse_fault(const char *text, struct mesh_clock_fault *faults, int32_t *count)
{
    char *end = NULL;
    long rank = strtol(text, &end, 10);
    if (end == text || *end != '=' || rank < 0 || rank > 1 << 20 || *count == MESH_CLOCK_FAULTS)
        return refuse("two numbers around =, eight times at most", text);
    faults[*count].rank = (int32_t)rank;
    return parse_i64(end + 1, INT64_MIN, &faults[(*count)++].amount);
}

// "NODE=PERCENT" or "NODE-NODE=PERCENT".
static bool parse_link(const char *text, int32_t nodes[2], int64_t *percent)
{
    const char *between = strchr(text, '-');
    if (!between)
        return parse_pair(text, &nodes[0], percent);
    char *end = NULL;
    long first = strtol(text, &end, 10);
    if (end != between || end == text || first < 0 || first > 1 << 20)
        return refuse("two nodes around -", text);
    nodes[0] = (int32_t)first;
    return parse_pair(between + 1, &nodes[1], percent);
}

static bool parse_word(const char *text, const char *const *words, int count, int *index)
{
    for (*index = 0; *index < count; ++*index)
        if (strcmp(text, words[*index]) == 0)
            return true;
    return refuse("another word", text);
}

// "RANK=PERCENT" or "RANK-RANK=PERCENT".
static bool parse_some(const char *text, struct mesh_some *some)
{
    int32_t ranks[2] = {-1, -1};
    int64_t percent = 0;
    if (!parse_link(text, ranks, &percent))
        return false;
    *some = (struct mesh_some){ranks[0], ranks[1] < 0 ? ranks[0] : ranks[1], (int32_t)percent};
    return (some->last >= some->first && percent <= 1000) || refuse("ranks in order", text);
}

// "RANKS=WORD:PERCENT".
static bool parse_more(const char *text, struct mesh_options *o)
{
    static const char *const words[] = {"longer", "layers", "experts"};
    char ranks[32], word[16], some[48];
    int percent = 0, index = 0;
    if (sscanf(text, "%31[0-9-]=%15[a-z]:%d", ranks, word, &percent) != 3)
        return refuse("RANKS=WORD:PERCENT", text);
    snprintf(some, sizeof some, "%s=%d", ranks, percent);
    if (!parse_word(word, words, 3, &index) || !parse_some(some, &o->more))
        return false;
    o->more_of = (enum mesh_more)index;
    return true;
}

static const struct option long_options[] = {
    {"slow-ranks", required_argument, NULL, 'W'},
    {"more", required_argument, NULL, 'A'},
    {"later", required_argument, NULL, 'z'},
    {"tp", required_argument, NULL, 't'},
    {"pp", required_argument, NULL, 'p'},
    {"dp", required_argument, NULL, 'd'},
    {"ep", required_argument, NULL, 'e'},
    {"data", required_argument, NULL, 'D'},
    {"micro-batches", required_argument, NULL, 'm'},
    {"schedule", required_argument, NULL, 'S'},
    {"layers", required_argument, NULL, 'l'},
    {"steps", required_argument, NULL, 's'},
    {"node-gpus", required_argument, NULL, 'g'},
    {"seed", required_argument, NULL, 'r'},
    {"noise", required_argument, NULL, 'n'},
    {"skew", required_argument, NULL, 'k'},
    {"jitter", required_argument, NULL, 'j'},
    {"straggler", required_argument, NULL, 'a'},
    {"cause", required_argument, NULL, 'c'},
    {"slow-link", required_argument, NULL, 'L'},
    {"drop", required_argument, NULL, 'x'},
    {"without", required_argument, NULL, 'w'},
    {"passing", required_argument, NULL, 'B'},
    {"sends-only", no_argument, NULL, 'O'},
    {"metadata-ranks", required_argument, NULL, 'T'},
    {"flavour", required_argument, NULL, 'V'},
    {"drift", required_argument, NULL, 'R'},
    {"jump", required_argument, NULL, 'J'},
    {"no-sequence", no_argument, NULL, 'q'},
    {"no-metadata", no_argument, NULL, 'M'},
    {"format", required_argument, NULL, 'f'},
    {"out", required_argument, NULL, 'o'},
    {"sequence-parallel", no_argument, NULL, 'P'},
    {NULL, 0, NULL, 0},
};

static bool take_word(int option, const char *text, struct mesh_options *o)
{
    static const char *const datas[] = {"ddp", "fsdp", "zero1", "zero2", "zero3"};
    static const char *const schedules[] = {"1f1b", "gpipe"};
    static const char *const formats[] = {"json", "gz", "zst"};
    static const char *const passings[] = {"own", "lent", "batched"};
    static const char *const flavours[] = {"cuda", "rocm"};
    const char *causes[CAUSE_COUNT];
    int index = 0;
    bool good = false;
    switch (option) {
    case 'D':
        good = parse_word(text, datas, 5, &index);
        o->data = index == 4 ? MESH_FSDP : (enum mesh_data)index;
        break;
    case 'S':
        good = parse_word(text, schedules, 2, &index);
        o->gpipe = index == 1;
        break;
    case 'B':
        good = parse_word(text, passings, 3, &index);
        o->passing = (enum mesh_passing)index;
        break;
    case 'V':
        good = parse_word(text, flavours, 2, &index);
        o->flavour = index == 1 ? VENDOR_ROCM : VENDOR_CUDA;
        break;
    case 'f':
        good = parse_word(text, formats, 3, &index);
        o->format = (enum outfile_format)index;
        break;
    case 'c':
        for (int i = 0; i < CAUSE_COUNT; i++)
            causes[i] = mesh_cause_name((enum mesh_cause)i);
        good = parse_word(text, causes, CAUSE_COUNT, &index);
        o->cause = (enum mesh_cause)index;
        break;
    default: fputs(usage, stderr); break;
    }
    return good;
}

static bool take(int option, const char *text, struct mesh_options *o)
{
    int64_t number = 0;
    bool good = true;
    switch (option) {
    case 't': return parse_i32(text, 1, &o->tp);
    case 'p': return parse_i32(text, 1, &o->pp);
    case 'd': return parse_i32(text, 1, &o->dp);
    case 'e': return parse_i32(text, 1, &o->ep);
    case 'm': return parse_i32(text, 1, &o->micro_batches);
    case 'l': return parse_i32(text, 1, &o->layers);
    case 's': return parse_i32(text, 1, &o->steps);
    case 'g': return parse_i32(text, 1, &o->node_gpus);
    case 'n': return parse_i64(text, 0, &o->noise_ppm);
    case 'k': return parse_i64(text, 0, &o->skew_ns);
    case 'j': return parse_i64(text, 0, &o->jitter_ns);
    case 'w': return parse_i32(text, 0, &o->without);
    case 'W': return parse_some(text, &o->slow);
    case 'A': return parse_more(text, o);
    case 'z': return parse_i64(text, 0, &o->later_ns);
    case 'a': return parse_pair(text, &o->straggler, &o->delay_ns);
    case 'r':
        good = parse_i64(text, 0, &number);
        o->seed = (uint64_t)number;
        break;
    case 'L':
        good = parse_link(text, o->slow_nodes, &number);
        o->slow_percent = (int32_t)number;
        break;
    case 'x':
        good = parse_pair(text, &o->drop_rank, &number);
        o->drop_count = (int32_t)number;
        break;
    case 'T': return parse_i32(text, 0, &o->metadata_ranks);
    case 'R': return parse_fault(text, o->drifts, &o->drift_count);
    case 'J': return parse_fault(text, o->jumps, &o->jump_count);
    case 'O': o->sends_only = true; break;
    case 'q': o->no_sequence = true; break;
    case 'P': o->sequence_parallel = true; break;
    case 'M': o->no_metadata = true; break;
    case 'o': o->out = text; break;
    default: return take_word(option, text, o);
    }
    return good;
}

// Checks that need all options.
static bool check(struct mesh_options *o)
{
    int64_t world = (int64_t)o->tp * o->pp * o->dp;
    if (!o->out)
        return refuse("--out DIR", "no --out");
    if (o->dp % o->ep != 0)
        return refuse("--ep that divides --dp", "another --ep");
    if (world < 2 || world > MOST_RANKS)
        return refuse("2 to 65536 ranks", "other --tp, --pp, --dp");
    if (o->straggler >= world || o->drop_rank >= world || o->without >= world ||
        o->slow.last >= world || o->more.last >= world)
        return refuse("a rank of the job", "a higher one");
    if (o->passing == PASSING_BATCHED && o->drop_rank >= 0)
        return refuse("no --drop beside batches", "both");
    if (o->sends_only && o->pp == 1)
        return refuse("a pipeline with --sends-only", "--pp 1");
    if (!o->micro_batches)
        o->micro_batches = o->pp > 1 ? 2 * o->pp : 1;
    return true;
}

bool mesh_options_parse(int argc, char **argv, struct mesh_options *o)
{
    *o = (struct mesh_options){
        .seed = 1,
        .tp = 1,
        .pp = 1,
        .dp = 1,
        .ep = 1,
        .steps = 6,
        .layers = 4,
        .node_gpus = 8,
        .noise_ppm = 10000,
        .jitter_ns = 1000,
        .straggler = -1,
        .slow_nodes = {-1, -1},
        .drop_rank = -1,
        .without = -1,
        .metadata_ranks = -1,
    };
    int option = 0;
    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
        if (!take(option, optarg, o))
            return false;
    if (optind < argc)
        return refuse("only options", argv[optind]);
    return check(o);
}
