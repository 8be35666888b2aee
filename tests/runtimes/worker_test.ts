import { assertEquals, assertStringIncludes } from "@std/assert";
import { createAnthropicFrames, type ScriptedReply } from "../../cli/demo/anthropic_frames.ts";
import { readResponse } from "../../src/client/mod.ts";
import { extractText } from "../../src/core/messages/content.ts";
import type { AgentMessage } from "../../src/core/messages/message.ts";
import { serveLoopback } from "../adapters/loopback.ts";
import { withDeadline } from "../deadline.ts";
import { root } from "../project.ts";
import { hasWorkerd, type RunningWorker, startWorker } from "./workerd.ts";

const ignore = !await hasWorkerd();

const createWorkerPath = new URL("tests/runtimes/worker/worker.ts", root).href;

const DEFAULT_WORKER = `
import { createWorker } from "${createWorkerPath}";
export default createWorker();
`;

/** With the validator that `docs/web.md` shows. */
const WORKER_WITH_VALIDATOR = `
import { Validator } from "@cfworker/json-schema";
import { createWorker } from "${createWorkerPath}";

export default createWorker((schema) => {
  const compiled = new Validator(schema, "2020-12", false);
  return (value) =>
    compiled.validate(value).errors.map(({ instanceLocation, error }) => ({
      path: instanceLocation.slice(1),
      message: error,
    }));
});
`;

const REPLIES: readonly ScriptedReply[] = [
  { blocks: [{ tool: "add", input: { left: 19, right: "x" } }] },
  { blocks: [{ tool: "add", input: { left: 19, right: 23 } }] },
  { blocks: ["The sum is 42."] },
];

/** Responds with the next reply of Anthropic's API. */
function createModel(): (request: Request) => Promise<Response> {
  let requests = 0;
  return async (request) => {
    await request.body?.cancel();
    const frames = createAnthropicFrames(REPLIES[requests++] ?? { blocks: [] }, requests);
    return new Response(frames.join(""), { headers: { "content-type": "text/event-stream" } });
  };
}

/** Prompts the agent of a worker, and returns the texts of the new messages. */
async function prompt({ url }: RunningWorker): Promise<string[]> {
  const response = await fetch(url, { method: "POST", body: "What is 19 + 23?" });
  const { messages, error } = await readResponse(response).result();
  if (error) throw error;
  return messages.map(getText);
}

function getText(message: AgentMessage): string {
  return message.role === "custom" ? "" : extractText(message.content);
}

Deno.test({
  name: "worker: an agent runs a tool in workerd, with a validator that needs no eval",
  ignore,
  async fn() {
    await using model = serveLoopback(createModel());
    await using worker = await startWorker(WORKER_WITH_VALIDATOR, { MODEL_URL: model.url });
    const [question, call, refusal = "", secondCall, sum, answer] = await prompt(worker);
    assertEquals([question, call, secondCall, sum, answer], [
      "What is 19 + 23?",
      "",
      "",
      "42",
      "The sum is 42.",
    ]);
    assertStringIncludes(refusal, '/right: Instance type "string" is invalid. Expected "number".');
  },
});

Deno.test({
  name: "worker: without another validator, workerd reports what a tool needs",
  ignore,
  async fn() {
    await using model = serveLoopback(createModel());
    await using worker = await startWorker(DEFAULT_WORKER, { MODEL_URL: model.url });
    const [, , refusal = ""] = await prompt(worker);
    assertStringIncludes(refusal, "this runtime forbids eval: pass a `validator`");
  },
});

/** Yields texts, and then the last one again until the reader ends. */
function* repeatLast(
  texts: readonly string[],
  { onEnd }: { readonly onEnd: () => void },
): Generator<string> {
  try {
    yield* texts;
    while (true) yield texts.at(-1) ?? "";
  } finally {
    onEnd();
  }
}

Deno.test({
  name: "worker: a client that disconnects from workerd ends the request to the model",
  ignore,
  async fn() {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const frames = createAnthropicFrames({ blocks: ["Hello"] }, 1);
    const start = frames.findIndex((frame) => frame.includes("text_delta"));
    // workerd notices the end of a connection when it sends the next event.
    const body = ReadableStream.from(repeatLast(frames.slice(0, start + 1), { onEnd: resolve }))
      .pipeThrough(new TextEncoderStream());
    await using model = serveLoopback(() =>
      new Response(body, { headers: { "content-type": "text/event-stream" } })
    );
    await using worker = await startWorker(DEFAULT_WORKER, { MODEL_URL: model.url });
    const response = await fetch(worker.url, { method: "POST", body: "Hi" });
    for await (const { type } of readResponse(response)) if (type === "message_update") break;
    await withDeadline(closed);
  },
});
