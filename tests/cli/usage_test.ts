import { main } from "../../cli/main.ts";
import { EXIT_CODES } from "../../cli/exit_code.ts";
import { VERSION } from "../../cli/version.ts";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { root } from "../project.ts";
import { createFakeHost } from "./fake_host.ts";

/** Runs a command line that asks no model. */
async function runSession(
  args: readonly string[],
  options: Parameters<typeof createFakeHost>[0] = {},
) {
  const host = createFakeHost(options);
  const code = await main(args, host);
  return { code, output: host.output, messages: host.messages };
}

Deno.test("--version and -V tell the version, which is that of deno.json", async () => {
  assertEquals(await runSession(["--version"]), { code: 0, output: `${VERSION}\n`, messages: "" });
  assertEquals((await runSession(["-V"])).output, `${VERSION}\n`);
  const { version } = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));
  assertEquals(VERSION, version);
});

Deno.test("without a command, the help says what there is", async () => {
  const { code, output } = await runSession([]);
  assertEquals(code, 0);
  for (const word of ["run", "demo", "completions", "--version"]) {
    assertStringIncludes(output, word);
  }
});

Deno.test("help is another way to say --help", async () => {
  assertEquals((await runSession(["help"])).output, (await runSession(["--help"])).output);
  assertEquals(
    (await runSession(["help", "run"])).output,
    (await runSession(["run", "--help"])).output,
  );
});

Deno.test("the help of run tells options, environment and every exit code", async () => {
  const { output } = await runSession(["run", "--help"]);
  for (const word of ["-m, --model <model>", "--patch <file>", "ANTHROPIC_API_KEY", "NO_COLOR"]) {
    assertStringIncludes(output, word);
  }
  for (const [code] of EXIT_CODES) assert(new RegExp(`^  ${code} +\\S`, "m").test(output));
  assert(!output.includes("--print"), "what does nothing is not shown");
});

for (const columns of [40, 60, 80, 200]) {
  Deno.test(`help fits ${columns} columns, and never takes more than 100`, async () => {
    for (const args of [["--help"], ["demo", "--help"]]) {
      const { output } = await runSession(args, { columns });
      const widest = Math.max(...output.split("\n").map((line) => line.length));
      assert(widest <= Math.min(columns, 100), `${args}: ${widest}`);
    }
  });
}

Deno.test("help is coloured on a terminal only, and as the environment says", async () => {
  const terminals = ["output"] as const;
  const isColored = async (env: Record<string, string>, onTerminal = true) =>
    (await runSession(["--help"], { env, ...(onTerminal && { terminals }) })).output.includes(
      "\x1b[",
    );
  assertEquals(await isColored({}), true);
  assertEquals(await isColored({}, false), false);
  assertEquals(await isColored({ NO_COLOR: "1" }), false);
  assertEquals(await isColored({ TERM: "dumb" }), false);
  assertEquals(await isColored({ NO_COLOR: "1", FORCE_COLOR: "1" }, false), true);
  assertEquals(await isColored({ FORCE_COLOR: "0" }), false);
});

for (
  const [what, args, message, advice] of [
    [
      "a wrong flag",
      ["run", "--modle", "openai/x", "hello"],
      "swink run has no option --modle. Did you mean --model?",
      "See: swink run --help",
    ],
    [
      "a wrong command",
      ["rnu"],
      'swink has no command "rnu". Did you mean run?',
      "See: swink --help",
    ],
    [
      "a prompt without a command",
      ["fix the tests"],
      "A prompt needs a command before it",
      'Try: swink run "fix the tests"',
    ],
    [
      "a prompt that begins with a dash",
      ["run", "- mend this"],
      '"- mend this" looks like an option',
      "Write -- before what begins with a dash: swink run -- …",
    ],
    [
      "an option of run before run",
      ["-m", "openai/x", "hello"],
      "swink has no option -m",
      "It is an option of swink run: swink run -m …",
    ],
    ["a value that is missing", ["run", "x", "--model"], "--model needs a value: --model <model>"],
    [
      "an option instead of a value",
      ["run", "--system", "-x", "y"],
      "--system needs a value: --system <text> (or --system=-x, if that is the value)",
    ],
    [
      "a value of the wrong type",
      ["run", "--max-turns", "many", "x"],
      '--max-turns takes a whole number, not "many"',
    ],
    [
      "a value that is too small",
      ["run", "--max-turns", "0", "x"],
      "--max-turns must be at least 1, not 0",
    ],
    ["a value for a switch", ["run", "--approve-all=yes", "x"], "--approve-all takes no value"],
    [
      "an option twice",
      ["run", "-m", "a/b", "--model", "c/d", "x"],
      "--model can be given only once",
    ],
    [
      "an unknown format",
      ["run", "-o", "stream_json", "x"],
      '--output-format "stream_json" is none of text, json, stream-json. Did you mean stream-json?',
    ],
    [
      "a model without a provider",
      ["run", "-m", "llama3.2", "x"],
      'Cannot parse the model "llama3.2": write it as provider/model, such as anthropic/claude-sonnet-4-6',
    ],
    [
      "a folder that is none",
      ["run", "--cwd", "/nowhere", "x"],
      '--cwd "/nowhere" is not a folder',
    ],
    [
      "an address that is none",
      ["run", "--base-url", "localhost:80", "x"],
      '--base-url "localhost:80" is not an address of the form https://host/path',
    ],
    [
      "a patch in a folder that is not there",
      ["run", "--patch", "/nowhere/a.patch", "x"],
      '--patch "/nowhere/a.patch": there is no folder /nowhere',
    ],
    [
      "a tool that does not exist",
      ["run", "--disallowed-tools", "bahs", "x"],
      'There is no tool "bahs". Did you mean bash?',
    ],
    [
      "too many arguments",
      ["completions", "bash", "zsh"],
      "swink completions was given too many arguments",
    ],
    ["too few arguments", ["completions"], "swink completions needs a <shell>"],
    ["a shell that is not known", ["completions", "csh"], 'There are no completions for "csh"'],
    ["no prompt at a terminal", ["run"], "There is no prompt"],
  ] as const
) {
  Deno.test(`${what} ends with 2 and says what to type`, async () => {
    const terminals = ["input"] as const;
    const { code, output, messages } = await runSession(args, { terminals });
    assertEquals({ code, output }, { code: 2, output: "" });
    assertStringIncludes(messages, `swink: ${message}\n`);
    if (advice) assertStringIncludes(messages, advice);
  });
}

Deno.test("completions name every command and option, in words that the shells can read", async () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const { code, output } = await runSession(["completions", shell]);
    assertEquals(code, 0);
    for (const word of ["run", "demo", "output-format", "max-turns"]) {
      assertStringIncludes(output, word);
    }
  }
  const { output } = await runSession(["completions", "bash"]);
  const check = "COMP_WORDS=(swink run --mo); COMP_CWORD=2; _swink; echo ${COMPREPLY[*]}";
  const { stdout } = await new Deno.Command("bash", { args: ["-c", `${output}\n${check}`] })
    .output();
  assertEquals(new TextDecoder().decode(stdout), "--model\n");
});
