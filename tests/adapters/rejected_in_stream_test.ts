import { assertEquals } from "@std/assert";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import type { ContentBlock } from "../../src/core/messages/content.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import type { AssistantMessageEvent, StreamRequest } from "../../src/core/streams/stream.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { createScreenshots, SIGNED } from "./rejecting_server.ts";
import { createReply, prompt } from "./rich_conversation.ts";

const MODEL = modelSpec("openrouter/anthropic/claude-sonnet-4.5:low");
const REASONING: ContentBlock = {
  type: "extension",
  typeName: "openai.reasoning_details",
  data: [{ type: "reasoning.text", text: "Hm.", signature: SIGNED }],
};

/** An error of OpenRouter in a stream, as after the comments that it sends while it waits for the provider. */
function createError(message: string): object {
  const raw = JSON.stringify({ message });
  return { error: { message: "Provider returned error", code: 400, metadata: { raw } } };
}

const INVALID_SIGNATURE = createError("messages.1.content.0: Invalid signature in thinking block");
const INVALID_IMAGE = createError("Could not process image");
const REPLY = { choices: [{ delta: { content: "Hi" }, finish_reason: "stop" }] };

/** Creates a server that answers each request with a stream of the status 200. */
function createServer(
  answer: (body: string) => readonly object[],
): { readonly bodies: readonly string[]; readonly streamFn: ReturnType<typeof createOpenAI> } {
  const bodies: string[] = [];
  const streamFn = createOpenAI({
    baseUrl: "https://openrouter.ai/api/v1",
    apiKey: "key",
    fetch: (_url, init) => {
      const body = `${init?.body}`;
      bodies.push(body);
      const events = answer(body).map((event) => `data: ${JSON.stringify(event)}\n\n`);
      const text = `: OPENROUTER PROCESSING\n\n${events.join("")}data: [DONE]\n\n`;
      const headers = { "content-type": "text/event-stream" };
      return Promise.resolve(new Response(text, { headers }));
    },
  });
  return { bodies, streamFn };
}

function createRequest(): StreamRequest {
  const { context, ...request } = createScreenshots(MODEL, ["call2"]);
  const reply = createReply(MODEL, [REASONING, { type: "text", text: "One." }]);
  return {
    ...request,
    context: { ...context, messages: [prompt("Count."), reply, ...context.messages] },
  };
}

/** Returns the types of the events, and the codes of the warnings about what the provider rejected. */
function listEvents(events: readonly AssistantMessageEvent[]): string[] {
  return events.flatMap((event) => {
    if (event.type !== "warning") return event.type;
    return event.message.startsWith("The provider rejected") ? event.code : [];
  });
}

const hasReasoning = (body: string) => body.includes("reasoning_details");
const hasImage = (body: string) => body.includes("image_url");

Deno.test("createOpenAI(): a request is sent again without what is rejected within the stream", async () => {
  const { bodies, streamFn } = createServer((body) => {
    if (hasReasoning(body)) return [INVALID_SIGNATURE];
    return [hasImage(body) ? INVALID_IMAGE : REPLY];
  });
  const request = createRequest();
  const { stopReason, text, events } = await readReply(streamFn(request));
  assertEquals([stopReason, text], ["stop", "Hi"]);
  assertEquals(listEvents(events), [
    "start",
    "thinking_left_out",
    "images_left_out",
    "text_start",
    "text_delta",
    "text_end",
    "done",
  ]);
  assertEquals(bodies.map((body) => [hasReasoning(body), hasImage(body)]), [
    [true, true],
    [false, true],
    [false, false],
  ]);
  // Later requests have neither.
  assertEquals((await readReply(streamFn(request))).stopReason, "stop");
  assertEquals(bodies.length, 4);
});

Deno.test("createOpenAI(): an error within the stream is reported once nothing is left to omit, and later requests have all content", async () => {
  const { bodies, streamFn } = createServer(() => [INVALID_IMAGE]);
  const request = createRequest();
  const { error, events } = await readReply(streamFn(request));
  assertEquals([error?.code, listEvents(events)], ["bad_request", ["start", "error"]]);
  assertEquals(bodies.map(hasImage), [true, false]);
  await readReply(streamFn(request));
  assertEquals(bodies.map(hasImage), [true, false, true, false]);
});

Deno.test("createOpenAI(): a reply that has begun is not repeated after an error", async () => {
  const { bodies, streamFn } = createServer(() => [
    { choices: [{ delta: { content: "Hi" } }] },
    INVALID_SIGNATURE,
  ]);
  const { error, text } = await readReply(streamFn(createRequest()));
  assertEquals([error?.code, text, bodies.length], ["bad_request", "Hi", 1]);
});

Deno.test("createOpenAI(): an abort ends a request that is sent again after an error within the stream", async () => {
  const controller = new AbortController();
  const { bodies, streamFn } = createServer((body) => {
    if (!hasReasoning(body)) controller.abort();
    return [hasReasoning(body) ? INVALID_SIGNATURE : REPLY];
  });
  const { events } = await readReply(streamFn({ ...createRequest(), signal: controller.signal }));
  assertEquals([listEvents(events), bodies.length], [["start", "error"], 2]);
});

Deno.test("createOpenAI(): a request that is sent again pauses the limiter when it is throttled", async () => {
  const pauses: number[] = [];
  let count = 0;
  const streamFn = createOpenAI({
    apiKey: "key",
    limiter: {
      acquire: () => Promise.resolve(),
      observe: () => {},
      pause: (delayMs) => pauses.push(delayMs),
    },
    fetch: () => {
      if (count++ > 0) {
        const headers = { "retry-after": "7" };
        return Promise.resolve(new Response("slow down", { status: 429, headers }));
      }
      const event = `data: ${JSON.stringify(INVALID_IMAGE)}\n\n`;
      const headers = { "content-type": "text/event-stream" };
      return Promise.resolve(new Response(event, { headers }));
    },
  });
  const { error } = await readReply(streamFn(createRequest()));
  assertEquals([error?.code, pauses], ["model_throttled", [7000]]);
});

Deno.test("createOpenAI(): a response that fails because of an image is requested again without it", async () => {
  const images: boolean[] = [];
  const streamFn = createOpenAI({
    apiKey: "key",
    fetch: (_url, init) => {
      const hasImage = `${init?.body}`.includes(SIGNED);
      images.push(hasImage);
      const error = {
        code: "invalid_image",
        message: "The image data you provided does not represent a valid image.",
      };
      const events = hasImage
        ? [
          { type: "response.created", response: { id: "resp_1" } },
          { type: "response.failed", response: { id: "resp_1", status: "failed", error } },
        ]
        : [
          { type: "response.output_text.delta", output_index: 0, delta: "Hi" },
          { type: "response.completed", response: { id: "resp_2", status: "completed" } },
        ];
      const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
      const headers = { "content-type": "text/event-stream" };
      return Promise.resolve(new Response(text, { headers }));
    },
  });
  const request = createScreenshots(modelSpec("openai/gpt-5.4"), ["call1", "call2"]);
  const { stopReason, text } = await readReply(streamFn(request));
  assertEquals([stopReason, text, images], ["stop", "Hi", [true, false]]);
});
