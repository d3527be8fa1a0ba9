// SPDX-License-Identifier: Apache-2.0
// Brings names into one spelling in a single pass, and finds their parts in a second.
#include "analysis/kernel_names/kernel_text.h"

#include "analysis/kernel_names/kernel_mangled.h"

enum {
    CAST_MAX = 120,     // bytes of the type in "(type)1"
    ANONYMOUS_MAX = 256 // bytes of "_GLOBAL__N_..."
};

static struct str rest_of(struct str text, size_t at)
{
    return (struct str){text.at + at, text.len - at};
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || str_is_digit(c) || c == '_';
}

// --- one spelling --------------------------------------------------------------------------------

// Without what tools add at the end; true if they cut it there.
static bool trim(struct str *name)
{
    static const char *const suffixes[] = {" [clone .kd]", ".kd", " ", "\t"};
    static const char *const marks[] = {"...", "\xe2\x80\xa6"};
    while (name->len && (*name->at == ' ' || *name->at == '\t'))
        *name = rest_of(*name, 1);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        while (str_ends_with(*name, str_of(suffixes[i])))
            name->len -= strlen(suffixes[i]);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (str_ends_with(*name, str_of(marks[i]))) {
            name->len -= strlen(marks[i]);
            return true;
        }
    return false;
}

// The length of "(type)" before a number; 0: it is not one.
static size_t cast_length(struct str rest)
{
    size_t at = 1;
    while (at < rest.len && at < CAST_MAX &&
           (is_word(rest.at[at]) || rest.at[at] == ':' || rest.at[at] == ' '))
        at++;
    if (at < 2 || at + 1 >= rest.len || rest.at[at] != ')')
        return 0;
    bool negative = rest.at[at + 1] == '-' && at + 2 < rest.len;
    return str_is_digit(rest.at[at + 1 + negative]) ? at + 1 : 0;
}

// Names of anonymous namespaces, as several tools write them, with the colons after them.
static size_t anonymous_length(struct str rest)
{
    static const char *const names[] = {
        "(anonymous namespace)::", "<unnamed>::", "(anonymous)::", "{anonymous}::"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_starts_with(rest, str_of(names[i])))
            return strlen(names[i]);
    if (!str_starts_with(rest, STR("_GLOBAL__N")))
        return 0;
    size_t at = 0;
    while (at < rest.len && at < ANONYMOUS_MAX && is_word(rest.at[at]))
        at++;
    return at + 1 < rest.len && rest.at[at] == ':' && rest.at[at + 1] == ':' ? at + 2 : 0;
}

static const struct {
    const char *from, *to;
} spellings[] = {
    {"[lambda(", "{lambda("},
    {" (instance ", "#"},
    {"operator ()", "operator()"},
    {" *", "*"},
    {" &", "&"},
};

struct writer {
    char *text;
    size_t len;
    bool is_full;
};

static void put(struct writer *writer, struct str text)
{
    if (text.len > KERNEL_TEXT_MAX - writer->len) {
        writer->is_full = true;
        return;
    }
    memcpy(writer->text + writer->len, text.at, text.len);
    writer->len += text.len;
}

// Writes what stands for the start of `rest` and returns how much of it that was; 0: nothing.
static size_t rewrite(struct writer *writer, struct str rest)
{
    char last = writer->len ? writer->text[writer->len - 1] : ' ';
    if (*rest.at == '(') {
        size_t cast = cast_length(rest);
        if (!cast)
            return 0;
        if (!str_starts_with(rest, STR("(bool)")))
            return cast;
        put(writer, rest.at[cast] == '1' ? STR("true") : STR("false"));
        return cast + 1;
    }
    if (*rest.at == ')' && str_starts_with(rest, STR(")]"))) {
        put(writer, STR("}"));
        return 2;
    }
    if (!is_word(last) && last != '*' && str_starts_with(rest, STR("void ")) && rest.len > 5 &&
        (is_word(rest.at[5]) || anonymous_length(rest_of(rest, 5))))
        return 5;
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        if (*rest.at == *spellings[i].from && str_starts_with(rest, str_of(spellings[i].from))) {
            put(writer, str_of(spellings[i].to));
            return strlen(spellings[i].from);
        }
    return 0;
}

static size_t respell(struct str name, char *text, bool *cut)
{
    struct writer writer = {.text = text};
    for (size_t i = 0; i < name.len && !writer.is_full;) {
        struct str rest = rest_of(name, i);
        size_t taken = 0;
        if (*rest.at == '(' || *rest.at == '<' || *rest.at == '{' || *rest.at == '_')
            taken = anonymous_length(rest);
        if (!taken)
            taken = rewrite(&writer, rest);
        if (!taken) {
            put(&writer, (struct str){rest.at, 1});
            taken = 1;
        }
        i += taken;
    }
    *cut = *cut || writer.is_full;
    return writer.len;
}

// --- parts ---------------------------------------------------------------------------------------

static void drop_bracket(struct kernel_brackets *open)
{
    open->angles >>= 1;
    open->depth--;
}

// Inside of parentheses "<" and ">" may compare: what is open there is closed with them.
static void close_bracket(struct kernel_brackets *open)
{
    uint64_t all = open->depth < 64 ? (UINT64_C(1) << open->depth) - 1 : UINT64_MAX;
    if ((open->angles & all) == all)
        return; // only angles are open
    while (open->angles & 1)
        drop_bracket(open);
    drop_bracket(open);
}

void kernel_brackets_step(struct kernel_brackets *open, struct str text, size_t at)
{
    char c = text.at[at];
    if (c == '<' || c == '(' || c == '{' || c == '[') {
        open->angles = open->angles << 1 | (c == '<');
        open->depth++;
    } else if (c == '>') {
        bool is_arrow = at && text.at[at - 1] == '-';
        if (!is_arrow && open->depth && (open->angles & 1))
            drop_bracket(open);
    } else if (c == ')' || c == '}' || c == ']') {
        close_bracket(open);
    }
}

// Where the bracket that opens at `at` closes, or SIZE_MAX.
static size_t closing(struct str text, size_t at)
{
    struct kernel_brackets open = {.depth = 0};
    for (; at < text.len; at++) {
        kernel_brackets_step(&open, text, at);
        if (!open.depth)
            return at;
    }
    return SIZE_MAX;
}

static size_t first_of(struct str text, const char *characters)
{
    for (size_t i = 0; i < text.len; i++)
        if (strchr(characters, text.at[i]))
            return i;
    return text.len;
}

struct str kernel_head_of(struct str type)
{
    return (struct str){type.at, first_of(type, "<(")};
}

struct str kernel_last_of(struct str path)
{
    for (size_t i = path.len; i >= 2; i--)
        if (path.at[i - 1] == ':' && path.at[i - 2] == ':')
            return rest_of(path, i);
    return path;
}

// Adds text.at[from, to) without spaces around it.
static void add_arg(struct kernel_args *args, struct str text, size_t from, size_t to)
{
    while (from < to && text.at[from] == ' ')
        from++;
    while (to > from && text.at[to - 1] == ' ')
        to--;
    if (args->count < KERNEL_ARGS_MAX)
        args->at[args->count++] = (struct str){text.at + from, to - from};
}

// Returns where the argument starts that is not complete, or SIZE_MAX.
static size_t split_args(struct str type, struct kernel_args *args)
{
    args->count = 0;
    size_t open = first_of(type, "<");
    if (open == type.len)
        return SIZE_MAX;
    struct kernel_brackets inside = {.depth = 0};
    size_t start = open + 1;
    for (size_t i = open; i < type.len; i++) {
        kernel_brackets_step(&inside, type, i);
        if (!inside.depth) {
            if (i > start || args->count)
                add_arg(args, type, start, i);
            return SIZE_MAX;
        }
        if (type.at[i] == ',' && inside.depth == 1) {
            add_arg(args, type, start, i);
            start = i + 1;
        }
    }
    return start;
}

void kernel_args_of(struct str type, struct kernel_args *args)
{
    split_args(type, args);
}

bool kernel_open_args_of(struct str type, struct kernel_args *args)
{
    size_t start = split_args(type, args);
    if (start == SIZE_MAX)
        return false;
    add_arg(args, type, start, type.len);
    return true;
}

bool kernel_open_args(const struct kernel_text *text, struct kernel_args *args)
{
    struct str end = {text->name.at, text->name.len};
    return kernel_open_args_of(rest_of(end, (size_t)(text->base.at - end.at)), args);
}

struct str kernel_instance(struct str text, const char *word)
{
    size_t at = str_find(text, str_of(word));
    if (at == SIZE_MAX)
        return (struct str){text.at, 0};
    struct str rest = rest_of(text, at);
    size_t open = first_of(rest, "<");
    size_t end = open < rest.len ? closing(rest, open) : SIZE_MAX;
    if (end != SIZE_MAX)
        rest.len = end + 1;
    return rest;
}

void kernel_tokens_of(struct str name, struct kernel_tokens *tokens)
{
    tokens->count = 0;
    size_t start = 0;
    for (size_t i = 0; i <= name.len && tokens->count < KERNEL_TOKENS_MAX; i++)
        if (i == name.len || name.at[i] == '_') {
            tokens->at[tokens->count++] = (struct str){name.at + start, i - start};
            start = i + 1;
        }
}

bool kernel_has(struct str text, const char *word)
{
    return str_find(text, str_of(word)) != SIZE_MAX;
}

// The first place of each piece between stars is as good as any later one.
bool kernel_matches(struct str text, const char *pattern)
{
    const char *star = strchr(pattern, '*');
    if (!star)
        return str_equal(text, str_of(pattern));
    struct str piece = {pattern, (size_t)(star - pattern)};
    if (!str_starts_with(text, piece))
        return false;
    text = rest_of(text, piece.len);
    for (pattern = star + 1; (star = strchr(pattern, '*')); pattern = star + 1) {
        piece = (struct str){pattern, (size_t)(star - pattern)};
        size_t at = piece.len ? str_find(text, piece) : 0;
        if (at == SIZE_MAX)
            return false;
        text = rest_of(text, at + piece.len);
    }
    return str_ends_with(text, str_of(pattern));
}

// No bracket shows where a type ends in which "<" and ">" compare: the function comes after the
// first "::type " that a name follows.
static struct str after_comparison(struct str name)
{
    struct str end = STR(">::type ");
    for (size_t at; (at = str_find(name, end)) != SIZE_MAX;) {
        name = rest_of(name, at + end.len);
        size_t stop = first_of(name, "<(,>");
        if (stop == name.len || name.at[stop] == '<' || name.at[stop] == '(')
            return name;
    }
    return (struct str){name.at, 0};
}

// "std::enable_if<...>::type f<...>": the function comes after the type of its result.
static struct str without_result(struct str name)
{
    for (;;) {
        size_t open = first_of(name, "<( ");
        if (open == name.len || name.at[open] != '<')
            return name;
        size_t end = closing(name, open);
        struct str after = end == SIZE_MAX ? (struct str){name.at, 0} : rest_of(name, end + 1);
        if (str_starts_with(after, STR("::type ")))
            after = rest_of(after, STR("::type ").len);
        else if (kernel_matches(kernel_head_of(name), "*enable_if"))
            after = after_comparison(name);
        else
            return name;
        if (!after.len)
            return name;
        name = after;
    }
}

static struct str without_digits(struct str text)
{
    text.len = str_digits_start(text, text.len);
    return text;
}

// "::kernel<...>(...)" after arguments; but ")" is the end of parameters whose beginning is
// missing.
static bool names_function(struct str after)
{
    size_t end = first_of(after, "<()");
    return str_starts_with(after, STR("::")) && (end == after.len || after.at[end] != ')');
}

// Finds base, space and arguments; what follows complete arguments as "::kernel" is the base.
static void find_parts(struct kernel_text *text)
{
    size_t start = 0;
    for (;;) {
        struct str rest = rest_of(text->name, start);
        size_t open = first_of(rest, "<(");
        struct str path = {text->name.at, start + open};
        text->base = kernel_last_of((struct str){rest.at, open});
        size_t before = (size_t)(text->base.at - path.at);
        text->space = (struct str){path.at, before >= 2 ? before - 2 : 0};
        text->args.count = 0;
        text->base_cut = text->cut && open == rest.len;
        if (open == rest.len)
            return;
        if (rest.at[open] == '(') {
            text->name.len = start + open;
            return;
        }
        kernel_args_of(rest_of(rest, open), &text->args);
        size_t end = closing(rest, open);
        if (end == SIZE_MAX) {
            text->cut = true;
            text->name = without_digits(text->name);
            return;
        }
        if (!names_function(rest_of(rest, end + 1))) {
            text->name.len = start + end + 1;
            return;
        }
        start += end + 3;
    }
}

// "kentry<1, GroupedGemmKernel<...>>": shortened in the middle.
static bool leaves_out(struct str name)
{
    return kernel_has(name, "...") || kernel_has(name, "\xe2\x80\xa6");
}

void kernel_text_read(struct str name, struct kernel_text *text)
{
    text->cut = trim(&name);
    text->raw = name = text->cut && !kernel_is_mangled(name) ? without_digits(name) : name;
    size_t len;
    if (kernel_is_mangled(name)) {
        bool cut = false;
        char demangled[KERNEL_TEXT_MAX];
        len = kernel_demangle(name, demangled, sizeof demangled, &cut);
        text->cut = text->cut || cut;
        len = respell((struct str){demangled, len}, text->text, &text->cut);
    } else {
        len = respell(name, text->text, &text->cut);
    }
    text->name = without_result((struct str){text->text, len});
    find_parts(text);
    text->cut = text->cut || (!kernel_is_mangled(name) && leaves_out(text->name));
}
