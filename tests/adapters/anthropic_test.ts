import { createAnthropic } from "../../adapters/anthropic/mod.ts";
import type { GroundTruth } from "./wire_fixtures.ts";
import { testErrorResponses, testRecordings } from "./wire_tests.ts";

const STOP_REASONS: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "tool_use",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "content_filtered",
  some_future_reason: "stop",
};

testRecordings(["anthropic"], {
  createStreamFn: (fetch) => createAnthropic({ fetch }),
  provider: "anthropic",
  toExpectedStop: ({ stopReason }) => STOP_REASONS[stopReason ?? "end_turn"] ?? "unknown",
  toExpectedUsage: ({ usage }: GroundTruth) => {
    const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = usage;
    return { input, output, cacheRead, cacheWrite, total: input + output + cacheRead + cacheWrite };
  },
});
testErrorResponses(["anthropic", "any"], (fetch) => createAnthropic({ fetch }));
