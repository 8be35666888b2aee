import { assertEquals } from "@std/assert";
import { getProgram } from "../commands/executed_commands.ts";
import { parseShell } from "../shell/shell_syntax.ts";
import { listSearchOperands } from "./search_operands.ts";

const OPERANDS: readonly (readonly [command: string, operands: readonly string[]])[] = [
  ["rg key", []],
  ["rg key a b", ["a", "b"]],
  ["rg -e key a", ["a"]],
  ["rg -nekey a", ["a"]],
  ["rg --regexp=key a", ["a"]],
  ["rg --regexp key a", ["a"]],
  ["rg --files a", ["a"]],
  ["rg --files-with-matches key a", ["a"]],
  ["rg key -Tmake a", ["a"]],
  ["rg key -Enone a", ["a"]],
  ["rg key -re a", ["a"]],
  ["grep -re key a", ["a"]],
  ["rg -tmake key a", ["a"]],
  ["rg -A 3 key a", ["a"]],
  ["grep -r key -C a", ["a"]],
  ["grep -r key --context a", ["a"]],
  ["grep -r --include '*.ts' key a", ["a"]],
  ["ag key -G a b", ["a", "b"]],
  ["rg key -- -a", ["-a"]],
  ["rg -- key -a", ["-a"]],
  ["rg key {a,b}/c", ["a/c", "b/c"]],
  ["rg key ${HOME}/{a,b}", ["$HOME/a", "$HOME/b"]],
  ["rg key a{b..d}", ["a*"]],
  ["rg key '{a,b}'", ["{a,b}"]],
];

Deno.test("listSearchOperands(): lists what a program searches, without expressions and values of options", () => {
  for (const [command, operands] of OPERANDS) {
    const [simple] = parseShell(command).commands;
    if (!simple) throw new Error(command);
    const found = listSearchOperands(getProgram(simple), simple.words.slice(1));
    assertEquals(found.map(({ text }) => text), operands, command);
  }
});
