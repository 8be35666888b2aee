import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { JsonObject } from "../../core/json/json.ts";
import { toCanonicalText } from "../../core/json_schema/canonical_text.ts";
import type { ArgumentMatcher, ExpectedCall, TrajectoryMatch } from "../case/eval_case.ts";
import { matchTrajectory } from "./match_trajectory.ts";
import type { TrajectoryCall } from "./trajectory.ts";

function call(tool: string, args: JsonObject = {}, calls: TrajectoryCall[] = []): TrajectoryCall {
  const outcome = "completed";
  return { id: tool, tool, arguments: args, turn: 1, outcome, result: "", calls };
}

const calls = (...tools: string[]) => tools.map((tool) => call(tool));
const expect = (...tools: string[]): ExpectedCall[] => tools.map((tool) => ({ tool }));

async function getScore(
  match: TrajectoryMatch,
  actual: readonly TrajectoryCall[],
  expected: readonly ExpectedCall[],
): Promise<number> {
  return (await matchTrajectory(actual, { match, calls: expected })).score;
}

async function accepts(matcher: ArgumentMatcher, args: JsonObject): Promise<boolean> {
  const expected = [{ tool: "a", matchers: { x: matcher } }];
  return await getScore("exact", [call("a", args)], expected) === 1;
}

Deno.test("matchTrajectory: exact scores equal positions [A149]", async () => {
  assertEquals(await getScore("exact", calls("a", "b"), expect("a", "b")), 1);
  assertEquals(await getScore("exact", calls("a", "c"), expect("a", "b")), 0.5);
});

Deno.test("matchTrajectory: exact rejects a further and a missing call [A149]", async () => {
  assertEquals(await getScore("exact", calls("a", "b"), expect("a")), 0);
  assertEquals(await getScore("exact", calls("a"), expect("a", "b")), 0);
  assertEquals(await getScore("exact", calls("a"), []), 0);
});

Deno.test("matchTrajectory: no calls match no expected calls", async () => {
  for (const match of ["exact", "in_order", "any_order"] as const) {
    assertEquals(await getScore(match, [], []), 1);
  }
});

Deno.test("matchTrajectory: in_order accepts other calls in between, but no other order [A150]", async () => {
  assertEquals(await getScore("in_order", calls("x", "a", "y", "b"), expect("a", "b")), 1);
  assertEquals(await getScore("in_order", calls("b", "a"), expect("a", "b")), 0.5);
  assertEquals(await getScore("in_order", calls("a"), []), 1);
});

Deno.test("matchTrajectory: any_order uses each call once [A150]", async () => {
  assertEquals(await getScore("any_order", calls("b", "x", "a"), expect("a", "b")), 1);
  assertEquals(await getScore("any_order", calls("a"), expect("a", "a")), 0.5);
  assertEquals(await getScore("any_order", calls("a"), []), 1);
});

Deno.test("matchTrajectory: any_order finds an assignment when matchers overlap", async () => {
  const actual = [call("a", { x: 1 }), call("a", { x: 2 })];
  const expected = [{ tool: "a" }, { tool: "a", arguments: { x: 1 } }];
  assertEquals(await getScore("any_order", actual, expected), 1);
});

Deno.test("matchTrajectory: without arguments only the tool is compared [A149]", async () => {
  assertEquals(await getScore("exact", [call("a", { x: 1 })], [{ tool: "a" }]), 1);
});

Deno.test("matchTrajectory: arguments are equal as JSON [A149]", async () => {
  const expected = [{ tool: "a", arguments: { x: { b: 1, c: [2] } } }];
  assertEquals(await getScore("exact", [call("a", { x: { c: [2], b: 1 } })], expected), 1);
  assertEquals(await getScore("exact", [call("a", { x: { c: [2], b: 1 }, y: 1 })], expected), 0);
  assertEquals(await getScore("exact", [call("a")], expected), 0);
});

Deno.test("matchTrajectory: an inherited property is no argument", async () => {
  const expected = [{ tool: "a", matchers: { toString: { type: "regex", pattern: "" } } }] as const;
  assertEquals(await getScore("exact", [call("a")], expected), 0);
});

Deno.test("matchTrajectory: argument matchers", async () => {
  assertEquals(await accepts({ type: "contains", text: ".ts" }, { x: "a.ts" }), true);
  assertEquals(await accepts({ type: "contains", text: ".ts" }, { x: "a.js" }), false);
  assertEquals(await accepts({ type: "contains", text: "" }, {}), false);
  assertEquals(await accepts({ type: "regex", pattern: "^a" }, { x: "a.ts" }), true);
  assertEquals(await accepts({ type: "regex", pattern: "^a" }, { x: "b" }), false);
  assertEquals(await accepts({ type: "schema", schema: { type: "integer" } }, { x: 1 }), true);
  assertEquals(await accepts({ type: "schema", schema: { type: "integer" } }, { x: "1" }), false);
  assertEquals(await accepts({ type: "ignore" }, {}), true);
  assertEquals(await accepts({ type: "ignore" }, { x: 1 }), true);
  assertEquals(await accepts({ type: "ignore" }, { y: 1 }), false);
});

Deno.test("matchTrajectory: a pattern that backtracks does not block", async () => {
  const matcher: ArgumentMatcher = { type: "regex", pattern: "^(a+)+$" };
  assertEquals(await accepts(matcher, { x: `${"a".repeat(5_000)}!` }), false);
});

Deno.test("matchTrajectory: calls of sub-agents follow their call if selected", async () => {
  const actual = [call("agent", {}, calls("a")), call("b")];
  const expected = { match: "exact", calls: expect("agent", "a", "b") } as const;
  assertEquals((await matchTrajectory(actual, { ...expected, subAgents: true })).score, 1);
  assertEquals((await matchTrajectory(actual, expected)).score, 0);
});

const jsonObject = fc.dictionary(
  fc.string({ maxLength: 5 }),
  fc.jsonValue({ maxDepth: 3 }),
  { maxKeys: 4 },
) as fc.Arbitrary<JsonObject>;

/** Returns a copy whose properties are in the reverse order, at every depth. */
function reverseProperties<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(reverseProperties) as Value;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).reverse().map(([name, part]) => [
    name,
    reverseProperties(part),
  ]);
  return Object.fromEntries(entries) as Value;
}

Deno.test("matchTrajectory: arguments equal themselves in any order of properties, and no other ones", async () => {
  await fc.assert(fc.asyncProperty(jsonObject, jsonObject, async (args, others) => {
    const score = (actual: JsonObject) =>
      getScore("exact", [call("a", actual)], [{ tool: "a", arguments: args }]);
    const isEqual = toCanonicalText(args) === toCanonicalText(others);
    return await score(reverseProperties(args)) === 1 && await score(others) === (isEqual ? 1 : 0);
  }));
});

Deno.test("matchTrajectory: contains and regex agree with the text of any argument", async () => {
  const texts = fc.tuple(fc.jsonValue({ maxDepth: 2 }), fc.string({ maxLength: 3 }));
  await fc.assert(fc.asyncProperty(texts, async ([value, part]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    const escaped = part.replaceAll(
      /[^\p{L}\p{N}]/gu,
      (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
    );
    const expected = text.includes(part);
    const args = { x: value } as JsonObject;
    return await accepts({ type: "contains", text: part }, args) === expected &&
      await accepts({ type: "regex", pattern: escaped }, args) === expected;
  }));
});

Deno.test("matchTrajectory: a missing argument is accepted by ignore only", async () => {
  const matchers: ArgumentMatcher[] = [
    { type: "equals", value: null },
    { type: "contains", text: "" },
    { type: "regex", pattern: "" },
    { type: "schema", schema: {} },
    { type: "ignore" },
  ];
  const accepted = await Promise.all(matchers.map((matcher) => accepts(matcher, {})));
  assertEquals(accepted, [false, false, false, false, true]);
});

const toolNames = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 6 });

Deno.test("matchTrajectory: a stricter comparison never scores higher", async () => {
  await fc.assert(fc.asyncProperty(toolNames, toolNames, async (actual, expected) => {
    const [exact, inOrder, anyOrder] = await Promise.all(
      (["exact", "in_order", "any_order"] as const)
        .map((match) => getScore(match, calls(...actual), expect(...expected))),
    );
    return exact !== undefined && inOrder !== undefined && anyOrder !== undefined &&
      exact <= inOrder && inOrder <= anyOrder && anyOrder <= 1;
  }));
});

Deno.test("matchTrajectory: a permutation matches in any order, and extra calls change nothing", async () => {
  const inputs = toolNames.chain((expected) =>
    fc.tuple(
      fc.constant(expected),
      fc.shuffledSubarray(expected, { minLength: expected.length }),
      toolNames,
    )
  );
  await fc.assert(fc.asyncProperty(inputs, async ([expected, permuted, others]) => {
    const actual = calls(...others, ...permuted);
    return await getScore("any_order", actual, expect(...expected)) === 1;
  }));
});

/** Returns the length of the longest common subsequence by trying all selections. */
function findLongest(actual: readonly string[], expected: readonly string[]): number {
  const [first, ...rest] = expected;
  if (first === undefined) return 0;
  const index = actual.indexOf(first);
  const without = findLongest(actual, rest);
  return index < 0 ? without : Math.max(without, 1 + findLongest(actual.slice(index + 1), rest));
}

Deno.test("matchTrajectory: in_order finds the longest part that occurs in this order", async () => {
  await fc.assert(fc.asyncProperty(toolNames, toolNames, async (actual, expected) => {
    const match = { match: "in_order", calls: expect(...expected) } as const;
    const { found } = await matchTrajectory(calls(...actual), match);
    return found === findLongest(actual, expected);
  }));
});

Deno.test("matchTrajectory: any_order counts each tool as often as both lists have it", async () => {
  const count = (list: readonly string[], name: string) =>
    list.filter((item) => item === name).length;
  await fc.assert(fc.asyncProperty(toolNames, toolNames, async (actual, expected) => {
    const match = { match: "any_order", calls: expect(...expected) } as const;
    const { found } = await matchTrajectory(calls(...actual), match);
    const common = ["a", "b", "c"]
      .map((name) => Math.min(count(actual, name), count(expected, name)));
    return found === common.reduce((sum, value) => sum + value, 0);
  }));
});
