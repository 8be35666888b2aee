/**
 * A server that answers like the APIs of Anthropic, OpenAI (Responses) and Google, without delay.
 *
 * @module
 */

/** A request that the server has received. */
export interface ReceivedRequest {
  /** Path and query. */
  readonly path: string;
  /** Bytes of the body. */
  readonly bytes: number;
  /** Time of the arrival, of `performance.now()`. */
  readonly at: number;
}

/** A running server. */
export interface ModelServer extends AsyncDisposable {
  /** Base URL, without a path. */
  readonly url: string;
  /** The requests to a model since the last call, in order. */
  takeRequests(): ReceivedRequest[];
}

const ANSWER = "OK";

/** Starts the server on the loopback interface. */
export function startModelServer(): ModelServer {
  let requests: ReceivedRequest[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const at = performance.now();
      const { pathname: path } = new URL(request.url);
      const { length: bytes } = await request.text();
      const events = createEvents(path);
      if (!events) return Response.json({});
      requests.push({ path, bytes, at });
      return new Response(events, { headers: { "content-type": "text/event-stream" } });
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    takeRequests() {
      const taken = requests;
      requests = [];
      return taken;
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Returns the events of a reply in the API with a path; `undefined` for paths that call no model. */
function createEvents(path: string): string | undefined {
  if (path.endsWith("/messages")) return format(ANTHROPIC_EVENTS);
  if (path.endsWith("/responses")) return format(OPENAI_EVENTS);
  if (path.includes("GenerateContent")) return format(GOOGLE_EVENTS);
  return undefined;
}

interface ServerEvent {
  readonly type?: string;
  readonly [property: string]: unknown;
}

function format(events: readonly ServerEvent[]): string {
  return events.map((event) =>
    `${event.type ? `event: ${event.type}\n` : ""}data: ${JSON.stringify(event)}\n\n`
  ).join("");
}

const ANTHROPIC_EVENTS: readonly ServerEvent[] = [
  {
    type: "message_start",
    message: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude-sonnet-5-5",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 10, output_tokens: 1 },
    },
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: ANSWER } },
  { type: "content_block_stop", index: 0 },
  {
    type: "message_delta",
    delta: { stop_reason: "end_turn", stop_sequence: null },
    usage: { output_tokens: 2 },
  },
  { type: "message_stop" },
];

const OPENAI_MESSAGE = {
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: ANSWER, annotations: [] }],
};

const OPENAI_EVENTS: readonly ServerEvent[] = [
  { type: "response.created", response: { id: "resp_1", status: "in_progress", output: [] } },
  { type: "response.output_item.added", output_index: 0, item: { ...OPENAI_MESSAGE, content: [] } },
  {
    type: "response.output_text.delta",
    item_id: "msg_1",
    output_index: 0,
    content_index: 0,
    delta: ANSWER,
  },
  { type: "response.output_item.done", output_index: 0, item: OPENAI_MESSAGE },
  {
    type: "response.completed",
    response: {
      id: "resp_1",
      status: "completed",
      output: [OPENAI_MESSAGE],
      usage: {
        input_tokens: 10,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 2,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 12,
      },
    },
  },
];

const GOOGLE_EVENTS: readonly ServerEvent[] = [{
  candidates: [{ content: { role: "model", parts: [{ text: ANSWER }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 },
}];
