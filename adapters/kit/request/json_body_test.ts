import { assertEquals } from "@std/assert";
import { mergeExtraFields, serializeJson } from "./json_body.ts";

Deno.test("B 64: half a surrogate pair becomes a replacement character, everywhere", () => {
  const body = { text: "a\ud83d", list: ["\udc00b"], inner: { "k\ud800": 1 }, whole: "😀" };
  assertEquals(
    serializeJson(body),
    '{"text":"a\ufffd","list":["\ufffdb"],"inner":{"k\ufffd":1},"whole":"😀"}',
  );
});

Deno.test("text that only looks like such an escape stays as it is", () => {
  assertEquals(JSON.parse(serializeJson({ text: "\\ud83d" })), { text: "\\ud83d" });
});

Deno.test("extra fields are added, the body's own win, and that is told", () => {
  const told: string[] = [];
  const sink = { warning: (_code: string, message: string) => told.push(message) };
  const body = { model: "m", temperature: undefined };
  assertEquals(mergeExtraFields(body, { model: "x", temperature: 1, top_k: 5 }, sink), {
    model: "m",
    temperature: 1,
    top_k: 5,
  });
  assertEquals(told, ['The extra field "model" is set by an option of its own']);
});
