/**
 * The question whether to trust a project.
 *
 * @module
 */

import { getFileProblem } from "../host/file_problem.ts";
import type { Host } from "../host/host.ts";
import { askChoice } from "../questions/ask_choice.ts";
import { toLines, toSentenceLines } from "../questions/choice.ts";
import { TypedInput } from "../questions/typed_input.ts";
import { toVisibleText } from "../render/visible_text.ts";
import type { Project, ProjectOptions } from "./project.ts";
import { trustProject } from "./trusted_directories.ts";

const ANSWERS = ["yes", "no"] as const;

/** A project to ask about. */
interface UntrustedProject extends Pick<Project, "programs" | "content"> {
  /** Whether the user has trusted it with other programs. */
  readonly isChanged: boolean;
}

/** Asks whether to trust a project, and saves the answer `yes`. Anything else means no, for this run. */
export async function askForTrust(
  { programs, content, isChanged }: UntrustedProject,
  { directories, signal }: Pick<ProjectOptions, "directories" | "signal">,
  host: Pick<Host, "terminal" | "env" | "now">,
): Promise<boolean> {
  const { keyboard } = host.terminal;
  if (!keyboard) return false;
  using input = new TypedInput(keyboard);
  const sentences = [
    "It can instruct the agent, configure and start programs.",
    ...(isChanged ? ["Files that start programs are new, or have changed."] : []),
    "Trust only what you have written or read.",
  ];
  const answer = await askChoice({
    details: [
      ...toLines([
        `? Trust ${toVisibleText(programs.root)}`,
        `  It has ${content.map(toVisibleText).join(", ")}.`,
      ]),
      ...sentences.flatMap((text) => toSentenceLines(text, host.terminal.columns)),
    ],
    message: "Trust? [y]es / [n]o",
    answers: ANSWERS,
  }, { host, keyboard, input, signal });
  if (answer !== "yes") return false;
  if (directories) await saveTrust(programs, { directories, host });
  return true;
}

/** Saves the answer; a directory that cannot be written only means that the question comes again. */
async function saveTrust(
  programs: Project["programs"],
  { directories, host }: {
    readonly directories: NonNullable<ProjectOptions["directories"]>;
    readonly host: Pick<Host, "terminal">;
  },
): Promise<void> {
  try {
    await trustProject(programs, directories);
  } catch (error) {
    await host.terminal.messages.write(
      `warning: the answer was not saved: ${getFileProblem(error)}\n`,
    );
  }
}
