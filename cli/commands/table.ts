/**
 * The table of commands. To add a command, define it in a file of its own and list it in `commands`.
 *
 * @module
 */

import { defineCommand } from "../command_line/definition.ts";
import { ExitCode } from "../host/exit_code.ts";
import { VERSION } from "../host/version.ts";
import { acp } from "./acp.ts";
import { chat } from "./chat.ts";
import { completions } from "./completions.ts";
import { config } from "./config.ts";
import { demo } from "./demo.ts";
import { doctor } from "./doctor.ts";
import { evaluation } from "./eval.ts";
import { keys, login, logout } from "./login.ts";
import { mcp } from "./mcp.ts";
import { models } from "./models.ts";
import { rules } from "./rules.ts";
import { run } from "./run.ts";
import { serve } from "./serve.ts";
import { sessions } from "./sessions.ts";

/** The program and its commands. */
export const PROGRAM = defineCommand({
  name: "swink",
  summary: "An agent for the command line that reads, edits and runs the files of a directory",
  commands: [
    chat,
    run,
    acp,
    serve,
    sessions,
    evaluation,
    models,
    config,
    rules,
    mcp,
    login,
    logout,
    keys,
    doctor,
    demo,
    completions,
  ],
  options: {
    version: {
      short: "V",
      type: "boolean",
      description: "Shows the version.",
      standalone: true,
    },
  },
  synonyms: {
    exec: "run",
    ask: "run",
    resume: "--resume",
    continue: "--continue",
    version: "--version",
    history: "sessions list",
    auth: "login",
    permissions: "rules",
  },
  shorthands: { "-p": "run", "--print": "run" },
  defaultCommand: "chat",
  examples: [
    ["swink", "starts a conversation"],
    ["swink -c", "continues the last one"],
    ['swink run "Make the tests pass"', "works in the current directory"],
    ['swink -p "Explain this" < error.log', "short for run, with input"],
    ["swink demo", "shows a run without a key"],
    ["swink chat --help", "lists the options of a conversation"],
    ["swink run --help", "lists the options of a run"],
  ],
  async action({ options }, { terminal }) {
    if (!options.version) return undefined;
    await terminal.output.write(`${VERSION}\n`);
    return ExitCode.ok;
  },
});
