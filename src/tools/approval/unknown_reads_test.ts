import { assertEquals } from "@std/assert";
import { findExecutedCommands } from "./executed_commands.ts";
import { mayReadUnknownFiles } from "./unknown_reads.ts";

const select = (commands: readonly string[], isUnknown: boolean): readonly string[] =>
  commands.filter((command) => mayReadUnknownFiles(findExecutedCommands(command)) === isUnknown);

/** Commands whose files are all in the text, or that show no content. */
const KNOWN = [
  "ls -la *",
  "cat src/a.ts | grep -c foo",
  "cat src/*.ts | head -50",
  "head -20 docs/*.md package*.json",
  "cat {a,b}.ts",
  "cat ~/project/a.ts $PWD/b.ts ${HOME}/c.ts",
  "wc -l $(git ls-files)",
  "find . -name '*.ts' | xargs wc -l",
  'for f in src/*; do wc -l "$f"; done',
  "du -sh */ | sort -h",
  "echo $X; echo *",
  "diff <(sort a) <(sort b)",
  "diff -u a.ts b.ts",
  "grep -rn foo src test",
  "grep -rn --include='*.ts' foo .",
  "grep -rne foo src",
  "rg -n foo",
  "rg -g '*.ts' -g '!node_modules' foo",
  "rg -ng'src/**/*.{ts,tsx}' foo",
  "rg --glob=*.md foo docs",
  "rg -tgo foo",
  "rg foo -g",
  "git grep -n --no-color foo",
  "grep -rn foo src/a..b",
  "git log --oneline main..feature",
  "grep -rn -C 3 foo src",
  "find src -name '*.ts' -exec wc -l {} +",
  "git show HEAD:src/a.ts",
  "npm test",
  "deno test --filter a",
  "deno check *.ts",
  "node --version",
  "python3 tools/list.py a",
  "make -n all",
  "awk '{print $1}' a.txt",
  "awk -F, '$2 > 3 || $1 == \"a\" {print}' a.csv",
  "sed -n 1,5p a.ts",
  "cat < a.ts",
  "test -f $X && ls",
  "curl a.test",
  "env FOO=1 npm test",
];

/** Commands that may read files which are not in the text. */
const UNKNOWN = [
  "f=.en; cat ${f}v",
  "x=secret; cat $x/a",
  "ls -a | grep env | xargs cat",
  "ls -a | xargs -I F head F",
  "find . -type f -exec cat {} +",
  "find . -type f -print0 | sort --files0-from=-",
  "cat /proc/self/*",
  "head -c 99 /proc/self/fd/../[ef]*",
  "cat *",
  "cat ./*/*",
  "head config/s*",
  "cat .[a-z]*",
  "cat .??*",
  "cat {.,a}*",
  "cat *.json",
  "cat $(ls -a)",
  "cat `ls -a`",
  "cat \"$(find . -name '*env')\"",
  "cat $(printf '.%s' env)",
  "for f in .* *; do cat $f; done",
  'ls -a | while read -r f; do cat "$f"; done',
  "while read -r l; do echo $l; done < $f",
  "sort < $f",
  "echo $(<$f)",
  "exec 3<$f",
  "grep -r KEY",
  "grep -rn KEY .",
  "grep -rn KEY ./",
  "grep -rn KEY ..",
  "grep -rn KEY ~/",
  "grep -rn KEY /srv",
  "grep -rne KEY",
  "grep --recursive KEY .",
  "grep --dereference-recursive KEY .",
  "grep -d recurse KEY .",
  "grep -rn KEY --include='*' .",
  "grep -rn KEY --include='.*' .",
  "rg --hidden KEY",
  "rg -uu KEY",
  "rg -. KEY",
  "rg -g '*' KEY",
  "rg -g '.e*' KEY",
  "rg -ng'*env' KEY",
  "rg --glob '**/*' KEY",
  "rg --iglob='.E?V' KEY",
  "rg -g '{x,.[e]nv}' KEY",
  "rg --type-add 'e:.e*' -t e KEY",
  `rg -g '${"{a,b}".repeat(24)}' KEY`,
  "ack KEY",
  "git grep --untr KEY",
  "git grep --no-ind KEY",
  "grep -rn KEY src/..",
  "grep -rn KEY ./src/../",
  "grep -rn KEY ././.",
  "git diff --no-index /dev/null .",
  "git grep --untracked KEY",
  "diff -r . ../a",
  "diff -N a b",
  "diff src lib",
  "tar c .",
  'python3 -c \'print(open(".e" + "nv").read())\'',
  'python3 - <<\'E\'\nprint(open(".e" + "nv").read())\nE',
  "python3 <<'E'\nprint(1)\nE",
  "node -e 'x'",
  "node -pe 'x'",
  "deno eval x",
  "perl -ne 'print' a",
  "awk 'BEGIN{while((getline l < f)>0)print l}' f=.e",
  'awk \'BEGIN{system("c" "at a")}\'',
  "awk 'BEGIN{\"cat a\" | getline x; print x}'",
  "sed '1e cat a' a",
  "eval $X",
  "bash script.sh",
  "$X a",
  ". ./a",
];

Deno.test("mayReadUnknownFiles(): commands that name the files they read, or show no content", () =>
  assertEquals(select(KNOWN, true), []));

Deno.test("mayReadUnknownFiles(): commands that read what an expansion, a search or code finds", () =>
  assertEquals(select(UNKNOWN, false), []));

Deno.test("mayReadUnknownFiles(): long words take little time", () => {
  const words = ["*", "[", "{a,b}", "a*", "/*", "$", "?."].map((part) => part.repeat(20_000));
  const start = performance.now();
  for (const word of words) {
    mayReadUnknownFiles(findExecutedCommands(`cat ${word}`));
    mayReadUnknownFiles(findExecutedCommands(`rg -g '${word}' a`));
    mayReadUnknownFiles(findExecutedCommands(`grep -r --include='${word}' a .`));
  }
  assertEquals(performance.now() - start < 2_000, true);
});
