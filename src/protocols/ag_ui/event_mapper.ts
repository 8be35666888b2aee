/**
 * Maps the events of a run to those of AG-UI.
 *
 * @module
 */

import type { AgentError } from "../../core/errors/errors.ts";
import type {
  AgentEndEvent,
  AgentEvent,
  MessageEndEvent,
  MessageStartEvent,
  SubAgentEvent,
} from "../../core/events/event.ts";
import { isJsonObject } from "../../core/json/json.ts";
import { extractToolCalls } from "../../core/messages/content.ts";
import type { AssistantMessage, UserMessage } from "../../core/messages/message.ts";
import { toJson } from "../web_client/client_json.ts";
import { isKnownToClient } from "../web_client/client_results.ts";
import { describeError } from "../web_client/describe_error.ts";
import { toClientEvent } from "../web_client/to_client_event.ts";
import { withoutFiles } from "../web_client/without_files.ts";
import type { AgUiEvent, AgUiMessage } from "./ag_ui_event.ts";
import { ClientMessages } from "./client_messages.ts";
import { getOutcome, getResult } from "./get_outcome.ts";
import { formatModel, ModelUsage } from "./model_usage.ts";
import { ReplyEvents } from "./reply_events.ts";
import { toContent } from "./to_parts.ts";

/** Options for `new EventMapper()`. */
export interface EventMapperOptions {
  /** Id of the conversation. */
  readonly threadId: string;
  /** Id of the run for the client. Default: that of the agent. */
  readonly runId?: string | undefined;
  /**
   * The messages that the client has. A retry replaces its list by these and those of the run, so that a client loses the
   * messages that are missing. Default: none.
   */
  readonly messages?: readonly AgUiMessage[] | undefined;
  /** The state that the client has; the members of an object stay next to those of the agent. Default: none. */
  readonly state?: unknown;
  /**
   * Returns the text of an error for the client, as that of a run that has failed. Default: the message of one of the
   * library.
   */
  readonly onError?: ((error: unknown) => string) | undefined;
}

/** The agent whose events are mapped. */
export interface MappedAgent {
  /** Id of the run, if it is a sub-agent. Default: it is none. */
  readonly subAgentId?: string | undefined;
  /** Names of the tools that the client runs, whose results it adds itself. Default: none. */
  readonly clientTools?: readonly string[] | undefined;
  /** Collects the usage by model. Default: a new one. */
  readonly usage?: ModelUsage | undefined;
  /** The messages of the client, also those of the other agents. Default: those of the options. */
  readonly messages?: ClientMessages | undefined;
}

/** Maps the events of one agent; those of its sub-agents get a mapper of their own. */
export class EventMapper {
  readonly #options: EventMapperOptions;
  readonly #subAgentId: string | undefined;
  readonly #clientTools: readonly string[];
  /** The mappers of the sub-agents that have not ended, by the ids of their calls. */
  readonly #subAgents = new Map<string, EventMapper>();
  readonly #toolNames = new Map<string, string>();
  /** The usage of the run with that of its sub-agents. */
  readonly #usage: ModelUsage;
  readonly #messages: ClientMessages;
  #runId = "";
  readonly #reply = new ReplyEvents((id) => this.#toCallId(id));
  #step: string | undefined;
  #hasCalledModel = false;

  /** Creates a mapper. */
  constructor(
    options: EventMapperOptions,
    { subAgentId, clientTools = [], usage, messages }: MappedAgent = {},
  ) {
    this.#options = options;
    this.#subAgentId = subAgentId;
    this.#clientTools = clientTools;
    this.#usage = usage ?? new ModelUsage();
    this.#messages = messages ?? new ClientMessages(options.messages ?? []);
  }

  /** Returns the events for a client. */
  map(event: AgentEvent): AgUiEvent[] {
    const events = this.#attribute(this.#map(event));
    // The events of sub-agents are part of those of the agent, which applies them.
    if (this.#subAgentId === undefined) {
      for (const mapped of events) this.#messages.apply(mapped);
    }
    return events;
  }

  /** Returns the events with the id of the agent, if it is a sub-agent. The messages of a snapshot are those of all agents. */
  #attribute(events: readonly AgUiEvent[]): AgUiEvent[] {
    const subagentRunId = this.#subAgentId;
    if (subagentRunId === undefined) return [...events];
    return events.map((event) =>
      event.type === "MESSAGES_SNAPSHOT" ? event : { subagentRunId, ...event }
    );
  }

  /** Returns the id of a call for the client: other agents may have calls with the same id. */
  #toCallId(id: string): string {
    return this.#subAgentId === undefined ? id : `${this.#subAgentId}/${id}`;
  }

  #map(event: AgentEvent): AgUiEvent[] {
    switch (event.type) {
      case "agent_start":
        return this.#startRun(event.runId);
      case "agent_end":
        return this.#endRun(event);
      case "turn_start":
        this.#step = `turn ${event.turn}`;
        return [{ type: "STEP_STARTED", stepName: this.#step }, ...this.#patch("turn", event.turn)];
      case "turn_end":
        return this.#endStep();
      case "message_start":
        return this.#startMessage(event);
      case "message_update":
        return this.#reply.append(event.delta);
      case "message_end":
        return this.#endMessage(event);
      case "model_call_start":
        this.#hasCalledModel = true;
        return [];
      case "model_call_end":
        this.#usage.add(event);
        return [];
      case "retry":
      case "model_fallback":
        return [...(event.discard ? this.#discard() : []), toCustom(event, toClientEvent(event))];
      case "model_changed":
        return this.#patch("model", formatModel(event.to));
      case "queue_changed":
        return this.#patch("queued", countQueued(event.queued));
      case "tool_execution_start":
        this.#toolNames.set(event.id, event.name);
        return this.#customCall(event);
      case "tool_execution_update": {
        const { update } = event;
        return this.#customCall(
          typeof update === "string" ? event : { ...event, update: withoutFiles(update) },
        );
      }
      case "tool_execution_end":
        return this.#customCall({ ...event, result: withoutFiles(event.result) });
      case "tool_approval_requested":
      case "tool_approval_resolved":
        return this.#customCall(event);
      case "context_compacted":
        return [toCustom(event, { report: toClientEvent(event) })];
      case "warning":
        return [toCustom(event, toClientEvent(event))];
      case "custom":
        return [{ type: "CUSTOM", name: event.name, value: toJson(event.data) }];
      case "sub_agent":
        return this.#mapSubAgent(event);
      default:
        return event satisfies never;
    }
  }

  #startRun(runId: string): AgUiEvent[] {
    this.#runId = this.#options.runId ?? runId;
    if (this.#subAgentId !== undefined) return [];
    const { threadId, state } = this.#options;
    const snapshot = {
      ...(isJsonObject(state) && state),
      turn: 0,
      queued: countQueued({ steering: [], followUp: [] }),
    };
    return [
      createRunStart(threadId, this.#runId),
      { type: "STATE_SNAPSHOT", snapshot },
    ];
  }

  #endRun(event: AgentEndEvent): AgUiEvent[] {
    const ended = this.#endParts();
    if (this.#subAgentId !== undefined) return [...ended, ...this.#endSubAgent(event)];
    const { error } = event;
    const usage = this.#usage.list;
    if (error && error.code !== "aborted") {
      return [...ended, { type: "RUN_ERROR", ...this.#describe(error), usage }];
    }
    const { threadId } = this.#options;
    const outcome = getOutcome(event, this.#clientTools);
    const run = { threadId, runId: this.#runId, outcome, usage };
    return [...ended, { type: "RUN_FINISHED", ...run, result: getResult(event) }];
  }

  #endSubAgent(event: AgentEndEvent): AgUiEvent[] {
    const subagentRunId = this.#subAgentId ?? "";
    const { error, stopReason } = event;
    if (error) return [{ type: "SUBAGENT_ERROR", subagentRunId, ...this.#describe(error) }];
    if (stopReason === "aborted") {
      return [{ type: "SUBAGENT_ERROR", subagentRunId, message: ABORTED, code: "aborted" }];
    }
    const outcome = { type: "success" } as const;
    return [{ type: "SUBAGENT_FINISHED", subagentRunId, result: getResult(event), outcome }];
  }

  #describe(error: AgentError) {
    return { message: describeError(error, FAILED, this.#options.onError), code: error.code };
  }

  /** Ends everything that a client sees as active. */
  #endParts(): AgUiEvent[] {
    return [...this.#suspendSubAgents(), ...this.#reply.close(), ...this.#endStep()];
  }

  /** Ends the events of the sub-agents that work longer than their run, as the protocol requires. */
  #suspendSubAgents(): AgUiEvent[] {
    const mappers = [...this.#subAgents.values()];
    this.#subAgents.clear();
    return mappers.flatMap((mapper) => mapper.#suspend());
  }

  #suspend(): AgUiEvent[] {
    const subagentRunId = this.#subAgentId ?? "";
    const outcome = { type: "suspended" } as const;
    return this.#attribute([
      ...this.#endParts(),
      { type: "SUBAGENT_FINISHED", subagentRunId, outcome },
    ]);
  }

  #endStep(): AgUiEvent[] {
    const stepName = this.#step;
    this.#step = undefined;
    return stepName === undefined ? [] : [{ type: "STEP_FINISHED", stepName }];
  }

  /** A client has the messages of the prompt; those that are queued later are new to it. */
  #startMessage({ message }: MessageStartEvent): AgUiEvent[] {
    if (message.role !== "assistant") return [];
    this.#reply.start(message.id ?? `${this.#runId}-${this.#messages.size}`);
    return [];
  }

  /** Takes back what a failed attempt has emitted. */
  #discard(): AgUiEvent[] {
    const closed = this.#reply.close();
    const ids = this.#reply.discard();
    if (ids.length === 0) return closed;
    this.#messages.discard(ids);
    return [...closed, { type: "MESSAGES_SNAPSHOT", messages: this.#messages.list }];
  }

  #endMessage({ message }: MessageEndEvent): AgUiEvent[] {
    // The client adds the result itself.
    if (isKnownToClient(message, this.#clientTools)) return [];
    switch (message.role) {
      case "assistant":
        return this.#endReply(message);
      case "tool_result": {
        const { id: messageId = "" } = message;
        const content = toContent(message.content);
        const toolCallId = this.#toCallId(message.toolCallId);
        return [{
          type: "TOOL_CALL_RESULT",
          messageId,
          toolCallId,
          content,
          role: "tool",
          ...(message.isError && { metadata: { swink: { isError: true } } }),
        }];
      }
      case "user":
        return this.#addUserMessage(message);
      case "custom":
        return [];
    }
  }

  /** Ends a reply, and takes back the calls that it has lost: those of one that was cut off are not executed. */
  #endReply({ content }: AssistantMessage): AgUiEvent[] {
    const kept = extractToolCalls(content).map(({ id }) => this.#toCallId(id));
    const lost = this.#reply.openCalls.filter((id) => !kept.includes(id));
    const closed = this.#reply.close();
    if (lost.length === 0) return closed;
    this.#messages.discardCalls(lost);
    return [...closed, { type: "MESSAGES_SNAPSHOT", messages: this.#messages.list }];
  }

  #addUserMessage({ id: messageId = "", content }: UserMessage): AgUiEvent[] {
    if (this.#subAgentId !== undefined || this.#messages.has(messageId)) return [];
    const message = { role: "user", id: messageId, content: toContent(content) } as const;
    if (!this.#hasCalledModel) {
      this.#messages.add(message);
      return [];
    }
    // The events of a message have text only.
    if (typeof message.content !== "string") {
      this.#messages.add(message);
      return [{ type: "MESSAGES_SNAPSHOT", messages: this.#messages.list }];
    }
    return [
      { type: "TEXT_MESSAGE_START", messageId, role: "user" },
      { type: "TEXT_MESSAGE_CONTENT", messageId, delta: message.content },
      { type: "TEXT_MESSAGE_END", messageId },
    ];
  }

  #mapSubAgent({ path, event }: SubAgentEvent): AgUiEvent[] {
    const [callId = "", ...rest] = path;
    const known = this.#subAgents.get(callId);
    if (rest.length > 0) return known?.map({ type: "sub_agent", path: rest, event }) ?? [];
    if (event.type === "agent_end") this.#subAgents.delete(callId);
    if (event.type !== "agent_start") return known?.map(event) ?? [];
    const { runId: id } = event;
    const parent = this.#subAgentId;
    const shared = { usage: this.#usage, messages: this.#messages };
    const mapper = new EventMapper(this.#options, { subAgentId: id, ...shared });
    this.#subAgents.set(callId, mapper);
    return [
      ...(known ? known.#suspend() : []),
      {
        type: "SUBAGENT_STARTED",
        subagentRunId: id,
        name: this.#toolNames.get(callId) ?? "agent",
        parentToolCallId: this.#toCallId(callId),
        ...(parent !== undefined && { parentSubagentRunId: parent }),
      },
      ...mapper.map(event),
    ];
  }

  /** The state of the client belongs to the agent, not to its sub-agents. */
  #patch(name: string, value: unknown): AgUiEvent[] {
    if (this.#subAgentId !== undefined || this.#runId === "") return [];
    return [{ type: "STATE_DELTA", delta: [{ op: "add", path: `/${name}`, value }] }];
  }

  #customCall(event: Extract<AgentEvent, { readonly id: string }>): AgUiEvent[] {
    const { type: _type, seq: _seq, id, ...value } = event;
    return [toCustom(event, { id: this.#toCallId(id), ...value })];
  }
}

const ABORTED = "The agent was aborted";
const FAILED = "The agent failed";

/** Returns the first event of a run. */
export function createRunStart(threadId: string, runId: string): AgUiEvent {
  return { type: "RUN_STARTED", threadId, runId, protocolVersion: "1.0" };
}

function toCustom({ type }: Pick<AgentEvent, "type">, value: unknown): AgUiEvent {
  return { type: "CUSTOM", name: `swink.${type}`, value: toJson(value) };
}

function countQueued(
  { steering, followUp }: {
    readonly steering: readonly unknown[];
    readonly followUp: readonly unknown[];
  },
) {
  return { steering: steering.length, followUp: followUp.length };
}
