/**
 * The behaviour of `@cliffy/command` that the program relies on, for JSR's package and the one in `scripts/offline/`.
 *
 * @module
 */

import { Command, ValidationError } from "@cliffy/command";
import { assertEquals, assertRejects } from "@std/assert";

/** Options and arguments that the actions received, in order. */
type RecordedCalls = unknown[];

function createProgram(calls: RecordedCalls) {
  const run = new Command()
    .description("Runs a prompt.")
    .arguments("[prompt...:string]")
    .option("-m, --model <model:string>", "The model.")
    .option("--max-turns <count:integer>", "The limit.")
    .option("--tag <tag:string>", "A tag.", { collect: true })
    .option("--tools <names:string[]>", "The tools.")
    .option("--format <format:string>", "The format.", { default: "text" })
    .option("-p, --print", "Prints.")
    .option("--no-color", "No colour.")
    .action((options, ...prompt) => {
      const typed: {
        model?: string | undefined;
        maxTurns?: number | undefined;
        tag?: string[] | undefined;
        tools?: string[] | undefined;
        format: string;
        print?: boolean | undefined;
        color: boolean;
      } = options;
      calls.push({ ...typed, prompt });
    });
  const open = new Command()
    .arguments("<file:string>")
    .action((_options, file) => {
      const typed: string = file;
      calls.push(typed);
    });
  return new Command()
    .name("swink")
    .description("An agent.")
    .globalOption("--cwd <path:string>", "The directory.")
    .globalOption("-h, --help", "Help.", { standalone: true })
    .helpOption(false)
    .throwErrors()
    .noExit()
    .action((options) => {
      calls.push({ main: { ...options } });
    })
    .command("run", run)
    .command("open", open);
}

async function recordCalls(...args: string[]): Promise<RecordedCalls> {
  const calls: RecordedCalls = [];
  await createProgram(calls).parse(args);
  return calls;
}

Deno.test("@cliffy/command: options are typed, have camelCase names and defaults", async () => {
  const args = ["run", "-m", "x", "--max-turns=3", "--tag", "a", "--tag", "b"];
  assertEquals(await recordCalls(...args, "--tools", "read,bash", "-p", "fix", "it"), [{
    ...{ model: "x", maxTurns: 3, tag: ["a", "b"], tools: ["read", "bash"] },
    ...{ format: "text", print: true, color: true, prompt: ["fix", "it"] },
  }]);
  assertEquals(await recordCalls("run", "--no-color"), [{
    format: "text",
    color: false,
    prompt: [],
  }]);
});

Deno.test("@cliffy/command: a global option is accepted before and after the command", async () => {
  const expected = [{ cwd: "d", format: "text", color: true, prompt: ["q"] }];
  assertEquals(await recordCalls("--cwd", "d", "run", "q"), expected);
  assertEquals(await recordCalls("run", "q", "--cwd", "d"), expected);
});

Deno.test("@cliffy/command: arguments after -- are literal", async () => {
  const { literal, args, cmd } = await createProgram([]).parse(["run", "a", "--", "--model", "b"]);
  assertEquals(args, ["a"]);
  assertEquals(literal, ["--model", "b"]);
  assertEquals(cmd.getLiteralArgs(), ["--model", "b"]);
});

Deno.test("@cliffy/command: a standalone option makes arguments optional", async () => {
  const { options, cmd } = await createProgram([]).parse(["open", "--help"]);
  assertEquals(options.help, true);
  assertEquals(cmd.getPath(), "swink open");
});

Deno.test("@cliffy/command: without a command the main action runs", async () => {
  assertEquals(await recordCalls(), [{ main: {} }]);
});

Deno.test("@cliffy/command: an unknown option is an argument of a command that has arguments", async () => {
  assertEquals(await recordCalls("run", "--modle", "x"), [
    { format: "text", color: true, prompt: ["--modle", "x"] },
  ]);
});

for (
  const [subject, args, path] of [
    ["a missing value", ["run", "-m"], "swink run"],
    ["a value of another type", ["run", "--max-turns", "1.5"], "swink run"],
    ["a value of a boolean option", ["run", "--print=x"], "swink run"],
    ["a repeated option", ["run", "-m", "a", "-m", "b"], "swink run"],
    ["a repeated global option", ["--cwd", "a", "run", "--cwd", "b"], "swink run"],
    ["a missing argument", ["open"], "swink open"],
    ["an extra argument", ["open", "a", "b"], "swink open"],
    ["an unknown command", ["rnu"], "swink"],
    ["an unknown option of a command without arguments", ["--modle"], "swink"],
  ] as const
) {
  Deno.test(`@cliffy/command: ${subject} is a ValidationError with the command`, async () => {
    const error = await assertRejects(() => createProgram([]).parse([...args]), ValidationError);
    assertEquals(error.exitCode, 2);
    assertEquals(error.cmd?.getPath(), path);
  });
}

Deno.test("@cliffy/command: a command returns its options and arguments", () => {
  const run = createProgram([]).getCommand("run");
  assertEquals(run?.getDescription(), "Runs a prompt.");
  assertEquals(run?.getArguments().map(({ name, variadic }) => ({ name, variadic })), [
    { name: "prompt", variadic: true },
  ]);
  assertEquals(
    run?.getOptions().map(({ flags, typeDefinition }) => [...flags, typeDefinition]),
    [
      ["--cwd", "<path:string>"],
      ["-h", "--help", ""],
      ["-m", "--model", "<model:string>"],
      ["--max-turns", "<count:integer>"],
      ["--tag", "<tag:string>"],
      ["--tools", "<names:string[]>"],
      ["--format", "<format:string>"],
      ["-p", "--print", ""],
      ["--no-color", ""],
    ],
  );
});
