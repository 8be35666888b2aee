import {
  assertNotForbidden,
  testForbiddenCommands,
} from "../../../../tests/sandbox/explain_with_gate.ts";

const FORBIDDEN: readonly string[] = [
  // Programs in the arguments of code that starts them.
  "perl -e 'alarm shift; exec @ARGV' 30 rm a",
  "perl -e 'alarm shift @ARGV; exec @ARGV' 30 git -C b push",
  "perl -e 'alarm shift; exec @ARGV' 30 sh -c 'cd b; rm a'",
  "perl -e 'alarm shift; exec @ARGV' 30 $X a",
  "timeout() { perl -e 'alarm shift; exec @ARGV' \"$@\"; }; timeout 30 git push",
  "python3 -c 'import subprocess, sys; subprocess.run(sys.argv[1:], timeout=5)' rm a",
  "ruby -e 'exec(*ARGV)' git push",
  "node -e 'require(\"child_process\").spawnSync(process.argv[1], process.argv.slice(2))' rm a",
  "just --command rm a",
  "just -d b -c git push",
  // Programs in its input.
  "echo 'rm a' | awk '{ system($0) }'",
  "awk '{ system($0) }' <<< 'git push'",
  "echo 'rm a' | perl -ne 'system $_'",
  "echo 'rm a' | python3 -c 'import os, sys; os.system(sys.stdin.read())'",
  "echo 'rm a' | ruby -e 'system(gets)'",
  "echo 'rm a' | node -e 'process.stdin.on(\"data\", require(\"child_process\").execSync)'",
  // Programs in its variables.
  "X='rm a'; python3 -c \"import os; os.system('$X')\"",
  "X='git push'; node -e \"require('child_process').execSync('$X')\"",
  "X='rm a' python3 -c 'import os; os.system(os.environ[\"X\"])'",
  "export X='rm a'; node -e 'require(\"child_process\").execSync(process.env.X)'",
];

testForbiddenCommands(FORBIDDEN, ["bash(rm *)", "bash(git push *)"]);

Deno.test("approvalGate(): deny rules let pass inputs and arguments of code that starts no program with them", async () => {
  await assertNotForbidden([
    "perl -e 'alarm shift; exec @ARGV' 30 npm test",
    "perl -e 'print shift' rm",
    'python3 -c \'import json, sys; print(json.load(open(sys.argv[1]))["a"])\' "$F" rm',
    "node -e 'console.log(/a/.exec(process.argv[1]))' rm",
    "echo '{\"a\": \"rm b\"}' | python3 -c 'import json, sys; print(json.load(sys.stdin))'",
    "echo 'rm a' | node -e 'process.stdin.on(\"data\", (data) => console.log(/r/.exec(data)))'",
    "echo 'rm a' | awk '{ print $0 }'",
    "T='rm a'; python3 -c \"print('$T')\"; python3 -c 'import os; print(os.environ[\"T\"])'",
    "echo 'rm a'; python3 -c 'import subprocess; subprocess.run([\"ls\"])'",
    "just test rm",
  ]);
});
