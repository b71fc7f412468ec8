/* page.c - a page that needs no server: everything in one file, the recording in base64.
 * SPDX-License-Identifier: MIT
 */
#include "view/server.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

enum { PIECE = 12 << 20, MOST_PAGE = 256 << 20 };

struct page {
    FILE *fp;
    struct web_file *file;
    size_t files;
    char nonce[25];
    const struct bytes *recording;
};

static void page_put(struct page *p, const void *text, size_t size)
{
    fwrite(text, 1, size, p->fp);
}

/* In lines, so that editors can open the page. */
static void put_base64(struct page *p, const unsigned char *from, size_t size)
{
    enum { LINE = 57 }; /* bytes per line of 76 digits, as in e-mail */
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        const size_t n = size - i < 3 ? size - i : 3;
        const uint32_t bits = (uint32_t)from[i] << 16 | (n > 1 ? (uint32_t)from[i + 1] << 8 : 0) |
                              (n > 2 ? from[i + 2] : 0);
        const char four[4] = {digits[bits >> 18], digits[bits >> 12 & 63],
                              n > 1 ? digits[bits >> 6 & 63] : '=',
                              n > 2 ? digits[bits & 63] : '='};
        page_put(p, four, sizeof four);
        if (i % LINE == LINE - 3)
            fputc('\n', p->fp);
    }
}

static void put_recording(struct page *p)
{
    for (size_t at = 0; at < p->recording->used; at += PIECE) {
        const size_t left = p->recording->used - at;
        fprintf(p->fp, "<script type=\"application/octet-stream\" class=\"recording\">");
        put_base64(p, p->recording->at + at, left < PIECE ? left : PIECE);
        fprintf(p->fp, "</script>\n");
    }
}

static void each_line(struct page *p, const struct web_file *file,
                      void (*take)(struct page *p, const char *line, size_t length))
{
    const char *at = (const char *)file->text, *const end = at + file->size;
    while (at < end) {
        const char *line = memchr(at, '\n', (size_t)(end - at)), *next = line ? line + 1 : end;
        take(p, at, (size_t)(next - at));
        at = next;
    }
}

/* Append a file of the page as an element. */
static void put_file(struct page *p, const char *name, const char *begin, const char *end)
{
    const struct web_file *file = web_find(p->file, p->files, name, strlen(name));
    fprintf(p->fp, "%s nonce=\"%s\">\n", begin, p->nonce);
    if (file)
        page_put(p, file->text, file->size);
    fprintf(p->fp, "%s\n", end);
}

static void put_policy(struct page *p)
{
    fprintf(
        p->fp,
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'nonce-%s'; style-src 'nonce-%s'; "
        "img-src blob: data:; media-src blob:; base-uri 'none'; form-action 'none'\">\n",
        p->nonce, p->nonce);
}

static bool page_has(const char *line, size_t length, const char *text)
{
    return memmem(line, length, text, strlen(text)) != NULL;
}

/* Append a line of index.html; five lines are placeholders. */
static void put_html(struct page *p, const char *line, size_t length)
{
    if (page_has(line, length, "<!--csp-->"))
        put_policy(p);
    else if (page_has(line, length, "<link rel=\"stylesheet\" href=\"view.css\">"))
        put_file(p, "view.css", "<style", "</style>");
    else if (page_has(line, length, "<!--recording-->"))
        put_recording(p);
    else if (page_has(line, length, "<script type=\"module\" src=\"main.js\"></script>"))
        put_file(p, "main.js", "<script type=\"module\"", "</script>");
    else if (!page_has(line, length, "rel=\"modulepreload\"") &&
             !page_has(line, length, "rel=\"icon\""))
        page_put(p, line, length);
}

/* 128 random bits: 22 digits of base64 and two padding characters. */
static bool make_nonce(char nonce[25])
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char bits[22];
    if (getrandom(bits, sizeof bits, 0) != sizeof bits)
        return false;
    for (int i = 0; i < 22; i++)
        nonce[i] = digits[bits[i] % (i == 21 ? 4 : 64) * (i == 21 ? 16 : 1)];
    strcpy(nonce + 22, "==");
    return true;
}

static int page_load(const char *file, struct bytes *all)
{
    FILE *fp = fopen(file, "rbe");
    if (!fp)
        return clerror_set(errno, "%s: %s", file, strerror(errno));
    for (size_t n = 1; n > 0 && !all->failed && all->used <= MOST_PAGE;) {
        unsigned char *to = bytes_more(all, 1 << 16);
        n = to ? fread(to, 1, 1 << 16, fp) : 0;
        all->used -= to ? (1 << 16) - n : 0;
    }
    const bool bad = ferror(fp);
    fclose(fp);
    if (all->failed)
        return clerror_set(ENOMEM, "%s: out of memory for it", file);
    if (bad)
        return clerror_set(EIO, "%s: cannot be read", file);
    return all->used <= MOST_PAGE
               ? 0
               : clerror_set(EFBIG, "%s: is too large for a page, which has at most 256 MiB", file);
}

/* Decode every picture, as the server does when it shows one: -1 if one is damaged. */
static int page_check(const struct bytes *all)
{
    view_recording *r = recording_read(all->at, all->used);
    const size_t pictures = r ? view_recording_frames(r) : 0;
    int status = r ? 0 : -1;
    for (size_t i = 0; i < pictures && status == 0; i++)
        status = recording_picture(r, i) ? 0 : -1;
    view_recording_close(r);
    return status;
}

int view_write_page(FILE *fp, const char *recording)
{
    struct bytes all = {0};
    struct page p = {.fp = fp, .recording = &all};
    int status = page_load(recording, &all);
    if (status == 0)
        status = page_check(&all);
    p.file = status == 0 ? web_open(&p.files) : NULL;
    const struct web_file *index = p.file ? web_find(p.file, p.files, "index.html", 10) : NULL;
    if (status == 0 && (!index || !make_nonce(p.nonce)))
        status = p.file ? clerror_set(EIO, "view: the page cannot be made") : -1;
    if (status == 0)
        each_line(&p, index, put_html);
    web_close(p.file, p.files);
    bytes_free(&all);
    if (status == 0 && ferror(fp))
        status = clerror_set(EIO, "view: the page cannot be written");
    return status;
}
