/**
 * The sessions of `swink acp`, and their directories.
 *
 * @module
 */

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { FileSessionStore } from "../../src/memory/mod.ts";
import { scriptedCall, scriptedReply } from "./fake_host.ts";
import { startEditor } from "./test_editor.ts";

const WRITE = scriptedReply(scriptedCall("write_file", { path: "a.txt", content: "two\n" }));
const DONE = scriptedReply("Done.");

Deno.test("swink acp: sessions are saved, listed, loaded with their history, resumed and deleted", async () => {
  await using editor = await startEditor({ model: [WRITE, DONE, DONE, DONE] });
  const { client, path } = editor;
  const sessionId = await client.createSession();
  const unused = await client.createSession();
  await client.prompt(sessionId, "Change it");
  const title = await client.untilUpdate("session_info_update");
  assertEquals(title.title, "Change it");
  for (const id of [sessionId, unused]) {
    await client.agent.request("session/close", { sessionId: id });
  }
  const { sessions } = await client.agent.request("session/list", { cwd: path });
  assertEquals(sessions.map(({ sessionId, cwd, title }) => ({ sessionId, cwd, title })), [
    { sessionId, cwd: path, title: "Change it" },
  ]);
  client.updates.splice(0);
  await client.agent.request("session/load", { sessionId, cwd: path, mcpServers: [] });
  const kinds = client.updates.map(({ sessionUpdate }) => sessionUpdate);
  assertEquals(kinds.slice(0, 4), [
    "user_message_chunk",
    "tool_call",
    "tool_call_update",
    "agent_message_chunk",
  ]);
  const result = client.updates[2];
  assertEquals(result?.sessionUpdate === "tool_call_update" && result.content, [
    { type: "diff", path: `${path}/a.txt`, oldText: "one\n", newText: "two\n" },
  ]);
  await client.prompt(sessionId, "And now?");
  await client.agent.request("session/close", { sessionId });
  client.updates.splice(0);
  await client.agent.request("session/resume", { sessionId, cwd: path, mcpServers: [] });
  await client.prompt(sessionId, "Once more");
  const last = JSON.parse(editor.host.requests.at(-1)?.body ?? "{}");
  assertEquals(last.messages.length, 7);
  await client.agent.request("session/delete", { sessionId });
  const after = await client.agent.request("session/list", {});
  assertEquals(after.sessions, []);
  const missing = { sessionId, cwd: path, mcpServers: [] };
  await assertRejects(() => client.agent.request("session/load", missing), Error, "no session");
});

Deno.test("swink acp: a session that is loaded keeps its mode", async () => {
  await using editor = await startEditor({ model: [DONE] });
  const { client, path } = editor;
  const sessionId = await client.createSession();
  await client.agent.request("session/set_mode", { sessionId, modeId: "plan" });
  await client.prompt(sessionId, "Hello");
  await client.agent.request("session/close", { sessionId });
  const loaded = await client.agent.request("session/load", {
    sessionId,
    cwd: path,
    mcpServers: [],
  });
  assertEquals(loaded.modes?.currentModeId, "plan");
});

Deno.test("swink acp: a directory that does not exist, the home directory, and a missing model are errors of the session", async () => {
  await using editor = await startEditor({ env: { ANTHROPIC_API_KEY: "" } });
  const { client, path, home } = editor;
  const create = (cwd: string) => client.agent.request("session/new", { cwd, mcpServers: [] });
  await assertRejects(
    () => create(`${path}/none`),
    Error,
    `Invalid value "${path}/none" for cwd: the directory does not exist`,
  );
  await assertRejects(() => create("p"), Error, "cwd must be an absolute path");
  await assertRejects(
    () => create(home),
    Error,
    `The directory "${home}" contains the home directory: open the directory of a project, or add --allow-home to the command of the agent`,
  );
  const error = await assertRejects(() => create(path), Error, "swink login");
  assertEquals((error as Error & { code?: number }).code, -32000);
  assertEquals(client.initialized.authMethods?.[0]?.name, "swink login");
});

Deno.test("swink acp: further directories must exist, and contain the home directory only if that is allowed", async () => {
  const open = async (args: readonly string[], directories: readonly string[]) => {
    await using editor = await startEditor({ args });
    const { client, path: cwd, home } = editor;
    const additionalDirectories = directories.map((path) => path.replace("HOME", home));
    const params = { cwd, mcpServers: [], additionalDirectories };
    return await client.agent.request("session/new", params).then(
      () => "opened",
      (error: Error) => error.message.replaceAll(home, "HOME"),
    );
  };
  for (const path of ["/", "HOME", "HOME/p/.."]) {
    const text = await open([], ["HOME/p", path]);
    assertStringIncludes(text, `The directory "${path}" contains the home directory`);
  }
  assertEquals(await open(["--allow-home"], ["HOME"]), "opened");
  assertEquals(await open([], ["HOME/p"]), "opened");
  assertEquals(await open([], ["."]), 'additionalDirectories must be an absolute path, not "."');
  const missing = await open([], ["HOME/none"]);
  assertEquals(
    missing,
    'Invalid value "HOME/none" for additionalDirectories: the directory does not exist',
  );
});

Deno.test("swink acp: a session that another program has open cannot be loaded, without advice about a command line", async () => {
  await using editor = await startEditor({ model: [DONE] });
  const { client, path: cwd, home } = editor;
  const sessionId = await client.createSession();
  await client.prompt(sessionId, "Hello");
  await client.agent.request("session/close", { sessionId });
  const store = new FileSessionStore({ directory: `${home}/.local/state/swink/sessions` });
  await using _other = await store.open(sessionId);
  const load = () => client.agent.request("session/load", { sessionId, cwd, mcpServers: [] });
  const { message } = await assertRejects(load, Error, "is open in");
  assert(!message.includes("--"), message);
});

Deno.test("swink acp: sends a session to no other server than that of --base-url", async () => {
  const env = { ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k" };
  await using editor = await startEditor({ model: [DONE], env });
  const { client, path: cwd, home } = editor;
  const sessionId = await client.createSession();
  await client.prompt(sessionId, "Hello");
  const store = new FileSessionStore({ directory: `${home}/.local/state/swink/sessions` });
  const useServer = async (provider: string) => {
    await client.agent.request("session/close", { sessionId });
    await using session = await store.open(sessionId);
    const data = { provider, baseUrl: "https://own.test/v1" };
    session.append({ type: "custom", name: "base_url", data });
  };
  const load = () => client.agent.request("session/load", { sessionId, cwd, mcpServers: [] });
  const error = "used the server at https://own.test/v1, and no option";
  await useServer("openai");
  const { configOptions } = await load();
  const models = configOptions?.find(({ id }) => id === "model");
  assert(models?.type === "select");
  const value = models.options.flatMap((option) => "value" in option ? [option.value] : [])
    .find((value) => value.startsWith("openai/"));
  assert(value);
  const select = () =>
    client.agent.request("session/set_config_option", { sessionId, configId: "model", value });
  await assertRejects(select, Error, error);
  await useServer("anthropic");
  await assertRejects(load, Error, error);
});
