import { createOpenAI } from "../../adapters/openai/mod.ts";
import type { GroundTruth, WireFixture } from "./wire_fixtures.ts";
import { testRecordings, testRefusals } from "./wire_tests.ts";

const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: "stop",
  tool_calls: "tool_use",
  length: "length",
  content_filter: "content_filtered",
};

/** OpenAI's `prompt_tokens` counts what came from the cache as well. */
export function chatUsageOf({ usage, usageRaw }: GroundTruth): object {
  if (!usageRaw) return {};
  const { input = 0, output = 0, cacheRead = 0, reasoning, total } = usage;
  return {
    input: input - cacheRead,
    output,
    cacheRead,
    ...(total !== undefined && { total }),
    ...(reasoning !== undefined && { extra: { reasoning } }),
  };
}

const isRefusal = ({ name }: WireFixture) => name.endsWith("oap-snapshot-173417d5");

testRecordings(["openai", "openai-compat"], {
  make: (fetch) => createOpenAI({ fetch, api: "chat" }),
  provider: "openai",
  stop: ({ stopReason }) => STOP_REASONS[stopReason ?? "stop"] ?? `unknown: ${stopReason}`,
  usage: chatUsageOf,
  skip: (fixture) => fixture.wire !== "openai-chat" || isRefusal(fixture),
});
testRefusals(["openai", "openai-compat", "any"], (fetch) => createOpenAI({ fetch, api: "chat" }));
