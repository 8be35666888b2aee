import { assertEquals, assertThrows } from "@std/assert";
import { zeroUsage } from "../models/usage.ts";
import { copyToolResult, toToolResult } from "./to_tool_result.ts";

const content = [{ type: "text", text: "Hi" }] as const;

Deno.test("toToolResult() keeps the properties of a result, and none that is missing", () => {
  const cost = { input: 1, output: 0, cacheRead: 0, cacheWrite: 0, total: 1 };
  const results = [
    { content },
    { content, details: { a: [1] } },
    { content, details: null },
    { content, isError: true },
    { content, isError: false },
    { content, usage: zeroUsage(), cost },
    { content, cost },
  ];
  for (const result of results) assertEquals(toToolResult(result), result);
  assertEquals(toToolResult({ content, isError: undefined, details: undefined }), { content });
});

Deno.test("toToolResult() counts only `true` as a failure", () => {
  const flags = ["yes", 1, null, {}].map((isError) => toToolResult({ content, isError }).isError);
  assertEquals(flags, [false, false, false, false]);
});

Deno.test("toToolResult() takes an object with any other property for data", () => {
  for (const data of [{ content, other: 1 }, { content: "Hi" }, { text: "Hi" }, [content], null]) {
    assertEquals(toToolResult(data), {
      content: [{ type: "text", text: JSON.stringify(data) }],
      details: data,
    });
  }
  assertEquals(toToolResult(5), { content: [{ type: "text", text: "5" }], details: 5 });
  assertEquals(toToolResult("5"), { content: [{ type: "text", text: "5" }] });
});

Deno.test("toToolResult() returns an error result for what is no JSON and for invalid content", () => {
  const outputs = [
    undefined,
    5n,
    { content: [5] },
    { content, details: () => {} },
    new Response("21 degrees"),
    new Map([["Oslo", 21]]),
    { temperatures: new Map([["Oslo", 21]]) },
    { content, details: new Set([21]) },
    Promise.resolve("21 degrees"),
  ];
  for (const output of outputs) {
    const { isError, content: [block] } = toToolResult(output);
    assertEquals(isError, true);
    assertEquals(block?.type === "text" && /returned an invalid result: /.test(block.text), true);
  }
});

Deno.test("toToolResult() takes a returned error for one that was thrown", () => {
  const { isError, content: [block] } = toToolResult(new RangeError("No such city"));
  assertEquals([isError, block], [true, { type: "text", text: "No such city" }]);
});

Deno.test("copyToolResult() returns a copy, and throws for what is no result", () => {
  const details = { list: [1] };
  const copy = copyToolResult({ content, details });
  details.list.push(2);
  assertEquals(copy, { content: [...content], details: { list: [1] } });
  assertThrows(() => copyToolResult({ text: "Hi" } as never), TypeError, "a result must be");
});

Deno.test("toToolResult() names a promise that was not awaited, and handles all rejections", async () => {
  const reject = () => Promise.reject(new Error("No such city"));
  const { content: [block] } = toToolResult(["Oslo", "Rome"].map(reject));
  assertEquals(block, {
    type: "text",
    text: "The tool returned an invalid result: /0 is a promise. " +
      "It must return a string, a JSON value or { content: [...] }.",
  });
  await new Promise((resolve) => setTimeout(resolve, 0));
});
