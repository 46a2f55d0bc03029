/* definition.c - study.json: what a study is, written when it is made and read by every command after.
 * Ring: programs (trusted). Everything in it is public. Every field is checked before it is used, unknown ones are
 * refused. */
#include "joint/commands.h"

#include "core/fail.h"

#include <math.h>
#include <string.h>

static const char FORMAT[] = "tacet-joint-study-1";

static json_t *numbers(const double *x, size_t n) {
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++) {
        (void)json_array_append_new(array, json_real(x[i]));
    }
    return array;
}

json_t *joint_definition_json(const joint_definition *def) {
    json_t *columns = json_array();
    for (size_t i = 0; i < def->d; i++) {
        (void)json_array_append_new(columns, json_string(def->columns[i]));
    }
    return json_pack("{ss so so so ss so so sf sf sI sI sI sI sI ss}", "format", FORMAT, "columns", columns, "lower",
                     numbers(def->lower, def->d), "upper", numbers(def->upper, def->d), "kernel", def->kernel,
                     "lengthscales", numbers(def->lengthscales, def->d), "range",
                     json_pack("[f, f]", def->reward_lo, def->reward_hi), "eps", def->eps, "delta", def->delta,
                     "rounds", (json_int_t)def->rounds, "features", (json_int_t)def->features, "released",
                     (json_int_t)def->released, "set_size", (json_int_t)def->set_size, "open_most",
                     (json_int_t)def->open_most, "to", def->to_whom);
}

static bool read_numbers(double *out, const json_t *array, size_t n) {
    bool good = json_is_array(array) && json_array_size(array) == n;
    for (size_t i = 0; i < n && good; i++) {
        good = json_is_number(json_array_get(array, i));
        out[i] = json_number_value(json_array_get(array, i));
    }
    return good;
}

static bool read_text(char *out, size_t most, const char *text) {
    const size_t length = text != NULL ? strlen(text) : most;
    if (length == 0 || length >= most) {
        return false;
    }
    memcpy(out, text, length + 1);
    return true;
}

static tacet_status bad(const char *field, tacet_error *err) {
    return tacet__fail(err, TACET_PARSE, "study.json: field %s is out of range", field);
}

tacet_status joint_definition_parse(joint_definition *out, const char *text, size_t length, tacet_error *err) {
    const char *format = NULL, *kernel = NULL, *to = NULL;
    json_t *columns = NULL, *lower = NULL, *upper = NULL, *scales = NULL, *range = NULL;
    json_int_t rounds = 0, features = 0, released = 0, set_size = 0, open_most = 0;
    double both[2] = {0, 0};
    json_error_t detail;
    tacet_status status = TACET_OK;
    memset(out, 0, sizeof *out);
    json_t *object = json_loadb(text, length, JSON_REJECT_DUPLICATES, &detail);
    if (object == NULL ||
        json_unpack_ex(object, &detail, JSON_STRICT, "{s:s s:o s:o s:o s:s s:o s:o s:F s:F s:I s:I s:I s:I s:I s:s}",
                       "format", &format, "columns", &columns, "lower", &lower, "upper", &upper, "kernel", &kernel,
                       "lengthscales", &scales, "range", &range, "eps", &out->eps, "delta", &out->delta, "rounds",
                       &rounds, "features", &features, "released", &released, "set_size", &set_size, "open_most",
                       &open_most, "to", &to) != 0) {
        json_decref(object);
        return tacet__fail(err, TACET_PARSE, "study.json: %s", detail.text);
    }
    out->d = json_array_size(columns);
    bool named = out->d >= 1 && out->d <= JOINT_DIM_MOST;
    for (size_t i = 0; i < out->d && named; i++) {
        named = read_text(out->columns[i], sizeof out->columns[i], json_string_value(json_array_get(columns, i)));
    }
    if (strcmp(format, FORMAT) != 0) {
        status = tacet__fail(err, TACET_PARSE, "study.json: this reads %s only", FORMAT);
    } else if (!named) {
        status = bad("columns", err);
    } else if (!read_numbers(out->lower, lower, out->d) || !read_numbers(out->upper, upper, out->d)) {
        status = bad("lower or upper", err);
    } else if (!read_text(out->kernel, sizeof out->kernel, kernel) ||
               !read_numbers(out->lengthscales, scales, out->d)) {
        status = bad("kernel or lengthscales", err);
    } else if (!read_numbers(both, range, 2)) {
        status = bad("range", err);
    } else if (rounds < 0 || features < 1 || features > 1000 || released < 1 || released > features || set_size < 1 ||
               open_most < 1 || open_most > 1000000) {
        status = bad("rounds, features, released, set_size or open_most", err);
    } else if (!read_text(out->to_whom, sizeof out->to_whom, to)) {
        status = bad("to", err);
    }
    out->reward_lo = both[0];
    out->reward_hi = both[1];
    out->rounds = (uint64_t)rounds;
    out->features = (size_t)features;
    out->released = (size_t)released;
    out->set_size = (size_t)set_size;
    out->open_most = (size_t)open_most;
    json_decref(object);
    return status;
}
