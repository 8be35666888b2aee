import { assert, assertEquals } from "@std/assert";
import { createDeferred, type Deferred } from "../../src/core/ports/deferred.ts";
import { durableAgent } from "../../src/durable/mod.ts";
import { RestateEngine } from "../../src/durable/restate/mod.ts";
import { reply, scriptedStream } from "../../src/testing/mod.ts";
import { withDeadline } from "../deadline.ts";
import { RESTATE_PATH, startRestate } from "./restate_server.ts";

const restate = RESTATE_PATH === undefined ? undefined : await startRestate();
Deno.test.afterAll(() => restate?.stop());

/** Workers of the same application, in one process. The first attempt of a run is for the first one, and so on. */
function createWorkers(
  name: string,
  { bidirectional, fetches }: {
    readonly bidirectional: boolean;
    /** The `fetch` of each worker. */
    readonly fetches: readonly (typeof fetch)[];
  },
): { readonly workers: readonly RestateEngine[]; readonly close: () => Promise<void> } {
  const { ingressUrl, adminUrl } = restate ?? { ingressUrl: "", adminUrl: "" };
  let attempts = 0;
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    (request) => {
      const isAttempt = new URL(request.url).pathname.endsWith("-run/run");
      const index = isAttempt ? Math.min(attempts++, workers.length - 1) : 0;
      return workers[index]?.fetch(request) ?? new Response(null, { status: 503 });
    },
  );
  const registration = { adminUrl, endpointUrl: `http://127.0.0.1:${server.addr.port}` };
  const workers: readonly RestateEngine[] = fetches.map((fetch) =>
    new RestateEngine({ ingressUrl, registration, name, bidirectional, fetch })
  );
  const close = async () => {
    await Promise.all(workers.map((worker) => worker.close()));
    await server.shutdown();
  };
  return { workers, close };
}

/** A `fetch` that holds each request to store events until its promise is resolved; `requested` resolves with the first. */
function holdAppends(held: readonly Deferred<void>[], requested: Deferred<void>): typeof fetch {
  let appends = 0;
  return async (...request) => {
    if (String(request[0]).endsWith("/append")) {
      requested.resolve();
      await held[appends++]?.promise;
    }
    return await fetch(...request);
  };
}

Deno.test({
  name:
    "RestateEngine: a worker that another one follows does not store events that it has published since",
  ignore: !restate,
  fn: async () => {
    const isRequested = createDeferred<void>();
    const isPublished = createDeferred<void>();
    const isRead = createDeferred<void>();
    const { workers, close } = createWorkers("followed", {
      bidirectional: false,
      fetches: [
        holdAppends([isPublished, isRead], isRequested),
        async (...request) => {
          const response = await fetch(...request);
          if (String(request[0]).endsWith("/read")) isRead.resolve();
          return response;
        },
      ],
    });
    const workflows = workers.map((worker) =>
      worker.register("work", async (steps) => {
        const streamFn = scriptedStream([async () => {
          await isRequested.promise;
          return reply("one two three");
        }]);
        const agent = durableAgent({ model: "any/model", streamFn }, steps);
        agent.subscribe(async (event) => {
          if (event.type !== "message_update" || event.delta.type !== "text_delta") return;
          // The first events are being stored, with which the step ends.
          await new Promise((resolve) => setTimeout(resolve, 5));
          await steps.publish(event.delta.delta);
          if (event.delta.delta === "three") isPublished.resolve();
        });
        agent.subscribe((event) => event.type === "agent_start" && void steps.publish("start"));
        return (await agent.prompt("Count")).text;
      })
    );
    for (const worker of workers) await worker.start();
    const [workflow] = workflows;
    assert(workflow);
    const run = await workflow.start(null);
    assertEquals(await withDeadline(run.result()), "one two three");
    const events = await run.readEvents();
    assertEquals(events.map((item) => item.type === "event" ? item.event : item.type), [
      ...["start", "one ", "two ", "three"],
    ]);
    await close();
  },
});
