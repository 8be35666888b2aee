/**
 * The agent of a run with everything that belongs to it: its session, its tools and its hooks.
 *
 * @module
 */

import type { Agent } from "../../../mod.ts";
import type { ApprovalPrompt } from "../../../src/tools/mod.ts";
import type { StartedHooks } from "../../hooks/started_hooks.ts";
import type { Host } from "../../host/host.ts";
import { importLate } from "../../host/import_late.ts";
import type { InterruptHandler } from "../../host/interrupt.ts";
import { createNoHomeError, getProgramDirectories } from "../../host/program_directories.ts";
import type { ElicitationQuestions } from "../../mcp/ask_elicitation.ts";
import { NewSession } from "../../sessions/new_session.ts";
import type { RunSession } from "../../sessions/run_session.ts";
import type { SessionChoice } from "../../sessions/session_choice.ts";
import type { ProjectRunSettings } from "../settings/settings.ts";
import { type AgentSetup, type ConversationSetup, setUpAgent } from "./setup_agent.ts";

/** An agent whose session is recorded. Disposing of it ends the recording and removes the files of the tools. */
export interface OpenedAgent extends AsyncDisposable {
  /** The agent and its tools. */
  readonly setup: AgentSetup;
  /** Its session; `undefined` if it is not saved. */
  readonly session: RunSession | undefined;
}

/** Dependencies of `openAgent()`. */
export interface OpenAgentOptions {
  /** The hooks of the run. */
  readonly hooks: Pick<StartedHooks, "policies" | "appendedPrompt">;
  /** The modules of sessions, which `loadSessions()` imports. */
  readonly sessions: Promise<SessionModule> | undefined;
  /** Date for the system prompt. */
  readonly today: Date;
  /** Asks about tool calls instead of the terminal. Default: none. */
  readonly ask?: ApprovalPrompt | undefined;
  /** Asks for data that MCP servers request instead of the terminal. Default: none. */
  readonly questions?: ElicitationQuestions | undefined;
  /** Properties of an agent that gets several prompts. Default: it gets one. */
  readonly conversation?: ConversationSetup | undefined;
  /** Aborts the run. */
  readonly interrupt: InterruptHandler;
  /** Terminal, environment, and the network with its recorder. */
  readonly host: Host;
  /** Called with the agent before it runs. */
  readonly onAgent?: ((agent: Agent) => void) | undefined;
}

/**
 * Opens the session of a run, creates the agent and restores the session into it.
 *
 * @throws {UsageError} If the session does not exist.
 * @throws {ConfigurationError} If the session is open elsewhere, or no model is configured.
 */
export async function openAgent(
  settings: ProjectRunSettings,
  { hooks, sessions, today, ask, questions, conversation, interrupt, host, onAgent }:
    OpenAgentOptions,
): Promise<OpenedAgent> {
  await using cleanup = new AsyncDisposableStack();
  const session = await openSession(settings, sessions, host);
  if (session) cleanup.use(session);
  const model = settings.isModelGiven ? settings.model : session?.model ?? settings.model;
  if (session) await checkServer(session, settings, host);
  const setup = cleanup.use(
    await setUpAgent({
      ...settings,
      ...hooks,
      ...(model && { model }),
      continuesPlan: session?.planMode,
      ask,
      questions,
      conversation,
      today,
      signal: interrupt.signal,
    }, host),
  );
  onAgent?.(setup.agent);
  const lastServer = settings.isModelGiven ? undefined : session?.server;
  await session?.attach(setup.agent, setup.server ?? lastServer);
  // The session has restored its own model and thinking level.
  if (session?.model) setup.agent.setModel(setup.model);
  // Options of the run replace the mode of the session.
  if (settings.permissionMode !== "plan" && !conversation) setup.planMode?.turnOff(setup.agent);
  cleanup.defer(interrupt.beforeExit(() => setup[Symbol.asyncDispose]()));
  if (settings.sandbox === "required") await requireConfinement(setup);
  const owned = cleanup.move();
  return {
    setup,
    session,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The modules of sessions that exist. */
export type SessionModule = typeof import("../../sessions/open_session.ts");

/** Starts to import the modules of sessions, if the run continues one. */
export function loadSessions({ type }: SessionChoice): Promise<SessionModule> | undefined {
  if (type === "none" || type === "new") return undefined;
  const loading = importLate<SessionModule>("../../sessions/open_session.ts", import.meta.url);
  // The failure is reported where the module is used.
  loading.catch(() => {});
  return loading;
}

/** Opens the session of a run; `undefined` if it is not saved. */
async function openSession(
  { session, cwd }: ProjectRunSettings,
  loading: Promise<SessionModule> | undefined,
  { env }: Pick<Host, "env">,
): Promise<RunSession | undefined> {
  if (session.type === "none") return undefined;
  const directories = getProgramDirectories(env);
  if (session.type === "new") return directories && new NewSession({ cwd, directories });
  if (!directories) throw createNoHomeError("sessions");
  return await (await loading)?.openRunSession(session, { cwd, directories });
}

/** Throws if a session that exists asked a server which this run does not know, and no option selects the model. */
async function checkServer(
  session: RunSession,
  settings: ProjectRunSettings,
  host: Pick<Host, "env">,
): Promise<void> {
  if (!session.server) return;
  const { checkContinuedSession } = await importLate<
    typeof import("../model/session_connection.ts")
  >(
    "../model/session_connection.ts",
    import.meta.url,
  );
  checkContinuedSession(session, settings, host);
}

/** Throws if the kernel does not enforce all rules for commands. */
async function requireConfinement(setup: AgentSetup): Promise<void> {
  const { createConfinementWarning } = await importLate<
    typeof import("../tools/confinement_warning.ts")
  >(
    "../tools/confinement_warning.ts",
    import.meta.url,
  );
  createConfinementWarning("required", await setup.describeSandbox());
}
