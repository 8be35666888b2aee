import { createOllama } from "../../adapters/ollama/mod.ts";
import type { GroundTruth } from "./wire_fixtures.ts";
import { testErrorResponses, testRecordings } from "./wire_tests.ts";

testRecordings(["ollama"], {
  createStreamFn: (fetch) => createOllama({ fetch }),
  provider: "ollama",
  toExpectedStop: ({ toolCalls }) => toolCalls.length > 0 ? "tool_use" : "stop",
  toExpectedUsage: ({ usage }: GroundTruth) => {
    const { input = 0, output = 0 } = usage;
    return { input, output, total: input + output };
  },
});
testErrorResponses(["ollama", "any"], (fetch) => createOllama({ fetch }));
