/**
 * A provider on loopback: it speaks the wire formats of Anthropic and of OpenAI's chat completions.
 *
 * @module
 */

import { createAnthropicFrames, type ScriptedReply } from "../../cli/demo/anthropic_frames.ts";

/** What it answers: a reply, a reply that begins and never ends, a refusal, or nothing at all. */
export type MockAnswer =
  | ScriptedReply
  | { readonly hangsAfter: string }
  | { readonly status: number; readonly body: string }
  | "silence";

/** A provider that runs. */
export interface MockProvider extends AsyncDisposable {
  /** Its address, for either format. */
  readonly url: string;
  /** The bodies of the requests that it got. */
  readonly requests: readonly string[];
  /** When each came, as `performance.now()` tells. */
  readonly times: readonly number[];
}

/** Starts a provider that gives each request the next answer. */
export function startMockProvider(...answers: readonly MockAnswer[]): MockProvider {
  const requests: string[] = [];
  const times: number[] = [];
  const closing = Promise.withResolvers<void>();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      times.push(performance.now());
      requests.push(await request.text());
      const answer = answers[requests.length - 1] ?? { status: 500, body: "no answer is left" };
      const isOpenAI = new URL(request.url).pathname.endsWith("/chat/completions");
      return respond(answer, { number: requests.length, isOpenAI, closing: closing.promise });
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    requests,
    times,
    async [Symbol.asyncDispose]() {
      closing.resolve();
      await server.shutdown();
    },
  };
}

interface AnswerContext {
  readonly number: number;
  readonly isOpenAI: boolean;
  /** Until then, what hangs hangs. */
  readonly closing: Promise<void>;
}

function respond(answer: MockAnswer, asked: AnswerContext): Response | Promise<Response> {
  if (answer === "silence") return asked.closing.then(() => new Response());
  if ("status" in answer) {
    const headers = { "content-type": "application/json", "retry-after": "0" };
    return new Response(answer.body, { status: answer.status, headers });
  }
  const reply = "hangsAfter" in answer ? { blocks: [answer.hangsAfter] } : answer;
  const frames = asked.isOpenAI
    ? createOpenAiFrames(reply)
    : createAnthropicFrames(reply, asked.number);
  const hangs = "hangsAfter" in answer;
  const sent = hangs ? frames.slice(0, -3) : frames;
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      for (const frame of sent) controller.enqueue(new TextEncoder().encode(frame));
      if (hangs) await asked.closing;
      controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
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
  const toolCalls = blocks.filter((block) => typeof block !== "string");
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
