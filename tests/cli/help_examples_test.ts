import { assertEquals } from "@std/assert";
import type { CommandDefinition } from "../../cli/command_line/definition.ts";
import { parseCommandLine } from "../../cli/command_line/parser.ts";
import { PROGRAM } from "../../cli/commands/table.ts";
import { listCommands } from "../documentation/code_blocks.ts";

Deno.test("help: every command has examples, whose command lines are valid and run this command", async () => {
  const problems: string[] = [];
  for (const { command, path } of listActions(PROGRAM)) {
    const examples = command.examples ?? [];
    if (examples.length === 0) problems.push(`${path} has no example`);
    for (const [example] of examples) {
      for (const words of listCommands(example, "swink")) {
        const error = await parseCommandLine(PROGRAM, words).then(() => undefined, String);
        if (error) problems.push(`${example}: ${error}`);
      }
      if (path !== "swink chat" && !example.includes(path)) {
        problems.push(`${example}: not ${path}`);
      }
    }
  }
  assertEquals(problems, []);
});

/** Lists the commands without subcommands. */
function listActions(
  command: CommandDefinition,
  prefix = "",
): { readonly command: CommandDefinition; readonly path: string }[] {
  const path = `${prefix}${command.name}`;
  const subcommands = command.commands ?? [];
  if (subcommands.length === 0) return [{ command, path }];
  return subcommands.flatMap((subcommand) => listActions(subcommand, `${path} `));
}
