import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { CollectedReply } from "../../src/testing/read_reply.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { replayFetch } from "../../src/testing/replay_fetch.ts";
import {
  createTestProxy,
  HANDMADE_APIS,
  type HandmadeApi,
  KEY,
  readHandmade,
} from "./handmade_streams.ts";
import { createMinimalRequest } from "./wire_tests.ts";

/** Asserts that neither warnings nor the error have the key or a part of it, in any case. */
function assertRedacted({ warnings, error }: CollectedReply, label: string): void {
  const text = JSON.stringify([warnings, error, `${error?.cause}`]).toLowerCase();
  assertStringIncludes(text, "[redacted]", label);
  assert(!text.includes(KEY.toLowerCase().slice(0, 6)), `${label}: ${text}`);
}

function findApi(name: string): HandmadeApi {
  const api = HANDMADE_APIS.find((other) => other.name === name);
  assert(api);
  return api;
}

Deno.test("all providers: a key in an unknown stop reason is redacted", async () => {
  for (const api of HANDMADE_APIS) {
    const reply = await readHandmade(api, api.createEvents({ text: "Yes.", reason: `odd ${KEY}` }));
    assertRedacted(reply, api.name);
  }
});

Deno.test("all providers: a key in a refusal is redacted", async () => {
  const refusals: Readonly<Record<string, readonly object[]>> = {
    anthropic: [
      { type: "message_start", message: {} },
      {
        type: "message_delta",
        delta: { stop_reason: "refusal", stop_details: { explanation: KEY } },
      },
      { type: "message_stop" },
    ],
    openai: [
      { choices: [{ delta: { refusal: "Test-Key-" } }] },
      { choices: [{ delta: { refusal: "4711" }, finish_reason: "stop" }] },
    ],
    "openai responses": [
      { type: "response.refusal.delta", delta: KEY },
      { type: "response.completed", response: {} },
    ],
    google: [{ candidates: [{ finishReason: "SAFETY", finishMessage: KEY }] }],
  };
  for (const [name, events] of Object.entries(refusals)) {
    const reply = await readHandmade(findApi(name), events);
    assertEquals(reply.error?.code, "content_filtered", name);
    assertRedacted(reply, name);
  }
  const blocked = [{ promptFeedback: { blockReason: KEY, blockReasonMessage: KEY } }];
  assertRedacted(await readHandmade(findApi("google"), blocked), "google: blocked prompt");
});

Deno.test("all providers: a key in an event that is not JSON is redacted before the event is shortened", async () => {
  for (const api of HANDMADE_APIS.filter(({ name }) => name !== "bedrock")) {
    for (let padding = 180; padding <= 200; padding += 4) {
      const json = `{"x":"${"-".repeat(padding)} ${KEY}", broken}`;
      const body = api.name === "ollama" ? `${json}\n` : `data: ${json}\n\n`;
      const reply = await readHandmade(api, body);
      assertEquals(reply.error?.code, "stream_error", api.name);
      const text = JSON.stringify([reply.error, `${reply.error?.cause}`]);
      assert(!text.includes("Test-"), `${api.name}: ${text}`);
    }
  }
});

Deno.test("all providers: a key in a long message of an error or a gateway is redacted before the message is shortened", async () => {
  for (const api of HANDMADE_APIS) {
    for (let padding = 1980; padding <= 2000; padding += 4) {
      const message = `${"-".repeat(padding)} ${KEY}`;
      const fetch = replayFetch({ status: 400, body: JSON.stringify({ error: { message } }) });
      const request = createMinimalRequest("acme", "m");
      const options = { ...request.options, apiKey: KEY };
      const { error } = await readReply(api.createStreamFn(fetch)({ ...request, options }));
      assert(error && !error.message.includes("Test-"), `${api.name}: ${error?.message}`);
    }
  }
  const { error } = await readHandmade(findApi("openai"), `${"-".repeat(495)} ${KEY}\n`);
  assertEquals(error?.message.includes("Test-"), false);
});

Deno.test("createProxy(): a key in a warning, its data or the error of the proxy is redacted", async () => {
  const encode = (events: readonly object[]) =>
    events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const reply = await readHandmade({ createStreamFn: createTestProxy, encode }, [
    { type: "warning", code: "note", message: KEY, data: { key: KEY } },
    { type: KEY },
    { type: "error", error: { code: "stream_error", message: KEY } },
  ]);
  assertEquals(reply.warnings.map(({ message, data }) => [message, data]), [
    ["[redacted]", { key: "[redacted]" }],
    ["Unknown event from the proxy: [redacted]", undefined],
  ]);
  assertEquals(reply.error?.message, "[redacted]");
});
