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
