import { assertEquals } from "@std/assert";
import {
  assertNotForbidden,
  decideWithDenyRules,
  testForbiddenCommands,
} from "../../../../tests/sandbox/explain_with_gate.ts";
import { startThreadTimer } from "../../../../tests/thread_time.ts";

/** Commands with an interpreter that gets other arguments than its code, or has another name. */
const FORBIDDEN: readonly string[] = [
  "echo 'system(\"rm b\")' | perl - a",
  "echo 'system(\"rm b\")' | perl -w - a",
  "echo 'system(\"rm b\")' | perl -I lib",
  "cat <<< 'os.system(\"rm b\")' | python3 - a",
  "echo 'os.system(\"rm b\")' | python3 -W ignore",
  "echo 'os.system(\"rm b\")' | python3 -Xdev -Wignore",
  "echo 'os.system(\"rm b\")' | python3 -m code",
  "echo 'os.system(\"rm b\")' | python3 -i a.py",
  "echo 'execSync(\"rm b\")' | node -r fs",
  "echo 'execSync(\"rm b\")' | node --require fs",
  "echo 'execSync(\"rm b\")' | deno repl",
  "echo '.shell rm b' | sqlite3 a.db",
  "echo '!rm b' | gdb a",
  "echo '!rm b' | gdb-multiarch a",
  "echo ':!rm b' | vim -es a.txt",
  "echo '!rm b' | ex a.txt",
  "echo 'BEGIN { system(\"rm b\") }' | awk -f - a.txt",
  "echo 'BEGIN { system(\"rm b\") }' | gawk -f- a.txt",
  "echo 'a: ; rm b' | just --justfile=- a",
  // Options without code, which is in the input then.
  "echo 'BEGIN { system(\"rm b\") }' | perl -c",
  "echo 'system(\"rm b\")' | perl -p",
  "echo 'system(\"rm b\")' | perl -pi",
  "echo 'system(\"rm b\")' | ruby -p",
  "echo 'execSync(\"rm b\")' | node -p",
  "echo 'execSync(\"rm b\")' | node --print",
  "echo 'system(\"rm b\")' | php -e",
  // Values of options, which are no script.
  "echo 'execSync(\"rm b\")' | node --disable-proto delete",
  "echo 'execSync(\"rm b\")' | node --tls-keylog a",
  "echo 'system(\"rm b\")' | php -c a.ini",
  "echo 'system(\"rm b\")' | ruby -E utf-8",
  "echo 'run(\"rm b\")' | julia -t 4",
  "echo 'doShellScript(\"rm b\")' | osascript -l JavaScript",
  "echo 'execSync(\"rm b\")' | ts-node -P a.json",
  // Consoles and debuggers, which read their input after the file.
  "echo 'execSync(\"rm b\")' | node -i a.js",
  "echo 'exec(\"rm b\")' | node inspect a.js",
  "echo 'os.execute(\"rm b\")' | lua -i a.lua",
  "echo '(system \"rm b\")' | guile -l a.scm",
  "echo 'os:cmd(\"rm b\").' | erl -s a",
  "echo '!os.system(\"rm b\")' | pdb3 a.py",
  "echo 'os.system(\"rm b\")' | python3 -m ipdb a.py",
  "echo '\\! rm b' | mariadb a",
  "echo '!rm b' | lftp a",
  "echo '.shell rm b' | duckdb a",
  "echo '\\! rm b' | cockroach sql",
  "echo '\"rm b\".!' | spark-shell",
  "echo '\"rm b\".!' | scala-cli",
  "hive -e '!rm b;'",
  "echo '!rm b' | perl -de 0",
  "echo '!rm b' | perl -wd -e 1",
  "echo 'os.system(\"rm b\")' | python3 -X dev -m pdb a.py",
  "echo 'os.system(\"rm b\")' | python3 -mpdb a.py",
  "echo 'execSync(\"rm b\")' | node --v8-pool-size 4",
  "echo 'execSync(\"rm b\")' | node --watch-kill-signal SIGTERM",
  "echo 'execSync(\"rm b\")' | node --debug-port 1",
  "echo 'new Deno.Command(\"rm b\")' | deno -L debug",
  "echo 'new Deno.Command(\"rm b\")' | deno repl --eval 1",
  "echo 'exec rm b' | tclsh -encoding utf-8",
  "echo 'system(\"rm b\")' | R --no-save --args a",
  "echo '(run-program \"rm b\")' | sbcl --load a.lisp",
  "echo 'rm b' | nix-shell -p a",
  "echo 'BEGIN { system(\"rm b\") }' | gawk -E -",
  "echo 'run-shell \"rm b\"' | tmux source-file -",
  // Consoles of frameworks.
  "echo 'system(\"rm b\")' | rails console",
  "echo 'system(\"rm b\")' | bundle exec rails c",
  "echo 'system(\"rm b\")' | php artisan tinker",
  "echo 'os.system(\"rm b\")' | python3 manage.py shell",
  "echo ':!rm b' | swift repl",
  // Programs that another one starts.
  "uv run bash <<< 'rm b'",
  "uv run python <<< 'os.system(\"rm b\")'",
  "echo 'os.system(\"rm b\")' | uv run -",
  "echo 'os.system(\"rm b\")' | uv run --with a python",
  "echo 'os.system(\"rm b\")' | poetry run python /dev/stdin",
  "echo 'rm b' | uv run bash /dev/stdin",
  "echo 'rm b' | uv run sh -s a",
  "echo 'execSync(\"rm b\")' | npx tsx",
  "echo 'execSync(\"rm b\")' | npx -p a node",
  "echo 'rm b' | docker exec -i a sh",
  "echo 'rm b' | vagrant ssh",
  "echo 'rm b' | gcloud compute ssh a",
  "echo 'rm b' | kubectl exec -i a -- sh",
  "echo 'os.system(\"rm b\")' | conda run -n a python",
  // A path of the input with expansions.
  "echo 'system(\"rm b\")' | perl /dev/st*in",
  "echo 'system(\"rm b\")' | perl /dev/{stdin,a}",
  "echo 'system(\"rm b\")' | perl /d*/stdin",
  "X=std; echo 'system(\"rm b\")' | perl /dev/${X}in",
  "echo 'system(\"rm b\")' | perl /dev/$(echo stdin)",
  'F=$(cat f); echo \'system("rm b")\' | perl "$F"',
  "perl5.36-x86_64-linux-gnu -e 'system(\"rm b\")'",
  "python3.11-dbg -c 'os.system(\"rm b\")'",
  "vim.tiny -es '+!rm b' +q",
  "tclsh8.6 <<< 'exec rm b'",
  "emacs-nox --batch --eval '(shell-command \"rm b\")'",
  "rust-gdb -batch -ex '!rm b'",
  "lldb-15 -b -o 'shell rm b'",
];

testForbiddenCommands(FORBIDDEN);

Deno.test("approvalGate(): deny rules let pass texts that an interpreter does not run", async () => {
  await assertNotForbidden([
    "echo 'rm b' | python3 a.py",
    "echo 'rm b' | python3 -X dev -W ignore a.py",
    "echo 'rm b' | python3 -m json.tool",
    "echo 'rm b' | perl -lne 'print'",
    "echo 'rm b' | perl -pi.bak -e 's/a/b/' c",
    "echo 'rm b' | node --enable-source-maps a.js",
    "echo 'rm b' | node --input-type=module -e 'a()'",
    "echo 'rm b' | perl -MList::Util -e1",
    "echo 'rm b' | perl -i -pe 's/a/b/' c",
    "echo 'rm b' | node -p '1'",
    "echo 'rm b' | python3 -c'import a'",
    "echo 'rm b' | guile a.scm",
    "echo 'rm b' | julia -t 4 a.jl",
    "echo 'rm b' | node --test a.js",
    "echo 'rm b' | mail -s a b",
    "echo 'rm b' | sbt test",
    "echo 'rm b' | php -c a.ini a.php",
    "echo 'rm b' | ruby -W0 a.rb",
    "echo 'rm b' | awk '{ print $1 }'",
    "echo 'rm b' | awk -f a.awk",
    "echo 'rm b' | awk -F : '{ print $1 }' -",
    "echo 'rm b' | deno run -A a.ts",
    "echo 'rm b' | docker build --build-arg A=b -t c .",
    "echo 'rm b' | npm run a",
    "python3-config --cflags | grep 'rm b'",
    "echo 'rm b' | python3 a.py -i c",
    "echo 'rm b' | node a.js -i c",
    "echo 'rm b' | node --test-only a.js",
    "echo 'rm b' | node --report-on-signal a.js",
    "echo 'rm b' | node --version",
    "echo 'rm b' | perl -d:NYTProf a.pl",
    "echo 'rm b' | julia --project a.jl",
    "echo 'rm b' | sbcl --load a.lisp --quit",
    "echo 'rm b' | R -f a.R",
    "echo 'rm b' | nix develop -c make",
    "echo 'rm b' | vagrant ssh -c ls",
    "echo 'rm b' | uv run a.py",
    "echo 'rm b' | uv run pytest -k a",
    "echo 'rm b' | npx prettier --stdin-filepath a.ts",
    "echo 'rm b' | docker exec -i a cat",
    "echo 'rm b' | docker build -t node .",
    "echo 'rm b' | git commit -F -",
    "echo 'rm b' | tee shell",
  ]);
});

Deno.test("approvalGate(): deny rules take little time for long words of interpreters and of make", async () => {
  const getThreadTime = startThreadTimer();
  for (
    const part of [".", "/.", "/", "=/", "a1", "1.", "-1", "!", "! ", "--", "a-", "edit "]
  ) {
    const text = part.repeat(30_000 / part.length);
    for (
      const command of [
        `perl a "/${text}a/$X"`,
        `echo a | perl '${text}'`,
        `perl${text.replace(/[^\w.-]/g, "-")} a`,
        `make A='${text}'`,
      ]
    ) await decideWithDenyRules(["bash(rm *)"], "bash", { command });
  }
  assertEquals(getThreadTime() < 2_000, true);
});
