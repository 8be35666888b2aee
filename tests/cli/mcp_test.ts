/**
 * MCP servers in runs, and `swink mcp`.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { main } from "../../cli/main.ts";
import { waitUntil } from "../wait_until.ts";
import { createFakeHost, type FakeHostOptions, scriptedCall, scriptedReply } from "./fake_host.ts";
import { GREETING_SERVER as SERVER } from "./greeting_server.ts";
import { startSwink } from "./swink_process.ts";
import { createTemporaryDirectory, type TemporaryDirectory } from "./temporary_directory.ts";

const USER_FILE = ".config/swink/mcp.json";

/** Returns the file of servers with one program. */
function createFile(name: string, env: Readonly<Record<string, string>> = {}): string {
  return JSON.stringify({ mcpServers: { [name]: { command: "sh", args: ["server.sh"], env } } });
}

/** Runs `swink run` in the directory `p`; the model calls a tool. */
async function run(
  files: Readonly<Record<string, string>>,
  tool: string,
  { args = [], ...options }: FakeHostOptions & { readonly args?: readonly string[] } = {},
) {
  await using home = await createTemporaryDirectory({ "p/server.sh": SERVER, ...files });
  const host = createFakeHost({
    model: [scriptedReply(scriptedCall(tool, {})), scriptedReply("Done.")],
    ...options,
    env: {
      ANTHROPIC_API_KEY: "k",
      HOME: home.path,
      PATH: Deno.env.get("PATH") ?? "",
      ...options.env,
    },
  });
  const words = args.map((arg) => arg.replace("HOME", home.path));
  const code = await main(["run", "--no-session", "--cwd", `${home.path}/p`, ...words, "Hi"], host);
  const [first, second] = host.requests.map(({ body }) => JSON.parse(body));
  return {
    code,
    messages: host.messages.replaceAll(home.path, "HOME"),
    tools: first?.tools.map(({ name }: { name: string }) => name).filter((name: string) =>
      name.startsWith("mcp__")
    ),
    result: JSON.stringify(second?.messages.at(-1)?.content ?? ""),
  };
}

Deno.test("swink run: has the tools of the user's servers, which may use any variable", async () => {
  const files = { [USER_FILE]: createFile("own", { NAME: "${FRIEND:-friend}" }) };
  const env = { FRIEND: "Ada" };
  const { code, tools, result } = await run(files, "mcp__own__greet", {
    args: ["--approve-all"],
    env,
  });
  assertEquals([code, tools], [0, ["mcp__own__greet"]]);
  assertStringIncludes(result, "Hello Ada");
});

Deno.test("swink run: a tool of a server needs approval, which a rule can give", async () => {
  const files = { [USER_FILE]: createFile("own") };
  assertEquals((await run(files, "mcp__own__greet")).code, 6);
  const args = ["--allowed-tools", "mcp__own__greet"];
  assertEquals((await run(files, "mcp__own__greet", { args })).code, 0);
});

Deno.test("swink run: --tools and --disallowed-tools select tools of servers", async () => {
  const files = { [USER_FILE]: createFile("own") };
  const getTools = async (...args: string[]) => (await run(files, "read_file", { args })).tools;
  assertEquals(await getTools("--tools", "read_file"), []);
  assertEquals(await getTools("--tools", "read_file,mcp__own__greet"), ["mcp__own__greet"]);
  assertEquals(await getTools("--disallowed-tools", "mcp__own__greet"), []);
  for (const server of ["mcp__own", "mcp__own__*", "mcp__*"]) {
    assertEquals(await getTools("--tools", `read_file,${server}`), ["mcp__own__greet"], server);
    assertEquals(await getTools("--disallowed-tools", server), [], server);
  }
  assertEquals(await getTools("--disallowed-tools", "mcp__other"), ["mcp__own__greet"]);
});

Deno.test("swink run: starts the servers of a project only if it is trusted, without variables of the user", async () => {
  const files = { "p/.mcp.json": createFile("team", { NAME: "${SECRET:-friend}" }) };
  const env = { SECRET: "canary" };
  const untrusted = await run(files, "mcp__team__greet", { args: ["--approve-all"], env });
  assertEquals(untrusted.tools, []);
  assertStringIncludes(untrusted.messages, "not loaded (--trust): .mcp.json");
  const trusted = await run(files, "mcp__team__greet", { args: ["--approve-all", "--trust"], env });
  assertEquals(trusted.tools, ["mcp__team__greet"]);
  assertStringIncludes(trusted.result, "Hello friend");
  const passed = await run(files, "mcp__team__greet", {
    args: ["--approve-all", "--trust", "--env", "SECRET"],
    env,
  });
  assertStringIncludes(passed.result, "Hello canary");
});

Deno.test("swink run: servers of a project do not get the variables of the user's servers", async () => {
  const own = { [USER_FILE]: createFile("own", { NAME: "${SECRET}" }) };
  const env = { SECRET: "canary" };
  const start = (name: string, ...args: string[]) =>
    run({ ...own, "p/.mcp.json": createFile("team", { NAME: name }) }, "mcp__team__greet", {
      args: ["--approve-all", "--trust", ...args],
      env,
    });
  for (const name of ["${SECRET}", "${X:-${SECRET}}"]) {
    const { tools, messages } = await start(name);
    assertEquals(tools, ["mcp__own__greet"], name);
    assertStringIncludes(messages, "MCP server team: a project may use the variable SECRET only");
  }
  assertStringIncludes((await start("${SECRET:-friend}")).result, "Hello friend");
  assertStringIncludes((await start("${SECRET}", "--env", "SECRET")).result, "Hello canary");
});

Deno.test("swink run: a server that does not start is a warning", async () => {
  const broken = JSON.stringify({
    mcpServers: { broken: { command: "sh", args: ["-c", "exit 3"] } },
  });
  const { code, messages } = await run({ [USER_FILE]: broken }, "read_file");
  assertEquals(code, 0);
  assertMatch(messages, /\nwarning: MCP server broken: .*exit code 3/);
});

Deno.test("swink run: a server that is disabled is not started, and listed as such", async () => {
  const { mcpServers: { own } } = JSON.parse(createFile("own"));
  const mcpServers = { own, off: { command: "sh", args: ["-c", "exit 3"], disabled: true } };
  const files = { [USER_FILE]: JSON.stringify({ mcpServers }) };
  const { code, tools, messages } = await run(files, "read_file");
  assertEquals([code, tools], [0, ["mcp__own__greet"]]);
  assert(!messages.includes("warning: MCP server"), messages);
  await using home = await createTemporaryDirectory(files);
  assertEquals(await runCommand(home, "list"), [0, "own  sh server.sh\noff  disabled\n", ""]);
});

Deno.test("swink run: a server with a transport of another client is a warning", async () => {
  const { mcpServers } = JSON.parse(createFile("team"));
  const old = { type: "sse", url: "https://a.test/sse" };
  const files = { "p/.mcp.json": JSON.stringify({ mcpServers: { ...mcpServers, old } }) };
  const { code, tools, messages } = await run(files, "read_file", { args: ["--trust"] });
  assertEquals([code, tools], [0, ["mcp__team__greet"]]);
  assertMatch(
    messages.replaceAll(/\s+/g, " "),
    / warning: MCP server old: mcpServers\.old\.type: the transport "sse" is not supported; /,
  );
});

Deno.test("swink run --mcp-config: adds servers; an invalid or missing file ends the run", async () => {
  const files = {
    "own.json": createFile("own"),
    "broken.json": "{",
    [USER_FILE]: createFile("user"),
  };
  const args = ["--mcp-config", "HOME/own.json"];
  assertEquals((await run(files, "read_file", { args })).tools, [
    "mcp__own__greet",
    "mcp__user__greet",
  ]);
  assertEquals((await run(files, "read_file", { args: ["--bare", ...args] })).tools, [
    "mcp__own__greet",
  ]);
  const broken = await run(files, "read_file", { args: ["--mcp-config", "HOME/broken.json"] });
  assertEquals([broken.code, broken.messages], [
    3,
    "swink: HOME/broken.json: the file is not valid JSON\n",
  ]);
  const missing = await run(files, "read_file", { args: ["--mcp-config", "HOME/none.json"] });
  assertEquals([missing.code, missing.messages], [
    3,
    "swink: HOME/none.json: the file does not exist\n",
  ]);
});

Deno.test("swink run --mcp-config: takes a pipe, and JSON", async () => {
  await using directory = await createTemporaryDirectory();
  const pipe = `${directory.path}/pipe`;
  await new Deno.Command("mkfifo", { args: [pipe] }).output();
  const file = createFile("piped", { NAME: "${FRIEND}" });
  const json = createFile("typed");
  const args = ["--approve-all", "--mcp-config", pipe, "--mcp-config", json];
  const [{ code, tools, result }] = await Promise.all([
    run({}, "mcp__piped__greet", { args, env: { FRIEND: "Ada" } }),
    Deno.writeTextFile(pipe, file),
  ]);
  assertEquals([code, tools], [0, ["mcp__piped__greet", "mcp__typed__greet"]]);
  assertStringIncludes(result, "Hello Ada");
  const invalid = await run({}, "mcp__a__greet", { args: ["--mcp-config", '{"mcpServers":3}'] });
  assertEquals([invalid.code, invalid.messages], [
    3,
    "swink: --mcp-config: mcpServers: must be an object, not 3\n",
  ]);
});

Deno.test("swink run: of servers with the same name, one of --mcp-config precedes one of the user, and that one of the project", async () => {
  const files = {
    "further.json": createFile("same", { NAME: "further" }),
    "p/.mcp.json": createFile("same", { NAME: "project" }),
    [USER_FILE]: createFile("same", { NAME: "user" }),
  };
  const call = async (...args: string[]) =>
    (await run(files, "mcp__same__greet", { args: ["--approve-all", ...args] })).result;
  assertStringIncludes(await call(), "Hello user");
  assertStringIncludes(await call("--trust"), "Hello user");
  assertStringIncludes(await call("--trust", "--mcp-config", "HOME/further.json"), "Hello further");
});

Deno.test("swink run: the user's rules for a server do not apply to one of a project with its name", async () => {
  const own = { [USER_FILE]: createFile("same", { NAME: "user" }) };
  const args = ["--trust", "--allowed-tools", "mcp__same"];
  for (const name of ["same", "SAME"]) {
    const files = { ...own, "p/.mcp.json": createFile(name, { NAME: "project" }) };
    const { tools, result, messages } = await run(files, "mcp__same__greet", { args });
    assertEquals(tools, ["mcp__same__greet"]);
    assertStringIncludes(result, "Hello user");
    assertStringIncludes(
      messages,
      `MCP server ${name}: that of the project is left out, as you have one with this name`,
    );
  }
  const equal = { ...own, "p/.mcp.json": own[USER_FILE] };
  assertEquals((await run(equal, "mcp__same__greet", { args })).messages.match(/left out/), null);
});

Deno.test("swink run: a run that does not start ends its servers", async () => {
  const files = { [USER_FILE]: createFile("own") };
  const unknown = await run(files, "read_file", { args: ["--allowed-tools", "no_tool"] });
  assertEquals(unknown.code, 2);
});

/** Runs `swink mcp`. */
async function runCommand(home: TemporaryDirectory, ...args: string[]) {
  const env = { HOME: home.path, NO_COLOR: "1", PATH: Deno.env.get("PATH") ?? "" };
  const host = createFakeHost({ env });
  const code = await main(["mcp", ...args], host);
  const hide = (text: string) => text.replaceAll(home.path, "HOME");
  return [code, hide(host.output), hide(host.messages)] as const;
}

Deno.test("swink mcp: adds, lists and removes servers of the user", async () => {
  await using home = await createTemporaryDirectory({ [USER_FILE]: '{"note":1,"mcpServers":{}}' });
  assertEquals(await runCommand(home, "list"), [0, "", "No server: add one with swink mcp add\n"]);
  const added = "try it with: swink mcp test";
  assertEquals(
    await runCommand(home, "add", "files", "--env", "A=sk-canary", "--", "server", "--root", "."),
    [
      0,
      "",
      `Added files; ${added} files\n`,
    ],
  );
  const header = "Authorization: Bearer ${TOKEN}";
  await runCommand(home, "add", "web", "https://mcp.example", "--header", header);
  assertEquals(JSON.parse(home.read(USER_FILE)), {
    note: 1,
    mcpServers: {
      files: { command: "server", args: ["--root", "."], env: { A: "sk-canary" } },
      web: { url: "https://mcp.example", headers: { Authorization: "Bearer ${TOKEN}" } },
    },
  });
  assertEquals(await runCommand(home, "list"), [
    0,
    "files  server --root .\nweb    https://mcp.example\n",
    "",
  ]);
  await runCommand(
    home,
    "add",
    "web",
    "https://me:sk-canary@mcp.example/?apiKey=sk-canary&tools=a",
  );
  const [, list] = await runCommand(home, "list");
  assertEquals(
    list,
    "files  server --root .\nweb    https://mcp.example/?apiKey=%5Bredacted%5D&tools=a\n",
  );
  assertEquals(await runCommand(home, "remove", "files"), [0, "", "Removed files\n"]);
  assertEquals((await runCommand(home, "remove", "files"))[0], 2);
});

Deno.test("swink mcp list: hides keys in arguments and paths, and shows variables", async () => {
  await using home = await createTemporaryDirectory();
  const command = ["server", "--api-key", "canary", "--token=canary", "--auth", "${TOKEN}", "a"];
  await runCommand(home, "add", "files", "--", ...command);
  await runCommand(home, "add", "web", "https://mcp.example/sk-canary-canary-canary/mcp");
  assertEquals(await runCommand(home, "list"), [
    0,
    "files  server --api-key [redacted] --token=[redacted] --auth ${TOKEN} a\n" +
    "web    https://mcp.example/[redacted]/mcp\n",
    "",
  ]);
});

Deno.test("swink mcp add, swink mcp remove: change a file with a byte order mark", async () => {
  await using home = await createTemporaryDirectory({
    [USER_FILE]: '\ufeff{"mcpServers":{"a":{"command":"x"}}}\r\n',
  });
  assertEquals((await runCommand(home, "add", "b", "--", "y"))[0], 0);
  assertEquals((await runCommand(home, "remove", "a"))[0], 0);
  assertEquals(await runCommand(home, "list"), [0, "b  y\n", ""]);
});

Deno.test("swink mcp add: rejects invalid servers, and an invalid file, which stays unchanged", async () => {
  await using home = await createTemporaryDirectory({ [USER_FILE]: "{" });
  for (
    const args of [
      ["add", "a b", "server"],
      ["add", "a"],
      ["add", "a", "https://x.example", "more"],
      ["add", "a", "server", "--header", "A: b"],
      ["add", "a", "server", "--env", "A"],
    ]
  ) {
    assertEquals((await runCommand(home, ...args))[0], 2, args.join(" "));
  }
  assertEquals((await runCommand(home, "add", "a", "server"))[0], 3);
  assertEquals(home.read(USER_FILE), "{");
});

Deno.test("swink mcp test: starts the servers and prints their tools, or why they do not start", async () => {
  await using home = await createTemporaryDirectory({ "server.sh": SERVER });
  await runCommand(home, "add", "own", "--", "sh", "-c", SERVER);
  assertEquals(await runCommand(home, "test"), [0, "own: ready\n  mcp__own__greet\n", ""]);
  await runCommand(home, "add", "broken", "--", "sh", "-c", "exit 3");
  const [code, output] = await runCommand(home, "test", "broken");
  assertEquals(code, 1);
  assertMatch(output, /^broken: failed: .*exit code 3/);
  // One that starts does not make up for another one.
  assertEquals((await runCommand(home, "test"))[0], 1);
  assertEquals((await runCommand(home, "test", "none"))[0], 2);
});

Deno.test("swink mcp test: starts the servers in the sandbox that the configuration describes", async () => {
  await using home = await createTemporaryDirectory({ "data/x": "" });
  const directory = await Deno.realPath(`${home.path}/data`);
  await runCommand(home, "add", "own", "--", "sh", "-c", `echo > ${directory}/y && exit 8`);
  await Deno.writeTextFile(`${home.path}/.config/swink/config.toml`, 'sandbox = "off"\n');
  const [code, output] = await runCommand(home, "test");
  assertEquals(code, 1);
  assertStringIncludes(output, "exit code 8");
});

/** A server that does not answer, and does not end with its input. */
const SLEEPING = `echo $$ > "$0.pid"; exec sleep 60`;

Deno.test("swink run, swink mcp test: a signal ends the wait for servers, and the servers", async () => {
  for (const args of [["run", "--no-session", "Hi"], ["mcp", "test"]]) {
    await using home = await createTemporaryDirectory({ "p/sleep.sh": SLEEPING });
    const cwd = `${home.path}/p`;
    const file = `${cwd}/sleep.sh`;
    const config = { mcpServers: { slow: { command: "sh", args: [file] } } };
    await Deno.mkdir(`${home.path}/swink`);
    await Deno.writeTextFile(`${home.path}/swink/mcp.json`, JSON.stringify(config));
    await using program = startSwink(args, {
      cwd,
      env: {
        XDG_CONFIG_HOME: home.path,
        XDG_STATE_HOME: home.path,
        ANTHROPIC_API_KEY: "k",
        ANTHROPIC_BASE_URL: "http://127.0.0.1:9",
      },
    });
    await waitUntil(() => readFile(`${file}.pid`).endsWith("\n"));
    const startedAt = performance.now();
    program.kill("SIGTERM");
    const { code } = await program.waitForExit();
    assertEquals(code, 143, args.join(" "));
    assert(performance.now() - startedAt < 4_000, "the program waited for the server");
    const pid = readFile(`${file}.pid`).trim();
    await waitUntil(() => ["", "Z", "X"].includes(readState(pid)));
  }
});

function readFile(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return "";
  }
}

/** Returns the letter of the state of a process; empty if there is none. */
function readState(pid: string): string {
  return /\) (\w) /.exec(readFile(`/proc/${pid}/stat`))?.[1] ?? "";
}
