// SPDX-License-Identifier: Apache-2.0
// Finds the rule that decides, by name, what kind of work an operator or kernel does.
#include "analysis/names/category.h"

#include "analysis/names/category_rules.h"

#include "ingest/base/name_index.h"

// A name in the form used by rules.
struct subject {
    struct name_index index;
    size_t bare; // where it starts after the namespace
    size_t head; // where template arguments or parameters start
};

// "matmul0" -> "matmul" where text ends in "Backward" and a number.
static struct str without_backward(struct str text)
{
    struct str rest = text;
    rest.len = str_digits_start(rest, rest.len);
    if (str_ends_with(rest, STR("backward")))
        return (struct str){rest.at, rest.len - STR("backward").len};
    return text;
}

// Lower case, no underscores, at most NAME_INDEX_MAX bytes into text.
static struct str squeeze(struct str op, char text[NAME_INDEX_MAX])
{
    size_t len = 0;
    for (size_t i = 0; i < op.len && len < NAME_INDEX_MAX; i++) {
        char c = op.at[i];
        if (c != '_')
            text[len++] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
    }
    return (struct str){text, len};
}

// "aten::_softmax_backward_data" -> "aten::softmaxbackwarddata", "aten::add_.Tensor" ->
// "aten::add", "autograd::engine::evaluate_function: MulBackward0" -> "mul".
static void make_op(struct subject *subject, struct str op)
{
    struct str engine = STR("autograd::engine::evaluate_function: ");
    if (str_starts_with(op, engine))
        op = (struct str){op.at + engine.len, op.len - engine.len};
    char text[NAME_INDEX_MAX];
    struct str name = squeeze(op, text);
    size_t bare = 0;
    for (size_t i = 0; i + 1 < name.len; i++)
        bare = name.at[i] == ':' && name.at[i + 1] == ':' ? i + 2 : bare;
    for (size_t i = bare; bare && i < name.len; i++)
        name.len = name.at[i] == '.' ? i : name.len; // an overload
    name = without_backward(name);
    name_index_make(&subject->index, name);
    subject->bare = bare < name.len ? bare : name.len;
    subject->head = name.len;
}

// Template arguments and parameters describe types rather than work.
static size_t head_of(const struct name_index *name)
{
    struct str anonymous = STR("(anonymous");
    for (size_t i = 0; i < name->len; i++) {
        struct str rest = {name->text + i, name->len - i};
        if (rest.at[0] == '<' || (rest.at[0] == '(' && !str_starts_with(rest, anonymous)))
            return i;
    }
    return name->len;
}

static void make_kernel(struct subject *subject, struct str kernel)
{
    struct str result = STR("void ");
    if (str_starts_with(kernel, result))
        kernel = (struct str){kernel.at + result.len, kernel.len - result.len};
    name_index_make(&subject->index, kernel);
    subject->bare = 0;
    subject->head = head_of(&subject->index);
}

// Where a row's text is between `bare` and `end`, or SIZE_MAX.
static size_t place(const struct subject *subject, const struct category_rule *rule,
                    struct str text, size_t end)
{
    struct str whole = {subject->index.text, end};
    struct str bare = {subject->index.text + subject->bare, end - subject->bare};
    switch (rule->match) {
    case MATCH_WORD: return str_equal(bare, text) ? subject->bare : SIZE_MAX;
    case MATCH_WHOLE: return str_equal(whole, text) ? 0 : SIZE_MAX;
    case MATCH_FRONT: return str_starts_with(whole, text) ? 0 : SIZE_MAX;
    case MATCH_PART: break;
    }
    size_t at = name_index_find(&subject->index, text, subject->bare);
    return at != SIZE_MAX && at + text.len <= end ? at : SIZE_MAX;
}

static const struct category_rule *first_match(const struct category_rules *rules,
                                               const struct subject *subject, size_t end)
{
    for (size_t i = 0; i < rules->count; i++) {
        const struct category_rule *rule = &rules->rows[i];
        struct str text = str_of(rule->text);
        size_t at = place(subject, rule, text, end);
        if (at != SIZE_MAX && (!rule->then || name_index_find(&subject->index, str_of(rule->then),
                                                              at + text.len) != SIZE_MAX))
            return rule;
    }
    return NULL;
}

const struct category_rule *category_rule_of_op(struct str op)
{
    struct subject subject;
    make_op(&subject, op);
    return first_match(&category_op_rules, &subject, subject.index.len);
}

const struct category_rule *category_rule_of_kernel(struct str kernel)
{
    struct subject subject;
    make_kernel(&subject, kernel);
    const struct category_rule *rule = first_match(&category_kernel_rules, &subject, subject.head);
    return rule || subject.head == subject.index.len
               ? rule
               : first_match(&category_kernel_rules, &subject, subject.index.len);
}

enum category category_of_op(struct str op)
{
    const struct category_rule *rule = category_rule_of_op(op);
    return rule ? rule->category : CATEGORY_NONE;
}

enum category category_of_kernel(struct str kernel)
{
    const struct category_rule *rule = category_rule_of_kernel(kernel);
    return rule ? rule->category : CATEGORY_NONE;
}

const char *category_word(enum category category)
{
    static const char *const words[CATEGORY_COUNT] = {
        [CATEGORY_NONE] = "undecided",
        [CATEGORY_GEMM] = "GEMM",
        [CATEGORY_ATTENTION] = "attention",
        [CATEGORY_CONVOLUTION] = "convolution",
        [CATEGORY_NORMALIZATION] = "normalization",
        [CATEGORY_ELEMENTWISE] = "elementwise",
        [CATEGORY_REDUCTION] = "reduction",
        [CATEGORY_EMBEDDING] = "embedding/indexing",
        [CATEGORY_OPTIMIZER] = "optimizer",
        [CATEGORY_MOE] = "MoE",
        [CATEGORY_TRITON] = "triton-fused",
        [CATEGORY_OTHER] = "other",
        [CATEGORY_COMMUNICATION] = "communication",
        [CATEGORY_COPY] = "copy",
        [CATEGORY_FILL] = "fill",
    };
    return words[category];
}

const char *category_bar_word(enum bar bar)
{
    static const char *const words[BAR_COUNT] = {
        [BAR_GEMM] = "gemm",
        [BAR_ATTENTION] = "attention",
        [BAR_OTHER_COMPUTE] = "other_compute",
        [BAR_EXPOSED_COMM] = "exposed_comm",
        [BAR_EXPOSED_MEMORY] = "exposed_memory",
        [BAR_IDLE_HOST_WAIT] = "idle_host_wait",
        [BAR_IDLE_OTHER] = "idle_other",
        [BAR_UNRECORDED] = "unrecorded",
    };
    return words[bar];
}

enum bar category_bar_of_word(struct str word)
{
    int bar = 0;
    while (bar < BAR_COUNT && !str_equal(word, str_of(category_bar_word((enum bar)bar))))
        bar++;
    return (enum bar)bar;
}

enum bar category_bar(enum device_class class, enum category category)
{
    if (class == CLASS_COMMUNICATION)
        return BAR_EXPOSED_COMM;
    if (class == CLASS_MEMORY)
        return BAR_EXPOSED_MEMORY;
    switch (category) {
    case CATEGORY_GEMM: return BAR_GEMM;
    case CATEGORY_ATTENTION: return BAR_ATTENTION;
    default: return BAR_OTHER_COMPUTE;
    }
}
