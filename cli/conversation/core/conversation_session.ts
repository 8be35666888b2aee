/**
 * The session of a conversation, which can be exchanged for another one.
 *
 * @module
 */

import type { JsonObject, ModelSpec } from "../../../mod.ts";
import { SessionError } from "../../../src/core/errors/errors.ts";
import type { Session, SessionStore } from "../../../src/memory/mod.ts";
import { getFileProblem } from "../../host/file_problem.ts";
import { importLate } from "../../host/import_late.ts";
import type { ProgramDirectories } from "../../host/program_directories.ts";
import type { AgentSetup } from "../../run/agent/setup_agent.ts";
import { NewSession } from "../../sessions/new_session.ts";
import type { RunSession } from "../../sessions/run_session.ts";
import type { SessionChoice } from "../../sessions/session_choice.ts";
import { getSessionDirectory } from "../../sessions/session_directory.ts";
import type { SessionControl } from "../command/command_context.ts";
import { requireSession } from "../command/require_session.ts";

/** Options for {@linkcode ConversationSession}. */
export interface ConversationSessionOptions {
  /** The agent that is recorded. */
  readonly setup: AgentSetup;
  /** The session with which the conversation starts; `undefined` if it is not saved. */
  readonly opened: RunSession | undefined;
  /** Absolute path of the working directory, without links. */
  readonly cwd: string;
  /** The program's directories; without them, nothing is saved. */
  readonly directories: ProgramDirectories | undefined;
  /** Returns the current time in milliseconds. */
  readonly now: () => number;
  /** Throws if the conversation cannot continue a session, which is closed then, or not with a model. */
  readonly checkSession: (session: Pick<RunSession, "model" | "server">) => void;
  /** Called with warnings about a session that was opened. */
  readonly onWarnings: (warnings: readonly string[]) => void | Promise<void>;
  /** Called when another history has replaced that of the agent. */
  readonly onSwitched: (session: Session | undefined) => void | Promise<void>;
}

/** Records the agent of a conversation. Disposing of it ends the recording. */
export class ConversationSession implements SessionControl, AsyncDisposable {
  shown: SessionControl["shown"];
  readonly #options: ConversationSessionOptions;
  #current: RunSession | undefined;
  /** Whether the user knows the problems of a session that was created during the conversation. */
  #isReported: boolean;
  #isLost = false;

  constructor(options: ConversationSessionOptions) {
    this.#options = options;
    this.#current = options.opened;
    this.#isReported = options.opened?.recording !== undefined;
  }

  get session(): Session | undefined {
    return this.#current?.recording?.session;
  }

  get isPending(): boolean {
    return this.#current?.isPending ?? false;
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** Reports why a new session is not saved, once. Called when it must have been created. */
  async reportProblems(): Promise<void> {
    if (this.#isReported) return;
    this.#isReported = true;
    const recorded = await this.#current?.describe();
    await this.#options.onWarnings(recorded?.warnings ?? []);
  }

  /** Reports that the end of a run was not saved, unless the run was aborted for that reason. */
  async reportFailure(abortReason: unknown): Promise<void> {
    const failure = this.#current?.takeFailure();
    this.#isLost ||= [failure, abortReason].some(isLoss);
    if (!failure || failure === abortReason) return;
    await this.#options.onWarnings([getFileProblem(failure)]);
  }

  async openStore(): Promise<SessionStore | undefined> {
    const { directories } = this.#options;
    if (!directories) return undefined;
    const { FileSessionStore } = await importLate<
      typeof import("../../../src/memory/file/file_store.ts")
    >("../../../src/memory/file/file_store.ts", import.meta.url);
    return new FileSessionStore({ directory: getSessionDirectory(directories) });
  }

  async switchTo(choice: SessionChoice): Promise<void> {
    const { setup, onSwitched } = this.#options;
    // Nothing more can be written to a lost one.
    if (!this.#isLost) await this.session?.flush();
    const next = await this.#open(choice);
    await this.#checkNext(next);
    await this.#stop();
    this.#current = next;
    this.#isLost = false;
    clearAgent(setup);
    await next?.attach(setup.agent, setup.server ?? next.server);
    await onSwitched(this.session);
    this.#isReported = false;
    // A new session is created with the first request.
    if (this.session) await this.reportProblems();
  }

  checkModel(model: ModelSpec): void {
    this.#options.checkSession({ model, server: this.#current?.server });
  }

  async start(): Promise<void> {
    if (this.isPending) await this.reportProblems();
  }

  async addText(text: string, metadata?: JsonObject): Promise<void> {
    const { setup: { agent }, now } = this.#options;
    agent.appendMessages([{
      role: "user",
      content: [{ type: "text", text }],
      timestamp: now(),
      ...(metadata && { metadata }),
    }]);
    // A new session is created with its first text.
    await this.start();
    // The user has seen it, so it must survive a crash. A failure is reported as that of a run is.
    await this.#current?.recording?.flush().catch(() => {});
    await this.reportFailure(undefined);
  }

  async moveTo(leaf: string | null): Promise<void> {
    requireSession(this);
    await this.#current?.recording?.rewind(leaf);
    await this.#options.onSwitched(this.session);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
  }

  /** Closes the next session if the conversation cannot continue it. */
  async #checkNext(next: RunSession | undefined): Promise<void> {
    try {
      if (next) this.#options.checkSession(next);
    } catch (error) {
      await next?.[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Ends the recording. A session without messages, which only has settings, is removed. */
  async #stop(): Promise<void> {
    const { session } = this;
    await this.#current?.[Symbol.asyncDispose]();
    if (!session || session.leafId === null) return;
    if (session.outline.some(({ type }) => type === "message")) return;
    const store = await this.openStore();
    await store?.delete(session.id).catch(() => {});
  }

  async #open(choice: SessionChoice): Promise<RunSession | undefined> {
    const { cwd, directories } = this.#options;
    if (choice.type === "none" || !directories) return undefined;
    if (choice.type === "new") return new NewSession({ cwd, directories });
    const { openRunSession } = await importLate<typeof import("../../sessions/open_session.ts")>(
      "../../sessions/open_session.ts",
      import.meta.url,
    );
    return await openRunSession(choice, { cwd, directories });
  }
}

/** Whether an error reports that another program has the session. */
function isLoss(error: unknown): boolean {
  return error instanceof SessionError && error.reason === "lock_lost";
}

/** Removes the history of an agent, and what belongs to it. */
function clearAgent(
  { agent, planMode, approvalMode, controls: { gate, transform } }: AgentSetup,
): void {
  agent.clearQueues();
  agent.clearMessages();
  transform.restore(undefined);
  planMode?.turnOff(agent);
  gate.clearTrust();
  gate.mode = approvalMode;
}
