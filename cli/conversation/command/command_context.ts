/**
 * The parts of a conversation that commands use.
 *
 * @module
 */

import type { Agent, JsonObject, ModelSpec, PromptInput, RunOutcome } from "../../../mod.ts";
import type { Session, SessionStore, SessionSummary } from "../../../src/memory/mod.ts";
import type { ChangeLog } from "../../../src/tools/mod.ts";
import type { ExitCode } from "../../host/exit_code.ts";
import type { Host } from "../../host/host.ts";
import type { ProgramDirectories } from "../../host/program_directories.ts";
import type { AgentView } from "../../render/agents/agent_view.ts";
import type { DiffLayout } from "../../render/diff/file_diff.ts";
import type { EarlierTurns, TurnUsage } from "../../render/status/turn_usage.ts";
import type { CallView } from "../../render/tools/call_view.ts";
import type { AgentSetup } from "../../run/agent/setup_agent.ts";
import type { ProjectRunSettings } from "../../run/settings/settings.ts";
import type { SessionChoice } from "../../sessions/session_choice.ts";
import type { ConversationView } from "../view/conversation_view.ts";
import type { CommandDescription } from "./command_description.ts";

/** When the agent gets a text during a run: at the next opportunity, or when it has finished. */
export type Delivery = "steering" | "follow_up";

/** The runs of the agent. */
export interface RunControl {
  /** Whether a run, or another task that can be aborted, is active. */
  readonly isRunning: boolean;
  /** Sends a text to the agent: at once, or during a run as `delivery` determines. Does not wait for the reply. */
  send(text: string, delivery?: Delivery): void;
  /** Sends an input as it is, apart from the hooks of prompts, while no run is active. Does not wait for the reply. */
  prompt(input: PromptInput): void;
  /**
   * Starts a task that the user can abort like a run, while no run is active. Its error is reported.
   *
   * @param label What is awaited, for the status.
   */
  startTask(label: string, task: (signal: AbortSignal) => Promise<void>): void;
  /** Shows the events of another agent, and lets it have what the user sends, while `use` runs. */
  withAgent<Result>(agent: Agent, use: () => Promise<Result>): Promise<Result>;
  /** Aborts the run. */
  abort(): void;
  /** Resolves when no run is active. */
  untilIdle(): Promise<void>;
}

/** A message that waits for its delivery. */
export interface QueuedText {
  /** Id of the message in the queue. */
  readonly id: string;
  /** The text as the user has sent it. */
  readonly text: string;
  /** Its queue. */
  readonly delivery: Delivery;
}

/** The messages that wait for their delivery. */
export interface QueueControl {
  /** The messages, in the order of their delivery. */
  readonly texts: readonly QueuedText[];
  /** Removes a message; `false` if it was delivered already. */
  remove(id: string): boolean;
  /** Removes all messages. */
  clear(): void;
}

/** The session of the conversation. */
export interface SessionControl {
  /** The open session; `undefined` if nothing is saved. */
  readonly session: Session | undefined;
  /** Whether the first prompt begins the session. */
  readonly isPending: boolean;
  /** Whether a write has found that another program has the session, which must be opened again then. */
  readonly isLost: boolean;
  /** The sessions of the list that was shown last, whose numbers select them; `undefined` before the first list. */
  shown: readonly SessionSummary[] | undefined;
  /** Opens the store of the saved sessions; `undefined` for a user without a home directory. */
  openStore(): Promise<SessionStore | undefined>;
  /**
   * Ends the recording and continues with another session. If that fails, the conversation stays as it is.
   *
   * @throws {CliError} If the session does not exist, or is open elsewhere.
   */
  switchTo(choice: SessionChoice): Promise<void>;
  /**
   * Checks that the session may continue with a model.
   *
   * @throws {CliError} If the session would be sent to another server than the one that an option of its last run named.
   */
  checkModel(model: ModelSpec): void;
  /** Creates a new session at once, and not with its first message. Does nothing if it exists or is not saved. */
  start(): Promise<void>;
  /**
   * Adds a text of the user to the history, for the next request of the model, and saves it.
   *
   * @param metadata Data about the text, which the model does not get. Default: none.
   */
  addText(text: string, metadata?: JsonObject): Promise<void>;
  /** Continues the same session after an entry; `null` is its beginning. */
  moveTo(leaf: string | null): Promise<void>;
}

/** A prompt that has ended. */
export interface EndedPrompt {
  /** The text of the prompt. */
  readonly label: string;
  /** Its tokens and cost. */
  readonly outcome: Pick<RunOutcome, "usage" | "cost">;
  /** Duration in milliseconds. */
  readonly durationMs: number;
}

/** The record of a conversation since the program has started. */
export interface ConversationRecord {
  /** The last tool calls, in order. */
  readonly calls: readonly CallView[];
  /** The number of the selected call; `undefined` if none is. */
  selectedCall: number | undefined;
  /** Tokens and cost of the last prompts. */
  readonly turns: readonly TurnUsage[];
  /** The prompts before them. */
  readonly earlierTurns: EarlierTurns;
  /** Tokens and cost of all prompts. */
  readonly total: TurnUsage;
  /** The sub-agents. */
  readonly agents: readonly AgentView[];
  /** Returns the texts of a sub-agent so far; `undefined` if there is no such agent. */
  getAgentText(number: number): string | undefined;
  /** Adds a prompt, or a command that has called a model. */
  addPrompt(prompt: EndedPrompt): void;
  /** Forgets everything. */
  clear(): void;
}

/** How output is shown. */
export interface OutputSettings {
  /** Whether the results of tools are shown completely. */
  expandsTools: boolean;
  /** Whether the thinking of the model is hidden. */
  hidesThinking: boolean;
  /** Layout of diffs. */
  diffLayout: DiffLayout;
}

/** The user's editor. */
export interface TextEditor {
  /**
   * Lets the user edit a text. Returns it without line breaks at its end.
   *
   * @param extension Extension of the file, such as `.md`.
   * @throws {CliError} If the editor cannot be started, or fails.
   */
  editText(text: string, extension: string): Promise<string>;
}

/** The parts of a conversation that commands use. */
export interface CommandContext {
  /** The terminal. */
  readonly view: ConversationView;
  /** Environment, clock and network. */
  readonly host: Host;
  /** The settings at the start of the program. */
  readonly settings: ProjectRunSettings;
  /** The program's directories; `undefined` for a user without a home directory. */
  readonly directories: ProgramDirectories | undefined;
  /** The agent and its tools. */
  readonly setup: AgentSetup;
  /** Lists the commands, with those of the user and of the project. */
  listCommands(): Promise<readonly CommandDescription[]>;
  /** The runs. */
  readonly runs: RunControl;
  /** The messages that wait. */
  readonly queue: QueueControl;
  /** The session. */
  readonly sessions: SessionControl;
  /** The record of the conversation. */
  readonly record: ConversationRecord;
  /** How output is shown. */
  readonly output: OutputSettings;
  /** The file changes by prompt. */
  readonly changes: ChangeLog;
  /** Leaves the program. */
  leave(exitCode: ExitCode): void;
  /** Prints the messages of the conversation again, shortened. */
  printHistory(): Promise<void>;
  /** Prints the change of a tool call or its result completely. */
  printCall(call: CallView): Promise<void>;
  /** The user's editor. */
  readonly editor: TextEditor;
}
