/**
 * The sub-agents of a conversation, from their events.
 *
 * @module
 */

import type { AgentEvent } from "../../../mod.ts";
import { addCost, addUsage, zeroCost, zeroUsage } from "../../../src/core/models/usage.ts";
import type { AgentView } from "../../render/agents/agent_view.ts";
import { formatCall, formatResult } from "../../render/tool_line.ts";
import type { CallView } from "../../render/tools/call_view.ts";

/** Length of the text of an agent that is kept. */
const MAX_TEXT = 50_000;

/** Number of agents that are kept, or of those that run if these are more. */
const MAX_AGENTS = 100;

type Writable<View> = { -readonly [Name in keyof View]: View[Name] };

/** An agent and its text. */
interface RecordedAgent {
  readonly view: Writable<AgentView> & { children: AgentView[] };
  text: string;
  /** The calls that have not ended, by their ids. */
  readonly calls: Map<string, string>;
}

/** Collects the events of sub-agents. */
export class RecordedAgents {
  readonly #now: () => number;
  /** The agents by the ids of the calls that lead to them. */
  readonly #agents = new Map<string, RecordedAgent>();
  /** The calls that may run agents, by the same ids. */
  readonly #calls = new Map<string, Pick<CallView, "name" | "arguments">>();
  readonly #roots: AgentView[] = [];
  #count = 0;

  constructor({ now }: { readonly now: () => number }) {
    this.#now = now;
  }

  /** The agents that the agent of the conversation has started. */
  get views(): readonly AgentView[] {
    return this.#roots;
  }

  /** Returns the text of an agent; `undefined` if there is none with this number. */
  getText(number: number): string | undefined {
    for (const { view, text } of this.#agents.values()) if (view.number === number) return text;
    return undefined;
  }

  /** Adds a call of the agent of the conversation. */
  addCall(id: string, call: Pick<CallView, "name" | "arguments">): void {
    this.#calls.set(id, call);
  }

  /** Ends a call of the agent of the conversation, and the agent that it has run. */
  endCall(id: string, isError: boolean): void {
    this.#calls.delete(id);
    const agent = this.#agents.get(id);
    if (agent?.view.status === "running") this.#end(agent, isError ? "failed" : "completed");
  }

  /** Adds an event of a sub-agent. */
  onEvent({ path, event }: Extract<AgentEvent, { type: "sub_agent" }>): void {
    const agent = this.#find(path);
    const { view } = agent;
    switch (event.type) {
      case "turn_start":
        view.turns++;
        return;
      case "message_update":
        if (event.delta.type === "text_delta") addText(agent, event.delta.delta);
        return;
      case "message_end":
        if (event.message.role === "assistant") addText(agent, "\n");
        return;
      case "model_call_end":
        view.usage = addUsage(view.usage, event.usage);
        view.cost = addCost(view.cost, event.cost);
        return;
      case "tool_execution_start":
        startCall(agent, event);
        this.#calls.set(toKey([...path, event.id]), event);
        return;
      case "tool_execution_end":
        this.#calls.delete(toKey([...path, event.id]));
        endCall(agent, event.id);
        if (event.isError) {
          addText(agent, `✗ ${event.name} · ${formatResult(event.result, true)}\n`);
        }
        return;
      case "agent_end":
        return this.#end(agent, toStatus(event));
      default:
        return;
    }
  }

  #end({ view, calls }: RecordedAgent, status: AgentView["status"]): void {
    calls.clear();
    view.status = status;
    view.endedAt = this.#now();
  }

  #find(path: readonly string[]): RecordedAgent {
    const key = toKey(path);
    const found = this.#agents.get(key);
    if (found) return found;
    const call = this.#calls.get(key);
    const agent: RecordedAgent = {
      text: "",
      calls: new Map(),
      view: {
        number: ++this.#count,
        name: call?.name ?? "agent",
        activity: call ? formatCall(call.name, call.arguments) : "",
        status: "running",
        turns: 0,
        usage: zeroUsage(),
        cost: zeroCost(),
        startedAt: this.#now(),
        children: [],
      },
    };
    this.#agents.set(key, agent);
    const parent = path.length > 1 ? this.#agents.get(toKey(path.slice(0, -1))) : undefined;
    (parent?.view.children ?? this.#roots).push(agent.view);
    this.#forgetOldest();
    return agent;
  }

  /** Forgets the oldest agents that have ended; later events of one that runs belong to it. */
  #forgetOldest(): void {
    for (const [key, { view }] of this.#agents) {
      if (this.#agents.size <= MAX_AGENTS) return;
      if (view.status === "running") continue;
      this.#agents.delete(key);
      const parent = this.#agents.get(key.slice(0, Math.max(key.lastIndexOf("\n"), 0)));
      const siblings = parent?.view.children ?? this.#roots;
      const index = siblings.indexOf(view);
      if (index >= 0) siblings.splice(index, 1);
    }
  }
}

/** Shows a call, unless one before it has not ended: the calls of a reply start together, and run in this order. */
function startCall(
  agent: RecordedAgent,
  { id, name, arguments: args }: Extract<AgentEvent, { type: "tool_execution_start" }>,
): void {
  const call = `${name} ${formatCall(name, args)}`.trim();
  agent.calls.set(id, call);
  showFirstCall(agent);
  addText(agent, `\n• ${call}\n`);
}

function endCall(agent: RecordedAgent, id: string): void {
  agent.calls.delete(id);
  showFirstCall(agent);
}

function showFirstCall({ view, calls }: RecordedAgent): void {
  const [first] = calls.values();
  if (first !== undefined) view.activity = first;
}

function addText(agent: RecordedAgent, text: string): void {
  agent.text = (agent.text + text).slice(-MAX_TEXT);
}

function toKey(path: readonly string[]): string {
  return path.join("\n");
}

function toStatus(
  { error, stopReason }: Extract<AgentEvent, { type: "agent_end" }>,
): AgentView["status"] {
  if (stopReason === "aborted") return "cancelled";
  return error ? "failed" : "completed";
}
