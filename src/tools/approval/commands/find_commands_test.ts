import { assertEquals } from "@std/assert";
import { testForbiddenCommands } from "../../../../tests/sandbox/explain_with_gate.ts";
import { startThreadTimer } from "../../../../tests/thread_time.ts";
import { findExecutedCommands, getProgram } from "./executed_commands.ts";

/** Commands whose expansions are an action of `find`, its end, or several words. */
const FORBIDDEN: readonly string[] = [
  'X=-exec; find . "$X" rm b ";"',
  'X=-exec; find . "$X" rm b {} +',
  'X=-exec; Y=";"; find . "$X" rm b "$Y"',
  'X=-exec; Y=rm; Z=";"; find . "$X" "$Y" b "$Z"',
  'X=-exec; find . "$X" env rm b ";"',
  'X=-exec; find . "$X" sh -c "rm b" ";"',
  'X=exec; find . "-$X" rm b ";"',
  'find . "$(echo -exec)" rm b ";"',
  'HOME=-exec; find . "$HOME" rm b ";"',
  // The test is the value of another one, so that its own value is an action.
  'X=-exec; find . -name -name "$X" rm b ";"',
  'X=-name; Y=-exec; find . -o "$X" -name "$Y" rm b ";"',
  "find . -printf -name -exec rm b ';'",
  "find . -fprint -exec -exec rm b ';'",
  "find . -fls -type -exec rm b ';'",
  "find . -newermt -name -exec rm b ';'",
  "find . -fprintf a -name -exec rm b ';'",
  "find . -fprintf -name -name -exec rm b ';'",
  "find . -unknown -exec -exec rm b ';'",
  "find -D -name -exec rm b ';'",
  "X=-exec; find . -printf -name \"$X\" rm b ';'",
  // The end of a command, behind which another one begins.
  'X=";"; find . -exec ls "$X" -exec rm b ";"',
  'X=";"; find . -exec ls -name "$X" -exec rm b ";"',
  'X=-D; Y=-exec; find "$X" -exec ls "$Y" rm b ";"',
  'X=-exec; Y=";"; find . "$X" a -exec ls "$Y" -exec rm b ";"',
  "X={}; find . -exec ls \"$X\" + -exec rm b ';'",
  // Only behind {}, + is the end.
  "find . -exec env -u + rm b ';'",
  // Several words.
  "find $X -name a",
  "find . {-exec,rm,b,';'}",
  "find . -e* rm b ';'",
  "HOME='. -exec rm b ; -name '; find $HOME/a",
  // A program in a directory that a variable names.
  "find . -exec \"$X/rm\" b ';'",
  'X=/bin; "$X/env" rm b',
  '"$X/bash" -c "rm b"',
  '"/proc/$X/fd/9" a',
  "HOME='rm b '; $HOME/a",
  "eval \"HOME='rm b '\"; $HOME/a",
];

testForbiddenCommands(FORBIDDEN);

Deno.test("findExecutedCommands(): finds the commands behind actions of find up to their ends", () => {
  const find = (args: string) =>
    findExecutedCommands(`find ${args}`).commands.slice(1)
      .map(({ words }) => words.map(({ text }) => text).join(" "));
  assertEquals(find(". -exec a b ';' -exec c {} + -name d"), ["a b", "c {}"]);
  assertEquals(find('"$X" -exec a "$Y" {} + -ok b ";"'), ["a $Y {}", "b"]);
  assertEquals(find(". -exec a -exec b ';'"), ["a -exec b"]);
  assertEquals(find(". -exec a + b ';'"), ["a + b"]);
});

Deno.test("findExecutedCommands(): many expansions behind an action of find, and long paths, take little time", () => {
  const getThreadTime = startThreadTimer();
  for (const command of ["find . -exec git ", "find . -execdir rg "]) {
    findExecutedCommands(command + "* ".repeat(30_000));
  }
  findExecutedCommands("../../".repeat(20_000));
  assertEquals(getThreadTime() < 2_000, true);
});

Deno.test("findExecutedCommands(): many expansions in the arguments of find take little memory", () => {
  for (const part of ['"$x" ', '"$x" -exec ', '"$x" a ']) {
    const command = `find ${part.repeat(60_000 / part.length)}`;
    const script = findExecutedCommands(command);
    assertEquals(getProgram(script.commands[0] ?? { words: [] }), "find");
    assertEquals(script.launched.length < 100, true);
  }
});
