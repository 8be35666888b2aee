import { assert, assertEquals } from "@std/assert";
import { startThreadTimer } from "../../../../tests/thread_time.ts";
import { defineTool } from "../../../core/tools/tool.ts";
import { approvalGate } from "../approval_gate.ts";
import { assessCommand } from "../command_assessment.ts";
import { parseShell } from "./shell_syntax.ts";

Deno.test("parseShell(): returns words without quotes and marks those with a fixed meaning", () => {
  const [command] =
    parseShell(`a 'b c' "d" e\\ f $g "$h" *.i ~/j {k,l} {m} $'n' o=~/p HEAD~1`).commands;
  assertEquals(command?.words.map(({ text, literal }) => [text, literal]), [
    ["a", true],
    ["b c", true],
    ["d", true],
    ["e f", true],
    ["$g", false],
    ["$h", false],
    ["*.i", false],
    ["~/j", false],
    ["{k,l}", false],
    ["{m}", true],
    ["n", false],
    ["o=~/p", false],
    ["HEAD~1", true],
  ]);
});

Deno.test("parseShell(): returns assignments, redirections and the commands of substitutions", () => {
  const { commands, opaque, plain } = parseShell("A=1 b 2>&1 >c; { d; } <e; f $(g)");
  assertEquals(
    commands.map(({ assignments, words, redirects }) => ({
      assignments,
      words: words.map(({ text }) => text),
      redirects: redirects.map(({ operator, target }) => `${operator}${target?.text}`),
    })),
    [
      { assignments: ["A"], words: ["b"], redirects: [">&1", ">c"] },
      { assignments: [], words: [], redirects: ["<e"] },
      { assignments: [], words: ["d"], redirects: [] },
      { assignments: [], words: ["f", "$(g)"], redirects: [] },
      { assignments: [], words: ["g"], redirects: [] },
    ],
  );
  assertEquals([opaque, plain], [false, false]);
});

const OPAQUE: readonly string[] = [
  "a\0b",
  "a".repeat(70_000),
  `${"(".repeat(20)}a${")".repeat(20)}`,
  "a 0<(b)",
  "a {b}<(c)",
  "a )",
  "a 'b",
  "a <<E\nb",
  "a @(b)",
  "a {b}>c",
  "a ${!b}",
  "a ${b@P}",
  "a ${b:c}",
  "a ${b[c]}",
  "a $((b))",
  "a[b]=c",
  "[[ a -eq b ]]",
];

for (const script of OPAQUE) {
  Deno.test(`parseShell(): ${JSON.stringify(script.slice(0, 30))} is opaque`, () => {
    assert(parseShell(script).opaque);
  });
}

const repeat = (text: string) => (length: number) =>
  text.repeat(Math.ceil(length / text.length)).slice(0, length);

/** Scripts that took more than linear time, in this parser or in another part of the gate. */
const SLOW_SCRIPTS: readonly ((length: number) => string)[] = [
  repeat("ls;"),
  repeat("echo 'x' \"y\" $(z); "),
  repeat("$("),
  repeat('"$('),
  repeat(`${"<(".repeat(16)}x${")".repeat(16)} `),
  repeat("${a:-"),
  repeat("<<E "),
  repeat("`a` "),
  repeat("if "),
  repeat("f(){ "),
  repeat(`${"f(){ ".repeat(14)}f;${"}".repeat(14)};`),
  repeat("sudo --a "),
  repeat("env "),
  repeat("eval "),
  (length) => `find . ${repeat("-exec a ")(length)}`,
  (length) => `echo ${repeat("[{")(length)}`,
  (length) => `cat ${repeat("*a")(length)}`,
  (length) => `cat ${repeat("a=")(length)}`,
  (length) => `rm -rf ${repeat("a/../")(length)}`,
  (length) => `echo $((${repeat("1+")(length)}1))`,
  (length) => `sed 's/${repeat("a")(length)}/`,
  (length) => `npx 'a${repeat("<")(length)}@b'`,
  (length) => `'a${repeat("1")(length)}!'`,
  (length) => `declare -a A='(${repeat("[")(length)}'`,
];

const isLongTest = Deno.env.get("SWINK_PROVE") === "1";

/** Lengths of scripts that the parser reads, and that it does not read. */
const LENGTHS = [isLongTest ? 60_000 : 30_000, 400_000];

/** The slowest takes 0.3 s, or 0.6 s in the long tests. Quadratic work takes minutes; the bound allows for a busy machine. */
const MAX_MS = isLongTest ? 10_000 : 2_500;

Deno.test("approvalGate(): decides commands of up to 400,000 characters in linear time", async () => {
  const gate = approvalGate({
    allow: ["bash(deno test *)"],
    deny: ["bash(rm *)", "bash(git push *)"],
  });
  const tool = defineTool({
    name: "bash",
    description: "",
    parameters: { type: "object" },
    execute: () => "",
  });
  for (const length of LENGTHS) {
    for (const createScript of SLOW_SCRIPTS) {
      const command = createScript(length);
      const getThreadTime = startThreadTimer();
      await gate({
        toolCallId: "1",
        name: "bash",
        arguments: { command },
        tool,
        context: undefined,
        signal: new AbortController().signal,
      });
      assessCommand(command);
      assert(getThreadTime() < MAX_MS, command.slice(0, 40));
    }
  }
});
