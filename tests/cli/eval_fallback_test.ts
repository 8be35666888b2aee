/**
 * Fallback models and key commands of the configuration in `swink eval`.
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

Deno.test("swink eval run: a key command that fails ends the evaluation, and is no result of the model", async () => {
  await using directory = await createProject();
  directory.write(
    ".config/swink/config.toml",
    '[providers.anthropic]\nkey_command = "echo locked >&2; exit 3"\n',
  );
  const env = { HOME: directory.path, PATH: Deno.env.get("PATH") ?? "" };
  const args = ["-m", "anthropic/claude-sonnet-5-5"];
  const { code, messages, host } = await evaluate(directory, args, { model: ALL, env });
  assertEquals([code, host.requests.length], [3, 0], messages);
  assertStringIncludes(messages, "sh failed with exit code 3: locked");
});
