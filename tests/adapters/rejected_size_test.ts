import { assertEquals } from "@std/assert";
import type { ContentBlock } from "../../src/core/messages/content.ts";
import type { LlmMessage } from "../../src/core/messages/message.ts";
import type { StreamFn, StreamRequest } from "../../src/core/streams/stream.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { createScreenshots, createServer, listRejections, SUBJECTS } from "./rejecting_server.ts";
import { createReply, createToolResult, prompt } from "./rich_conversation.ts";

/** Size of the images that the server accepts in a request, in characters. */
const MAX_SIZE = 3_000_000;

/** Errors about the size of a request. */
const SIZE_ERRORS: readonly (readonly [provider: string, status: number, message: string])[] = [
  ["anthropic", 413, "Request exceeds the maximum size"],
  ["google", 400, "Request payload size exceeds the limit: 20971520 bytes."],
  ["openai", 400, "Total image size is 50.6MB, which exceeds the allowed limit of 50.0MB."],
];

function findSubject(provider: string): (typeof SUBJECTS)[number] {
  const subject = SUBJECTS.find(({ model }) => model.provider === provider);
  if (!subject) throw new Error("No subject");
  return subject;
}

/** Creates a stream function whose provider rejects large requests, and records the numbers of the images. */
function createLimited(
  provider: string,
  status: number,
  message: string,
): { readonly sent: readonly string[]; readonly streamFn: StreamFn } {
  const subject = findSubject(provider);
  const sent: string[] = [];
  const fetch: typeof globalThis.fetch = (url, init) => {
    const body = `${init?.body}`;
    sent.push([...body.matchAll(/image([0-9])A/g)].map(([, number]) => number).join(""));
    if (body.length <= MAX_SIZE) return createServer(subject).fetch(url, init);
    return Promise.resolve(Response.json({ error: { message } }, { status }));
  };
  return { sent, streamFn: subject.createStreamFn(fetch) };
}

/** Creates the messages of a turn with a screenshot; the data of the image begins with its number. */
function createTurn(model: StreamRequest["model"], number: number, size: number): LlmMessage[] {
  const id = `call${number}`;
  const data = `image${number}A`.padEnd(size, "A");
  const image: ContentBlock = {
    type: "image",
    source: { type: "base64", mediaType: "image/png", data },
  };
  return [
    createReply(model, [{ type: "tool_call", id, name: "shoot", arguments: {} }]),
    createToolResult(id, "shoot", [image]),
  ];
}

for (const [provider, status, message] of SIZE_ERRORS) {
  Deno.test(`${provider}: a request is sent again without the oldest images after "${message}"`, async () => {
    const { model } = findSubject(provider);
    const { sent, streamFn } = createLimited(provider, status, message);
    const { context, ...request } = createScreenshots(model, []);
    const messages = [prompt("Shoot.")];
    const warnings: string[] = [];
    for (const number of [1, 2, 3, 4, 5]) {
      messages.push(...createTurn(model, number, 800_000));
      const reply = await readReply(
        streamFn({ ...request, context: { ...context, messages: [...messages] } }),
      );
      assertEquals(reply.stopReason, "stop");
      warnings.push(...listRejections(reply.warnings));
    }
    assertEquals(sent, ["1", "12", "123", "1234", "34", "345"]);
    assertEquals(warnings, ["images_left_out"]);
  });
}

Deno.test("anthropic: a large request with small images is a context overflow, and is not sent again", async () => {
  const { model } = findSubject("anthropic");
  const { sent, streamFn } = createLimited("anthropic", 413, "Request exceeds the maximum size");
  const { context, ...request } = createScreenshots(model, []);
  const messages = [prompt("a".repeat(MAX_SIZE)), ...createTurn(model, 1, 800)];
  const { error } = await readReply(streamFn({ ...request, context: { ...context, messages } }));
  assertEquals([error?.code, sent], ["context_window_overflow", ["1"]]);
});

Deno.test("google: an image that is too large for any request is left out", async () => {
  const { model } = findSubject("google");
  const { sent, streamFn } = createLimited("google", 400, "Request payload size exceeds the limit");
  const { context, ...request } = createScreenshots(model, []);
  const messages = [
    prompt("Shoot."),
    ...createTurn(model, 1, 800_000),
    ...createTurn(model, 2, MAX_SIZE + 4),
  ];
  const reply = await readReply(streamFn({ ...request, context: { ...context, messages } }));
  assertEquals([reply.stopReason, sent], ["stop", ["12", "2", "1"]]);
});
