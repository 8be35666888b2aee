/**
 * `swink eval run --record` with models that send no requests.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { ALL, createProject, evaluate } from "./evaluations.ts";

Deno.test("swink eval run: --record refuses a model on this device, also as a later one", async () => {
  await using directory = await createProject();
  const recording = `${directory.path}/recording`;
  const args = ["-manthropic/claude-opus-5", "-mlocal/x", `--record=${recording}`];
  const { code, messages, host } = await evaluate(directory, args, { model: [...ALL, ...ALL] });
  assertEquals([code, host.requests], [2, []]);
  assertStringIncludes(messages, "--record cannot be used with local/x");
});
