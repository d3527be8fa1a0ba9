// SPDX-License-Identifier: Apache-2.0
// ACTION[=VALUE]:WHAT[=PATTERN], and names for common changes.
#include "analysis/replay/change_order.h"

#include <math.h>

const char change_syntax[] =
    "scale=0.5:WHAT, set=12us:WHAT, add=-5us:WHAT (each call takes that much more or less), "
    "roofline:WHAT or roofline=0.45:WHAT (what the device's peaks, or that share of them, allow), "
    "counterpart:WHAT (what another run's kernels take for the same operators and shapes), "
    "overlap:WHAT (only its own stream waits for "
    "it), remove:WHAT (takes no time) or drop:WHAT (the host does not do it either); WHAT is "
    "kernel=NAME, op=NAME, category=NAME, class=compute|communication|memory, group=NAME (a "
    "process group), link=intra-node|inter-node, recompute, or, but for add, roofline, counterpart "
    "and overlap, "
    "host=NAME (operators, calls, ranges or frames), host, data_loading or profiler (what "
    "PyTorch's profiler took of the host's time); '*' in a NAME is any "
    "text. Or host_free, data_ready, infinite_network, network_x2, perfect_overlap, gemm_roofline, "
    "gemm_achievable, attention_achievable, no_recompute, no_copies, or, with another run, "
    "other_kernels, or, of several ranks, balanced "
    "or balanced=RANK";

const struct change_ready change_ready_made[] = {
    {"balanced", NULL, "No straggler",
     "No rank has more compute, copies or host time than the median of its peers.", true, false,
     false},
    {"host_free", "remove:host", "Free host",
     "The host takes no time between calls, as with a captured graph of the step.", false, false,
     false},
    {"data_ready", "remove:data_loading", "Data is ready",
     "The host never waits for the data loader.", false, false, false},
    {"network_x2", "scale=0.5:class=communication", "Network twice as fast",
     "Each transfer takes half as long; waiting for late ranks stays.", false, false, false},
    {"infinite_network", "remove:class=communication", "Infinite network",
     "Transfers take no time; waiting for late ranks stays.", false, false, false},
    {"perfect_overlap", "overlap:class=communication", "Communication fully overlapped",
     "Compute and the host never wait for communication, which has one more step to finish.", false,
     false, false},
    {"no_copies", "remove:class=memory", "No copies",
     "Copies and memsets on the device take no time.", false, false, false},
    {"gemm_roofline", "roofline:category=GEMM", "Matrix products at their roofline",
     "Each product takes what the peaks of the GPU allow for its shape.", false, true, false},
    {"gemm_achievable", "roofline=0.45:category=GEMM", "Matrix products at 45 % of their roofline",
     "Each product takes what this share of the GPU's peaks allows, which is usually reached.",
     false, true, false},
    {"attention_achievable", "roofline=0.3:category=attention", "Attention at 30 % of its roofline",
     "Each kernel takes what this share of the GPU's peaks allows, which fused ones usually reach.",
     false, true, false},
    {"other_kernels", "counterpart:class=compute", "The other run's kernels",
     "Each operator takes what it takes in the other run with the same shapes.", false, true, true},
    {"no_recompute", "drop:recompute", "No recomputation",
     "Activations are kept, so that nothing is computed twice.", false, false, false},
    {NULL, NULL, NULL, NULL, false, false, false},
};

const struct change_ready *change_ready_find(struct str name)
{
    const struct change_ready *ready = change_ready_made;
    while (ready->name && !str_equal(name, str_of(ready->name)))
        ready++;
    return ready->name ? ready : NULL;
}

struct what {
    const char *key;
    enum change_of of;
    bool names; // takes a pattern
};

static const struct what whats[] = {
    {"kernel", CHANGE_OF_KERNEL, true},        {"op", CHANGE_OF_OPERATOR, true},
    {"category", CHANGE_OF_CATEGORY, true},    {"class", CHANGE_OF_CLASS, true},
    {"group", CHANGE_OF_GROUP, true},          {"link", CHANGE_OF_LINK, true},
    {"recompute", CHANGE_OF_RECOMPUTE, false}, {"host", CHANGE_OF_HOST, true},
    {"host", CHANGE_OF_HOST, false},           {"data_loading", CHANGE_OF_LOADING, false},
    {"profiler", CHANGE_OF_PROFILER, false},
};

// The text up to a character, which is taken off; all of it if there is none.
static struct str split(struct str *rest, char at)
{
    size_t i = 0;
    while (i < rest->len && rest->at[i] != at)
        i++;
    struct str head = {rest->at, i};
    size_t taken = i < rest->len ? i + 1 : i;
    *rest = (struct str){rest->at + taken, rest->len - taken};
    return head;
}

static bool refuse(struct str text, struct err *err)
{
    int shown = text.len > 60 ? 60 : (int)text.len;
    return err_set(err, ERR_USAGE,
                   "found change '%.*s', expected such as scale=0.5:category=GEMM "
                   "or host_free",
                   shown, text.at);
}

static bool duration_of(struct str text, int64_t *ns)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    double value;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t unit = strlen(units[i].unit);
        if (text.len <= unit ||
            !str_equal((struct str){text.at + text.len - unit, unit}, str_of(units[i].unit)) ||
            !str_to_f64((struct str){text.at, text.len - unit}, &value))
            continue;
        *ns = (int64_t)llround(value * units[i].ns);
        return value >= 0 && value * units[i].ns < 1e15;
    }
    return false;
}

static const struct {
    const char *name;
    enum change_action action;
} plain_actions[] = {{"remove", CHANGE_SCALE},
                     {"drop", CHANGE_DROP},
                     {"counterpart", CHANGE_COUNTERPART},
                     {"overlap", CHANGE_OVERLAP}};

static bool parse_action(struct str text, struct change *change)
{
    struct str value = text, name = split(&value, '=');
    change->action = CHANGE_SCALE;
    if (str_equal(name, STR("scale")))
        return str_to_f64(value, &change->factor) && change->factor >= 0 && change->factor <= 1000;
    if (str_equal(name, STR("set"))) {
        change->action = CHANGE_SET;
        return duration_of(value, &change->set_ns);
    }
    if (str_equal(name, STR("add"))) {
        change->action = CHANGE_ADD;
        bool less = value.len > 0 && value.at[0] == '-';
        struct str size = {value.at + less, value.len - less};
        if (!duration_of(size, &change->set_ns))
            return false;
        change->set_ns = less ? -change->set_ns : change->set_ns;
        return true;
    }
    if (str_equal(name, STR("roofline"))) {
        change->action = CHANGE_ROOFLINE;
        change->factor = 1;
        bool whole = name.len == text.len;
        return whole || (str_to_f64(value, &change->factor) && change->factor >= 0.01 &&
                         change->factor <= 1);
    }
    for (size_t i = 0; i < sizeof plain_actions / sizeof *plain_actions; i++)
        if (str_equal(text, str_of(plain_actions[i].name))) {
            change->action = plain_actions[i].action;
            return true;
        }
    return false;
}

// Threads have neither a roofline nor a stream, and their stretches between calls no number.
static bool makes_sense(const struct change *change)
{
    return change->action < CHANGE_ADD || !change_is_of_host(change);
}

static bool parse_what(struct str text, struct change *change)
{
    struct str pattern = text, key = split(&pattern, '=');
    bool names = key.len < text.len;
    for (size_t i = 0; i < sizeof whats / sizeof *whats; i++) {
        if (!str_equal(key, str_of(whats[i].key)) || whats[i].names != names)
            continue;
        change->of = whats[i].of;
        change->pattern = names ? pattern : STR("*");
        return change->pattern.len > 0;
    }
    return false;
}

static bool refuse_more(struct err *err)
{
    return err_set(err, ERR_USAGE, "found more than %d changes", CHANGE_MOST);
}

bool change_balances(const struct change_list *list, int64_t rank)
{
    bool balances = list->balanced && list->balanced_count == 0;
    for (uint32_t i = 0; i < list->balanced_count; i++)
        balances = balances || list->balanced_ranks[i] == rank;
    return balances;
}

static void balance_all(struct change_list *list)
{
    list->balanced = true;
    list->balanced_count = 0;
}

static bool balance_rank(struct change_list *list, int64_t rank, struct err *err)
{
    if (change_balances(list, rank))
        return true;
    if (list->balanced_count == CHANGE_MOST)
        return refuse_more(err);
    list->balanced = true;
    list->balanced_ranks[list->balanced_count++] = rank;
    return true;
}

// The rank of balanced=5, -1 of balanced.
static bool read_balanced(struct str text, int64_t *rank)
{
    struct str rest = text, name = split(&rest, '=');
    *rank = -1;
    return str_equal(name, STR("balanced")) &&
           (name.len == text.len || (str_to_i64(rest, rank) && *rank >= 0));
}

bool change_join(struct change_list *list, const struct change_list *other, struct err *err)
{
    if (other->count > CHANGE_MOST - list->count)
        return refuse_more(err);
    for (uint32_t i = 0; i < other->count; i++)
        list->at[list->count++] = other->at[i];
    if (other->counterpart)
        list->counterpart = other->counterpart;
    if (other->balanced && other->balanced_count == 0)
        balance_all(list);
    for (uint32_t i = 0; i < other->balanced_count; i++)
        if (!balance_rank(list, other->balanced_ranks[i], err))
            return false;
    return true;
}

bool change_parse(struct str text, struct change_list *list, struct err *err)
{
    struct str rest = text;
    int64_t rank;
    if (read_balanced(text, &rank)) {
        if (rank >= 0)
            return balance_rank(list, rank, err);
        balance_all(list);
        return true;
    }
    const struct change_ready *ready = change_ready_find(text);
    if (ready && ready->change)
        rest = str_of(ready->change);
    if (list->count == CHANGE_MOST)
        return refuse_more(err);
    struct change change = {0};
    struct str action = split(&rest, ':');
    if (!parse_action(action, &change) || !parse_what(rest, &change) || !makes_sense(&change))
        return refuse(text, err);
    list->at[list->count++] = change;
    return true;
}
