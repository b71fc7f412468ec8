#!/bin/sh
# life_collection.sh - Golly's own patterns here and in bgolly: equal populations at generation
# 1,000.
#
#   life_collection.sh STDCL some|all
#
# some: a few small ones of each kind of file; all: all files in Golly's folder of patterns except
# scripts and archives.
# Rule files run to generation 200, Generations and Larger than Life to 30, since some of those are
# on a grid here. Unsupported rules must be rejected with a message: JvN29, Nobili32 and Hutton32
# are built into Golly and in no file. Without bgolly or its patterns: 77.
# SPDX-License-Identifier: MIT
set -u
stdcl=$1
patterns=${GOLLY_PATTERNS:-/usr/share/golly/Patterns}
rules=${GOLLY_RULES:-/usr/share/golly/Rules}
command -v bgolly >/dev/null 2>&1 && [ -d "$patterns/Life" ] || { echo "golly is not installed"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
case $2 in
all) find "$patterns" -type f ! -name '*.lua' ! -name '*.zip' ! -name '*.py' ! -name '*.txt' | sort > "$folder/list" ;;
*) cat > "$folder/list" <<END ;;
$patterns/Life/Methuselahs/acorn.lif
$patterns/Life/Methuselahs/blom.rle
$patterns/Life/Breeders/breeder.lif
$patterns/Life/Breeders/switch-engine-ping-pong.rle
$patterns/Life/Guns/p59-gun-with-Snark-reflectors.rle
$patterns/Life/Puffers/puffer-train.rle
$patterns/Life/Syntheses/syntheses-of-c2-spaceships.rle.gz
$patterns/Life/Bounded-Grids/lightspeed-bubble-torus.rle
$patterns/Life/Bounded-Grids/Klein-bottle.rle
$patterns/Life/Bounded-Grids/cross-surface.rle
$patterns/Life/Bounded-Grids/sphere.rle
$patterns/Life/Bounded-Grids/torus-with-shift.rle
$patterns/Generations/Nova.mcl
$patterns/Generations/Sawfish.rle
$patterns/Larger-than-Life/Bosco.mcl
$patterns/Loops/Langtons-Loops.rle
$patterns/Loops/Tempesti-Loop.rle
$patterns/Margolus/BBM.rle
$patterns/Turmites/Langtons-Ant.rle
$patterns/WireWorld/primes.mc
$patterns/WireWorld/gate-XOR.mcl
$patterns/Self-Rep/Codd/Goucher-replicator.mc.gz
$patterns/HashLife/metapixel-galaxy.mc.gz
$patterns/Larger-than-Life/SlowShip.rle
$patterns/Life-Like/persian-rugs.lif
$patterns/Life-Like/Morley/enterprise-gun.rle
$patterns/Non-Totalistic/rr14gun.rle
$patterns/Non-Totalistic/horiship-guns.rle
END
esac

# population_of_golly FILE N ALGORITHM: by that algorithm, or the first one that supports the rule.
population_of_golly() {
    for by in "$3" HashLife Generations 'Larger than Life' RuleLoader; do
        timeout 600 bgolly -s "$rules/" -a "$by" -m "$2" -i "$2" "$1" 2>/dev/null | sed -n "s/^$(printf %d "$2" | sed 's/^1000$/1,000/'): \([0-9,]*\)\$/\1/p" |
            tr -d , | grep . && return
    done
}

run=0 refused=0 wrong=0
while IFS= read -r file; do
    [ -f "$file" ] || continue # other versions of Golly have other patterns
    n=1000 by=QuickLife
    case $file in */HashLife/*) by=HashLife ;; */Generations/*) n=30 by=Generations ;; */Larger-than-Life/*) n=30 by='Larger than Life' ;;
    */Loops/* | */Margolus/* | */Other-Rules/* | */Patersons-Worms/* | */Self-Rep/* | */Turmites/* | */WireWorld/*) n=200 by=RuleLoader ;; esac
    ours=$(timeout 600 "$stdcl" life -p "$file" -n $n --threads 1 --json 2> "$folder/err" || timeout 600 "$stdcl" life -p "$file" -n $n --json 2> "$folder/err")
    ours=$(printf '%s\n' "$ours" | sed -n 's/^ *"population": "\{0,1\}\([0-9]*\).*/\1/p')
    if [ -z "$ours" ] && grep -q "'\(JvN29\|Nobili32\|Hutton32\)' is not a rule" "$folder/err"; then
        refused=$((refused + 1))
        continue
    fi
    run=$((run + 1))
    golly=$(population_of_golly "$file" $n "$by")
    [ -n "$ours" ] && [ "$ours" = "$golly" ] && continue
    echo "$file: bgolly says ${golly:-nothing}, stdcl ${ours:-nothing}: $(cat "$folder/err")"
    wrong=$((wrong + 1))
done < "$folder/list"
echo "$run patterns with the population of bgolly at generation 1,000 (200 of rules of files, 30 of Generations and Larger than Life), but $wrong; $refused refused"
[ "$wrong" = 0 ] && [ "$run" -ge 6 ]
