/**
 * The amount of reasoning of the models of `swink eval run`.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { ALL, createProject, evaluate, listRuns } from "./evaluations.ts";

Deno.test("swink eval run: the configured effort does not replace the level in the name of a model", async () => {
  const evaluateWith = async (...args: string[]) => {
    await using directory = await createProject();
    const env = { ANTHROPIC_API_KEY: "sk-ant-test", HOME: directory.path, SWINK_EFFORT: "low" };
    const models = ["-manthropic/claude-opus-5", "-manthropic/claude-opus-5:high"];
    await evaluate(directory, [...models, ...args], { model: [...ALL, ...ALL], env });
    const read = (id: string) => JSON.parse(directory.read(`results/${id}/run.json`)).model;
    return listRuns(directory).map(read).sort();
  };
  assertEquals(await evaluateWith(), [
    "anthropic/claude-opus-5:high",
    "anthropic/claude-opus-5:low",
  ]);
  assertEquals(await evaluateWith("--effort=medium"), ["anthropic/claude-opus-5:medium"]);
});
