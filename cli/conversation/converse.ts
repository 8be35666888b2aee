/**
 * Opens what a conversation needs, and runs it until the user leaves.
 *
 * @module
 */

import { ChangeLog } from "../../src/tools/changes/change_log.ts";
import type { ApprovalPrompt } from "../../src/tools/mod.ts";
import { startHooks } from "../hooks/start_hooks.ts";
import type { ExitCode } from "../host/exit_code.ts";
import { loadSessions, openAgent } from "../run/agent/open_agent.ts";
import { openConnection } from "../run/model/model_connection.ts";
import type { RunDependencies } from "../run/run_prompt.ts";
import type { ProjectRunSettings } from "../run/settings/settings.ts";
import { createElicitationQuestions } from "./approval/elicitation_questions.ts";
import {
  type ConversationEnvironment,
  type ConversationParts,
  createParts,
} from "./conversation_parts.ts";
import { SessionChanges } from "./core/session_changes.ts";
import {
  reportCommandProblems,
  reportConversationEnd,
  reportConversationStart,
} from "./report_start.ts";
import { printWarnings } from "./view/print_warnings.ts";

/** Dependencies of `converse()`. */
export type ConverseDependencies =
  & RunDependencies
  & Pick<ConversationEnvironment, "signals" | "configured" | "interrupt" | "view">
  & {
    /** The first prompt as it was typed, without the files that it names; empty if there is none. */
    readonly typed: string;
  };

/** Runs a conversation. */
export async function converse(
  settings: ProjectRunSettings,
  { prompt, typed, onAgent, ...dependencies }: ConverseDependencies,
): Promise<ExitCode> {
  const { interrupt, signals, configured, view, host } = dependencies;
  const { directories } = configured;
  const sessions = loadSessions(settings.session);
  // Sessions and approvals need the parts only after the conversation has started.
  const late: { parts?: ConversationParts } = {};
  const getSessionId = () => late.parts?.session.session?.id;
  const changes = new SessionChanges({ directories, getSessionId });
  const changeLog = new ChangeLog(changes);
  const ask: ApprovalPrompt = async (request) => await late.parts?.ask(request) ?? false;
  await using connection = await openConnection(settings, host);
  await using hooks = await startHooks({
    ...settings,
    signal: interrupt.signal,
    beforeExit: (cleanUp) => interrupt.beforeExit(cleanUp),
  }, host);
  await using opened = await openAgent(settings, {
    hooks,
    sessions,
    ask,
    questions: createElicitationQuestions(view),
    conversation: { changeLog, hasKeyCommand: true },
    today: connection.today,
    interrupt,
    host: { ...host, fetch: connection.fetch },
    onAgent,
  });
  const { agent } = opened.setup;
  const parts = await createParts({ ...dependencies, settings, hooks, opened, changes, changeLog });
  late.parts = parts;
  const { conversation, context, session, editor, status, onEvent } = parts;
  await using _recording = session;
  await using _editor = editor;
  agent.subscribe(async (event) => {
    await onEvent(event);
    await printWarnings(view, [...hooks.takeWarnings(), ...opened.setup.takeWarnings()]);
  });
  signals.divert(() => void conversation.interrupt());
  // The first request creates a new session.
  const resumed = opened.session?.recording && opened.session;
  const start = { ...settings, setup: opened.setup, session: resumed };
  status.setSandbox(await reportConversationStart(view, start, host));
  await reportCommandProblems(configured, context);
  await context.printHistory();
  status.refreshGauge();
  if (typed !== "") {
    view.remember(typed);
    await view.echo(typed);
  }
  const exitCode = await conversation.run(prompt === "" ? undefined : prompt);
  await reportConversationEnd(view, session, opened.setup);
  return exitCode;
}
