/**
 * Tests of the events and the last messages of durable runs.
 *
 * @module
 */

import type { PublishedEvent } from "../core/durable/durable_engine.ts";
import type { DurableSteps } from "../core/durable/durable_steps.ts";
import type { JsonValue } from "../core/json/json.ts";
import { createGates, readText, until } from "./durable_gates.ts";
import type { DurableSubject } from "./durable_subject.ts";
import { expectEqual } from "./session_subject.ts";

/** The tests by their titles. */
export const EVENT_CONTRACT: Readonly<
  Record<string, (subject: DurableSubject) => Promise<void>>
> = {
  "a message is delivered or refused, also as the run ends": async (subject) => {
    const gates = createGates();
    const start = await subject.open("ending", async (steps) => {
      const received: string[] = [];
      steps.onMessage((message) => received.push(readText(message)));
      await steps.run("begin", () => gates.get("begin").promise.then(() => null));
      await steps.publish("ending");
      let attempts = 1;
      while (!await steps.refuseMessages()) attempts++;
      await steps.run("last", () => gates.get("last").promise.then(() => null));
      return { received, attempts };
    });
    const run = await start(null, "ending");
    await run.steer("early");
    const events = collectEvents(run.events());
    gates.open("begin");
    await until(() => events.events.length === 1);
    const outcomes = new Map<string, boolean>();
    const send = async (text: string) => {
      const isAccepted = await run.steer(text).then(() => true, () => false);
      outcomes.set(text, isAccepted);
      return isAccepted;
    };
    const { refusesMessages } = subject;
    for (let number = 1; await send(`${number}`) && refusesMessages; number++);
    gates.open("last");
    const { received } = await run.result();
    await events.ended;
    const accepted = ["early", ...outcomes.keys()].filter((text) => outcomes.get(text) ?? true);
    if (refusesMessages) expectEqual(received, accepted, "accepted messages");
    expectEqual(received[0], "early", "first message");
  },

  "the events of a run are read in order while it is executed, after its end, and from any position":
    async (
      subject,
    ) => {
      const gates = createGates();
      const start = await subject.open("publishing", async (steps) => {
        for (const number of [1, 2, 3]) {
          await steps.run(`step ${number}`, async () => {
            await steps.publish({ number });
            await gates.get(number).promise;
          });
          await steps.publish({ ended: number }, { isCheckpoint: number === 2 });
        }
        return null;
      });
      // A reader may be there before the run.
      const early = collectEvents(subject.engine.getRun("publishing").events());
      const run = await start(null, "publishing");
      await until(() => early.events.length === 1);
      expectEqual(early.events, [{ number: 1 }], "events during the first step");
      for (const number of [1, 2, 3]) gates.open(number);
      await early.ended;
      const all = [1, 2, 3].flatMap((number) => [{ number }, { ended: number }]);
      expectEqual(early.events, all, "events of a reader that was there before the run");
      await run.result();
      const late = collectEvents(run.events());
      await late.ended;
      expectEqual(late.events, all, "events after the end");
      const rest = collectEvents(run.events({ after: 4 }));
      await rest.ended;
      expectEqual(rest.events, all.slice(4), "events after a position");
      expectEqual(
        toValues(await run.readEvents({ after: "checkpoint" })),
        all.slice(3),
        "checkpoint",
      );
      const none = collectEvents(run.events({ after: 6, signal: AbortSignal.timeout(30) }));
      await none.ended;
      expectEqual(none.events, [], "events after the last one");
    },

  "an event is published once, whatever process executes the run": async (subject) => {
    const gates = createGates();
    let executions = 0;
    const workflow = async (steps: DurableSteps) => {
      await steps.publish("begin");
      for (const name of ["a", "b", "c"]) {
        await steps.run(name, async () => {
          executions++;
          await steps.publish(`execution ${executions}`);
          await gates.get(name).promise;
        });
        await steps.publish(`end of ${name}`);
      }
      return executions;
    };
    gates.open("a");
    const start = await subject.open("republishing", workflow);
    const run = await start(null, "republishing");
    const first = collectEvents(run.events());
    const before = ["begin", "execution 1", "end of a", "execution 2"];
    await until(() => first.events.length === before.length);
    expectEqual(first.events, before, "events of the first process");
    await subject.close();
    await first.ended;
    gates.open("b");
    gates.open("c");
    await subject.open("republishing", workflow);
    const continued = subject.engine.getRun("republishing");
    const second = collectEvents(continued.events());
    await continued.result();
    await second.ended;
    const expected = [...before, "execution 3", "end of b", "execution 4", "end of c"];
    expectEqual(second.events, expected, "events of both processes");
    const published = await continued.readEvents();
    const position = published.findIndex(({ type }) => type === "continued");
    expectEqual(position, before.length, "position of the note that another process continues");
    expectEqual(published.map(({ number }) => number), published.map((_, index) => index + 1), "");
  },
};

/** Reads events until they end. */
function collectEvents(batches: AsyncIterable<readonly PublishedEvent[]>) {
  const events: JsonValue[] = [];
  const read = async () => {
    for await (const batch of batches) events.push(...toValues(batch));
  };
  return { events, ended: read() };
}

function toValues(published: readonly PublishedEvent[]): JsonValue[] {
  return published.flatMap((entry) => entry.type === "event" ? [entry.event] : []);
}
