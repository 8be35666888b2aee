import { assertEquals, assertRejects } from "@std/assert";
import { BadRequestError, NetworkError } from "../../src/core/errors/errors.ts";
import { ObjectEvents } from "../../src/durable/restate/object_events.ts";
import { RestateClient } from "../../src/durable/restate/restate_client.ts";
import { speedUpTimers } from "../fast_timers.ts";

/** Creates a client whose requests get these answers in order, the last one again and again. */
function createClient(...answers: readonly (() => Response)[]) {
  const { signal } = new AbortController();
  let requests = 0;
  const fetch = () => {
    const answer = answers[Math.min(requests++, answers.length - 1)];
    return Promise.resolve().then(() => answer?.() ?? new Response());
  };
  const client = new RestateClient({ ingressUrl: "http://restate.example:8080", fetch, signal });
  return { client, count: () => requests };
}

function refuse(): never {
  throw new TypeError("connection refused");
}

Deno.test("RestateClient: awaitOutput() asks again while the server cannot be reached or is overloaded", async () => {
  using _timers = speedUpTimers(100);
  const overloaded = () => new Response("overloaded", { status: 503 });
  const { client, count } = createClient(refuse, overloaded, () => new Response('"done"'));
  assertEquals(await client.awaitOutput("runs", "a"), { type: "ended", value: "done" });
  assertEquals(count(), 3);
});

Deno.test("RestateClient: a refusal says the status and the answer of the server", async () => {
  const answers = [[400, BadRequestError], [500, NetworkError]] as const;
  for (const [status, type] of answers) {
    const { client } = createClient(() => new Response("not known", { status }));
    const message = `Restate answered with the status ${status}: not known`;
    await assertRejects(() => client.send("a", null), type, message);
    await assertRejects(() => client.call("a", null), type, message);
    await assertRejects(() => client.readOutput("runs", "a"), type, message);
  }
  const { client } = createClient(() => new Response("not known", { status: 404 }));
  await assertRejects(() => client.awaitOutput("runs", "a"), BadRequestError, "status 404");
  const { client: cut } = createClient(refuse);
  await assertRejects(() => cut.send("a", null), NetworkError, "Restate cannot be reached: conn");
});

Deno.test("RestateClient: a connection that ends within an answer is one that cannot be reached", async () => {
  const { client } = createClient(() => {
    const pull = () => Promise.reject(new TypeError("error reading a body"));
    return new Response(new ReadableStream({ pull }));
  });
  await assertRejects(() => client.call("a", null), NetworkError, "Restate cannot be reached");
});

Deno.test("RestateClient: an id of a run that a URL cannot have is refused, in each path", async () => {
  const { client, count } = createClient(() => Response.json([]));
  const events = new ObjectEvents({ service: "events", client, keepMs: 1 });
  for (const id of [".", ".."]) {
    const message = `A run on Restate cannot have the id "${id}"`;
    await assertRejects(() => client.readOutput("runs", id), BadRequestError, message);
    await assertRejects(() => client.awaitOutput("runs", id), BadRequestError, message);
    const positions = [{ runId: id, after: 0 }];
    await assertRejects(() => events.read(positions, 1), BadRequestError, message);
  }
  assertEquals(count(), 0);
  await client.readOutput("runs", "...");
  assertEquals(count(), 1);
});
