import { assert, assertEquals } from "@std/assert";
import { createBedrock } from "../../adapters/bedrock/mod.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { seededRandom } from "../../src/testing/seeded_random.ts";
import { encodeEventStream, EVENT_STREAM_TYPE, readFixtureEvents } from "./bedrock_frames.ts";
import { HANDMADE_APIS, readHandmade } from "./handmade_streams.ts";
import type { GroundTruth, WireFixture } from "./wire_fixtures.ts";
import { createMinimalRequest, testErrorResponses, testRecordings } from "./wire_tests.ts";

const STOP_REASONS: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "tool_use",
  max_tokens: "length",
  guardrail_intervened: "content_filtered",
  content_filtered: "content_filtered",
};

/** The recording client reports calls that the provider ran as tool calls; an agent must not run them again. */
const isProviderExecuted = ({ name }: WireFixture) => name.includes("code-execution-tool");

testRecordings(["bedrock"], {
  createStreamFn: (fetch) => createBedrock({ fetch, region: "us-east-1" }),
  provider: "bedrock",
  toExpectedStop: ({ stopReason }) => STOP_REASONS[stopReason ?? ""] ?? `unknown: ${stopReason}`,
  toExpectedUsage: ({ usage, usageRaw }: GroundTruth) => usageRaw ? usage : {},
  shouldSkip: isProviderExecuted,
});
testErrorResponses(["bedrock", "any"], (fetch) => createBedrock({ fetch, region: "us-east-1" }));

Deno.test("createBedrock(): emits valid events when the stream has values of wrong types", async () => {
  const random = seededRandom(7);
  const wrongValues = [null, -1, 7, "x", true, [], {}, [null]];
  const mutate = (value: unknown): unknown => {
    if (random() < 0.08) return wrongValues[Math.floor(random() * wrongValues.length)];
    if (Array.isArray(value)) return value.map(mutate);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mutate(item)]));
  };
  const streams = ["text", "tool_calls", "thinking", "server_tool"].map(readFixtureEvents);
  for (let round = 0; round < 300; round++) {
    const events = streams[round % streams.length] ?? [];
    const body = encodeEventStream(
      events.map((event) =>
        Object.fromEntries(Object.entries(event).map(([name, payload]) => [name, mutate(payload)]))
      ),
    );
    const headers = { "content-type": EVENT_STREAM_TYPE };
    const fetch = () => Promise.resolve(new Response(body, { headers }));
    await readReply(
      createBedrock({ fetch, region: "us-east-1" })(createMinimalRequest("bedrock", "m")),
    );
  }
});

Deno.test("createBedrock(): the assessment of a guardrail is the data of a warning, also if it filtered the reply", async () => {
  const bedrock = HANDMADE_APIS.find(({ name }) => name === "bedrock");
  assert(bedrock);
  const trace = { guardrail: { inputAssessment: { "gr-1": { contentPolicy: { filters: [] } } } } };
  const readTrace = async (stopReason: string, value: unknown) => {
    const { warnings } = await readHandmade(bedrock, [
      { contentBlockDelta: { contentBlockIndex: 0, delta: { text: "Sorry." } } },
      { messageStop: { stopReason } },
      { metadata: { usage: {}, trace: value } },
    ]);
    return warnings.filter(({ code }) => code === "guardrail_trace").map(({ data }) => data);
  };
  for (const stopReason of ["end_turn", "guardrail_intervened"]) {
    assertEquals(await readTrace(stopReason, trace), [trace]);
  }
  for (const other of [undefined, null, "x"]) {
    assertEquals(await readTrace("end_turn", other), []);
  }
});
