import { createXai } from "../../adapters/xai/mod.ts";
import { toExpectedChatUsage } from "./openai_usage.ts";
import type { GroundTruth } from "./wire_fixtures.ts";
import { testErrorResponses, testRecordings } from "./wire_tests.ts";

/** In chat completions, xAI does not include reasoning in the completion tokens; in responses, it does. */
function toExpectedUsage(truth: GroundTruth): object {
  const { output = 0, reasoning = 0, input = 0, total } = truth.usage;
  const isExcluded = total === input + output + reasoning;
  return { ...toExpectedChatUsage(truth), output: isExcluded ? output + reasoning : output };
}

function toExpectedStop({ toolCalls }: GroundTruth): string {
  return toolCalls.length > 0 ? "tool_use" : "stop";
}

for (const api of ["chat", "responses"] as const) {
  testRecordings(["xai"], {
    createStreamFn: (fetch) => createXai({ fetch, api }),
    provider: "xai",
    toExpectedStop,
    toExpectedUsage,
    shouldSkip: ({ wire }) => wire !== `openai-${api}`,
  });
}
testErrorResponses(["xai", "any"], (fetch) => createXai({ fetch }));
