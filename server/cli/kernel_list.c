// SPDX-License-Identifier: Apache-2.0
// Reads names line by line and prints what they say.
#include "server/cli/kernel_list.h"

#include "analysis/kernel_names/kernel_json.h"

#include <stdio.h>
#include <stdlib.h>

static bool print_name(struct str name, struct buf *out, struct err *err)
{
    struct kernel_decoded decoded;
    kernel_decode(name, &decoded);
    buf_clear(out);
    kernel_json(name, &decoded, out);
    buf_putc(out, '\n');
    return buf_ok(out, err) && (fwrite(out->at, 1, out->len, stdout) == out->len ||
                                err_set_errno(err, "writing the result"));
}

static bool print_lines(FILE *in, const char *path, struct err *err)
{
    char *line = NULL;
    size_t room = 0;
    struct buf out = {0};
    bool ok = true;
    ssize_t len;
    while (ok && (len = getline(&line, &room, in)) >= 0) {
        while (len && (line[len - 1] == '\n' || line[len - 1] == '\r'))
            len--;
        ok = print_name((struct str){line, (size_t)len}, &out, err);
    }
    if (ok && ferror(in))
        ok = err_set_errno(err, "reading %s", path);
    buf_free(&out);
    free(line);
    return ok;
}

static bool print_file(const char *path, struct err *err)
{
    if (strcmp(path, "-") == 0)
        return print_lines(stdin, "standard input", err);
    FILE *in = fopen(path, "re");
    if (!in)
        return err_set_errno(err, "opening %s", path);
    bool ok = print_lines(in, path, err);
    fclose(in);
    return ok;
}

bool kernel_list_print(char *const *paths, int count, struct err *err)
{
    if (count == 0 && !print_file("-", err))
        return false;
    for (int i = 0; i < count; i++)
        if (!print_file(paths[i], err))
            return false;
    return fflush(stdout) == 0 || err_set_errno(err, "writing the result");
}
