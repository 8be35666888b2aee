/**
 * `/mcp` in a conversation.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { scriptedReply } from "../fake_host.ts";
import { GREETING_SERVER, INPUT_SERVER } from "../greeting_server.ts";
import { KEYS, openTerminal } from "./live_terminal.ts";
import { type PlainConversationOptions, typeConversation } from "./plain_conversation.ts";

/** Types lines before `/quit`. */
function type(
  typed: readonly string[],
  options: Omit<PlainConversationOptions, "typed"> = {},
) {
  return typeConversation({ ...options, typed: [...typed, "/quit"] });
}

Deno.test("/mcp: shows the servers and their tools, and starts one again", async () => {
  const servers = { mcpServers: { hello: { command: "sh", args: ["server.sh"] } } };
  await using conversation = await type(
    ["/mcp", "/mcp restart hello", "/mcp restart helo", "/mcp stop", "/help mcp"],
    {
      files: { "p/server.sh": GREETING_SERVER, ".config/swink/mcp.json": JSON.stringify(servers) },
      env: { PATH: Deno.env.get("PATH") ?? "" },
    },
  );
  const { outputs } = conversation;
  assertEquals(outputs[0], "hello ready · 1 tool\n  mcp__hello__greet\n");
  assertEquals(outputs[1], outputs[0]);
  assertStringIncludes(outputs[2] ?? "", 'There is no server "helo". Did you mean hello?');
  assertStringIncludes(
    outputs[3] ?? "",
    "/mcp takes restart SERVER, prompt SERVER NAME or read SERVER ADDRESS, not stop",
  );
});

Deno.test("/mcp: lists prompts and resources of servers, and sends one to the model", async () => {
  const servers = { mcpServers: { notes: { command: "sh", args: ["server.sh"] } } };
  await using conversation = await type(
    [
      "/mcp",
      '/mcp prompt notes greeting who="Ada Lovelace"',
      "/mcp read notes note://a Summarize it",
      "/mcp prompt notes greeting",
      "/mcp prompt notes greeting who=a b",
      "/mcp prompt notes greetin",
      "/mcp prompt notes",
      "/mcp prompt other greeting",
      "/mcp read notes",
      "/mcp read other note://a",
    ],
    {
      model: [scriptedReply("Hello Ada"), scriptedReply("A summary")],
      files: {
        "p/server.sh": INPUT_SERVER,
        "p/notes.txt": "not to be sent",
        ".config/swink/mcp.json": JSON.stringify(servers),
      },
      env: { PATH: Deno.env.get("PATH") ?? "" },
    },
  );
  const { outputs, requests } = conversation;
  assertEquals(
    outputs[0],
    "notes ready · 0 tools\n" +
      "/mcp prompt notes greeting who=… [style=…]  Greets\n/mcp read notes note://a\n",
  );
  const sent = requests.map(({ messages }) => JSON.stringify(messages.at(-1)));
  assertStringIncludes(sent[0] ?? "", '"Greet Ada @notes.txt"');
  assertStringIncludes(
    sent[1] ?? "",
    "Summarize it\\n\\n[Resource note://a]\\n\\nA note.",
  );
  assertEquals(requests.length, 2);
  const usage = "Write /mcp prompt notes greeting who=… [style=…]\n";
  assertStringIncludes(outputs[3] ?? "", usage);
  assertStringIncludes(outputs[4] ?? "", usage);
  assertStringIncludes(outputs[5] ?? "", 'has no prompt "greetin". Did you mean greeting?');
  assertStringIncludes(outputs[6] ?? "", "Write /mcp prompt SERVER NAME\n");
  assertStringIncludes(outputs[7] ?? "", 'The server "other" has no prompt "greeting"');
  assertStringIncludes(outputs[8] ?? "", "Write /mcp read SERVER ADDRESS [TASK]\n");
  assertStringIncludes(outputs[9] ?? "", 'There is no MCP server "other". Servers: notes');
});

Deno.test("/mcp: Escape ends the wait for a server that does not answer", async () => {
  const servers = { mcpServers: { notes: { command: "sh", args: ["server.sh"] } } };
  const silent = INPUT_SERVER.replace(
    `*'"resources/read"'*)`,
    `*'"resources/read"'*) continue ;; -)`,
  );
  await using terminal = await openTerminal({
    model: [scriptedReply("Hello.")],
    files: { "p/server.sh": silent, ".config/swink/mcp.json": JSON.stringify(servers) },
    env: { PATH: Deno.env.get("PATH") ?? "" },
  });
  await terminal.enter("/mcp");
  await terminal.waitFor("notes ready");
  await terminal.enter("/mcp read notes note://a");
  await terminal.waitFor(() => terminal.screen.includes("· /mcp read "));
  terminal.press(KEYS.escape);
  await terminal.waitFor(() => !terminal.screen.includes("· /mcp read "));
  await terminal.enter("Greet");
  await terminal.waitFor("Hello.");
  assertEquals(terminal.listPrompts(), ["Greet"]);
  assert(!terminal.text.includes("timed out"), terminal.text);
});

Deno.test("/mcp: Tab completes each word of the argument", async () => {
  const servers = { mcpServers: { notes: { command: "sh", args: ["server.sh"] } } };
  await using terminal = await openTerminal({
    files: { "p/server.sh": INPUT_SERVER, ".config/swink/mcp.json": JSON.stringify(servers) },
    env: { PATH: Deno.env.get("PATH") ?? "" },
  });
  await terminal.enter("/mcp");
  await terminal.waitFor("notes ready");
  const cases = [
    ["/mcp pro", "/mcp prompt notes greeting"],
    ["/mcp prompt no", "/mcp prompt notes greeting"],
    ["/mcp prompt  notes gr", "/mcp prompt  notes greeting"],
    ["/mcp read notes no", "/mcp read notes note://a"],
    ["/mcp restart n", "/mcp restart notes"],
  ] as const;
  for (const [typed, completed] of cases) {
    terminal.press(typed, KEYS.tab);
    await terminal.waitFor(() => terminal.screen.split("\n").includes(`› ${completed}`));
    terminal.press(KEYS.controlC);
    await terminal.waitFor(() => terminal.screen.split("\n").at(-1) === "›");
  }
});

Deno.test("/mcp: names the way to a server where there is none", async () => {
  await using conversation = await type(["/mcp"]);
  assertEquals(conversation.outputs[0], "No MCP server; swink mcp add configures one\n");
});
