/**
 * An adapter keeps the contract of stream functions when it is recorded: nothing is held back, aborts end at once,
 * connections are closed, failures stay failures.
 *
 * @module
 */

import { createAnthropic } from "../../adapters/anthropic/mod.ts";
import { recordFetch, testStreamFn } from "../../src/testing/mod.ts";
import { loadFixtures } from "../adapters/fixture_files.ts";
import { createMemoryFiles } from "./memory_files.ts";

testStreamFn(
  Deno.test,
  "recorded Anthropic",
  (fetch, limits) =>
    createAnthropic({
      fetch: recordFetch(fetch, "a.jsonl", { files: createMemoryFiles() }),
      ...limits,
    }),
  {
    model: { provider: "anthropic", modelId: "claude-sonnet-4-6", thinkingLevel: "off" },
    replies: loadFixtures("anthropic", {
      text: { stopReason: "stop" },
      tool_calls: { stopReason: "tool_use" },
      overloaded: { errorCode: "network_error" },
    }),
    errors: [{
      name: "a refusal that is recorded",
      status: 429,
      headers: { "retry-after": "2" },
      body: '{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}',
      expect: { code: "model_throttled", retryable: true, retryAfterMs: 2000 },
    }],
  },
);
