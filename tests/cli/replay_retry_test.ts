/**
 * Retries in the replay of a recording.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { main } from "../../cli/main.ts";
import { createProject, evaluate, GREET, TOKENS } from "./evaluations.ts";
import { createFakeHost, type FakeHostOptions } from "./fake_host.ts";
import type { TemporaryDirectory } from "./temporary_directory.ts";

/** A rate limit; the recording is changed to a longer wait, which the test would have to make, too. */
const LIMITED = {
  status: 429,
  headers: { "content-type": "application/json", "retry-after": "0" },
  body: '{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}',
};

/** Longer than the time limit of the tests. */
function requestLongWait(directory: TemporaryDirectory, cassette: string): void {
  const text = directory.read(cassette);
  assertStringIncludes(text, '"retry-after":"0"');
  const path = `${directory.path}/${cassette}`;
  Deno.writeTextFileSync(path, text.replaceAll('"retry-after":"0"', '"retry-after":"1800"'));
}

Deno.test("swink run --replay: a retry does not wait as long as the provider requested", async () => {
  await using directory = await createProject();
  const env = { ANTHROPIC_API_KEY: "sk-ant-test", HOME: directory.path, NO_COLOR: "1" };
  const run = async (option: string, options: FakeHostOptions = {}) => {
    const host = createFakeHost({ env, ...options });
    const args = [
      "run",
      "--cwd",
      `${directory.path}/project`,
      `${option}=${directory.path}/run.jsonl`,
      "Greet me",
    ];
    const code = await main(args, host);
    return [code, host.output + (code === 0 ? "" : host.messages)];
  };
  assertEquals(await run("--record", { model: [LIMITED, GREET] }), [0, "Hello Ada\n"]);
  requestLongWait(directory, "run.jsonl");
  assertEquals(await run("--replay"), [0, "Hello Ada\n"]);
});

Deno.test("swink eval run --replay: neither do those of a case and of its judge", async () => {
  await using directory = await createProject(`id: judged
cases:
  - id: greets
    userMessages: [Greet me]
    evaluators: [{ name: correctness }]
`);
  const judge = "--judge=anthropic/claude-haiku-4-5";
  const verdict = { blocks: ['{"score":1,"reason":"good"}'], ...TOKENS };
  const model = [LIMITED, GREET, LIMITED, verdict];
  const recorded = await evaluate(directory, [judge, `--record=${directory.path}/tape`], { model });
  assertEquals(recorded.code, 0);
  requestLongWait(directory, "tape/anthropic%2Fclaude-sonnet-5-5/greets.1.jsonl");
  const replayed = await evaluate(directory, [judge, `--replay=${directory.path}/tape`], {});
  assertEquals([replayed.code, replayed.output], [0, recorded.output]);
});
