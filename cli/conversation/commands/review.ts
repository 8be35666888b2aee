/**
 * `/review`: lets the model review changes.
 *
 * @module
 */

import { defineCommand } from "../command/conversation_command.ts";

const TASK =
  `Find what is wrong with them: errors in the logic, cases that are not handled, broken callers, security \
holes, missing tests. Read the code around them, and run tests where that answers a question. Change no file.

List the findings, the most serious first, each with file and line, the reason and a suggestion. Mention only what you \
have checked, no matters of taste, and state it if you find nothing.`;

/** `/review`. */
export const review = defineCommand({
  names: ["/review"],
  argument: "[BRANCH|COMMIT|FILES]",
  summary: "Lets the model review the uncommitted changes, or those of a branch or commit",
  run(argument, { runs }) {
    const changes = argument === ""
      ? "Review the uncommitted changes of this repository (git status, git diff HEAD, new files)."
      : `Review the changes of ${argument}.`;
    runs.prompt(`${changes} ${TASK}`);
  },
});
