/**
 * A mock provider on the loopback interface, with the wire formats of Anthropic and of OpenAI's chat completions.
 *
 * @module
 */

import { createAnthropicFrames, type ScriptedReply } from "../../cli/demo/anthropic_frames.ts";
import { serveLoopback } from "../adapters/loopback.ts";

/** An answer: a reply, a late reply, a reply that hangs after a text, an error response, or no response. */
export type MockAnswer =
  | ScriptedReply
  | { readonly reply: ScriptedReply; readonly afterMs: number }
  | { readonly hangsAfter: string }
  | { readonly status: number; readonly body: string }
  | "silence";

/** A running mock provider. */
export interface MockProvider extends AsyncDisposable {
  /** Base URL for both formats. */
  readonly url: string;
  /** Bodies of the received requests. */
  readonly requests: readonly string[];
}

/** Starts a provider that answers each request with the next answer. */
export function startMockProvider(...answers: readonly MockAnswer[]): MockProvider {
  const requests: string[] = [];
  const closing = Promise.withResolvers<void>();
  const server = serveLoopback(async (request) => {
    requests.push(await request.text());
    const answer = answers[requests.length - 1] ??
      { status: 500, body: "no answer for this request" };
    const isOpenAI = new URL(request.url).pathname.endsWith("/chat/completions");
    return respond(answer, { number: requests.length, isOpenAI, closing: closing.promise });
  });
  return {
    url: server.url,
    requests,
    async [Symbol.asyncDispose]() {
      closing.resolve();
      await server[Symbol.asyncDispose]();
    },
  };
}

interface AnswerContext {
  readonly number: number;
  readonly isOpenAI: boolean;
  /** Resolves when the provider is stopped; hanging replies end then. */
  readonly closing: Promise<void>;
}

function respond(answer: MockAnswer, context: AnswerContext): Response | Promise<Response> {
  if (answer === "silence") return context.closing.then(() => new Response());
  if ("afterMs" in answer) {
    return delay(answer.afterMs).then(() => respond(answer.reply, context));
  }
  if ("status" in answer) {
    const headers = { "content-type": "application/json", "retry-after": "0" };
    return new Response(answer.body, { status: answer.status, headers });
  }
  const reply = "hangsAfter" in answer ? { blocks: [answer.hangsAfter] } : answer;
  const frames = context.isOpenAI
    ? createOpenAiFrames(reply)
    : createAnthropicFrames(reply, context.number);
  const hangs = "hangsAfter" in answer;
  const sent = hangs ? frames.slice(0, -3) : frames;
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      for (const frame of sent) controller.enqueue(new TextEncoder().encode(frame));
      if (hangs) await context.closing;
      controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function createOpenAiFrames({ blocks }: ScriptedReply): string[] {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${
      JSON.stringify({
        id: "c1",
        object: "chat.completion.chunk",
        choices: [{ index: 0, delta, finish_reason }],
      })
    }\n\n`;
  const toolCalls = blocks.filter((block) => typeof block !== "string" && "tool" in block);
  const texts = blocks.filter((block) => typeof block === "string");
  return [
    chunk({ role: "assistant", content: "" }),
    ...texts.flatMap((text) => text.match(/\S+\s*|\s+/g) ?? []).map((content) =>
      chunk({ content })
    ),
    ...toolCalls.map(({ tool, input }, index) =>
      chunk({
        tool_calls: [{
          index,
          id: `call_${index}`,
          type: "function",
          function: { name: tool, arguments: JSON.stringify(input) },
        }],
      })
    ),
    chunk({}, toolCalls.length > 0 ? "tool_calls" : "stop"),
    "data: [DONE]\n\n",
  ];
}
