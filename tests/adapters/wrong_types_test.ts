import { assertEquals, assertMatch } from "@std/assert";
import { HANDMADE_APIS, type HandmadeApi, readHandmade } from "./handmade_streams.ts";

/** Values that are no text. */
const NO_TEXTS = [5, true, { text: "Yes." }, ["a", 5]];

async function readEnd(api: HandmadeApi, events: readonly object[]): Promise<string> {
  const { error, stopReason } = await readHandmade(api, events);
  return error ? `${error.code}: ${error.message}` : stopReason;
}

const UNEXPECTED = /^stream_error: Cannot read the reply of acme: unexpected form, in the event /;

for (const member of ["text", "thinking", "call"] as const) {
  Deno.test(`all providers: a ${member} of another type than text is an error that shows the event`, async () => {
    for (const api of HANDMADE_APIS) {
      for (const value of NO_TEXTS) {
        const end = await readEnd(api, api.createEvents({ text: "", [member]: value }));
        assertMatch(end, UNEXPECTED, `${api.name}: ${JSON.stringify(value)}`);
      }
    }
  });
}

Deno.test("all providers: missing and empty text, thinking and reasons of other types are no error", async () => {
  for (const api of HANDMADE_APIS) {
    for (const value of [null, undefined, ""]) {
      assertEquals(await readEnd(api, api.createEvents({ text: "Yes.", thinking: value })), "stop");
    }
  }
});

/** Events with a text or an object in place of a list or an object. */
const NO_LISTS: Readonly<Record<string, readonly (readonly object[])[]>> = {
  anthropic: [
    [{ type: "content_block_start", index: 0, content_block: "text" }],
    [{ type: "content_block_delta", index: 0, delta: "text" }],
    [{ type: "message_start", message: "m" }],
    [{ type: "message_delta", delta: 5 }],
  ],
  openai: [
    [{ choices: "x" }],
    [{ choices: [{ delta: { tool_calls: "x" } }] }],
    [{ choices: [{ delta: { tool_calls: {} } }] }],
    [{ choices: [{ delta: "x" }] }],
    [{ choices: [{ delta: { content: ["x"] } }] }],
  ],
  "openai responses": [
    [{ type: "response.output_item.done", output_index: 0, item: "x" }],
    [{ type: "response.completed", response: "x" }],
    [{ type: "response.completed", response: { output: "x" } }],
  ],
  google: [
    [{ candidates: "x" }],
    [{ candidates: [{ content: { parts: "text" } }] }],
    [{ candidates: [{ content: { parts: ["text"] } }] }],
    [{ candidates: [{ content: { parts: [{ functionCall: "read_file" }] } }] }],
  ],
  ollama: [
    [{ message: "x" }],
    [{ message: { tool_calls: "x" } }],
    [{ message: { tool_calls: ["x"] } }],
  ],
  bedrock: [
    [{ contentBlockDelta: { contentBlockIndex: 0, delta: "x" } }],
    [{ contentBlockStart: { contentBlockIndex: 0, start: "x" } }],
    [{ contentBlockStart: { contentBlockIndex: 0, start: { toolUse: "x" } } }],
  ],
};

Deno.test("all providers: a text in place of a list or an object is an error that shows the event", async () => {
  for (const [name, streams] of Object.entries(NO_LISTS)) {
    const api = HANDMADE_APIS.find((other) => other.name === name);
    if (!api) throw new Error(`No API ${name}`);
    for (const events of streams) {
      assertMatch(await readEnd(api, events), UNEXPECTED, `${name}: ${JSON.stringify(events)}`);
    }
  }
});

/** Returns events with counts of other types before those of a complete reply. */
function createUnreadableCounts(api: HandmadeApi, value: unknown): readonly object[] {
  const chat = {
    usage: { prompt_tokens: value, prompt_tokens_details: value, completion_tokens_details: value },
  };
  const events: Readonly<Record<string, object>> = {
    anthropic: {
      type: "message_delta",
      delta: {},
      usage: {
        input_tokens: value,
        server_tool_use: value,
        cache_creation: value,
        output_tokens_details: value,
        iterations: value,
      },
    },
    "openai responses": {
      type: "response.in_progress",
      response: { usage: { input_tokens: value, input_tokens_details: value } },
    },
    google: {
      usageMetadata: {
        promptTokenCount: value,
        promptTokensDetails: value,
        cacheTokensDetails: value,
      },
    },
    ollama: { prompt_eval_count: value },
    bedrock: { metadata: { usage: { inputTokens: value, cacheDetails: value } } },
  };
  const reply = api.createEvents({ text: "Yes." });
  const [start, ...rest] = reply;
  const counts = events[api.name] ?? chat;
  return api.name === "anthropic" && start ? [start, counts, ...rest] : [counts, ...reply];
}

Deno.test("all providers: counts of other types do not fail a reply", async () => {
  for (const api of HANDMADE_APIS) {
    for (const value of [null, -1, "x", true, {}, [null], 5, [5]]) {
      const end = await readEnd(api, createUnreadableCounts(api, value));
      assertEquals(end, "stop", `${api.name}: ${JSON.stringify(value)}`);
    }
  }
});
