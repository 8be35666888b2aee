/**
 * `swink completions`: prints a script that completes command lines in a shell.
 *
 * @module
 */

import { defineCommand } from "../command_line/definition.ts";
import { ExitCode } from "../host/exit_code.ts";
import { importLate } from "../host/import_late.ts";

/** `swink completions`. */
export const completions = defineCommand({
  name: "completions",
  summary: "Prints a completion script for a shell",
  arguments: [{ name: "shell", description: "The shell.", choices: ["bash", "zsh", "fish"] }],
  examples: [
    ["source <(swink completions bash)", "in ~/.bashrc"],
    ["source <(swink completions zsh)", "in ~/.zshrc"],
    ["swink completions fish | source", "in ~/.config/fish/config.fish"],
  ],
  exitCodes: [ExitCode.ok, ExitCode.usage],
  async action({ arguments: [shell = ""], program }, { terminal }) {
    const { createCompletionScript } = await importLate<
      typeof import("../command_line/completion_script.ts")
    >("../command_line/completion_script.ts", import.meta.url);
    await terminal.output.write(createCompletionScript(shell, program));
    return ExitCode.ok;
  },
});
