import { assert, assertEquals } from "@std/assert";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import { replacePlan } from "./format_plan.ts";
import { formatProblems, parsePlan } from "./parse_plan.ts";
import { PLAN_LIMITS } from "./plan.ts";
import { clearStates, setStates } from "./step_state.ts";

const HEAD = "# T\n## 1. a\n";

/** Texts that would be slow to parse with a careless pattern, or that have many parts. */
const TEXTS: Readonly<Record<string, (length: number) => string>> = {
  "blanks in a heading": (length) =>
    `${HEAD}## 1.${" ".repeat(length / 2)}a\n## 2${"\t".repeat(length / 2)}\n`,
  "blanks before a bracket": (length) => `${HEAD}## 1. ${"[x] ".repeat(length / 4)}\n`,
  "open brackets": (length) => `${HEAD}## 1. ${"[".repeat(length)}\n`,
  "digits": (length) => `${HEAD}## ${"1".repeat(length)}\n`,
  "closing marks": (length) => `${HEAD}## 1. ${" #".repeat(length / 2)}x\n`,
  "one long row of marks": (length) => `${HEAD}## 1. ${"#".repeat(length)}x\n`,
  "headings": (length) => `${HEAD}${"### Files\n".repeat(length / 10)}`,
  "nested lists": (length) =>
    `${HEAD}### Files\n${
      Array.from({ length: Math.sqrt(length) }, (_, level) => `${" ".repeat(level)}- a\n`).join("")
    }`,
  "nested quotes": (length) => `${HEAD}${">".repeat(length)} a\n`,
  "list items": (length) => `${HEAD}### Files\n${"- a\n".repeat(length / 4)}`,
  "one item of many lines": (length) => `${HEAD}### Files\n- a\n${"  b\n".repeat(length / 4)}`,
  "code fences": (length) => `${HEAD}${"```\n```\n".repeat(length / 8)}`,
  "growing fences": (length) =>
    HEAD + Array.from({ length: Math.sqrt(length) }, (_, level) => "`".repeat(level)).join("\n"),
  "comments": (length) => `${HEAD}${"<!-- a -->\n".repeat(length / 11)}`,
  "blank lines": (length) => `${HEAD}${"\n \t".repeat(length / 3)}x`,
  "empty lines at the end": (length) => `${HEAD}${"\r\n".repeat(length / 2)}`,
  "backquotes in an item": (length) => `${HEAD}### Files\n- ${"`".repeat(length)}\n`,
};

for (const [name, createText] of Object.entries(TEXTS)) {
  Deno.test(`plans: a file with ${name} up to the limit is parsed and written in less than 2 s`, () => {
    const text = createText(PLAN_LIMITS.bytes - 1_000);
    assert(text.length <= PLAN_LIMITS.bytes);
    const getTime = startThreadTimer();
    const parsed = parsePlan(text);
    const written = setStates(text, ["complete"]);
    assertEquals(clearStates(written), clearStates(text));
    if (parsed.type === "plan") replacePlan(text, parsed.plan);
    assert(getTime() < 2_000, `${getTime()} ms`);
  });
}

Deno.test("plans: a text of 1 MB is refused before it is parsed", () => {
  const parsed = parsePlan("# T\n".repeat(256 * 1024));
  assert(parsed.type === "invalid");
  assertEquals(
    formatProblems(parsed.problems),
    "line 1: the plan is larger than 262144 bytes: shorten it",
  );
});

Deno.test("plans: steps with the same number and title are steps of their own, in the order of the file", () => {
  const parsed = parsePlan("# T\n## 1. a\none\n## 1. a\ntwo\n## 1. [done] a\nthree\n");
  assert(parsed.type === "plan");
  assertEquals(
    parsed.plan.steps.map(({ title, state, description }) => [title, state, description]),
    [["a", "pending", "one"], ["a", "pending", "two"], ["a", "complete", "three"]],
  );
});

Deno.test("plans: a title that is a name of a prototype is a title", () => {
  const parsed = parsePlan(
    "# __proto__\n## 1. constructor\n## 2. [toString] x\n## 3. [__proto__] y\n",
  );
  assert(parsed.type === "plan");
  assertEquals(parsed.plan.steps.map(({ title, state }) => [title, state]), [
    ["constructor", "pending"],
    ["[toString] x", "pending"],
    ["[__proto__] y", "pending"],
  ]);
});
