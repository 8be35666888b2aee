/**
 * The URL to which `swink eval run --replay` sends requests.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { createProject, evaluate, GREET, TOKENS } from "./evaluations.ts";

const CASES = `id: judged
cases:
  - id: greets
    userMessages: [Greet me]
    evaluators: [{ name: correctness }]
`;

Deno.test("swink eval run --replay: the agent and its judge use the recorded URL where another one is set", async () => {
  await using directory = await createProject(CASES);
  const verdict = { blocks: ['{"score":1,"reason":"good"}'], ...TOKENS };
  const judge = "--judge=anthropic/claude-haiku-4-5";
  const recording = `${directory.path}/recording`;
  const model = [GREET, verdict];
  const recorded = await evaluate(directory, [judge, `--record=${recording}`], { model });
  assertEquals(recorded.code, 0);
  const url = "https://gateway.example.com";
  const env = { HOME: directory.path, NO_COLOR: "1", ANTHROPIC_BASE_URL: url };
  const replayed = await evaluate(directory, [judge, `--replay=${recording}`], { env });
  assertEquals([replayed.code, replayed.output], [0, recorded.output]);
});
