/**
 * Fallback models of the configuration, which are no part of `swink eval`.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { ALL, createProject, evaluate } from "./evaluations.ts";

Deno.test("swink eval run: no configured fallback model replies for the evaluated one", async () => {
  await using directory = await createProject();
  const refused = {
    status: 401,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ type: "error", error: { message: "invalid x-api-key" } }),
  };
  const env = {
    ANTHROPIC_API_KEY: "sk-ant-test",
    HOME: directory.path,
    SWINK_FALLBACK_MODEL: "anthropic/claude-opus-5",
  };
  const model = [refused, ...ALL];
  const { code, host } = await evaluate(directory, ["--parallel=1"], { model, env });
  assertEquals([code, host.requests.length], [3, 1]);
  assertStringIncludes(host.screen, "invalid x-api-key");
});
