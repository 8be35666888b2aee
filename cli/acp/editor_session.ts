/**
 * A session of an editor: the agent of a conversation with its modes, settings and commands.
 *
 * @module
 */

import type { AcpSession, AcpSessionRequest } from "../../src/protocols/acp/mod.ts";
import { ChangeLog } from "../../src/tools/changes/change_log.ts";
import { ConversationSession } from "../conversation/core/conversation_session.ts";
import { SessionChanges } from "../conversation/core/session_changes.ts";
import { startHooks } from "../hooks/start_hooks.ts";
import { loadSessions, openAgent } from "../run/agent/open_agent.ts";
import { checkSessionServer } from "../run/model/session_connection.ts";
import { reportStart } from "../run/report/start_report.ts";
import type { RunDependencies } from "../run/run_prompt.ts";
import type { ConfiguredRun } from "../run/settings/configure_run.ts";
import type { ProjectRunSettings } from "../run/settings/settings.ts";
import { createClientTools } from "./client_tools.ts";
import { EditorNotices } from "./editor_notices.ts";
import { createServedSession } from "./served_session.ts";
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
  const { interrupt, today, onAgent, onOpen } = options;
  const { directories, project } = configured;
  const getSessionId = () => settings.session.type === "none" ? undefined : id;
  const changes = new ChangeLog(new SessionChanges({ directories, getSessionId }));
  await using hooks = await startHooks({ ...settings, signal: interrupt.signal }, host);
  await using opened = await openAgent(settings, {
    hooks,
    sessions: loadSessions(settings.session),
    ask: client.ask,
    conversation: { changeLog: changes, editor: createClientTools(client, settings) },
    today,
    interrupt,
    host,
    onAgent,
  });
  const { setup } = opened;
  const modes = new SessionModes(setup);
  if (!exists) modes.select(mode);
  const notices = new EditorNotices(host);
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
  const onProblem = (problem: string) => void notices.warn([problem]);
  const places = { host, settings, directories, project };
  const parts = { ...places, setup, sessions, changes, hooks, modes, client, onProblem };
  await onOpen(await createServedSession(id, parts));
  await setup.controls.tools.untilRecorded();
  unsubscribe();
}
