/**
 * Approval of tool calls: by the user at the terminal, or denied in a non-interactive run.
 *
 * @module
 */

import type { AgentEvent, ApprovalDecision } from "../../mod.ts";
import type { ApprovalPrompt, TrustGrant } from "../../src/tools/mod.ts";
import type { Host } from "../host/host.ts";
import type { Input } from "../host/terminal.ts";
import { askChoice } from "../questions/ask_choice.ts";
import { TypedInput } from "../questions/typed_input.ts";
import { toPlainText } from "../render/plain_text.ts";
import { getStyle } from "../render/style.ts";
import { USER_DENIAL } from "../render/tool_line.ts";
import { formatCallDetails } from "./call_details.ts";
import { WaitingCalls, type WaitingCallsOptions } from "./waiting_calls.ts";

const ANSWERS = ["yes", "no", "always"] as const;

/** Decides about the tool calls that require approval. */
export interface Approver {
  /** Decides about a call. */
  readonly ask: ApprovalPrompt;
  /** Called with every event of the run. */
  onEvent(event: AgentEvent): void;
  /** Names of the tools that were denied because the run is not interactive. */
  readonly refused: readonly string[];
}

/** Denies every tool call that requires approval, and records the names of the tools. */
export class NonInteractiveApprover implements Approver {
  readonly #refused = new Set<string>();

  /** Names of the denied tools without duplicates, in the order of their first denial. */
  get refused(): readonly string[] {
    return [...this.#refused];
  }

  /** Does nothing. */
  onEvent(): void {}

  /** Denies a call. */
  readonly ask: ApprovalPrompt = ({ name }) => {
    this.#refused.add(name);
    const reason = "it requires approval, and this run is not interactive";
    return { type: "denied", reason, origin: "mode" };
  };
}

/** Options for {@linkcode TerminalApprover}. */
export interface TerminalApproverOptions extends WaitingCallsOptions {
  /** Terminal and environment. */
  readonly host: Host;
  /** The keys. */
  readonly keyboard: Input;
  /** Returns the grants of the session. */
  readonly getTrusted: () => readonly TrustGrant[];
}

/** Asks the user at the terminal. */
export class TerminalApprover implements Approver {
  readonly refused: readonly string[] = [];
  readonly #options: TerminalApproverOptions;
  readonly #input: TypedInput;
  readonly #waiting: WaitingCalls;

  constructor(options: TerminalApproverOptions) {
    this.#options = options;
    this.#input = new TypedInput(options.keyboard);
    this.#waiting = new WaitingCalls(options);
  }

  /** Counts the calls of each reply. */
  onEvent(event: AgentEvent): void {
    this.#waiting.onEvent(event);
  }

  /** Shows a call and asks. */
  readonly ask: ApprovalPrompt = async (request) => {
    const { host, keyboard, getTrusted } = this.#options;
    const { name, signal } = request;
    const style = getStyle(host.terminal.messages, host.env);
    const position = await this.#waiting.countQuestion(request, getTrusted());
    const answer = await askChoice({
      details: formatCallDetails(request, { style, position, columns: host.terminal.columns }),
      message: `Allow? [y]es / [n]o / [a]lways ${toPlainText(name)}`,
      answers: ANSWERS,
    }, { host, keyboard, input: this.#input, signal });
    return signal.aborted ? { type: "denied" } : toDecision(answer);
  };
}

/** Returns the decision for an answer; no answer denies the call. */
function toDecision(answer: (typeof ANSWERS)[number] | undefined): ApprovalDecision {
  switch (answer) {
    case "yes":
      return { type: "approved" };
    case "always":
      return { type: "approved", scope: "tool" };
    case "no":
    case undefined:
      return { type: "denied", reason: USER_DENIAL };
  }
}
