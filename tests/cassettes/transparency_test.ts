/**
 * Tests that an adapter keeps the contract of stream functions while its `fetch` is recorded: it delays no chunk, ends
 * at once on abort, closes connections and reports failures.
 *
 * @module
 */

import { createAnthropic } from "../../adapters/anthropic/mod.ts";
import { recordFetch } from "../../src/cassettes/mod.ts";
import { testStreamFn } from "../../src/testing/mod.ts";
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
      name: "a rate limit",
      status: 429,
      headers: { "retry-after": "2" },
      body: '{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}',
      expect: { code: "model_throttled", retryable: true, retryAfterMs: 2000 },
    }],
  },
);
