// SPDX-License-Identifier: Apache-2.0
// Feeds every file in a folder to a fuzz target, so that bugs once found by fuzzing stay fixed.
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Copies into a block of exactly the file's size, so that AddressSanitizer sees reads past the end.
static bool replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return false;
    }
    uint8_t *data = NULL;
    size_t size = 0;
    if (fseek(file, 0, SEEK_END) == 0) {
        size = (size_t)ftell(file);
        rewind(file);
        data = malloc(size ? size : 1);
    }
    bool whole = data && fread(data, 1, size, file) == size;
    if (whole)
        (void)LLVMFuzzerTestOneInput(data, size);
    else
        fprintf(stderr, "%s: cannot be read whole\n", path);
    free(data);
    fclose(file);
    return whole;
}

static int not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s CORPUS_FOLDER\n", argv[0]);
        return 2;
    }
    struct dirent **entries = NULL;
    int count = scandir(argv[1], &entries, not_hidden, alphasort);
    bool ok = count > 0;
    if (!ok)
        fprintf(stderr, "%s: expected a folder with at least one input\n", argv[1]);
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s", argv[1], entries[i]->d_name);
        ok = replay(path) && ok;
        free(entries[i]);
    }
    free(entries);
    printf("%d inputs from %s\n", count < 0 ? 0 : count, argv[1]);
    return ok ? 0 : 1;
}
