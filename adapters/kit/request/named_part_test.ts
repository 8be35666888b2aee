import { assertEquals } from "@std/assert";
import { findNamedPart } from "./named_part.ts";

const image = { type: "image", source: { type: "base64", data: "AAAA" } };
const BODY = JSON.stringify({
  messages: [
    { role: "user", content: [{ type: "text", text: "Hi" }, image] },
    { role: "user", content: [{ type: "tool_result", content: [image] }] },
    { role: "user", content: [{ image: { source: { bytes: "BBBB" } } }] },
    {
      role: "user",
      content: [{
        toolResult: { content: ["DDDD", "EEEE"].map((bytes) => ({ image: { bytes } })) },
      }],
    },
  ],
  input: [{ content: [{ type: "input_image", image_url: "data:image/png;base64,CCCC" }] }],
});

const CASES: readonly (readonly [message: string, part: unknown])[] = [
  ["messages.0.content.1.image.source.base64.data: Could not process image", "AAAA"],
  ["messages.0.content.1.image.source.base64: image exceeds 5 MB maximum", image.source],
  ["messages.1.content.0.tool_result.content.0.image.source.base64: image", image.source],
  ["messages.2.content.0.image.source.base64.data: Could not process image", { bytes: "BBBB" }],
  ["messages.3.content.0.tool_result.content.1.image.source: no", { bytes: "EEEE" }],
  ["messages.0.constructor.content.0.text: no", "Hi"],
  ["Invalid 'input[0].content[0].image_url'. Expected", "data:image/png;base64,CCCC"],
  ["messages.7.content.0.image.source.base64.data: Could not process image", undefined],
  ["messages.0.content.text: no", undefined],
  ["Could not process image", undefined],
];

for (const [message, part] of CASES) {
  Deno.test(`findNamedPart(): finds the part of the path in "${message}"`, async () => {
    const expected = part === undefined ? undefined : JSON.stringify(part);
    assertEquals(await findNamedPart(message, () => Promise.resolve(BODY)), expected);
  });
}

Deno.test("findNamedPart(): finds nothing when there is no body or it is not JSON", async () => {
  const message = "messages.0.content.1: no";
  assertEquals(await findNamedPart(message, () => Promise.resolve("messages")), undefined);
  assertEquals(await findNamedPart(message, () => Promise.reject(new Error("no"))), undefined);
});
