import { assertEquals, assertRejects } from "@std/assert";
import { BadRequestError } from "../../src/core/errors/errors.ts";
import { createDeferred } from "../../src/core/ports/deferred.ts";
import { RestateEngine } from "../../src/durable/restate/mod.ts";

/** Creates an engine whose server answers no request, or only those at a path. */
function createEngine(answered = "none") {
  const requested = createDeferred<void>();
  const fetch = (url: string | URL | Request, { signal }: RequestInit = {}): Promise<Response> => {
    if (String(url).includes(answered)) return Promise.resolve(new Response("{}"));
    requested.resolve();
    return new Promise((_, reject) => {
      signal?.addEventListener("abort", () => reject(new Error("The request was aborted")));
    });
  };
  const engine = new RestateEngine({
    ingressUrl: "http://restate.example:8080",
    registration: {
      adminUrl: "http://restate.example:9070",
      endpointUrl: "http://worker.example:9080",
    },
    fetch,
  });
  return { engine, requested: requested.promise };
}

Deno.test("RestateEngine: close() ends a start that waits for its registration", async () => {
  const { engine, requested } = createEngine();
  const started = assertRejects(() => engine.start(), BadRequestError, "The engine was closed");
  await requested;
  await engine.close();
  await started;
});

Deno.test("RestateEngine: close() ends requests with the error of a closed engine", async () => {
  const { engine, requested } = createEngine("/deployments");
  await engine.start();
  const status = assertRejects(
    () => engine.getRun("a").status(),
    BadRequestError,
    "The engine was closed",
  );
  await requested;
  await engine.close();
  await status;
});

Deno.test("RestateEngine: start() after close() rejects", async () => {
  const engine = new RestateEngine({ ingressUrl: "http://restate.example:8080" });
  await engine.close();
  await assertRejects(() => engine.start(), BadRequestError, "The engine was closed");
});

Deno.test("RestateEngine: a run is started when the registration of the engine has ended", async () => {
  const registered = createDeferred<Response>();
  const paths: string[] = [];
  const engine = new RestateEngine({
    ingressUrl: "http://restate.example:8080",
    registration: {
      adminUrl: "http://restate.example:9070",
      endpointUrl: "http://worker.example:9080",
    },
    fetch: (url) => {
      const { pathname } = new URL(String(url));
      paths.push(pathname);
      return pathname === "/deployments" ? registered.promise : Promise.resolve(new Response("{}"));
    },
  });
  const workflow = engine.register("work", () => null);
  const started = engine.start();
  const run = workflow.start(null, { id: "a" });
  await new Promise((resolve) => setTimeout(resolve, 20));
  assertEquals(paths, ["/deployments"]);
  registered.resolve(new Response("{}"));
  await Promise.all([started, run]);
  assertEquals(paths.length, 2);
  await engine.close();
});

Deno.test("RestateEngine: a wait for an outcome pauses while the server answers with an error", async () => {
  let requests = 0;
  const engine = new RestateEngine({
    ingressUrl: "http://restate.example:8080",
    fetch: (url) => {
      if (!String(url).endsWith("/attach")) return Promise.resolve(new Response("{}"));
      requests++;
      return Promise.resolve(new Response("overloaded", { status: 503 }));
    },
  });
  await engine.start();
  const result = assertRejects(() => engine.getRun("a").result(), BadRequestError);
  await new Promise((resolve) => setTimeout(resolve, 20));
  assertEquals(requests, 1);
  await engine.close();
  await result;
});

Deno.test("RestateEngine: its calls are refused before its start, and its endpoint after its end", async () => {
  const engine = new RestateEngine({ ingressUrl: "http://restate.example:8080" });
  const hint = "Call start() of the engine first";
  await assertRejects(() => engine.getRun("a").status(), BadRequestError, hint);
  await assertRejects(() => engine.getRun("a").readEvents(), BadRequestError, hint);
  await engine.close();
  assertEquals((await engine.fetch(new Request("http://worker.example/discover"))).status, 503);
});

Deno.test("RestateEngine: start() rejects with the answer of a server that does not accept the endpoint", async () => {
  let status = 400;
  const engine = new RestateEngine({
    ingressUrl: "http://restate.example:8080",
    registration: {
      adminUrl: "http://restate.example:9070",
      endpointUrl: "http://worker.example:9080",
    },
    fetch: () => Promise.resolve(new Response("not reached", { status })),
  });
  await assertRejects(() => engine.start(), BadRequestError, "the endpoint: not reached");
  status = 200;
  await engine.start();
  await engine.close();
});
