/**
 * The models that `swink eval run --replay` replays.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { ALL, createProject, evaluate, listRuns } from "./evaluations.ts";

Deno.test("swink eval run --replay: the configured model and effort do not select what is replayed, --effort does", async () => {
  await using directory = await createProject();
  const recording = `${directory.path}/recording`;
  const models = ["-manthropic/claude-opus-5", "-manthropic/claude-opus-5:high"];
  const record = [...models, `--record=${recording}`];
  await evaluate(directory, record, { model: [...ALL, ...ALL] });
  const recorded = listRuns(directory);
  const env = { HOME: directory.path, SWINK_MODEL: "openai/gpt-6.2-sol", SWINK_EFFORT: "low" };
  const { code, messages } = await evaluate(directory, [`--replay=${recording}`], { env });
  assertEquals(code, 0, messages);
  const replayed = listRuns(directory).filter((name) => !recorded.includes(name));
  const readModel = (id: string) => JSON.parse(directory.read(`results/${id}/run.json`)).model;
  assertEquals(replayed.map(readModel).sort(), [
    "anthropic/claude-opus-5",
    "anthropic/claude-opus-5:high",
  ]);

  const selected = await evaluate(directory, [`--replay=${recording}`, "--effort=medium"], { env });
  assertEquals(selected.code, 2);
  assertStringIncludes(selected.messages, "has no run with anthropic/claude-opus-5:medium");
});
