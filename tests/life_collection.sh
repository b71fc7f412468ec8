#!/bin/sh
# life_collection.sh - Golly's own patterns here and in bgolly: the same population at generation 1,000.
#
#   life_collection.sh STDCL some|all
#
# some: a few small ones of each kind of file; all: whatever lies in Golly's folders Life, Life-Like, Non-Totalistic, Generations and Larger-than-Life, and all with rules of
# files, but scripts, archives, and rules that are refused, each of which must be refused in a sentence. Of rules of files it is generation 200, of Generations and Larger than Life 30, since some of those are on a grid here. Without bgolly or its patterns: 77.
# SPDX-License-Identifier: MIT
set -u
stdcl=$1
patterns=${GOLLY_PATTERNS:-/usr/share/golly/Patterns}
rules=${GOLLY_RULES:-/usr/share/golly/Rules}
command -v bgolly >/dev/null 2>&1 && [ -d "$patterns/Life" ] || { echo "golly is not installed"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
case $2 in
all) find "$patterns/Life" "$patterns/Life-Like" "$patterns/Non-Totalistic" "$patterns/Generations" "$patterns/Larger-than-Life" \
    "$patterns/Loops" "$patterns/Margolus" "$patterns/Other-Rules" "$patterns/Patersons-Worms" "$patterns/Self-Rep" "$patterns/Turmites" "$patterns/WireWorld" -type f ! -name '*.lua' ! -name '*.zip' | sort > "$folder/list" ;;
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
$patterns/Larger-than-Life/SlowShip.rle
$patterns/Life-Like/persian-rugs.lif
$patterns/Life-Like/Morley/enterprise-gun.rle
$patterns/Non-Totalistic/rr14gun.rle
$patterns/Non-Totalistic/horiship-guns.rle
END
esac
run=0 refused=0 wrong=0
while IFS= read -r file; do
    [ -f "$file" ] || continue # other versions of Golly have other patterns
    zcat -f "$file" | grep -q 'rule *= *LifeHistory' && continue # of which bgolly counts the notes as cells
    n=1000 by=QuickLife
    case $file in */Generations/*) n=30 by=Generations ;; */Larger-than-Life/*) n=30 by='Larger than Life' ;;
    */Loops/* | */Margolus/* | */Other-Rules/* | */Patersons-Worms/* | */Self-Rep/* | */Turmites/* | */WireWorld/*) n=200 by=RuleLoader ;; esac
    ours=$("$stdcl" life -p "$file" -n $n --threads 1 --json 2> "$folder/err" || "$stdcl" life -p "$file" -n $n --json 2> "$folder/err")
    ours=$(printf '%s\n' "$ours" | sed -n 's/^ *"population": "\{0,1\}\([0-9]*\).*/\1/p')
    if [ -z "$ours" ] && grep -q 'not a rule this engine knows\|cannot be used\|is no rule' "$folder/err"; then
        refused=$((refused + 1))
        continue
    fi
    run=$((run + 1))
    golly=$(bgolly -s "$rules/" -a "$by" -m $n -i $n "$file" 2>/dev/null | sed -n 's/^[0-9,]*: \([0-9,]*\)$/\1/p' | tail -n 1 | tr -d ,)
    [ -n "$ours" ] && [ "$ours" = "$golly" ] && continue
    echo "$file: bgolly says ${golly:-nothing}, stdcl ${ours:-nothing}: $(cat "$folder/err")"
    wrong=$((wrong + 1))
done < "$folder/list"
echo "$run patterns with the population of bgolly at generation 1,000 (200 of rules of files, 30 of Generations and Larger than Life), but $wrong; $refused refused"
[ "$wrong" = 0 ] && [ "$run" -ge 6 ]
