#!/bin/sh
# packaging.sh - test that the packages of Debian, Fedora and Arch contain every installed file,
# once, and have our version.
#   usage: packaging.sh SOURCE BUILD PREFIX LIBDIR          PREFIX is what install.sh installed
# Also runs rpmlint and rpmspec, if installed.
# SPDX-License-Identifier: MIT
set -eu
source=$1 build=$2 prefix=$3 libdir=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "FAILED: $*" >&2
    exit 1
}
version=$(sed -n 's/^#define STDCL_VERSION "\(.*\)"$/\1/p' "$source/include/stdcl.h")
(cd "$prefix" && find . -type f -o -type l) | sed 's|^\./|/usr/|' | sort >"$work/installed"
[ "$(wc -l <"$work/installed")" -gt 200 ] || fail "only $(wc -l <"$work/installed") installed files"

# taken PATTERNS: print the files that the patterns match, once for each match; a folder stands for
# its contents.
taken() {
    while read -r pattern; do
        regex=$(echo "$pattern" | sed 's|[.+]|\\&|g; s|\*|[^/]*|g; s|/$||')
        grep -xE "$regex(/.*)?" "$work/installed" || case $pattern in
        */"$libdir"/stdcl/*) ;; # plugins, where there is an MPI
        *) echo "nothing has the pattern $pattern" >>"$work/idle" ;;
        esac
    done <"$1" | sort
}
whole() { # whole NAME PATTERNS: every installed file is taken once, and no pattern is idle
    rm -f "$work/idle"
    taken "$2" >"$work/taken"
    [ ! -e "$work/idle" ] || fail "$1: $(cat "$work/idle")"
    lost=$(comm -23 "$work/installed" "$work/taken" | head -n 5)
    [ -z "$lost" ] || fail "$1 does not have these installed files: $lost"
    twice=$(uniq -d <"$work/taken" | head -n 5)
    [ -z "$twice" ] || fail "$1 has these files twice: $twice"
}

# Fedora. Shared libraries' links for the linker end in .so, which %{_libdir}/libstdcl.so.* leaves out.
spec=$source/packaging/stdcl.spec
grep -q "^Version: *$version$" "$spec" || fail "stdcl.spec is not of version $version"
sed -n '/^%files/,/^%changelog/p' "$spec" | sed -e 's/^%license //; s/^%doc //' -e "s|%{_libdir}|/usr/$libdir|; s|%{_bindir}|/usr/bin|" \
    -e 's|%{_datadir}|/usr/share|; s|%{_mandir}|/usr/share/man|; s|%{_docdir}|/usr/share/doc|; s|%{_includedir}|/usr/include|' |
    grep '^/' >"$work/patterns"
whole stdcl.spec "$work/patterns"
if command -v rpmspec >/dev/null; then
    rpmspec -P "$spec" >"$work/said" 2>&1 || fail "$(cat "$work/said")"
fi
if command -v rpmlint >/dev/null; then
    rpmlint -c "$source/packaging/rpmlint.toml" "$spec" >"$work/said" 2>&1 || fail "$(cat "$work/said")"
fi

# Debian, whose folder is not in the archive of a release.
if [ -d "$source/debian" ]; then
    grep -q "^stdcl ($version-" "$source/debian/changelog" || fail "debian/changelog is not of version $version"
    cat "$source"/debian/libstdcl*.install "$source"/debian/stdcl*.install "$source/debian/not-installed" | awk '{ print $1 }' |
        sed "s|usr/lib/\*/|usr/$libdir/|; s|^|/|" >"$work/patterns"
    whole debian "$work/patterns"
    grep -q '^Architecture: any$' "$source/debian/control" && fail "debian/control promises 32-bit and big-endian machines"
    # `make deb` on a fresh system has the build's dependencies.
    awk '/^(must|may) / { print $2 }' "$source/tools/deps.sh" | sed 's/^debhelper$/debhelper-compat/; s/^pkg-config$/pkgconf/' >"$work/known"
    unknown=$(sed -n '/^Build-Depends/,/^Standards/p' "$source/debian/control" | sed '/^Standards/d; s/^[A-Z].*: //; s/([^)]*)//g' |
        tr ',' '\n' | awk 'NF { print $1 }' | grep -vxFf "$work/known" | tr '\n' ' ')
    [ -z "$unknown" ] || fail "tools/deps.sh does not install what debian/control builds with: $unknown"
fi

# Arch: run the functions with our build in place of theirs.
if command -v bash >/dev/null; then
    mkdir "$work/arch"
    ln -s "$build" "$work/arch/build"
    ln -s "$source" "$work/arch/stdcl-$version"
    (cd "$work/arch" && bash -eu -c '. "$1"
        [ "$pkgver" = "$2" ] || { echo "PKGBUILD is of version $pkgver"; exit 1; }
        for name in "${pkgname[@]}"; do pkgdir=$PWD/pkg-$name pkgname=$name; "package_$name"; done' \
        - "$source/packaging/PKGBUILD" "$version" >"$work/said" 2>&1) || fail "PKGBUILD: $(cat "$work/said")"
    [ -e "$work/arch/pkg-stdcl/usr/share/licenses/stdcl/LICENSE" ] || fail "PKGBUILD installs no licence"
    [ "$(find "$work/arch/pkg-python-stdcl" -name '*.py' | wc -l)" = "$(find "$source/python/stdcl" -name '*.py' | wc -l)" ] ||
        fail "PKGBUILD does not install the whole Python package"
    files=$(find "$work/arch/pkg-stdcl" -type f -o -type l | wc -l)
    [ "$files" -gt "$(wc -l <"$work/installed")" ] || fail "PKGBUILD installs $files files, not all"
fi
echo "$(wc -l <"$work/installed") installed files are each in one package of Debian and Fedora, and in Arch's"
