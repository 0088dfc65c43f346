// SPDX-License-Identifier: Apache-2.0
// Ends with 0 only if it runs as its image states; then it has computed for some tens of milliseconds.
// as-stated [--user UID:GID] [--directory DIR] [--variable NAME=VALUE] [--file PATH] ...
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef VENDOR
extern int vendor_answer(void);
#endif

static int differs(const char *what, const char *wanted, const char *is) {
    fprintf(stderr, "as-stated: %s is %s, not %s\n", what, is, wanted);
    return 1;
}

static int check(const char *option, const char *wanted) {
    char is[4096] = "unknown";
    if (strcmp(option, "--user") == 0) {
        snprintf(is, sizeof is, "%u:%u", (unsigned)getuid(), (unsigned)getgid());
        return strcmp(is, wanted) == 0 ? 0 : differs("the user", wanted, is);
    }
    if (strcmp(option, "--directory") == 0) {
        return getcwd(is, sizeof is) && strcmp(is, wanted) == 0 ? 0 : differs("the directory", wanted, is);
    }
    if (strcmp(option, "--file") == 0) {
        return access(wanted, R_OK) == 0 ? 0 : differs("a file", wanted, "not there");
    }
    if (strcmp(option, "--variable") == 0) {
        snprintf(is, sizeof is, "%.*s", (int)strcspn(wanted, "="), wanted);
        const char *const value = getenv(is);
        const char *const right = wanted + strcspn(wanted, "=") + 1;
        return value && strcmp(value, right) == 0 ? 0 : differs(is, right, value ? value : "not set");
    }
    return differs("the option", "known", option);
}

int main(int argc, char **argv) {
    int wrong = 0;
    for (int at = 1; at + 1 < argc; at += 2) {
        wrong |= check(argv[at], argv[at + 1]);
    }
#ifdef VENDOR
    wrong |= vendor_answer() != 42;
#endif
    volatile double sum = 0;
    for (int term = 1; term < 10000000; ++term) {
        sum = sum + 1.0 / term;
    }
    return wrong;
}
