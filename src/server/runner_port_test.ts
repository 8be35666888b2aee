import { assertEquals } from "@std/assert";
import { EventReader, TestServer } from "../../tests/server/server_fixture.ts";
import { AlreadyRunningError, SessionError } from "../core/errors/errors.ts";
import { zeroCost, zeroUsage } from "../core/models/usage.ts";
import type { AgentRunner, SessionDetail } from "./mod.ts";

const detail: SessionDetail = {
  status: "running",
  pendingApprovals: [],
  queued: { steering: [], followUp: [] },
  eventId: "position-7",
  summary: {
    id: "s",
    created: 0,
    updated: 0,
    entries: 0,
    messages: 0,
    leafId: null,
    usage: zeroUsage(),
    cost: zeroCost(),
    bytes: 0,
  },
};

/** A runner that records its calls, as one of another engine would get them. */
function createRunner(calls: unknown[]): AgentRunner {
  const notFound = new SessionError("No", { reason: "not_found" });
  return {
    start(session, input) {
      calls.push(["start", session, input.type]);
      if (session.id === "busy") return Promise.reject(new AlreadyRunningError());
      const end = { stopReason: "stop", usage: zeroUsage(), cost: zeroCost() } as const;
      return Promise.resolve({
        type: "started",
        runId: "r",
        eventId: "position-6",
        ended: Promise.resolve(end),
      });
    },
    send(session, { type }) {
      calls.push(["send", session.id, type]);
      return Promise.resolve("queued-1");
    },
    abort(session, reason) {
      calls.push(["abort", session.id, reason]);
      return Promise.resolve(true);
    },
    describe: ({ id }) => id === "missing" ? Promise.reject(notFound) : Promise.resolve(detail),
    isRunning: () => true,
    events(session, { after }) {
      calls.push(["events", session.id, after]);
      return Promise.resolve((async function* () {
        await Promise.resolve();
        yield [{ type: "state", id: "position-8", data: "{}" }];
      })());
    },
    delete: () => Promise.reject(notFound),
    close: () => Promise.resolve({ ended: 1, handedOver: 2 }),
  };
}

Deno.test("server: the runner of another engine gets all calls, with positions of its own", async () => {
  const calls: unknown[] = [];
  const test = new TestServer({ runner: createRunner(calls) });
  const post = (action: string, body: object = {}) =>
    test.json(202, "POST", `/v1/sessions/s/${action}`, { body });
  assertEquals((await post("prompt", { text: "Hi" })).eventId, "position-6");
  await post("continue");
  await post("steer", { text: "Faster" });
  await post("follow_up", { text: "And then?" });
  await post("abort", { reason: "enough" });
  await test.json(409, "POST", "/v1/sessions/busy/prompt", { body: { text: "Hi" } });
  assertEquals((await test.json(200, "GET", "/v1/sessions/s")).eventId, "position-7");
  await test.json(404, "GET", "/v1/sessions/missing");
  await test.json(404, "DELETE", "/v1/sessions/s");
  const headers = { "last-event-id": "position-7" };
  const reader = new EventReader(await test.call("GET", "/v1/sessions/s/events", { headers }));
  assertEquals((await reader.until(() => false)).map(({ id }) => id), ["position-8"]);
  const key = { id: "s", tenant: "acme" };
  assertEquals(calls, [
    ["start", key, "prompt"],
    ["start", key, "continue"],
    ["send", "s", "steer"],
    ["send", "s", "follow_up"],
    ["abort", "s", "enough"],
    ["start", { ...key, id: "busy" }, "prompt"],
    ["events", "s", "position-7"],
  ]);
  assertEquals(await test.server.close(), { ended: 1, handedOver: 2 });
});
