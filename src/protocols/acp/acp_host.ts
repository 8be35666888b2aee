/**
 * An application that offers agents to clients of the Agent Client Protocol.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import type { ApprovalDecision } from "../../core/approval/approval.ts";
import type { AgentEvent } from "../../core/events/event.ts";
import type { ApprovalRequest } from "../../core/hooks/approve.ts";
import type { UserMessage } from "../../core/messages/message.ts";
import type { AcpTerminal, AcpTerminalOptions } from "./acp_terminal.ts";
import type { AcpCommand, AcpConfigOption, AcpMcpServer, AcpMode } from "./acp_update.ts";
import type { DescribeCall } from "./describe_call.ts";

/** A question to the user with fixed answers. */
export interface AcpQuestion {
  /** The question, such as `Carry out this plan?`. */
  readonly title: string;
  /** A text to decide about, as Markdown. Default: none. */
  readonly text?: string | undefined;
  /** The answers. */
  readonly answers: readonly {
    /** Id of the answer. */
    readonly id: string;
    /** Name for the user. */
    readonly name: string;
    /** Whether the answer lets something happen, by which clients place it. */
    readonly allows: boolean;
  }[];
}

/** The result of a command of a prompt. */
export type AcpCommandResult =
  /** The command has been executed; the text is shown to the user. */
  | { readonly type: "answer"; readonly text: string }
  /** The model gets this prompt instead. */
  | { readonly type: "prompt"; readonly text: string };

/** Options for executing a command, and for preparing a prompt. */
export interface AcpPromptOptions {
  /** Aborted when the client cancels the prompt. */
  readonly signal: AbortSignal;
}

/** The editor or other program at the other end, for one session. */
export interface AcpClient {
  /**
   * Asks the user about a tool call, with its arguments and file changes. A client that is gone, and whatever is not an
   * approval, refuses the call. A tool that the user allows for the session is not asked about again, other than by a gate,
   * which keeps that itself; another tool with its name is.
   */
  readonly ask: (
    request: Pick<
      ApprovalRequest,
      "toolCallId" | "path" | "name" | "arguments" | "changes" | "signal"
    >,
  ) => Promise<ApprovalDecision>;
  /** Reads a file as the editor has it, also if it is not saved. Default: the editor offers no files. */
  readonly readTextFile?: ((path: string) => Promise<string>) | undefined;
  /** Writes a file through the editor. Default: the editor offers no files. */
  readonly writeTextFile?: ((path: string, content: string) => Promise<void>) | undefined;
  /** Starts a command in a terminal of the editor. Default: the editor offers no terminals. */
  readonly createTerminal?: ((options: AcpTerminalOptions) => Promise<AcpTerminal>) | undefined;
  /** Asks the user a question; returns the id of the answer, or `undefined` if there is none. */
  readonly choose: (question: AcpQuestion, signal: AbortSignal) => Promise<string | undefined>;
  /** Shows an event of another agent than that of the session. */
  readonly show: (event: AgentEvent) => Promise<void>;
  /** Reports that the mode, the settings, the commands or the title of the session have changed. */
  readonly update: () => Promise<void>;
}

/** The session that a client asks for. */
export interface AcpSessionRequest {
  /** Absolute path of the working directory. */
  readonly cwd: string;
  /** Further directories that belong to the session. */
  readonly additionalDirectories: readonly string[];
  /** The servers of the Model Context Protocol that the client names, in its form. */
  readonly mcpServers: readonly AcpMcpServer[];
  /** The client. */
  readonly client: AcpClient;
}

/** A session of a client. */
export interface AcpSession {
  /** Id of the session. */
  readonly id: string;
  /** The agent, whose `approve` asks {@linkcode AcpClient.ask}. */
  readonly agent: Agent;
  /** The modes of the session, such as one that only plans. Default: none. */
  readonly modes?: {
    readonly available: readonly AcpMode[];
    /** Id of the current mode. */
    readonly current: () => string;
    /** Selects a mode; rejects if that is not possible. */
    readonly select: (id: string) => void | Promise<void>;
  } | undefined;
  /** The settings of the session, such as the model. Default: none. */
  readonly config?: {
    /** The settings with their values. */
    readonly options: () => readonly AcpConfigOption[];
    /** Sets a value; rejects if that is not possible. */
    readonly select: (id: string, value: string) => void | Promise<void>;
  } | undefined;
  /** The commands that the user can type as `/name`. Default: none. */
  readonly commands?: readonly AcpCommand[] | undefined;
  /** Executes the command of a prompt that begins with `/`; `undefined` if it is none. Default: no command is executed. */
  readonly runCommand?:
    | ((
      prompt: string,
      options: AcpPromptOptions,
    ) => AcpCommandResult | undefined | Promise<AcpCommandResult | undefined>)
    | undefined;
  /** Returns a prompt as the model gets it; rejects if it must not be sent. Default: it stays as it is. */
  readonly preparePrompt?:
    | ((message: UserMessage, options: AcpPromptOptions) => UserMessage | Promise<UserMessage>)
    | undefined;
  /** Describes tool calls. Default: by the names of tool and first argument. */
  readonly describeCall?: DescribeCall | undefined;
  /** Returns the context window of the model in tokens, or `undefined`. Default: unknown; the client sees no usage. */
  readonly getContextWindow?: (() => number | undefined) | undefined;
  /** Returns the title of the session, or `undefined`. Default: none. */
  readonly getTitle?: (() => string | undefined) | undefined;
  /** Ends the session; its runs have ended. Default: nothing to do. */
  readonly close?: (() => void | PromiseLike<void>) | undefined;
}

/** A way to provide keys, for clients whose user has none yet. */
export interface AcpAuthMethod {
  /** Id of the method. */
  readonly id: string;
  /** Name for the user. */
  readonly name: string;
  /** Instructions for the user. Default: none. */
  readonly description?: string | undefined;
  /**
   * Arguments with which the client starts the program once more in a terminal, where it asks for the key. Default: the
   * user acts elsewhere.
   */
  readonly terminalArguments?: readonly string[] | undefined;
}

/** A session in a list. */
export interface AcpSessionInfo {
  /** Id of the session. */
  readonly sessionId: string;
  /** Absolute path of its working directory. */
  readonly cwd: string;
  /** Its title. */
  readonly title?: string | undefined;
  /** Time of its last change, in ISO 8601. */
  readonly updatedAt?: string | undefined;
}

/** Offers agents to clients. */
export interface AcpHost {
  /** Name of the application. */
  readonly name: string;
  /** Version of the application. */
  readonly version: string;
  /** How users provide keys, for errors with the code `auth_error`. Default: not described. */
  readonly authMethods?: readonly AcpAuthMethod[] | undefined;
  /** Creates a session. */
  readonly createSession: (request: AcpSessionRequest) => Promise<AcpSession>;
  /** Opens a session with its history; `undefined` if there is none with this id. Default: sessions are not kept. */
  readonly openSession?:
    | ((request: AcpSessionRequest & { readonly sessionId: string }) => Promise<
      AcpSession | undefined
    >)
    | undefined;
  /** Lists the sessions, the latest first. Default: sessions are not listed. */
  readonly listSessions?:
    | ((
      filter: { readonly cwd?: string | undefined; readonly cursor?: string | undefined },
    ) => Promise<{
      readonly sessions: readonly AcpSessionInfo[];
      readonly nextCursor?: string | undefined;
    }>)
    | undefined;
  /** Deletes a session. Default: sessions are not deleted. */
  readonly deleteSession?: ((sessionId: string) => Promise<void>) | undefined;
}
