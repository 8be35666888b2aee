import { createOpenAI } from "../../adapters/openai/mod.ts";
import { chatUsageOf } from "./openai_usage.ts";
import type { GroundTruth } from "./wire_fixtures.ts";
import { testRecordings, testRefusals } from "./wire_tests.ts";

function stopOf({ stopReason, toolCalls }: GroundTruth): string {
  if (stopReason === "incomplete:max_output_tokens") return "length";
  return toolCalls.length > 0 ? "tool_use" : "stop";
}

testRecordings(["openai-responses", "openai-compat"], {
  make: (fetch) => createOpenAI({ fetch, api: "responses" }),
  provider: "openai",
  stop: stopOf,
  usage: chatUsageOf,
  // The shell recording was shortened: its deltas do not add up to the text at its end.
  skip: ({ wire, name }) => wire !== "openai-responses" || name.includes("shell-container"),
});
testRefusals(["openai-responses"], (fetch) => createOpenAI({ fetch, api: "responses" }));
