import { assert, assertEquals, assertLess } from "@std/assert";
import fc from "fast-check";
import { defineTool } from "../../mod.ts";
import { durableAgent } from "../../src/durable/mod.ts";
import { durableRunner } from "../../src/server/durable/mod.ts";
import { reply, type ScriptedStep, toolCall } from "../../src/testing/mod.ts";
import {
  createGate,
  createModel,
  DurableWorkers,
  listEntries,
  type Worker,
} from "./durable_workers.ts";
import { createCounter, EventReader, type ServerEvent, TOKENS } from "./server_fixture.ts";

const isIdle = ({ type, data }: ServerEvent) => type === "state" && data.status === "idle";

Deno.test("durableRunner(): a run is described, steered, watched and ended through another worker", async () => {
  await using workers = new DurableWorkers();
  const { tool, begun, open } = createGate();
  const script = [reply([toolCall("work")]), reply("Done"), reply("Done, in short")];
  const agent = { streamFn: createModel(...script), tools: [tool] };
  const { test: first } = await workers.start({ agent });
  const { test: second } = await workers.start({ agent });
  const id = await first.create();
  const watching = await second.events(id);
  await watching.until(isIdle);
  const { eventId } = await first.prompt(id);
  await begun;
  const active = await second.json(200, "GET", `/v1/sessions/${id}`);
  assertEquals(active.status, "running");
  await second.json(409, "POST", `/v1/sessions/${id}/prompt`, { body: { text: "Again" } });
  await second.json(409, "DELETE", `/v1/sessions/${id}`);
  const steered = { body: { text: "Be short" } };
  const { id: messageId } = await second.json(202, "POST", `/v1/sessions/${id}/steer`, steered);
  open();
  const events = await watching.until(isIdle);
  const types = events.map(({ type, data }) => data.message?.id === messageId ? "steered" : type);
  assert(types.includes("steered") && types.includes("message_update"));
  await watching.close();
  // A client that has only the position of the prompt gets all of it, after the end.
  const late = await second.events(id, eventId);
  const all = await late.until(isIdle);
  assertEquals(toTexts(all), toTexts(events));
  await late.close();
  const entries = all.filter(({ type }) => type === "entry").map(({ data }) => data.id);
  assertEquals(["", ...entries].length, (await second.entries(id)).length);
  // The message arrives with the next look of the worker: before the second reply or after it.
  const roles = (await listEntries(first, id)).filter((name) => name !== "durable_run");
  assertEquals(roles.slice(0, 4), ["session_created", "user", "assistant", "tool_result"]);
  assertEquals(roles.filter((name) => name === "user").length, 2);
  assertEquals(roles.at(-1), "run_ended");
});

function toTexts(events: readonly ServerEvent[]): string[] {
  return events.filter(({ type }) => type !== "state").map(({ type, data }) =>
    `${type} ${JSON.stringify(data)}`
  );
}

Deno.test("durableRunner(): an approval waits for a client of any worker, and the run continues", async () => {
  await using workers = new DurableWorkers();
  const calls: string[] = [];
  const agent = {
    streamFn: createModel(
      reply([toolCall("count", { what: "sheep" }, { id: "call_1" })]),
      reply("Counted"),
    ),
    tools: [createCounter(calls)],
    approve: () => ({ type: "pending" } as const),
  };
  const { test: first } = await workers.start({ agent });
  const { test: second } = await workers.start({ agent });
  const id = await first.create();
  const watching = await second.events(id);
  await first.prompt(id);
  const isWaiting = ({ type, data }: ServerEvent) =>
    type === "state" && data.status === "awaiting_approval";
  const waiting = (await watching.until(isWaiting)).at(-1);
  const pending = [{ toolCallId: "call_1", name: "count", arguments: { what: "sheep" } }];
  assertEquals(waiting?.data.pendingApprovals, pending);
  const listed = await second.json(200, "GET", `/v1/sessions/${id}/approvals`);
  assertEquals(listed.pendingApprovals, pending);
  const wrong = { body: { decisions: { call_2: { type: "approved" } } } };
  await second.json(400, "POST", `/v1/sessions/${id}/approvals`, wrong);
  assertEquals(calls, []);
  const decisions = { call_1: { type: "approved" } };
  await second.json(202, "POST", `/v1/sessions/${id}/approvals`, { body: { decisions } });
  await watching.until(isIdle);
  assertEquals(calls, ["sheep"]);
  await second.json(409, "POST", `/v1/sessions/${id}/approvals`, { body: { decisions } });
  await watching.close();
});

Deno.test("durableRunner(): a tenant that has no further run left can approve the call of its run", async () => {
  await using workers = new DurableWorkers();
  const calls: string[] = [];
  const agent = {
    streamFn: createModel(
      reply([toolCall("count", { what: "sheep" }, { id: "call_1" })]),
      reply("Counted"),
    ),
    tools: [createCounter(calls)],
    approve: () => ({ type: "pending" } as const),
  };
  const { test } = await workers.start({ agent, server: { limits: { concurrentRuns: 1 } } });
  const id = await test.create();
  const watching = await test.events(id);
  await test.prompt(id);
  await watching.until(({ data }) => data.status === "awaiting_approval");
  const other = await test.create();
  await test.json(429, "POST", `/v1/sessions/${other}/prompt`, { body: { text: "Hello" } });
  const decisions = { call_1: { type: "approved" } };
  await test.json(202, "POST", `/v1/sessions/${id}/approvals`, { body: { decisions } });
  await watching.until(isIdle);
  await watching.close();
  assertEquals(calls.length, 1);
});

Deno.test("durableRunner(): a run that continues with a message which has arrived at its end is still aborted", async () => {
  await using workers = new DurableWorkers();
  const { tool, begun } = createGate();
  const streamFn = createModel(reply("Done"), reply([toolCall("work")]));
  let isSent = false;
  const { test } = await workers.start({
    agent: {},
    runner: {
      createAgent: ({ id }, steps) => {
        const agent = durableAgent({ model: "test/model", streamFn, tools: [tool] }, steps);
        // The message arrives before the end of the run is saved, and is delivered with it.
        agent.subscribe(async ({ type }) => {
          if (type !== "agent_end" || isSent) return;
          isSent = true;
          await test.json(202, "POST", `/v1/sessions/${id}/follow_up`, { body: { text: "More" } });
        });
        return agent;
      },
    },
  });
  const id = await test.create();
  await test.prompt(id);
  await begun;
  const aborted = await test.json(202, "POST", `/v1/sessions/${id}/abort`, { body: {} });
  assertEquals(aborted, { aborted: true });
  const watching = await test.events(id);
  await watching.until(isIdle);
  await watching.close();
});

Deno.test("durableRunner(): an abort through another worker ends the run in order", async () => {
  await using workers = new DurableWorkers();
  const { tool, begun } = createGate();
  const agent = { streamFn: createModel(reply([toolCall("work")])), tools: [tool] };
  const { test: first } = await workers.start({ agent });
  const { test: second } = await workers.start({ agent });
  const id = await first.create();
  const watching = await second.events(id);
  await first.prompt(id);
  await begun;
  const { aborted } = await second.json(202, "POST", `/v1/sessions/${id}/abort`, { body: {} });
  assertEquals(aborted, true);
  const events = await watching.until(isIdle);
  const end = events.find(({ data }) => data.type === "run_ended");
  assertEquals(end?.data.stopReason, "aborted");
  const idle = await first.json(202, "POST", `/v1/sessions/${id}/abort`, { body: {} });
  assertEquals(idle.aborted, false);
  await second.json(409, "POST", `/v1/sessions/${id}/steer`, { body: { text: "Too late" } });
  await watching.close();
});

Deno.test("durableRunner(): messages that an aborted run has not delivered stay queued for the next one", async () => {
  await using workers = new DurableWorkers();
  const { tool, begun, open } = createGate();
  const streamFn = createModel(reply([toolCall("work")]), reply("First"), reply("Second"));
  const { test } = await workers.start({ agent: { streamFn, tools: [tool] } });
  const id = await test.create();
  await test.prompt(id);
  await begun;
  const queued = { body: { text: "And then?" } };
  const { id: messageId } = await test.json(202, "POST", `/v1/sessions/${id}/follow_up`, queued);
  await test.json(202, "POST", `/v1/sessions/${id}/abort`, { body: {} });
  open();
  await test.waitForIdle(id);
  const session = await test.json(200, "GET", `/v1/sessions/${id}`);
  const ids = session.queued.followUp.map(({ message }: { message: { id: string } }) => message.id);
  assertEquals(ids, [messageId]);
  const { messageId: promptId } = await test.prompt(id, "Go on");
  await test.waitForIdle(id);
  const users = (await test.entries(id)).flatMap(({ message }) =>
    message?.role === "user" ? [message.id] : []
  );
  assertEquals(users.slice(1), [promptId, messageId]);
  const ended = await test.json(200, "GET", `/v1/sessions/${id}`);
  assertEquals(ended.queued, { steering: [], followUp: [] });
});

Deno.test("durableRunner(): a client that connects again gets the events of the first run since", async () => {
  await using workers = new DurableWorkers();
  const agent = { streamFn: createModel(reply("One"), reply("Two parts of it")) };
  const { test: first } = await workers.start({ agent });
  const { test: second } = await workers.start({ agent });
  const id = await first.create();
  // One client comes before all runs, and one when the session has a run already.
  for (let run = 1; run <= 2; run++) {
    const watching = await first.events(id);
    const known = (await watching.until(isIdle)).at(-1)?.id;
    await first.prompt(id);
    const events = await watching.until(isIdle);
    await watching.close();
    const again = await second.events(id, known);
    const missed = await again.until(isIdle);
    await again.close();
    assert(missed.some(({ type }) => type === "message_update"));
    assertEquals(toTexts(missed), toTexts(events));
  }
});

Deno.test("durableRunner(): a client that connects again to any worker misses no event, also after the end of a worker", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 4, maxLength: 12 }),
      fc.integer({ min: 0, max: 5 }),
      async (cuts, kill) => {
        await using workers = new DurableWorkers();
        const agent = { streamFn: createModel(...createLongScript()), tools: [quickTool] };
        const active = [await workers.start({ agent }), await workers.start({ agent })];
        const id = await getWorker(active, 0).test.create();
        const { eventId } = await getWorker(active, 0).test.prompt(id);
        const events: ServerEvent[] = [];
        let last = eventId;
        for (const [index, cut] of [...cuts, Infinity].entries()) {
          if (index === kill) {
            await workers.kill(getWorker(active, 0));
            active[0] = await workers.start({ agent });
          }
          const reader = await getWorker(active, index).test.events(id, last);
          let count = 0;
          const read = await reader.until((event) => {
            last = event.id ?? last;
            return isIdle(event) || ++count >= cut;
          });
          events.push(...read);
          await reader.close();
          if (read.some(isIdle)) break;
        }
        const { test } = getWorker(active, 1);
        const complete = await test.events(id, eventId);
        const expected = await complete.until(isIdle);
        await complete.close();
        assertEquals(toTexts(events), toTexts(expected));
        assert(events.some(isIdle));
        const ended = events.flatMap(({ type, data }) =>
          type === "message_end" ? [data.message.id] : []
        );
        assertEquals([ended.length, new Set(ended).size], [7, 7]);
        const log = await test.entries(id);
        const entries = events.filter(({ type }) => type === "entry").map(({ data }) => data.id);
        assertEquals(entries, log.slice(1).map(({ id }) => id));
      },
    ),
    { numRuns: 20 },
  );
});

function getWorker(workers: readonly Worker[], index: number): Worker {
  const worker = workers[index % workers.length];
  assert(worker);
  return worker;
}

const quickTool = defineTool({
  name: "work",
  description: "Works.",
  parameters: { type: "object" },
  sideEffect: "idempotent",
  execute: () => "worked",
});

function createLongScript(): ScriptedStep[] {
  return [
    reply([toolCall("work"), toolCall("work")]),
    reply([{ type: "text", text: "One more, in several parts." }, toolCall("work")]),
    reply("The answer, which has several parts, so that it is streamed as such."),
  ];
}

Deno.test("durableRunner(): sessions and runs of a tenant do not exist for another one", async () => {
  await using workers = new DurableWorkers();
  const { tool, begun, open } = createGate();
  const streamFn = createModel(reply([toolCall("work", {})]), reply("the secret answer"));
  const { test } = await workers.start({ agent: { streamFn, tools: [tool] } });
  const victim = await test.create({ title: "the secret title" });
  const own = await test.create({}, TOKENS.zoo);
  const { eventId } = await test.prompt(victim, "the secret prompt");
  await begun;
  const call = (method: string, path: string, body?: unknown) =>
    test.call(method, `/v1/sessions/${path}`, { token: TOKENS.zoo, body });
  const decisions = { call_1: { type: "approved" } };
  const attempts = await Promise.all([
    ...["", "/entries", "/events", "/approvals"].map((path) => call("GET", victim + path)),
    ...["prompt", "steer", "follow_up"].map((path) =>
      call("POST", `${victim}/${path}`, { text: "Mine" })
    ),
    ...["continue", "abort"].map((path) => call("POST", `${victim}/${path}`, {})),
    call("POST", `${victim}/approvals`, { decisions }),
    call("DELETE", victim),
  ]);
  for (const response of attempts) {
    assertEquals(response.status, 404);
    assert(!(await response.text()).includes("secret"));
  }
  // The position of a client names the run whose events follow.
  const [, live] = eventId.split("~");
  for (const after of [`0-~${live}`, `${eventId}`, `0-~${live?.replace("-0", "-3")}`]) {
    const query = `/v1/sessions/${own}/events?after=${encodeURIComponent(after)}`;
    const response = await test.call("GET", query, { token: TOKENS.zoo });
    const events = new EventReader(response);
    const found = await events.until(isIdle);
    assert(!JSON.stringify(found).includes("secret"), JSON.stringify(found));
    assert(!found.some(({ type }) => type === "agent_start"));
    await events.close();
  }
  open();
  await test.waitForIdle(victim);
});

Deno.test("durableRunner(): policies of limits are refused, since other processes would not apply them", async () => {
  await using workers = new DurableWorkers();
  const errors: unknown[] = [];
  const { test } = await workers.start({
    agent: { streamFn: createModel(reply("Done")) },
    server: {
      limits: { policies: [{ name: "budget" }] },
      onError: (error) => void errors.push(error),
    },
  });
  const id = await test.create();
  await test.json(500, "POST", `/v1/sessions/${id}/prompt`, { body: { text: "Hello" } });
  assertEquals(errors.length, 1);
});

Deno.test("durableRunner(): a worker that is shut down hands its runs over", async () => {
  await using workers = new DurableWorkers();
  const { tool, begun, open } = createGate();
  const agent = { streamFn: createModel(reply([toolCall("work")]), reply("Done")), tools: [tool] };
  const first = await workers.start({ agent });
  const { test: second } = await workers.start({ agent });
  const id = await first.test.create();
  const { eventId } = await first.test.prompt(id);
  await begun;
  assertEquals(await first.test.server.close(), { ended: 0, handedOver: 1 });
  await first.test.json(503, "POST", `/v1/sessions/${id}/steer`, { body: { text: "Hello" } });
  const closing = first.engine.close();
  open();
  await closing;
  const reader = await second.events(id, eventId);
  const events = await reader.until(isIdle);
  assert(events.some(({ data }) => data.type === "run_ended" && data.stopReason === "stop"));
  await reader.close();
});

Deno.test("durableRunner(): a session that is deleted while its run works does not come back", async () => {
  await using workers = new DurableWorkers();
  const { tool, begun, open } = createGate();
  const streamFn = createModel(reply([toolCall("work")]), reply("Done"));
  const { test } = await workers.start({ agent: { streamFn, tools: [tool] } });
  const id = await test.create();
  await test.prompt(id);
  await begun;
  const { runId } = await test.json(200, "GET", `/v1/sessions/${id}`);
  // As by an application that deletes the data of a user.
  await workers.store.delete(id);
  open();
  const { engine } = await workers.start({ agent: { streamFn, tools: [tool] } });
  await engine.getRun(runId).result().catch(() => {});
  assertEquals((await workers.store.list()).length, 0);
});

Deno.test("durableRunner(): runs sessions without a tenant, of callers on the machine", async () => {
  await using workers = new DurableWorkers();
  const { test } = await workers.start({
    agent: { streamFn: createModel(reply("Done")) },
    server: { authenticate: undefined },
  });
  const id = await test.create({}, "");
  const call = { token: "", body: { text: "Hello" } };
  const { eventId } = await test.json(202, "POST", `/v1/sessions/${id}/prompt`, call);
  const events = await test.events(id, eventId);
  const found = await events.until(isIdle);
  assert(found.some(({ data }) => data.type === "run_ended"));
  await events.close();
});

Deno.test("durableRunner(): a position that a run has not reached gives the state instead of a failure", async () => {
  await using workers = new DurableWorkers();
  const { test } = await workers.start({ agent: { streamFn: createModel(reply("Done")) } });
  const id = await test.create();
  const { eventId } = await test.prompt(id);
  await test.waitForIdle(id);
  for (const seq of ["999999999999999", "4294967296", "1000"]) {
    const reader = await test.events(id, eventId.replace(/-\d+$/, `-${seq}`));
    const events = await reader.until(isIdle);
    assert(events.some(({ type, data }) => type === "entry" && data.type === "run_ended"));
    await reader.close();
  }
});

Deno.test("durableRunner(): a client that does not read holds few large events in memory", async () => {
  await using workers = new DurableWorkers();
  const tool = defineTool({
    name: "read",
    description: "Reads.",
    parameters: { type: "object" },
    readOnly: true,
    execute: () => "x".repeat(200_000),
  });
  const calls = Array.from({ length: 10 }, () => reply([toolCall("read")]));
  const agent = { streamFn: createModel(...calls, reply("Done")), tools: [tool] };
  const { test, engine } = await workers.start({ agent });
  const id = await test.create();
  const { eventId: after } = await test.prompt(id);
  await test.waitForIdle(id);
  const { store } = workers;
  const runner = durableRunner({
    engine,
    store,
    name: "reader",
    createAgent: () => undefined as never,
  });
  const { signal } = new AbortController();
  const feed = await runner.events({ id, tenant: "acme" }, { after, signal, ending: signal });
  const types: string[] = [];
  for await (const batch of feed) {
    const lengths = batch.slice(0, -1).map(({ data }) => data.length);
    assertLess(lengths.reduce((sum, length) => sum + length, 0), 1_000_000);
    types.push(...batch.map(({ type }) => type));
    if (types.includes("agent_end") && types.at(-1) === "state") break;
  }
  assertEquals(types.filter((type) => type === "tool_execution_end").length, 10);
});
