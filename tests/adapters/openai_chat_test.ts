import { createOpenAI } from "../../adapters/openai/mod.ts";
import { toExpectedChatUsage } from "./openai_usage.ts";
import type { WireFixture } from "./wire_fixtures.ts";
import { testErrorResponses, testRecordings } from "./wire_tests.ts";

const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: "stop",
  tool_calls: "tool_use",
  length: "length",
  content_filter: "content_filtered",
};

const isRefusal = ({ name }: WireFixture) => name.endsWith("oap-snapshot-173417d5");

testRecordings(["openai", "openai-compat"], {
  createStreamFn: (fetch) => createOpenAI({ fetch, api: "chat" }),
  provider: "openai",
  toExpectedStop: ({ stopReason }) =>
    STOP_REASONS[stopReason ?? "stop"] ?? `unknown: ${stopReason}`,
  toExpectedUsage: toExpectedChatUsage,
  shouldSkip: (fixture) => fixture.wire !== "openai-chat" || isRefusal(fixture),
});
testErrorResponses(
  ["openai", "openai-compat", "any"],
  (fetch) => createOpenAI({ fetch, api: "chat" }),
);
