#!/bin/sh
# deps.sh - install missing build dependencies.
#
#   tools/deps.sh run      for the command, which `make run` builds
#   tools/deps.sh          for `make test`: the same and more
#   tools/deps.sh bench    for benchmarks and comparisons
#   tools/deps.sh deb      for building and checking the Debian packages, and for the site
#   tools/deps.sh view     for tests of the live view's page: a browser, Node and npm
#   tools/deps.sh test     for other tests of `make test`, which are skipped without them
#   tools/deps.sh deep     for further tests of `make test-deep`
#
# On Debian and Ubuntu it installs missing packages with apt-get, through sudo unless root, and does
# nothing if none is missing. On other systems it prints the package names for dnf, pacman and brew,
# and fails if the build needs a missing one.
# SPDX-License-Identifier: MIT
set -u

# One row per package: its need (must: the build fails without it; may: a feature, a device or a
# comparison is absent), its names for apt, dnf, pacman and brew (- none), and a check for its
# contents, from whatever source.
packages() {
    case $1 in
    run) cat <<'END' ;;
must gcc                gcc                  gcc               gcc               command gcc
must g++                gcc-c++              gcc               gcc               command g++
must make               make                 make              make              command make
must cmake              cmake                cmake             cmake             command cmake
must pkg-config         pkgconf-pkg-config   pkgconf           pkgconf           command pkg-config
must opencl-headers     opencl-headers       opencl-headers    opencl-headers    library OpenCL
must ocl-icd-opencl-dev pkgconfig(OpenCL)    ocl-icd           opencl-icd-loader library OpenCL
may  pocl-opencl-icd    pocl                 pocl              pocl              driver pocl
may  libpng-dev         libpng-devel         libpng            libpng            library libpng
may  libwebsockets-dev  libwebsockets-devel  libwebsockets     libwebsockets     library libwebsockets
may  zlib1g-dev         zlib-devel           zlib              zlib              library zlib
may  libfast-float-dev  fast_float-devel     fast_float        fast_float        header fast_float/fast_float.h
may  libluajit-5.1-dev  luajit-devel         luajit            luajit            library luajit
must libjansson-dev     jansson-devel        jansson           jansson           library jansson
END
    base)
        packages run
        cat <<'END'
may  libhdf5-dev        hdf5-devel           hdf5              hdf5              library hdf5
may  luajit             luajit               luajit            luajit            command luajit
may  openmpi-bin        openmpi              openmpi           open-mpi          command mpirun
may  libopenmpi-dev     openmpi-devel        openmpi           open-mpi          command mpicc
may  gnuplot-nox        gnuplot              gnuplot           gnuplot           command gnuplot
may  python3-h5py       python3-h5py         python-h5py       -                 python h5py
may  python3-websockets python3-websockets   python-websockets -                 python websockets
may  python3-numpy      python3-numpy        python-numpy      numpy             python numpy
may  python3-pycparser  python3-pycparser    python-pycparser  pycparser         python pycparser
may  clang-format-14    -                    -                 -                 command clang-format-14
may  gfortran           gcc-gfortran         gcc-fortran       gcc               command gfortran
must libcmocka-dev      libcmocka-devel      cmocka            cmocka            library cmocka
END
        ;;
    deb) cat <<'END' ;;
must debhelper          -                    -                 -                 command dh
must dh-python          -                    -                 -                 command dh_python3
must lintian            -                    -                 -                 command lintian
may  reuse              reuse                reuse             reuse             command reuse
may  abigail-tools      libabigail           libabigail        -                 command abidiff
must mandoc             mandoc               mandoc            mandoc            command mandoc
must mkdocs             mkdocs               mkdocs            -                 command mkdocs
must python3-pygments   python3-pygments     python-pygments   pygments          python pygments
must libopenmpi-dev     openmpi-devel        openmpi           open-mpi          command mpicc.openmpi
must libmpich-dev       mpich-devel          mpich             mpich             command mpicc.mpich
may  rpm                rpm-build            rpm-tools         rpm               command rpmspec
may  rpmlint            rpmlint              -                 -                 command rpmlint
must python3-all        -                    -                 -                 package python3-all
END
    bench) cat <<'END' ;;
may  clang              clang                clang             llvm              command clang
may  oclgrind           -                    -                 -                 command oclgrind
may  libopenblas-dev    openblas-devel       openblas          openblas          library openblas
may  libclblast-dev     clblast-devel        clblast           clblast           library clblast
may  golly              -                    -                 -                 command bgolly
may  clinfo             clinfo               clinfo            clinfo            command clinfo
may  hyperfine          hyperfine            hyperfine         hyperfine         command hyperfine
may  ffmpeg             ffmpeg               ffmpeg            ffmpeg            command ffmpeg
may  librsvg2-bin       librsvg2-tools       librsvg           librsvg           command rsvg-convert
may  libboost-dev       boost-devel          boost             boost             header boost/multi_array.hpp
END
    test) cat <<'END' ;;
may  libmpich-dev       mpich-devel          mpich             mpich             command mpicc.mpich
may  mypy               python3-mypy         mypy              mypy              command mypy
may  abigail-tools      libabigail           libabigail        -                 command abidiff
may  locales            glibc-locale-source  glibc             -                 file /usr/share/i18n/locales/de_DE
END
    deep) cat <<'END' ;;
may  python3-ipykernel  python3-ipykernel    python-ipykernel  -                 python ipykernel
may  python3-nbclient   python3-nbclient     python-nbclient   -                 python nbclient
may  python3-nbformat   python3-nbformat     python-nbformat   -                 python nbformat
may  python3-build      python3-build        python-build      -                 python build
may  python3-setuptools python3-setuptools   python-setuptools -                 python setuptools
may  python3-wheel      python3-wheel        python-wheel      -                 python wheel
may  python3-pip        python3-pip          python-pip        -                 python pip
may  patchelf           patchelf             patchelf          patchelf          command patchelf
may  python3-yt         python3-yt           -                 -                 python yt
may  reuse              reuse                reuse             reuse             command reuse
may  mandoc             mandoc               mandoc            mandoc            command mandoc
may  mkdocs             mkdocs               mkdocs            -                 command mkdocs
may  python3-pygments   python3-pygments     python-pygments   pygments          python pygments
may  iproute2           iproute              iproute2          -                 command ip
END
    view) cat <<'END' ;;
may  nodejs             nodejs               nodejs            node              command node
may  npm                nodejs-npm           npm               -                 command npm
may  chromium           chromium             chromium          chromium          command chromium
END
    esac
}

seen() { # seen KIND NAME
    case $1 in
    command) command -v "$2" >/dev/null 2>&1 ;;
    library) pkg-config --exists "$2" 2>/dev/null ;;
    header) [ -e "${HEADERS:-/usr/include}/$2" ] ;;
    file) [ -e "$2" ] ;;
    python) "${PYTHON:-/usr/bin/python3}" -c "import $2" 2>/dev/null ;;
    package) false ;; # it brings nothing of its own: apt alone knows
    driver) grep -qs "$2" "${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}"/*.icd ;;
    esac
}

# Print the rows of missing packages.
missing() {
    installed=' '
    if command -v dpkg-query >/dev/null 2>&1; then
        # shellcheck disable=SC2046 # one word a package
        installed=" $(dpkg-query -W -f '${db:Status-Status}:${Package}\n' \
            $(packages "$list" | awk '{print $2}') 2>/dev/null |
            sed -n 's/^installed://p' | tr '\n' ' ')"
    fi
    packages "$list" | while read -r need apt dnf pacman brew kind name; do
        case $installed in *" $apt "*) continue ;; esac
        seen "$kind" "$name" || echo "$need $apt $dnf $pacman $brew"
    done
}

column() { # column N: that column of the rows on stdin, each name once, on one line
    awk -v n="$1" '$n != "-" && !had[$n]++ { printf "%s%s", sep, $n; sep = " " }'
}

as_root() { # as_root COMMAND...: without questions, and without waiting for a password in a script
    if [ "$(id -u)" = 0 ]; then
        env DEBIAN_FRONTEND=noninteractive "$@"
    elif ! command -v sudo >/dev/null 2>&1; then
        echo "deps.sh: not root, and there is no sudo; as root, run: apt-get install $wanted" >&2
        return 1
    elif [ -t 0 ]; then
        sudo env DEBIAN_FRONTEND=noninteractive "$@"
    else
        sudo -n env DEBIAN_FRONTEND=noninteractive "$@"
    fi
}

update() {
    as_root apt-get -q -o DPkg::Lock::Timeout=300 update
}

install() {
    # Skip packages that this release lacks; the check below reports them.
    known=
    for package in $wanted; do
        if apt-cache show "$package" >/dev/null 2>&1; then
            known="$known $package"
        fi
    done
    # shellcheck disable=SC2086 # one word a package
    [ -n "$known" ] &&
        as_root apt-get -q -o DPkg::Lock::Timeout=300 install -y --no-install-recommends $known
}

list=${1:-base}
case $list in
run | base | bench | deb | view | test | deep) ;;
*)
    echo "deps.sh: unknown list '$list': give run, base, bench, deb, view, test or deep" >&2
    exit 2
    ;;
esac
rows=$(missing)
[ -n "$rows" ] || exit 0

if command -v apt-get >/dev/null 2>&1; then
    wanted=$(echo "$rows" | column 2)
    echo "Installing what is missing: $wanted"
    # The lists of a fresh system are empty, those of an old one out of date.
    # shellcheck disable=SC2086
    if apt-cache show $wanted >/dev/null 2>&1; then
        install || { update && install; }
    else
        update && install
    fi
    rm -f "${BUILD:-build}/Makefile" # what CMake found before holds no longer
    rows=$(missing)
    [ -n "$rows" ] || exit 0
    echo "deps.sh: still missing: $(echo "$rows" | column 2)" >&2
else
    echo "Missing on this system; install with one of"
    echo "    dnf install $(echo "$rows" | column 3 | sed "s/[^ ]*([^)]*)/'&'/g")"
    echo "    pacman -S $(echo "$rows" | column 4)"
    echo "    brew install $(echo "$rows" | column 5)"
fi

# Without the rest, features are absent and say so.
if echo "$rows" | grep -q '^must'; then
    echo "deps.sh: stdcl cannot be built without them" >&2
    exit 1
fi
