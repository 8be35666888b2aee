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
  type GateRequest,
  type Sandbox,
} from "../../../src/tools/mod.ts";
import type { Host } from "../../host/host.ts";
import type { Input } from "../../host/terminal.ts";
import { askChoice } from "../../questions/ask_choice.ts";
import type { Choice, QuestionContext } from "../../questions/choice.ts";
import { getTypedInput } from "../../questions/typed_input.ts";
import { toPlainText } from "../../render/plain_text.ts";
import { getStyle } from "../../render/style.ts";
import { USER_DENIAL } from "../../render/tool_line.ts";
import { wrapText } from "../../render/wrap_text.ts";
import { formatCallDetails, hasOwnReason, type QuestionPosition } from "./call_details.ts";
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
    const approved = await savedRules.approve(request);
    if (approved) return approved;
    const position = await waiting.countQuestion(request);
    const canTrust = await canTrustTool(request.name, sandbox);
    const rule = await savedRules.find(request);
    const choice = createChoice(request, { host, position, canTrust, canSave: rule !== undefined });
    const context = { host, keyboard, input, signal: request.signal };
    return await input.runExclusively(async () => {
      for (;;) {
        const answer = await askChoice(choice, context);
        if (answer !== "save") return toDecision(answer);
        const saved = rule && await savedRules.save(rule, request, createRuleQuestions(context));
        if (saved) return saved;
      }
    });
  };
}

interface CallChoiceOptions {
  readonly host: Pick<Host, "terminal" | "env">;
  readonly position: QuestionPosition;
  /** Whether the user can approve all calls of the tool. */
  readonly canTrust: boolean;
  /** Whether the user can save a rule for later sessions. */
  readonly canSave: boolean;
}

/** Creates the question about a call. */
function createChoice(
  request: GateRequest,
  { host, position, canTrust, canSave }: CallChoiceOptions,
): Choice<Answer> {
  const { terminal, env } = host;
  const style = getStyle(terminal.messages, env);
  const labels: Readonly<Record<Answer, string>> = {
    yes: "[y]es",
    no: "[n]o",
    always: `[a]lways ${toPlainText(request.name)}`,
    save: "[s]ave a rule",
  };
  const answers: readonly Answer[] = [
    "yes",
    "no",
    ...(canTrust ? ["always" as const] : []),
    ...(canSave ? ["save" as const] : []),
  ];
  return {
    details: formatCallDetails(request, { style, position, columns: terminal.columns }),
    message: `Allow? ${answers.map((answer) => labels[answer]).join(" / ")}`,
    answers,
  };
}

/** Asks about a rule, and shows what was saved, below the question about the call. */
function createRuleQuestions(context: QuestionContext): RuleQuestions {
  const { columns, messages } = context.host.terminal;
  return {
    askChoice: (question) => askChoice(question, context),
    async print(_kind, text) {
      const lines = wrapText(toPlainText(text), columns - INDENT.length);
      await messages.write(lines.map((line) => `${INDENT}${line}\n`).join(""));
    },
  };
}

/** Returns the decision for an answer; no answer denies the call. */
function toDecision(answer: Exclude<Answer, "save"> | undefined): ApprovalDecision {
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
