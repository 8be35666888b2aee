/**
 * `swink doctor` and `swink models`.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { main } from "../../cli/main.ts";
import { readProjectPrograms } from "../../cli/project/project_content.ts";
import { trustProject } from "../../cli/project/trusted_directories.ts";
import { createFakeHost } from "./fake_host.ts";
import { runSwink } from "./swink_process.ts";
import { createTemporaryDirectory } from "./temporary_directory.ts";

/** Runs `swink doctor`. */
async function runDoctor(
  files: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
) {
  await using home = await createTemporaryDirectory(files);
  const replaced = Object.entries(env).map((
    [name, value],
  ) => [name, value.replace("HOME", home.path)]);
  const host = createFakeHost({
    env: { HOME: home.path, NO_COLOR: "1", ...Object.fromEntries(replaced) },
  });
  const code = await main(["doctor"], host);
  return { code, output: host.output.replaceAll(home.path, "HOME"), messages: host.messages };
}

Deno.test("swink doctor: checks everything, and prints no key", async () => {
  const { code, output, messages } = await runDoctor(
    { ".config/swink/config.toml": 'model = "a/b"\n' },
    { ANTHROPIC_API_KEY: "sk-canary" },
  );
  assertEquals([code, messages, output.includes("canary")], [0, "", false]);
  assertMatch(output, /^ok {7}runtime: swink \d\S+, Deno \d/);
  assertStringIncludes(
    output,
    "\nok       configuration: 1 key is set; your file is HOME/.config/swink/config.toml\n",
  );
  assertStringIncludes(output, "\nok       keys: anthropic (ANTHROPIC_API_KEY)\n");
  assertMatch(
    output,
    /\nok {7}sessions: HOME\/\.local\/state\/swink\/sessions \(\d+ [GM]B free\)\n/,
  );
  assertMatch(output, /\n(ok|warning) +sandbox: /);
  assertMatch(output, /\nok +project: /);
});

Deno.test("swink doctor: finds models on this device, and those of servers on this machine", async () => {
  await using home = await createTemporaryDirectory({
    ".local/share/swink/models/mine.gguf": "a model",
    ".local/share/swink/models/other.gguf.part": "half a model",
  });
  const list = (body: unknown) => ({ status: 200, body: JSON.stringify(body) });
  const host = createFakeHost({
    env: { HOME: home.path, NO_COLOR: "1" },
    model: [
      list({ models: [{ name: "qwen3:8b" }] }),
      { status: 404, body: "" },
      list({ data: [{ id: "a" }, { id: "b" }] }),
      { status: 200, body: "<html>" },
    ],
  });
  assertEquals(await main(["doctor"], host), 0);
  assertStringIncludes(
    host.output,
    "\nok       local models: this device (1), Ollama (1), llama.cpp (2)\n",
  );
  const { output } = await runDoctor({});
  assertStringIncludes(
    output,
    "local models: none on this device, and no server (Ollama: 11434, LM Studio: 1234, llama.cpp: 8080, vLLM: 8000)\n",
  );
});

Deno.test("swink doctor: asks servers at the URLs of the configuration, and reports those that need a key", async () => {
  await using home = await createTemporaryDirectory({
    ".config/swink/config.toml": '[providers.ollama]\nbase_url = "http://gpu.test:1/v1"\n',
  });
  const host = createFakeHost({
    env: { HOME: home.path, NO_COLOR: "1" },
    model: [
      { status: 200, body: JSON.stringify({ models: [{ name: "qwen3:8b" }] }) },
      { status: 404, body: "" },
      { status: 404, body: "" },
      { status: 401, body: '{"error":"Unauthorized"}' },
    ],
  });
  assertEquals(await main(["doctor"], host), 0);
  assertEquals(host.requests[0]?.url, "http://gpu.test:1/api/tags");
  assertStringIncludes(
    host.output,
    "\nok       local models: Ollama (1), vLLM (answers only with a key)\n",
  );
});

Deno.test("swink doctor: reports what is missing, with advice", async () => {
  const { code, output } = await runDoctor({ "state": "a file" }, { XDG_STATE_HOME: "HOME/state" });
  assertEquals(code, 0);
  assertStringIncludes(output, "warning  keys: no provider has a key; only local models work\n");
  assertStringIncludes(output, "         Save a key with: swink login anthropic\n");
  assertStringIncludes(output, "warning  sessions: HOME/state/swink/sessions cannot be written");
});

Deno.test({
  name: "swink doctor and swink keys: name saved keys that cannot be read",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const state = ".local/state/swink/credentials";
    await using home = await createTemporaryDirectory({
      [`${state}/openai.keyring`]: "",
      [`${state}/mistral.key`]: "",
    });
    const run = async (command: string, env: Readonly<Record<string, string>> = {}) => {
      const host = createFakeHost({ env: { HOME: home.path, NO_COLOR: "1", ...env } });
      assertEquals(await main([command], host), 0);
      return host.output.replaceAll(home.path, "HOME");
    };
    const files = `HOME/${state} (files that only you can read)`;
    const place = "a keyring that is not available here";
    assertEquals(await run("keys"), `mistral  ${files}\nopenai   ${place}\n`);
    const output = await run("doctor");
    const advice = (provider: string) => `         Save it again with: swink login ${provider}\n`;
    assertStringIncludes(
      output,
      `warning  keys: The key for mistral is not in ${files}\n${advice("mistral")}` +
        `warning  keys: The key for openai is in ${place}\n${advice("openai")}` +
        "warning  keys: no provider has a key; only local models work\n",
    );
    // The session bus exists, but no program that asks it.
    const bus = { DBUS_SESSION_BUS_ADDRESS: "unix:path=/nonexistent" };
    assertMatch(
      await run("doctor", { ...bus, ANTHROPIC_API_KEY: "k" }),
      /ok +keys: anthropic \(ANTHROPIC_API_KEY\)\n(?:.+\n)*warning +keys: The key for openai (cannot be read from|is not in) the keyring/,
    );
  },
});

Deno.test("swink doctor: ends with 1 for an invalid configuration", async () => {
  const { code, output } = await runDoctor({
    ".config/swink/config.toml": "max_turns = 0\nmodle = 1\n",
  });
  assertEquals(code, 1);
  const prefix = "configuration: HOME/.config/swink/config.toml";
  assertStringIncludes(output, `error    ${prefix}:1: max_turns must be at least 1, not 0\n`);
  assertStringIncludes(output, `warning  ${prefix}:2: Unknown key "modle". Did you mean model?\n`);
});

Deno.test("swink doctor: reports the values and the rules of a configuration with which every run fails", async () => {
  const FILE = ".config/swink/config.toml";
  for (
    const [config, finding] of [
      ['timeout = "10"', `HOME/${FILE}: Invalid value "10" for timeout: must be a duration`],
      ['allowed_tools = ["bsh(git *)"]', 'Unknown tool "bsh". Did you mean bash?'],
      ['disallowed_tools = ["bash("]', "its parentheses do not match"],
    ]
  ) {
    const { code, output } = await runDoctor({ [FILE]: `${config}\n` });
    assertEquals(code, 1, config);
    const [line = ""] = output.split("\n").filter((text) => text.startsWith("error"));
    assertMatch(line, /^error {4}configuration: /);
    assertStringIncludes(line, finding ?? "");
  }
});

Deno.test("swink doctor: lists the commands of the user, and the files that are none", async () => {
  const { code, output } = await runDoctor({
    ".config/swink/commands/explain.md": "Explain $ARGUMENTS\n",
    ".config/swink/commands/quit.md": "Never\n",
  });
  const [listed, problem] = output.split("\n").filter((line) => line.includes(" commands: "));
  assertEquals([code, listed], [0, "ok       commands: /explain"]);
  assertStringIncludes(
    problem ?? "",
    "warning  commands: HOME/.config/swink/commands/quit.md is not",
  );
  assert(!(await runDoctor({})).output.includes("commands:"));
});

Deno.test("swink doctor: reports invalid files of the current project, if it is trusted, and of servers", async () => {
  const check = async (files: Readonly<Record<string, string>>, isTrusted: boolean) => {
    await using home = await createTemporaryDirectory({ "p/.swink/x": "", ...files });
    const path = await Deno.realPath(home.path);
    const directories = { config: `${path}/.config/swink`, state: `${path}/.local/state/swink` };
    if (isTrusted) await trustProject(await readProjectPrograms(`${path}/p`), directories);
    const { code, output } = await runSwink(["doctor"], {
      cwd: `${path}/p`,
      env: {
        XDG_CONFIG_HOME: `${path}/.config`,
        XDG_STATE_HOME: `${path}/.local/state`,
        NO_COLOR: "1",
      },
    });
    const lines = output.replaceAll(path, "HOME").split("\n");
    return [code, ...lines.filter((line) => /^error|MCP/.test(line))];
  };
  const config = { "p/.swink/config.toml": 'max_turns = "x"\n' };
  assertEquals(await check(config, false), [0, "ok       MCP servers: none"]);
  assertEquals(await check(config, true), [
    1,
    'error    configuration: HOME/p/.swink/config.toml:1: max_turns must be an integer, not "x"',
    "ok       MCP servers: none",
  ]);
  const servers = { "p/.mcp.json": "{" };
  assertEquals(await check(servers, false), [0, "ok       MCP servers: none"]);
  assertEquals(await check(servers, true), [
    1,
    "error    MCP servers: HOME/p/.mcp.json: the file is not valid JSON",
  ]);
  const own = { ".config/swink/mcp.json": '{"mcpServers":{"notes":{"command":"notes"}}}' };
  assertEquals(await check(own, false), [
    0,
    "ok       MCP servers: notes; try: swink mcp test",
  ]);
});

Deno.test("swink doctor: reports that Git is missing", async () => {
  const { output } = await runDoctor({ "bin/other": "" }, { PATH: "HOME/bin" });
  const finding = "it is not in PATH, so that the model does not get the state of repositories";
  assertStringIncludes(output, `\nwarning  git: ${finding}\n         Install Git.\n`);
  const found = await runDoctor({ "bin/git": "" }, { PATH: "HOME/bin" });
  assertStringIncludes(found.output, "\nok       git: HOME/bin/git\n");
});

Deno.test("swink doctor: works without a home directory", async () => {
  const { code, output } = await runDoctor({}, { HOME: "" });
  assertEquals(code, 0);
  assertStringIncludes(output, "warning  configuration: there is no home directory");
});

Deno.test("swink models: lists the models that contain all words", async () => {
  const list = async (...args: string[]) => {
    const host = createFakeHost({ env: {} });
    return {
      code: await main(["models", ...args], host),
      output: host.output,
      messages: host.messages,
    };
  };
  const { code, output } = await list("Anthropic/", "sonnet-5-5");
  assertEquals(code, 0);
  assertMatch(
    output,
    /^anthropic\/claude-sonnet-5-5 +\d+[kM] context {2}\d+k output {2}\$\d+ in, \$\d+ out {2}images\n$/,
  );
  const all = (await list()).output.trimEnd().split("\n");
  assert(all.length > 50);
  const json = JSON.parse((await list("-ojson", "claude")).output);
  assert(json.length > 0 && json.every(({ model }: { model: string }) => model.includes("claude")));
  assertEquals(await list("no-such-model"), {
    code: 1,
    output: "",
    messages: "No known model has this name; -m provider/model takes any name\n",
  });
});
