import { assert, assertEquals, assertRejects } from "@std/assert";
import { AbortedError } from "../../src/core/errors/errors.ts";
import { createDeferred } from "../../src/core/ports/deferred.ts";
import { DbosEngine } from "../../src/durable/dbos/mod.ts";
import { loadDbos } from "../../src/durable/dbos/npm_packages.ts";
import { withDeadline } from "../deadline.ts";
import { POSTGRES_DIRECTORY, startPostgres } from "../memory/postgres_server.ts";

/** The part of DBOS with which administrators end and resume runs. */
interface Administration {
  cancelWorkflow(id: string): Promise<void>;
  resumeWorkflow(id: string): Promise<unknown>;
}

/** Lets the clock of this program run faster, until it is disposed. */
function speedUpClock(rate: number): Disposable {
  const { now } = Date;
  const start = now();
  Date.now = () => start + (now() - start) * rate;
  return { [Symbol.dispose]: () => void (Date.now = now) };
}

Deno.test({
  name: "DbosEngine: a run that was cancelled in DBOS while it executes a step is not continued",
  ignore: POSTGRES_DIRECTORY === undefined,
  fn: async () => {
    const server = await startPostgres();
    const began = createDeferred<void>();
    const ending = createDeferred<void>();
    const left = createDeferred<void>();
    const executed: string[] = [];
    const start = async () => {
      const engine = new DbosEngine({ databaseUrl: server.url, recoveryMs: 20 });
      const workflow = engine.register("work", async (steps) => {
        const first = steps.run("first", async () => {
          began.resolve();
          await ending.promise;
        });
        await first.finally(() => left.resolve());
        await steps.run("second", () => executed.push("second"));
      });
      await engine.start();
      return { engine, workflow };
    };
    const { engine, workflow } = await start();
    const run = await workflow.start(null, { id: "a" });
    await began.promise;
    await (await loadDbos() as unknown as Administration).cancelWorkflow("a");
    ending.resolve();
    await assertRejects(() => run.result(), AbortedError);
    await withDeadline(left.promise);
    await engine.close();
    const next = await start();
    assertEquals(await next.engine.getRun("a").status(), "aborted");
    await next.engine.close();
    assertEquals(executed, []);
    await server.stop();
  },
});

Deno.test({
  name: "DbosEngine: a run whose end DBOS could not record is resumed by its worker",
  ignore: POSTGRES_DIRECTORY === undefined,
  fn: async () => {
    const server = await startPostgres();
    // A worker looks twice for such a run, with a pause of up to half a minute.
    using _clock = speedUpClock(50);
    const engine = new DbosEngine({ databaseUrl: server.url, recoveryMs: 20 });
    let attempts = 0;
    const workflow = engine.register("work", async (steps) => {
      attempts++;
      return await steps.run("first", () => "done");
    });
    await engine.start();
    const run = await workflow.start(null, { id: "a" });
    await run.result();
    await server.sql(
      "UPDATE dbos.workflow_status SET status = 'PENDING', output = NULL WHERE workflow_uuid = 'a'",
    );
    assertEquals(await withDeadline(run.result()), "done");
    // By this clock, the worker may look again before DBOS, whose clock is not faster, has begun the run.
    assert(attempts >= 2, `${attempts}`);
    await engine.close();
    await server.stop();
  },
});

Deno.test({
  name: "DbosEngine: a run that its worker executes again leaves the execution before that",
  ignore: POSTGRES_DIRECTORY === undefined,
  fn: async () => {
    const server = await startPostgres();
    const engine = new DbosEngine({ databaseUrl: server.url, recoveryMs: 20 });
    const began = createDeferred<void>();
    const aborted = createDeferred<void>();
    const executed: number[] = [];
    let attempts = 0;
    const workflow = engine.register("work", async (steps) => {
      const attempt = ++attempts;
      await steps.run("first", async ({ signal }) => {
        await steps.publish(`begun ${attempt}`);
        signal.addEventListener("abort", () => aborted.resolve());
        began.resolve();
        if (attempt > 1) return;
        await aborted.promise;
        await steps.publish("late");
      });
      await steps.run("second", () => executed.push(attempt));
      return attempt;
    });
    await engine.start();
    const run = await workflow.start(null, { id: "a" });
    await began.promise;
    await (await loadDbos() as unknown as Administration).resumeWorkflow("a");
    await withDeadline(aborted.promise);
    assertEquals(await withDeadline(run.result()), 2);
    assertEquals([attempts, executed], [2, [2]]);
    const events = await run.readEvents();
    assertEquals(events.map((item) => "event" in item ? item.event : item.type), [
      ...["begun 1", "continued", "begun 2"],
    ]);
    await engine.close();
    await server.stop();
  },
});
