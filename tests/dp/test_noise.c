/* SPDX-License-Identifier: Apache-2.0 */
/* test_noise.c - the source: reproducible when seeded, never when private, new after a fork, wiped, and its failures.
 * The linker finds sodium_init, sodium_memzero and pthread_atfork here before it finds the real ones. */
#include "dp/script.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dp/noise/sampler.h"

static bool no_entropy;
static bool no_atfork;

int sodium_init(void) {
    int (*real)(void) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "sodium_init");
    return no_entropy ? -1 : real();
}

static uintptr_t wiped;
static size_t wiped_bytes;

void sodium_memzero(void *const at, const size_t count) {
    void (*real)(void *, size_t) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "sodium_memzero");
    wiped = (uintptr_t)at;
    wiped_bytes = count;
    real(at, count);
}

extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *handle);
extern int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void)) {
    return no_atfork ? 12 : __register_atfork(prepare, parent, child, NULL);
}

/* First, before anything registers for forks. */
TEST(test_open_fails) {
    tacet_noise *noise = (tacet_noise *)&no_entropy;
    tacet_error err = {0};
    no_entropy = true;
    assert_status(tacet_noise_open_sample(&noise, &err), TACET_IO);
    assert_null(noise);
    assert_non_null(strstr(err.message, "entropy"));
    assert_status(tacet_noise_open_seeded(&noise, 1, 1, NULL), TACET_IO);
    no_entropy = false;
    no_atfork = true;
    assert_status(tacet_noise_open_sample(&noise, NULL), TACET_NO_MEMORY);
    assert_null(noise);
    no_atfork = false;
    for (int seeded = 0; seeded < 2; seeded++) {
        assert_each_alloc_fails(seeded ? tacet_noise_open_seeded(&noise, 1, 1, NULL)
                                       : tacet_noise_open_sample(&noise, NULL),
                                noise == NULL);
        assert_int_equal(noise->source, seeded ? TACET__NOISE_SEEDED : TACET__NOISE_SAMPLE);
        tacet_noise_close(noise);
    }
    tacet_noise_close(NULL);
}

TEST(test_seeded) {
    OWN_NOISE tacet_noise *a = test_noise(42, 7);
    tacet_noise *b = test_noise(42, 7);
    /* The stream is part of the contract: same seed, same draws, on every machine. The first word of (42, 7), from the
     * definition: BLAKE2b-256 keyed with the purpose over both numbers, then ChaCha20, skipping 32 bytes. */
    unsigned char key[32];
    unsigned char stream[40];
    const unsigned char numbers[16] = {42, 0, 0, 0, 0, 0, 0, 0, 7};
    static const unsigned char nonce[8];
    crypto_generichash(key, 32, numbers, 16, (const unsigned char *)"tacet seeded noise 1", 21);
    crypto_stream_chacha20(stream, sizeof stream, nonce, key);
    uint64_t first = 0;
    for (int i = 7; i >= 0; i--) {
        first = first << 8 | stream[32 + i];
    }
    assert_int_equal(tacet__noise_u64(a), first);
    assert_int_equal(tacet__noise_u64(b), first);
    for (int i = 0; i < 3000; i++) {
        assert_int_equal(tacet__noise_u64(a), tacet__noise_u64(b));
    }
    tacet_noise_close(b);
    assert_ok(tacet_noise_open_seeded(&b, 42, 8, NULL));
    int same = 0;
    for (int i = 0; i < 1000; i++) {
        same += tacet__noise_u64(a) == tacet__noise_u64(b) ? 1 : 0;
    }
    assert_int_equal(same, 0);
    tacet_noise_close(b);
}

TEST(test_private_differs) {
    OWN_NOISE tacet_noise *a = NULL;
    OWN_NOISE tacet_noise *b = NULL;
    assert_ok(tacet_noise_open_sample(&a, NULL));
    assert_ok(tacet_noise_open_sample(&b, NULL));
    for (int i = 0; i < 2000; i++) {
        assert_true(tacet__noise_u64(a) != tacet__noise_u64(b)); /* 2000 chances of 2^-64 */
    }
}

/* Words handed out, the key that made them, and a closed source leave nothing behind. */
TEST(test_wiped) {
    tacet_noise *noise = NULL;
    assert_ok(tacet_noise_open_sample(&noise, NULL));
    unsigned char before[NOISE_KEY_BYTES];
    memcpy(before, noise->key, sizeof before);
    (void)tacet__noise_u64(noise);
    assert_memory_not_equal(before, noise->key, sizeof before);
    for (size_t i = 1; i < NOISE_WORDS / 2; i++) {
        (void)tacet__noise_u64(noise);
    }
    for (size_t i = 0; i < NOISE_WORDS; i++) {
        assert_int_equal(noise->words[i] == 0, i < NOISE_WORDS / 2);
    }
    const uintptr_t where = (uintptr_t)noise;
    tacet_noise_close(noise);
    assert_true(wiped == where && wiped_bytes == sizeof *noise);
}

enum { SHARED = 4 };

static void child_words(tacet_noise *noise, bool bare, uint64_t *words) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t pid = bare ? (pid_t)syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L) : fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        for (int i = 0; i < SHARED; i++) {
            words[i] = tacet__noise_u64(noise);
        }
        const ssize_t sent = write(ends[1], words, SHARED * sizeof *words);
        _exit(sent == SHARED * sizeof *words ? 0 : 1);
    }
    int status = 1;
    assert_int_equal(read(ends[0], words, SHARED * sizeof *words), SHARED * sizeof *words);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    close(ends[0]);
    close(ends[1]);
}

TEST(test_fork) {
    OWN_NOISE tacet_noise *noise = NULL;
    assert_ok(tacet_noise_open_sample(&noise, NULL));
    OWN_NOISE tacet_noise *seeded = test_noise(5, 5);
    (void)tacet__noise_u64(noise);
    (void)tacet__noise_u64(seeded);
    uint64_t first[SHARED];
    uint64_t second[SHARED];
    child_words(noise, false, first);
    child_words(noise, false, second);
    for (int i = 0; i < SHARED; i++) {
        const uint64_t own = tacet__noise_u64(noise);
        assert_true(first[i] != second[i] && first[i] != own && second[i] != own);
    }
    /* Seeded: both go on alike, from the middle of the buffer and from its end. */
    for (int at_end = 0; at_end < 2; at_end++) {
        if (at_end) {
            seeded->next = NOISE_WORDS;
        }
        child_words(seeded, false, first);
        for (int i = 0; i < SHARED; i++) {
            assert_int_equal(tacet__noise_u64(seeded), first[i]);
        }
    }
    /* A bare clone() runs no handlers; the process id tells at the refill. */
    noise->next = NOISE_WORDS;
    child_words(noise, true, first);
    for (int i = 0; i < SHARED; i++) {
        assert_true(tacet__noise_u64(noise) != first[i]);
    }
}

/* The same within one process, for tools that do not follow children: only what a child would find is changed. */
TEST(test_fork_noticed) {
    OWN_NOISE tacet_noise *noise = NULL;
    assert_ok(tacet_noise_open_sample(&noise, NULL));
    OWN_NOISE tacet_noise *twin = test_noise(1, 1);
    for (int how = 0; how < 3; how++) {
        (void)tacet__noise_u64(noise);
        tacet_noise copy = *noise; /* the parent goes on from here */
        if (how == 0) {
            noise->generation--;
        } else if (how == 1) {
            noise->pid++;
            noise->next = copy.next = NOISE_WORDS;
        } else {
            noise->generation--;
            noise->next = copy.next = NOISE_WORDS;
        }
        for (int i = 0; i < SHARED; i++) {
            assert_true(tacet__noise_u64(noise) != tacet__noise_u64(&copy));
        }
    }
    for (int how = 0; how < 2; how++) { /* seeded: nothing to protect, nothing changes */
        (void)tacet__noise_u64(twin);
        tacet_noise copy = *twin;
        twin->generation--;
        if (how == 1) {
            twin->next = copy.next = NOISE_WORDS;
        }
        for (int i = 0; i < SHARED; i++) {
            assert_true(tacet__noise_u64(twin) == tacet__noise_u64(&copy));
        }
    }
}
