/**
 * Tests of the contract of durable engines.
 *
 * @module
 */

import type { WorkflowFunction } from "../core/durable/durable_engine.ts";
import type { DurableSteps } from "../core/durable/durable_steps.ts";
import { AgentError, getErrorMessage } from "../core/errors/errors.ts";
import type { JsonValue } from "../core/json/json.ts";
import { EVENT_CONTRACT } from "./durable_event_conformance.ts";
import { createGates, readText, until, untilArrived, untilStored } from "./durable_gates.ts";
import { type DurableEngineFixture, DurableSubject } from "./durable_subject.ts";
import { expectEqual } from "./session_subject.ts";
import { checkRegisterTest, type RegisterTest } from "./stream_fixture.ts";

export type { DurableEngineFixture };

/** Creates an engine for one test. */
export type DurableEngineFactory = () => DurableEngineFixture | Promise<DurableEngineFixture>;

/**
 * Registers the tests that every durable engine must pass.
 *
 * They check that a step is executed once and recorded, that another process continues a run from its last step, that
 * concurrent steps, races and messages are replayed in their order, and that a replay that differs is reported.
 *
 * @example
 * ```ts ignore
 * import { InProcessEngine } from "@swink/agent/durable";
 * import { InMemorySessionStore } from "@swink/agent/memory";
 * import { testDurableEngine } from "@swink/agent/testing";
 *
 * testDurableEngine(Deno.test, () => {
 *   const store = new InMemorySessionStore();
 *   return { createEngine: () => new InProcessEngine({ store, pollMs: 10 }) };
 * });
 * ```
 */
export function testDurableEngine(test: RegisterTest, createFixture: DurableEngineFactory): void {
  checkRegisterTest(test);
  for (const [title, run] of Object.entries({ ...DURABLE_CONTRACT, ...EVENT_CONTRACT })) {
    test(`durable engine: ${title}`, async () => {
      const fixture = await createFixture();
      const subject = new DurableSubject(fixture);
      try {
        await run(subject);
      } finally {
        await subject.close();
        await fixture.dispose?.();
      }
    });
  }
}

const DURABLE_CONTRACT: Readonly<Record<string, (subject: DurableSubject) => Promise<void>>> = {
  "a run executes its steps and returns the output of the workflow": async (subject) => {
    const start = await subject.open(
      "sum",
      async (steps, input: { readonly numbers: number[] }) => {
        const doubled = await steps.run("double", () => input.numbers.map((number) => 2 * number));
        return { doubled, id: steps.runId };
      },
    );
    const run = await start({ numbers: [1, 2] }, "run-1");
    expectEqual(await run.result(), { doubled: [2, 4], id: "run-1" }, "output");
    expectEqual(await run.status(), "completed", "status");
    expectEqual(await subject.engine.getRun("run-1").result(), await run.result(), "by id");
  },

  "a second start with the same id returns the first run": async (subject) => {
    let executions = 0;
    const start = await subject.open("count", (steps, input: number) =>
      steps.run("count", () => {
        executions++;
        return input;
      }));
    const first = await start(1, "same");
    expectEqual(await first.result(), 1, "output");
    expectEqual(await (await start(2, "same")).result(), 1, "output of the second start");
    expectEqual(executions, 1, "executions");
  },

  "calls of start() at the same time start an engine or a run once": async (subject) => {
    let executions = 0;
    const other: Promise<void>[] = [];
    const workflow = await subject.openWith((engine) => {
      const registered = engine.register(
        "twice",
        (steps: DurableSteps, input: number) =>
          steps.run("count", () => {
            executions++;
            return input;
          }),
      );
      other.push(engine.start());
      return registered;
    });
    await Promise.all(other);
    const outputs = [1, 1, 1].map(async (input) =>
      await (await workflow.start(input, { id: "at-once" })).result()
    );
    expectEqual(await Promise.all(outputs), [1, 1, 1], "outputs");
    expectEqual(executions, 1, "executions");
  },

  "an engine that is closed while it starts leaves the runs to the next one": async (subject) => {
    const workflow = (steps: DurableSteps) => steps.waitFor("go");
    const start = await subject.open("left", workflow);
    await start(null, "left");
    const ended: Promise<unknown>[] = [];
    await subject.openWith((engine) => {
      engine.register("left", workflow);
      ended.push(engine.start().catch(getErrorMessage), engine.close({ graceMs: 0 }));
    }).catch(getErrorMessage);
    await Promise.all(ended);
    await subject.open("left", workflow);
    const run = subject.engine.getRun("left");
    await run.signal("go", "gone");
    expectEqual(await run.result(), "gone", "output");
  },

  "the error of a step and that of a workflow are recorded": async (subject) => {
    let attempts = 0;
    let isRecorded = false;
    const workflow = async (steps: DurableSteps) => {
      const failure = await steps.run("fail", () => {
        attempts++;
        throw new Error("out of paper");
      }).catch(getErrorMessage);
      isRecorded = true;
      await steps.waitFor("restart");
      throw new Error(`The step failed: ${failure}`);
    };
    const start = await subject.open("fail", workflow);
    await start(null, "failing");
    await until(() => isRecorded);
    await subject.open("fail", workflow);
    const run = subject.engine.getRun("failing");
    await run.signal("restart");
    const message = await run.result().catch(getErrorMessage);
    expectEqual(String(message).includes("The step failed: out of paper"), true, String(message));
    expectEqual([attempts, await run.status()], [1, "failed"], "attempts and status");
  },

  "another process continues a run from its last step": async (subject) => {
    const executed: string[] = [];
    const gates = createGates();
    const workflow = async (steps: DurableSteps, input: string) => {
      const times = [steps.now()];
      for (const name of ["a", "b", "c"]) {
        await steps.run(name, async () => {
          executed.push(name);
          await gates.get(name).promise;
        });
        times.push(steps.now());
      }
      return { input, times };
    };
    gates.open("a");
    const start = await subject.open("letters", workflow);
    await start("letters", "restarted");
    await until(() => executed.length === 2);
    await subject.close();
    gates.open("b");
    gates.open("c");
    await subject.open("letters", workflow);
    const run = subject.engine.getRun<{ input: string; times: number[] }>("restarted");
    const { input, times } = await run.result();
    expectEqual([input, executed], ["letters", ["a", "b", "b", "c"]], "executions");
    expectEqual(times, times.toSorted((left, right) => left - right), "times");
  },

  "a process that is stopped gracefully records the step that it executes, and begins no other":
    async (
      subject,
    ) => {
      const executed: string[] = [];
      const gates = createGates();
      const workflow = async (steps: DurableSteps) => {
        for (const name of ["a", "b"]) {
          await steps.run(name, async () => {
            executed.push(name);
            await gates.get(name).promise;
          });
        }
        return executed;
      };
      const start = await subject.open("graceful", workflow);
      await start(null, "graceful");
      await until(() => executed.length === 1);
      subject.stopGracefully();
      const stopped = subject.close();
      gates.open("a");
      await stopped;
      expectEqual(executed, ["a"], "executions of the first process");
      gates.open("b");
      await subject.open("graceful", workflow);
      expectEqual(await subject.engine.getRun("graceful").result(), ["a", "b"], "executions");
    },

  "concurrent steps are recorded one by one": async (subject) => {
    const executed: number[] = [];
    const gates = createGates();
    const workflow = async (steps: DurableSteps) => {
      const values = await steps.all([0, 1, 2].map((index) => ({
        name: `step ${index}`,
        execute: async () => {
          executed.push(index);
          await gates.get(index).promise;
          return index;
        },
      })));
      return await steps.run("sum", () => values.reduce((sum, value) => sum + value));
    };
    const start = await subject.open("concurrent", workflow);
    await start(null, "batch");
    await until(() => executed.length === 3);
    gates.open(1);
    await untilStored();
    gates.open(0);
    gates.open(2);
    await subject.open("concurrent", workflow);
    expectEqual(await subject.engine.getRun("batch").result(), 3, "sum");
    expectEqual(
      executed.filter((index) => index === 1).length,
      1,
      "executions of the finished step",
    );
  },

  "the operation that has won a race wins in a replay too": async (subject) => {
    const gates = createGates();
    let isRecorded = false;
    const workflow = async (steps: DurableSteps) => {
      const winner = await steps.race([0, 1].map((index) => ({
        name: `runner ${index}`,
        execute: async () => {
          await gates.get(index).promise;
          return `runner ${index}`;
        },
      })));
      isRecorded = true;
      await steps.waitFor("restart");
      return winner;
    };
    const start = await subject.open("race", workflow);
    await start(null, "race-1");
    gates.open(1);
    await until(() => isRecorded);
    gates.open(0);
    await subject.open("race", workflow);
    const run = subject.engine.getRun("race-1");
    await run.signal("restart");
    expectEqual(await run.result(), { index: 1, value: "runner 1" }, "winner");
  },

  "a signal ends a wait, whether it comes before, during or between two processes": async (
    subject,
  ) => {
    const gates = createGates();
    let begun = false;
    let count = 0;
    const workflow = async (steps: DurableSteps) => {
      await steps.run("begin", () => gates.get("begin").promise.then(() => null));
      begun = true;
      const received: JsonValue[] = [];
      for (const name of ["one", "two", "three"]) {
        received.push(await steps.waitFor(name) ?? null);
        count = received.length;
      }
      return received;
    };
    const start = await subject.open("signals", workflow);
    const run = await start(null, "signals");
    await run.signal("two", { early: true });
    gates.open("begin");
    await until(() => begun);
    await run.signal("one", 1);
    await until(() => count === 2);
    await subject.open("signals", workflow);
    await subject.engine.getRun("signals").signal("three", "later");
    expectEqual(await subject.engine.getRun("signals").result(), [1, { early: true }, "later"], "");
  },

  "a wait ends after its time, and a sleep after its own": async (subject) => {
    const start = await subject.open("timers", async (steps) => {
      const before = steps.now();
      const data = await steps.waitFor("never", { timeoutMs: 20 });
      await steps.sleep("pause", 20);
      return { isOver: data === undefined, isLate: steps.now() - before >= 40 };
    });
    expectEqual(await (await start(null)).result(), { isOver: true, isLate: true }, "output");
  },

  "a wait ends after its time, although other messages arrive": async (subject) => {
    const start = await subject.open("disturbed wait", async (steps) => {
      const data = await steps.waitFor("never", { timeoutMs: 500 });
      return data === undefined;
    });
    const run = await start(null, "disturbed wait");
    let isRunning = true;
    const ended = run.result().finally(() => isRunning = false);
    ended.catch(() => {}); // It is awaited below.
    for (let count = 0; isRunning; count++) {
      expectEqual(count < 400, true, "that the wait has ended");
      await run.signal("other").catch(() => {}); // The run may have ended.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expectEqual(await ended, true, "output");
  },

  "an abort ends a sleep and a wait with an error, also one that begins later": async (subject) => {
    const ended: string[] = [];
    const start = await subject.open("aborted waits", async (steps) => {
      await steps.run("begin", () => null);
      await steps.sleep("long", Infinity).catch(() => ended.push("sleep"));
      await steps.waitFor("never").catch(() => ended.push("wait"));
      await steps.sleep("short", 20);
      ended.push("workflow");
      return null;
    });
    const run = await start(null, "aborted waits");
    await run.abort("enough");
    const outcome: unknown = await run.result().catch((error: unknown) => error);
    expectEqual(AgentError.is(outcome) && outcome.code, "aborted", "code of the outcome");
    expectEqual(await run.status(), "aborted", "status");
    expectEqual(ended, ["sleep", "wait"], "what ended");
  },

  "messages are delivered at the same point of a replay, each once": async (subject) => {
    const gates = createGates();
    let executions = 0;
    let active: DurableSteps;
    const workflow = async (steps: DurableSteps) => {
      active = steps;
      const log: string[] = [];
      steps.onMessage((message) => log.push(readText(message)));
      for (const name of ["a", "b", "c"]) {
        await steps.run(name, async () => {
          executions++;
          await gates.get(name).promise;
        });
        log.push(name);
      }
      return log;
    };
    const start = await subject.open("messages", workflow);
    const run = await start(null, "messages");
    await until(() => executions === 1);
    await run.steer("during a");
    await untilArrived(() => active, 1);
    gates.open("a");
    await until(() => executions === 2);
    await run.followUp("during b");
    await run.steer("also during b");
    await untilArrived(() => active, 2);
    gates.open("b");
    await until(() => executions === 3);
    gates.open("c");
    await subject.open("messages", workflow);
    const log = await subject.engine.getRun<string[]>("messages").result();
    expectEqual(log, ["during a", "a", "during b", "also during b", "b", "c"], "order");
  },

  "an abort reaches the step that is executed, and the run ends as aborted": async (subject) => {
    let isExecuting = false;
    const start = await subject.open("abort", async (steps) => {
      const reason = await steps.run("hang", ({ signal }) => {
        isExecuting = true;
        return new Promise<string>((resolve) => {
          const abort = () => resolve(getErrorMessage(signal.reason));
          if (signal.aborted) abort();
          signal.addEventListener("abort", abort);
        });
      });
      return { reason, isAborted: steps.signal.aborted };
    });
    const run = await start(null, "aborted");
    await until(() => isExecuting);
    await run.abort("not needed");
    expectEqual(await run.result(), { reason: "not needed", isAborted: true }, "output");
    expectEqual(await run.status(), "aborted", "status");
  },

  "an abort ends a wait that no process executes": async (subject) => {
    let isWaiting = false;
    const workflow = async (steps: DurableSteps) => {
      await steps.run("begin", () => null);
      isWaiting = true;
      return await steps.waitFor("approval") ?? null;
    };
    const start = await subject.open("forgotten", workflow);
    await start(null, "forgotten");
    await until(() => isWaiting);
    await subject.openClient();
    const run = subject.engine.getRun("forgotten");
    expectEqual(await run.status(), "running", "status");
    await run.abort("forgotten");
    await subject.open("forgotten", workflow);
    const error = await subject.engine.getRun("forgotten").result().catch(getErrorMessage);
    expectEqual(String(error), "forgotten", "error");
    expectEqual(await subject.engine.getRun("forgotten").status(), "aborted", "status");
  },

  "a replay that differs fails with the name of the step": async (subject) => {
    await expectDivergence(subject, "other step", async (steps) => {
      await steps.run("other step", () => 1);
      await steps.waitFor("restart");
    });
    await expectDivergence(subject, "first", async (steps) => {
      await steps.run("first", () => 1, { input: "another input" });
      await steps.waitFor("restart");
    });
  },

  "an unknown run, an ended one and values that are not JSON are refused": async (subject) => {
    const start = await subject.open(
      "refusals",
      (steps, input: unknown) => steps.run("value", () => input === "bigint" ? 1n : input),
    );
    const fail = (promise: Promise<unknown>) => promise.then(() => "no error", getErrorMessage);
    const unknown = subject.engine.getRun("unknown");
    expectEqual(await unknown.status(), undefined, "status");
    const missing = 'There is no run with the id "unknown"';
    expectEqual(await fail(unknown.abort()), missing, "message to an unknown run");
    expectEqual(await fail(unknown.result()), missing, "result of an unknown run");
    const ended = await start("done", "ended");
    await ended.result();
    const refusal = 'Cannot send a message to the run "ended": it has ended';
    expectEqual(await fail(ended.steer("too late")), refusal, "message to an ended run");
    expectMatch(await fail(start(1n)), "The input of a workflow must be JSON");
    expectMatch(await fail((await start("bigint")).result()), "The value of a step must be JSON");
    expectMatch(await fail(start(1, "")), "The id of a run must be");
  },
};

/** Starts a run whose first step is recorded, and continues it with another workflow of the same name. */
async function expectDivergence(
  subject: DurableSubject,
  step: string,
  changed: WorkflowFunction<null, unknown>,
): Promise<void> {
  const id = `diverging at ${step}`;
  let isRecorded = false;
  const start = await subject.open(id, async (steps) => {
    await steps.run("first", () => 1, { input: "input" });
    isRecorded = true;
    await steps.waitFor("restart");
  });
  await start(null, id);
  await until(() => isRecorded);
  await subject.open(id, changed);
  const run = subject.engine.getRun(id);
  const error = await run.result().catch(getErrorMessage);
  expectMatch(String(error), `differs from its record at step "${step}"`);
  expectEqual(await run.status(), "failed", "status");
}

function expectMatch(text: string, part: string): void {
  expectEqual(text.includes(part), true, text);
}
