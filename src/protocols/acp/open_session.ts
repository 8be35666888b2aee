/**
 * A session that is open at a client.
 *
 * @module
 */

import type { ApprovalDecision } from "../../core/approval.ts";
import { getErrorMessage } from "../../core/errors.ts";
import type { AgentEndEvent, AgentEvent } from "../../core/event.ts";
import type { UserMessage } from "../../core/message.ts";
import { extractText } from "../../core/content.ts";
import type { AcpClient, AcpSession } from "./acp_host.ts";
import type { AcpStopReason, AcpUpdate } from "./acp_update.ts";
import { toHistoryUpdates } from "./content.ts";
import { EventMapper, getStopReason } from "./event_mapper.ts";
import { PERMISSION_OPTIONS, toDecision } from "./permission.ts";
import type { AcpPeer } from "./sdk_package.ts";

/** Capabilities of the client that are in use. */
export interface ClientCapabilities {
  readonly fs?: { readonly readTextFile?: boolean; readonly writeTextFile?: boolean };
}

/** The end of a prompt: a reason, or the failure of the run. */
export type PromptEnd =
  | { readonly type: "ended"; readonly stopReason: AcpStopReason }
  | { readonly type: "failed"; readonly code: string; readonly message: string };

/** Returns an absolute path, as clients require it. */
export function toAbsolutePath(cwd: string, path: string): string {
  if (/^([/\\]|[A-Za-z]:)/.test(path)) return path;
  return `${cwd.replace(/[/\\]$/, "")}/${path}`;
}

/** The connection of a client to one session, before and while the session exists. */
export class SessionChannel {
  readonly #peer: AcpPeer;
  readonly #capabilities: ClientCapabilities;
  readonly #cwd: string;
  #open: OpenSession | undefined;

  /** Creates a channel. */
  constructor(peer: AcpPeer, capabilities: ClientCapabilities, cwd: string) {
    this.#peer = peer;
    this.#capabilities = capabilities;
    this.#cwd = cwd;
  }

  /** The client, as the host of the session sees it. */
  get client(): AcpClient {
    const { readTextFile, writeTextFile } = this.#capabilities.fs ?? {};
    return {
      ask: (request) => this.#open?.ask(request) ?? Promise.resolve({ type: "denied" }),
      update: async () => await this.#open?.sendState(),
      ...(readTextFile && { readTextFile: (path) => this.#readTextFile(path) }),
      ...(writeTextFile && {
        writeTextFile: (path, content) => this.#writeTextFile(path, content),
      }),
    };
  }

  /** Connects the session to the client. */
  open(session: AcpSession): OpenSession {
    return this.#open = new OpenSession(session, this.#peer, this.#cwd);
  }

  async #readTextFile(path: string): Promise<string> {
    const params = { sessionId: this.#open?.id, path: toAbsolutePath(this.#cwd, path) };
    const { content } = await this.#peer.request("fs/read_text_file", params) as {
      readonly content: string;
    };
    return content;
  }

  async #writeTextFile(path: string, content: string): Promise<void> {
    const params = { sessionId: this.#open?.id, path: toAbsolutePath(this.#cwd, path), content };
    await this.#peer.request("fs/write_text_file", params);
  }
}

/** A session that is open at a client. */
export class OpenSession {
  readonly #session: AcpSession;
  readonly #peer: AcpPeer;
  readonly #mapper: EventMapper;
  readonly #unsubscribe: () => void;

  /** Creates it, and watches the calls of the agent. */
  constructor(session: AcpSession, peer: AcpPeer, cwd: string) {
    this.#session = session;
    this.#peer = peer;
    this.#mapper = new EventMapper({
      describeCall: session.describeCall,
      getContextWindow: session.getContextWindow,
      toPath: (path) => toAbsolutePath(cwd, path),
    });
    this.#unsubscribe = session.agent.subscribe((event) => this.#previewChanges(event));
  }

  /** Id of the session. */
  get id(): string {
    return this.#session.id;
  }

  /** The session. */
  get session(): AcpSession {
    return this.#session;
  }

  /** The modes in the form of the protocol. */
  get modes(): { readonly currentModeId: string; readonly availableModes: object } | undefined {
    const { modes } = this.#session;
    return modes && { currentModeId: modes.current(), availableModes: modes.available };
  }

  /** Runs a prompt, or executes its command. */
  async prompt(message: UserMessage, signal: AbortSignal): Promise<PromptEnd> {
    const text = extractText(message.content);
    const answer = text.startsWith("/") ? await this.#session.runCommand?.(text) : undefined;
    if (answer !== undefined) {
      const content = { type: "text", text: answer } as const;
      await this.#send({ sessionUpdate: "agent_message_chunk", content });
      return { type: "ended", stopReason: "end_turn" };
    }
    const stream = this.#session.agent.promptStream([message], { signal });
    let end: AgentEndEvent | undefined;
    for await (const event of stream) {
      if (event.type === "agent_end") end = event;
      for (const update of this.#mapper.map(event)) await this.#send(update);
    }
    const title = this.#session.getTitle?.();
    if (title !== undefined) await this.#send({ sessionUpdate: "session_info_update", title });
    return toPromptEnd(end);
  }

  /** Aborts the run. */
  cancel(): void {
    this.#session.agent.abort("the client cancelled the prompt");
  }

  /** Sends the history. */
  async sendHistory(): Promise<void> {
    for (const update of toHistoryUpdates(this.#session.agent.state.messages)) {
      await this.#send(update);
    }
  }

  /** Sends the commands, the mode and the settings. */
  async sendState(): Promise<void> {
    const { commands, modes, config } = this.#session;
    if (commands) {
      const availableCommands = [...commands];
      await this.#send({ sessionUpdate: "available_commands_update", availableCommands });
    }
    if (modes) {
      await this.#send({ sessionUpdate: "current_mode_update", currentModeId: modes.current() });
    }
    if (config) {
      const configOptions = [...config.options()];
      await this.#send({ sessionUpdate: "config_option_update", configOptions });
    }
  }

  /** Asks the user about a call. Never rejects: a client that is gone refuses it. */
  async ask(request: Parameters<AcpClient["ask"]>[0]): Promise<ApprovalDecision> {
    try {
      const { outcome } = await this.#peer.request("session/request_permission", {
        sessionId: this.id,
        toolCall: this.#mapper.describeApproval(request),
        options: PERMISSION_OPTIONS,
      }, { signal: request.signal }) as { readonly outcome: Parameters<typeof toDecision>[0] };
      return toDecision(outcome);
    } catch (error) {
      return {
        type: "denied",
        reason: `the client did not answer (${getErrorMessage(error)})`,
      };
    }
  }

  /** Ends the run and the session. */
  async close(): Promise<void> {
    const { agent, close } = this.#session;
    this.#unsubscribe();
    agent.abort("the client closed the session");
    await agent.waitForIdle();
    await close?.();
  }

  /** Computes the changes of a call before it makes them. */
  async #previewChanges(event: AgentEvent): Promise<void> {
    if (event.type !== "tool_execution_start") return;
    const { id, name, arguments: args } = event;
    const tool = this.#session.agent.state.tools.find((tool) => tool.name === name);
    if (!tool?.preview) return;
    try {
      const signal = AbortSignal.timeout(PREVIEW_MS);
      this.#mapper.expectChanges(id, await tool.preview(args, { signal }));
    } catch {
      // A call that will fail has no changes.
    }
  }

  #send(update: AcpUpdate): Promise<void> {
    return this.#peer.notify("session/update", { sessionId: this.id, update });
  }
}

/** Maximum time for the preview of a change. */
const PREVIEW_MS = 5_000;

function toPromptEnd(end: AgentEndEvent | undefined): PromptEnd {
  const stopReason = end && getStopReason(end);
  if (stopReason) return { type: "ended", stopReason };
  const { code = "stream_error", message = "The run ended without a result" } = end?.error ?? {};
  return { type: "failed", code, message };
}
