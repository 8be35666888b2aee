import { assert, assertEquals } from "@std/assert";
import { createMistral } from "../../adapters/mistral/mod.ts";
import { toExpectedChatUsage } from "./openai_usage.ts";
import { loadWireFixtures } from "./wire_fixtures.ts";
import {
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
