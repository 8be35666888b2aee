import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { createFakeHost } from "../../tests/cli/fake_host.ts";
import {
  createTemporaryDirectory,
  type TemporaryDirectory,
} from "../../tests/cli/temporary_directory.ts";
import { ConfigurationError } from "../host/cli_error.ts";
import type { ProgramDirectories } from "../host/program_directories.ts";
import { readServers } from "../mcp/server_files.ts";
import { loadConfig } from "../config/load_config.ts";
import { openProject } from "./open_project.ts";
import { readProjectPrograms } from "./project_content.ts";
import { getTrust, trustProject } from "./trusted_directories.ts";

const TERMINALS = ["input", "output", "messages"] as const;

async function isTrusted(root: string, directories: ProgramDirectories): Promise<boolean> {
  return await getTrust(await readProjectPrograms(root), directories) === "trusted";
}

async function trust(root: string, directories: ProgramDirectories): Promise<void> {
  await trustProject(await readProjectPrograms(root), directories);
}

/** Opens the project `p` of a home directory, with an answer on a terminal if there is one. */
async function openWith(home: TemporaryDirectory, answer: string | undefined) {
  const directories = { config: `${home.path}/config`, state: `${home.path}/state` };
  const host = createFakeHost({
    env: { HOME: home.path, TERM: "dumb" },
    ...(answer !== undefined && { answers: [answer], terminals: TERMINALS }),
  });
  const { signal } = new AbortController();
  const options = { cwd: `${home.path}/p`, trust: false, directories, signal };
  const { isTrusted } = await openProject(options, host);
  return { isTrusted, messages: host.messages };
}

/** Opens a project with `AGENTS.md` as often as there are answers; returns whether it is trusted and was asked about. */
async function openOften(answers: readonly (string | undefined)[]) {
  await using home = await createTemporaryDirectory({ "p/AGENTS.md": "", "p/.git/x": "" });
  const results = [];
  for (const answer of answers) {
    const { isTrusted, messages } = await openWith(home, answer);
    results.push({ isTrusted, hasAsked: messages.includes("? Trust ") });
  }
  return results;
}

Deno.test("openProject(): asks whether to trust a project, and remembers the answer yes", async () => {
  assertEquals(await openOften(["y", "n", undefined]), [
    { isTrusted: true, hasAsked: true },
    { isTrusted: true, hasAsked: false },
    { isTrusted: true, hasAsked: false },
  ]);
});

Deno.test("openProject(): the answer no, and the end of the input, are valid for one run", async () => {
  assertEquals(await openOften(["n", "", "y"]), [
    { isTrusted: false, hasAsked: true },
    { isTrusted: false, hasAsked: true },
    { isTrusted: true, hasAsked: true },
  ]);
});

Deno.test("openProject(): trusts no project without a terminal", async () => {
  assertEquals(await openOften([undefined]), [{ isTrusted: false, hasAsked: false }]);
});

Deno.test("openProject(): does not ask about a directory from which nothing is loaded", async () => {
  await using home = await createTemporaryDirectory({ "p/README.md": "" });
  const host = createFakeHost({ env: { HOME: home.path }, terminals: TERMINALS });
  const { signal } = new AbortController();
  const options = { cwd: `${home.path}/p`, trust: false, directories: undefined, signal };
  const { content, isTrusted } = await openProject(options, host);
  assertEquals({ content, isTrusted, screen: host.screen }, {
    content: [],
    isTrusted: false,
    screen: "",
  });
});

Deno.test("openProject(): works without a directory for the answer", async () => {
  await using home = await createTemporaryDirectory({ "p/CLAUDE.md": "", "state": "a file" });
  const directories = { config: `${home.path}/config`, state: `${home.path}/state/swink` };
  const host = createFakeHost({
    env: { HOME: home.path, TERM: "dumb" },
    answers: ["y"],
    terminals: TERMINALS,
  });
  const { signal } = new AbortController();
  const options = { cwd: `${home.path}/p`, trust: false, directories, signal };
  assertEquals((await openProject(options, host)).isTrusted, true);
  assertStringIncludes(host.messages, "warning: the answer was not saved: ");
});

Deno.test("openProject(): finds the root, but never in the home directory", async () => {
  await using home = await createTemporaryDirectory({
    ".git/x": "",
    "AGENTS.md": "",
    "p/.git/x": "",
    "p/AGENTS.md": "",
    "p/a/b/CLAUDE.md": "",
    "p/a/.mcp.json": "",
    "q/r/x": "",
  });
  const host = createFakeHost({ env: { HOME: home.path } });
  const { signal } = new AbortController();
  const open = async (path: string) => {
    const cwd = `${home.path}${path}`;
    const options = { cwd, trust: true, directories: undefined, signal };
    const { root, content } = await openProject(options, host);
    return [root.slice(home.path.length), content];
  };
  assertEquals(await open("/p/a/b"), ["/p", ["AGENTS.md", "a/b/CLAUDE.md"]]);
  assertEquals(await open("/q/r"), ["/q/r", []]);
  assertEquals(await open(""), ["", ["AGENTS.md"]]);
});

Deno.test("getTrust(): covers the directories below, and survives damage of the file", async () => {
  await using home = await createTemporaryDirectory({
    "state/trusted_directories": '"/a/b"\n"/cut\n\u0000\n"/c"\n"/cut',
  });
  const directories = { config: home.path, state: `${home.path}/state` };
  const check = (path: string) => isTrusted(path, directories);
  assertEquals(await check("/a/b"), true);
  assertEquals(await check("/a/b/c"), true);
  assertEquals(await check("/a"), false);
  assertEquals(await check("/a/bc"), false);
  assertEquals(await check("/c"), true);
  await trust('/with "quotes"\nand lines', directories);
  assertEquals(await check('/with "quotes"\nand lines/x'), true);
  assertEquals(await check("/with"), false);
});

Deno.test("getTrust(): files that start programs are trusted in their directory, with the content of the answer", async () => {
  await using home = await createTemporaryDirectory({
    "p/.swink/config.toml": "max_turns = 3\n",
    "p/a/AGENTS.md": "",
    "p/b/.mcp.json": "{}",
  });
  const path = await Deno.realPath(home.path);
  const directories = { config: `${path}/config`, state: `${path}/state` };
  const check = (name: string) => isTrusted(`${path}/${name}`, directories);
  await trust(`${path}/p`, directories);
  assertEquals(await Promise.all(["p", "p/a", "p/b"].map(check)), [true, true, false]);
  home.write("p/.swink/config.toml", '[[hooks.SessionStart]]\ncommand = "x"\n');
  assertEquals(await check("p"), false);
  await trust(`${path}/p`, directories);
  assertEquals(await check("p"), true);
  home.write("p/.mcp.json", "{}");
  assertEquals(await check("p"), false);
  await trust(`${path}/p`, directories);
  home.write("p/.mcp.json", '{"mcpServers":{}}');
  assertEquals(await check("p"), false);
  home.write("p/.mcp.json", "{}");
  await Deno.remove(`${path}/p/.swink/config.toml`);
  assertEquals(await check("p"), true);
  await Deno.remove(`${path}/p/.mcp.json`);
  assertEquals(await check("p"), true);
});

Deno.test("openProject(): asks again when a trusted project has other files that start programs", async () => {
  await using home = await createTemporaryDirectory({ "p/AGENTS.md": "", "p/.git/x": "" });
  const open = async (answer: string | undefined) => {
    const { isTrusted, messages } = await openWith(home, answer);
    const isNamed = messages.includes(
      "  Files that start programs are new, or have changed.\n",
    );
    return { isTrusted, isNamed };
  };
  assertEquals(await open("y"), { isTrusted: true, isNamed: false });
  home.write("p/.swink/config.toml", '[[hooks.SessionStart]]\ncommand = "x"\n');
  assertEquals(await open(undefined), { isTrusted: false, isNamed: false });
  assertEquals(await open("n"), { isTrusted: false, isNamed: true });
  assertEquals(await open("y"), { isTrusted: true, isNamed: true });
  assertEquals(await open(undefined), { isTrusted: true, isNamed: false });
});

Deno.test("openProject(): the files that start programs are loaded as they were trusted", async () => {
  const toServers = (command: string) => JSON.stringify({ mcpServers: { a: { command } } });
  await using home = await createTemporaryDirectory({
    "p/.swink/config.toml": "max_turns = 1\n",
    "p/.mcp.json": toServers("good"),
  });
  const root = await Deno.realPath(`${home.path}/p`);
  const directories = { config: `${home.path}/config`, state: `${home.path}/state` };
  await trust(root, directories);
  const host = createFakeHost({ env: { HOME: home.path } });
  const { signal } = new AbortController();
  const options = { cwd: root, trust: false, directories, signal };
  const { isTrusted, programs } = await openProject(options, host);
  assertEquals(isTrusted, true);
  home.write("p/.swink/config.toml", "max_turns = 2\n");
  home.write("p/.mcp.json", toServers("other"));
  const { settings } = await loadConfig({ programs }, () => undefined);
  assertEquals(settings.get("max_turns")?.value, 1);
  const servers = await readServers({ programs, files: [], passEnvironment: [] }, () => undefined);
  assertEquals(servers.config, JSON.parse(toServers("good")));
});

Deno.test("readServers(): does not read servers of a project that are too long to be trusted", async () => {
  const text = JSON.stringify({ mcpServers: {}, x: "x".repeat(1_000_000) });
  await using home = await createTemporaryDirectory({ "p/.mcp.json": text });
  const programs = await readProjectPrograms(`${home.path}/p`);
  await assertRejects(
    () => readServers({ programs, files: [], passEnvironment: [] }, () => undefined),
    ConfigurationError,
    "/p/.mcp.json: the file is larger than 1000000 bytes",
  );
});

Deno.test("trustProject(): programs that save at the same time lose no directory", async () => {
  await using home = await createTemporaryDirectory();
  const directories = { config: home.path, state: `${home.path}/state` };
  const paths = Array.from({ length: 50 }, (_, i) => `/project/${i}`);
  await Promise.all(paths.map((path) => trust(path, directories)));
  const results = await Promise.all(paths.map((path) => isTrusted(path, directories)));
  assertEquals(results.filter((result) => !result), []);
});

Deno.test("openProject(): a repository below a trusted directory is trusted, others are not and nothing is asked", async () => {
  await using home = await createTemporaryDirectory({ "a/p/.git/x": "", "b/p/.git/x": "" });
  const directories = { config: `${home.path}/config`, state: `${home.path}/state` };
  await trust(await Deno.realPath(`${home.path}/a`), directories);
  const host = createFakeHost({ env: { HOME: home.path }, terminals: TERMINALS });
  const open = async (name: string) => {
    const { signal } = new AbortController();
    const options = { cwd: `${home.path}/${name}`, trust: false, directories, signal };
    return (await openProject(options, host)).isTrusted;
  };
  assertEquals([await open("a/p"), await open("b/p"), host.screen], [true, false, ""]);
});
