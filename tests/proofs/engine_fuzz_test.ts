import { assertEquals } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import { ajvValidator } from "../../src/core/schema.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { Trial } from "./engine_fuzz_trial.ts";

const RUNS = Deno.env.get("SWINK_PROVE") === "1" ? 20_000 : 300;
/** Runs a single seed, to reproduce a failure. */
const ONLY_SEED = Deno.env.get("SWINK_SEED");

/** Loads what the engine imports during its first run, since a trial waits for no files. */
async function loadModules(): Promise<void> {
  const streamFn = scriptedStream([reply([toolCall("look")]), reply("Done")]);
  const tools = [fakeTool({ name: "look" })];
  await new Agent({ model: "test/model", streamFn, tools }).prompt("Go");
  await ajvValidator({});
}

/** Runs a trial, and runs it again: unchanged, or with a listener that changes all events in place. */
async function fuzzOnce(seed: number): Promise<void> {
  const first = await new Trial({ seed, scribbles: false }).run();
  const scribbles = seed % 2 === 1;
  const second = await new Trial({ seed, scribbles }).run();
  const events = scribbles ? first.events : second.events;
  assertEquals({ ...second, events }, first, "the same seed gives the same log");
}

Deno.test(`engine: ${RUNS} random runs keep its invariants`, async () => {
  await loadModules();
  const seeds = ONLY_SEED
    ? [Number(ONLY_SEED)]
    : Array.from({ length: RUNS }, (_, index) => index + 1);
  for (const seed of seeds) {
    try {
      await fuzzOnce(seed);
    } catch (cause) {
      throw new Error(`Seed ${seed} failed; reproduce it with SWINK_SEED=${seed}`, { cause });
    }
  }
});
