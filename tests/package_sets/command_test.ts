/**
 * What the program relies on in `@cliffy/command`. It holds for JSR's package and for the one in `scripts/offline/`.
 *
 * @module
 */

import { Command, ValidationError } from "@cliffy/command";
import { assertEquals, assertRejects } from "@std/assert";

/** What the actions got, in order. */
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
    .globalOption("--cwd <folder:string>", "The folder.")
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

Deno.test("options come typed, under camelCase names, with their defaults", async () => {
  const args = ["run", "-m", "x", "--max-turns=3", "--tag", "a", "--tag", "b"];
  assertEquals(await recordCalls(...args, "--tools", "read,bash", "-p", "mend", "it"), [{
    ...{ model: "x", maxTurns: 3, tag: ["a", "b"], tools: ["read", "bash"] },
    ...{ format: "text", print: true, color: true, prompt: ["mend", "it"] },
  }]);
  assertEquals(await recordCalls("run", "--no-color"), [{
    format: "text",
    color: false,
    prompt: [],
  }]);
});

Deno.test("a global option is taken before and behind the name of the command", async () => {
  const expected = [{ cwd: "d", format: "text", color: true, prompt: ["q"] }];
  assertEquals(await recordCalls("--cwd", "d", "run", "q"), expected);
  assertEquals(await recordCalls("run", "q", "--cwd", "d"), expected);
});

Deno.test("what stands behind -- is kept apart", async () => {
  const { literal, args, cmd } = await createProgram([]).parse(["run", "a", "--", "--model", "b"]);
  assertEquals(args, ["a"]);
  assertEquals(literal, ["--model", "b"]);
  assertEquals(cmd.getLiteralArgs(), ["--model", "b"]);
});

Deno.test("an option that stands alone lets arguments be missing", async () => {
  const { options, cmd } = await createProgram([]).parse(["open", "--help"]);
  assertEquals(options.help, true);
  assertEquals(cmd.getPath(), "swink open");
});

Deno.test("without a command the main action runs", async () => {
  assertEquals(await recordCalls(), [{ main: {} }]);
});

Deno.test("an unknown option of a command with arguments is one of them", async () => {
  assertEquals(await recordCalls("run", "--modle", "x"), [
    { format: "text", color: true, prompt: ["--modle", "x"] },
  ]);
});

for (
  const [what, args, path] of [
    ["a value that is missing", ["run", "-m"], "swink run"],
    ["a value of the wrong type", ["run", "--max-turns", "1.5"], "swink run"],
    ["a value for a switch", ["run", "--print=x"], "swink run"],
    ["an option that comes twice", ["run", "-m", "a", "-m", "b"], "swink run"],
    ["a global option that comes twice", ["--cwd", "a", "run", "--cwd", "b"], "swink run"],
    ["an argument that is missing", ["open"], "swink open"],
    ["an argument too many", ["open", "a", "b"], "swink open"],
    ["an unknown command", ["rnu"], "swink"],
    ["an unknown option of a command without arguments", ["--modle"], "swink"],
  ] as const
) {
  Deno.test(`${what} is a ValidationError that names the command`, async () => {
    const error = await assertRejects(() => createProgram([]).parse([...args]), ValidationError);
    assertEquals(error.exitCode, 2);
    assertEquals(error.cmd?.getPath(), path);
  });
}

Deno.test("a command tells its options and arguments", () => {
  const run = createProgram([]).getCommand("run");
  assertEquals(run?.getDescription(), "Runs a prompt.");
  assertEquals(run?.getArguments().map(({ name, variadic }) => ({ name, variadic })), [
    { name: "prompt", variadic: true },
  ]);
  assertEquals(
    run?.getOptions().map(({ flags, typeDefinition }) => [...flags, typeDefinition]),
    [
      ["--cwd", "<folder:string>"],
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
