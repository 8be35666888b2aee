/**
 * Runs with configuration files, variables, `--config`, and the instructions of a project.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { main } from "../../cli/main.ts";
import { startThreadTimer } from "../thread_time.ts";
import { createFakeHost, type FakeHostOptions, scriptedCall, scriptedReply } from "./fake_host.ts";
import { createTemporaryDirectory } from "./temporary_directory.ts";

const CONFIG = ".config/swink/config.toml";

interface RunOptions extends FakeHostOptions {
  /** Files below the home directory; the run works in `p`. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Runs `swink run` in the directory `p` of a home directory. */
async function run({ files, env, ...options }: RunOptions, ...args: string[]) {
  await using home = await createTemporaryDirectory({ "p/notes.txt": "", ...files });
  const host = createFakeHost({
    model: [scriptedReply("Done.")],
    ...options,
    env: { ANTHROPIC_API_KEY: "k", NO_COLOR: "1", HOME: home.path, ...env },
  });
  const code = await main(["run", "--cwd", `${home.path}/p`, ...args, "Hello"], host);
  const hide = (text: string) => text.replaceAll(home.path, "HOME");
  const body = host.requests[0]?.body ?? "{}";
  return { code, messages: hide(host.messages), request: JSON.parse(body), body: hide(body) };
}

Deno.test("swink run: the command line precedes the environment, and that the user's file", async () => {
  const files = { [CONFIG]: 'model = "anthropic/file"\n' };
  const env = { SWINK_MODEL: "anthropic/variable" };
  assertEquals((await run({ files })).request.model, "file");
  assertEquals((await run({ files, env })).request.model, "variable");
  const override = ["--config", "model=anthropic/override"];
  assertEquals((await run({ files, env }, ...override)).request.model, "override");
  assertEquals(
    (await run({ files, env }, ...override, "-m", "anthropic/flag")).request.model,
    "flag",
  );
  assertEquals((await run({ files, env: { SWINK_MODEL: "" } })).request.model, "file");
});

Deno.test("swink run: the thinking level of the model and the effort precede each other as their sources do", async () => {
  const model = "openai/gpt-6.2-sol:high";
  const getEffort = async (options: RunOptions, ...args: string[]) => {
    const env = { OPENAI_API_KEY: "k", ...options.env };
    // A request that is rejected is not repeated after a wait.
    const model = [{ status: 400, body: "{}" }];
    return (await run({ ...options, env, model }, ...args)).request.reasoning?.effort;
  };
  const files = { [CONFIG]: 'effort = "low"\n' };
  assertEquals(await getEffort({ files }, "-m", model), "high");
  assertEquals(await getEffort({ files, env: { SWINK_MODEL: model } }), "high");
  assertEquals(await getEffort({ env: { SWINK_EFFORT: "low", SWINK_MODEL: model } }), "low");
  assertEquals(
    await getEffort({ env: { SWINK_EFFORT: "low" } }, "--config", `model=${model}`),
    "high",
  );
  const both = { [CONFIG]: `effort = "low"\nmodel = "${model}"\n` };
  assertEquals(await getEffort({ files: both }), "low");
  assertEquals(await getEffort({ files: both, env: { SWINK_EFFORT: "medium" } }), "medium");
  assertEquals(await getEffort({ files }, "-m", model, "--effort", "medium"), "medium");
  assertEquals(await getEffort({ files }, "-m", "openai/gpt-6.2-sol"), "low");
});

Deno.test("swink run: removes the tools that the configuration forbids, whatever the command line allows", async () => {
  const files = { [CONFIG]: 'disallowed_tools = ["bash"]\n' };
  const { request } = await run({ files }, "--disallowed-tools", "Write");
  const names: string[] = request.tools.map(({ name }: { name: string }) => name);
  assertEquals(names.filter((name) => ["bash", "write_file", "edit_file"].includes(name)), [
    "edit_file",
  ]);
});

Deno.test("swink run: an unknown key is a warning, and an error with --strict-config", async () => {
  const files = { [CONFIG]: "max_turn = 5\n" };
  const warning = `HOME/${CONFIG}:1: Unknown key "max_turn". Did you mean max_turns?\n`;
  const loose = await run({ files });
  assertEquals(loose.code, 0);
  assert(loose.messages.startsWith(`warning: ${warning}`), loose.messages);
  assertEquals((await run({ files }, "--quiet")).messages, `warning: ${warning}`);
  const strict = await run({ files }, "--strict-config");
  assertEquals(strict, { ...strict, code: 3, messages: `swink: ${warning}`, body: "{}" });
});

Deno.test("swink run: an invalid configuration ends the run, and its source is named", async () => {
  const check = async (options: RunOptions, ...args: string[]) => {
    const { code, messages } = await run(options, ...args);
    return [code, messages];
  };
  const file = `swink: HOME/${CONFIG}`;
  assertEquals(await check({ files: { [CONFIG]: "model = \n" } }), [
    3,
    `${file}:1: Invalid TOML: invalid value (texts need quotes)\n`,
  ]);
  assertEquals(await check({ files: { [CONFIG]: "net = 'http://x'\n" } }), [
    3,
    `${file}: Invalid value "http://x" for net: must be on, off or hosts separated by commas\n`,
  ]);
  assertEquals(await check({ files: { [CONFIG]: "model = 'x'\nmax_turns = 0\n" } }), [
    3,
    `${file}:2: max_turns must be at least 1, not 0\n`,
  ]);
  assertEquals(await check({ env: { SWINK_SANDBOX: "full" } }), [
    3,
    'swink: SWINK_SANDBOX: sandbox must be one of auto, required, off, not "full"\n',
  ]);
  assertEquals(await check({}, "--config", "net"), [
    2,
    "swink: --config net: Write it as KEY=VALUE\n",
  ]);
  const [code, message] = await check({}, "--config", "model=x");
  assertEquals(code, 2);
  assertStringIncludes(`${message}`, "swink: --config model=x: ");
});

Deno.test("swink run: warns about a variable for commands that is not set", async () => {
  const files = { [CONFIG]: 'env = ["MISSING"]\n' };
  const { messages } = await run({ files, env: { SET: "" } }, "--env", "SET", "--env", "ABSENT");
  const warnings = messages.split("\n").filter((line) => line.startsWith("warning: variable"));
  assertEquals(warnings, ["warning: variable ABSENT is not set, so commands do not get it"]);
  const configured = await run({ files });
  assertStringIncludes(configured.messages, "warning: variable MISSING is not set");
});

Deno.test("swink run: gives the model the instructions of a trusted project, and names them", async () => {
  const files = {
    "p/AGENTS.md": "Use tabs. @docs/a.md",
    "p/docs/a.md": "Be brief.",
    "p/.git/x": "",
  };
  const { code, messages, request } = await run({ files }, "--trust", "--sandbox", "off");
  assertEquals(code, 0);
  const prompt = JSON.stringify(request.system);
  assertStringIncludes(prompt, '<instructions file=\\"AGENTS.md\\">\\nUse tabs. @docs/a.md\\n');
  assertStringIncludes(prompt, '<instructions file=\\"docs/a.md\\">\\nBe brief.\\n');
  assertStringIncludes(messages, "sandbox off · AGENTS.md, docs/a.md\n");
});

Deno.test("swink run: loads nothing from a project that is not trusted, and says so", async () => {
  const files = {
    "p/AGENTS.md": "Use tabs.",
    "p/.swink/config.toml": 'model = "anthropic/evil"\n',
  };
  for (const args of [[], ["--system", "Be brief."]]) {
    const { code, messages, request, body } = await run({ files }, ...args);
    assertEquals([code, body.includes("Use tabs.")], [0, false]);
    assertEquals(request.model, "claude-sonnet-5-5");
    assertStringIncludes(messages, "not loaded (--trust): AGENTS.md, .swink/config.toml\n");
  }
  const { request, messages } = await run({ files }, "--trust");
  assertEquals(request.model, "evil");
  assertStringIncludes(messages, "AGENTS.md, .swink/config.toml\n");
});

Deno.test("swink run --bare: loads no file, neither of the user nor of the project", async () => {
  const files = { [CONFIG]: "max_turns = 0\n", "p/AGENTS.md": "Use tabs." };
  const { code, messages, body } = await run({ files }, "--bare");
  assertEquals([code, body.includes("Use tabs."), messages.includes("AGENTS.md")], [
    0,
    false,
    false,
  ]);
});

Deno.test("swink run: instructions follow the text of --system", async () => {
  const files = { "p/AGENTS.md": "Use tabs." };
  const { request } = await run({ files }, "--trust", "--system", "Be brief.");
  const prompt = JSON.stringify(request.system);
  assert(prompt.indexOf("Be brief.") < prompt.indexOf("Use tabs."), prompt);
});

Deno.test("swink run: reads a configuration of 10,000 lines", async () => {
  const lines = Array.from({ length: 10_000 }, (_, i) => `# ${i}`).join("\n");
  const files = { [CONFIG]: `${lines}\nmodel = "anthropic/last"\n` };
  assertEquals((await run({ files })).request.model, "last");
});

Deno.test("swink run: warns about at most ten of 10,000 unknown keys, without delay", async () => {
  const lines = Array.from({ length: 10_000 }, (_, i) => `key_${i} = ${i}`).join("\n");
  const getThreadTime = startThreadTimer();
  const { code, messages } = await run({ files: { [CONFIG]: lines } });
  assert(getThreadTime() < 4_000, `${getThreadTime()} ms`);
  const warnings = messages.split("\n").filter((line) => line.startsWith("warning: "));
  assertEquals([code, warnings.length], [0, 11]);
  assertEquals(
    warnings.at(-1),
    "warning: 9990 more warnings about the configuration; swink config get prints all",
  );
  assertEquals(warnings[9], `warning: HOME/${CONFIG}:10: Unknown key "key_9"`);
});

const SKILL = "---\nname: release\ndescription: How to release\n---\nRun the checks first.\n";

Deno.test("swink run: offers the skills of a trusted project and of the user", async () => {
  const files = {
    "p/.agents/skills/release/SKILL.md": SKILL,
    "p/.claude/skills/broken/SKILL.md": "no header",
    ".agents/skills/own/SKILL.md": SKILL.replace("release", "own"),
    ".agents/skills/own/notes.txt": "details",
  };
  const getSkills = ({ request }: Awaited<ReturnType<typeof run>>) =>
    request.tools.find(({ name }: { name: string }) => name === "skill")
      ?.input_schema.properties.name.enum;
  const untrusted = await run({ files });
  assertEquals(getSkills(untrusted), ["own"]);
  assertStringIncludes(untrusted.messages, "not loaded (--trust): .agents/skills, .claude/skills");
  const trusted = await run({ files }, "--trust");
  assertEquals(getSkills(trusted), ["own", "release"]);
  assertStringIncludes(
    trusted.messages,
    "warning: skill HOME/p/.claude/skills/broken was not loaded: ",
  );
  assertEquals(getSkills(await run({ files }, "--bare")), undefined);
});

Deno.test("swink run: the model reads a skill and its other files without approval", async () => {
  const files = {
    ".agents/skills/own/SKILL.md": SKILL.replace("release", "own"),
    ".agents/skills/own/notes.txt": "details",
  };
  const model = [
    scriptedReply(scriptedCall("skill", { name: "own" })),
    scriptedReply(scriptedCall("read_file", { path: "../.agents/skills/own/notes.txt" })),
    scriptedReply("Done."),
  ];
  const { code, messages } = await run({ files, model });
  assertEquals(code, 0, messages);
  assertStringIncludes(
    messages,
    "• skill own · 3 lines\n• read_file ../.agents/skills/own/notes.txt · 1 details\n",
  );
});
