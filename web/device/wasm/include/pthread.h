/* SPDX-License-Identifier: Apache-2.0 */
/* pthread.h - all that the device library asks of threads: nobody forks in a page (../libc.c). */
#ifndef TACET_WASM_PTHREAD_H
#define TACET_WASM_PTHREAD_H
int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
#endif
