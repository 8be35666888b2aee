/**
 * A new session, which is created while the first request is under way: the request does not wait for its code and its
 * file.
 *
 * @module
 */

import type { AgentEvent } from "../../mod.ts";
import type { Agent } from "../../src/agent/agent.ts";
import type { SessionRecording } from "../../src/memory/recording/session_recording.ts";
import { importLate } from "../host/import_late.ts";
import type {
  NewSessionOptions,
  RecordedSession,
  RunSession,
  StartedRecording,
} from "./run_session.ts";
import type { SessionServer } from "./session_server.ts";

/** Milliseconds after the start of a model call by which its request is under way. */
const CREATE_AFTER_MS = 100;

/**
 * A session that is created while the first request is under way, so that the prompt survives a crash: when the reply
 * begins, or it takes long, or when the session is described.
 */
export class NewSession implements RunSession {
  readonly #options: NewSessionOptions;
  #agent: Agent | undefined;
  #server: SessionServer | undefined;
  #starting: Promise<StartedRecording> | undefined;
  #started: StartedRecording | undefined;
  recording: SessionRecording | undefined;
  #isDisposed = false;
  #unsubscribe = (): void => {};

  constructor(options: NewSessionOptions) {
    this.#options = options;
  }

  get isPending(): boolean {
    return this.#starting === undefined;
  }

  async attach(agent: Agent, server?: SessionServer): Promise<void> {
    this.#agent = agent;
    this.#server = server;
    if (this.#options.createsAtOnce) return void await this.#start();
    this.#unsubscribe = agent.subscribe((event) => {
      if (event.type === "model_call_start") this.#startLater();
      if (!this.#starting && isBeforeReply(event)) return undefined;
      // The agent waits for it, so that no reply and no call is lost.
      return this.describe().then(() => {});
    });
  }

  async describe(): Promise<RecordedSession> {
    return await this.#start();
  }

  takeFailure(): Error | undefined {
    return this.#started?.takeFailure();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    this.#unsubscribe();
    // A failure has ended the run, or its next event reports it.
    const started = await this.#starting?.catch(() => undefined);
    await started?.stop();
    this.recording = undefined;
  }

  #startLater(): void {
    // Not with setTimeout(), whose first call takes 5 ms on Deno, which would delay the request.
    AbortSignal.timeout(CREATE_AFTER_MS).addEventListener("abort", () => {
      // The next event reports a failure.
      if (!this.#isDisposed) this.#start().catch(() => {});
    });
  }

  #start(): Promise<StartedRecording> {
    this.#starting ??= this.#record();
    return this.#starting;
  }

  async #record(): Promise<StartedRecording> {
    if (!this.#agent) throw new Error("The session has no agent");
    const { startRecording } = await importLate<typeof import("./start_recording.ts")>(
      "./start_recording.ts",
      import.meta.url,
    );
    const started = await startRecording(this.#agent, { ...this.#options, server: this.#server });
    this.#started = started;
    this.recording = started.recording;
    this.#unsubscribe();
    return started;
  }
}

/** Whether the recording of an active run includes an event that it has not seen, since it begins with the history. */
function isBeforeReply(event: AgentEvent): boolean {
  switch (event.type) {
    case "agent_start":
    case "turn_start":
    case "message_start":
    case "model_call_start":
      return true;
    case "message_end":
      return event.message.role === "user";
    default:
      return false;
  }
}
