import { assertEquals } from "@std/assert";
import { mergeExtraFields, serializeJson } from "./json_body.ts";

Deno.test("serializeJson(): replaces lone surrogates in keys and values [B64]", () => {
  const body = { text: "a\ud83d", list: ["\udc00b"], inner: { "k\ud800": 1 }, pair: "😀" };
  assertEquals(
    serializeJson(body),
    '{"text":"a\ufffd","list":["\ufffdb"],"inner":{"k\ufffd":1},"pair":"😀"}',
  );
});

Deno.test("serializeJson(): keeps text that resembles an escape of a surrogate", () => {
  assertEquals(JSON.parse(serializeJson({ text: "\\ud83d" })), { text: "\\ud83d" });
});

Deno.test("mergeExtraFields(): adds extra fields, and warns about fields that the body has", () => {
  const warnings: string[] = [];
  const sink = { warning: (_code: string, message: string) => warnings.push(message) };
  const body = { model: "m", temperature: undefined };
  assertEquals(mergeExtraFields(body, { model: "x", temperature: 1, top_k: 5 }, sink), {
    model: "m",
    temperature: 1,
    top_k: 5,
  });
  assertEquals(warnings, ['The extra field "model" was ignored: the request sets it']);
});

Deno.test("mergeExtraFields(): merges nested objects, joins texts and tools, and keeps the type of a setting", () => {
  const warnings: string[] = [];
  const sink = { warning: (_code: string, message: string) => warnings.push(message) };
  const body = {
    tools: [{ name: "own" }],
    include: ["a"],
    text: { format: "json", verbosity: undefined },
    thinking: { type: "disabled" },
    messages: [{ role: "user" }],
  };
  const extra = JSON.parse(`{
    "tools": [{ "type": "web_search" }],
    "include": ["a", "b"],
    "text": { "verbosity": "low", "format": "text" },
    "thinking": { "type": "enabled", "budget_tokens": 2048 },
    "messages": [{ "role": "user" }],
    "__proto__": { "polluted": true }
  }`);
  const merged = mergeExtraFields(body, extra, sink);
  assertEquals(
    JSON.stringify(merged),
    JSON.stringify({
      tools: [{ name: "own" }, { type: "web_search" }],
      include: ["a", "b"],
      text: { format: "json", verbosity: "low" },
      thinking: { type: "disabled" },
      messages: [{ role: "user" }],
      ["__proto__"]: { polluted: true },
    }),
  );
  assertEquals(warnings, [
    'The extra field "text.format" was ignored: the request sets it',
    'The extra field "thinking" was ignored: the request sets it',
    'The extra field "messages" was ignored: the request sets it',
  ]);
});

Deno.test("mergeExtraFields(): joins tools at every depth, and no other list of objects", () => {
  const warnings: string[] = [];
  const sink = { warning: (_code: string, message: string) => warnings.push(message) };
  const merged = mergeExtraFields(
    { toolConfig: { tools: [{ toolSpec: 1 }], mytools: [{ a: 1 }] } },
    { toolConfig: { tools: [{ systemTool: 1 }], mytools: [{ b: 1 }] } },
    sink,
  );
  assertEquals(merged, {
    toolConfig: { tools: [{ toolSpec: 1 }, { systemTool: 1 }], mytools: [{ a: 1 }] },
  });
  assertEquals(warnings, [
    'The extra field "toolConfig.mytools" was ignored: the request sets it',
  ]);
});
