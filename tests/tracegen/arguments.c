// SPDX-License-Identifier: Apache-2.0
// Reads the command line.
#include "tests/tracegen/arguments.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_PLANT_NS = 3000000, DEFAULT_LAYERS = 12, DEFAULT_STEPS = 10, LONE_RANK_WORLD = 8 };

static const char usage[] =
    "usage: tracegen [--seed N] [--ranks N] [--world N] [--steps N] [--layers N] [--events N]\n"
    "  [--flavour cuda|rocm] [--strategy ddp|fsdp] [--plant NAME[=NS_PER_STEP]]...\n"
    "  [--slow [CATEGORY=]PERCENT]... [--straggler RANK=PERCENT] [--size BYTES[K|M|G]]\n"
    "  [--noise PERCENT] [--run-noise PERCENT] [--slow-op NAME=PERCENT] [--job transformer|probe] "
    "[--stacks] [--memory] [--leak BYTES]\n"
    "  [--held BYTES[K|M|G]] [--spare BYTES[K|M|G]]\n"
    "  [--checkpoint] [--sync-events] [--list-events] [--counters]\n"
    "  [--one-line | --pretty | --compact | --indented] [--format json|gz|zst] --out DIR\n"
    "tracegen --shape NAME [--events N | --size BYTES] [layout and format as above] --out DIR\n"
    "shapes: standard small args escapes python long_names one_thread one_stream same_time deep\n"
    "  streams threads names reversed shuffled since_1970\n"
    "plants: exposed_comm starvation tiny_kernels low_overlap pageable_copies\n"
    "  fp32_gemm fp8_unused bad_gemm bad_attention unfused_attention unfused_optimizer\n"
    "  launch_bound periodic_steps unstable_steps slow_calls overrun prefetch\n"
    "  uneven_layers generator preprocessing small_collectives backlog\n"
    "  idle_sync idle_data_loading idle_allocator idle_host_compute idle_launch_overhead\n"
    "  idle_event_wait idle_graph_replay idle_profiler idle_cold_start idle_unknown\n"
    "  idle_unrecorded none\n";

const char *arguments_plant_name(enum plant plant)
{
    static const char *const names[PLANT_COUNT] = {
        [PLANT_EXPOSED_COMM] = "exposed_comm",
        [PLANT_STARVATION] = "starvation",
        [PLANT_TINY_KERNELS] = "tiny_kernels",
        [PLANT_LOW_OVERLAP] = "low_overlap",
        [PLANT_PAGEABLE_COPIES] = "pageable_copies",
        [PLANT_FP32_GEMM] = "fp32_gemm",
        [PLANT_FP8_UNUSED] = "fp8_unused",
        [PLANT_BAD_GEMM] = "bad_gemm",
        [PLANT_BAD_ATTENTION] = "bad_attention",
        [PLANT_UNFUSED_ATTENTION] = "unfused_attention",
        [PLANT_UNFUSED_OPTIMIZER] = "unfused_optimizer",
        [PLANT_LAUNCH_BOUND] = "launch_bound",
        [PLANT_PERIODIC_STEPS] = "periodic_steps",
        [PLANT_UNSTABLE_STEPS] = "unstable_steps",
        [PLANT_SLOW_CALLS] = "slow_calls",
        [PLANT_OVERRUN] = "overrun",
        [PLANT_PREFETCH] = "prefetch",
        [PLANT_UNEVEN_LAYERS] = "uneven_layers",
        [PLANT_GENERATOR] = "generator",
        [PLANT_PREPROCESSING] = "preprocessing",
        [PLANT_SMALL_COLLECTIVES] = "small_collectives",
        [PLANT_BACKLOG] = "backlog",
    };
    return names[plant];
}

static bool refuse(const char *what, const char *text)
{
    fprintf(stderr, "tracegen: found \"%s\", expected %s\n%s", text, what, usage);
    return false;
}

static bool parse_number(const char *text, int64_t least, int64_t most, int64_t *value)
{
    char *end = NULL;
    errno = 0;
    *value = strtoll(text, &end, 10);
    if (errno || end == text || *end || *value < least || *value > most)
        return refuse("a whole number in range", text);
    return true;
}

static bool parse_count(const char *text, int32_t least, int32_t *value)
{
    int64_t number = 0;
    if (!parse_number(text, least, INT32_MAX, &number))
        return false;
    *value = (int32_t)number;
    return true;
}

static bool parse_size(const char *text, uint64_t *bytes)
{
    char *end = NULL;
    unsigned shift = 0;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (*end == 'K' || *end == 'M' || *end == 'G')
        shift = *end == 'K' ? 10 : *end == 'M' ? 20 : 30;
    end += shift > 0;
    if (errno || end == text || *end || number == 0 || number > UINT64_C(1) << 32)
        return refuse("a size such as 500M", text);
    *bytes = (uint64_t)number << shift;
    return true;
}

static bool parse_bytes(const char *text, int64_t *bytes)
{
    uint64_t size = 0;
    bool good = parse_size(text, &size);
    *bytes = (int64_t)size;
    return good;
}

static bool parse_noise(const char *text, int64_t *ppm)
{
    char *end = NULL;
    double percent = strtod(text, &end);
    if (end == text || *end || !(percent >= 0 && percent <= 50))
        return refuse("a noise from 0 to 50 percent", text);
    *ppm = (int64_t)(percent * 10000);
    return true;
}

// The index of the word among those that `name` returns for 0 to count - 1, or -1.
static int find_word(const char *word, size_t length, const char *(*name)(int), int count)
{
    for (int i = 0; i < count; i++)
        if (strlen(name(i)) == length && memcmp(name(i), word, length) == 0)
            return i;
    return -1;
}

static const char *plant_word(int i)
{
    return arguments_plant_name((enum plant)i);
}

static const char *category_word(int i)
{
    return vendor_category_name((enum category)i);
}

static const char *idle_word(int i)
{
    return idle_cause_name((enum idle_cause)i);
}

// Where a plant's wanted nanoseconds are kept, NULL if there is no such plant.
static int64_t *find_plant(const char *word, size_t length, struct arguments *arguments)
{
    static const char idle[] = "idle_";
    size_t prefix = sizeof idle - 1;
    int plant = find_word(word, length, plant_word, PLANT_COUNT);
    if (plant >= 0)
        return &arguments->plant_ns[plant];
    if (length <= prefix || memcmp(word, idle, prefix) != 0)
        return NULL;
    int cause = find_word(word + prefix, length - prefix, idle_word, IDLE_COUNT);
    return cause > 0 ? &arguments->idle_ns[cause] : NULL;
}

static bool parse_plant(const char *text, struct arguments *arguments)
{
    const char *equals = strchrnul(text, '=');
    if (strcmp(text, "none") == 0)
        return true;
    int64_t *wanted_ns = find_plant(text, (size_t)(equals - text), arguments);
    if (!wanted_ns)
        return refuse("a plant", text);
    *wanted_ns = DEFAULT_PLANT_NS;
    return !*equals || parse_number(equals + 1, 1, INT64_C(60000000000), wanted_ns);
}

static bool parse_slow(const char *text, struct arguments *arguments)
{
    const char *equals = strchr(text, '=');
    int64_t percent = 0;
    if (!parse_number(equals ? equals + 1 : text, 1, 10000, &percent))
        return false;
    if (!equals) {
        for (int i = 0; i < CATEGORY_COUNT; i++)
            arguments->slow_percent[i] = percent;
        return true;
    }
    int category = find_word(text, (size_t)(equals - text), category_word, CATEGORY_COUNT);
    if (category < 0)
        return refuse("a category (gemm, attention, norm, elementwise, ...)", text);
    arguments->slow_percent[category] = percent;
    return true;
}

// The name may itself contain a '='.
static bool parse_slow_op(char *text, struct arguments *arguments)
{
    char *equals = strrchr(text, '=');
    if (!equals || equals == text)
        return refuse("NAME=PERCENT", text);
    *equals = '\0';
    arguments->slow_op = text;
    return parse_number(equals + 1, 1, 10000, &arguments->slow_op_percent);
}

static bool parse_straggler(const char *text, struct arguments *arguments)
{
    char *end = NULL;
    long rank = strtol(text, &end, 10);
    if (end == text || *end != '=' || rank < 0 || rank > INT32_MAX)
        return refuse("RANK=PERCENT", text);
    arguments->straggler_rank = (int32_t)rank;
    return parse_number(end + 1, 1, 10000, &arguments->straggler_percent);
}

// Sets *choice to 0 or 1 by which of the two words was given.
static bool parse_choice(const char *text, const char *first, const char *second, int *choice)
{
    *choice = strcmp(text, second) == 0;
    return *choice || strcmp(text, first) == 0 || refuse(second, text);
}

static bool parse_format(const char *text, enum outfile_format *format)
{
    static const char *const names[] = {"json", "gz", "zst"};
    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            *format = (enum outfile_format)i;
            return true;
        }
    return refuse("json, gz or zst", text);
}

static const struct option long_options[] = {
    {"seed", required_argument, NULL, 's'},
    {"ranks", required_argument, NULL, 'r'},
    {"world", required_argument, NULL, 'w'},
    {"steps", required_argument, NULL, 't'},
    {"layers", required_argument, NULL, 'l'},
    {"events", required_argument, NULL, 'e'},
    {"flavour", required_argument, NULL, 'f'},
    {"strategy", required_argument, NULL, 'g'},
    {"plant", required_argument, NULL, 'p'},
    {"slow", required_argument, NULL, 'w' + 128},
    {"straggler", required_argument, NULL, 'a'},
    {"size", required_argument, NULL, 'z'},
    {"noise", required_argument, NULL, 'n'},
    {"format", required_argument, NULL, 'm'},
    {"out", required_argument, NULL, 'o'},
    {"job", required_argument, NULL, 'j'},
    {"leak", required_argument, NULL, 'L'},
    {"stacks", no_argument, NULL, 'k'},
    {"memory", no_argument, NULL, 'M'},
    {"checkpoint", no_argument, NULL, 'c'},
    {"sync-events", no_argument, NULL, 'S'},
    {"list-events", no_argument, NULL, 'E'},
    {"one-line", no_argument, NULL, '1'},
    {"pretty", no_argument, NULL, 'y'},
    {"compact", no_argument, NULL, 'C'},
    {"indented", no_argument, NULL, 'I'},
    {"held", required_argument, NULL, 'h' + 128},
    {"spare", required_argument, NULL, 's' + 128},
    {"shape", required_argument, NULL, 'H'},
    {"run-noise", required_argument, NULL, 'N'},
    {"slow-op", required_argument, NULL, 'O'},
    {"counters", no_argument, NULL, 'x'},
    {NULL, 0, NULL, 0},
};

static bool take(int option, char *text, struct arguments *a)
{
    int64_t number = 0;
    int choice = 0;
    bool good = true;
    switch (option) {
    case 's':
        good = parse_number(text, 0, INT64_MAX, &number);
        a->seed = (uint64_t)number;
        break;
    case 'r': return parse_count(text, 1, &a->ranks);
    case 'w': return parse_count(text, 1, &a->world);
    case 't': return parse_count(text, 1, &a->steps);
    case 'l': return parse_count(text, 1, &a->layers);
    case 'e': return parse_number(text, 1, INT64_C(1000000000), &a->events);
    case 'f':
        good = parse_choice(text, "cuda", "rocm", &choice);
        a->flavour = choice ? VENDOR_ROCM : VENDOR_CUDA;
        break;
    case 'g':
        good = parse_choice(text, "ddp", "fsdp", &choice);
        a->strategy = choice ? STRATEGY_FSDP : STRATEGY_DDP;
        break;
    case 'j':
        good = parse_choice(text, "transformer", "probe", &choice);
        a->job = choice ? JOB_PROBE : JOB_TRANSFORMER;
        break;
    case 'L': a->memory = true; return parse_number(text, 1, INT64_C(1) << 40, &a->leak_bytes);
    case 'M': a->memory = true; break;
    case 'h' + 128:
    case 's' + 128:
        a->memory = true;
        return parse_bytes(text, option == 'h' + 128 ? &a->held_bytes : &a->spare_bytes);
    case 'c': a->checkpoint = true; break;
    case 'S': a->sync_events = true; break;
    case 'E': a->list_events = true; break;
    case 'x': a->counters = true; break;
    case 'p': return parse_plant(text, a);
    case 'w' + 128: return parse_slow(text, a);
    case 'a': return parse_straggler(text, a);
    case 'z': return parse_size(text, &a->size);
    case 'n': return parse_noise(text, &a->noise_ppm);
    case 'N': return parse_noise(text, &a->run_noise_ppm);
    case 'O': return parse_slow_op(text, a);
    case 'm': return parse_format(text, &a->format);
    case 'o': a->out = text; break;
    case 'k': a->stacks = true; break;
    case '1':
    case 'y':
        a->one_line = option == '1';
        a->spacing = SPACING_AS_WRITTEN;
        break;
    case 'C': a->spacing = SPACING_NONE; break;
    case 'I': a->spacing = SPACING_INDENTED; break;
    case 'H': a->shape = shape_find(text); return a->shape || refuse("a shape", text);
    default: fputs(usage, stderr); return false;
    }
    return good;
}

bool arguments_parse(int argc, char **argv, struct arguments *arguments)
{
    *arguments = (struct arguments){
        .seed = 1,
        .ranks = 1,
        .steps = DEFAULT_STEPS,
        .noise_ppm = 10000,
        .straggler_rank = -1,
        .straggler_percent = 100,
    };
    for (int i = 0; i < CATEGORY_COUNT; i++)
        arguments->slow_percent[i] = 100;
    int option = 0;
    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
        if (!take(option, optarg, arguments))
            return false;
    if (optind < argc)
        return refuse("only options", argv[optind]);
    if (!arguments->out)
        return refuse("--out DIR", "no --out");
    if (!arguments->shape && arguments->events > 10000000)
        return refuse("at most 10000000 events per step", "more of them");
    if (!arguments->layers && !arguments->events)
        arguments->layers = DEFAULT_LAYERS;
    if (!arguments->world)
        arguments->world = arguments->ranks > 1 ? arguments->ranks : LONE_RANK_WORLD;
    if (arguments->world < arguments->ranks)
        return refuse("--world of at least --ranks", "a smaller --world");
    return true;
}
