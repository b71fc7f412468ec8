/* listen.c - sockets reachable from this machine only: a port of both loopback addresses, or a Unix
 * socket of this user.
 * SPDX-License-Identifier: MIT
 */
#include "view/server.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { TRIES = 20, WAITING = 64 };

static int socket_of(int family)
{
    return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* ---- Ports. ---------------------------------------------------------------------------------- */

static int listen_on(int fd, const struct sockaddr *address, socklen_t size)
{
    const int yes = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (fd >= 0 && bind(fd, address, size) == 0 && listen(fd, WAITING) == 0)
        return fd;
    const int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return -1;
}

static int listen_on_4(int port)
{
    const struct sockaddr_in a = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return listen_on(socket_of(AF_INET), (const struct sockaddr *)&a, sizeof a);
}

static int listen_on_6(int port)
{
    const struct sockaddr_in6 a = {.sin6_family = AF_INET6,
                                   .sin6_port = htons((uint16_t)port),
                                   .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    const int fd = socket_of(AF_INET6), yes = 1;
    if (fd >= 0)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
    return listen_on(fd, (const struct sockaddr *)&a, sizeof a);
}

static int port_of(int fd)
{
    struct sockaddr_in a = {0};
    socklen_t size = sizeof a;
    return getsockname(fd, (struct sockaddr *)&a, &size) == 0 ? ntohs(a.sin_port) : -1;
}

/* The same port on IPv4 and IPv6 where the machine has both: a tunnel to "localhost" may use
 * either. */
static int listen_port(struct listener *l, int wanted)
{
    for (int tries = 0; tries < TRIES; tries++) {
        l->fd[0] = listen_on_4(wanted);
        if (l->fd[0] < 0)
            return clerror_set(errno, "view: port %d of 127.0.0.1 cannot be used: %s", wanted,
                               strerror(errno));
        l->port = port_of(l->fd[0]);
        l->fd[1] = listen_on_6(l->port);
        if (l->fd[1] >= 0 || errno != EADDRINUSE)
            return 0; /* without IPv6, IPv4 suffices */
        if (wanted)
            break;
        close(l->fd[0]);
        l->fd[0] = -1;
    }
    return clerror_set(
        EADDRINUSE, "view: port %d of ::1 is in use; give another, or none for a free one", wanted);
}

/* ---- Unix sockets. --------------------------------------------------------------------------- */

/* True for a socket without a listener, left over from a killed run. */
static bool is_left_over(const struct sockaddr_un *a)
{
    struct stat st;
    if (lstat(a->sun_path, &st) != 0 || !S_ISSOCK(st.st_mode) || st.st_uid != geteuid())
        return false;
    const int fd = socket_of(AF_UNIX);
    const bool dead =
        fd >= 0 && connect(fd, (const struct sockaddr *)a, sizeof *a) != 0 && errno == ECONNREFUSED;
    if (fd >= 0)
        close(fd);
    return dead;
}

static int listen_unix(struct listener *l, const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    if (!*path || strlen(path) >= sizeof a.sun_path)
        return clerror_set(
            EINVAL, "view: 'unix:%s' is no name of a socket; give unix:PATH with at most %zu bytes",
            path, sizeof a.sun_path - 1);
    strcpy(a.sun_path, path);
    if (is_left_over(&a))
        unlink(path);
    const int fd = socket_of(AF_UNIX);
    if (fd >= 0)
        fchmod(fd, 0600); /* Linux creates the file with this mode, whatever the umask */
    l->fd[0] = listen_on(fd, (const struct sockaddr *)&a, sizeof a);
    if (l->fd[0] < 0)
        return clerror_set(errno, "view: the socket %s cannot be made: %s", path, strerror(errno));
    l->path = strdup(path);
    if (chmod(path, 0600) != 0)
        return clerror_set(errno, "view: the socket %s cannot be closed to others: %s", path,
                           strerror(errno));
    return 0;
}

/* ---- Both. ----------------------------------------------------------------------------------- */

static int read_port(const char *text)
{
    long port = 0;
    size_t n = 0;
    for (; isdigit((unsigned char)text[n]) && n < 6; n++)
        port = 10 * port + text[n] - '0';
    return n && !text[n] && port < 65536 ? (int)port : -1;
}

int listen_open(struct listener *l, const char *address)
{
    *l = (struct listener){.fd = {-1, -1}};
    if (!address || !*address)
        return listen_port(l, 0);
    if (strncmp(address, "unix:", 5) == 0)
        return listen_unix(l, address + 5);
    const int port = read_port(address);
    if (port < 0)
        return clerror_set(
            EINVAL,
            "view: '%s' is neither a port (0 to 65535) nor unix:PATH; other addresses are reached by ssh -L",
            address);
    return listen_port(l, port);
}

void listen_close(struct listener *l)
{
    for (int i = 0; i < 2; i++)
        if (l->fd[i] >= 0)
            close(l->fd[i]);
    if (l->path)
        unlink(l->path);
    free(l->path);
    *l = (struct listener){.fd = {-1, -1}};
}

static bool is_own_user(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0);
}

static int port_of_address(const struct sockaddr_storage *a)
{
    return ntohs(a->ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)a)->sin6_port
                                          : ((const struct sockaddr_in *)a)->sin_port);
}

/* The user of the socket with these ports in a table of the system; -1: it is not there. */
static long user_in_table(const char *file, unsigned local, unsigned remote)
{
    char line[512];
    long user = -1;
    FILE *fp = fopen(file, "re");
    while (fp && user < 0 && fgets(line, sizeof line, fp)) {
        unsigned from, to, owner;
        if (sscanf(line, " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%x %*x %*s %*s %*s %u", &from, &to,
                   &owner) == 3 &&
            from == local && to == remote)
            user = (long)owner;
    }
    if (fp)
        fclose(fp);
    return user;
}

bool listen_is_of_stranger(const struct listener *l, int fd)
{
    struct sockaddr_storage peer, own;
    socklen_t size = sizeof peer, own_size = sizeof own;
    if (l->path || getpeername(fd, (struct sockaddr *)&peer, &size) != 0 ||
        getsockname(fd, (struct sockaddr *)&own, &own_size) != 0)
        return false;
    const long user =
        user_in_table(peer.ss_family == AF_INET6 ? "/proc/net/tcp6" : "/proc/net/tcp",
                      (unsigned)port_of_address(&peer), (unsigned)port_of_address(&own));
    return user > 0 && user != (long)geteuid();
}

int listen_accept(const struct listener *l, int listening)
{
    const int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), yes = 1,
              unsent = 64 << 10;
    if (fd < 0)
        return -1;
    if (l->path && !is_own_user(fd)) {
        close(fd);
        return -1;
    }
    if (!l->path) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent);
    }
    return fd;
}
