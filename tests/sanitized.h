/* sanitized.h - detect a build with a sanitizer.
 * SPDX-License-Identifier: MIT
 */
#ifndef SANITIZED_H
#define SANITIZED_H

/* 1 in builds with a sanitizer, which are slow and keep memory of their own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZED 0
#endif

#endif
