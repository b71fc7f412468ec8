#!/bin/sh
# install.sh - test the files of `make install` from outside the repository.
#   usage: install.sh STEP BUILD WORK SOURCE CMAKE CC CXX LIBDIR
# STEP "install" installs BUILD into WORK/prefix; the other steps use that: shared, static, package,
# symbols, headers, layout, runtime, paths, command, documents, pages, completion, uninstall. Status
# 77: there is no OpenCL device, or the table is not for this machine.
# SPDX-License-Identifier: MIT
set -eu
step=$1 build=$2 work=$3 source=$4 cmake=$5 cc=$6 cxx=$7 libdir=$8
prefix=$work/prefix
lib=$prefix/$libdir
consumer=$source/tests/install/consumer
export PKG_CONFIG_PATH="$lib/pkgconfig"

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

engines() { # the engines that are installed
    for pc in "$lib"/pkgconfig/stdcl_*.pc; do
        [ -e "$pc" ] && basename "$pc" .pc | sed 's/^stdcl_//'
    done
    true
}

# Print the exported names of a compiled file, one a line, without version names (A).
offered() {
    nm "$@" --defined-only | awk 'NF == 3 && $2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u
}

# Print the functions that headers declare under a prefix, except inline ones.
declared() { # declared PATTERN HEADER...
    pattern=$1
    shift
    for header; do
        echo "#include <$header>" | "$cc" -I "$prefix/include" -E -x c - |
            awk -v file="/$header\"" '/^# / { ours = index($3, file) > 0; next } ours && !/static/' |
            grep -oE "\b$pattern[a-z0-9_]*\(" | tr -d '('
    done | sort -u
}

# Print the engine of a header: the one of its name, or the one with the declared names in its map
# (life's map has the names of census.h); nothing for the headers of libstdcl.
engine_of() { # engine_of HEADER
    bare=$(basename "$1" .h)
    if [ -e "$lib/pkgconfig/stdcl_$bare.pc" ]; then
        echo "$bare"
    else
        names=$(declared '[a-z]+_' "$1" | paste -sd '|')
        grep -lE "^ *($names);" "$source"/[!c]*/*.map | sed 's|.*/||; s|\.map$||'
    fi
}

# Print the headers of an engine, or of libstdcl if none is named.
headers_of() { # headers_of [ENGINE]
    (cd "$prefix/include" && ls stdcl.h stdcl/*.h) | while read -r header; do
        [ "$(engine_of "$header")" != "${1-}" ] || echo "$header"
    done
}

# Fail unless two sorted lists of names are equal.
same_names() { # same_names LIST OWNER LIST OWNER
    more=$(comm -23 "$1" "$3" | tr '\n' ' ')
    less=$(comm -13 "$1" "$3" | tr '\n' ' ')
    [ -z "$more" ] || fail "$2 has names that $4 has not: $more"
    [ -z "$less" ] || fail "$4 has names that $2 has not: $less"
}

check_symbols() { # check_symbols LIBRARY MAP PATTERN HEADER...
    name=$1 map=$2
    shift 2
    # stdgpu and so on are variables, each defined as a macro that calls a function for its address.
    declared "$@" | sed 'p; s/^stdcl_\(std[a-z]*\)_address$/\1/' | sort -u >"$work/declared"
    [ -s "$work/declared" ] || fail "found no function of $name"
    sed -n 's/^ \{1,\}\([a-z][a-z0-9_]*\);$/\1/p' "$source/$map" | sort >"$work/mapped"
    same_names "$work/declared" "the header of $name" "$work/mapped" "$map"
    offered -D "$lib/lib$name.so" >"$work/offered"
    same_names "$work/offered" "lib$name.so" "$work/mapped" "$map"
    offered -g "$lib/lib$name.a" >"$work/offered"
    same_names "$work/offered" "lib$name.a" "$work/mapped" "$map"
    bare=$(nm -D --defined-only "$lib/lib$name.so" | awk '$2 != "A" && $3 !~ /@@STDCL_1\.[0-9]+$/ { print $3 }')
    [ -z "$bare" ] || fail "lib$name.so offers names without a version STDCL_1.N: $bare"
    readelf -d "$lib/lib$name.so" | grep -q "SONAME.*\[lib$name\.so\.[0-9]*\]" || fail "lib$name.so has no soname"
    echo "lib$name offers $(wc -l <"$work/mapped") names, those of its header"
}

mkdir -p "$work" && cd "$work"
case $step in
install)
    rm -rf "$prefix"
    "$cmake" --install "$build" --prefix "$prefix" >/dev/null
    # Programs and kernels can tell this copy from the one in the tree.
    sed -i '1i #define INSTALLED_COPY' "$prefix/include/stdcl.h" "$prefix/share/stdcl/include/stdcl.h"
    ;;

shared)
    # shellcheck disable=SC2046 # flags are words
    "$cc" -o layer_shared "$consumer/layer.c" $(pkg-config --cflags --libs stdcl) -Wl,-rpath,"$lib"
    ldd ./layer_shared | grep -q "libstdcl.so.* => $lib/" || fail "not linked with the installed library"
    ./layer_shared same-header
    # shellcheck disable=SC2046
    "$cc" -o engine_shared "$consumer/engine.c" $(pkg-config --cflags --libs stdcl_nbody) -lm \
        -Wl,-rpath,"$lib"
    ./engine_shared
    ;;

static)
    for name in stdcl stdcl_nbody; do
        if [ $name = stdcl ]; then program=layer; else program=engine; fi
        # shellcheck disable=SC2046
        "$cc" -o ${program}_static "$consumer/$program.c" \
            $(pkg-config --static --cflags --libs $name | sed 's/-l\(stdcl[a-z_]*\)/-l:lib\1.a/g')
        if ldd ./${program}_static | grep libstdcl; then
            fail "linked with a shared library"
        fi
        ./${program}_static
    done
    ;;

package)
    rm -rf package
    "$cmake" -S "$consumer" -B package -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" >package.log ||
        { cat package.log; exit 1; }
    "$cmake" --build package
    for program in layer layer_static engine engine_static; do
        case $program in engine*) [ -e package/$program ] || continue ;; esac
        said=$(package/$program) || exit
        echo "$program: $said"
    done
    ;;

symbols)
    # shellcheck disable=SC2046 # headers are words
    check_symbols stdcl core/stdcl.map '(cl[a-z]|ocl[a-z]|stdcl)' $(headers_of)
    for engine in $(engines); do
        headers=$(headers_of "$engine")
        prefixes=$(for header in $headers; do basename "$header" .h; done | paste -sd '|')
        # shellcheck disable=SC2086
        check_symbols "stdcl_$engine" "$engine/$engine.map" "($prefixes)_" $headers
    done
    ;;

headers) # equal to the sources, and the tests header_* compile each source header alone
    cd "$source/include"
    find . -type f | sort >"$work/headers"
    (cd "$prefix/include" && find . -type f) | sort | diff "$work/headers" - || fail "installed are other headers"
    while read -r header; do
        grep -v '^#define INSTALLED_COPY$' "$prefix/include/$header" | cmp - "$header" || fail "$header is another"
    done <"$work/headers"
    ;;

layout) # structs are as bindings and compiled programs know them, and options can grow
    if [ "$(uname -m) $(getconf LONG_BIT)" != "x86_64 64" ]; then
        echo "the table is that of x86-64 with 64-bit longs"
        exit 77
    fi
    sh "$source/tools/layout.sh" "$prefix/include" "$cc" >layout.txt
    diff "$source/tests/install/layout.txt" layout.txt ||
        fail "structs are not as tests/install/layout.txt has them; if they may change, 'make layout' rewrites it"
    awk -F '\t' '$1 ~ /_options$/ { last[$1] = $2 " " $5; end[$1] = $3 + $4 } $1 ~ /_options$/ && $2 == "-" { size[$1] = $4 }
        END { for (s in last) if (last[s] != "reserved uintptr_t[8]" || end[s] != size[s]) { print s; bad = 1 }
              exit bad }' layout.txt || fail "these do not end in uintptr_t reserved[8]"
    ;;

runtime) # files of a package without development files, in a second place
    rm -rf runtime && mkdir runtime
    cp -a "$prefix/bin" "$prefix/share" runtime
    mkdir -p "runtime/$libdir"
    cp -a "$lib"/*.so.* "runtime/$libdir"
    # shellcheck disable=SC2046
    "$cc" -o layer_runtime "$consumer/layer.c" $(pkg-config --cflags --libs stdcl) -Wl,-rpath,"$work/runtime/$libdir"
    ./layer_runtime same-header
    # Installed kernels, meant to be read and changed, find the headers that they include.
    STDCL_KERNEL_PATH=$work/runtime/share/stdcl/kernels
    export STDCL_KERNEL_PATH
    runtime/bin/stdcl gas -n 1000 --quiet
    runtime/bin/stdcl nbody -n 100 --steps 1 --kernel tiled --quiet
    ;;

paths) # nothing says where it was built
    # A short folder such as /t is part of other paths; pictures come from the sources as they are.
    folders=$(printf '%s|%s' "$source" "$build" | sed 's/[].[^$*+?(){}\\]/\\&/g')
    told=$(LC_ALL=C grep -rlaE --exclude='*.png' "(^|[^[:alnum:]_./-]|-[IL])($folders)($|[^[:alnum:]_.-])" "$prefix" || true)
    [ -z "$told" ] || fail "these contain the path of the sources or of the build: $told"
    ;;

documents) # every link of the installed documents leads to a file
    broken() {
        (cd "$1" && find . -name '*.md') | while read -r page; do
            tr '\n' ' ' <"$1/$page" | grep -oE '\]\([^()# ]+|(src|href)="[^"#]+' | sed 's/^](//; s/.*="//' |
                grep -vE '^[a-z]+:' | while read -r link; do
                [ -e "$1/${page%/*}/$link" ] || echo "$page: there is no $link"
            done
        done
    }
    doc=$prefix/share/doc/stdcl
    grep -q '](../../../../include/stdcl.h)' "$doc/docs/README.md" || fail "docs/README.md does not lead to stdcl.h"
    broken "$doc" >links.txt
    [ ! -s links.txt ] || { cat links.txt; fail "$(wc -l <links.txt) links of the documents are broken"; }
    rm -rf elsewhere && mkdir elsewhere && cp "$doc/README.md" elsewhere
    [ "$(broken "$work/elsewhere" | wc -l)" -gt 5 ] || fail "the check does not see broken links"
    ;;

pages)
    man=$prefix/share/man
    table=$build/pages/options.table
    for map in "$source"/*/*.map; do
        sed -n 's/^ \{1,\}\([a-z][a-z0-9_]*\);$/\1/p' "$map"
    done | while read -r name; do
        [ -e "$man/man3/$name.3" ] || fail "no manual page of $name"
    done
    empty=$(grep -lx 'See' "$man"/man3/*.3) && fail "no words in the header for: $empty"
    for page in "$man"/man3/*.3; do
        case ${page##*/} in stdcl.3 | stdcl_*) continue ;; esac
        grep -q '^.Sh RETURN VALUES' "$page" || fail "$page does not say what the function returns"
        if awk '/^.Sh SYNOPSIS/ { on = 1 } /^.Ed/ { on = 0 } on' "$page" | grep -qE '^(int|cl_event) [a-z]|^[A-Za-z_ ]+\*[a-z_0-9]+\('; then
            grep -q '^.Sh ERRORS' "$page" || fail "$page does not say how the function fails"
        fi
        grep -qE '^\.Nd ([a-zA-Z"`0-9(]|\\)' "$page" || fail "the NAME of $page begins with a sign"
        awk '/^\.Sh/ { if (on && last ~ /:$/) exit 1; on = /RETURN VALUES|ERRORS/ } { last = $0 }' "$page" ||
            fail "a section of $page ends with a colon, before a list that it leaves out"
        grep -qi '^\.Nd the same' "$page" && fail "the NAME of $page refers to another page"
    done
    grep -q '^cl_event clforka(CLCONTEXT' "$man/man3/clforka.3" || fail "clforka.3 shows no prototype"
    grep -q '^#define' "$man/man3/clforka.3" && fail "clforka.3 shows a macro"
    grep -q '^EINVAL: a wrong size' "$man/man3/clfork.3" || fail "clfork.3 names no errors"
    grep -q '^float \*v = clmalloc(cp, n' "$man/man3/clmalloc.3" || fail "clmalloc.3 does not have the preferred example"
    grep -q '^clfork(' "$man/man3/clfork.3" || fail "clfork.3 has no example"
    if command -v mandoc >/dev/null; then
        mandoc -T lint -W style "$man"/man?/* 2>&1 | grep -v 'referenced manual not found' >lint.txt || true
        [ ! -s lint.txt ] || { cat lint.txt; fail "mandoc finds fault with pages"; }
    fi
    # mandoc looks for the pages of SEE ALSO in the system; ours are here.
    sed -n 's/^\.Xr \([^ ]*\) \([137]\).*/\1.\2/p' "$man"/man?/*.? | sed 's/\\//g' | sort -u | while read -r page; do
        [ -e "$man/man${page##*.}/$page" ] || fail "a page refers to $page, which is not there"
    done
    awk -f "$source/tools/pages/options.awk" "$table" | cmp - "$source/docs/options.md" ||
        fail "docs/options.md has other options than the command: run 'make options'"
    awk -F '\t' '$1 == "command" { print $2 }' "$table" | while read -r name; do
        grep -qx "## \`stdcl $name\`" "$source/docs/command.md" || fail "docs/command.md does not go through stdcl $name"
    done
    # Every option is in the page of its command and in the three completions.
    awk -F '\t' '$1 == "command" { name = $2 } $1 == "option" { print name, $3 == "" ? "-" $2 : "--" $3 }' "$table" >options
    [ "$(wc -l <options)" -gt 50 ] || fail "the table of options has only $(wc -l <options)"
    completions="$prefix/share/bash-completion/completions/stdcl $prefix/share/zsh/site-functions/_stdcl
        $prefix/share/fish/vendor_completions.d/stdcl.fish"
    # shellcheck disable=SC2086 # three files
    awk -f "$source/tests/install/options.awk" options "$man"/man1/stdcl-*.1 $completions || fail "the table has them"
    # Every environment variable that our code reads is in the page of the environment.
    grep -rhoE 'getenv\("[A-Z_0-9]+"' "$source" --include=*.c --exclude-dir=tests --exclude-dir=bench --exclude-dir="build*" |
        sed 's/.*"\([A-Z_0-9]*\)"/\1/' | sort -u | while read -r variable; do
        case $variable in HOME) continue ;; esac # only where XDG_CACHE_HOME is not set
        grep -q "\`$variable\`" "$source/docs/environment.md" || fail "docs/environment.md lacks $variable"
    done
    ;;

completion) # as the shells have it
    bash_says=$(bash -c '. "$1"; COMP_WORDS=(stdcl nbody --in) COMP_CWORD=2; _stdcl; echo "${COMPREPLY[*]}"
        COMP_WORDS=(stdcl nbody --integrator her) COMP_CWORD=3; _stdcl; echo "${COMPREPLY[*]}"
        COMP_WORDS=(stdcl clu) COMP_CWORD=1; _stdcl; echo "${COMPREPLY[*]}"' - "$prefix/share/bash-completion/completions/stdcl")
    [ "$bash_says" = "--input --integrator
hermite4 hermite6
cluster-model" ] || fail "bash completes as: $bash_says"
    mkdir -p home
    export HOME="$work/home" XDG_CONFIG_HOME="$work/home" XDG_DATA_HOME="$work/home"
    if command -v zsh >/dev/null; then
        zsh_says=$(zsh -f "$source/tests/install/completion.zsh" "$prefix/share/zsh/site-functions" \
            "stdcl nbody --inte" "stdcl nbody --integrator her" "stdcl clu")
        [ "$zsh_says" = "stdcl nbody --integrator=
stdcl nbody --integrator hermite
stdcl cluster-model " ] || fail "zsh completes as: $zsh_says"
    fi
    if command -v fish >/dev/null; then
        fish_says=$(fish --no-config -c 'source $argv[1]; complete -C "stdcl nbody --in"; complete -C "stdcl nbody --integrator her"
            complete -C "stdcl clu"' "$prefix/share/fish/vendor_completions.d/stdcl.fish" | cut -f 1)
        [ "$fish_says" = "--input
--integrator
hermite4
hermite6
cluster-model" ] || fail "fish completes as: $fish_says"
    fi
    ;;

uninstall)
    rm -rf away
    mkdir away
    DESTDIR=$work/away "$cmake" --install "$build" --prefix /usr/local >/dev/null
    [ -e away/usr/local/bin/stdcl ] || fail "DESTDIR is not heeded"
    [ -h away/usr/local/share/man/man3/clexecv.3 ] || fail "no link to a page in DESTDIR"
    make -s -C "$source" uninstall BUILD="$build" DESTDIR="$work/away"
    left=$(find away -type f -o -type l | head -n 3)
    [ -z "$left" ] || fail "make uninstall leaves $left"
    ;;

command)
    "$prefix/bin/stdcl" --help >help.txt
    grep -q nbody help.txt || fail "stdcl --help does not name nbody"
    (cd "$source" && find nbody -name '*.cl') | while read -r file; do
        cmp "$source/$file" "$prefix/share/stdcl/kernels/$file"
    done
    ;;

examples) # the copies appear whole, in a new folder, and build against this installation
    rm -rf copies
    "$prefix/bin/stdcl" examples copies >said
    grep -q 'make -C copies run' said || fail "stdcl examples says: $(cat said)"
    (unset PKG_CONFIG_PATH && make -s -C copies CC="$cc" && cd copies && ./01_hello >/dev/null && ./07_embedded >/dev/null)
    ldd copies/01_hello | grep -q "libstdcl.so.* => $lib/" || fail "not linked with the installed library"
    for file in "$source"/examples/[0-9]*; do
        cmp "$file" "copies/${file##*/}"
    done
    "$prefix/bin/stdcl" examples copies 2>said && fail "an existing folder was replaced"
    grep -q "'copies' exists" said || fail "an existing folder is refused with: $(cat said)"
    [ -z "$(find . -maxdepth 1 -name 'copies.*')" ] || fail "a temporary folder is left"
    make -s -C copies clean
    make -s -C copies PREFIX=/nonexistent PKG_CONFIG_LIBDIR=/nonexistent 2>said && fail "built without the library"
    grep -q 'not installed below /nonexistent' said || fail "without the library make says: $(cat said)"
    ;;

*) fail "unknown step $step" ;;
esac
