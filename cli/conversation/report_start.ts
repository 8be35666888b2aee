/**
 * The first and the last lines of a conversation: model, directory, permissions and warnings, and how it can be continued.
 *
 * @module
 */

import type { Host } from "../host/host.ts";
import { formatHeader } from "../render/header.ts";
import type { RunSandbox } from "../render/reporter.ts";
import type { AgentSetup } from "../run/agent/setup_agent.ts";
import { formatResumeCommand } from "../run/model/session_connection.ts";
import { reportStart, type StartReportOptions } from "../run/report/start_report.ts";
import type { CommandContext, SessionControl } from "./command/command_context.ts";
import { type CommandPlaces, listCommandDirectories } from "./commands/command_directories.ts";
import type { ConversationView } from "./view/conversation_view.ts";
import { toLine, toMessage } from "./view/lines.ts";

/** Prints the first lines. Returns the confinement of commands. */
export async function reportConversationStart(
  view: ConversationView,
  options: StartReportOptions,
  { env, terminal }: Pick<Host, "env" | "terminal">,
): Promise<RunSandbox> {
  let sandbox: RunSandbox = { status: "off", mechanisms: [] };
  await reportStart({
    async onRunStart(start) {
      sandbox = start.sandbox;
      const header = formatHeader(start, { home: env("HOME"), columns: terminal.columns });
      await view.print(header.map((row) => toLine(row, "faint")));
    },
    async onNotice(notice) {
      const text = notice.replace(/^warning: /, "");
      await view.print(toMessage("warning", text, view));
    },
  }, options);
  return sandbox;
}

/** Loads the commands if the user or the project has some, so that problems of their files are reported at the start. */
export async function reportCommandProblems(
  places: CommandPlaces,
  { listCommands }: Pick<CommandContext, "listCommands">,
): Promise<void> {
  if (listCommandDirectories(places).length > 0) await listCommands();
}

/** Prints how the conversation can be continued, if it is saved: another program may have deleted or replaced its file. */
export async function reportConversationEnd(
  view: Pick<ConversationView, "print">,
  { session }: Pick<SessionControl, "session">,
  setup: AgentSetup,
): Promise<void> {
  if (!session?.outline.some(({ type }) => type === "message")) return;
  if (await session.flush().then(() => false, () => true)) return;
  const command = formatResumeCommand(session.id, setup);
  await view.print([toLine(`${command} continues this conversation`, "faint")]);
}
