import { assertEquals, assertStringIncludes } from "@std/assert";
import { createAnthropic } from "../../adapters/anthropic/mod.ts";
import { createGoogle } from "../../adapters/google/mod.ts";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import { Agent } from "../../mod.ts";
import type { ContentBlock } from "../../src/core/content.ts";
import type { ToolResultMessage } from "../../src/core/message.ts";
import { type ModelSpec, modelSpec } from "../../src/core/model.ts";
import type { StreamFn, StreamRequest } from "../../src/core/stream.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { createReply, prompt } from "./rich_conversation.ts";

const SIGNED = "c2lnbmVkIGJ5IGFub3RoZXIgYWNjb3VudA==";

interface Subject {
  readonly model: ModelSpec;
  readonly createStreamFn: (fetch: typeof globalThis.fetch) => StreamFn;
  /** The reasoning of a reply. */
  readonly reasoning: ContentBlock;
  /** Error of the provider. */
  readonly error: object;
  /** Events of a reply with the text `Hi`. */
  readonly events: readonly object[];
}

const apiKey = "sk-test";

const SUBJECTS: readonly Subject[] = [
  {
    model: modelSpec("openai/gpt-5.4:low"),
    createStreamFn: (fetch) => createOpenAI({ fetch, apiKey }),
    reasoning: {
      type: "extension",
      typeName: "openai.reasoning",
      data: { type: "reasoning", id: "rs_1", summary: [], encrypted_content: SIGNED },
    },
    error: {
      error: {
        message: "The encrypted content c2ln...dA== could not be verified.",
        type: "invalid_request_error",
        code: "invalid_encrypted_content",
      },
    },
    events: [
      { type: "response.output_text.delta", output_index: 0, delta: "Hi" },
      { type: "response.completed", response: { status: "completed" } },
    ],
  },
  {
    model: modelSpec("anthropic/claude-sonnet-4-5:low"),
    createStreamFn: (fetch) => createAnthropic({ fetch, apiKey }),
    reasoning: { type: "thinking", thinking: "Hm.", signature: SIGNED },
    error: {
      type: "error",
      error: {
        type: "invalid_request_error",
        message: "messages.1.content.0: Invalid `signature` in `thinking` block",
      },
    },
    events: [
      { type: "message_start", message: { id: "m" } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "Hi" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" } },
      { type: "message_stop" },
    ],
  },
  {
    model: modelSpec("google/gemini-3.8-flash:low"),
    createStreamFn: (fetch) => createGoogle({ fetch, apiKey }),
    reasoning: { type: "text", text: "Hm.", signature: SIGNED },
    error: {
      error: {
        code: 400,
        message: "Unable to submit request because Thought signature is not valid.",
        status: "INVALID_ARGUMENT",
      },
    },
    events: [
      { candidates: [{ content: { parts: [{ text: "Hi" }] }, finishReason: "STOP" }] },
    ],
  },
];

/** Creates a server that rejects the reasoning, and records the bodies of the requests. */
function createServer({ error, events }: Pick<Subject, "error" | "events">, status = 400) {
  const bodies: string[] = [];
  const fetch: typeof globalThis.fetch = (_url, init) => {
    const body = `${init?.body}`;
    bodies.push(body);
    if (body.includes(SIGNED)) return Promise.resolve(Response.json(error, { status }));
    const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    const headers = { "content-type": "text/event-stream" };
    return Promise.resolve(new Response(text, { headers }));
  };
  return { bodies, fetch };
}

function createRequest({ model, reasoning }: Subject): StreamRequest {
  const reply = createReply(model, [reasoning, { type: "text", text: "One." }]);
  const messages = [prompt("Count."), reply, prompt("Go on.")];
  return {
    model,
    context: { systemPrompt: "", messages, tools: [] },
    options: {},
    signal: new AbortController().signal,
  };
}

for (const subject of SUBJECTS) {
  const { model, createStreamFn } = subject;

  Deno.test(`${model.provider}: a request whose reasoning is rejected is sent again without it`, async () => {
    const { bodies, fetch } = createServer(subject);
    const streamFn = createStreamFn(fetch);
    const request = createRequest(subject);
    const { stopReason, content, warnings } = await readReply(streamFn(request));
    assertEquals([stopReason, content], ["stop", [{ type: "text", text: "Hi" }]]);
    assertEquals(warnings.map(({ code }) => code), ["thinking_left_out"]);
    assertEquals(bodies.length, 2);
    assertStringIncludes(bodies[1] ?? "", "One.");
    // Later requests have it no longer, but that of the new reply.
    await readReply(streamFn(request));
    assertEquals(bodies.length, 3);
  });

  Deno.test(`${model.provider}: other errors about a request with reasoning are reported`, async () => {
    const error = { error: { type: "invalid_request_error", message: "Unknown field: x" } };
    const { bodies, fetch } = createServer({ ...subject, error });
    const reply = await readReply(createStreamFn(fetch)(createRequest(subject)));
    assertEquals([reply.error?.code, bodies.length], ["bad_request", 1]);
  });

  Deno.test(`${model.provider}: the rejection of a request without reasoning is reported`, async () => {
    const request = createRequest(subject);
    const { fetch, bodies } = createServer(subject);
    const messages = [prompt(`Read ${SIGNED}`)];
    const reply = await readReply(
      createStreamFn(fetch)({ ...request, context: { ...request.context, messages } }),
    );
    assertEquals([reply.error?.code, bodies.length], ["bad_request", 1]);
  });
}

Deno.test("Agent: a session that continues with another account fails no request after the first", async () => {
  const [subject] = SUBJECTS;
  if (!subject) throw new Error("No subject");
  const { bodies, fetch } = createServer(subject);
  const agent = new Agent({
    model: subject.model,
    streamFn: subject.createStreamFn(fetch),
    messages: createRequest(subject).context.messages.slice(0, 2),
  });
  for (const text of ["Go on.", "And on."]) {
    assertEquals((await agent.prompt(text)).text, "Hi");
  }
  assertEquals(bodies.map((body) => body.includes(SIGNED)), [true, false, false]);
});

const IMAGE_ERRORS: readonly (readonly [model: string, message: string])[] = [
  [
    "anthropic",
    "messages.7.content.2.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels",
  ],
  [
    "anthropic",
    "messages.58.content.2.image.source.base64: image exceeds 5 MB maximum: 6500712 bytes > 5242880 bytes",
  ],
  ["anthropic", "Could not process image"],
  [
    "anthropic",
    "messages.11.content.8.image.source.base64.data: Image format image/png not supported",
  ],
  [
    "openai",
    "The image data you provided does not represent a valid image. Please check your input and try again",
  ],
  ["openai", "You uploaded an unsupported image. Please make sure your image is valid."],
  ["google", "Unable to process input image. Please retry or report."],
];

/** Creates a tool result with an image. */
function createScreenshot(id: string, data: string): ToolResultMessage {
  const source = { type: "base64", mediaType: "image/png", data } as const;
  const content = [{ type: "text", text: `Shot ${id}` }, { type: "image", source }] as const;
  return {
    role: "tool_result",
    toolCallId: id,
    toolName: "shoot",
    content,
    isError: false,
    timestamp: 0,
  };
}

/** Creates a request after two calls, of which the second one returned an image that is rejected. */
function createScreenshots(model: ModelSpec, ids: readonly string[]): StreamRequest {
  const turns = ids.flatMap((id) => [
    createReply(model, [{ type: "tool_call", id, name: "shoot", arguments: {} }]),
    createScreenshot(id, id === "call2" ? SIGNED : "Z29vZA=="),
  ]);
  return {
    model,
    context: { systemPrompt: "", messages: [prompt("Shoot."), ...turns], tools: [] },
    options: {},
    signal: new AbortController().signal,
  };
}

/** Returns the codes of the warnings about what a provider rejected. */
function listRejections(warnings: readonly { code: string; message: string }[]): string[] {
  return warnings.filter(({ message }) => message.startsWith("The provider rejected"))
    .map(({ code }) => code);
}

for (const [provider, message] of IMAGE_ERRORS) {
  const subject = SUBJECTS.find(({ model }) => model.provider === provider);
  if (!subject) throw new Error("No subject");
  const { model, events, createStreamFn } = subject;
  const error = { error: { type: "invalid_request_error", message } };

  Deno.test(`${provider}: a request with an image is sent again without it after "${message}"`, async () => {
    const { bodies, fetch } = createServer({ error, events });
    const streamFn = createStreamFn(fetch);
    const request = createScreenshots(model, ["call1", "call2"]);
    const { content, warnings } = await readReply(streamFn(request));
    assertEquals(content, [{ type: "text", text: "Hi" }]);
    assertEquals(listRejections(warnings), ["images_left_out"]);
    assertEquals(bodies.map((body) => body.includes("Z29vZA==")), [true, true]);
    assertStringIncludes(bodies[1] ?? "", "(an image that the provider rejected");
    await readReply(streamFn(request));
    assertEquals(bodies.length, 3);
  });
}

Deno.test("anthropic: a request is sent without any image when it has too many for an earlier one", async () => {
  const [, subject] = SUBJECTS;
  if (!subject) throw new Error("No subject");
  const message =
    "messages.88.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels";
  const { bodies, fetch } = createServer({ ...subject, error: { error: { message } } });
  const request = createScreenshots(subject.model, ["call2", "call1", "call3", "call4"]);
  const streamFn = subject.createStreamFn(fetch);
  assertEquals((await readReply(streamFn(request))).stopReason, "stop");
  assertEquals(bodies.length, 3);
});

Deno.test("anthropic: a request of which images and thinking are rejected is sent without both", async () => {
  const [, subject] = SUBJECTS;
  if (!subject) throw new Error("No subject");
  const bodies: string[] = [];
  const { model, events } = subject;
  const fetch: typeof globalThis.fetch = (url, init) => {
    const body = `${init?.body}`;
    bodies.push(body);
    const isRejected = body.includes(SIGNED) && !body.includes("signature");
    const error = isRejected ? { error: { message: "Could not process image" } } : subject.error;
    return createServer({ error, events }).fetch(url, init);
  };
  const { context, ...request } = createScreenshots(model, ["call2"]);
  const messages = [
    prompt("Hi."),
    createReply(model, [subject.reasoning, { type: "text", text: "One." }]),
    ...context.messages,
  ];
  const reply = await readReply(
    subject.createStreamFn(fetch)({ ...request, context: { ...context, messages } }),
  );
  assertEquals(listRejections(reply.warnings), ["thinking_left_out", "images_left_out"]);
  assertEquals([reply.stopReason, bodies.length], ["stop", 3]);
});

Deno.test("openai: a model that takes no images is reported, not an image", async () => {
  const [subject] = SUBJECTS;
  if (!subject) throw new Error("No subject");
  const message = "Invalid content type. image_url is only supported by certain models.";
  const { bodies, fetch } = createServer({ ...subject, error: { error: { message } } });
  const request = createScreenshots(subject.model, ["call2"]);
  const reply = await readReply(subject.createStreamFn(fetch)(request));
  assertEquals([reply.error?.code, bodies.length], ["bad_request", 1]);
});

Deno.test("Agent: a session with an image that is rejected fails no request after the first", async () => {
  const [, subject] = SUBJECTS;
  if (!subject) throw new Error("No subject");
  const error = { error: { message: "Could not process image" } };
  const { bodies, fetch } = createServer({ ...subject, error });
  const { model } = subject;
  const agent = new Agent({ model, streamFn: subject.createStreamFn(fetch) });
  const source = { type: "base64", mediaType: "image/png", data: SIGNED } as const;
  const images = [{ type: "image", source }] as const;
  for (const input of [{ text: "What is this?", images }, "Go on.", "And on."]) {
    assertEquals((await agent.prompt(input)).text, "Hi");
  }
  assertEquals(bodies.map((body) => body.includes(SIGNED)), [true, false, false, false]);
});

for (
  const message of [
    "messages.2.content.0.pdf.source.base64.data: The PDF specified was not valid.",
    "messages.2.content.1.document.source.base64.data: The PDF specified is password protected.",
    "A maximum of 100 PDF pages may be provided.",
  ]
) {
  Deno.test(`anthropic: a request is sent again without a document after "${message}"`, async () => {
    const [, subject] = SUBJECTS;
    if (!subject) throw new Error("No subject");
    const { bodies, fetch } = createServer({ ...subject, error: { error: { message } } });
    const request = createScreenshots(subject.model, ["call1"]);
    const source = { type: "base64", data: SIGNED } as const;
    const content = [{ type: "document", source, mediaType: "application/pdf" }] as const;
    const messages = [...request.context.messages, { ...prompt(""), content }];
    const reply = await readReply(
      subject.createStreamFn(fetch)({ ...request, context: { ...request.context, messages } }),
    );
    assertEquals(listRejections(reply.warnings), ["documents_left_out"]);
    assertEquals(bodies.map((body) => body.includes("Z29vZA==")), [true, true]);
    assertStringIncludes(bodies[1] ?? "", "(a document that the provider rejected");
  });
}
