/**
 * Plan mode in a conversation.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { FileSessionStore } from "../../../src/memory/mod.ts";
import { scriptedCall, scriptedReply } from "../fake_host.ts";
import { holdReply, KEYS, openTerminal } from "./live_terminal.ts";
import { typeConversation } from "./plain_conversation.ts";

const PLAN = {
  title: "A file",
  context: "It is missing.",
  steps: [
    { title: "Write it", description: "", files: ["a.txt"], criteria: ["It exists."] },
    { title: "Read it", description: "", files: [], criteria: ["It has a line."] },
  ],
};

const PLANNING = [
  scriptedReply("I plan.", scriptedCall("write_plan", PLAN)),
  scriptedReply("Planned."),
];

const update = (step: number, state: string) =>
  scriptedReply(scriptedCall("update_step", { step, state }));

const EXECUTING = [
  update(1, "in_progress"),
  scriptedReply(scriptedCall("write_file", { path: "a.txt", content: "1\n" })),
  update(1, "done"),
  update(2, "in_progress"),
  update(2, "done"),
  scriptedReply("All done."),
];

Deno.test("/plan: only tools that change nothing exist, and the output is labelled [AC-26]", async () => {
  await using conversation = await typeConversation({
    model: [scriptedReply("I look."), scriptedReply("I work.")],
    typed: ["/plan", "Look", "#info", "/plan", "Work", "/quit"],
  });
  const { outputs, requests } = conversation;
  assertEquals(
    outputs[0],
    "PLAN mode: the model changes nothing; /execute carries the plan out\n",
  );
  assertStringIncludes(outputs[1] ?? "", "plan: I look.\n");
  assertStringIncludes(outputs[2] ?? "", "mode       plan\n");
  const [planning, working] = requests.map(({ tools = [] }) =>
    tools.map(({ name }) => name).sort()
  );
  assertEquals(planning, [
    "bash",
    "list_directory",
    "read_file",
    "search_files",
    "task",
    "write_plan",
  ]);
  assertEquals(working, [
    "bash",
    "edit_file",
    "list_directory",
    "read_file",
    "search_files",
    "task",
    "write_file",
  ]);
  assertStringIncludes(outputs[4] ?? "", "assistant: I work.\n");
});

Deno.test("/plan: commands cannot write, also with the approval of all calls", async () => {
  await using conversation = await typeConversation({
    args: ["--approve-all"],
    model: [scriptedReply(scriptedCall("bash", { command: "echo 1 > x" })), scriptedReply("No.")],
    typed: ["/plan", "Try", "/quit"],
  });
  assertEquals([...Deno.readDirSync(`${conversation.home.path}/p`)].map(({ name }) => name), [
    ".keep",
  ]);
});

Deno.test("/plan: trust in all commands of plan mode ends with it", async () => {
  await using conversation = await typeConversation({
    model: [
      scriptedReply(scriptedCall("bash", { command: "cat $X" })),
      scriptedReply("I look."),
      scriptedReply(scriptedCall("bash", { command: "echo 1 > x" })),
      scriptedReply("No."),
    ],
    typed: ["/plan", "Look", "a", "#approve", "/plan", "Work", "n", "/quit"],
  });
  const { transcript, home } = conversation;
  assertStringIncludes(transcript, "trusted in this session: bash in plan mode\n");
  assertStringIncludes(transcript, "\n? bash echo 1 > x\n");
  assertEquals([...Deno.readDirSync(`${home.path}/p`)].map(({ name }) => name), [".keep"]);
});

Deno.test("/execute: carries the approved plan out with all tools, and ticks its steps [AC-27]", async () => {
  await using conversation = await typeConversation({
    model: [...PLANNING, ...EXECUTING, scriptedReply("Yes.")],
    typed: ["/plan", "Plan it", "/execute", "y", "y", "Is it done?", "/quit"],
  });
  const { transcript, requests, home, outputs } = conversation;
  assertStringIncludes(transcript, "  | ## 1. Write it\n");
  assertStringIncludes(transcript, "Carry out this plan? [y]es / [n]o: y\n");
  assertStringIncludes(transcript, "step 1 of 2 in progress: Write it\n");
  assertStringIncludes(transcript, "step 1 of 2 done: Write it\n");
  assertStringIncludes(transcript, "assistant: All done.\nPlan complete\n");
  assertEquals(home.read("p/a.txt"), "1\n");
  assertMatch(home.read("p/.swink/plan.md"), /## 1\. \[done\] Write it/);
  // The executor gets the plan, and not the conversation of the planner.
  const [first] = requests[2]?.messages ?? [];
  assertStringIncludes(JSON.stringify(first), "Write it");
  assert(!JSON.stringify(requests[2]?.messages).includes("I plan."));
  // The planner reads the outcome.
  assertStringIncludes(JSON.stringify(requests.at(-1)?.messages), "1. [complete] Write it");
  assertStringIncludes(outputs.at(-2) ?? "", "assistant: Yes.\n");
});

/** A server that has another tool after the first call of `grow`. */
const GROWING_SERVER = `tools='{"name":"grow","inputSchema":{"type":"object"}}'
while read -r line; do
  case "$line" in *'"id":'*) id=\${line##*'"id":'} id=\${id%%[,\\}]*} ;; *) continue ;; esac
  case "$line" in
    *'"initialize"'*) result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"mock","version":"1"}}' ;;
    *'"tools/list"'*) result="{\\"tools\\":[$tools]}" ;;
    *'"tools/call"'*)
      tools='{"name":"grow","inputSchema":{"type":"object"}},{"name":"grown","inputSchema":{"type":"object"}}'
      printf '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\\n'
      result='{"content":[{"type":"text","text":"Done"}]}' ;;
    *) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\\n' "$id"; continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$id" "$result"
done
`;

Deno.test("/execute: the agent gets the tools that an MCP server has added", async () => {
  const grow = () => scriptedReply(scriptedCall("mcp__s__grow", {}));
  const servers = { mcpServers: { s: { command: "sh", args: ["server.sh"] } } };
  await using conversation = await typeConversation({
    args: ["--approve-all"],
    // The answer to the second call follows the new list.
    model: [...PLANNING, update(1, "in_progress"), grow(), grow(), ...EXECUTING.slice(2)],
    typed: ["/plan", "Plan it", "/execute", "y", "/quit"],
    files: { "p/server.sh": GROWING_SERVER, ".config/swink/mcp.json": JSON.stringify(servers) },
    env: { PATH: Deno.env.get("PATH") ?? "" },
  });
  const { requests, transcript } = conversation;
  const hasNew = requests.map(({ tools = [] }) => tools.some(({ name }) => name.endsWith("grown")));
  assertStringIncludes(transcript, "Plan complete\n");
  assertEquals(hasNew.slice(0, 4), [false, false, false, false]);
  assertEquals(hasNew.slice(5), [true, true, true, true]);
});

Deno.test("/execute: counts the tokens of all runs of the executor, also for /usage", async () => {
  await using conversation = await typeConversation({
    args: ["--approve-all"],
    model: [
      ...PLANNING,
      update(1, "in_progress"),
      update(1, "done"),
      scriptedReply("The first one."),
      update(2, "in_progress"),
      update(2, "done"),
      scriptedReply("All done."),
    ],
    typed: ["/plan", "Plan it", "/execute", "y", "/usage", "/quit"],
  });
  const { transcript, outputs, home } = conversation;
  assertMatch(transcript, /Plan complete\n6 turns · 600 tokens in, 120 out/);
  const usage = outputs.at(-2) ?? "";
  assertMatch(usage, /^\/execute +600 +0 +120 /m);
  assertMatch(usage, /^sum +800 +0 +160 /m);
  const store = new FileSessionStore({ directory: `${home.path}/.local/state/swink/sessions` });
  const totals = (await store.list()).map(({ usage }) => usage.total);
  assertEquals(totals.toSorted((a, b) => a - b), [720, 960]);
});

Deno.test("/execute: does nothing without a plan or an approval", async () => {
  await using conversation = await typeConversation({
    model: PLANNING,
    typed: ["/execute", "/plan", "Plan it", "/execute", "n", "#info", "/quit"],
  });
  const { outputs, requests } = conversation;
  assertEquals(
    outputs[0],
    'warning: There is no plan at "HOME/p/.swink/plan.md"\n' +
      "         In plan mode, which /plan turns on, the model writes one.\n",
  );
  assertStringIncludes(outputs[4] ?? "", "The plan was not approved; /edit-plan changes it\n");
  assertStringIncludes(outputs[5] ?? "", "mode       plan\n");
  assertEquals(requests.length, 2);
});

Deno.test("/execute: a text that the executor has not read when it is aborted waits for the next prompt", async () => {
  const model = [...PLANNING, holdReply(scriptedReply("Working …")), scriptedReply("Both read.")];
  await using terminal = await openTerminal({ model });
  await terminal.enter("/plan");
  await terminal.waitFor("PLAN ·");
  await terminal.enter("Plan it");
  await terminal.waitFor("2 turns");
  await terminal.enter("/execute");
  await terminal.waitFor("Carry out this plan?");
  terminal.press("y");
  await terminal.waitFor("Working");
  await terminal.enter("also test");
  await terminal.waitFor("queued also test");
  terminal.press(KEYS.escape);
  await terminal.waitFor(/Plan incomplete[^]*\nqueued also test/);
  await terminal.enter("Continue");
  await terminal.waitFor(/\n› also test\nBoth read\./);
});

Deno.test("/execute: the session of the executor belongs to that of the conversation", async () => {
  await using conversation = await typeConversation({
    args: ["--approve-all"],
    model: [...PLANNING, ...EXECUTING],
    typed: ["/plan", "Plan it", "/execute", "y", "#sessions", "/quit"],
  });
  const { outputs, home } = conversation;
  assertEquals((outputs.at(-2) ?? "").match(/SESSION/g)?.length, 1);
  const store = new FileSessionStore({ directory: `${home.path}/.local/state/swink/sessions` });
  assertEquals((await store.list()).length, 2);
});

Deno.test("/execute: its changes can be undone, and its session is saved, when it is the first input", async () => {
  await using first = await typeConversation({
    model: PLANNING,
    typed: ["/plan", "Plan it", "/quit"],
  });
  const { home } = first;
  await using conversation = await typeConversation({
    home,
    args: ["--approve-all"],
    model: EXECUTING,
    typed: ["/execute", "y", "/undo", "/quit"],
  });
  assertEquals(conversation.outputs.at(-2), "removed a.txt\n/redo makes these changes again\n");
  const store = new FileSessionStore({ directory: `${home.path}/.local/state/swink/sessions` });
  assertEquals((await store.list()).length, 3);
});

Deno.test("/edit-plan: opens the plan in the editor", async () => {
  await using conversation = await typeConversation({
    model: PLANNING,
    files: { "editor.sh": '#!/bin/sh\nprintf "\\n## 3. Delete it\\n" >> "$1"\n' },
    env: { EDITOR: 'sh "HOME/editor.sh"' },
    typed: ["/edit-plan", "/plan", "Plan it", "/edit-plan", "/quit"],
  });
  const { outputs, home } = conversation;
  assertStringIncludes(outputs[0] ?? "", "There is no plan yet\n");
  assertEquals(outputs[3], "The plan has 3 steps; /execute carries it out\n");
  assertStringIncludes(home.read("p/.swink/plan.md"), "## 3. Delete it\n");
});

Deno.test("/edit-plan: neither replaces a plan that was changed meanwhile nor loses the edited text", async () => {
  await using conversation = await typeConversation({
    model: PLANNING,
    files: {
      "editor.sh":
        '#!/bin/sh\nprintf "\\n## 3. Delete it\\n" >> "$1"\nprintf "\\n## 3. Move it\\n" >> .swink/plan.md\n',
    },
    env: { EDITOR: 'sh "HOME/editor.sh"' },
    typed: ["/plan", "Plan it", "/edit-plan", "/quit"],
  });
  const { outputs, home } = conversation;
  assertStringIncludes(
    outputs[2] ?? "",
    "The plan was changed while it was edited, so it was not replaced\n",
  );
  assertStringIncludes(outputs[2] ?? "", "Your text is in .swink/plan.edited.md.\n");
  assertStringIncludes(home.read("p/.swink/plan.md"), "## 3. Move it\n");
  assertStringIncludes(home.read("p/.swink/plan.edited.md"), "## 3. Delete it\n");
});

Deno.test("/edit-plan: keeps the plan when the editor leaves no text", async () => {
  await using conversation = await typeConversation({
    model: PLANNING,
    files: { "editor.sh": '#!/bin/sh\nrm "$1"\n' },
    env: { EDITOR: 'sh "HOME/editor.sh"' },
    typed: ["/plan", "Plan it", "/edit-plan", "/quit"],
  });
  const { outputs, home } = conversation;
  assertEquals(outputs[2], "The text was empty, so the plan is unchanged\n");
  assertStringIncludes(home.read("p/.swink/plan.md"), "## 2. ");
});

Deno.test("plan mode: --plan starts in it, and a continued session stays in it", async () => {
  await using first = await typeConversation({
    args: ["--plan"],
    model: PLANNING,
    typed: ["Plan it", "/quit"],
  });
  assertStringIncludes(first.transcript, "plan mode: .swink/plan.md");
  await using second = await typeConversation({
    home: first.home,
    args: ["-c"],
    model: [scriptedReply("I look.")],
    typed: ["Look", "/quit"],
  });
  assertStringIncludes(second.transcript, "plan: I look.\n");
});
