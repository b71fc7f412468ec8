# smaller.sed - makes a command of the documents one that ends in a second on any machine, and changes nothing else.
# Devices that this machine may not have, and terminals.
s/--device (gpu|H200)/--device 0/
s/^(stdcl nbody .*--compare) --device 0/\1/
s/ --watch/ --generations 10/
# Sizes.
s/( nbody\.lua)$/\1 256 2/
s/^(stdcl nbody.*) -n [0-9^e]+/\1/
/^stdcl nbody .*--check-forces/s/ --steps 10//
s/^stdcl nbody (.*--check-forces)/stdcl nbody -n 2000 --steps 10 \1/
/^stdcl nbody .*(-i |-n |--help|--resume|--ic (solar|list))/!s/^stdcl nbody /stdcl nbody -n 200 /
s/^(stdcl nbody .*)--until [0-9]{2,}/\1--until 1/
s/(stdcl nbody .*)--frames 300/\1--frames 3/
s/(stdcl nbody .*\.(png|mp4).*)/\1 --size 64x64/
s/(stdcl nbody .*\.mp4 --size 64x64)$/\1 --frames 3/
s/(stdcl life .*)--size (4096|65536)/\1--size 512/
s/(stdcl life .*\.mp4.*)/\1 --frames 3/
s/(stdcl life --compare)/\1 --size 128 --generations 4/
s/(stdcl gas .*)-n (1e[0-9]|2.5e7)/\1-n 1e6/
s/(stdcl life census.*)--soups [0-9.^e]+/\1--soups 20/
s/^stdcl life census$/& --soups 20/
s/^(stdcl life sweep) --csv/\1 --soups 1 -n 1 --csv/
s/(stdcl matmul .*)-n [0-9]+/\1-n 32 --repeat 1/
/^stdcl matmul .*(-n |-a |--help)/!s/^stdcl matmul .*/& -n 32 --repeat 1/
s/^stdcl matmul (-n 32 --repeat 1) --compare$/stdcl matmul --compare \1/
s/^stdcl tune (--(device|minutes)|$)/stdcl tune nbody.direct.single \1/
s/^stdcl tune$/stdcl tune nbody.direct.single/
s/'\*\.double'/nbody.direct.double/
s/^stdcl tune arrays$/stdcl tune arrays.sum.single/
/^stdcl tune/s/ --(size|minutes) [0-9]+| --as [^ ]+//g
s/^stdcl tune [a-z].*/& --size 1024 --minutes 0.01/
s/(stdcl nbody .*--ensemble) [0-9]+/\1 64/
# Windows stay open until Ctrl-C, and need libwebsockets.
s/^(stdcl (nbody|life|gas|matmul) .*) --view( |$)/\1 --record window.view\3/
/^stdcl view .* -o /!s/^stdcl view .*/& -o page.html/
