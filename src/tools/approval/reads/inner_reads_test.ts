import { assertEquals } from "@std/assert";
import { findExecutedCommands } from "../commands/executed_commands.ts";
import { readsOnlyBelow } from "./inner_reads.ts";
import { mayReadUnknownFiles } from "./unknown_reads.ts";

const BELOW = [
  "cat *",
  "cat ./* | head -n 20",
  "head -5 *.json",
  "tail -c 100 *",
  "grep -r KEY .",
  "grep -rn 'a/../b' ./",
  "grep -rniE -A3 '/api/v[12]' --include='*' . | sort -u | head",
  "grep -r KEY",
  "grep -rn -e KEY .",
  "rg --hidden KEY",
  "rg -uu KEY . 2>/dev/null",
  "rg -g '*' -i KEY",
  "rg -g'.e*' KEY && ls -la",
  "rg --hidden --glob='*.json' -l KEY | wc -l",
  "rg --files --hidden",
  "[ -f a ] && cat *",
];

const ELSEWHERE = [
  "cd .. && cat *",
  "cat ../*",
  "cat */*",
  "cat /srv/*",
  "cat ~/*",
  "cat $f",
  "cat {a,../b}*",
  "cat $(ls -a)",
  "cat -- *",
  "wc *",
  "cat * | xargs cat",
  "grep KEY *",
  "grep -r KEY ..",
  "grep -r KEY link",
  "grep -R KEY .",
  "grep -rf list .",
  "grep -r --file=list .",
  "grep --dereference-recursive KEY .",
  "grep -r $KEY .",
  "rg -L --hidden KEY",
  "rg -uuL KEY",
  "rg --follow -uu KEY",
  "rg --hidden KEY link",
  "rg --hidden KEY ..",
  "rg --hidden --pre cat KEY",
  "rg -f list --hidden .",
  "RIPGREP_CONFIG_PATH=list rg KEY",
  "env -C .. grep -r KEY .",
  "find .. -execdir grep -r KEY . ';'",
  "f() { cd ..; }; f; grep -r KEY .",
  "eval cd ..; grep -r KEY .",
  "for f in ..; do cd $f; grep -r KEY .; done",
  "xargs grep -r KEY < list",
  "./cat *",
  "../x/grep -r KEY .",
  "PATH=.; cat *",
  "printf -v PATH .; cat *",
  "read PATH <<< .; cat *",
  "hash -p ./evil cat; cat *",
  "for PATH in .; do cat *; done",
  "echo ${PATH:=.}; cat *",
  "export PATH=.; cat *",
  "cat() { command cat ../x/*; }; cat *",
  "function grep { grep -R KEY; }; grep -r KEY .",
  "cat * < $f",
  "cat <(cat ../*) *",
  "cat * $(cat list)",
  "set -- ../*; cat * $1",
  "while read -r f; do cat $f *; done",
  "shopt -s globstar; cat **/*",
  "cat [a-z]*/[.]e*",
  "bash -c 'cd ..; cat *'",
  "python3 -c x",
  "tar c .",
];

Deno.test("readsOnlyBelow(): searches of the working directory, and patterns of its entries", () => {
  const refused = BELOW.filter((command) => !readsOnlyBelow(findExecutedCommands(command)));
  assertEquals(refused, []);
});

Deno.test("readsOnlyBelow(): not commands that may read outside the working directory, or follow links", () => {
  assertEquals(
    ELSEWHERE.filter((command) => readsOnlyBelow(findExecutedCommands(command))),
    [],
  );
});

Deno.test("mayReadUnknownFiles(): searches of the working directory read no secrets only where these are hidden", () => {
  const script = findExecutedCommands("grep -r KEY .");
  assertEquals(mayReadUnknownFiles(script), true);
  assertEquals(mayReadUnknownFiles(script, { hidesSecrets: true }), false);
  assertEquals(
    ELSEWHERE.filter((command) => {
      const script = findExecutedCommands(command);
      return mayReadUnknownFiles(script) !== mayReadUnknownFiles(script, { hidesSecrets: true });
    }),
    [],
  );
});
