/**
 * A run as the agents that its tools run see it.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import type { AgentEvent } from "../../core/events/event.ts";
import type { BackgroundWork, RunHandle } from "../../core/events/run_handle.ts";
import type { RunSession } from "../../core/events/run_session.ts";
import type { Instrumentation } from "../../core/hooks/instrumentation.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import type { Ports } from "../../core/ports/ports.ts";
import type { AgentTool } from "../../core/tools/tool.ts";
import type { ResolvedConfig, TurnSettings } from "./config.ts";

/** Limits on the agents below a run. */
export interface TreeLimits {
  /** Maximum number of runs above an agent. */
  readonly maxDepth: number;
  /** Maximum number of agents that are started below the run of the host. */
  readonly maxAgents: number;
}

/** The limits of agents whose tool has none: beyond what is useful, so that a recursion ends. */
const DEFAULT_LIMITS: TreeLimits = { maxDepth: 8, maxAgents: 1000 };

/** Counts the agents below one run of a host. */
export class RunTree {
  #started = 0;

  /** Returns the reason why no agent may be started below a run; `undefined` if one may. */
  findExcess(depth: number, { maxDepth, maxAgents }: TreeLimits): string | undefined {
    if (depth >= maxDepth) return `agents may be nested ${maxDepth} deep`;
    if (this.#started >= maxAgents) return `at most ${maxAgents} agents may be started`;
    return undefined;
  }

  /** Counts an agent that is started. */
  add(): void {
    this.#started++;
  }
}

/** Options for `new ParentRun()`. */
export interface ParentRunOptions {
  /** Id of the run. */
  readonly runId: string;
  /** Number of runs above it. */
  readonly depth: number;
  /** The configuration, with the rules that the run itself inherits. */
  readonly config: ResolvedConfig;
  /** The settings of the turn; the tools are those that the model may call in it. */
  readonly settings: TurnSettings;
  /** Counts the agents below the run of the host. */
  readonly tree: RunTree;
  /** Starts work that continues after the tool call. */
  readonly background: (work: BackgroundWork) => void;
  /** Emits an event of work that may outlive the run; it is dropped after the end of the run. */
  readonly onDetachedEvent?: (event: AgentEvent) => Promise<void>;
  /** The session that records the run. Default: none. */
  readonly session?: RunSession | undefined;
  /** Id of the tool call. Default: none; an agent that it runs is observed without its parent. */
  readonly toolCallId?: string;
  /** Observes the run and the agents that the call runs. Default: none. */
  readonly instrumentation?: Instrumentation | undefined;
  /** Returns a frozen copy of the history with the reply that made the call. Default: none. */
  readonly getMessages?: () => readonly AgentMessage[];
  /** Limits on the agents that the call starts. Default: so high that only a recursion reaches them. */
  readonly limits?: TreeLimits;
}

/**
 * The run of a tool call. Its configuration, which may have keys, is not among its own properties: a tool that logs or
 * serializes its context does not show it.
 */
export class ParentRun implements RunHandle {
  readonly #options: ParentRunOptions;
  readonly runId: string;
  readonly depth: number;
  readonly background: (work: BackgroundWork) => void;

  /** Creates the handle of one tool call. */
  constructor(options: ParentRunOptions) {
    this.#options = options;
    this.runId = options.runId;
    this.depth = options.depth;
    this.background = options.background;
  }

  /** The session that records the run, if one does. */
  get session(): RunSession | undefined {
    return this.#options.session;
  }

  /** The history of the call. */
  get messages(): readonly AgentMessage[] {
    return this.#options.getMessages?.() ?? [];
  }

  /** The tool call, for observers. */
  get call(): { readonly runId: string; readonly toolCallId: string } | undefined {
    const { runId, toolCallId } = this.#options;
    return toolCallId === undefined ? undefined : { runId, toolCallId };
  }

  /** Observes the run and the agents that the call runs, if something does. */
  get instrumentation(): Instrumentation | undefined {
    return this.#options.instrumentation;
  }

  /** Emits an event of work that may outlive the run; it is dropped after the end of the run. */
  async onDetachedEvent(event: AgentEvent): Promise<void> {
    await this.#options.onDetachedEvent?.(event);
  }

  /** The configuration, with the rules that the run itself inherits. */
  get config(): ResolvedConfig {
    return this.#options.config;
  }

  /** The settings of the turn. */
  get settings(): TurnSettings {
    return this.#options.settings;
  }

  /** The tools that the run has in the turn, with those that its request left out. */
  get tools(): readonly AgentTool[] {
    const { tools, hiddenTools = [] } = this.settings;
    return [...tools, ...hiddenTools];
  }

  /** Counts the agents below the run of the host. */
  get tree(): RunTree {
    return this.#options.tree;
  }

  /** Ids of this run and of the runs above it, the nearest first. */
  get lineage(): readonly string[] {
    const { parent } = this.config;
    return [this.runId, ...(parent instanceof ParentRun ? parent.lineage : [])];
  }

  /** Ids of this tool call and of those that lead to its run, the outermost first. */
  get path(): readonly string[] {
    const { config: { parent }, call } = this;
    const outer = parent instanceof ParentRun ? parent.path : [];
    return call ? [...outer, call.toolCallId] : outer;
  }

  /** Returns the same run with limits on the agents that the call starts. */
  withLimits(limits: TreeLimits): ParentRun {
    return new ParentRun({ ...this.#options, limits });
  }

  /** Returns the same run with other ports for the agents that the call runs, and another function for background work. */
  withServices(
    { ports, background }: Pick<ParentRunOptions, "background"> & { readonly ports: Ports },
  ): ParentRun {
    const config = { ...this.config, ...ports };
    return new ParentRun({ ...this.#options, config, background });
  }

  /** Returns the reason why the call may start no agent; `undefined` if it may. */
  findExcess(): string | undefined {
    const { tree, depth, limits = DEFAULT_LIMITS } = this.#options;
    return tree.findExcess(depth, limits);
  }

  /**
   * Counts an agent that the call starts.
   *
   * @throws {BadRequestError} If a limit is reached.
   */
  addAgent(): void {
    const excess = this.findExcess();
    if (excess) throw new BadRequestError(`The agent was not started: ${excess}`);
    this.tree.add();
  }
}

/** Returns the ids of the tool calls that lead to an agent, as a property; none for the agent of the host. */
export function getAgentPath(
  { parent }: Pick<ResolvedConfig, "parent">,
): { readonly path?: readonly string[] } {
  return parent instanceof ParentRun ? { path: parent.path } : {};
}
