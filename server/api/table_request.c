// SPDX-License-Identifier: Apache-2.0
// Which rows and columns a client requests.
#include "server/api/table_reply.h"

#include "ingest/base/hash.h"
#include "server/store/server_tables.h"
#include "server/store/store.h"

#include <stdio.h>

#define DEFAULT_LIMIT 100
#define MAX_LIMIT     10000
#define PARAMETER     "query parameter"

static const char *const own_parameters[] = {"limit", "cursor", "sort", "fields",
                                             "q",     "format", NULL};

// As many column names as fit an error message.
static bool refuse_column(const struct table_desc *desc, const char *what, struct str name,
                          struct err *err)
{
    char list[120] = "";
    size_t len = 0;
    for (unsigned i = 0; i < desc->column_count && len < sizeof(list); i++)
        len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "",
                                desc->columns[i].name);
    return err_set(err, ERR_USAGE, "found %s '%.*s', expected %sa column of %s: %s%s", what,
                   (int)(name.len < 40 ? name.len : 40), name.at,
                   strcmp(what, PARAMETER) == 0 ? "limit, cursor, sort, fields, q, format or " : "",
                   desc->name, list, len < sizeof(list) ? "" : "...");
}

static struct str next_name(struct str *rest)
{
    size_t end = str_find(*rest, STR(","));
    struct str name = {rest->at, end == SIZE_MAX ? rest->len : end};
    size_t used = end == SIZE_MAX ? rest->len : end + 1;
    *rest = (struct str){rest->at + used, rest->len - used};
    return name;
}

static bool parse_sort(struct str text, struct table_request *table, struct err *err)
{
    while (text.len) {
        struct str name = next_name(&text);
        bool descending = name.len && name.at[0] == '-';
        if (descending)
            name = (struct str){name.at + 1, name.len - 1};
        if (!table_query_sorts_by(&table->query, table->desc, name))
            return refuse_column(table->desc, "sort", name, err);
        if (table->query.sort_count == TABLE_QUERY_MAX_SORTS)
            return err_set(err, ERR_USAGE, "found more than %d columns to sort by",
                           TABLE_QUERY_MAX_SORTS);
        table->query.sorts[table->query.sort_count++] = (struct sort_key){name, descending};
    }
    return true;
}

static bool has_column(const struct table_request *table, unsigned column)
{
    for (unsigned i = 0; i < table->column_count; i++)
        if (table->columns[i] == column)
            return true;
    return false;
}

static bool parse_fields(struct str text, struct table_request *table, struct err *err)
{
    if (!text.at) {
        table->column_count = table->desc->column_count;
        for (unsigned i = 0; i < table->column_count; i++)
            table->columns[i] = i;
        return true;
    }
    table->chosen = true;
    while (text.len) {
        struct str name = next_name(&text);
        int column = table_column(table->desc, name);
        if (column < 0)
            return refuse_column(table->desc, "field", name, err);
        if (has_column(table, (unsigned)column)) // names must be unique in a JSON object
            return err_set(err, ERR_USAGE, "found field '%.*s' twice", (int)name.len, name.at);
        table->columns[table->column_count++] = (unsigned)column;
    }
    return table->column_count > 0 || err_set(err, ERR_USAGE, "found an empty list of fields");
}

static bool check_suits(const struct table_request *table, struct err *err)
{
    const struct table_export *export = table->export;
    return !export->suits || export->suits(table->desc) ||
           err_set(err, ERR_USAGE,
                   "found format %s for %s, expected a tree of times: op_tree, modules "
                   "or ranges",
                   export->word, table->desc->name);
}

// The parameter takes precedence: browsers and pandas cannot easily set a header.
static bool parse_format(const struct request *request, struct table_request *table,
                         struct err *err)
{
    struct str word = query_get(&request->query, "format");
    if (word.at)
        return (table->export = export_find(word, err)) != NULL && check_suits(table, err);
    table->export = exports[0];
    for (size_t i = 0; exports[i]; i++) {
        if (exports[i]->accept && request_accepts(request, "Accept", exports[i]->accept)) {
            table->export = exports[i];
            return true;
        }
    }
    return true;
}

static bool parse_limit(const struct query *query, struct table_request *table, struct err *err)
{
    struct str text = query_get(query, "limit");
    bool all = text.at ? str_equal(text, STR("all")) : !table->export->paged;
    table->query.limit = TABLE_QUERY_NO_LIMIT;
    if (all)
        return true;
    int64_t limit = 0;
    struct query_int what = {"limit", DEFAULT_LIMIT, 1, MAX_LIMIT};
    if (!query_get_int(query, what, &limit, NULL))
        return err_set(err, ERR_USAGE, "found limit=%.*s, expected 1 to %d, or all",
                       (int)(text.len < 40 ? text.len : 40), text.at, MAX_LIMIT);
    table->query.limit = (uint64_t)limit;
    return true;
}

// --- cursors: where a page begins, bound to the order and filters that it counts in --------------

static uint64_t hash_order(const struct table_query *query)
{
    uint64_t hash = hash_bytes(query->search.at, query->search.len);
    for (unsigned i = 0; i < query->sort_count; i++)
        hash = hash_u64(hash ^ hash_bytes(query->sorts[i].column.at, query->sorts[i].column.len)) +
               query->sorts[i].descending;
    for (unsigned i = 0; i < query->filter_count; i++) {
        const struct table_filter *filter = &query->filters[i];
        hash = hash_u64(hash ^ hash_bytes(filter->column.at, filter->column.len));
        hash = hash_u64(hash ^ hash_bytes(filter->value.at, filter->value.len));
    }
    return hash;
}

void table_cursor_write(const struct table_query *query, uint64_t offset,
                        char text[TABLE_CURSOR_SIZE])
{
    snprintf(text, TABLE_CURSOR_SIZE, "c%llx-%016llx", (unsigned long long)offset,
             (unsigned long long)hash_order(query));
}

bool table_cursor_read(struct table_query *query, struct str text, struct err *err)
{
    char copy[TABLE_CURSOR_SIZE] = "", again[TABLE_CURSOR_SIZE];
    unsigned long long offset = 0;
    if (text.len < sizeof(copy))
        memcpy(copy, text.at, text.len);
    bool is_read = sscanf(copy, "c%14llx-", &offset) == 1;
    table_cursor_write(query, offset, again); // we write no signs or blanks
    if (!is_read || !str_equal(text, str_of(again)))
        return err_set(err, ERR_USAGE,
                       "found a cursor that does not belong to this sort order and "
                       "these filters; expected next_cursor of the last reply");
    query->offset = offset;
    return true;
}

// --- all together -------------------------------------------------------------------------------

static bool parse_filters(const struct query *query, const char *const *others,
                          struct table_request *table, struct err *err)
{
    for (size_t i = 0; i < query->count; i++) {
        struct str name = query->params[i].name;
        if (str_is_listed(name, own_parameters) || (others && str_is_listed(name, others)))
            continue;
        if (table_column(table->desc, name) < 0)
            return refuse_column(table->desc, PARAMETER, name, err);
        if (table->query.filter_count == TABLE_QUERY_MAX_FILTERS)
            return err_set(err, ERR_USAGE, "found more than %d filters", TABLE_QUERY_MAX_FILTERS);
        table->query.filters[table->query.filter_count++] =
            (struct table_filter){name, query->params[i].value};
    }
    return true;
}

bool table_request_parse(const struct request *request, const struct table_desc *desc,
                         const char *const *others, struct table_request *table, struct err *err)
{
    const struct query *query = &request->query;
    *table = (struct table_request){.desc = desc};
    if (desc == &table_runs) // runs also sort by figures that are not columns of the list
        table->query.also_sorts_by = store_knows_figure;
    struct str cursor = query_get(query, "cursor");
    table->query.search = query_text(query, "q");
    return parse_format(request, table, err) && parse_limit(query, table, err) &&
           parse_sort(query_get(query, "sort"), table, err) &&
           parse_fields(query_get(query, "fields"), table, err) &&
           parse_filters(query, others, table, err) &&
           (!cursor.len || table_cursor_read(&table->query, cursor, err)) &&
           table_query_check(&table->query, desc, err);
}
