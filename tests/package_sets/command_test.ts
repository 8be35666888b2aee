/**
 * The behaviour of `@cliffy/command` that the program relies on. Both JSR's package and the one in `scripts/offline/`
 * have it.
 *
 * @module
 */

import { Command, ValidationError } from "@cliffy/command";
import { assertEquals, assertRejects } from "@std/assert";

function createProgram(calls: string[] = []) {
  const program = new Command().helpOption(false).throwErrors().noExit();
  program.arguments("[words...:string]").option("-h, --help", "Help.")
    .action(() => void calls.push("main"));
  const run = new Command().helpOption(false).throwErrors().noExit();
  run.arguments("[words...:string]").action(() => void calls.push("run"));
  const other = new Command().helpOption(false).throwErrors().noExit();
  const options = [
    ["-m, --model <model:string>", false],
    ["--max-turns <count:string>", false],
    ["--tag <tag:string>", true],
    ["-p, --print", false],
    ["-r, --resume [id:string]", false],
    ["-h, --help", false],
  ] as const;
  for (const [flags, collect] of options) run.option(flags, "An option.", { collect });
  program.command("run", run);
  program.command("other", other);
  return { program, run };
}

async function parse(...args: string[]) {
  const { program, run } = createProgram();
  const { cmd, options, args: words, literal } = await program.parse(args);
  const name = Object.is(cmd, run) ? "run" : "main";
  return { name, options: options as unknown, words: words as unknown, literal };
}

Deno.test("@cliffy/command: options are strings, arrays or true, by name in camelCase", async () => {
  const args = ["run", "-m", "x", "--max-turns=3", "--tag", "a", "--tag", "b", "-p", "fix", "it"];
  assertEquals(await parse(...args), {
    name: "run",
    options: { model: "x", maxTurns: "3", tag: ["a", "b"], print: true },
    words: ["fix", "it"],
    literal: [],
  });
});

Deno.test("@cliffy/command: values may be - or begin with a dash", async () => {
  assertEquals((await parse("run", "-m", "-")).options, { model: "-" });
  assertEquals((await parse("run", "--model=-x")).options, { model: "-x" });
});

Deno.test("@cliffy/command: an optional value that is missing is true", async () => {
  assertEquals((await parse("run", "--resume")).options, { resume: true });
  assertEquals((await parse("run", "-r", "-p", "fix")).options, { resume: true, print: true });
  assertEquals((await parse("run", "-r", "a")).options, { resume: "a" });
  assertEquals((await parse("run", "--resume=a", "b")).options, { resume: "a" });
});

Deno.test("@cliffy/command: arguments after -- are separate", async () => {
  const { words, literal } = await parse("run", "a", "--", "--model", "b");
  assertEquals({ words, literal }, { words: ["a"], literal: ["--model", "b"] });
});

Deno.test("@cliffy/command: unknown commands and options are arguments", async () => {
  assertEquals(await parse("rnu", "x"), {
    name: "main",
    options: {},
    words: ["rnu", "x"],
    literal: [],
  });
  assertEquals((await parse("run", "--modle", "x")).words, ["--modle", "x"]);
  assertEquals((await parse()).name, "main");
});

Deno.test("@cliffy/command: calls the action of the command", async () => {
  const calls: string[] = [];
  await createProgram(calls).program.parse(["run", "x"]);
  assertEquals(calls, ["run"]);
});

Deno.test("@cliffy/command: a missing value is a ValidationError with the command", async () => {
  const { program, run } = createProgram();
  const error = await assertRejects(() => program.parse(["run", "-m"]), ValidationError);
  assertEquals(Object.is(error.cmd, run), true);
});
