import { assert, assertEquals } from "@std/assert";
import { createMistral } from "../../adapters/mistral/mod.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { replayFetch } from "../../src/testing/replay_fetch.ts";
import { toExpectedChatUsage } from "./openai_usage.ts";
import { createReply, prompt } from "./rich_conversation.ts";
import { loadWireFixtures } from "./wire_fixtures.ts";
import {
  createMinimalRequest,
  readRecording,
  testErrorResponses,
  testRecordings,
  type WireSubject,
} from "./wire_tests.ts";

const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: "stop",
  tool_calls: "tool_use",
  length: "length",
  model_length: "length",
};

const SUBJECT: WireSubject = {
  createStreamFn: (fetch) => createMistral({ fetch }),
  provider: "mistral",
  toExpectedStop: ({ stopReason }) => STOP_REASONS[stopReason ?? ""] ?? `unknown: ${stopReason}`,
  toExpectedUsage: toExpectedChatUsage,
};

/** Recording that Mistral's client cannot read, so there is no expected text. */
const UNREAD_BY_CLIENT = "sk-chat-completions-streaming-response";

testRecordings(["mistral"], {
  ...SUBJECT,
  shouldSkip: ({ name }) => name.endsWith(UNREAD_BY_CLIENT),
});
testErrorResponses(["mistral", "any"], (fetch) => createMistral({ fetch }));

for (const fixture of loadWireFixtures("mistral")) {
  if (!fixture.name.endsWith(UNREAD_BY_CLIENT)) continue;
  Deno.test(`createMistral(): reads recording ${fixture.name}, which Mistral's client cannot read`, async () => {
    const reply = await readRecording(fixture, SUBJECT, Infinity);
    assert(reply.text.startsWith("It is subjective to"));
    assertEquals(reply.stopReason, "length");
    assertEquals(reply.usage?.total, 143);
  });
}

Deno.test("createMistral(): a reply that continues another one does not repeat its text", async () => {
  const chunk = (content: string, finish_reason: string | null = null) => ({
    choices: [{ index: 0, delta: { content }, finish_reason }],
  });
  const read = async (...contents: readonly string[]) => {
    const events = [...contents.map((content) => chunk(content)), chunk("", "stop")];
    const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    const request = createMinimalRequest("mistral", "mistral-large-latest");
    const messages = [
      prompt("Count."),
      createReply(request.model, [{ type: "text", text: "One, " }]),
    ];
    const streamFn = createMistral({ fetch: replayFetch(`${body}data: [DONE]\n\n`) });
    const context = { ...request.context, messages };
    return (await readReply(streamFn({ ...request, context }))).text;
  };
  assertEquals(await read("One, ", "two."), "two.");
  assertEquals(await read("One, two."), "two.");
  assertEquals(await read("two."), "two.");
  assertEquals(await read("One"), "One");
});
