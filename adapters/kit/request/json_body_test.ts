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
