import { assertEquals } from "@std/assert";
import { observeFirstRequest } from "./first_request.ts";

/** A time that no test waits for. */
const NEVER_MS = 1_000_000;

/** Observes requests whose responses a test sends; `events` has what happens, in order. */
function observe(sentMs: number) {
  const events: string[] = [];
  const response = Promise.withResolvers<Response>();
  const observed = observeFirstRequest(() => response.promise, sentMs);
  void observed.firstRequest.then(() => events.push("sent"));
  return { ...observed, response, events };
}

Deno.test("observeFirstRequest(): a request has been sent when its response arrives", async () => {
  const { fetch, firstRequest, response, events } = observe(NEVER_MS);
  const received = fetch("http://localhost");
  await Promise.resolve();
  events.push("answered");
  response.resolve(new Response("a"));
  assertEquals(await (await received).text(), "a");
  await firstRequest;
  assertEquals(events, ["answered", "sent"]);
  await fetch("http://localhost");
});

Deno.test("observeFirstRequest(): a request without a response has been sent after some time", async () => {
  const { fetch, firstRequest, response } = observe(1);
  const received = fetch("http://localhost");
  await firstRequest;
  response.resolve(new Response("a"));
  assertEquals((await received).status, 200);
});

Deno.test("observeFirstRequest(): a request that fails counts as sent", async () => {
  const { fetch, firstRequest, response } = observe(NEVER_MS);
  const failure = fetch("http://localhost").catch((error) => error.message);
  response.reject(new Error("no connection"));
  await firstRequest;
  assertEquals(await failure, "no connection");
});
