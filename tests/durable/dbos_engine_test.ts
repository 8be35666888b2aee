import { assertEquals } from "@std/assert";
import { defineTool } from "../../mod.ts";
import { createDeferred } from "../../src/core/ports/deferred.ts";
import { DbosEngine } from "../../src/durable/dbos/mod.ts";
import { durableAgent } from "../../src/durable/mod.ts";
import { testDurableEngine } from "../../src/testing/durable_conformance.ts";
import { reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";
import { POSTGRES_DIRECTORY, startPostgres } from "../memory/postgres_server.ts";
import { testDurableAgent } from "./agent_scenarios.ts";

const server = POSTGRES_DIRECTORY === undefined ? undefined : await startPostgres();
Deno.test.afterAll(() => server?.stop());
const databaseUrl = server?.url ?? "";

const register = (name: string, fn: () => void | Promise<void>) =>
  Deno.test({ name: `DbosEngine: ${name}`, ignore: !server, fn });
const createFixture = () => ({
  createEngine: () => new DbosEngine({ databaseUrl, recoveryMs: 50 }),
});

testDurableEngine(register, createFixture);
testDurableAgent(register, createFixture);

Deno.test({
  name: "DbosEngine: a run ends whatever characters a model, a step and its value have",
  ignore: !server,
  fn: async () => {
    const hostile = "a\0\ud800b";
    await using engine = new DbosEngine({ databaseUrl, recoveryMs: 50, name: "characters" });
    const chat = engine.register("chat", async (steps, prompt: string) => {
      const calls = reply([toolCall("known", { text: hostile }), toolCall(hostile, {})]);
      const streamFn = scriptedStream([calls, reply(hostile)]);
      const known = defineTool({
        name: "known",
        description: "Returns a text.",
        parameters: { type: "object" },
        execute: () => hostile,
      });
      const agent = durableAgent({ model: "test/model", streamFn, tools: [known] }, steps);
      const { text } = await agent.prompt(prompt);
      const value = await steps.run(hostile, () => hostile);
      await steps.publish({ [hostile]: hostile }, { key: hostile });
      return [text.startsWith("a\0"), value.startsWith("a\0")];
    });
    await engine.start();
    const run = await chat.start(hostile);
    const limit = createDeferred<string>();
    const timer = setTimeout(() => limit.resolve("hangs"), 5_000);
    assertEquals(await Promise.race([run.result(), limit.promise]), [true, true]);
    clearTimeout(timer);
    assertEquals((await run.readEvents()).length, 1);
  },
});
