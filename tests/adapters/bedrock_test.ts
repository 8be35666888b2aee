import { createBedrock } from "../../adapters/bedrock/mod.ts";
import type { GroundTruth, WireFixture } from "./wire_fixtures.ts";
import { testRecordings, testRefusals } from "./wire_tests.ts";

const STOP_REASONS: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "tool_use",
  max_tokens: "length",
  guardrail_intervened: "content_filtered",
  content_filtered: "content_filtered",
};

/** The recording's reader counts what the provider ran itself among the calls; an agent must not run it again. */
const runsItself = ({ name }: WireFixture) => name.includes("code-execution-tool");

testRecordings(["bedrock"], {
  make: (fetch) => createBedrock({ fetch, region: "us-east-1" }),
  provider: "bedrock",
  stop: ({ stopReason }) => STOP_REASONS[stopReason ?? ""] ?? `unknown: ${stopReason}`,
  usage: ({ usage, usageRaw }: GroundTruth) => usageRaw ? usage : {},
  skip: runsItself,
});
testRefusals(["bedrock", "any"], (fetch) => createBedrock({ fetch, region: "us-east-1" }));
