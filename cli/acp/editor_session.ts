/**
 * A session of an editor: the agent of a conversation with its modes, settings and commands.
 *
 * @module
 */

import type { AgentMessage } from "../../mod.ts";
import {
  type AcpClient,
  type AcpSession,
  type AcpSessionRequest,
  terminalTool,
} from "../../src/protocols/acp/mod.ts";
import { ChangeLog } from "../../src/tools/changes/change_log.ts";
import { createTurnId } from "../conversation/command/change_turn.ts";
import { ConversationSession } from "../conversation/core/conversation_session.ts";
import { SessionChanges } from "../conversation/core/session_changes.ts";
import { getTextWithoutHooks } from "../hooks/hook_output.ts";
import { startHooks } from "../hooks/start_hooks.ts";
import type { Host } from "../host/host.ts";
import type { Output } from "../host/terminal.ts";
import { toPlainText } from "../render/plain_text.ts";
import type { RunStart } from "../render/reporter.ts";
import { loadSessions, openAgent } from "../run/agent/open_agent.ts";
import { checkSessionServer } from "../run/model/session_connection.ts";
import { reportStart } from "../run/report/start_report.ts";
import type { RunDependencies } from "../run/run_prompt.ts";
import type { ConfiguredRun } from "../run/settings/configure_run.ts";
import type { ProjectRunSettings } from "../run/settings/settings.ts";
import type { EditorTools } from "../run/tools/editor_tools.ts";
import { ClientFiles } from "./client_files.ts";
import { EditorCommands } from "./editor_commands.ts";
import { SessionConfig } from "./session_config.ts";
import { type ModeId, SessionModes } from "./session_modes.ts";

/** Dependencies of `runEditorSession()`. */
export interface EditorSessionOptions extends Omit<RunDependencies, "prompt"> {
  /** Id of the session. */
  readonly id: string;
  /** Whether it exists; its mode is then kept. */
  readonly exists: boolean;
  /** The request of the editor. */
  readonly request: Pick<AcpSessionRequest, "client">;
  /** The mode of a new session. */
  readonly mode: ModeId;
  /** Options, directories and project. */
  readonly configured: ConfiguredRun;
  /** Date for the system prompt. */
  readonly today: Date;
  /** Called with the session; resolves when it has ended. */
  readonly onOpen: (session: AcpSession) => Promise<void>;
}

/** Opens a session, and closes it when it has ended. */
export async function runEditorSession(
  settings: ProjectRunSettings,
  options: EditorSessionOptions,
): Promise<void> {
  const { id, exists, mode, request: { client }, configured, host } = options;
  const { interrupt, today, onAgent } = options;
  const { directories, project } = configured;
  const getSessionId = () => settings.session.type === "none" ? undefined : id;
  const changeLog = new ChangeLog(new SessionChanges({ directories, getSessionId }));
  await using hooks = await startHooks({ ...settings, signal: interrupt.signal }, host);
  await using opened = await openAgent(settings, {
    hooks,
    sessions: loadSessions(settings.session),
    ask: client.ask,
    conversation: { changeLog, editor: createEditorTools(client, settings) },
    today,
    interrupt,
    host,
    onAgent,
  });
  const { setup } = opened;
  const { tools } = setup.controls;
  const modes = new SessionModes(setup);
  if (!exists) modes.select(mode);
  const notices = new Notices(host);
  await using sessions = new ConversationSession({
    setup,
    opened: opened.session,
    cwd: await Deno.realPath(settings.cwd),
    directories,
    now: host.now,
    checkSession: (session) => checkSessionServer(session, { ...settings, ...setup }, host),
    onWarnings: (warnings) => notices.warn(warnings),
    onSwitched() {},
  });
  const unsubscribe = setup.agent.subscribe(async ({ type }) => {
    if (type !== "turn_end") return;
    await sessions.reportProblems();
    await notices.warn([...hooks.takeWarnings(), ...setup.takeWarnings()]);
  });
  const session = exists ? opened.session : undefined;
  await reportStart(notices, { ...settings, setup, session });
  const commands = await EditorCommands.load({
    host,
    settings,
    directories,
    project,
    setup,
    sessions,
    changes: changeLog,
    client,
    onProblem: (problem) => void notices.warn([problem]),
  });
  await options.onOpen({
    id,
    agent: setup.agent,
    modes,
    config: new SessionConfig({ setup, modes, sessions, settings, host }),
    commands: commands.list,
    async runCommand(prompt, { signal }) {
      await tools.untilRecorded();
      return await commands.run(prompt, signal);
    },
    async preparePrompt(message, { signal }) {
      await tools.untilRecorded();
      // The clock of the entries of the session, with whose times `isTurnSince()` compares that of the turn.
      changeLog.beginTurn(createTurnId("prompt", Date.now()));
      return await hooks.submitMessage(message, signal);
    },
    getContextWindow: () => setup.controls.contextWindow(setup.agent.state.model),
    getTitle: () => getTitle(setup.agent.state.messages),
  });
  await tools.untilRecorded();
  unsubscribe();
}

/** Writes what the editor does not show to standard error. */
class Notices {
  readonly #messages: Output;

  constructor({ terminal }: Pick<Host, "terminal">) {
    this.#messages = terminal.messages;
  }

  /** Reports files of the project that the session does not load. */
  async onRunStart({ project: { ignored } }: RunStart): Promise<void> {
    if (ignored.length > 0) await this.warn([`${ignored.join(", ")} not loaded: ${TRUST}`]);
  }

  async onNotice(notice: string): Promise<void> {
    await this.#messages.write(`${toPlainText(notice)}\n`);
  }

  async warn(warnings: readonly string[]): Promise<void> {
    for (const warning of warnings) await this.onNotice(`warning: ${warning}`);
  }
}

/** How the files of a project are loaded. */
const TRUST = "start swink once in the project, or add --trust to the command of the agent";

/** Returns the tools of the editor. Where the sandbox must confine commands, and files are read as they are, it has none. */
function createEditorTools(
  { readTextFile, writeTextFile, createTerminal }: AcpClient,
  { sandbox, environment }: Pick<ProjectRunSettings, "sandbox" | "environment">,
): EditorTools {
  const hasFiles = readTextFile !== undefined || writeTextFile !== undefined;
  return {
    ...(hasFiles && {
      wrapFiles: (files) => new ClientFiles(files, { readTextFile, writeTextFile }),
    }),
    // The editor would run commands outside of the sandbox.
    ...(sandbox === "off" && createTerminal && {
      createShell: ({ root }) => terminalTool({ createTerminal, cwd: root, env: environment }),
    }),
  };
}

const MAX_TITLE = 80;

/** Returns the beginning of the first prompt. */
function getTitle(messages: readonly AgentMessage[]): string | undefined {
  const prompt = messages.find((message) => message.role === "user");
  const [line = ""] = prompt ? getTextWithoutHooks(prompt).trim().split("\n") : [];
  return line === "" ? undefined : line.slice(0, MAX_TITLE);
}
