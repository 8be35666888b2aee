/**
 * Approval of tool calls: by the user at the terminal, or denied in a non-interactive run.
 *
 * @module
 */

import type { ApprovalDecision, ApprovalMode } from "../../../mod.ts";
import {
  type ApprovalGate,
  approvalGate,
  type ApprovalPrompt,
  type Sandbox,
} from "../../../src/tools/mod.ts";
import type { Host } from "../../host/host.ts";
import type { Input } from "../../host/terminal.ts";
import { askChoice } from "../../questions/ask_choice.ts";
import type { Choice } from "../../questions/choice.ts";
import { getTypedInput } from "../../questions/typed_input.ts";
import { toPlainText } from "../../render/plain_text.ts";
import { getStyle } from "../../render/style.ts";
import { USER_DENIAL } from "../../render/tool_line.ts";
import { wrapText } from "../../render/wrap_text.ts";
import { formatCallDetails, hasOwnReason } from "./call_details.ts";
import { canTrustTool } from "./can_trust_tool.ts";
import { type RuleQuestions, SavedRules, type SavedRulesOptions } from "./saved_rules.ts";
import { WaitingCalls, type WaitingCallsOptions } from "./waiting_calls.ts";

const INDENT = "  ";

type Answer = "yes" | "no" | "always" | "save";

/** Options for `createApproval()`. */
export interface ApprovalOptions
  extends Omit<WaitingCallsOptions, "explain">, Pick<SavedRulesOptions, "project"> {
  /** The calls that require approval. */
  readonly mode: ApprovalMode;
  /** Rules for calls that need no approval. */
  readonly allow: readonly string[];
  /** Rules for calls that are forbidden. */
  readonly deny: readonly string[];
  /** The sandbox of commands. */
  readonly sandbox: Sandbox;
  /** Terminal and environment. */
  readonly host: Host;
  /** The keys of a user who can be asked. Without them, calls that require approval are denied. */
  readonly keyboard: Input | undefined;
  /** Asks instead of the terminal. Default: none. */
  readonly ask?: ApprovalPrompt | undefined;
  /** Called with the name of a tool that is denied because the run is not interactive. */
  readonly onRefusal: (name: string) => void;
}

/**
 * Creates the gate that approves tool calls.
 *
 * @throws {BadRequestError} If a rule is invalid.
 */
export function createApproval(options: ApprovalOptions): ApprovalGate {
  const { mode, allow, deny, sandbox } = options;
  const ask = createPrompt({ ...options, explain: (call) => gate.explain(call) });
  const gate: ApprovalGate = approvalGate({ mode, ask, allow, deny, sandbox });
  return gate;
}

function createPrompt(options: ApprovalOptions & WaitingCallsOptions): ApprovalPrompt {
  const { ask, keyboard, onRefusal } = options;
  if (ask) return ask;
  if (keyboard) return createTerminalPrompt({ ...options, keyboard });
  return async (request) => {
    const { name } = request;
    onRefusal(name);
    const ignored = await describeIgnoredRule(name, options);
    // The model may then write another command, which requires none.
    const own = hasOwnReason(request) ? `. ${request.reason}` : "";
    const reason = `it requires approval, and this run is not interactive${ignored}${own}`;
    return { type: "denied", reason, origin: "mode" };
  };
}

/** Describes a rule for all calls of a tool that approves none of them, if there is one. */
async function describeIgnoredRule(
  name: string,
  { allow, sandbox }: ApprovalOptions,
): Promise<string> {
  const isAllowed = allow.some((rule) => rule.toLowerCase() === name);
  if (!isAllowed || await canTrustTool(name, sandbox)) return "";
  return `; nothing confines commands here, so that the rule "${name}" without a pattern approves none`;
}

interface TerminalPromptOptions extends ApprovalOptions, WaitingCallsOptions {
  readonly keyboard: Input;
}

/** Creates a prompt that shows each call at the terminal and asks. */
function createTerminalPrompt(options: TerminalPromptOptions): ApprovalPrompt {
  const { host, keyboard, sandbox } = options;
  const input = getTypedInput(keyboard);
  const waiting = new WaitingCalls(options);
  const savedRules = new SavedRules(options);
  return async (request) => {
    const { name, signal } = request;
    const approved = await savedRules.approve(request);
    if (approved) return approved;
    const style = getStyle(host.terminal.messages, host.env);
    const position = await waiting.countQuestion(request);
    const canTrust = await canTrustTool(name, sandbox);
    const rule = await savedRules.find(request);
    const choice: Choice<Answer> = {
      details: formatCallDetails(request, { style, position, columns: host.terminal.columns }),
      message: [
        "Allow? [y]es / [n]o",
        ...(canTrust ? [`[a]lways ${toPlainText(name)}`] : []),
        ...(rule === undefined ? [] : ["[s]ave a rule"]),
      ].join(" / "),
      answers: [
        "yes",
        "no",
        ...(canTrust ? ["always" as const] : []),
        ...(rule === undefined ? [] : ["save" as const]),
      ],
    };
    const context = { host, keyboard, input, signal };
    const questions: RuleQuestions = {
      columns: host.terminal.columns,
      askChoice: (question) => askChoice(question, context),
      async print(_kind, text) {
        const lines = wrapText(toPlainText(text), host.terminal.columns - INDENT.length);
        await host.terminal.messages.write(lines.map((line) => `${INDENT}${line}\n`).join(""));
      },
    };
    return await input.runExclusively(async () => {
      for (;;) {
        const answer = await askChoice(choice, context);
        if (answer !== "save" || rule === undefined) return toDecision(answer);
        const saved = await savedRules.save(rule, request, questions);
        if (saved) return saved;
      }
    });
  };
}

/** Returns the decision for an answer; no answer denies the call. */
function toDecision(answer: Answer | undefined): ApprovalDecision {
  switch (answer) {
    case "yes":
      return { type: "approved" };
    case "always":
      return { type: "approved", scope: "tool" };
    default:
      return { type: "denied", reason: USER_DENIAL };
  }
}
