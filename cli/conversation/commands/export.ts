/**
 * `/export`: writes the conversation to a file.
 *
 * @module
 */

import type { Session } from "../../../src/memory/mod.ts";
import { isAbsolute, join } from "../../../src/platform/paths.ts";
import { CliError, UsageError } from "../../host/cli_error.ts";
import { ExitCode } from "../../host/exit_code.ts";
import { getFileProblem } from "../../host/file_problem.ts";
import { importLate } from "../../host/import_late.ts";
import { expandHome } from "../../run/settings/resolve_path.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { requireSession } from "../command/require_session.ts";
import { toLines } from "../view/lines.ts";

/** `/export`. */
export const exportSession = defineCommand({
  names: ["/export"],
  argument: "[FILE]",
  summary:
    "Writes the conversation as Markdown, as a page (.html), or for swink sessions import (.jsonl)",
  worksDuringRuns: true,
  async run(argument, { view, sessions, settings, host }) {
    const session = requireSession(sessions);
    const name = argument === "" ? `${session.id.replace(/[^\w-]/g, "_")}.md` : argument;
    const path = expandHome(name, host.env("HOME"));
    const file = isAbsolute(path) ? path : join(settings.cwd, path);
    await session.flush();
    await writeNew(file, await createText(name, session));
    await view.print(toLines(`Written to ${file}`, "faint"));
  },
});

async function createText(name: string, session: Session): Promise<string> {
  const { exportHtml, exportJsonl, exportMarkdown } = await importLate<
    typeof import("../../../src/memory/mod.ts")
  >("../../../src/memory/mod.ts", import.meta.url);
  if (/\.html?$/i.test(name)) return await exportHtml(session);
  if (/\.jsonl$/i.test(name)) return await exportJsonl(session);
  if (/\.(md|markdown|txt)$/i.test(name)) return await exportMarkdown(session);
  throw new UsageError(
    `/export does not know the format of ${JSON.stringify(name)}`,
    "Write a name that ends with .md, .html or .jsonl.",
  );
}

/** Writes a file that does not exist yet, so that no other one is lost. */
async function writeNew(file: string, text: string): Promise<void> {
  try {
    await Deno.writeTextFile(file, text, { createNew: true });
  } catch (error) {
    const reason = error instanceof Deno.errors.AlreadyExists
      ? "it exists already"
      : getFileProblem(error);
    throw new CliError(`${file} cannot be written: ${reason}`, { exitCode: ExitCode.failed });
  }
}
