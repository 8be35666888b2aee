import { assertEquals } from "@std/assert";
import { Agent, type AgentEvent } from "../../mod.ts";
import { FileSessionStore } from "../../src/memory/mod.ts";
import { pathExists } from "../../src/platform/path_exists.ts";
import { hang, reply, type ScriptedStep, scriptedStream } from "../../src/testing/mod.ts";
import { createTemporaryDirectory } from "../../tests/cli/temporary_directory.ts";
import { waitUntil } from "../../tests/wait_until.ts";
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
  return { id, warnings, counts, types: await listTypes(store) };
}

async function listTypes(store: FileSessionStore): Promise<string[]> {
  await using stored = await store.open("new", { access: "read" });
  const types = (await stored.path()).map((entry) =>
    entry.type === "message" ? entry.message.role : entry.type
  );
  return types.sort();
}

Deno.test("NewSession: is created when the reply begins, with all that came before", async () => {
  const { id, warnings, counts, types } = await run(reply("Hi."), () => {});
  assertEquals([id, warnings], ["new", []]);
  const names = counts.map(([type]) => type);
  const request = names.indexOf("model_call_start");
  const begun = names.indexOf("message_update");
  assertEquals(counts.slice(0, request + 1).filter(([, sessions]) => sessions > 0), []);
  assertEquals(counts[begun + 1]?.[1], 1);
  assertEquals(types, ["assistant", "model_changed", "run_ended", "tools_changed", "user"]);
});

Deno.test("NewSession: has the prompt of a run that is aborted before the reply", async () => {
  const { types } = await run(hang(), (event, agent) => {
    if (event.type === "model_call_start") agent.abort();
  });
  assertEquals(types, ["model_changed", "run_ended", "tools_changed", "user"]);
});

Deno.test("NewSession: has the prompt while the reply does not begin, and later the run", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const directories = { config: `${home.path}/config`, state: `${home.path}/state` };
  const store = new FileSessionStore({ directory: `${home.path}/state/sessions` });
  const agent = new Agent({ model: "any/model", streamFn: scriptedStream([hang()]) });
  const session = new NewSession({ cwd: `${home.path}/p`, directories, id: "new" });
  await session.attach(agent);
  const run = agent.prompt("Hello");
  const file = `${home.path}/state/sessions/new.jsonl`;
  await waitUntil(() => pathExists(file) && Deno.readTextFileSync(file).includes("Hello"));
  assertEquals(await listTypes(store), ["model_changed", "tools_changed", "user"]);
  agent.abort();
  await run;
  await session[Symbol.asyncDispose]();
  assertEquals(await listTypes(store), ["model_changed", "run_ended", "tools_changed", "user"]);
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
