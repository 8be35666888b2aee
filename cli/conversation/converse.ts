/**
 * Opens what a conversation needs, and runs it until the user leaves.
 *
 * @module
 */

import type { ApprovalPrompt } from "../../src/tools/mod.ts";
import { ChangeLog } from "../../src/tools/changes/change_log.ts";
import { formatConfigProblem } from "../config/config_value.ts";
import { type KeyBindings, resolveKeyBindings } from "../config/key_bindings.ts";
import { ConfigurationError } from "../host/cli_error.ts";
import type { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { startHooks } from "../hooks/start_hooks.ts";
import type { ConfiguredRun } from "../run/configure_run.ts";
import { openConnection } from "../run/model_connection.ts";
import { loadSessions, openAgent } from "../run/open_agent.ts";
import type { RunDependencies } from "../run/run_prompt.ts";
import type { ProjectRunSettings } from "../run/settings.ts";
import {
  type ConversationEnvironment,
  type ConversationParts,
  createParts,
} from "./conversation_parts.ts";
import { SessionChanges } from "./core/session_changes.ts";
import { openView } from "./open_view.ts";
import { reportConversationEnd, reportConversationStart } from "./report_start.ts";

/** Dependencies of `converse()`. */
export type ConverseDependencies =
  & RunDependencies
  & Pick<ConversationEnvironment, "signals" | "configured" | "interrupt" | "options">;

/** Runs a conversation. */
export async function converse(
  settings: ProjectRunSettings,
  { prompt, onAgent, ...dependencies }: ConverseDependencies,
): Promise<ExitCode> {
  const { interrupt, signals, configured: { directories, settings: config }, options } =
    dependencies;
  const host = useOneOutput(dependencies.host);
  const sessions = loadSessions(settings.session);
  let parts: ConversationParts | undefined;
  const getSessionId = () => parts?.session.session?.id;
  const changeLog = new ChangeLog(new SessionChanges({ directories, getSessionId }));
  // Calls are asked about only after the conversation has started.
  const ask: ApprovalPrompt = async (request) => await parts?.ask(request) ?? false;
  const keys = getKeyBindings(config);
  await using connection = await openConnection(settings, host);
  await using hooks = await startHooks({ ...settings, signal: interrupt.signal }, host);
  const historyDirectory = settings.session.type === "none" ? undefined : directories?.state;
  await using view = await openView(host, { options, keys, historyDirectory });
  await using opened = await openAgent(settings, {
    hooks,
    sessions,
    ask,
    conversation: { changeLog },
    today: connection.today,
    interrupt,
    host: { ...host, fetch: connection.fetch },
    onAgent,
  });
  const { setup: { agent } } = opened;
  parts = await createParts({ ...dependencies, settings, host, view, hooks, opened, changeLog });
  const { conversation, context, session, status, onEvent } = parts;
  await using _recording = session;
  agent.subscribe(onEvent);
  signals.divert(() => void conversation.interrupt());
  // The first reply creates a new session.
  const resumed = opened.session?.recording && opened.session;
  const start = { ...settings, setup: opened.setup, session: resumed };
  status.setSandbox(await reportConversationStart(view, start, host));
  if (agent.state.messages.length > 0) await context.printHistory();
  void status.updateGauge();
  const exitCode = await conversation.run(prompt === "" ? undefined : prompt);
  await reportConversationEnd(view, session);
  return exitCode;
}

/**
 * Returns the keys that the user has configured.
 *
 * @throws {ConfigurationError} If a key has two actions.
 */
function getKeyBindings(settings: ConfiguredRun["settings"]): KeyBindings {
  const { bindings, problems } = resolveKeyBindings(settings);
  const [problem] = problems;
  if (problem) throw new ConfigurationError(formatConfigProblem(problem));
  return bindings;
}

/** Returns the host with all output on standard output, which is the terminal. */
function useOneOutput(host: Host): Host {
  const { terminal } = host;
  return {
    ...host,
    terminal: Object.create(terminal, { messages: { value: terminal.output } }),
  };
}
