import { assertEquals, assertMatch } from "@std/assert";
import { BadRequestError } from "../../mod.ts";
import { durableAgent } from "../../src/durable/mod.ts";
import { reply, toolCall } from "../../src/testing/mod.ts";
import { createGate, createModel, DurableWorkers, listEntries } from "./durable_workers.ts";
import { type TestServer, TOKENS } from "./server_fixture.ts";

Deno.test("durableRunner(): a prompt that is sent again with its key starts no second run, on any worker", async () => {
  await using workers = new DurableWorkers();
  const { tool, begun, open } = createGate();
  const agent = { streamFn: createModel(reply([toolCall("work")]), reply("Done")), tools: [tool] };
  const { test: first } = await workers.start({ agent });
  const { test: second } = await workers.start({ agent });
  const id = await first.create();
  const send = (test: TestServer, status: number, text: string) =>
    test.json(status, "POST", `/v1/sessions/${id}/prompt`, {
      body: { text },
      headers: { "idempotency-key": "key-1" },
    });
  const started = await send(first, 202, "Hello");
  await begun;
  const during = await send(second, 200, "Hello");
  assertEquals(during.messageId, started.messageId);
  assertEquals(during.eventId, started.eventId);
  await send(second, 422, "Another text");
  open();
  await second.waitForIdle(id);
  assertEquals(await send(second, 200, "Hello"), during);
  await send(first, 422, "Another text");
});

Deno.test("durableRunner(): of prompts that are sent to several workers at once, one starts a run", async () => {
  await using workers = new DurableWorkers();
  const { tool, open } = createGate();
  const agent = { streamFn: createModel(reply([toolCall("work")]), reply("Done")), tools: [tool] };
  const { test: first } = await workers.start({ agent });
  const { test: second } = await workers.start({ agent });
  const id = await first.create();
  const responses = await Promise.all(
    [first, second, first, second].map((test, index) =>
      test.call("POST", `/v1/sessions/${id}/prompt`, { body: { text: `Prompt ${index}` } })
    ),
  );
  assertEquals(responses.map(({ status }) => status).toSorted(), [202, 409, 409, 409]);
  for (const response of responses) await response.body?.cancel();
  open();
  await second.waitForIdle(id);
  const entries = await listEntries(first, id);
  assertEquals(entries.filter((name) => name === "user").length, 1);
});

Deno.test("durableRunner(): a prompt that is sent with its key to several workers at once is the same for all", async () => {
  await using workers = new DurableWorkers();
  const { tool, open } = createGate();
  const agent = { streamFn: createModel(reply([toolCall("work")]), reply("Done")), tools: [tool] };
  const { test: first } = await workers.start({ agent });
  const { test: second } = await workers.start({ agent });
  const id = await first.create();
  const send = async (test: TestServer, text: string) => {
    const headers = { "idempotency-key": "key-1" };
    const options = { body: { text }, headers };
    const response = await test.call("POST", `/v1/sessions/${id}/prompt`, options);
    return { status: response.status, ...await response.json() };
  };
  const tests = [first, second, first, second];
  const responses = await Promise.all(tests.map((test) => send(test, "Hello")));
  assertEquals(responses.map(({ status }) => status).toSorted(), [200, 200, 200, 202]);
  assertEquals(new Set(responses.map(({ messageId }) => messageId)).size, 1);
  assertEquals((await send(second, "Another text")).status, 422);
  open();
  await second.waitForIdle(id);
});

Deno.test("durableRunner(): a run that cannot begin is an error of its request, and the session stays usable", async () => {
  await using workers = new DurableWorkers();
  const errors: unknown[] = [];
  let isBroken = true;
  const agent = { streamFn: createModel(reply("Done")) };
  const { test } = await workers.start({
    agent,
    server: { onError: (error) => void errors.push(error) },
    runner: {
      createAgent: (_session, steps) => {
        if (isBroken) throw new Error("no model");
        return durableAgent({ model: "test/model", ...agent }, steps);
      },
      preparePrompt: (message) => {
        if (JSON.stringify(message).includes("refused")) throw new BadRequestError("Not this");
        return message;
      },
    },
  });
  const id = await test.create();
  const prompt = (status: number, text: string) =>
    test.json(status, "POST", `/v1/sessions/${id}/prompt`, { body: { text } });
  await prompt(500, "Hello");
  assertEquals(errors.length, 1);
  await prompt(400, "refused");
  isBroken = false;
  await prompt(202, "Hello");
  await test.waitForIdle(id);
  await test.json(409, "POST", `/v1/sessions/${id}/continue`, { body: {} });
});

Deno.test("durableRunner(): the error of a run that fails after its begin is reported, and the session stays usable", async () => {
  await using workers = new DurableWorkers();
  const errors: unknown[] = [];
  let isBroken = true;
  const agent = { streamFn: createModel(reply("Done")) };
  const { test } = await workers.start({
    agent,
    server: { onError: (error) => void errors.push(error) },
    runner: {
      createAgent: (_session, steps) => {
        const created = durableAgent({ model: "test/model", ...agent }, steps);
        if (isBroken) created.prompt = () => Promise.reject(new Error("The tenant was removed"));
        return created;
      },
    },
  });
  const id = await test.create();
  await test.prompt(id);
  await test.waitForIdle(id);
  while (errors.length === 0) await new Promise((resolve) => setTimeout(resolve));
  assertMatch(String(errors), /The tenant was removed/);
  const metrics = await (await test.call("GET", "/metrics", { token: TOKENS.operator })).text();
  assertMatch(metrics, /swink_runs_ended_total\{stop_reason="error"\} 1/);
  isBroken = false;
  await test.prompt(id);
  await test.waitForIdle(id);
  assertEquals((await listEntries(test, id)).at(-1), "run_ended");
});
