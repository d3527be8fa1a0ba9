// SPDX-License-Identifier: Apache-2.0
#include "ingest/torch/call_frames.h"

static bool is_slash(char c)
{
    return c == '/' || c == '\\';
}

// Whether the path has the folders of the mark in it, whose slashes are "/".
static bool has_mark(struct str path, struct str mark)
{
    for (size_t at = 0; at + mark.len <= path.len; at++) {
        size_t i = 0;
        while (i < mark.len &&
               (path.at[at + i] == mark.at[i] || (mark.at[i] == '/' && is_slash(path.at[at + i]))))
            i++;
        if (i == mark.len)
            return true;
    }
    return false;
}

bool call_frame_is_native(struct str filename)
{
    static const char *const endings[] = {".cpp", ".cc", ".cu", ".c", ".h", ".hpp", ".cuh"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (str_ends_with(filename, str_of(endings[i])))
            return true;
    return filename.len == 0 || str_equal(filename, STR("??"));
}

bool call_frame_is_of_library(struct str filename)
{
    static const char *const marks[] = {"site-packages/", "dist-packages/", "/lib/python", "<",
                                        "/torch/"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (has_mark(filename, str_of(marks[i])))
            return true;
    return call_frame_is_native(filename);
}

bool call_frame_is_in(struct str filename, const char *mark)
{
    return has_mark(filename, str_of(mark));
}

struct str call_frame_file(struct str filename)
{
    size_t from = filename.len;
    while (from > 0 && !is_slash(filename.at[from - 1]))
        from--;
    return from == 0 ? filename : (struct str){filename.at + from, filename.len - from};
}
