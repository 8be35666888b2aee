import { createAzure } from "../../adapters/azure/mod.ts";
import { toExpectedChatUsage } from "./openai_usage.ts";
import type { GroundTruth } from "./wire_fixtures.ts";
import { testErrorResponses, testRecordings } from "./wire_tests.ts";

const baseUrl = "https://my-resource.openai.azure.com";

function toExpectedStop({ stopReason, toolCalls }: GroundTruth): string {
  if (stopReason === "content_filter") return "content_filtered";
  return toolCalls.length > 0 ? "tool_use" : "stop";
}

for (const api of ["chat", "responses"] as const) {
  testRecordings(["azure"], {
    createStreamFn: (fetch) => createAzure({ fetch, baseUrl, api }),
    provider: "azure",
    toExpectedStop,
    toExpectedUsage: toExpectedChatUsage,
    shouldSkip: ({ wire }) => wire !== `openai-${api}`,
  });
  testErrorResponses(["azure", "any"], (fetch) => createAzure({ fetch, baseUrl, api }));
}
