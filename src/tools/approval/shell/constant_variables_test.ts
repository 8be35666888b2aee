import {
  assertNotForbidden,
  testForbiddenCommands,
} from "../../../../tests/sandbox/explain_with_gate.ts";

/** Commands whose variables have other values than those of one assignment, or a value that runs the program. */
const FORBIDDEN: readonly string[] = [
  // The assignment runs later, elsewhere or not at all.
  "$A rm b; A=./a",
  "W=$($A rm b) A=./a",
  "false && A=./a; $A rm b",
  "A=./a | ls; $A rm b",
  "A=./a & $A rm b",
  "(A=./a); $A rm b",
  "f() { $A rm b; }; f; A=./a",
  "A=./a bash -c ls; $A rm b",
  // Another command changes the variable.
  "A=./a; A=/bin/rm; $A b",
  "A=./a; A+=/../rm; $A b",
  "A=./a; A[0]=/bin/rm; $A b",
  "A=./a; command read A <<< /bin/rm; $A b",
  "A=./a; unset A; $A rm b",
  "A=./a; export A=/bin/rm; $A b",
  "A=./a; f() { local A=/bin/rm; $A b; }; f",
  "A=./a; for A in /bin/rm; do $A b; done",
  "A=./a; coproc A { ls; }; $A rm b",
  "A_PID=./a; coproc A { :; }; wait; $A_PID rm b",
  "A=./a; n=A; read $n <<< /bin/rm; $A b",
  "trap 'A=/bin/rm' DEBUG; A=./a; $A b",
  "trap 'A=/bin/rm' DEBUG; eval 'A=./a; $A b'",
  "A=./a; (( A = 1 )); $A rm b",
  "REPLY=./a; read <<< /bin/rm; $REPLY b",
  "IFS=/; A=./rm; $A b",
  // A shell that the script starts may have it from its environment.
  "A=./a; A=/bin/rm bash -c '$A b'",
  // The value runs the program, in a command of bash too, or is a pattern.
  "A=/bin/rm; $A b",
  "A=./a; echo 'rm b' > $A; chmod +x $A; $A",
  'A=a; echo \'rm b\' > "$A"; chmod +x "$A"; "./$A"',
  "A=/tmp/a; echo 'rm b' > $A; chmod +x /tmp/a; /tmp/a",
  "A=/tmp/a; echo 'rm b' > /tmp/a; chmod +x $A; $A",
  "A=/tmp; B=a; echo 'rm b' > $A/$B; chmod +x $A/$B; $A/a",
  "A=/tmp/a; echo 'rm b' | tee $A; chmod +x $A; /tmp/a",
  "A=$(ls); echo 'rm b' > $A; chmod +x $A; ./a",
  "echo 'rm b' > {a,}; chmod +x a; \"$PWD/a\"",
  "A=/tmp/a; echo 'import os; os.system(\"rm b\")' > $A; python3 /tmp/a",
  "A=/bin; $A/rm b",
  "A=/bin/env; $A rm b",
  "A=/bin/bash; $A -c 'rm b'",
  "A=read; $A PS4 <<< '$(rm b)'; set -x; ls",
  "A=command; $A read PS4 <<< '$(rm b)'; set -x; ls",
  "A='/bin/r?'; $A b",
  "A=/bin/{rm,b}; $A",
  "A='1e rm b'; sed \"$A\" c",
  'A=e; sed "s/.*/rm b/$A" c',
  "A='/;1e rm b;s/'; sed \"s/a/$A/\" c",
  'A=/; sed "s/a${A}b${A};1e rm b" c',
  "A=-f; sed $A a c",
];

testForbiddenCommands(FORBIDDEN);

Deno.test("approvalGate(): deny rules let pass programs and scripts of sed with variables of one known value", async () => {
  await assertNotForbidden([
    'A=./a; $A --help; "$A" b; echo "A: $A"',
    "A=.venv/bin/python && $A -m pytest",
    'set -e\nA=/opt/a\nif [ -x "$A/bin/b" ]; then $A/bin/b --version; fi',
    'V=1.2.3; sed -i "s/version = .*/version = \\"$V\\"/" a; git commit -m "Release $V"',
    'A=b C=d; sed -i "s|${A}|${C}|g" e; F=e; for x in 1 2; do sed -n "s/V/$A/p" "$F"; done',
    'A=1; B=20; sed -n "${A},${B}p" c',
  ]);
});
