// SPDX-License-Identifier: Apache-2.0
// Splits names into lower-case words and compares them with the words of loaders.
#include "analysis/names/loader_names.h"

#define LONGEST   512
#define COUNT(of) (sizeof(of) / sizeof *(of))

// " get next batch ": lower-case words, a space on either side of each.
struct words {
    char text[2 * LONGEST + 2];
    size_t len;
};

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static void space(struct words *words)
{
    if (words->text[words->len - 1] != ' ')
        words->text[words->len++] = ' ';
}

// Anything but a letter separates words, and so does a capital after a small letter.
static struct words words_of(struct str name)
{
    struct words words = {.text = " ", .len = 1};
    for (size_t i = 0; i < name.len && i < LONGEST; i++) {
        char c = name.at[i];
        if (!is_lower(c) && (!is_upper(c) || (i > 0 && is_lower(name.at[i - 1]))))
            space(&words);
        if (is_lower(c) || is_upper(c))
            words.text[words.len++] = (char)(c | 0x20);
    }
    space(&words);
    return words;
}

static struct str all_of(const struct words *words)
{
    return (struct str){words->text, words->len};
}

static bool has_any(const struct words *words, const char *const *phrases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_find(all_of(words), str_of(phrases[i])) != SIZE_MAX)
            return true;
    return false;
}

static bool ends_with_any(const struct words *words, const char *const *phrases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct str phrase = str_of(phrases[i]);
        if (words->len >= phrase.len &&
            memcmp(words->text + words->len - phrase.len, phrase.at, phrase.len) == 0)
            return true;
    }
    return false;
}

static bool is_any(const struct words *words, const char *const *phrases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_equal(all_of(words), str_of(phrases[i])))
            return true;
    return false;
}

// --- ranges and operators ------------------------------------------------------------------------

// "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "[pl][profile]...val_next",
// "next_batch". Names of request schedulers ("get_next_batch_to_run") continue after the words.
static bool is_range(struct str name)
{
    static const char *const anywhere[] = {" dataloader ",   " dataloaders ",   " data loader ",
                                           " data loaders ", " data loading ",  " dataloading ",
                                           " load data ",    " loading data ",  " pin memory ",
                                           " dataload ",     " input pipeline "};
    static const char *const last[] = {
        " next batch ",  " get batch ",       " load batch ",    " fetch batch ",
        " read batch ",  " prefetch batch ",  " wait batch ",    " batch load ",
        " batch fetch ", " wait for batch ",  " fetch data ",    " prefetch data ",
        " wait data ",   " wait for data ",   " data fetch ",    " data load ",
        " data wait ",   " data prefetcher ", " train next ",    " val next ",
        " next data ",   " data iter ",       " data iterator ", " validation next ",
        " test next ",   " predict next "};
    static const char *const whole[] = {" data ", " fetch ", " loader ", " get data "};
    struct words words = words_of(name);
    return has_any(&words, anywhere, COUNT(anywhere)) || ends_with_any(&words, last, COUNT(last)) ||
           is_any(&words, whole, COUNT(whole));
}

// --- frames --------------------------------------------------------------------------------------

// Whether the path has these folders, which end with a slash, in a row.
static bool is_below(struct str path, const char *folders)
{
    struct str part = str_of(folders);
    for (size_t i = 0; i + part.len <= path.len; i++) {
        bool starts = i == 0 || path.at[i - 1] == '/' || path.at[i - 1] == '\\';
        bool same = starts;
        for (size_t c = 0; same && c < part.len; c++)
            same = path.at[i + c] == part.at[c] || (part.at[c] == '/' && path.at[i + c] == '\\');
        if (same)
            return true;
    }
    return false;
}

static bool is_below_any(struct str path, const char *const *folders, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_below(path, folders[i]))
            return true;
    return false;
}

// What follows the last slash: a user's own folders say nothing about a frame.
static struct str base_name(struct str path)
{
    size_t at = path.len;
    while (at > 0 && path.at[at - 1] != '/' && path.at[at - 1] != '\\')
        at--;
    return (struct str){path.at + at, path.len - at};
}

// A function that returns samples or batches, not one that merely is in such a file.
static bool hands_out(const struct words *function)
{
    static const char *const verbs[] = {" next ",    " iter ",     " getitem ", " getitems ",
                                        " get ",     " fetch ",    " load ",    " read ",
                                        " collate ", " prefetch ", " poll ",    " wait "};
    return has_any(function, verbs, COUNT(verbs));
}

static bool is_of_library(struct str path, const struct words *function)
{
    static const char *const libraries[] = {"torchdata/",
                                            "nvidia/dali/",
                                            "webdataset/",
                                            "streaming/base/",
                                            "tensorflow/python/data/",
                                            "tensorflow_datasets/",
                                            "ffcv/",
                                            "litdata/",
                                            "petastorm/",
                                            "ray/data/",
                                            "timm/data/",
                                            "fairseq/data/",
                                            "grain/"};
    static const char *const samples[] = {" getitem ", " getitems ", " iter ", " next "};
    static const char *const files[] = {
        " dataloader ",      " dataloaders ", " data loader ",     " data loaders ",
        " data loading ",    " dataloading ", " fetchers ",        " stateful dataloader ",
        " combined loader ", " prefetcher ",  " data prefetcher ", " prefetch loader "};
    struct words file = words_of(base_name(path));
    return (is_below(path, "datasets/") && has_any(function, samples, COUNT(samples))) ||
           (hands_out(function) && (is_below_any(path, libraries, COUNT(libraries)) ||
                                    is_any(&file, files, COUNT(files))));
}

static bool is_loading_function(const struct words *function)
{
    static const char *const functions[] = {
        " next batch ",           " get next batch ", " get batch ",        " load batch ",
        " load next batch ",      " fetch batch ",    " fetch next batch ", " prefetch batch ",
        " read batch ",           " load data ",      " fetch data ",       " next data ",
        " data loading ",         " pin memory ",     " collate ",          " collate fn ",
        " train dataloader next "};
    return is_any(function, functions, COUNT(functions));
}

static bool is_frame(struct str path, struct str function)
{
    struct words words = words_of(function);
    return is_below(path, "torch/utils/data/") || is_of_library(path, &words) ||
           is_loading_function(&words);
}

bool loader_names_have(struct str name)
{
    size_t file = str_find(name, STR(".py("));
    if (file == SIZE_MAX) {
        struct words words = words_of(name);
        static const char *const pinning[] = {" pin memory "};
        bool op = str_find(name, STR("::")) != SIZE_MAX;
        bool frame = name.len && name.at[0] == '<';
        bool module = str_starts_with(name, STR("nn.Module: "));
        return op ? has_any(&words, pinning, 1) : !frame && !module && is_range(name);
    }
    struct str after = {name.at + file, name.len - file};
    size_t function = str_find(after, STR("): "));
    if (function == SIZE_MAX)
        return false;
    return is_frame((struct str){name.at, file},
                    (struct str){after.at + function + 3, after.len - function - 3});
}
