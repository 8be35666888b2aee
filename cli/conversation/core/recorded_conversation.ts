/**
 * The record of a conversation: its tool calls, its sub-agents, and the tokens of its prompts.
 *
 * @module
 */

import type { AgentEvent, AgentMessage, AgentTool, FileChange, ToolUpdate } from "../../../mod.ts";
import { extractText } from "../../../src/core/messages/content.ts";
import { addCost, addUsage, zeroCost, zeroUsage } from "../../../src/core/models/usage.ts";
import type { AgentView } from "../../render/agents/agent_view.ts";
import { CallSchedule } from "../../render/call_schedule.ts";
import type { EarlierTurns, TurnUsage } from "../../render/status/turn_usage.ts";
import type { CallView } from "../../render/tools/call_view.ts";
import type { ConversationRecord, EndedPrompt } from "../command/command_context.ts";
import { listCalls } from "./list_calls.ts";
import { listTurns } from "./list_turns.ts";
import type { OtherSpending } from "./other_spending.ts";
import { RecordedAgents } from "./recorded_agents.ts";

/**
 * Number of tool calls that are kept, so that the memory of a long conversation does not grow. Calls that have not ended
 * are kept in any number.
 */
const MAX_CALLS = 200;

/** Number of prompts whose usage is kept. */
const MAX_TURNS = 200;

/** Length of the output of a running call that is kept: its last lines are shown. */
const MAX_OUTPUT = 20_000;

/** Options for {@linkcode RecordedConversation}. */
export interface RecordedConversationOptions {
  /** Returns the current time in milliseconds. */
  readonly now: () => number;
  /** Finds a tool of the agent. */
  readonly findTool: (name: string) => AgentTool | undefined;
}

/** Collects the events of a conversation. */
export class RecordedConversation implements ConversationRecord {
  readonly #options: RecordedConversationOptions;
  #agents: RecordedAgents;
  #calls: CallView[] = [];
  #callCount = 0;
  /** The number of each running call, by its id. */
  readonly #running = new Map<string, number>();
  readonly #schedule: CallSchedule;
  #turns: TurnUsage[] = [];
  #earlierTurns: EarlierTurns = NO_TURNS;
  #total = NO_USAGE;
  selectedCall: number | undefined;

  constructor(options: RecordedConversationOptions) {
    this.#options = options;
    this.#agents = new RecordedAgents(options);
    this.#schedule = new CallSchedule(options.findTool);
  }

  get calls(): readonly CallView[] {
    return this.#calls;
  }

  /** The calls that run, in order. */
  get runningCalls(): readonly CallView[] {
    return this.#calls.filter(({ end }) => !end);
  }

  get turns(): readonly TurnUsage[] {
    return this.#turns;
  }

  get earlierTurns(): EarlierTurns {
    return this.#earlierTurns;
  }

  get total(): TurnUsage {
    return this.#total;
  }

  get agents(): readonly AgentView[] {
    return this.#agents.views;
  }

  getAgentText(number: number): string | undefined {
    return this.#agents.getText(number);
  }

  /** Forgets everything, and adds the prompts of a history, its last calls, and what else its session has used. */
  restore(messages: readonly AgentMessage[], others: readonly OtherSpending[] = []): void {
    this.clear();
    const calls = [...listCalls(messages).values()];
    this.#callCount = calls.length;
    this.#calls = calls.filter(({ end }) => end).slice(-MAX_CALLS);
    for (const { label, usage, cost, durationMs } of listTurns(messages, others)) {
      this.addPrompt({ label, outcome: { usage, cost }, durationMs });
    }
  }

  clear(): void {
    this.#agents = new RecordedAgents(this.#options);
    this.#calls = [];
    this.#callCount = 0;
    this.#running.clear();
    this.#schedule.clear();
    this.#turns = [];
    this.#earlierTurns = NO_TURNS;
    this.#total = NO_USAGE;
    this.selectedCall = undefined;
  }

  /** Adds a prompt that has ended. */
  addPrompt({ label, outcome: { usage, cost }, durationMs }: EndedPrompt): void {
    const turn: TurnUsage = { label, usage, cost, durationMs };
    const [first, ...others] = this.#turns;
    const isFull = first !== undefined && this.#turns.length >= MAX_TURNS;
    if (isFull) {
      const { count, usage } = this.#earlierTurns;
      this.#earlierTurns = { count: count + 1, usage: addTurn(usage, first) };
    }
    this.#turns = [...(isFull ? others : this.#turns), turn];
    this.#total = addTurn(this.#total, turn);
  }

  /** Adds an event. Resolves to the tool call that it has started or ended. */
  async onEvent(event: AgentEvent): Promise<CallView | undefined> {
    switch (event.type) {
      case "tool_execution_start": {
        const changes = await this.#previewChanges(event);
        return this.#start(event, changes);
      }
      case "tool_execution_update":
        this.#update(event.id, (call) => ({ ...call, output: getOutput(event.update) }));
        return undefined;
      case "tool_execution_end":
        return this.#end(event);
      case "sub_agent":
        this.#agents.onEvent(event);
        return undefined;
      default:
        return undefined;
    }
  }

  /** Returns the changes that a call is going to make. */
  async #previewChanges(
    { name, arguments: args }: Extract<AgentEvent, { type: "tool_execution_start" }>,
  ): Promise<readonly FileChange[]> {
    const tool = this.#options.findTool(name);
    const { signal } = new AbortController();
    return await tool?.preview?.(args, { signal }).catch(() => []) ?? [];
  }

  #start(
    event: Extract<AgentEvent, { type: "tool_execution_start" }>,
    changes: readonly FileChange[],
  ): CallView {
    const { id, name, arguments: args } = event;
    const number = ++this.#callCount;
    const startedAt = this.#options.now();
    const call: CallView = {
      number,
      name,
      arguments: args,
      startedAt,
      isWaiting: this.#schedule.start(event),
      ...(changes.length > 0 && { changes }),
    };
    this.#running.set(id, number);
    this.#agents.addCall(id, call);
    this.#calls = forgetOldest([...this.#calls, call]);
    return call;
  }

  #end(
    { id, result, isError }: Extract<AgentEvent, { type: "tool_execution_end" }>,
  ): CallView | undefined {
    const endedAt = this.#options.now();
    const ended = this.#update(id, ({ output: _output, isWaiting, ...call }) => ({
      ...call,
      // A call that has waited until its end was canceled.
      ...(isWaiting && { startedAt: endedAt }),
      end: { endedAt, result, isError },
    }));
    for (const next of this.#schedule.end(id)) {
      this.#update(next, (call) => ({ ...call, startedAt: endedAt, isWaiting: false }));
    }
    this.#running.delete(id);
    this.#agents.endCall(id, isError);
    return ended;
  }

  /** Replaces a running call. */
  #update(id: string, change: (call: CallView) => CallView): CallView | undefined {
    const number = this.#running.get(id);
    const index = this.#calls.findIndex((call) => call.number === number);
    const call = this.#calls[index];
    if (!call) return undefined;
    const changed = change(call);
    this.#calls[index] = changed;
    return changed;
  }
}

function addTurn(sum: TurnUsage, { usage, cost, durationMs }: TurnUsage): TurnUsage {
  return {
    label: sum.label,
    usage: addUsage(sum.usage, usage),
    cost: addCost(sum.cost, cost),
    durationMs: sum.durationMs + durationMs,
  };
}

const NO_USAGE: TurnUsage = { label: "total", usage: zeroUsage(), cost: zeroCost(), durationMs: 0 };

const NO_TURNS: EarlierTurns = { count: 0, usage: NO_USAGE };

/** Omits the oldest calls that have ended, if there are too many calls. */
function forgetOldest(calls: readonly CallView[]): CallView[] {
  let excess = calls.length - MAX_CALLS;
  return calls.filter(({ end }) => end === undefined || excess-- <= 0);
}

function getOutput(update: ToolUpdate): string {
  const text = typeof update === "string" ? update : extractText(update.content);
  return text.slice(-MAX_OUTPUT);
}
