/**
 * `swink acp`, driven by the client of the protocol's package.
 *
 * @module
 */

import type {
  NewSessionResponse,
  SessionUpdate,
  SetSessionConfigOptionResponse,
} from "@agentclientprotocol/sdk";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { ProgramDirectories } from "../../cli/host/program_directories.ts";
import { main } from "../../cli/main.ts";
import { getChangeDirectory } from "../../cli/sessions/session_directory.ts";
import type { ChangeLogEntry } from "../../src/tools/changes/change_log_entry.ts";
import { DirectoryChangeLogStore } from "../../src/tools/changes/directory_change_log_store.ts";
import { waitUntil } from "../wait_until.ts";
import { createFakeHost, type FakeHostOptions, scriptedCall, scriptedReply } from "./fake_host.ts";
import { GREETING_SERVER } from "./greeting_server.ts";
import { type Editor, startEditor } from "./test_editor.ts";

function readText(updates: readonly SessionUpdate[]): string {
  return updates.map((update) =>
    update.sessionUpdate === "agent_message_chunk" && update.content.type === "text"
      ? update.content.text
      : ""
  ).join("");
}

async function readChanges(home: string, sessionId: string): Promise<readonly ChangeLogEntry[]> {
  const directories = { state: `${home}/.local/state/swink` } as ProgramDirectories;
  return await new DirectoryChangeLogStore(await getChangeDirectory(directories, sessionId))
    .entries();
}

const WRITE = scriptedReply(scriptedCall("write_file", { path: "a.txt", content: "two\n" }));
const DONE = scriptedReply("Done.");
const CHANGE_AND_WAIT = scriptedReply(
  scriptedCall("bash", { command: "echo two > a.txt; sleep 60" }),
);

/** Cancels a prompt whose command has changed a file; returns the id of the session. */
async function cancelChange({ client, path }: Editor): Promise<string> {
  const sessionId = await client.createSession();
  const prompt = client.prompt(sessionId, "Change it");
  await waitUntil(() => Deno.readTextFileSync(`${path}/a.txt`) === "two\n");
  await client.agent.notify("session/cancel", { sessionId });
  assertEquals((await prompt).stopReason, "cancelled");
  return sessionId;
}

Deno.test("swink acp: a prompt changes a file after the user has seen the change", async () => {
  await using editor = await startEditor({ model: [WRITE, DONE] });
  const { client, path } = editor;
  const { stopReason } = await client.prompt(await client.createSession(), "Change it");
  assertEquals(stopReason, "end_turn");
  assertEquals(await Deno.readTextFile(`${path}/a.txt`), "two\n");
  const [request] = client.permissions;
  const diff = { type: "diff", path: `${path}/a.txt`, oldText: "one\n", newText: "two\n" } as const;
  assertEquals(request?.toolCall.content, [diff]);
  assertEquals(request?.toolCall.locations, [{ path: `${path}/a.txt` }]);
  const end = client.updates.find((update) =>
    update.sessionUpdate === "tool_call_update" && update.status === "completed"
  );
  assertEquals(end?.sessionUpdate === "tool_call_update" && end.content, [diff]);
  assertEquals(readText(client.updates), "Done.");
  const usage = await client.untilUpdate("usage_update");
  assert(usage.size > 0);
  assertEquals(await editor.end(), 0);
  assertEquals(editor.host.output, "");
});

Deno.test("swink acp: modes decide what is asked, and are settings too", async () => {
  const cases = [
    { mode: "default", asked: 1, text: "two\n" },
    { mode: "acceptEdits", asked: 0, text: "two\n" },
    { mode: "plan", asked: 0, text: "one\n" },
    { mode: "bypass", asked: 0, text: "two\n" },
  ];
  for (const { mode, asked, text } of cases) {
    await using editor = await startEditor({ model: [WRITE, DONE] });
    const { client, path } = editor;
    const session = await client.agent.request("session/new", { cwd: path, mcpServers: [] });
    const { sessionId, modes, configOptions } = session;
    assertEquals(modes?.availableModes.map(({ id }) => id), [
      "default",
      "acceptEdits",
      "plan",
      "bypass",
    ]);
    assertEquals(configOptions?.map(({ id, category }) => [id, category]), [
      ["mode", "mode"],
      ["model", "model"],
      ["effort", "thought_level"],
    ]);
    await client.agent.request("session/set_mode", { sessionId, modeId: mode });
    await client.prompt(sessionId, "Change it");
    assertEquals([mode, client.permissions.length], [mode, asked]);
    assertEquals([mode, await Deno.readTextFile(`${path}/a.txt`)], [mode, text]);
    const back = { sessionId, configId: "mode", value: "default" };
    const changed = await client.agent.request("session/set_config_option", back);
    const [first] = (changed as SetSessionConfigOptionResponse).configOptions;
    assertEquals(first?.currentValue, "default");
  }
});

Deno.test("swink acp: the option of the permissions is the first mode", async () => {
  await using editor = await startEditor({ args: ["--permission-mode", "acceptEdits"] });
  const { client, path } = editor;
  const { modes } = await client.agent.request("session/new", { cwd: path, mcpServers: [] });
  assertEquals(modes?.currentModeId, "acceptEdits");
});

Deno.test("swink acp: model and effort are settings", async () => {
  await using editor = await startEditor({ model: [DONE] });
  const { client, path, host } = editor;
  const session = await client.agent.request("session/new", { cwd: path, mcpServers: [] });
  const { sessionId, configOptions = [] } = session;
  const model = configOptions?.find(({ id }) => id === "model");
  assert(model?.type === "select");
  const values = model.options.flatMap((option) => "value" in option ? [option.value] : []);
  assert(values.length > 1 && values.every((value) => value.startsWith("anthropic/")));
  const value = values.find((value) => value !== model.currentValue) ?? "";
  const select = (configId: string, value: string) =>
    client.agent.request("session/set_config_option", { sessionId, configId, value });
  await select("model", value);
  await select("effort", "high");
  await client.prompt(sessionId, "Hello");
  const request = JSON.parse(host.requests[0]?.body ?? "{}");
  assertEquals(`anthropic/${request.model}`, value);
  assert(request.thinking !== undefined);
});

Deno.test("swink acp: commands of the program, of the user and of a trusted project are offered and run", async () => {
  await using editor = await startEditor({
    model: [DONE, DONE],
    args: ["--trust"],
    files: {
      "p/.swink/commands/fix.md": "---\ndescription: Fixes an issue\n---\nFix $ARGUMENTS now",
    },
  });
  const { client, host } = editor;
  const sessionId = await client.createSession();
  const { availableCommands } = await client.untilUpdate("available_commands_update");
  const names = availableCommands.map(({ name }) => name);
  for (const name of ["fix", "review", "compact", "context", "undo", "execute"]) {
    assert(names.includes(name), name);
  }
  assert(!names.includes("quit"));
  await client.prompt(sessionId, "/fix issue 3");
  assertStringIncludes(host.requests[0]?.body ?? "", "Fix issue 3 now");
  client.updates.splice(0);
  await client.prompt(sessionId, "/context");
  assertStringIncludes(readText(client.updates), "system prompt");
  assertEquals(host.requests.length, 1);
  client.updates.splice(0);
  await client.prompt(sessionId, "/usr/bin is a directory");
  assertEquals(host.requests.length, 2);
});

Deno.test("swink acp: /undo takes changes back, and failures of commands are answers", async () => {
  await using editor = await startEditor({ model: [WRITE, DONE] });
  const { client, path } = editor;
  const sessionId = await client.createSession();
  await client.prompt(sessionId, "Change it");
  await client.prompt(sessionId, "/undo");
  assertEquals(await Deno.readTextFile(`${path}/a.txt`), "one\n");
  client.updates.splice(0);
  const { stopReason } = await client.prompt(sessionId, "/execute");
  assertEquals(stopReason, "end_turn");
  assertStringIncludes(readText(client.updates), "plan");
});

Deno.test({
  name: "swink acp: /undo takes the changes of a command back that was cancelled",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using editor = await startEditor({
      model: [CHANGE_AND_WAIT],
      args: ["--approve-all"],
    });
    const { client, path } = editor;
    const sessionId = await cancelChange(editor);
    await client.prompt(sessionId, "/undo");
    assertEquals(await Deno.readTextFile(`${path}/a.txt`), "one\n");
  },
});

Deno.test({
  name: "swink acp: the changes of a cancelled command are not those of the prompt that follows",
  ignore: Deno.build.os === "windows",
  async fn() {
    const create = scriptedReply(scriptedCall("bash", { command: "echo new > b.txt" }));
    await using editor = await startEditor({
      model: [CHANGE_AND_WAIT, create, DONE],
      args: ["--approve-all"],
    });
    const { client, path } = editor;
    const sessionId = await cancelChange(editor);
    await client.prompt(sessionId, "Go on");
    await client.prompt(sessionId, "/undo");
    const names = Array.from(Deno.readDirSync(path), ({ name }) => name);
    assertEquals([names, await Deno.readTextFile(`${path}/a.txt`)], [["a.txt"], "two\n"]);
    await client.prompt(sessionId, "/undo");
    assertEquals(await Deno.readTextFile(`${path}/a.txt`), "one\n");
  },
});

Deno.test({
  name: "swink acp: the changes of a cancelled command are recorded before the program ends",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using editor = await startEditor({
      model: [CHANGE_AND_WAIT],
      args: ["--approve-all"],
    });
    const { path, home } = editor;
    const sessionId = await cancelChange(editor);
    await editor.end();
    const [entry] = await readChanges(home, sessionId);
    assertEquals(entry?.type === "change" && entry.path, `${path}/a.txt`);
  },
});

Deno.test("swink acp: a plan is written, shown, and carried out after approval", async () => {
  const update = (state: string) => scriptedReply(scriptedCall("update_step", { step: 1, state }));
  const plan = {
    title: "Add a file",
    context: "It is missing.",
    steps: [{ title: "Write b.txt", description: "", files: ["b.txt"], criteria: ["It exists."] }],
  };
  await using editor = await startEditor({
    model: [
      scriptedReply(scriptedCall("write_plan", plan)),
      scriptedReply("Planned."),
      update("in_progress"),
      scriptedReply(scriptedCall("write_file", { path: "b.txt", content: "b" })),
      update("done"),
      scriptedReply("All done."),
    ],
  });
  const { client, path } = editor;
  const sessionId = await client.createSession();
  await client.agent.request("session/set_mode", { sessionId, modeId: "plan" });
  await client.prompt(sessionId, "Plan it");
  const planned = await client.untilUpdate("plan");
  assertEquals(planned.entries, [
    { content: "Write b.txt", priority: "medium", status: "pending" },
  ]);
  client.updates.splice(0);
  client.answers.push("yes", "once", "once", "once");
  await client.prompt(sessionId, "/execute");
  const [question, write] = client.permissions;
  const { title, kind, status } = question?.toolCall ?? {};
  assertEquals([title, kind, status], ["Carry out this plan?", "other", "pending"]);
  assertEquals(question?.options, [
    { optionId: "yes", name: "Yes", kind: "allow_once" },
    { optionId: "no", name: "No", kind: "reject_once" },
  ]);
  assertStringIncludes(JSON.stringify(question?.toolCall.content), "Write b.txt");
  assertEquals(write?.toolCall.title, "write_file b.txt");
  assertEquals(await Deno.readTextFile(`${path}/b.txt`), "b");
  const states = client.updates.flatMap((update) =>
    update.sessionUpdate === "plan" ? [update.entries[0]?.status] : []
  );
  assertEquals(states, ["pending", "in_progress", "completed"]);
  assertStringIncludes(readText(client.updates), "Plan complete");
  const mode = client.updates.findLast(({ sessionUpdate }) =>
    sessionUpdate === "current_mode_update"
  );
  assertEquals(mode?.sessionUpdate === "current_mode_update" && mode.currentModeId, "default");
});

Deno.test("swink acp: files are read and written as the editor has them", async () => {
  const written: string[] = [];
  await using editor = await startEditor({
    model: [
      scriptedReply(scriptedCall("read_file", { path: "a.txt" })),
      scriptedReply(
        scriptedCall("edit_file", {
          path: "a.txt",
          edits: [{ old_string: "unsaved", new_string: "changed" }],
        }),
      ),
      DONE,
    ],
    client: (path) => ({
      files: new Map([[`${path}/a.txt`, "unsaved\n"]]),
      onWrite(file, content) {
        written.push(file);
        Deno.writeTextFileSync(file, content);
      },
    }),
  });
  const { client, path, host } = editor;
  await client.prompt(await client.createSession(), "Change it");
  assertStringIncludes(host.requests[1]?.body ?? "", "unsaved");
  assertEquals(written, [`${path}/a.txt`]);
  assertEquals(await Deno.readTextFile(`${path}/a.txt`), "changed\n");
});

Deno.test("swink acp: a file that the editor does not write is written on disk", async () => {
  await using editor = await startEditor({
    model: [WRITE, DONE],
    client: () => ({ files: new Map() }),
  });
  const { client, path } = editor;
  await client.prompt(await client.createSession(), "Change it");
  assertEquals(await Deno.readTextFile(`${path}/a.txt`), "two\n");
});

Deno.test("swink acp: commands run in the sandbox, and in a terminal of the editor only without one", async () => {
  for (const sandbox of ["auto", "off"]) {
    const commands: string[] = [];
    const ended: string[] = [];
    await using editor = await startEditor({
      args: ["--sandbox", sandbox, "--approve-all"],
      model: [scriptedReply(scriptedCall("bash", { command: "echo hi" })), DONE],
      client: () => ({
        terminals: {
          create({ command, args = [] }) {
            commands.push([command, ...args].join(" "));
            return "t1";
          },
          output: () => ({ output: "from the terminal\n", truncated: false }),
          waitForExit: () => Promise.resolve({ exitCode: 0 }),
          onEnd: (method) => ended.push(method),
        },
      }),
    });
    const { client, host } = editor;
    await client.prompt(await client.createSession(), "Run it");
    const isTerminal = sandbox === "off";
    assertEquals(commands, isTerminal ? ["bash -c echo hi"] : []);
    assertEquals(ended, isTerminal ? ["release"] : []);
    const shown = JSON.stringify(client.updates).includes('"terminalId":"t1"');
    assertEquals(shown, isTerminal);
    const body = host.requests[1]?.body ?? "";
    assertStringIncludes(body, isTerminal ? "from the terminal" : "hi");
  }
});

Deno.test("swink acp: instructions of a project are used if it is trusted, and a project that is not is reported", async () => {
  for (const args of [["--trust"], []]) {
    await using editor = await startEditor({
      args,
      files: { "p/AGENTS.md": "Always answer in French" },
      model: [DONE],
    });
    const { client, host } = editor;
    await client.prompt(await client.createSession(), "Hello");
    const isTrusted = args.length > 0;
    assertEquals((host.requests[0]?.body ?? "").includes("French"), isTrusted);
    assertEquals(host.messages.includes("AGENTS.md"), !isTrusted);
  }
});

Deno.test("swink acp: hooks add to a prompt, and block one with a reason", async () => {
  const hooks = (command: string) =>
    `[[hooks.UserPromptSubmit]]\ncommand = ${JSON.stringify(command)}\n`;
  {
    await using editor = await startEditor({
      files: { ".config/swink/config.toml": hooks("echo from the hook") },
      model: [DONE],
    });
    await editor.client.prompt(await editor.client.createSession(), "Hello");
    assertStringIncludes(editor.host.requests[0]?.body ?? "", "from the hook");
  }
  await using editor = await startEditor({
    files: { ".config/swink/config.toml": hooks("echo not today >&2; exit 2") },
  });
  const { client } = editor;
  const sessionId = await client.createSession();
  await assertRejects(() => client.prompt(sessionId, "Hello"), Error, "not today");
});

Deno.test("swink acp: MCP servers of the editor have tools, and texts that look like variables stay", async () => {
  await using editor = await startEditor({
    files: { "p/server.sh": GREETING_SERVER },
    args: ["--approve-all"],
    env: { PATH: Deno.env.get("PATH") ?? "" },
    model: [scriptedReply(scriptedCall("mcp__own__greet", {})), DONE],
  });
  const { client, path, host } = editor;
  const env = [{ name: "NAME", value: "${HOME}" }];
  const session = await client.agent.request("session/new", {
    cwd: path,
    mcpServers: [{ name: "own", command: "sh", args: [`${path}/server.sh`], env }],
  });
  await client.prompt((session as NewSessionResponse).sessionId, "Greet");
  assertStringIncludes(host.requests[1]?.body ?? "", "Hello ${HOME}");
});

Deno.test("swink acp: editors with terminals get the arguments with which the user logs in", async () => {
  await using editor = await startEditor({ client: () => ({ canLogIn: true }) });
  const [method] = editor.client.initialized.authMethods ?? [];
  assertEquals(method && "type" in method && [method.type, method.args], ["terminal", ["--login"]]);
});

Deno.test("swink acp: invalid options, a terminal and signals have exit codes", async () => {
  const run = async (args: readonly string[], options: FakeHostOptions = {}) => {
    const host = createFakeHost({ env: { HOME: "/nowhere" }, ...options });
    return { code: await main(["acp", ...args], host), host };
  };
  const { code, host } = await run(["--model", "nonsense"]);
  assertEquals(code, 2);
  assertEquals(host.output, "");
  assertEquals((await run([], { terminals: ["input"] })).code, 2);
  assertEquals((await run(["--cwd", "."])).code, 2);
  assertEquals((await run([])).code, 0);
  for (const [signal, expected] of [["SIGTERM", 143], ["SIGINT", 130]] as const) {
    const input = new ReadableStream<Uint8Array>();
    const host = createFakeHost({ env: { HOME: "/nowhere" }, input });
    const ended = main(["acp"], host);
    await waitUntil(() => input.locked);
    host.sendSignal(signal);
    assertEquals(await ended, expected);
  }
  const input = new ReadableStream<Uint8Array>();
  const closing = createFakeHost({ env: { HOME: "/nowhere" }, input });
  const ended = main(["acp"], closing);
  await waitUntil(() => input.locked);
  closing.closeOutput();
  assertEquals(await ended, 141);
});
