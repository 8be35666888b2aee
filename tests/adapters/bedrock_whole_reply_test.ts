import { assertEquals, assertStringIncludes } from "@std/assert";
import { createBedrock } from "../../adapters/bedrock/mod.ts";
import { Agent } from "../../mod.ts";
import type { JsonObject } from "../../src/core/json/json.ts";
import { ManualClock } from "../../src/testing/manual_clock.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { encodeEventStream, EVENT_STREAM_TYPE } from "./bedrock_frames.ts";
import { createMinimalRequest } from "./wire_tests.ts";

const LLAMA = "us.meta.llama4-maverick-17b-instruct-v1:0";
const USAGE = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };
const look = { name: "look", description: "Looks.", parameters: { type: "object" } };
const CALL = { toolUse: { toolUseId: "t1", name: "look", input: { at: ["ä"] } } };

function createReply(stopReason: string, ...content: object[]): JsonObject {
  return {
    output: { message: { role: "assistant", content } },
    stopReason,
    usage: USAGE,
    metrics: { latencyMs: 1 },
  } as JsonObject;
}

/** Creates a server that streams no replies to requests with tools, and records the requests. */
function createServer(...replies: unknown[]) {
  const requests: { url: string; body: JsonObject }[] = [];
  const fetch: typeof globalThis.fetch = (input, init) => {
    const url = `${input}`;
    const body = JSON.parse(`${init?.body}`);
    requests.push({ url, body });
    if (!url.endsWith("/converse-stream")) {
      const length = { "content-length": "999", "x-amzn-requestid": "r1" };
      return Promise.resolve(Response.json(replies[requests.length - 1], { headers: length }));
    }
    if ("toolConfig" in body) {
      const message = "This model doesn't support tool use in streaming mode.";
      return Promise.resolve(Response.json({ message }, { status: 400 }));
    }
    const events = encodeEventStream([
      { contentBlockDelta: { contentBlockIndex: 0, delta: { text: "Hi" } } },
      { messageStop: { stopReason: "end_turn" } },
      { metadata: { usage: USAGE } },
    ]);
    const headers = { "content-type": EVENT_STREAM_TYPE };
    return Promise.resolve(new Response(events, { headers }));
  };
  return { requests, fetch };
}

function createRequest(tools: readonly (typeof look)[]) {
  const request = createMinimalRequest("bedrock", LLAMA);
  return { ...request, context: { ...request.context, tools } };
}

const OPTIONS = { region: "us-east-1", bearerToken: "k" };

Deno.test("createBedrock(): an agent with a model that streams no tool calls gets complete replies", async () => {
  const { requests, fetch } = createServer(
    createReply("tool_use", { text: "I look." }, CALL),
    createReply("end_turn", { text: "Done." }),
  );
  const inputs: unknown[] = [];
  const agent = new Agent({
    model: `bedrock/${LLAMA}`,
    streamFn: createBedrock({ ...OPTIONS, fetch }),
    tools: [{
      ...look,
      execute: (input: unknown) => {
        inputs.push(input);
        return Promise.resolve("A tree");
      },
    }],
  });
  const { text, usage } = await agent.prompt("Look!");
  assertEquals([text, inputs], ["Done.", [{ at: ["ä"] }]]);
  assertEquals([usage.input, usage.output], [6, 4]);
  const url = `https://bedrock-runtime.us-east-1.amazonaws.com/model/${
    encodeURIComponent(LLAMA)
  }/converse`;
  assertEquals(requests.map((request) => request.url), [url, url]);
  assertStringIncludes(JSON.stringify(requests[1]?.body["messages"]), JSON.stringify(CALL));
});

Deno.test("createBedrock(): other models, and requests without tools, get a stream", async () => {
  const { requests, fetch } = createServer();
  const streamFn = createBedrock({ ...OPTIONS, fetch });
  assertEquals((await readReply(streamFn(createRequest([])))).text, "Hi");
  const request = createRequest([look]);
  const model = { ...request.model, modelId: "anthropic.claude-haiku-4-5-20251001-v1:0" };
  await readReply(streamFn({ ...request, model }));
  assertEquals(requests.map(({ url }) => url.split("/").at(-1)), [
    "converse-stream",
    "converse-stream",
  ]);
});

Deno.test("createBedrock(): a complete reply may have thoughts and any stop reason", async () => {
  const thought = { reasoningText: { text: "Hm.", signature: "s" } };
  const { fetch } = createServer(
    createReply("max_tokens", { reasoningContent: thought }, { text: "Hi" }),
  );
  const streamFn = createBedrock({ ...OPTIONS, fetch });
  const { stopReason, content } = await readReply(streamFn(createRequest([look])));
  assertEquals([stopReason, content], ["length", [
    { type: "thinking", thinking: "Hm.", signature: "s" },
    { type: "text", text: "Hi" },
  ]]);
});

Deno.test("createBedrock(): a complete reply of another form is an error, and nothing throws", async () => {
  const read = async (reply: unknown) => {
    const { fetch } = createServer(reply);
    return await readReply(createBedrock({ ...OPTIONS, fetch })(createRequest([look])));
  };
  for (const reply of [null, 5, [], {}, { output: {} }, { output: { message: 5 } }]) {
    assertEquals((await read(reply)).stopReason, "error", JSON.stringify(reply));
  }
  const blocks = [5, null, { toolUse: 5 }, { reasoningContent: 5 }, { toolUse: {} }];
  for (const block of blocks) await read(createReply("tool_use", block as never));
});

Deno.test("createBedrock(): the mode of a guardrail is only sent with streams", async () => {
  const { requests, fetch } = createServer(createReply("end_turn", { text: "Hi" }));
  const guardrail = { id: "g", version: "1", processing: "async" } as const;
  const streamFn = createBedrock({ ...OPTIONS, fetch, guardrail });
  await readReply(streamFn(createRequest([look])));
  await readReply(streamFn(createRequest([])));
  assertEquals(requests.map(({ body }) => body["guardrailConfig"]), [
    { guardrailIdentifier: "g", guardrailVersion: "1" },
    { guardrailIdentifier: "g", guardrailVersion: "1", streamProcessingMode: "async" },
  ]);
});

Deno.test("createBedrock(): a complete reply has also the time that a stream may be silent", async () => {
  const findTimeout = async (modelId: string) => {
    const clock = new ManualClock();
    const sent = Promise.withResolvers<void>();
    const fetch: typeof globalThis.fetch = (_input, init) => {
      sent.resolve();
      return new Promise((_resolve, reject) => {
        init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
      });
    };
    const limits = { connectTimeoutMs: 1000, idleTimeoutMs: 5000 };
    const streamFn = createBedrock({ ...OPTIONS, ...limits, fetch, clock });
    const request = {
      ...createRequest([look]),
      model: createMinimalRequest("bedrock", modelId).model,
    };
    const reply = readReply(streamFn(request));
    await sent.promise;
    clock.advance(1000);
    clock.advance(5000);
    return (await reply).error?.message;
  };
  assertEquals(await findTimeout(LLAMA), "bedrock: no response within 6000 ms");
  const claude = "anthropic.claude-sonnet-4-5-20250929-v1:0";
  assertEquals(await findTimeout(claude), "bedrock: no response within 1000 ms");
});

Deno.test("createBedrock(): ends a complete reply without end", async () => {
  const chunk = new TextEncoder().encode(" ".repeat(1024 * 1024));
  let isCancelled = false;
  const body = new ReadableStream({
    pull: (controller) => controller.enqueue(chunk),
    cancel: () => void (isCancelled = true),
  });
  const fetch = () => Promise.resolve(new Response(body));
  const stream = createBedrock({ ...OPTIONS, fetch })(createRequest([look]));
  const { error } = await readReply(stream);
  assertEquals(error?.message, "Cannot read the reply of bedrock: it is larger than 128 MiB");
  assertEquals([error?.code, isCancelled], ["stream_error", true]);
});
