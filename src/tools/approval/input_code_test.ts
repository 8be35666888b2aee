import {
  assertNotForbidden,
  testForbiddenCommands,
} from "../../../tests/sandbox/explain_with_gate.ts";

/** Commands that write a program which the same script runs, or pass it as the input of another one. */
const FORBIDDEN: readonly string[] = [
  "{ echo '#!/bin/sh'; echo 'rm -r b'; } > a.sh; chmod +x a.sh; ./a.sh",
  "(echo 'rm b') > a; chmod +x a; ./a",
  'for x in b c; do echo "rm $x"; done > a; chmod +x a; ./a',
  "f() { echo 'rm b'; }; f > a; chmod +x a; ./a",
  "f() { echo 'rm b'; } > a; f; chmod +x a; ./a",
  "exec > a; echo 'rm b'; chmod +x a; ./a",
  "echo 'rm b' | cat > a; chmod +x a; ./a",
  "echo 'rm X' | sed s/X/b/ > /tmp/a; chmod +x /tmp/a; /tmp/a",
  'w() { cat > "$1"; chmod +x "$1"; }; w a <<< \'rm b\'; ./a',
  "w() { cat > $1; chmod +x $1; }; echo 'rm b' | w a; ./a",
  "install -m 755 /dev/stdin bin/a <<< 'rm b'; bin/a",
  "cp /dev/stdin a <<< 'rm b'; chmod +x a; ./a",
  "echo 'system(\"rm b\")' | perl /dev/stdin",
  "printf 'a:; rm b' | make -f/dev/fd/0",
  "cd /proc/self/fd; echo 'system(\"rm b\")' | perl 0",
  "strace -o '|rm b' ls",
  "strace --output='!rm b' ls",
  "make 'CC=$(shell rm b)'",
  "CC='$(shell rm b)' make",
  "export CC='$(shell rm b)'; make",
  "env CC='$(shell rm b)' make",
  "MAKEFLAGS='$(shell rm b)' make",
  "make SHELL:=./a",
  "make 'SHELL = ./a'",
  "make '.SHELLFLAGS=-c \"$A\"'",
  "make 'A!=r\"\"m b'",
  "make 'A != r\"\"m b'",
  "make -f - <<< 'a:; r\"\"m b'",
  "make a -f- <<< 'a:; r\"\"m b'",
  "make --makefile=- a <<< 'a:; r\"\"m b'",
  "CC=$'$(shell rm b)' make",
  "X=; CC='$(shell rm b)'$X make",
  "CC='$(sh'\"$X\"'ell rm b)' make",
  "X='$'; CC=\"${X}(shell rm b)\" make",
  "export CC=$'$(shell rm b)'; make",
  "declare -x CC='$(shell rm b)'\"$X\"; make",
  'nproc() { echo "$X"; }; MAKEFLAGS=-j$(nproc) make',
  'MAKEFLAGS="-j$(nproc) $X" make',
];

testForbiddenCommands(FORBIDDEN);

Deno.test("approvalGate(): deny rules let pass texts of a script that runs other programs by their path", async () => {
  await assertNotForbidden([
    "{ echo a; echo 'rm b'; } > a.txt; ./a",
    "./a > b.log 2>&1; tail b.log; echo 'rm b later'",
    'L=$(mktemp); ./a > "$L" 2>&1; tail "$L"; echo "rm b later"',
    './a; echo "rm: $X"',
    'f() { echo "rm $1"; }; f b; ./a',
    "echo 'rm b' | tee b.txt; ./a",
    "echo 'rm b'; node a.js > /dev/null < /dev/null",
    "strace -fo a.txt ls",
    'make V="$(git describe)" CFLAGS=-O2',
    "MAKEFLAGS='-j8 --no-print-directory' make",
    'MAKEFLAGS="-j$(nproc)" make',
    "export MAKEFLAGS=-j$(nproc); make",
    "env MAKEFLAGS=-j8 make",
    'make -f a.mk A="!="',
    "grep -n '$(shell' Makefile",
  ]);
});
