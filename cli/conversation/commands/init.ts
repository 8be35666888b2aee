/**
 * `/init`: lets the model write instructions for agents.
 *
 * @module
 */

import { defineCommand } from "../command/conversation_command.ts";

const PROMPT =
  `Write AGENTS.md in the root of this project, or improve it if it exists: instructions for coding agents.

First read what the project has: README, guides for contributors, build files, CI, other instructions for agents (CLAUDE.md, GEMINI.md, .cursorrules) and a few source files with their tests.

It is at most 60 lines and states only what an agent cannot guess:
- how to build, test (all and one test), lint and format, as commands that you have run or found in the project,
- the structure: where which kind of code is,
- conventions that the code follows and that differ from the usual ones,
- what must not be changed or done.

No general advice, no list of all files. Keep what an existing file states correctly.`;

/** `/init`. */
export const init = defineCommand({
  names: ["/init"],
  argument: "[NOTES]",
  summary: "Lets the model write AGENTS.md, the instructions of the project for agents",
  run(argument, { runs }) {
    runs.prompt(argument === "" ? PROMPT : `${PROMPT}\n\nAlso: ${argument}`);
  },
});
