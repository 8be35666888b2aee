import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { EXIT_CODES } from "../../cli/host/exit_code.ts";
import { VERSION } from "../../cli/host/version.ts";
import { main } from "../../cli/main.ts";
import { root } from "../project.ts";
import { createFakeHost } from "./fake_host.ts";

/** Runs a command line without a model. */
async function runSession(
  args: readonly string[],
  options: Parameters<typeof createFakeHost>[0] = {},
) {
  const host = createFakeHost(options);
  const code = await main(args, host);
  return { code, output: host.output, messages: host.messages };
}

Deno.test("swink --version: prints the version of deno.json", async () => {
  assertEquals(await runSession(["--version"]), { code: 0, output: `${VERSION}\n`, messages: "" });
  assertEquals((await runSession(["-V"])).output, `${VERSION}\n`);
  const { version } = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));
  assertEquals(VERSION, version);
});

Deno.test("swink --help: lists the commands and the options of the program", async () => {
  const { code, output } = await runSession(["--help"]);
  assertEquals(code, 0);
  for (const word of ["chat", "run", "demo", "completions", "--version"]) {
    assertStringIncludes(output, word);
  }
});

Deno.test("swink: without a terminal it is a run, which needs a prompt", async () => {
  const { code, messages } = await runSession([]);
  assertEquals([code, messages.split("\n")[0]], [2, "swink: The prompt is empty"]);
});

Deno.test("swink help: is the same as --help", async () => {
  assertEquals((await runSession(["help"])).output, (await runSession(["--help"])).output);
  const { output } = await runSession(["run", "--help"]);
  for (const args of [["help", "run"], ["--help", "run"], ["-p", "x", "--help", "--model"]]) {
    assertEquals((await runSession(args)).output, output, args.join(" "));
  }
});

Deno.test("swink run --help: lists options, environment and every exit code", async () => {
  const { output } = await runSession(["run", "--help"]);
  for (const word of ["-m, --model <model>", "--patch <file>", "ANTHROPIC_API_KEY", "NO_COLOR"]) {
    assertStringIncludes(output, word);
  }
  for (const [code] of EXIT_CODES) assert(new RegExp(`^  ${code} +\\S`, "m").test(output));
  assert(!output.includes("--print"), "--print is hidden");
});

for (const columns of [40, 60, 80, 200]) {
  Deno.test(`swink --help: is at most ${columns} columns wide, and never more than 100`, async () => {
    const commands = columns < 60 ? [[], ["demo"]] : [[], ["demo"], ["completions"], ["run"]];
    for (const args of commands) {
      const { output } = await runSession([...args, "--help"], { columns });
      const widest = Math.max(...output.split("\n").map((line) => line.length));
      assert(widest <= Math.min(columns, 100), `${args}: ${widest}`);
    }
  });
}

Deno.test("swink --help: uses colors on a terminal; NO_COLOR and FORCE_COLOR override that", async () => {
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

Deno.test("errors before the start: rows break between words on a terminal, and in a pipe nowhere", async () => {
  const args = ["run", "- a mistake", "--modle", "a/b"];
  const piped = (await runSession(args)).messages;
  for (const columns of [40, 60, 80]) {
    const options = { columns, terminals: ["messages"], env: { NO_COLOR: "1" } } as const;
    const { messages } = await runSession(args, options);
    const rows = messages.trimEnd().split("\n");
    assert(rows.every((row) => row.length <= columns), messages);
    assertEquals(messages.split(/\s+/), piped.split(/\s+/), "words are kept");
  }
  assertEquals(piped.trimEnd().split("\n").length, 2);
});

for (
  const [mistake, args, message, advice] of [
    [
      "an unknown option",
      ["run", "--modle", "openai/x", "hello"],
      "Unknown option --modle. Did you mean --model?",
      "See: swink run --help",
    ],
    [
      "an option of the program",
      ["run", "--versoin"],
      "Unknown option --versoin. Did you mean swink --version?",
      "See: swink run --help",
    ],
    [
      "an option of other programs without a command",
      ["--json", "hello"],
      "Unknown option --json. Did you mean -o json?",
      "See: swink chat --help",
    ],
    [
      "an unknown command",
      ["rnu", "--model", "x"],
      'Unknown command "rnu". Did you mean run?',
      "For a prompt that begins with this word: swink -- rnu …",
    ],
    [
      "a prompt that begins with a dash",
      ["run", "- fix this"],
      '"- fix this" looks like an option',
      'To pass an argument that begins with a dash: swink run -- "- fix this"',
    ],
    [
      "an option before the command",
      ["-m", "openai/x", "run", "hello"],
      "The command run is not the first word",
      'Write swink run …, or the prompt in quotes: swink "run hello"',
    ],
    [
      "a missing value",
      ["run", "x", "--model"],
      "Option --model requires a value: --model <model>",
    ],
    ["an empty value", ["run", "x", "--cwd="], "Option --cwd requires a value: --cwd <directory>"],
    [
      "an option instead of a value",
      ["run", "--system", "-x", "y"],
      "Option --system requires a value: --system <text> (or --system=-x if -x is the value)",
    ],
    [
      "a value of the wrong type",
      ["run", "--max-turns", "many", "x"],
      'Option --max-turns requires an integer, not "many"',
    ],
    [
      "a value that is too small",
      ["run", "--max-turns", "0", "x"],
      "Option --max-turns must be at least 1, not 0",
    ],
    [
      "a value for a boolean option",
      ["run", "--approve-all=yes", "x"],
      "Option --approve-all does not take a value",
    ],
    [
      "an invalid variable",
      ["run", "--env", "1A=secret", "x"],
      'Invalid value "1A" for --env: must be NAME or NAME=VALUE',
    ],
    [
      "a rule without its closing parenthesis",
      ["run", "--allowed-tools", "read_file bash(", "x"],
      'Invalid rule "read_file bash(": its parentheses do not match',
      'Write the name of a tool, or a name with a pattern: "bash(git log *)"',
    ],
    [
      "a rule with a blank before its pattern",
      ["run", "--disallowed-tools", "bash (git *)", "x"],
      'Invalid rule "bash (git *)": its parentheses do not match',
    ],
    [
      "a pattern in --tools",
      ["run", "--tools", "Bash(git *)", "x"],
      '--tools takes names without patterns, not "bash(git *)"',
      "--allowed-tools",
    ],
    [
      "--quiet with --verbose",
      ["run", "-q", "-v", "x"],
      "--quiet and --verbose cannot be combined",
    ],
    [
      "an unknown format",
      ["run", "-o", "stream_json", "x"],
      'Invalid value "stream_json" for --output-format: must be one of text, json, stream-json. ' +
      "Did you mean stream-json?",
    ],
    [
      "a model without a provider",
      ["run", "-m", "llama3.2", "x"],
      'Cannot parse the model "llama3.2": write it as provider/model, such as anthropic/claude-sonnet-5-5',
    ],
    [
      "a missing directory",
      ["run", "--cwd", "/nowhere", "x"],
      'Invalid value "/nowhere" for --cwd: the directory does not exist',
    ],
    [
      "an invalid URL",
      ["run", "--base-url", "localhost:80", "x"],
      'Invalid value "localhost:80" for --base-url: must be a URL such as https://host/path',
    ],
    [
      "an invalid URL with a password",
      ["run", "--base-url", "ftp://user:can/ary@host/v1", "x"],
      'Invalid value "ftp://…@host/v1" for --base-url: must be a URL such as https://host/path',
    ],
    [
      "a directory for the patch",
      ["run", "--patch", ".", "x"],
      'Invalid value "." for --patch: is a directory',
    ],
    [
      "a patch in a missing directory",
      ["run", "--patch", "/nowhere/a.patch", "x"],
      'Invalid value "/nowhere/a.patch" for --patch: there is no directory /nowhere',
    ],
    [
      "invalid hosts",
      ["run", "--net", "http://x", "x"],
      'Invalid value "http://x" for --net: must be on, off or hosts separated by commas',
    ],
    [
      "an unknown tool",
      ["run", "--disallowed-tools", "bahs", "x"],
      'Unknown tool "bahs". Did you mean bash?',
      "Where a name of the configuration is written: swink config get",
    ],
    [
      "too many arguments",
      ["completions", "bash", "zsh"],
      'Too many arguments for swink completions: "zsh"',
    ],
    [
      "a missing argument",
      ["completions"],
      "Argument <shell> of swink completions is missing",
      "Choose one of: bash, zsh, fish",
    ],
    [
      "an unknown shell",
      ["completions", "csh"],
      'Invalid value "csh" for <shell>: must be one of bash, zsh, fish. Did you mean zsh?',
    ],
    ["no prompt at a terminal", ["run"], "The prompt is missing"],
    [
      "an id of a session instead of a prompt",
      ["run", "-r", "hello"],
      "The prompt is missing",
      '-r takes "hello" as the id of a session. Try: swink run -r hello "Make the tests pass"\n',
    ],
  ] as const
) {
  Deno.test(`usage error: ${mistake} ends with 2 and a message`, async () => {
    const terminals = ["input"] as const;
    const { code, output, messages } = await runSession(args, { terminals });
    assertEquals({ code, output }, { code: 2, output: "" });
    assertStringIncludes(messages, `swink: ${message}\n`);
    if (advice) assertStringIncludes(messages, advice);
  });
}

Deno.test("swink: a leading --version or --help ignores arguments that are not commands", async () => {
  for (const args of [["--version", "run"], ["-V", "run", "hi"], ["--version", "-"]]) {
    assertEquals(await runSession(args), { code: 0, output: `${VERSION}\n`, messages: "" });
  }
  for (const args of [["--help", "hi"], ["-h", "-xy"], ["--help", "--", "--bogus"]]) {
    const { code, output } = await runSession(args);
    assertEquals([code, output.includes("Commands:")], [0, true], args.join(" "));
  }
  const { code, output } = await runSession(["--help", "-p", "hi"]);
  assertEquals([code, output.includes("swink run [options]")], [0, true]);
});

Deno.test("swink: --help and --version do not take a value", async () => {
  for (const args of [["--help=1"], ["--version="], ["run", "--help=false", "hi"]]) {
    const { code, output, messages } = await runSession(args);
    assertEquals([code, output], [2, ""]);
    assertStringIncludes(messages, "does not take a value");
  }
});
