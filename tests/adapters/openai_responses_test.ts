import { createOpenAI } from "../../adapters/openai/mod.ts";
import { toExpectedChatUsage } from "./openai_usage.ts";
import type { GroundTruth } from "./wire_fixtures.ts";
import { testErrorResponses, testRecordings } from "./wire_tests.ts";

function toExpectedStop({ stopReason, toolCalls }: GroundTruth): string {
  if (stopReason === "incomplete:max_output_tokens") return "length";
  return toolCalls.length > 0 ? "tool_use" : "stop";
}

testRecordings(["openai-responses", "openai-compat"], {
  createStreamFn: (fetch) => createOpenAI({ fetch, api: "responses" }),
  provider: "openai",
  toExpectedStop,
  toExpectedUsage: toExpectedChatUsage,
  // The shell recording is shortened, so its deltas differ from the text at its end.
  shouldSkip: ({ wire, name }) => wire !== "openai-responses" || name.includes("shell-container"),
});
testErrorResponses(["openai-responses"], (fetch) => createOpenAI({ fetch, api: "responses" }));
