import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { AbortedError, BadRequestError } from "../../src/core/errors/errors.ts";
import { createDeferred } from "../../src/core/ports/deferred.ts";
import type { StreamRequest } from "../../src/core/streams/stream.ts";
import { type AgentTool, defineTool } from "../../src/core/tools/tool.ts";
import { durableAgent } from "../../src/durable/mod.ts";
import { RestateEngine } from "../../src/durable/restate/mod.ts";
import { testDurableEngine } from "../../src/testing/durable_conformance.ts";
import { reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";
import { withDeadline } from "../deadline.ts";
import { testDurableAgent } from "./agent_scenarios.ts";
import { RESTATE_PATH, startRestate } from "./restate_server.ts";

const restate = RESTATE_PATH === undefined ? undefined : await startRestate();
Deno.test.afterAll(() => restate?.stop());

function serve(getEngine: () => RestateEngine | undefined): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    (request) => getEngine()?.fetch(request) ?? new Response(null, { status: 503 }),
  );
}

const register = (name: string, fn: () => void | Promise<void>) =>
  Deno.test({ name: `RestateEngine: ${name}`, ignore: !restate, fn });
const createFixture = () => {
  const { ingressUrl, adminUrl } = restate ?? { ingressUrl: "", adminUrl: "" };
  let engine: RestateEngine | undefined;
  const server = serve(() => engine);
  const endpointUrl = `http://127.0.0.1:${server.addr.port}`;
  return {
    createEngine: () =>
      engine = new RestateEngine({ ingressUrl, registration: { adminUrl, endpointUrl } }),
    createClient: () => {
      engine = undefined;
      return new RestateEngine({ ingressUrl });
    },
    refusesMessages: false,
    dispose: () => server.shutdown(),
  };
};

/** Whether Restate has suspended the run of the service `suspended-run`. */
async function isSuspended(adminUrl: string): Promise<boolean> {
  const response = await fetch(`${adminUrl}/query`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({
      query: "SELECT status FROM sys_invocation WHERE target_service_name = 'suspended-run' " +
        "AND target_handler_name = 'run'",
    }),
  });
  const { rows } = await response.json();
  return rows.length === 1 && rows[0].status === "suspended";
}

testDurableEngine(register, createFixture);
testDurableAgent(register, createFixture);

Deno.test({
  name: "RestateEngine: a run that waits is suspended, and continues with the next message",
  ignore: !restate,
  fn: async () => {
    const { ingressUrl, adminUrl } = restate ?? { ingressUrl: "", adminUrl: "" };
    const server = serve(() => engine);
    const endpointUrl = `http://127.0.0.1:${server.addr.port}`;
    const engine = new RestateEngine({
      ingressUrl,
      registration: { adminUrl, endpointUrl },
      name: "suspended",
      suspendAfterMs: 50,
    });
    let attempts = 0;
    let executions = 0;
    const untilSuspended = async (adminUrl: string, attempt: number) => {
      while (attempts < attempt || !await isSuspended(adminUrl)) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    const wait = engine.register("wait", async (steps) => {
      attempts++;
      await steps.run("before", () => executions++);
      const data = await steps.waitFor("signal");
      await steps.sleep("pause", 11_000).catch(() => {});
      return data ?? null;
    });
    await engine.start();
    const run = await wait.start(null, { id: "suspended" });
    await untilSuspended(adminUrl, 1);
    await run.signal("other");
    await untilSuspended(adminUrl, 2);
    await run.signal("signal", "late");
    await untilSuspended(adminUrl, 3);
    await run.abort("enough");
    assertEquals(await run.result(), "late");
    assertEquals(executions, 1);
    assert(attempts >= 4, `${attempts} attempts`);
    await engine.close();
    await server.shutdown();
  },
});

Deno.test({
  name: "RestateEngine: each of several waits at the same time ends with its message",
  ignore: !restate,
  fn: async () => {
    const { ingressUrl, adminUrl } = restate ?? { ingressUrl: "", adminUrl: "" };
    const server = serve(() => engine);
    const endpointUrl = `http://127.0.0.1:${server.addr.port}`;
    const engine = new RestateEngine({
      ingressUrl,
      registration: { adminUrl, endpointUrl },
      name: "waits",
    });
    const ended = createDeferred<void>();
    const wait = engine.register("wait", async (steps) => {
      const second = steps.waitFor("second");
      void second.then(() => ended.resolve());
      return await Promise.all([steps.waitFor("first"), second]);
    });
    await engine.start();
    const run = await wait.start(null);
    await run.signal("second", 2);
    await ended.promise;
    await run.signal("first", 1);
    assertEquals(await withDeadline(run.result()), [1, 2]);
    await engine.close();
    await server.shutdown();
  },
});

Deno.test({
  name: "RestateEngine: a run does not wait for the time of a wait that a message has ended",
  ignore: !restate,
  fn: async () => {
    const { ingressUrl, adminUrl } = restate ?? { ingressUrl: "", adminUrl: "" };
    const server = serve(() => engine);
    const endpointUrl = `http://127.0.0.1:${server.addr.port}`;
    const engine = new RestateEngine({
      ingressUrl,
      registration: { adminUrl, endpointUrl },
      name: "early",
    });
    const wait = engine.register("wait", async (steps) => {
      await steps.waitFor("go", { timeoutMs: 3_600_000 });
      // The journal has nothing else to wait for meanwhile.
      await new Promise((resolve) => setTimeout(resolve, 50));
      return await steps.run("after", () => "done");
    });
    await engine.start();
    const run = await wait.start(null);
    await run.signal("go");
    assertEquals(await withDeadline(run.result(), 30_000), "done");
    await engine.close();
    await server.shutdown();
  },
});

Deno.test({
  name:
    "RestateEngine: without bidirectional requests, an agent runs tools that may be repeated, and refuses others",
  ignore: !restate,
  fn: async () => {
    const { ingressUrl, adminUrl } = restate ?? { ingressUrl: "", adminUrl: "" };
    const server = serve(() => engine);
    const endpointUrl = `http://127.0.0.1:${server.addr.port}`;
    const engine = new RestateEngine({
      ingressUrl,
      registration: { adminUrl, endpointUrl },
      name: "requests",
      bidirectional: false,
    });
    const tool = { name: "look", description: "Looks.", parameters: {}, execute: () => "seen" };
    const tools: Readonly<Record<string, AgentTool>> = {
      once: defineTool(tool),
      ordered: defineTool({ ...tool, readOnly: true, sequential: true }),
      keyed: defineTool({ ...tool, readOnly: true, concurrencyKey: () => "look" }),
      repeated: defineTool({ ...tool, readOnly: true }),
    };
    const workflow = engine.register("work", async (steps, name: string) => {
      const calls = [toolCall("look", {}), toolCall("look", {})];
      // Each request of Restate begins with another step.
      const answer = ({ context: { messages } }: StreamRequest) =>
        messages.length === 1 ? reply(calls) : reply("Done.");
      const streamFn = scriptedStream([answer, answer]);
      const options = { model: "any/model", streamFn, tools: tools[name] ? [tools[name]] : [] };
      return (await durableAgent(options, steps).prompt("Look")).text;
    });
    await engine.start();
    const start = async (name: string) => await withDeadline((await workflow.start(name)).result());
    await assertRejects(() => start("once"), BadRequestError, 'it has the side effect "once"');
    for (const name of ["ordered", "keyed"]) {
      await assertRejects(() => start(name), BadRequestError, "one after the other");
    }
    assertEquals(await start("repeated"), "Done.");
    await engine.close();
    await server.shutdown();
  },
});

Deno.test({
  name: "RestateEngine: the events before a wait are stored, also if the run is suspended at once",
  ignore: !restate,
  fn: async () => {
    const { ingressUrl, adminUrl } = restate ?? { ingressUrl: "", adminUrl: "" };
    const server = serve(() => engine);
    const endpointUrl = `http://127.0.0.1:${server.addr.port}`;
    const engine = new RestateEngine({
      ingressUrl,
      registration: { adminUrl, endpointUrl },
      name: "stored",
      bidirectional: false,
      // The attempt ends before it has read the stored events.
      fetch: async (...request) => {
        if (String(request[0]).endsWith("/read")) await new Promise((end) => setTimeout(end, 100));
        return await fetch(...request);
      },
    });
    const wait = engine.register("wait", async (steps) => {
      await steps.run("first", () => null);
      await steps.publish("waits");
      return await steps.waitFor("go") ?? null;
    });
    await engine.start();
    const run = await wait.start(null);
    const reader = run.events()[Symbol.asyncIterator]();
    const { value } = await withDeadline(reader.next());
    assertEquals(value, [{ type: "event", number: 1, event: "waits" }]);
    await reader.return?.();
    await run.signal("go", 1);
    assertEquals(await withDeadline(run.result()), 1);
    await engine.close();
    await server.shutdown();
  },
});

/** Ends the run of a service as an administrator does. */
async function endRun(adminUrl: string, service: string, action: "cancel" | "kill"): Promise<void> {
  const response = await fetch(`${adminUrl}/query`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({
      query: `SELECT id FROM sys_invocation WHERE target_service_name = '${service}' ` +
        "AND target_handler_name = 'run'",
    }),
  });
  const { rows: [{ id }] } = await response.json();
  const ended = await fetch(`${adminUrl}/invocations/${id}/${action}`, { method: "PATCH" });
  assert(ended.ok, await ended.text());
}

for (const action of ["cancel", "kill"] as const) {
  Deno.test({
    name: `RestateEngine: a run that ends by a ${action} in Restate is aborted, and so is its step`,
    ignore: !restate,
    fn: async () => {
      const { ingressUrl, adminUrl } = restate ?? { ingressUrl: "", adminUrl: "" };
      const server = serve(() => engine);
      const endpointUrl = `http://127.0.0.1:${server.addr.port}`;
      const engine = new RestateEngine({
        ingressUrl,
        registration: { adminUrl, endpointUrl },
        name: action,
        keepEventsMs: 1,
      });
      const aborted = createDeferred<void>();
      const hang = engine.register("hang", async (steps) => {
        await steps.publish("begun");
        await steps.run("hang", ({ signal }) => {
          signal.addEventListener("abort", () => aborted.resolve());
          return new Promise<null>(() => {});
        });
      });
      await engine.start();
      const run = await hang.start(null, { id: action });
      for await (const _batch of run.events()) break;
      await endRun(adminUrl, `${action}-run`, action);
      await aborted.promise;
      await assertRejects(() => run.result(), AbortedError);
      assertEquals(await run.status(), "aborted");
      for await (const _batch of run.events());
      // The worker learns about a cancellation, and about a kill only that the attempt has ended.
      while (action === "cancel" && (await run.readEvents()).length > 0) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await engine.close();
      await server.shutdown();
    },
  });
}

Deno.test({
  name: "RestateEngine: a run does not begin whose request is still read when the engine is closed",
  ignore: !restate,
  fn: async () => {
    const { ingressUrl, adminUrl } = restate ?? { ingressUrl: "", adminUrl: "" };
    const requested = createDeferred<void>();
    const closed = createDeferred<void>();
    const answered = createDeferred<void>();
    /** Lets the engine read the body of a request only when it is closed. */
    const delay = (request: Request) => {
      const transform = async (
        chunk: Uint8Array,
        controller: TransformStreamDefaultController<Uint8Array>,
      ) => {
        requested.resolve();
        await closed.promise;
        controller.enqueue(chunk);
      };
      const body = request.body?.pipeThrough(new TransformStream({ transform })) ?? null;
      return new Request(request.url, { method: "POST", headers: request.headers, body });
    };
    const handle = async (request: Request) => {
      if (!request.url.includes("late-run/run")) return await engine.fetch(request);
      const response = await engine.fetch(delay(request));
      const body = response.body?.pipeThrough(
        new TransformStream({ flush: () => answered.resolve() }),
      );
      return new Response(body, response);
    };
    const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, handle);
    const endpointUrl = `http://127.0.0.1:${server.addr.port}`;
    const engine: RestateEngine = new RestateEngine({
      ingressUrl,
      registration: { adminUrl, endpointUrl },
      name: "late",
    });
    let hasBegun = false;
    const workflow = engine.register("work", () => hasBegun = true);
    await engine.start();
    await workflow.start(null);
    await requested.promise;
    await engine.close({ graceMs: 0 });
    closed.resolve();
    await answered.promise;
    assertEquals(hasBegun, false);
    await server.shutdown();
  },
});

/** Returns the values in the state of the objects of a service. */
async function readState(adminUrl: string, service: string): Promise<string> {
  const response = await fetch(`${adminUrl}/query`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({
      query: `SELECT value_utf8 FROM state WHERE service_name = '${service}'`,
    }),
  });
  return await response.text();
}

Deno.test({
  name: "RestateEngine: events that are published while the engine is closed are stored",
  ignore: !restate,
  fn: async () => {
    const { ingressUrl, adminUrl } = restate ?? { ingressUrl: "", adminUrl: "" };
    const server = serve(() => engine);
    const endpointUrl = `http://127.0.0.1:${server.addr.port}`;
    const engine = new RestateEngine({
      ingressUrl,
      registration: { adminUrl, endpointUrl },
      name: "closing",
    });
    const ending = createDeferred<void>();
    const workflow = engine.register("work", (steps) =>
      steps.run("work", async () => {
        await steps.publish("early");
        await ending.promise;
        await steps.publish("published late");
      }));
    await engine.start();
    const run = await workflow.start(null);
    for await (const _batch of run.events()) break;
    const closed = engine.close();
    ending.resolve();
    await closed;
    assertStringIncludes(await readState(adminUrl, "closing-events"), "published late");
    await server.shutdown();
  },
});
