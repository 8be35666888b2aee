/**
 * Servers that reject parts of requests, and requests with such parts.
 *
 * @module
 */

import { createAnthropic } from "../../adapters/anthropic/mod.ts";
import { createGoogle } from "../../adapters/google/mod.ts";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import type { ContentBlock } from "../../src/core/messages/content.ts";
import type { ToolResultMessage } from "../../src/core/messages/message.ts";
import { type ModelSpec, modelSpec } from "../../src/core/models/model.ts";
import type { StreamFn, StreamRequest } from "../../src/core/streams/stream.ts";
import { createReply, prompt } from "./rich_conversation.ts";

export const SIGNED = "c2lnbmVkIGJ5IGFub3RoZXIgYWNjb3VudA==";

export interface Subject {
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

export const SUBJECTS: readonly Subject[] = [
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
export function createServer(
  { error, events, status = 400 }: Pick<Subject, "error" | "events"> & { readonly status?: number },
): { readonly bodies: readonly string[]; readonly fetch: typeof globalThis.fetch } {
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

export function createRequest({ model, reasoning }: Subject): StreamRequest {
  const reply = createReply(model, [reasoning, { type: "text", text: "One." }]);
  const messages = [prompt("Count."), reply, prompt("Go on.")];
  return {
    model,
    context: { systemPrompt: "", messages, tools: [] },
    options: {},
    signal: new AbortController().signal,
  };
}

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
export function createScreenshots(model: ModelSpec, ids: readonly string[]): StreamRequest {
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
export function listRejections(warnings: readonly { code: string; message: string }[]): string[] {
  return warnings.filter(({ message }) => message.startsWith("The provider rejected"))
    .map(({ code }) => code);
}
