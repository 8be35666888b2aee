import { assertEquals } from "@std/assert";
import { createGoogle } from "../../adapters/google/mod.ts";
import { type GroundTruth, loadWireFixtures, selectChunkSizes } from "./wire_fixtures.ts";
import {
  readRecording,
  testErrorResponses,
  testRecordings,
  type WireSubject,
} from "./wire_tests.ts";

const STOP_REASONS: Readonly<Record<string, string>> = {
  MAX_TOKENS: "length",
  SAFETY: "content_filtered",
  RECITATION: "content_filtered",
  MALFORMED_FUNCTION_CALL: "stream_error",
};

/** Converts Google's counts, which include cached tokens in the prompt and exclude thoughts and tool use. */
function toExpectedUsage({ usage, usageRaw }: GroundTruth): object {
  if (!usageRaw) return {};
  const { input = 0, output = 0, cacheRead = 0, toolUse = 0, reasoning, total } = usage;
  return {
    input: input - cacheRead + toolUse,
    output: output + (reasoning ?? 0),
    cacheRead,
    cacheWrite: 0,
    ...(total !== undefined && { total }),
    ...(reasoning !== undefined && { extra: { reasoning } }),
  };
}

const SUBJECT: WireSubject = {
  createStreamFn: (fetch) => createGoogle({ fetch }),
  provider: "google",
  toExpectedStop: ({ stopReason, toolCalls }) =>
    STOP_REASONS[stopReason ?? ""] ?? (toolCalls.length > 0 ? "tool_use" : "stop"),
  toExpectedUsage,
};

/** A recording with streamed arguments, which the recording client reports as separate calls. */
const STREAMED_ARGUMENTS = "vx-google-stream-no-args-tool-call";

testRecordings(["google"], {
  ...SUBJECT,
  shouldSkip: ({ name }) => name.endsWith(STREAMED_ARGUMENTS),
});
testErrorResponses(["google", "any"], (fetch) => createGoogle({ fetch }));

for (const fixture of loadWireFixtures("google")) {
  if (!fixture.name.endsWith(STREAMED_ARGUMENTS)) continue;
  Deno.test(`recording ${fixture.name}: streamed arguments are assembled`, async () => {
    for (const pieces of selectChunkSizes(fixture)) {
      const { thinking, calls, stopReason } = await readRecording(fixture, SUBJECT, pieces);
      assertEquals(thinking, fixture.truth.thinking);
      assertEquals(calls.map(({ name, arguments: args }) => [name, args]), [
        ["read_theme", {}],
        ["read_screen", { id: "A" }],
        ["read_screen", { id: "B" }],
        ["read_screen", { id: "C" }],
      ]);
      assertEquals(stopReason, "tool_use");
    }
  });
}
