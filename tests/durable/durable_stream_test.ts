import { assert, assertEquals } from "@std/assert";
import { modelSpec } from "../../src/core/models/model.ts";
import { realSleep } from "../../src/core/ports/ports.ts";
import { streamStep } from "../../src/durable/agent/durable_stream.ts";
import { PolicyChecks } from "../../src/durable/agent/policy_checks.ts";
import { RecordedRates } from "../../src/durable/agent/recorded_rates.ts";
import { RunSteps } from "../../src/durable/steps/run_steps.ts";
import { reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { ArrayJournal } from "./array_journal.ts";

Deno.test("streamStep(): the events of a replay have the time of the first token, however slowly they are read", async () => {
  let time = 2_000_000;
  const now = () => time += 10;
  const { signal } = new AbortController();
  const request = {
    model: modelSpec("test/model"),
    context: { systemPrompt: "", messages: [], tools: [] },
    options: {},
    signal,
  };
  const read = async (journal: ArrayJournal) => {
    const steps = new RunSteps(journal, { now, sleep: () => Promise.resolve() });
    const events = streamStep(steps, {
      ...{ name: "call", request, streamFn: scriptedStream([reply("One two")]) },
      prices: () => undefined,
      rates: new RecordedRates(),
      checks: new PolicyChecks({ steps, sleep: realSleep, isWaiting: () => false }),
    });
    const times: number[] = [];
    for await (const { type } of events) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      if (type.endsWith("_delta")) times.push(steps.now());
    }
    return { times, end: steps.now() };
  };
  const journal = new ArrayJournal();
  const first = await read(journal);
  const replayed = await read(new ArrayJournal(journal.records));
  assertEquals(replayed.end, first.end);
  const [firstTokenAt = Infinity] = replayed.times;
  assert(firstTokenAt < replayed.end);
});
