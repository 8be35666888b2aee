import { assert, assertEquals } from "@std/assert";
import { choosePackages } from "../../scripts/packages.ts";
import { readEvalRun, verifyEvalRun } from "../../src/eval/mod.ts";
import { createDeadline } from "../deadline.ts";
import { root } from "../project.ts";

/** Results that a process may have finished before it is killed. */
const MAX_FURTHER = 5;

/** Evaluates in a process that is killed after a number of results; without a number, it runs to its end. */
async function evaluate(directory: string, killAfter = Infinity): Promise<number> {
  const { config } = await choosePackages();
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-A", "-c", config, "tests/eval/kill_child.ts", directory],
      `${killAfter + MAX_FURTHER}`,
    ],
    cwd: root,
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
    signal: createDeadline(),
  }).spawn();
  let finished = 0;
  for await (const chunk of child.stdout) {
    finished += new TextDecoder().decode(chunk).split("\n").length - 1;
    if (finished >= killAfter) {
      child.kill("SIGKILL");
      break;
    }
  }
  await child.status;
  return finished;
}

Deno.test("eval run: an evaluation that is killed loses no finished result, and is resumed", async () => {
  const parent = await Deno.makeTempDir({ prefix: "swink_kill_" });
  const directory = `${parent}/run`;
  try {
    let known = 0;
    for (const more of [3, 10]) {
      const finished = await evaluate(directory, more);
      const run = await readEvalRun(directory);
      assert(run.results.length >= known + finished, `${run.results.length} results`);
      assert(run.results.length < 40);
      known = run.results.length;
    }
    assertEquals(await evaluate(directory), 40 - known);
    assertEquals(await verifyEvalRun(directory), { isValid: true, problems: [] });
  } finally {
    await Deno.remove(parent, { recursive: true });
  }
});
