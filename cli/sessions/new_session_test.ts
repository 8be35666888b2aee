import { assertEquals } from "@std/assert";
import { Agent, type AgentEvent } from "../../mod.ts";
import { FileSessionStore } from "../../src/memory/mod.ts";
import { hang, reply, type ScriptedStep, scriptedStream } from "../../src/testing/mod.ts";
import { createTemporaryDirectory } from "../../tests/cli/temporary_directory.ts";
import { NewSession } from "./new_session.ts";

/** Runs a prompt of an agent with a new session; returns what the store has when events arrive and at the end. */
async function run(step: ScriptedStep, onEvent: (event: AgentEvent, agent: Agent) => void) {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const directories = { config: `${home.path}/config`, state: `${home.path}/state` };
  const store = new FileSessionStore({ directory: `${home.path}/state/sessions` });
  const agent = new Agent({ model: "any/model", streamFn: scriptedStream([step]) });
  const session = new NewSession({ cwd: `${home.path}/p`, directories, id: "new" });
  const counts: (readonly [type: string, sessions: number])[] = [];
  agent.subscribe(async (event) => {
    counts.push([event.type, (await store.list()).length]);
    onEvent(event, agent);
  });
  await session.attach(agent);
  await agent.prompt("Hello");
  const { id, warnings } = await session.describe();
  await session[Symbol.asyncDispose]();
  await using stored = await store.open("new", { access: "read" });
  const types = (await stored.path()).map((entry) =>
    entry.type === "message" ? entry.message.role : entry.type
  );
  return { id, warnings, counts, types: types.sort() };
}

Deno.test("NewSession: is created when the reply begins, with all that came before", async () => {
  const { id, warnings, counts, types } = await run(reply("Hi."), () => {});
  assertEquals([id, warnings], ["new", []]);
  const created = counts.findIndex(([, sessions]) => sessions > 0);
  assertEquals(counts[created - 1]?.[0], "message_update");
  assertEquals(types, ["assistant", "model_changed", "run_ended", "tools_changed", "user"]);
});

Deno.test("NewSession: has the prompt of a run that is aborted before the reply", async () => {
  const { types } = await run(hang(), (event, agent) => {
    if (event.type === "model_call_start") agent.abort();
  });
  assertEquals(types, ["model_changed", "run_ended", "tools_changed", "user"]);
});

Deno.test("NewSession: one that cannot be written is a warning, and the run continues", async () => {
  await using home = await createTemporaryDirectory({ "state": "a file" });
  const directories = { config: `${home.path}/config`, state: `${home.path}/state` };
  const agent = new Agent({ model: "any/model", streamFn: scriptedStream([reply("Hi.")]) });
  await using session = new NewSession({ cwd: home.path, directories });
  await session.attach(agent);
  assertEquals((await agent.prompt("Hello")).text, "Hi.");
  const { id, warnings } = await session.describe();
  assertEquals([id, warnings.length], [undefined, 1]);
});

Deno.test("NewSession: a run without a reply creates none", async () => {
  await using home = await createTemporaryDirectory();
  const directories = { config: `${home.path}/config`, state: `${home.path}/state` };
  const session = new NewSession({ cwd: home.path, directories });
  await session.attach(new Agent({ model: "any/model", streamFn: scriptedStream([]) }));
  await session[Symbol.asyncDispose]();
  assertEquals([...Deno.readDirSync(home.path)], []);
});
