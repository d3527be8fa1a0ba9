// SPDX-License-Identifier: Apache-2.0
// stepscope inspect: says what files are and what they contain, without analyzing anything.
#include "server/cli/cmd.h"

#include "server/cli/inspected_folder.h"
#include "server/cli/kernel_list.h"
#include "server/cli/options.h"
#include "server/cli/shown.h"

#include <stddef.h>
#include <stdio.h>

enum { WIDTH = 240, VERDICT_WIDTH = 2000 }; // of texts

struct inspect_options {
    const char *format;
    uint64_t job_memory_bytes;
    bool kernel_names;
};

#define AT(member) offsetof(struct inspect_options, member)
static const struct option table[] = {
    {"--format", NULL, "text", "FORMAT", "output format: text or json", "text|json", OPTION_CHOICE,
     AT(format)},
    {"--job-memory", "STEPSCOPE_JOB_MEMORY", "4G", "BYTES", "memory limit of reading one file",
     NULL, OPTION_BYTES, AT(job_memory_bytes)},
    {"--kernel-names", NULL, NULL, NULL,
     "read kernel names, one per line, from the files or standard input, and print what each "
     "says as a JSON object a line",
     NULL, OPTION_FLAG, AT(kernel_names)},
};
static const struct option_set options = {
    "inspect",
    "Shows what each file is and what is in it; for an archive or a folder, what each member is. "
    "From a folder of Flight Recorder dumps it says which rank made the job hang. Exit status 0 "
    "when all files could be read, otherwise that of the first failure: "
    "1 for an internal error, 2 for a wrong command line, " CMD_SHARED_EXIT_CODES,
    "[FILE|FOLDER...]", table, sizeof table / sizeof *table};

// --- text ---------------------------------------------------------------------------------------

// Only those at the top level; JSON has all.
static void say_figures(const struct inspected *seen)
{
    const char *before = ": ";
    for (size_t i = 0; i < seen->figures.count; i++) {
        const struct figure *figure = &seen->figures.at[i];
        if (strstr(figure->path, IN))
            continue;
        printf("%s%s ", before, figure->path);
        if (figure->kind == FIGURE_TEXT)
            shown_put(stdout, str_of(figure->text), WIDTH);
        else if (figure->kind == FIGURE_REAL)
            printf("%g", figure->real);
        else
            printf("%lld", (long long)figure->count);
        before = ", ";
    }
}

// Why it is not read; NULL: it is.
static const char *reason(const struct inspected *seen)
{
    if (seen->problem.code != ERR_NONE)
        return seen->problem.msg;
    return seen->format && !format_is_read(seen->format) ? seen->format->advice : NULL;
}

static void say(const struct inspected *seen, const char *indent)
{
    const char *why = reason(seen);
    fputs(indent, stdout);
    shown_put(stdout, str_of(seen->name), WIDTH);
    printf(": %s", seen->format ? seen->format->what : why ? "not read" : "not recognized");
    for (unsigned i = 0; i < seen->layer_count; i++)
        printf("%s%s", i ? " around " : ", within ", seen->layers[i]->name);
    say_figures(seen);
    if (why) {
        fputs("; ", stdout);
        shown_put(stdout, str_of(why), WIDTH);
    }
    putchar('\n');
}

static void print_text(const struct inspected *file)
{
    say(file, "");
    if (file->verdict) {
        fputs("  ", stdout);
        shown_put(stdout, str_of(file->verdict), VERDICT_WIDTH);
        putchar('\n');
    }
    for (const struct inspected *member = file->members; member; member = member->next)
        say(member, "  ");
}

// --- JSON ---------------------------------------------------------------------------------------

static void put_text(struct buf *out, const char *key, const char *text)
{
    buf_printf(out, ",\"%s\":", key);
    buf_json_or_null(out, text);
}

static void put_open(struct buf *out, const struct inspected *seen)
{
    buf_puts(out, "{\"file\":");
    buf_json(out, str_of(seen->name));
    put_text(out, "format", seen->format ? seen->format->name : NULL);
    put_text(out, "kind", seen->format ? format_kind_word(seen->format->kind) : NULL);
    put_text(out, "what", seen->format ? seen->format->what : NULL);
    buf_puts(out, ",\"compression\":[");
    for (unsigned i = 0; i < seen->layer_count; i++) {
        buf_puts(out, i ? "," : "");
        buf_json(out, str_of(seen->layers[i]->name));
    }
    buf_putc(out, ']');
    buf_puts(out, ",\"figures\":");
    figures_json(&seen->figures, out);
    put_text(out, "problem", reason(seen));
}

static void put_file(struct buf *out, const struct inspected *file)
{
    put_open(out, file);
    if (file->verdict) {
        put_text(out, "verdict", file->verdict);
        buf_printf(out, ",\"tables\":%s", file->tables);
    }
    buf_puts(out, ",\"members\":[");
    for (const struct inspected *member = file->members; member; member = member->next) {
        buf_puts(out, member == file->members ? "\n" : ",\n");
        put_open(out, member);
        buf_putc(out, '}');
    }
    buf_puts(out, "]}");
}

static bool print_json(const struct inspected *file, bool first, struct err *err)
{
    struct buf out = {0};
    buf_puts(&out, first ? "{\"files\":[\n" : ",\n");
    put_file(&out, file);
    bool ok = buf_ok(&out, err) && (fwrite(out.at, 1, out.len, stdout) == out.len ||
                                    err_set_errno(err, "writing the result"));
    buf_free(&out);
    return ok;
}

// --- files --------------------------------------------------------------------------------------

static bool print(const struct inspected *file, bool as_json, bool first, struct err *err)
{
    if (as_json)
        return print_json(file, first, err);
    print_text(file);
    return true;
}

// Prints one file and its errors; *worst becomes the code of the first failure.
static bool inspect(const char *path, const struct inspect_options *chosen, bool first,
                    enum err_code *worst, struct err *err)
{
    struct arena arena;
    struct inspected file;
    arena_init(&arena, NULL);
    bool ok = inspected_path(path, chosen->job_memory_bytes, &arena, &file, err) &&
              print(&file, strcmp(chosen->format, "json") == 0, first, err);
    if (ok && *worst == ERR_NONE)
        *worst = inspected_failure(&file);
    arena_free(&arena);
    return ok;
}

static bool inspect_all(const struct option_args *args, const struct inspect_options *chosen,
                        struct err *err)
{
    enum err_code worst = ERR_NONE;
    for (int i = 0; i < args->operand_count; i++)
        if (!inspect(args->operands[i], chosen, i == 0, &worst, err))
            return false;
    if (strcmp(chosen->format, "json") == 0)
        puts("]}");
    if (fflush(stdout) != 0 || ferror(stdout))
        return err_set_errno(err, "writing the result");
    err->code = worst; // already printed: the message is empty
    return worst == ERR_NONE;
}

bool cmd_inspect(int argc, char **argv, struct err *err)
{
    struct inspect_options chosen = {0};
    struct option_args args;
    if (!options_parse(&options, argc, argv, &chosen, &args, err))
        return false;
    if (args.help) {
        options_help(&options, stdout);
        return true;
    }
    if (chosen.kernel_names)
        return kernel_list_print(args.operands, args.operand_count, err);
    if (args.operand_count == 0)
        return err_set(err, ERR_USAGE, "expected files, found none; see --help");
    return inspect_all(&args, &chosen, err);
}
