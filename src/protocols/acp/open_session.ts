/**
 * A session that is open at a client.
 *
 * @module
 */

import type { ApprovalDecision } from "../../core/approval/approval.ts";
import { AlreadyRunningError, getErrorMessage } from "../../core/errors/errors.ts";
import type { AgentEndEvent, AgentEvent } from "../../core/events/event.ts";
import type { ContentBlock } from "../../core/messages/content.ts";
import type { UserMessage } from "../../core/messages/message.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import type { AcpClient, AcpCommandResult, AcpQuestion, AcpSession } from "./acp_host.ts";
import { type AcpTerminal, type AcpTerminalOptions, createTerminal } from "./acp_terminal.ts";
import type { AcpStopReason, AcpUpdate } from "./acp_update.ts";
import { ClientAnswer } from "./client_answer.ts";
import { toHistoryUpdates } from "./content.ts";
import type { CallDescriber } from "./describe_call.ts";
import { EventMapper, type EventMapperOptions, getStopReason } from "./event_mapper.ts";
import {
  PERMISSION_OPTIONS,
  type PermissionOption,
  type PermissionOutcome,
  toDecision,
} from "./permission.ts";
import type { AcpPeer } from "./sdk_package.ts";

/** Capabilities of the client that are in use. */
export interface ClientCapabilities {
  readonly fs?: { readonly readTextFile?: boolean; readonly writeTextFile?: boolean };
  readonly terminal?: boolean;
  readonly auth?: { readonly terminal?: boolean };
}

/** Requests to the client whose answers are read. */
const READ_FILE = "fs/read_text_file";
const ASK = "session/request_permission";

/** The end of a prompt: a reason, or the failure of the run. */
export type PromptEnd =
  | { readonly type: "ended"; readonly stopReason: AcpStopReason }
  | { readonly type: "failed"; readonly code: string; readonly message: string };

/** Returns an absolute path, as clients require it. */
function toAbsolutePath(cwd: string, path: string): string {
  if (/^([/\\]|[A-Za-z]:)/.test(path)) return path;
  return `${cwd.replace(/[/\\]$/, "")}/${path}`;
}

/** The other end of a connection. */
export interface ClientConnection {
  /** Sends requests and notifications. */
  readonly peer: AcpPeer;
  /** Capabilities of the client. */
  readonly capabilities: ClientCapabilities;
  /** Resolves when the connection is closed: what was not delivered by then is discarded. */
  readonly closed: Promise<void>;
}

/** The connection of a client to one session, before and while the session exists. */
export class SessionChannel {
  readonly #connection: ClientConnection;
  readonly #cwd: string;
  /** Ids of the terminals that the session has started. */
  readonly #terminals = new Set<string>();
  #open: OpenSession | undefined;

  /** Creates a channel. */
  constructor(connection: ClientConnection, cwd: string) {
    this.#connection = connection;
    this.#cwd = cwd;
  }

  /** The client, as the host of the session sees it. */
  get client(): AcpClient {
    const { fs: { readTextFile, writeTextFile } = {}, terminal } = this.#connection.capabilities;
    return {
      ask: (request) => this.#open?.ask(request) ?? Promise.resolve({ type: "denied" }),
      choose: async (question, signal) => await this.#open?.choose(question, signal),
      show: async (event) => await this.#open?.show(event),
      update: async () => await this.#open?.sendState(),
      ...(readTextFile && { readTextFile: (path) => this.#readTextFile(path) }),
      ...(writeTextFile && {
        writeTextFile: (path, content) => this.#writeTextFile(path, content),
      }),
      ...(terminal && { createTerminal: (options) => this.#createTerminal(options) }),
    };
  }

  get #sessionId(): string {
    return this.#open?.id ?? "";
  }

  /** Connects the session to the client. */
  open(session: AcpSession): OpenSession {
    const isTerminal = (id: string) => this.#terminals.has(id);
    return this.#open = new OpenSession(session, this.#connection, { cwd: this.#cwd, isTerminal });
  }

  async #createTerminal(options: AcpTerminalOptions): Promise<AcpTerminal> {
    const terminal = await createTerminal(this.#connection.peer, options, this.#sessionId);
    this.#terminals.add(terminal.id);
    return terminal;
  }

  async #readTextFile(path: string): Promise<string> {
    const params = { sessionId: this.#sessionId, path: toAbsolutePath(this.#cwd, path) };
    const answer = await this.#connection.peer.request(READ_FILE, params);
    return new ClientAnswer(READ_FILE, answer).readText("content");
  }

  async #writeTextFile(path: string, content: string): Promise<void> {
    const params = { sessionId: this.#sessionId, path: toAbsolutePath(this.#cwd, path), content };
    await this.#connection.peer.request("fs/write_text_file", params);
  }
}

/** Options for {@linkcode OpenSession}. */
export interface OpenSessionOptions extends Required<Pick<EventMapperOptions, "isTerminal">> {
  /** Absolute path of the working directory. */
  readonly cwd: string;
}

/** Options for `OpenSession.prompt()`. */
export interface SessionPromptOptions {
  /** Aborted when the client cancels the request. */
  readonly signal: AbortSignal;
  /** Called when the prompt is next: the one that was cancelled before has ended. Default: nothing is called. */
  readonly onStart?: (() => Promise<void>) | undefined;
}

/** A prompt that has not ended. */
interface ActivePrompt {
  readonly controller: AbortController;
  /** Aborted when the client cancels the prompt, or its request. */
  readonly signal: AbortSignal;
  readonly ended: Promise<void>;
}

/** A session that is open at a client. */
export class OpenSession {
  readonly #session: AcpSession;
  readonly #connection: ClientConnection;
  readonly #describer: CallDescriber;
  readonly #mapper: EventMapper;
  readonly #unsubscribe: () => void;
  /**
   * The tools that the user has allowed for the session, where no gate keeps that. Not their names: agents that tools run
   * may have others with the same names, and a server may replace its own.
   */
  readonly #allowed = new WeakSet<object>();
  #prompt: ActivePrompt | undefined;

  /** Creates it, and watches the calls of the agent. */
  constructor(
    session: AcpSession,
    connection: ClientConnection,
    { cwd, isTerminal }: OpenSessionOptions,
  ) {
    const { describeCall, getContextWindow } = session;
    this.#session = session;
    this.#connection = connection;
    this.#describer = { describeCall, toPath: (path) => toAbsolutePath(cwd, path) };
    const { messages: history } = session.agent.state;
    this.#mapper = new EventMapper({ ...this.#describer, history, getContextWindow, isTerminal });
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

  /** Whether a prompt has not ended, and is not cancelled. */
  get isPrompted(): boolean {
    return this.#prompt !== undefined && !this.#prompt.signal.aborted;
  }

  /** The modes in the form of the protocol. */
  get modes(): { readonly currentModeId: string; readonly availableModes: object } | undefined {
    const { modes } = this.#session;
    return modes && { currentModeId: modes.current(), availableModes: modes.available };
  }

  /**
   * Runs a prompt, or executes its command, when the one that was cancelled before has ended.
   *
   * @throws {AlreadyRunningError} If another prompt has not ended, and is not cancelled.
   */
  async prompt(
    message: UserMessage,
    { signal, onStart }: SessionPromptOptions,
  ): Promise<PromptEnd> {
    const previous = this.#prompt;
    if (this.isPrompted) {
      throw new AlreadyRunningError("A prompt is already running: wait for it, or cancel it");
    }
    const controller = new AbortController();
    const { promise: ended, resolve } = createDeferred();
    const stop = AbortSignal.any([signal, controller.signal]);
    const active = this.#prompt = { controller, signal: stop, ended };
    try {
      await previous?.ended;
      await onStart?.();
      if (stop.aborted) return { type: "ended", stopReason: "cancelled" };
      return await this.#runPrompt(message, stop);
    } catch (error) {
      if (stop.aborted) return { type: "ended", stopReason: "cancelled" };
      throw error;
    } finally {
      if (this.#prompt === active) this.#prompt = undefined;
      resolve();
    }
  }

  async #runPrompt(message: UserMessage, signal: AbortSignal): Promise<PromptEnd> {
    const command = await this.#runCommand(joinTexts(message.content), signal);
    if (command?.type === "answer") {
      if (command.text !== "") await this.#sendText(command.text);
      return { type: "ended", stopReason: signal.aborted ? "cancelled" : "end_turn" };
    }
    const { agent, preparePrompt, getTitle } = this.#session;
    const given = command ? replaceTexts(message, command.text) : message;
    const prompt = await preparePrompt?.(given, { signal }) ?? given;
    let end: AgentEndEvent | undefined;
    for await (const event of agent.promptStream([prompt], { signal })) {
      if (event.type === "agent_end") end = event;
      await this.show(event);
    }
    if (end && getStopReason(end) === "refusal") await this.#removePrompt(end);
    const title = getTitle?.();
    if (title !== undefined) await this.#send({ sessionUpdate: "session_info_update", title });
    return toPromptEnd(end);
  }

  /**
   * Removes a prompt that the model has refused from the history, with what follows it: the protocol leaves both out of the
   * next prompt, which would be refused too. Clients no longer show them.
   */
  async #removePrompt({ messages }: AgentEndEvent): Promise<void> {
    const { agent } = this.#session;
    await agent.waitForIdle();
    const prompt = messages.find(({ role }) => role === "user");
    const position = agent.state.messages.findIndex(({ id }) =>
      id !== undefined && id === prompt?.id
    );
    if (position < 0 || agent.state.isRunning) return;
    agent.setMessages(agent.state.messages.slice(0, position));
  }

  async #runCommand(text: string, signal: AbortSignal): Promise<AcpCommandResult | undefined> {
    if (!text.startsWith("/")) return undefined;
    return await this.#session.runCommand?.(text, { signal });
  }

  /** Ends the prompt. */
  cancel(): void {
    this.#prompt?.controller.abort("the client cancelled the prompt");
  }

  /** Sends the history. */
  async sendHistory(): Promise<void> {
    for (const update of toHistoryUpdates(this.#session.agent.state.messages, this.#describer)) {
      await this.#send(update);
    }
  }

  /** Sends the commands, the mode and the settings. */
  async sendState(): Promise<void> {
    await this.sendCommands();
    await this.sendSettings();
  }

  /** Sends the commands. */
  async sendCommands(): Promise<void> {
    const { commands } = this.#session;
    if (!commands) return;
    const availableCommands = [...commands];
    await this.#send({ sessionUpdate: "available_commands_update", availableCommands });
  }

  /** Sends the mode and the settings. */
  async sendSettings(): Promise<void> {
    const { modes, config } = this.#session;
    if (modes) {
      await this.#send({ sessionUpdate: "current_mode_update", currentModeId: modes.current() });
    }
    if (config) {
      const configOptions = [...config.options()];
      await this.#send({ sessionUpdate: "config_option_update", configOptions });
    }
  }

  /** Sends what a client shows of an event. */
  async show(event: AgentEvent): Promise<void> {
    for (const update of this.#mapper.map(event)) await this.#send(update);
  }

  /** Asks the user about a call. Never rejects: a client that is gone refuses it. */
  async ask(request: Parameters<AcpClient["ask"]>[0]): Promise<ApprovalDecision> {
    const { name, path = [], signal } = request;
    const tool = findTool(request);
    if (tool && this.#allowed.has(tool)) {
      return { type: "approved", rule: name, ruleSource: "session", origin: "rule" };
    }
    // The client knows the call of a sub-agent by the calls that lead to it.
    const toolCallId = [...path, request.toolCallId].join("/");
    try {
      const outcome = await this.#requestPermission({
        toolCall: this.#mapper.describeApproval({ ...request, toolCallId }),
        options: PERMISSION_OPTIONS,
        signal,
      });
      const decision = toDecision(outcome);
      const isForSession = decision.type === "approved" && decision.scope === "tool";
      if (isForSession && tool && !signal.aborted) this.#allowed.add(tool);
      return decision;
    } catch (error) {
      return {
        type: "denied",
        reason: `the client did not answer (${getErrorMessage(error)})`,
      };
    }
  }

  /** Asks the user a question. Never rejects: a client that is gone gives no answer. */
  async choose(
    { title, text, answers }: AcpQuestion,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const content = text === undefined
      ? []
      : [{ type: "content", content: { type: "text", text } } as const];
    try {
      const { outcome, optionId } = await this.#requestPermission({
        toolCall: {
          toolCallId: `question-${crypto.randomUUID()}`,
          title,
          kind: "other",
          status: "pending",
          content,
        },
        options: answers.map(({ id, name, allows }) => ({
          optionId: id,
          name,
          kind: allows ? "allow_once" : "reject_once",
        })),
        // A command that is cancelled needs no answer.
        signal: AbortSignal.any([signal, ...this.#prompt ? [this.#prompt.signal] : []]),
      });
      const isAnswer = outcome === "selected" && answers.some(({ id }) => id === optionId);
      return isAnswer ? optionId : undefined;
    } catch {
      return undefined;
    }
  }

  async #requestPermission(
    { signal, ...request }: {
      readonly toolCall: object;
      readonly options: readonly PermissionOption[];
      readonly signal: AbortSignal;
    },
  ): Promise<PermissionOutcome> {
    const answer = await this.#connection.peer.request(
      ASK,
      { sessionId: this.id, ...request },
      { cancellationSignal: signal, stopWaitingOnCancel: true },
    );
    const outcome = new ClientAnswer(ASK, answer).findObject("outcome");
    return { outcome: outcome?.findText("outcome") ?? "", optionId: outcome?.findText("optionId") };
  }

  /** Ends the run and the session. */
  async close(): Promise<void> {
    const { agent, close } = this.#session;
    this.#unsubscribe();
    const reason = "the client closed the session";
    this.#prompt?.controller.abort(reason);
    agent.abort(reason);
    await Promise.all([agent.waitForIdle(), this.#prompt?.ended]);
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

  #sendText(text: string): Promise<void> {
    return this.#send({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  }

  /** Sends an update; one that a client that is gone does not take is discarded. */
  async #send(update: AcpUpdate): Promise<void> {
    const { peer, closed } = this.#connection;
    const sent = peer.notify("session/update", { sessionId: this.id, update });
    await Promise.race([sent, closed]);
  }
}

/**
 * Returns the tool that a request of the hook `approve` is about. A gate, which adds the risk, keeps what is allowed for the
 * session itself, and asks again about dangerous calls. So may a program that passes a part of a request on.
 */
function findTool(request: object): object | undefined {
  if (!("tool" in request) || "risk" in request) return undefined;
  const { tool } = request;
  return typeof tool === "object" && tool !== null ? tool : undefined;
}

/** Returns the texts of a prompt; what the client embeds is separated from the name of a command. */
function joinTexts(blocks: readonly ContentBlock[]): string {
  return blocks.flatMap((block) => block.type === "text" ? [block.text] : []).reduce(
    (text, next) => /(^|\s)$/.test(text) || /^\s/.test(next) ? text + next : `${text} ${next}`,
    "",
  );
}

/** Returns a prompt with another text, and with the images and documents that it has. */
function replaceTexts(message: UserMessage, text: string): UserMessage {
  const media = message.content.filter(({ type }) => type !== "text");
  return { ...message, content: [{ type: "text", text }, ...media] };
}

/** Maximum time for the preview of a change. */
const PREVIEW_MS = 5_000;

function toPromptEnd(end: AgentEndEvent | undefined): PromptEnd {
  const stopReason = end && getStopReason(end);
  if (stopReason) return { type: "ended", stopReason };
  const { code = "stream_error", message = "The run ended without a result" } = end?.error ?? {};
  return { type: "failed", code, message };
}
