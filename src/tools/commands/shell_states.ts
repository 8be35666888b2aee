/**
 * The working directories of the agents that use a `bash` tool.
 *
 * @module
 */

import type { RunHandle } from "../../core/events/run_handle.ts";
import { getAgentPath, ParentRun } from "../../loop/run/parent_run.ts";
import { isDirectory } from "../../platform/is_directory.ts";
import { system } from "../../platform/system.ts";
import type { SimpleCommand } from "../kit/simple_command.ts";
import type { ToolKit } from "../kit/tool_kit.ts";
import type { ShellMove, ShellPlaces } from "../kit/tool_marks.ts";

/** The shells of the agents of one tool call, with the commands that may move them and have been approved, but not started. */
interface AgentShells {
  /** By run: a sub-agent has one, and the host one for all of its runs. */
  readonly states: Map<string, ShellState>;
  moves: readonly ShellMove[];
}

const HOST_RUNS = "";

/** The shells of the host and of sub-agents. */
export class ShellStates implements ShellPlaces {
  readonly #root: string;
  readonly #agents = new Map<string, AgentShells>();

  constructor(root: string) {
    this.#root = root;
  }

  listDirectories(path: readonly string[] = []): readonly string[] {
    const { states } = this.#getAgent(path);
    const directories = [...states.values()].map(({ directory }) => directory).filter(isDirectory);
    // A shell whose directory no longer exists returns to the root.
    return directories.length < states.size || states.size === 0
      ? [...new Set([...directories, this.#root])]
      : [...new Set(directories)];
  }

  isMoved(path: readonly string[] = []): boolean {
    const { states, moves } = this.#getAgent(path);
    return moves.length > 0 ||
      [...states.values()].some(({ directory }) => directory !== this.#root);
  }

  listMoves(path: readonly string[] = []): readonly SimpleCommand[] {
    return this.#getAgent(path).moves.flatMap(({ commands }) => commands);
  }

  noteMove(move: ShellMove, path: readonly string[] = []): void {
    const agent = this.#getAgent(path);
    agent.moves = [...agent.moves, move];
  }

  /**
   * Returns the shell of the agent of a run, whose command starts, and removes moves that no longer have to be expected.
   *
   * All calls of a reply are decided on before the first one runs. A move of the host that was noted has therefore started by
   * now, or is never run. A tool call may run several agents at the same time, and some of them may still wait for
   * decisions: of their moves, only one with the text of this command is removed.
   */
  start(run: RunHandle, command: string): ShellState {
    const { path = [] } = run instanceof ParentRun ? getAgentPath(run.config) : {};
    const agent = this.#getAgent(path);
    const started = agent.moves.findIndex(({ text }) => text === command);
    agent.moves = run.depth === 0 ? [] : agent.moves.filter((_, index) => index !== started);
    const key = run.depth === 0 ? HOST_RUNS : run.runId;
    const state = agent.states.get(key) ?? new ShellState(this.#root);
    agent.states.set(key, state);
    return state;
  }

  #getAgent(path: readonly string[]): AgentShells {
    const key = JSON.stringify(path);
    const agent = this.#agents.get(key) ?? { states: new Map(), moves: [] };
    this.#agents.set(key, agent);
    return agent;
  }
}

/** The shells of a tool whose commands all start in the working directory of its sandbox. */
export class FixedShells implements ShellPlaces {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  listDirectories(): readonly string[] {
    return [this.#root];
  }

  isMoved(): boolean {
    return false;
  }

  listMoves(): readonly SimpleCommand[] {
    return [];
  }

  noteMove(): void {}
}

/** Keeps the working directory for the next command. */
class ShellState {
  readonly #root: string;
  directory: string;

  constructor(root: string) {
    this.#root = root;
    this.directory = root;
  }

  /** Returns to the root if the directory no longer exists; returns a notice of that. */
  async ensureDirectory(): Promise<string[]> {
    const { directory } = this;
    const exists = await system.stat(directory).then((stat) => stat.isDirectory, () => false);
    if (exists) return [];
    this.directory = this.#root;
    return [`[${directory} no longer exists; the command ran in ${this.#root}]`];
  }

  changeDirectory(directory: string | undefined, kit: ToolKit): string[] {
    if (directory === undefined || directory === this.directory) return [];
    this.directory = directory;
    return [`[Working directory: ${kit.sandbox.files.toDisplayPath(directory)}]`];
  }
}
