// SPDX-License-Identifier: Apache-2.0
// Pickles as Python writes them and as nobody should: what is read of them, and that anything but
// data is refused. Bytes marked "of Python" come from
//   python3 -c 'import pickle; print(pickle.dumps(VALUE, PROTOCOL))'
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ingest/base/buf.h"
#include "ingest/pickle/pickle.h"
#include "ingest/source/source.h"

#define PROTOCOL_2 "\x80\x02"

// --- reading ------------------------------------------------------------------------------------

static void put_value(const struct pickle *pickle, pickle_value value, struct buf *out, int depth);

static void put_items(const struct pickle *pickle, pickle_value value, struct buf *out, int depth)
{
    struct pickle_walk walk = pickle_walk(pickle, value);
    pickle_value key, item;
    bool first = true;
    while (depth > 0 && pickle_walk_next(&walk, &key, &item)) {
        buf_puts(out, first ? "" : ",");
        first = false;
        if (key != PICKLE_ABSENT) {
            put_value(pickle, key, out, depth - 1);
            buf_puts(out, ":");
        }
        put_value(pickle, item, out, depth - 1);
    }
    buf_puts(out, depth > 0 ? "" : "...");
}

static void put_scalar(const struct pickle *pickle, pickle_value value, struct buf *out)
{
    int64_t number = 0;
    uint64_t bits = 0;
    double real = 0;
    struct str text = pickle_text(pickle, value);
    switch (pickle_kind_of(value)) {
    case PICKLE_NONE: buf_puts(out, "None"); return;
    case PICKLE_HUGE:
        assert_false(pickle_int(pickle, value, &number));
        assert_true(pickle_bits(pickle, value, &bits));
        buf_printf(out, "huge %llx", (unsigned long long)bits);
        return;
    case PICKLE_BOOL:
        assert_true(pickle_int(pickle, value, &number));
        buf_puts(out, number ? "True" : "False");
        return;
    case PICKLE_INT:
        assert_true(pickle_int(pickle, value, &number));
        assert_true(pickle_bits(pickle, value, &bits) && bits == (uint64_t)number);
        buf_i64(out, number);
        return;
    case PICKLE_FLOAT:
        assert_true(pickle_real(pickle, value, &real));
        buf_f64(out, real);
        return;
    case PICKLE_TEXT: buf_printf(out, "'%.*s'", (int)text.len, text.at); return;
    case PICKLE_BYTES: buf_printf(out, "b'%.*s'", (int)text.len, text.at); return;
    default: fail_msg("kind %d", (int)pickle_kind_of(value));
    }
}

// As Python prints it, up to a depth.
static void put_value(const struct pickle *pickle, pickle_value value, struct buf *out, int depth)
{
    const char *brackets;
    switch (pickle_kind_of(value)) {
    case PICKLE_LIST: brackets = "[]"; break;
    case PICKLE_TUPLE: brackets = "()"; break;
    case PICKLE_SET: brackets = "<>"; break;
    case PICKLE_DICT: brackets = "{}"; break;
    default: put_scalar(pickle, value, out); return;
    }
    buf_putc(out, brackets[0]);
    put_items(pickle, value, out, depth);
    buf_putc(out, brackets[1]);
}

static struct pickle *load(struct str bytes, const char *const *keep, struct budget *budget,
                           struct err *err)
{
    *err = (struct err){0};
    struct source *source = source_mem_open(bytes.at, bytes.len, 3, err);
    assert_non_null(source);
    struct pickle_input input = {source, budget, keep, NULL, NULL};
    struct pickle *pickle = pickle_load(&input, err);
    source_close(source);
    return pickle;
}

static void assert_kept(struct str bytes, const char *const *keep, const char *expected)
{
    struct budget budget = {0};
    struct buf out = {0};
    struct err err;
    struct pickle *pickle = load(bytes, keep, &budget, &err);
    if (!pickle)
        fail_msg("%s", err.msg);
    put_value(pickle, pickle_root(pickle), &out, 6);
    assert_string_equal(out.at, expected);
    assert_int_equal(pickle_size(pickle), bytes.len);
    buf_free(&out);
    pickle_free(pickle);
    assert_int_equal(budget.used, 0);
}

static void assert_read(struct str bytes, const char *expected)
{
    assert_kept(bytes, NULL, expected);
}

static void assert_refused(struct str bytes, enum err_code code, uint64_t pos, const char *message)
{
    struct budget budget = {.limit = 4 << 20};
    struct err err;
    struct pickle *pickle = load(bytes, NULL, &budget, &err);
    assert_null(pickle);
    assert_int_equal(err.code, code);
    assert_int_equal(err.pos, pos);
    if (!strstr(err.msg, message))
        fail_msg("found: %s\nexpected: %s", err.msg, message);
    assert_int_equal(budget.used, 0);
}

// --- what is read -------------------------------------------------------------------------------

static void numbers_of_every_size_are_read(void **state)
{
    (void)state;
    // of Python: [None, True, False, 0, 255, 256, 65535, -1, 2**31-1, -2**31, 2**40, -2**40,
    // 2**63-1, -2**63, 2**63, 0.5], protocol 2
    assert_read(
        STR("\x80\x02]q\x00(N\x88\x89K\x00K\xffM\x00\x01M\xff\xffJ\xff\xff\xff\xffJ\xff\xff"
            "\xff\x7fJ\x00\x00\x00\x80\x8a\x06\x00\x00\x00\x00\x00\x01\x8a\x06\x00\x00\x00"
            "\x00\x00\xff\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x8a\x08\x00\x00\x00\x00"
            "\x00\x00\x00\x80\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00G?\xe0\x00\x00\x00"
            "\x00\x00\x00\x65."),
        "[None,True,False,0,255,256,65535,-1,2147483647,-2147483648,1099511627776,"
        "-1099511627776,9223372036854775807,-9223372036854775808,huge 8000000000000000,0.5]");
    assert_read(STR(PROTOCOL_2 "\x8a\x0a\x01\x00\x00\x00\x00\x00\x40\xb6\xd5\xff."),
                "huge b640000000000001");
    assert_read(STR(PROTOCOL_2 "\x8a\x00."), "0");
    assert_read(STR(PROTOCOL_2 "\x8b\x01\x00\x00\x00\xfe."), "-2");
}

static void containers_of_every_kind_are_read(void **state)
{
    (void)state;
    // of Python: {'a': [1], 'b': (1,), 'c': (1, 2, 3, 4), 'd': {}, 'e': (), 3: b'xy'}, protocol 4
    assert_read(STR("\x80\x04\x95\x37\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01\x61\x94]\x94K\x01"
                    "\x61\x8c\x01\x62\x94K\x01\x85\x94\x8c\x01\x63\x94(K\x01K\x02K\x03K\x04t\x94"
                    "\x8c\x01\x64\x94}\x94\x8c\x01\x65\x94)K\x03\x43\x02xy\x94u."),
                "{'a':[1],'b':(1),'c':(1,2,3,4),'d':{},'e':(),3:b'xy'}");
    // of Python: [{7}, frozenset((8,))], protocol 4
    assert_read(STR("\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00]\x94(\x8f\x94(K\x07\x90(K\x08\x91"
                    "\x94\x65."),
                "[<7>,<8>]");
    // of Python: ['\xe9', b'ab'], protocol 5
    assert_read(STR("\x80\x05\x95\x0f\x00\x00\x00\x00\x00\x00\x00]\x94(\x8c\x02\xc3\xa9\x94\x43\x02"
                    "\x61\x62\x94\x65."),
                "['\xc3\xa9',b'ab']");
    assert_read(STR(PROTOCOL_2 "(K\x01K\x02l."), "[1,2]");
    assert_read(STR(PROTOCOL_2 "(U\x01xK\x02\x64."), "{'x':2}");
}

static void additions_keep_their_order(void **state)
{
    (void)state;
    assert_read(STR(PROTOCOL_2 "]K\x01\x61K\x02\x61(K\x03K\x04\x65(\x65K\x05\x61."), "[1,2,3,4,5]");
    assert_read(STR(PROTOCOL_2 "}(U\x01xK\x01U\x01yK\x02uU\x01xK\x03s."), "{'x':1,'y':2,'x':3}");
}

static void the_last_of_equal_keys_counts(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct err err;
    struct pickle *pickle =
        load(STR(PROTOCOL_2 "}(U\x01xK\x01U\x01yK\x02uU\x01xK\x03s."), NULL, &budget, &err);
    assert_non_null(pickle);
    pickle_value key = pickle_find_text(pickle, STR("x"));
    int64_t number = 0;
    assert_true(pickle_int(pickle, pickle_member(pickle, pickle_root(pickle), key), &number));
    assert_int_equal(number, 3);
    assert_int_equal(pickle_find_text(pickle, STR("z")), PICKLE_ABSENT);
    assert_int_equal(pickle_member(pickle, pickle_root(pickle), PICKLE_ABSENT), PICKLE_ABSENT);
    assert_int_equal(pickle_member(pickle, key, key), PICKLE_ABSENT);
    pickle_free(pickle);
}

static void only_members_to_keep_are_kept(void **state)
{
    (void)state;
    const char *const keep[] = {"y", "z", NULL};
    assert_kept(STR(PROTOCOL_2 "}(U\x01xK\x01U\x01yK\x02K\x07K\x08u."), keep, "{'y':2,7:8}");
    assert_kept(STR(PROTOCOL_2 "}(U\x01xK\x01u."), keep, "{}");
}

static void values_of_the_memo_exist_once(void **state)
{
    (void)state;
    // A list is put into a tuple twice, then gets an item.
    assert_read(STR(PROTOCOL_2 "]q\x00h\x00\x86q\x01h\x00K\x05\x61\x30."), "([5],[5])");
    assert_read(STR("\x80\x04]\x94\x8c\x01x\x94h\x00\x87."), "([],'x',[])");
}

static void a_list_may_contain_itself(void **state)
{
    (void)state;
    assert_read(STR(PROTOCOL_2 "]q\x00h\x00\x61."), "[[[[[[[...]]]]]]]");
    assert_read(STR(PROTOCOL_2 "}q\x00U\x01xh\x00s."), "{'x':{'x':{'x':{'x':{'x':{'x':{...}}}}}}}");
}

// Sixty levels, each with the one below twice, stand for 2^60 values.
static void a_graph_is_never_expanded(void **state)
{
    (void)state;
    struct buf bytes = {0};
    struct budget budget = {.limit = 1 << 20};
    struct err err;
    buf_add_str(&bytes, STR(PROTOCOL_2 "]q\x00"));
    for (int i = 0; i < 60; i++) {
        char level[] = "h?h?\x86q?";
        level[1] = level[3] = (char)i;
        level[6] = (char)(i + 1);
        buf_add(&bytes, "0", 1);
        buf_add(&bytes, level, sizeof level - 1);
    }
    buf_add(&bytes, ".", 1);
    struct pickle *pickle = load((struct str){bytes.at, bytes.len}, NULL, &budget, &err);
    assert_non_null(pickle);
    assert_int_equal(pickle_kind_of(pickle_root(pickle)), PICKLE_TUPLE);
    pickle_free(pickle);
    buf_free(&bytes);
}

static void equal_containers_share_their_memory(void **state)
{
    (void)state;
    enum { LISTS = 20000, ITEMS = 30, BYTES_EACH = 40 };
    struct buf bytes = {0};
    struct budget budget = {0};
    struct err err;
    buf_add_str(&bytes, STR(PROTOCOL_2 "]("));
    for (int i = 0; i < LISTS; i++) {
        buf_puts(&bytes, "](");
        for (int j = 0; j < ITEMS; j++)
            buf_add_str(&bytes, STR("K\x01"));
        buf_puts(&bytes, "e");
    }
    buf_puts(&bytes, "e.");
    struct pickle *pickle = load((struct str){bytes.at, bytes.len}, NULL, &budget, &err);
    assert_non_null(pickle);
    assert_in_range(budget.peak, 1, LISTS * BYTES_EACH);
    pickle_free(pickle);
    buf_free(&bytes);
}

// None, numbered as often as fills many pages of the memo, then another value in one of them.
static void a_value_may_change_among_equal_pages_of_the_memo(void **state)
{
    struct buf bytes = {0};
    (void)state;
    buf_puts(&bytes, "\x80\x04");
    for (int i = 0; i < 4096 * 6; i++)
        buf_puts(&bytes, "N\x94\x30");
    buf_add_str(&bytes, STR("K\x07r\x05\x10\x00\x00\x30(j\x00\x00\x00\x00j\x05\x10\x00\x00"));
    buf_add_str(&bytes, STR("j\x05\x20\x00\x00j\x05\x30\x00\x00t."));
    assert_read((struct str){bytes.at, bytes.len}, "(None,7,None,None)");
    buf_free(&bytes);
}

static bool take_index(void *context, const struct pickle_record *record, bool *taken,
                       struct err *err)
{
    int64_t *index = context;
    (void)err;
    if (*index == -2) // the first record; the dict around it comes later
        *index = pickle_record_index(record, 0);
    *taken = false;
    return true;
}

// The index of the list that holds a record, with this many lists before it.
static int64_t index_after(size_t lists)
{
    static const char *const keep[] = {"traces", NULL};
    struct budget budget = {0};
    struct buf bytes = {0};
    struct err err = {0};
    int64_t index = -2;
    buf_add_str(&bytes, STR(PROTOCOL_2 "}(U\x06traces]("));
    for (size_t i = 0; i < lists; i++)
        buf_puts(&bytes, "]");
    buf_add_str(&bytes, STR("](}(U\x01xNueeu."));
    struct source *source = source_mem_open(bytes.at, bytes.len, 64, &err);
    assert_non_null(source);
    struct pickle_input input = {source, &budget, keep, take_index, &index};
    struct pickle *pickle = pickle_load(&input, &err);
    assert_non_null(pickle);
    pickle_free(pickle);
    source_close(source);
    buf_free(&bytes);
    return index;
}

static bool take_place(void *context, const struct pickle_record *record, bool *taken,
                       struct err *err)
{
    unsigned place;
    int *first = context;
    pickle_value key = pickle_record_key(record);
    (void)err;
    if (*first == -2)
        *first = pickle_is_kept(pickle_record_of(record), key, &place) ? (int)place : -1;
    *taken = false;
    return true;
}

static void assert_first_record_in(int expected, struct str bytes)
{
    static const char *const keep[] = {"a", "b", NULL};
    struct budget budget = {0};
    struct err err = {0};
    int place = -2;
    struct source *source = source_mem_open(bytes.at, bytes.len, 64, &err);
    assert_non_null(source);
    struct pickle_input input = {source, &budget, keep, take_place, &place};
    struct pickle *pickle = pickle_load(&input, &err);
    assert_non_null(pickle);
    assert_int_equal(place, expected);
    pickle_free(pickle);
    source_close(source);
}

// Items come all at once, from a mark, or one at a time; the first record is {"x": None}.
static void a_record_knows_the_member_of_the_root_that_it_is_in(void **state)
{
    (void)state;
    assert_first_record_in(1, STR(PROTOCOL_2 "}(U\x01"
                                             "a]U\x01"
                                             "b](}(U\x01xNueu."));
    assert_first_record_in(1, STR(PROTOCOL_2 "}(U\x01"
                                             "a]U\x01"
                                             "b](]}(U\x01xNuaeu."));
    assert_first_record_in(1, STR(PROTOCOL_2 "}U\x01"
                                             "b]}(U\x01xNuas."));
    assert_first_record_in(0, STR(PROTOCOL_2 "}(U\x01"
                                             "a](N}(U\x01"
                                             "b](}(U\x01xNueueu."));
    assert_first_record_in(-1, STR(PROTOCOL_2 "}(U\x01"
                                              "c](}(U\x01xNueu."));
    assert_first_record_in(-1, STR(PROTOCOL_2 "](N}(U\x01xNue."));
    assert_first_record_in(-1, STR(PROTOCOL_2 "}(U\x01xNu."));
}

// So that a record takes a bounded time, however much is on the stack.
static void the_list_of_a_record_is_found_near_it_only(void **state)
{
    (void)state;
    assert_int_equal(index_after(0), 0);
    assert_int_equal(index_after(7), 7);
    assert_int_equal(index_after(1000), 1000);
    assert_int_equal(index_after(5000), -1);
}

// --- what is refused ----------------------------------------------------------------------------

static void nothing_is_ever_called(void **state)
{
    (void)state;
    // of Python, for a class whose __reduce__ returns (os.system, ('true',)): protocols 2 and 4
    assert_refused(STR("\x80\x02"
                       "cposix\nsystem\nq\x00X\x04\x00\x00\x00trueq\x01\x85q\x02Rq\x03."),
                   ERR_FORMAT, 2, "opcode 0x63, which names a class or function");
    assert_refused(STR("\x80\x04\x8c\x05posix\x94\x8c\x06system\x94\x93\x94\x8c\x04true\x94\x85\x94"
                       "R\x94."),
                   ERR_FORMAT, 19, "opcode 0x93, which names a class or function");
    assert_refused(STR(PROTOCOL_2 "N)R."), ERR_FORMAT, 4, "opcode 0x52, which calls a function");
    const char calls[] = "Rbio\x81\x92", names[] = "c\x93\x82\x83\x84", outside[] = "PQ\x97\x98",
               text[] = "FILSVgp";
    const struct {
        const char *codes, *message;
    } refused[] = {{calls, "calls a function"},
                   {names, "names a class or function"},
                   {outside, "asks for an object outside the file"},
                   {text, "is of protocol 0 or 1"}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        for (const char *code = refused[i].codes; *code; code++) {
            char bytes[] = PROTOCOL_2 "N)?.";
            bytes[4] = *code;
            assert_refused((struct str){bytes, 6}, ERR_FORMAT, 4, refused[i].message);
        }
}

static void a_cut_pickle_is_refused_wherever_it_is_cut(void **state)
{
    (void)state;
    const struct str whole = STR("\x80\x04\x95\x37\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01\x61"
                                 "\x94]\x94K\x01\x61\x8c\x01\x62\x94\x8a\x02\x01\x01u.");
    assert_read(whole, "{'a':[1],'b':257}");
    for (size_t len = 0; len < whole.len; len++)
        assert_refused((struct str){whole.at, len}, ERR_FORMAT, len, "the pickle ends early");
}

static void huge_lengths_take_no_memory(void **state)
{
    (void)state;
    assert_refused(STR(PROTOCOL_2 "X\xff\xff\xff\xffxyz"), ERR_LIMIT, 7,
                   "found a text of 4294967295 bytes");
    assert_refused(STR(PROTOCOL_2 "\x8d\xff\xff\xff\xff\xff\xff\xff\xff"), ERR_LIMIT, 11,
                   "found a text of");
    assert_refused(STR(PROTOCOL_2 "X\xff\xff\xff\x00xyz"), ERR_FORMAT, 10, "ends early");
    assert_refused(STR(PROTOCOL_2 "\x8b\xff\xff\xff\x7fxyz"), ERR_FORMAT, 10, "ends early");
    assert_refused(STR(PROTOCOL_2 "Nr\xff\xff\xff\xff."), ERR_FORMAT, 3, "out of order");
}

static void the_budget_is_kept(void **state)
{
    (void)state;
    struct buf bytes = {0};
    buf_add_str(&bytes, STR(PROTOCOL_2));
    for (int i = 0; i < 4 << 20; i++)
        buf_putc(&bytes, i % 2 ? ']' : '}');
    assert_refused((struct str){bytes.at, bytes.len}, ERR_LIMIT, ERR_NO_POS, "");
    buf_free(&bytes);
}

static void deep_nesting_is_refused(void **state)
{
    (void)state;
    struct buf bytes = {0};
    buf_add_str(&bytes, STR(PROTOCOL_2));
    for (int i = 0; i <= PICKLE_MAX_MARKS; i++)
        buf_puts(&bytes, "](");
    assert_refused((struct str){bytes.at, bytes.len}, ERR_LIMIT, bytes.len - 1, "nested deeper");
    buf_free(&bytes);
}

static void damaged_pickles_are_refused(void **state)
{
    (void)state;
    assert_refused(STR("\x80\x06N."), ERR_FORMAT, 0, "no pickle of protocols 2 to 5");
    assert_refused(STR("]."), ERR_FORMAT, 0, "no pickle of protocols 2 to 5");
    assert_refused(STR(PROTOCOL_2 "."), ERR_FORMAT, 2, "does not end with one value");
    assert_refused(STR(PROTOCOL_2 "NN."), ERR_FORMAT, 4, "does not end with one value");
    assert_refused(STR(PROTOCOL_2 "(N."), ERR_FORMAT, 4, "does not end with one value");
    assert_refused(STR(PROTOCOL_2 "\xff"), ERR_FORMAT, 2, "an unknown opcode");
    assert_refused(STR(PROTOCOL_2 "h\x00."), ERR_FORMAT, 2, "a value that was not kept");
    assert_refused(STR(PROTOCOL_2 "Nq\x01h\x00."), ERR_FORMAT, 5, "a value that was not kept");
    assert_refused(STR(PROTOCOL_2 "q\x00."), ERR_FORMAT, 2, "a value is missing");
    assert_refused(STR(PROTOCOL_2 "e"), ERR_FORMAT, 2, "a mark is missing");
    assert_refused(STR(PROTOCOL_2 "0"), ERR_FORMAT, 2, "a value is missing");
    assert_refused(STR(PROTOCOL_2 "]N(\x61"), ERR_FORMAT, 5, "a value is missing");
    assert_refused(STR(PROTOCOL_2 "N(N\x86"), ERR_FORMAT, 5, "a value is missing");
    assert_refused(STR(PROTOCOL_2 "NN\x61"), ERR_FORMAT, 4, "added to what holds none");
    assert_refused(STR(PROTOCOL_2 "](N\x75"), ERR_FORMAT, 5, "added to what holds none");
    assert_refused(STR(PROTOCOL_2 ")N\x61"), ERR_FORMAT, 4, "added to what holds none");
    assert_refused(STR(PROTOCOL_2 "}(Nu"), ERR_FORMAT, 5, "a key has no value");
}

static void values_that_are_no_numbers_say_so(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct err err;
    int64_t number;
    double real;
    struct pickle *pickle = load(STR(PROTOCOL_2 "U\x01x."), NULL, &budget, &err);
    assert_non_null(pickle);
    assert_false(pickle_int(pickle, pickle_root(pickle), &number));
    assert_false(pickle_real(pickle, pickle_root(pickle), &real));
    assert_int_equal(pickle_text(pickle, PICKLE_ABSENT).len, 0);
    pickle_free(pickle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_every_size_are_read),
        cmocka_unit_test(containers_of_every_kind_are_read),
        cmocka_unit_test(additions_keep_their_order),
        cmocka_unit_test(the_last_of_equal_keys_counts),
        cmocka_unit_test(only_members_to_keep_are_kept),
        cmocka_unit_test(values_of_the_memo_exist_once),
        cmocka_unit_test(a_list_may_contain_itself),
        cmocka_unit_test(a_graph_is_never_expanded),
        cmocka_unit_test(equal_containers_share_their_memory),
        cmocka_unit_test(a_value_may_change_among_equal_pages_of_the_memo),
        cmocka_unit_test(a_record_knows_the_member_of_the_root_that_it_is_in),
        cmocka_unit_test(the_list_of_a_record_is_found_near_it_only),
        cmocka_unit_test(nothing_is_ever_called),
        cmocka_unit_test(a_cut_pickle_is_refused_wherever_it_is_cut),
        cmocka_unit_test(huge_lengths_take_no_memory),
        cmocka_unit_test(the_budget_is_kept),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(damaged_pickles_are_refused),
        cmocka_unit_test(values_that_are_no_numbers_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
