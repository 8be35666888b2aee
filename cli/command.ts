/**
 * The commands of `swink`. What they do is imported when it is done.
 *
 * @module
 */

import { Command, ValidationError } from "@cliffy/command";
import { UsageError } from "./cli_error.ts";
import type { CommandShape } from "./command_shape.ts";
import type { RunFlags } from "./commands/run_settings.ts";
import type { ExitCode } from "./exit_code.ts";
import type { Host } from "./host.ts";
import { findUsageError } from "./usage_problem.ts";

/** What a command line asks for. */
export type CommandAction = (host: Host) => Promise<ExitCode>;

/**
 * Reads a command line.
 *
 * @throws {UsageError} When it does not make sense.
 */
export async function readCommand(args: readonly string[]): Promise<CommandAction> {
  const line = expandShorthand(args);
  const chosen: SelectedAction = {};
  const tree = commandTree(chosen);
  const problem = findUsageError(tree, line);
  if (problem) throw problem;
  const { cmd, options } = await parse(tree, line);
  const action = chosen.action;
  if (!action || ("help" in options && options.help)) return showHelp(cmd);
  return action;
}

/** `swink -p …` is short for `swink run …`, and `swink help run` another way to say `swink run --help`. */
function expandShorthand(args: readonly string[]): string[] {
  const [first = "", ...rest] = args;
  if (first === "help") return [...rest, "--help"];
  const end = args.indexOf("--");
  const options = end < 0 ? args : args.slice(0, end);
  const isPrint = first.startsWith("-") && options.some((arg) => arg === "-p" || arg === "--print");
  return isPrint ? ["run", ...args] : [...args];
}

/** Where the action of the chosen command is left, for parsing and doing to be two things. */
interface SelectedAction {
  action?: CommandAction;
}

async function parse(
  tree: ReturnType<typeof commandTree>,
  line: string[],
): Promise<{ readonly cmd: CommandShape; readonly options: object }> {
  try {
    return await tree.parse(line);
  } catch (error) {
    if (error instanceof ValidationError) throw new UsageError(error.message, "See: swink --help");
    throw error;
  }
}

function commandTree(chosen: SelectedAction) {
  return new Command()
    .name("swink")
    .description("An agent at the command line: it reads, edits and runs what is in a folder.")
    .helpOption(false)
    .throwErrors()
    .noExit()
    .globalOption("-h, --help", "Shows help for a command.", { standalone: true })
    .option("-V, --version", "Shows the version.", { standalone: true })
    .example('swink run "Make the tests pass"', "works on the current folder")
    .example('swink -p "Explain this" < error.log', "short for run, with input")
    .example("swink demo", "shows a run without a key or a model")
    .action(({ version }) => {
      if (version) chosen.action = showVersion;
    })
    .command("run", runCommand(chosen))
    .command("demo", demoCommand(chosen))
    .command("completions", completionsCommand(chosen));
}

function runCommand(chosen: SelectedAction) {
  const command = new Command()
    .description(
      "Works on a prompt until it is done, without a conversation. " +
        "What comes from standard input is added to the prompt; - as a word waits for it.",
    )
    .arguments("[prompt...:string]")
    .option(
      "-m, --model <model:string>",
      "The model, as provider/model or provider/model:thinking.",
    )
    .option("--base-url <url:string>", "Where the provider's API is.")
    .option("--system <text:string>", "A system prompt instead of the default one.")
    .option("--cwd <folder:string>", "The folder to work in. Default: the current one.")
    .option("--max-turns <count:integer>", "Most turns of the run. Default: 100.")
    .option(
      "-o, --output-format <format:string>",
      "What goes to standard output: text (default), json (one object at the end) or stream-json (one event a line).",
    )
    .option(
      "--patch <file:string>",
      "Writes what the run changed as a patch for git apply; - for standard output.",
    )
    .option("--record <file:string>", "Keeps what the model is asked and answers, for --replay.")
    .option(
      "--replay <file:string>",
      "Lets a recording answer in the model's place, without a network or a key.",
    )
    .option(
      "--allowed-tools <names:string>",
      "The only tools of the run, with commas between: they need no permission. bash(deno test *) allows some commands.",
      { collect: true },
    )
    .option("--disallowed-tools <names:string>", "Tools that the run does not have.", {
      collect: true,
    })
    .option("--approve-all", "Runs every tool call without asking.")
    .option(
      "--net <access:string>",
      "The network of commands: off (default), on, or hosts with commas between.",
    )
    .option("-p, --print", "Nothing: run always prints and ends.", { hidden: true })
    .example('swink run -m openai/gpt-6.2-sol "Fix the failing test"', "a model by name")
    .example('git diff | swink run "Review this change"', "input added to the prompt")
    .example('swink run --approve-all --patch fix.patch "Fix issue 12"', "the change as a patch")
    .action((options, ...words) => {
      const flags: RunFlags = options;
      chosen.action = async (host) => {
        const { run } = await import("./commands/run.ts");
        return await run(flags, [...words, ...command.getLiteralArgs()], host);
      };
    });
  return command;
}

function demoCommand(chosen: SelectedAction) {
  return new Command()
    .description("Shows an agent that repairs a small project; the model's words are scripted.")
    .action(() => {
      chosen.action = async (host) => {
        const { runDemo: demo } = await import("./commands/demo.ts");
        return await demo(host);
      };
    });
}

function completionsCommand(chosen: SelectedAction) {
  return new Command()
    .description("Prints completions for a shell: bash, zsh or fish.")
    .arguments("<shell:string>")
    .example("source <(swink completions bash)", "in ~/.bashrc")
    .action((_options, shell) => {
      chosen.action = async (host) => {
        const { createCompletionScript: completionScript } = await import("./completions.ts");
        await host.terminal.output.write(completionScript(shell, getCommandShape()));
        return 0;
      };
    });
}

/** The tree by the part of its type that does not depend on its commands, which one of them needs. */
function getCommandShape(): CommandShape {
  return commandTree({});
}

async function showVersion(host: Host): Promise<ExitCode> {
  const { VERSION } = await import("./version.ts");
  await host.terminal.output.write(`${VERSION}\n`);
  return 0;
}

function showHelp(command: CommandShape): CommandAction {
  return async (host) => {
    const { formatHelp: helpFor } = await import("./help.ts");
    await host.terminal.output.write(helpFor(command, host));
    return 0;
  };
}
