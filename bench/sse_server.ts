/**
 * A provider on loopback that streams as fast as the client reads, and prints its port.
 *
 * `POST /<openai|anthropic>/<text|args>/<n>/…` streams n text deltas, or one call with n bytes of arguments.
 *
 * @module
 */

const encoder = new TextEncoder();
const WRITE_BYTES = 16 * 1024;

function formatChatChunk(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
  return `data: ${
    JSON.stringify({
      id: "chatcmpl-9xyzABCdef0123456789",
      object: "chat.completion.chunk",
      created: 1700000000,
      model: "mock",
      choices,
    })
  }\n\n`;
}

function formatEvent(event: { type: string; [key: string]: unknown }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** Yields the JSON of arguments of about the given size, in chunks of 20 characters. */
function* createArgumentChunks(bytes: number): Generator<string> {
  const text = JSON.stringify({ path: "a.txt", content: "0123456789 abcdef\n".repeat(bytes / 20) });
  for (let start = 0; start < text.length; start += 20) yield text.slice(start, start + 20);
}

function* createOpenAiEvents(kind: string, count: number): Generator<string> {
  yield formatChatChunk({ role: "assistant", content: "" });
  if (kind === "text") {
    for (let i = 0; i < count; i++) yield formatChatChunk({ content: "8 chars." });
  } else {
    const call = { index: 0, id: "call_1", type: "function" };
    yield formatChatChunk({
      tool_calls: [{ ...call, function: { name: "write", arguments: "" } }],
    });
    for (const chunk of createArgumentChunks(count)) {
      yield formatChatChunk({ tool_calls: [{ index: 0, function: { arguments: chunk } }] });
    }
  }
  yield formatChatChunk({}, kind === "text" ? "stop" : "tool_calls");
  yield `data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}\n\n`;
  yield "data: [DONE]\n\n";
}

function* createAnthropicEvents(kind: string, count: number): Generator<string> {
  const formatDelta = (delta: object) =>
    formatEvent({ type: "content_block_delta", index: 0, delta });
  const text = { type: "text", text: "" };
  const call = { type: "tool_use", id: "toolu_1", name: "write", input: {} };
  yield formatEvent({ type: "message_start", message: { usage: { input_tokens: 1 } } });
  yield formatEvent({
    type: "content_block_start",
    index: 0,
    content_block: kind === "text" ? text : call,
  });
  if (kind === "text") {
    for (let i = 0; i < count; i++) yield formatDelta({ type: "text_delta", text: "8 chars." });
  } else {
    for (const chunk of createArgumentChunks(count)) {
      yield formatDelta({ type: "input_json_delta", partial_json: chunk });
    }
  }
  yield formatEvent({ type: "content_block_stop", index: 0 });
  const stop_reason = kind === "text" ? "end_turn" : "tool_use";
  yield formatEvent({ type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 2 } });
  yield formatEvent({ type: "message_stop" });
}

const bodyCache = new Map<string, Uint8Array<ArrayBuffer>>();

function getBody(api: string, kind: string, count: number): Uint8Array<ArrayBuffer> {
  const key = `${api}/${kind}/${count}`;
  const cached = bodyCache.get(key);
  if (cached) return cached;
  const events = [...(api === "openai" ? createOpenAiEvents : createAnthropicEvents)(kind, count)]
    .join("");
  const body = encoder.encode(events);
  bodyCache.set(key, body);
  return body;
}

function createStream(body: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  let offset = 0;
  return new ReadableStream({
    pull(controller): void {
      if (offset >= body.length) return controller.close();
      controller.enqueue(body.subarray(offset, offset += WRITE_BYTES));
    },
  });
}

Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => console.log(port),
  handler: async (request) => {
    await request.body?.cancel();
    const [, api = "", kind = "", count = ""] = new URL(request.url).pathname.split("/");
    const headers = { "content-type": "text/event-stream" };
    return new Response(createStream(getBody(api, kind, Number(count))), { headers });
  },
});
